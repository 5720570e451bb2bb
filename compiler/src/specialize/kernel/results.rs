//! What a kernel returns: tensors in HBM that become the results of the program, each with a name of its own.

use super::super::error::{Error, Mistake, Result};
use super::super::eval::with_article;
use super::super::value::{Tensor, Value};
use super::super::{Evaluator, layout};
use crate::ast::{Expr, ExprKind};
use crate::ir::{ResultValue, Role, Shape};
use crate::isa::Memory;
use crate::source::Span;
use std::rc::Rc;

impl Evaluator<'_> {
    pub fn collect_results(&mut self, value: &Value, span: Span) -> Result<()> {
        let values = match value {
            Value::None => Vec::new(),
            Value::Tuple(_) | Value::List(_) => flatten(value, span)?,
            value => vec![value.clone()],
        };
        let names = std::mem::take(&mut self.returned);
        for (idx, value) in values.iter().enumerate() {
            let Value::Tensor(tensor) = value else {
                let kind = with_article(value.kind());
                return Err(Error::new(Mistake::ResultNotTensor { kind }, span));
            };
            if tensor.is_on_chip() {
                let kind = format!("a tensor in {}", tensor.region.name());
                return Err(Error::new(Mistake::ResultNotTensor { kind }, span));
            }
            self.whole_result(tensor, span)?;
            let given = names
                .get(idx)
                .cloned()
                .flatten()
                .filter(|_| names.len() == values.len());
            let taken = |it: &str| self.program.results.iter().any(|result| result.name == it);
            let name = match given {
                Some(it) if !taken(&it) => it.to_string(),
                _ => (idx..)
                    .map(|it| format!("out{it}"))
                    .find(|it| !taken(it))
                    .expect("there are more numbers than results"),
            };
            self.program.results.push(ResultValue {
                name,
                buffer: tensor.buffer(),
            });
        }
        let writes_argument = self.program.insts.iter().any(|inst| {
            let dst = self.program.accesses(inst).next();
            dst.is_some_and(|it| self.program[it.1.buffer].role == Role::In)
        });
        if values.is_empty() && !writes_argument {
            return Err(Error::new(Mistake::NoResult, span));
        }
        Ok(())
    }

    /// Makes a returned tensor a result; a reshaped view of all of it gives the result its shape.
    fn whole_result(&mut self, tensor: &Tensor, span: Span) -> Result<()> {
        let buffer = &mut self.program.buffers[tensor.buffer().index()];
        debug_assert_eq!(buffer.memory, Memory::Hbm, "results on chip were refused");
        let is_whole = tensor.view.count() == buffer.shape.count() && layout::is_contiguous(tensor);
        let shape: Vec<u32> = tensor.shape().collect();
        let same = *shape == *buffer.shape;
        if !is_whole || tensor.view.dtype != buffer.dtype || (!same && buffer.role == Role::In) {
            let kind = "a part or another reading of a tensor".to_string();
            return Err(Error::new(Mistake::ResultNotTensor { kind }, span));
        }
        if buffer.role == Role::Local {
            buffer.role = Role::Out;
            buffer.shape = Shape::new(&shape).expect("a view has no more dimensions than a shape can have");
        }
        Ok(())
    }
}

/// Results stand so deep in tuples and lists.
const MAX_NESTING: usize = 64;

/// The values of nested tuples and lists, in order.
pub fn flatten(value: &Value, span: Span) -> Result<Vec<Value>> {
    fn collect(value: &Value, levels: usize, out: &mut Vec<Value>) -> Option<()> {
        match value.items() {
            Some(items) => items
                .iter()
                .try_for_each(|it| collect(it, levels.checked_sub(1)?, out)),
            None => {
                out.push(value.clone());
                Some(())
            }
        }
    }
    let mut values = Vec::new();
    match collect(value, MAX_NESTING, &mut values) {
        Some(()) => Ok(values),
        None => {
            let message = format!("the results are more than {MAX_NESTING} deep in tuples and lists");
            Err(Error::value_error(message, span))
        }
    }
}

/// The names in a `return`, one per value.
pub fn returned_names(value: &Expr) -> Vec<Option<Rc<str>>> {
    match &value.kind {
        ExprKind::Name(name) => vec![Some(name.clone())],
        ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().flat_map(returned_names).collect(),
        _ => vec![None],
    }
}
