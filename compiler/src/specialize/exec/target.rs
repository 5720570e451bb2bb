//! What stands on the left of an assignment: names, attributes, subscripts, and tuples of them.
//!
//! Takes a target and a value, or an operator beside one for `+=`, and evaluates what stands in the target once.

use super::super::Evaluator;
use super::super::error::{Error, Mistake, Result};
use super::super::scope::Frame;
use super::super::value::Value;
use crate::ast::{BinOp, Expr, ExprKind, Ident};
use crate::source::Span;
use std::rc::Rc;

impl Evaluator<'_> {
    /// `target op= value`. What stands in the target is evaluated once, as it may do something.
    pub fn augment(
        &mut self,
        target: &Expr,
        op: BinOp,
        value: &Expr,
        span: Span,
        frame: &Rc<Frame>,
    ) -> Result<()> {
        match &target.kind {
            ExprKind::Index { value: base, index } => {
                let container = self.eval(base, frame)?;
                if let Value::Tensor(tensor) = &container {
                    let old = self.eval_view(tensor, index, target.span, frame)?;
                    return match self.augmented_value(old, op, value, span, frame)? {
                        Some(new) => self.assign(target, new, frame),
                        None => Ok(()),
                    };
                }
                let index = self.eval(index, frame)?;
                let old = self.index(&container, &index, target.span)?;
                match self.augmented_value(old, op, value, span, frame)? {
                    Some(new) => self.assign_element(base, &container, &index, new, target.span, frame),
                    None => Ok(()),
                }
            }
            ExprKind::Attr { value: base, attr } => {
                let object = self.eval(base, frame)?;
                let old = self.attribute(&object, &attr.name, attr.span)?;
                match self.augmented_value(old, op, value, span, frame)? {
                    Some(new) => self.set_attribute(&object, attr, new),
                    None => Ok(()),
                }
            }
            _ => {
                let old = self.eval(target, frame)?;
                match self.augmented_value(old, op, value, span, frame)? {
                    Some(new) => self.assign(target, new, frame),
                    None => Ok(()),
                }
            }
        }
    }

    /// What an augmented assignment makes of the old value; `None` when that is changed in its place.
    fn augmented_value(
        &mut self,
        old: Value,
        op: BinOp,
        value: &Expr,
        span: Span,
        frame: &Rc<Frame>,
    ) -> Result<Option<Value>> {
        if let Value::Tensor(_) | Value::Access(_) = old {
            return self.augmented(&old, op, value, frame);
        }
        let operand = self.eval(value, frame)?;
        self.binary_in_place(op, &old, &operand, span).map(Some)
    }

    /// Assigns to a name, an attribute, a subscript, or unpacks into several.
    pub fn assign(&mut self, target: &Expr, value: Value, frame: &Rc<Frame>) -> Result<()> {
        match &target.kind {
            ExprKind::Name(name) => {
                self.assign_name(name, value, frame);
                Ok(())
            }
            ExprKind::Index { value: base, index } => {
                let container = self.eval(base, frame)?;
                let index = self.eval(index, frame)?;
                self.assign_element(base, &container, &index, value, target.span, frame)
            }
            ExprKind::Tuple(targets) | ExprKind::List(targets) => {
                self.unpack(targets, value, target.span, frame)
            }
            ExprKind::Attr { value: base, attr } => {
                let object = self.eval(base, frame)?;
                self.set_attribute(&object, attr, value)
            }
            _ => Err(Error::type_error(
                "this is not something that can be assigned to",
                target.span,
            )),
        }
    }

    /// `object.attr = value`.
    fn set_attribute(&mut self, object: &Value, attr: &Ident, value: Value) -> Result<()> {
        match object {
            Value::Object(it) => self.assign_attribute(it, &attr.name, value, attr.span),
            Value::Class(_) => Err(Error::unsupported(
                "an assignment to an attribute of a class",
                "keep what changes in an object, or in a variable that is declared global",
                attr.span,
            )),
            _ => {
                let object = super::super::eval::with_article(object.kind());
                let problem = format!("{object} has no attribute that can be assigned");
                Err(Error::type_error(problem, attr.span))
            }
        }
    }

    /// `base[index] = value`, the base and the index being evaluated.
    pub fn assign_element(
        &mut self,
        base: &Expr,
        container: &Value,
        index: &Value,
        value: Value,
        span: Span,
        frame: &Rc<Frame>,
    ) -> Result<()> {
        let changed = self.store(container, index, value, span)?;
        // A part of an array is a copy, so the changed part goes back into the whole.
        match (changed, &base.kind) {
            (Some(changed), ExprKind::Index { .. }) => self.assign(base, changed, frame),
            _ => Ok(()),
        }
    }

    fn unpack(&mut self, targets: &[Expr], value: Value, span: Span, frame: &Rc<Frame>) -> Result<()> {
        let values = self.iterate(&value, span)?;
        let star = targets
            .iter()
            .position(|it| matches!(it.kind, ExprKind::Starred(_)));
        let fits = match star {
            None => values.len() == targets.len(),
            Some(_) => values.len() + 1 >= targets.len(),
        };
        if !fits {
            return Err(Error::new(
                Mistake::Unpack {
                    targets: targets.len(),
                    values: values.len(),
                },
                span,
            ));
        }
        let n_after = star.map_or(0, |it| targets.len() - it - 1);
        let n_values = values.len();
        let mut values = values.into_iter();
        for (idx, target) in targets.iter().enumerate() {
            match &target.kind {
                ExprKind::Starred(inner) => {
                    let taken: Vec<Value> = values.by_ref().take(n_values - n_after - idx).collect();
                    self.assign(inner, Value::list(taken), frame)?;
                }
                _ => {
                    let value = values
                        .next()
                        .expect("the counts of targets and values were compared");
                    self.assign(target, value, frame)?;
                }
            }
        }
        Ok(())
    }

    pub fn assign_name(&mut self, name: &Rc<str>, value: Value, frame: &Rc<Frame>) {
        if !frame.assign(name, value.clone()) {
            self.set_global(frame.module, name, value);
        }
    }
}

/// The name that a tensor made on the right side gets.
pub fn target_name(targets: &[Expr]) -> Option<Rc<str>> {
    match targets.first().map(|it| &it.kind) {
        Some(ExprKind::Name(name)) => Some(name.clone()),
        Some(ExprKind::Index { value, .. }) => match &value.kind {
            ExprKind::Name(name) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}
