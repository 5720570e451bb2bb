//! Methods of lists, dicts, tuples and numbers.

use super::builtins::{no_attribute, required};
use super::dict::Dict;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::ordering::Scheduled;
use super::sequence::sorted;
use super::value::Value;
use super::{Evaluator, host_bridge, sets, strings};
use crate::source::Span;
use std::cell::RefCell;
use std::rc::Rc;

const LIST: &[&str] = &[
    "append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort",
];
const DICT: &[&str] = &[
    "clear",
    "copy",
    "get",
    "items",
    "keys",
    "pop",
    "setdefault",
    "update",
    "values",
];
const TUPLE: &[&str] = &["count", "index"];
const NUMBER: &[&str] = &["bit_count", "bit_length", "is_integer", "item"];

/// The methods a value has.
pub fn names(value: &Value) -> &'static [&'static str] {
    match value {
        Value::List(_) => LIST,
        Value::Dict(_) => DICT,
        Value::Set(_) => sets::METHODS,
        Value::Tuple(_) => TUPLE,
        Value::Str(_) => strings::METHODS,
        Value::Int(_) | Value::Bool(_) | Value::Float(_) => NUMBER,
        Value::Instruction(_) => &["depends_on"],
        Value::Function(_) => &["with_schedule"],
        _ => &[],
    }
}

impl Evaluator<'_> {
    pub fn call_method(&mut self, value: &Value, name: &Rc<str>, args: CallArgs) -> Result<Value> {
        let span = args.span;
        match value {
            Value::Tensor(tensor) => self.tensor_method(tensor, name, args),
            Value::Array(array) => host_bridge::method(self, array, name, args),
            Value::Host(it) => host_bridge::other_method(self, it, name, args),
            Value::List(list) => self.list_method(list, name, args),
            Value::Dict(dict) => self.dict_method(dict, name, args),
            Value::Set(set) => self.set_method(set, name, args),
            Value::Str(text) => self.str_method(text, name, args),
            Value::Tuple(items) => {
                let [item] = args.bind(name, ["value"], 1)?;
                search(items, name, &required(item), span)
            }
            Value::Int(_) | Value::Bool(_) | Value::Float(_) => number_method(value, name, args),
            Value::Instruction(handle) => self.depends_on(*handle, args),
            Value::Function(_) => {
                let [pairs] = args.bind(name, ["schedule"], 1)?;
                Ok(Value::Scheduled(Rc::new(Scheduled {
                    kernel: value.clone(),
                    pairs: required(pairs),
                    span,
                })))
            }
            Value::Object(_) | Value::Class(_) | Value::Super(_) => self.call_bound(value, name, args),
            _ => Err(no_attribute(
                with_article(value.kind()),
                name,
                std::iter::empty(),
                span,
            )),
        }
    }

    fn list_method(
        &mut self,
        list: &Rc<RefCell<Vec<Value>>>,
        name: &Rc<str>,
        args: CallArgs,
    ) -> Result<Value> {
        let span = args.span;
        match &**name {
            "append" => {
                let [item] = args.bind(name, ["object"], 1)?;
                list.borrow_mut().push(required(item));
            }
            "extend" => {
                let [items] = args.bind(name, ["iterable"], 1)?;
                let items = self.iterate(&required(items), span)?;
                list.borrow_mut().extend(items);
            }
            "insert" => {
                let [at, item] = args.bind(name, ["index", "object"], 2)?;
                let length = list.borrow().len() as i64;
                let at = required(at)
                    .as_int()
                    .ok_or_else(|| Error::type_error("the index is an int", span))?;
                let at = if at < 0 {
                    (at + length).max(0)
                } else {
                    at.min(length)
                };
                list.borrow_mut().insert(at as usize, required(item));
            }
            "pop" => {
                let [at] = args.bind(name, ["index"], 0)?;
                let length = list.borrow().len();
                let at = at.map_or(Ok(-1), |it| super::tensor::int(&it, "the index", span))?;
                let idx = super::index::position(at, length as i64, "list", span)?;
                return Ok(list.borrow_mut().remove(idx));
            }
            "remove" => {
                let [item] = args.bind(name, ["value"], 1)?;
                let item = required(item);
                let at = list.borrow().iter().position(|it| it.equals(&item));
                match at {
                    Some(at) => drop(list.borrow_mut().remove(at)),
                    None => {
                        return Err(Error::value_error(
                            format!("{} is not in the list", item.repr()),
                            span,
                        ));
                    }
                }
            }
            "index" | "count" => {
                let [item] = args.bind(name, ["value"], 1)?;
                let items = list.borrow().clone();
                return search(&items, name, &required(item), span);
            }
            "clear" => list.borrow_mut().clear(),
            "reverse" => list.borrow_mut().reverse(),
            "copy" => return Ok(Value::list(list.borrow().clone())),
            "sort" => {
                let [key, reverse] = args.bind(name, ["key", "reverse"], 0)?;
                let items = list.borrow().clone();
                let items = sorted(self, items, key, reverse.is_some_and(|it| it.truth()), span)?;
                *list.borrow_mut() = items;
            }
            _ => {
                return Err(no_attribute(
                    "a list".to_string(),
                    name,
                    LIST.iter().copied(),
                    span,
                ));
            }
        }
        Ok(Value::None)
    }

    fn dict_method(&mut self, dict: &Rc<RefCell<Dict>>, name: &Rc<str>, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let key_of = |it: &Value| it.key().ok_or_else(|| Error::unhashable(it, span));
        let entries = || dict.borrow().entries().to_vec();
        match &**name {
            "get" => {
                let [key, default] = args.bind(name, ["key", "default"], 1)?;
                let key = key_of(&required(key))?;
                Ok(dict
                    .borrow()
                    .get(&key)
                    .cloned()
                    .or(default)
                    .unwrap_or(Value::None))
            }
            "keys" => Ok(Value::list(entries().into_iter().map(|it| it.0).collect())),
            "values" => Ok(Value::list(entries().into_iter().map(|it| it.1).collect())),
            "items" => Ok(Value::list(
                entries()
                    .into_iter()
                    .map(|it| Value::tuple(vec![it.0, it.1]))
                    .collect(),
            )),
            "pop" => {
                let [key, default] = args.bind(name, ["key", "default"], 1)?;
                let key = required(key);
                self.charge(dict.borrow().len());
                match dict.borrow_mut().remove(&key_of(&key)?).or(default) {
                    Some(value) => Ok(value),
                    None => Err(Error::new(Mistake::MissingKey { key: key.repr() }, span)),
                }
            }
            "setdefault" => {
                let [key, default] = args.bind(name, ["key", "default"], 1)?;
                let key = required(key);
                let hash = key_of(&key)?;
                if let Some(value) = dict.borrow().get(&hash) {
                    return Ok(value.clone());
                }
                let value = default.unwrap_or(Value::None);
                dict.borrow_mut().insert(hash, key, value.clone());
                Ok(value)
            }
            "update" => {
                let merged = super::builtins::call(self, "dict", args)?;
                if let Value::Dict(merged) = &merged {
                    for (key, value) in merged.borrow().entries() {
                        dict.borrow_mut().insert(key_of(key)?, key.clone(), value.clone());
                    }
                }
                Ok(Value::None)
            }
            "clear" => {
                dict.borrow_mut().clear();
                Ok(Value::None)
            }
            "copy" => Ok(Value::Dict(Rc::new(RefCell::new(dict.borrow().clone())))),
            _ => Err(no_attribute(
                "a dict".to_string(),
                name,
                DICT.iter().copied(),
                span,
            )),
        }
    }
}

