//! Shape annotations of the classic style: `tile: nt.tensor[128, 512] = …`.
//!
//! Takes an annotation and the value beside it; a shape that differs is a mistake. Any other annotation says nothing.

use super::Evaluator;
use super::error::{Error, Mistake, Result};
use super::scope::Frame;
use super::value::Value;
use crate::ast::{Expr, ExprKind};
use std::rc::Rc;

impl Evaluator<'_> {
    /// Checks `nt.tensor[…]` beside a tile.
    pub fn check_annotation(&mut self, annotation: &Expr, value: &Value, frame: &Rc<Frame>) -> Result<()> {
        let (Value::Tensor(tensor), ExprKind::Index { value: base, index }) = (value, &annotation.kind)
        else {
            return Ok(());
        };
        let name = match &base.kind {
            ExprKind::Name(name) => name,
            ExprKind::Attr { attr, .. } => &attr.name,
            _ => return Ok(()),
        };
        let is_tensor = &**name == "tensor"
            && matches!(self.eval(base, frame)?, Value::Library(it) if it.module == "nki");
        if !is_tensor {
            return Ok(());
        }
        let sizes = self.eval(index, frame)?;
        let sizes: Option<Vec<i64>> = match sizes.items() {
            Some(items) => items.iter().map(Value::as_int).collect(),
            None => sizes.as_int().map(|it| vec![it]),
        };
        let Some(wanted) = sizes else { return Ok(()) };
        let shape: Vec<u32> = tensor.shape().collect();
        if shape.iter().copied().map(i64::from).eq(wanted.iter().copied()) {
            return Ok(());
        }
        Err(Error::new(Mistake::Annotation { shape, wanted }, annotation.span))
    }
}
