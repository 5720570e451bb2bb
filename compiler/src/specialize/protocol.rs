//! What Python's operators ask of an object: its methods with double underscores.
//!
//! Takes an operator with values of which one is an object of the file's own class, gives what the object's method says;
//! `None` where its class has no such method, so that the caller goes on as for any other value.

use super::Evaluator;
use super::class::Object;
use super::error::Result;
use super::value::Value;
use crate::ast::{BinOp, CmpOp, UnaryOp};
use crate::source::Span;
use std::rc::Rc;

/// The method of each binary operator, and the one that the right operand is asked for.
const BINARY: &[(BinOp, &str, &str)] = &[
    (BinOp::Add, "__add__", "__radd__"),
    (BinOp::Sub, "__sub__", "__rsub__"),
    (BinOp::Mul, "__mul__", "__rmul__"),
    (BinOp::Div, "__truediv__", "__rtruediv__"),
    (BinOp::FloorDiv, "__floordiv__", "__rfloordiv__"),
    (BinOp::Mod, "__mod__", "__rmod__"),
    (BinOp::Pow, "__pow__", "__rpow__"),
    (BinOp::MatMul, "__matmul__", "__rmatmul__"),
    (BinOp::BitAnd, "__and__", "__rand__"),
    (BinOp::BitOr, "__or__", "__ror__"),
    (BinOp::BitXor, "__xor__", "__rxor__"),
    (BinOp::Shl, "__lshift__", "__rlshift__"),
    (BinOp::Shr, "__rshift__", "__rrshift__"),
];

/// The method of each comparison, and the one that the right operand is asked for.
const COMPARISONS: &[(CmpOp, &str, &str)] = &[
    (CmpOp::Eq, "__eq__", "__eq__"),
    (CmpOp::Ne, "__ne__", "__ne__"),
    (CmpOp::Lt, "__lt__", "__gt__"),
    (CmpOp::Le, "__le__", "__ge__"),
    (CmpOp::Gt, "__gt__", "__lt__"),
    (CmpOp::Ge, "__ge__", "__le__"),
];

impl Evaluator<'_> {
    pub fn object_binary(
        &mut self,
        op: BinOp,
        left: &Value,
        right: &Value,
        span: Span,
    ) -> Option<Result<Value>> {
        let (_, own, reflected) = *BINARY.iter().find(|it| it.0 == op)?;
        self.ask_both(left, own, right, reflected, span)
    }

    pub fn object_compare(
        &mut self,
        op: CmpOp,
        left: &Value,
        right: &Value,
        span: Span,
    ) -> Option<Result<Value>> {
        if let (CmpOp::In | CmpOp::NotIn, Value::Object(container)) = (op, right) {
            let found = self.call_special(container, "__contains__", vec![left.clone()], span)?;
            return Some(found.map(|it| Value::Bool(it.truth() == (op == CmpOp::In))));
        }
        let (_, own, reflected) = *COMPARISONS.iter().find(|it| it.0 == op)?;
        let answer = self.ask_both(left, own, right, reflected, span);
        if answer.is_none() && op == CmpOp::Ne {
            let equal = self.ask_both(left, "__eq__", right, "__eq__", span)?;
            return Some(equal.map(|it| Value::Bool(!it.truth())));
        }
        answer
    }

    pub fn object_unary(&mut self, op: UnaryOp, object: &Rc<Object>, span: Span) -> Option<Result<Value>> {
        let name = match op {
            UnaryOp::Neg => "__neg__",
            UnaryOp::Pos => "__pos__",
            UnaryOp::Invert => "__invert__",
            UnaryOp::Not => return None,
        };
        self.call_special(object, name, Vec::new(), span)
    }

    /// The truth of an object: what it says itself, or whether it has any items.
    pub fn object_truth(&mut self, object: &Rc<Object>, span: Span) -> Option<Result<bool>> {
        let answer = self
            .call_special(object, "__bool__", Vec::new(), span)
            .or_else(|| self.call_special(object, "__len__", Vec::new(), span))?;
        Some(answer.map(|it| it.truth()))
    }

    /// The items of an object that can be iterated over.
    pub fn object_items(&mut self, object: &Rc<Object>, span: Span) -> Option<Result<Vec<Value>>> {
        if let Some(all) = self.call_special(object, "__iter__", Vec::new(), span) {
            return Some(all.and_then(|it| self.iterate(&it, span)));
        }
        let count = self.call_special(object, "__len__", Vec::new(), span)?;
        let count = match count.map(|it| it.as_int()) {
            Ok(it) => it?,
            Err(error) => return Some(Err(error)),
        };
        (0..count)
            .map(|idx| self.call_special(object, "__getitem__", vec![Value::Int(idx)], span))
            .collect()
    }

    /// `str()` or `repr()` of any value.
    pub fn text_of(&mut self, value: &Value, is_repr: bool, span: Span) -> Result<String> {
        if let Value::Object(object) = value {
            let names: &[&str] = if is_repr {
                &["__repr__"]
            } else {
                &["__str__", "__repr__"]
            };
            for name in names {
                if let Some(text) = self.call_special(object, name, Vec::new(), span) {
                    return Ok(text?.text());
                }
            }
        }
        Ok(if is_repr { value.repr() } else { value.text() })
    }

    /// Asks the left operand, then the right one.
    fn ask_both(
        &mut self,
        left: &Value,
        own: &str,
        right: &Value,
        reflected: &str,
        span: Span,
    ) -> Option<Result<Value>> {
        if let Value::Object(object) = left
            && let Some(answer) = self.call_special(object, own, vec![right.clone()], span)
        {
            return Some(answer);
        }
        let Value::Object(object) = right else { return None };
        self.call_special(object, reflected, vec![left.clone()], span)
    }
}