fn search(items: &[Value], name: &str, item: &Value, span: Span) -> Result<Value> {
    if name == "count" {
        return Ok(Value::Int(
            items.iter().filter(|it| it.equals(item)).count() as i64
        ));
    }
    match items.iter().position(|it| it.equals(item)) {
        Some(at) => Ok(Value::Int(at as i64)),
        None => Err(Error::value_error(
            format!("{} is not in the sequence", item.repr()),
            span,
        )),
    }
}

/// A method of an int or a float.
fn number_method(value: &Value, name: &Rc<str>, args: CallArgs) -> Result<Value> {
    let span = args.span;
    let [] = args.bind(name, [], 0)?;
    let bits = |it: i64| it.unsigned_abs();
    match (&**name, value.as_int(), value) {
        ("bit_length", Some(it), _) => Ok(Value::Int(i64::from(64 - bits(it).leading_zeros()))),
        ("bit_count", Some(it), _) => Ok(Value::Int(i64::from(bits(it).count_ones()))),
        ("is_integer", _, Value::Float(it)) => Ok(Value::Bool(it.is_finite() && it.fract() == 0.0)),
        ("is_integer", Some(_), _) => Ok(Value::Bool(true)),
        // What NumPy's scalars have.
        ("item", ..) => Ok(value.clone()),
        _ => Err(no_attribute(
            with_article(value.kind()),
            name,
            NUMBER.iter().copied(),
            span,
        )),
    }
}
