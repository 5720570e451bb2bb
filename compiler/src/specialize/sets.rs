//! Methods and operators of sets.
//!
//! Takes sets, which keep the order of insertion, and evaluated arguments; gives what Python's method or operator gives.

use super::Evaluator;
use super::builtins::{no_attribute, required};
use super::dict::Dict;
use super::error::{Error, Mistake, Result};
use super::eval::CallArgs;
use super::value::Value;
use crate::ast::{BinOp, CmpOp};
use std::cell::RefCell;
use std::rc::Rc;

/// The methods that sets have.
pub const METHODS: &[&str] = &[
    "add",
    "clear",
    "copy",
    "difference",
    "discard",
    "intersection",
    "isdisjoint",
    "issubset",
    "issuperset",
    "pop",
    "remove",
    "symmetric_difference",
    "union",
    "update",
];

/// `a | b`, `a & b`, `a - b` and `a ^ b`; `None` for other operators.
pub fn binary(op: BinOp, left: &Dict, right: &Dict) -> Option<Value> {
    let has = |set: &Dict, item: &Value| item.key().is_some_and(|key| set.get(&key).is_some());
    // What of the left set stays, by whether the right one has it; and whether what only the right one has comes in.
    let stays = |is_theirs: bool| match op {
        BinOp::BitOr => true,
        BinOp::BitAnd => is_theirs,
        _ => !is_theirs,
    };
    let comes_in = match op {
        BinOp::BitOr | BinOp::BitXor => true,
        BinOp::BitAnd | BinOp::Sub => false,
        _ => return None,
    };
    let mut result = Dict::default();
    let kept = left.entries().iter().filter(|it| stays(has(right, &it.0)));
    let added = right.entries().iter().filter(|it| comes_in && !has(left, &it.0));
    for (item, _) in kept.chain(added) {
        let key = item.key().expect("items of a set are hashable");
        result.insert(key, item.clone(), Value::None);
    }
    Some(Value::Set(Rc::new(RefCell::new(result))))
}

/// `a <= b` and its relatives: whether one set is in the other.
pub fn compare(op: CmpOp, left: &Dict, right: &Dict) -> bool {
    let (inner, outer) = match op {
        CmpOp::Lt | CmpOp::Le => (left, right),
        _ => (right, left),
    };
    let mut keys = inner.entries().iter().map(|it| it.0.key());
    let is_inside = keys.all(|it| it.is_some_and(|key| outer.get(&key).is_some()));
    is_inside && (matches!(op, CmpOp::Le | CmpOp::Ge) || inner.len() < outer.len())
}

impl Evaluator<'_> {
    pub fn set_method(&mut self, set: &Rc<RefCell<Dict>>, name: &Rc<str>, args: CallArgs) -> Result<Value> {
        let span = args.span;
        match &**name {
            "clear" => set.borrow_mut().clear(),
            "pop" => {
                let first = set.borrow().entries().first().map(|it| it.0.clone());
                let Some(first) = first else {
                    return Err(Error::value_error("pop from an empty set", span));
                };
                let key = first.key().expect("items of a set are hashable");
                self.charge(set.borrow().len());
                set.borrow_mut().remove(&key);
                return Ok(first);
            }
            "difference"
            | "intersection"
            | "symmetric_difference"
            | "isdisjoint"
            | "issubset"
            | "issuperset" => {
                let [other] = args.bind(name, ["other"], 1)?;
                let items = self.iterate(&required(other), span)?;
                let Value::Set(other) = super::builtins::set_of(items, span)? else {
                    unreachable!("set_of gives sets");
                };
                let (mine, theirs) = (set.borrow(), other.borrow());
                let count = |it: Option<Value>| match it {
                    Some(Value::Set(it)) => it.borrow().len(),
                    _ => 0,
                };
                return Ok(match &**name {
                    "difference" => binary(BinOp::Sub, &mine, &theirs).unwrap_or(Value::None),
                    "intersection" => binary(BinOp::BitAnd, &mine, &theirs).unwrap_or(Value::None),
                    "symmetric_difference" => binary(BinOp::BitXor, &mine, &theirs).unwrap_or(Value::None),
                    "isdisjoint" => Value::Bool(count(binary(BinOp::BitAnd, &mine, &theirs)) == 0),
                    "issubset" => Value::Bool(count(binary(BinOp::Sub, &mine, &theirs)) == 0),
                    _ => Value::Bool(count(binary(BinOp::Sub, &theirs, &mine)) == 0),
                });
            }
            "copy" => return Ok(Value::Set(Rc::new(RefCell::new(set.borrow().clone())))),
            _ => {
                let [item] = args.bind(name, ["elem"], 1)?;
                let item = required(item);
                let target = if &**name == "union" {
                    Rc::new(RefCell::new(set.borrow().clone()))
                } else {
                    set.clone()
                };
                let items = if matches!(&**name, "union" | "update") {
                    self.iterate(&item, span)?
                } else {
                    vec![item]
                };
                for item in items {
                    let key = item.key().ok_or_else(|| Error::unhashable(&item, span))?;
                    let found = target.borrow().get(&key).is_some();
                    match &**name {
                        "add" | "union" | "update" => target.borrow_mut().insert(key, item, Value::None),
                        "remove" if !found => {
                            return Err(Error::new(Mistake::MissingKey { key: item.repr() }, span));
                        }
                        "discard" | "remove" => {
                            self.charge(target.borrow().len());
                            drop(target.borrow_mut().remove(&key));
                        }
                        _ => {
                            return Err(no_attribute(
                                "a set".to_string(),
                                name,
                                METHODS.iter().copied(),
                                span,
                            ));
                        }
                    }
                }
                if &**name == "union" {
                    return Ok(Value::Set(target));
                }
            }
        }
        Ok(Value::None)
    }
}
