//! Builtin functions of Python.
//!
//! Takes evaluated arguments, gives Python's results. Nothing here reaches the device.

mod attribute;

use super::dict::Dict;
use super::error::{Error, Result};
use super::eval::{CallArgs, with_article};
use super::exec::range_of;
use super::operate::order;
use super::value::Value;
use super::{Evaluator, convert, host_bridge, sequence};
use crate::ast::BinOp;
use crate::source::Span;
use std::rc::Rc;

pub use attribute::no_attribute;

/// Every builtin name.
pub const NAMES: &[&str] = &[
    "abs",
    "all",
    "any",
    "bool",
    "callable",
    "classmethod",
    "chr",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "frozenset",
    "getattr",
    "hasattr",
    "int",
    "isinstance",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "object",
    "ord",
    "pow",
    "print",
    "property",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "slice",
    "sorted",
    "setattr",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "zip",
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "Exception",
    "FileNotFoundError",
    "ImportError",
    "IndexError",
    "KeyError",
    "LookupError",
    "ModuleNotFoundError",
    "NameError",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "RuntimeError",
    "TypeError",
    "ValueError",
    "ZeroDivisionError",
];

pub fn builtin(name: &str) -> Option<Value> {
    NAMES.iter().find(|it| **it == name).map(|it| Value::Builtin(it))
}

/// A set of values, or the error for one that cannot be in a set.
pub fn set_of(items: Vec<Value>, span: Span) -> Result<Value> {
    let mut dict = Dict::default();
    for item in items {
        let key = item.key().ok_or_else(|| Error::unhashable(&item, span))?;
        dict.insert(key, item, Value::None);
    }
    Ok(Value::Set(Rc::new(dict.into())))
}

pub fn call(this: &mut Evaluator<'_>, name: &'static str, args: CallArgs) -> Result<Value> {
    let span = args.span;
    if name.starts_with(char::is_uppercase) {
        let text: Vec<String> = args.positional.iter().map(Value::text).collect();
        return Ok(Value::str(text.join(", ")));
    }
    match name {
        "print" => print(this, args),
        "range" => {
            let bounds: Option<Vec<i64>> = args.positional.iter().map(Value::as_int).collect();
            match bounds.and_then(|it| range_of(&it)) {
                Some(range) => Ok(Value::Range(Rc::new(range))),
                None => Err(Error::type_error(
                    "range takes one to three integers, the step not being 0",
                    span,
                )),
            }
        }
        "len" => {
            let [value] = args.bind(name, ["obj"], 1)?;
            let value = required(value);
            if let Value::Object(object) = &value
                && let Some(length) = this.call_special(object, "__len__", Vec::new(), span)
            {
                return length;
            }
            Ok(Value::Int(this.length(&value, span)?))
        }
        // An iterator is the list of what is to come; so is a generator expression.
        "iter" => {
            let [items] = args.bind(name, ["object"], 1)?;
            Ok(Value::list(this.iterate(&required(items), span)?))
        }
        "next" => {
            let [items, default] = args.bind(name, ["iterator", "default"], 1)?;
            let Value::List(items) = required(items) else {
                return Err(Error::type_error("next takes what iter gives", span));
            };
            let mut items = items.borrow_mut();
            match (items.is_empty(), default) {
                (false, _) => Ok(items.remove(0)),
                (true, Some(default)) => Ok(default),
                (true, None) => Err(Error::value_error(
                    "next finds nothing: the iterator is at its end",
                    span,
                )),
            }
        }
        "min" | "max" => extreme(this, name, args),
        "sum" => {
            let [items, start] = args.bind(name, ["iterable", "start"], 1)?;
            let mut total = start.unwrap_or(Value::Int(0));
            for item in this.iterate(&required(items), span)? {
                total = this.binary(BinOp::Add, &total, &item, span)?;
            }
            Ok(total)
        }
        "any" | "all" => {
            let [items] = args.bind(name, ["iterable"], 1)?;
            for item in this.iterate(&required(items), span)? {
                if this.truth(&item, span)? == (name == "any") {
                    return Ok(Value::Bool(name == "any"));
                }
            }
            Ok(Value::Bool(name == "all"))
        }
        "abs" => {
            let [value] = args.bind(name, ["x"], 1)?;
            match required(value) {
                Value::Float(it) => Ok(Value::Float(it.abs())),
                value @ Value::Array(_) => host_bridge::function("abs", vec![value], span, this),
                value => match value.as_int().and_then(i64::checked_abs) {
                    Some(it) => Ok(Value::Int(it)),
                    None => Err(Error::type_error(
                        format!("abs does not work on {}", with_article(value.kind())),
                        span,
                    )),
                },
            }
        }
        "int" => convert::to_int(args),
        "float" => convert::to_float(args),
        "bool" => {
            let [value] = args.bind(name, ["x"], 0)?;
            let value = value.unwrap_or(Value::Bool(false));
            Ok(Value::Bool(this.truth(&value, span)?))
        }
        "str" | "repr" => {
            let [value] = args.bind(name, ["object"], 0)?;
            let value = value.unwrap_or(Value::str(""));
            Ok(Value::str(this.text_of(&value, name == "repr", span)?))
        }
        "list" | "tuple" | "set" | "frozenset" | "reversed" | "sorted" | "enumerate" | "zip" | "map"
        | "filter" => sequence::sequence(this, name, args),
        "dict" => {
            let mut dict = Dict::default();
            for source in &args.positional {
                let pairs = match source {
                    Value::Dict(it) => it
                        .borrow()
                        .entries()
                        .iter()
                        .map(|it| vec![it.0.clone(), it.1.clone()])
                        .collect(),
                    other => {
                        let items = this.iterate(other, span)?;
                        items
                            .iter()
                            .map(|it| this.iterate(it, span))
                            .collect::<Result<Vec<_>>>()?
                    }
                };
                for pair in pairs {
                    let [key, value] = <[Value; 2]>::try_from(pair)
                        .map_err(|_| Error::type_error("dict takes pairs of a key and a value", span))?;
                    let hash = key.key().ok_or_else(|| Error::unhashable(&key, span))?;
                    dict.insert(hash, key, value);
                }
            }
            for (name, value) in args.keywords {
                let name = Value::Str(name);
                dict.insert(name.key().expect("strings are hashable"), name, value);
            }
            Ok(Value::Dict(Rc::new(dict.into())))
        }
        "slice" => {
            let mut it = args.positional.into_iter();
            match (it.next(), it.next(), it.next()) {
                (Some(stop), None, None) => Ok(Value::slice(Value::None, stop, Value::None)),
                (Some(start), Some(stop), step) => Ok(Value::slice(start, stop, step.unwrap_or(Value::None))),
                _ => Err(Error::type_error("slice takes one to three arguments", span)),
            }
        }
        "divmod" => {
            let [a, b] = args.bind(name, ["a", "b"], 2)?;
            let (a, b) = (required(a), required(b));
            let quotient = this.binary(BinOp::FloorDiv, &a, &b, span)?;
            Ok(Value::tuple(vec![
                quotient,
                this.binary(BinOp::Mod, &a, &b, span)?,
            ]))
        }
        "pow" => {
            let [a, b] = args.bind(name, ["base", "exp"], 2)?;
            this.binary(BinOp::Pow, &required(a), &required(b), span)
        }
        "round" => {
            let [value, digits] = args.bind(name, ["number", "ndigits"], 1)?;
            convert::round(&required(value), digits.and_then(|it| it.as_int()), span)
        }
        "isinstance" => {
            let [value, class] = args.bind(name, ["obj", "class_or_tuple"], 2)?;
            Ok(Value::Bool(is_instance(this, &required(value), &required(class))))
        }
        "type" => {
            let [value] = args.bind(name, ["object"], 1)?;
            let value = required(value);
            if let Value::Object(object) = &value {
                return Ok(Value::Class(object.class.clone()));
            }
            let kind = value.kind();
            Ok(builtin(kind).unwrap_or(Value::str(kind)))
        }
        "callable" => {
            let [value] = args.bind(name, ["obj"], 1)?;
            let is_callable = |it: &Value| {
                matches!(
                    it,
                    Value::Function(_)
                        | Value::Partial(_)
                        | Value::Method(_)
                        | Value::Builtin(_)
                        | Value::Library(_)
                        | Value::Nl(_)
                        | Value::Isa(_)
                        | Value::Class(_)
                )
            };
            Ok(Value::Bool(is_callable(&required(value))))
        }
        "hasattr" | "getattr" => {
            let [value, attr, default] = args.bind(name, ["obj", "name", "default"], 2)?;
            let Some(Value::Str(attr)) = attr else {
                return Err(Error::type_error("the name of an attribute is a string", span));
            };
            let found = this.attribute(&required(value), &attr, span);
            match (name, found, default) {
                ("hasattr", found, _) => Ok(Value::Bool(found.is_ok())),
                (_, Ok(found), _) => Ok(found),
                (_, Err(_), Some(default)) => Ok(default),
                (_, Err(error), None) => Err(error),
            }
        }
        "setattr" => {
            let [object, attr, item] = args.bind(name, ["obj", "name", "value"], 3)?;
            match (required(object), required(attr)) {
                (Value::Object(object), Value::Str(attr)) => {
                    this.assign_attribute(&object, &attr, required(item), span)?;
                    Ok(Value::None)
                }
                _ => Err(Error::type_error(
                    "setattr takes an object and the name of an attribute",
                    span,
                )),
            }
        }
        "super" => this.super_of_method(span),
        "property" | "staticmethod" | "classmethod" => {
            let [function] = args.bind(name, ["function"], 1)?;
            Ok(required(function))
        }
        "ord" => match args.bind(name, ["c"], 1)? {
            [Some(Value::Str(it))] if it.chars().count() == 1 => Ok(Value::Int(
                it.chars().next().map_or(0, |it| i64::from(u32::from(it))),
            )),
            _ => Err(Error::type_error("ord takes a string of one character", span)),
        },
        "chr" => {
            let [code] = args.bind(name, ["i"], 1)?;
            let code = code
                .and_then(|it| it.as_int())
                .and_then(|it| u32::try_from(it).ok());
            match code.and_then(char::from_u32) {
                Some(it) => Ok(Value::str(it.to_string())),
                None => Err(Error::value_error("chr takes a code point", span)),
            }
        }
        _ => Err(Error::unsupported(
            name,
            "only values that exist at compile time are known here",
            span,
        )),
    }
}

/// An argument that `bind` has found to be given.
pub fn required(value: Option<Value>) -> Value {
    value.expect("bind has checked that the argument is given")
}

impl Evaluator<'_> {
    /// Python's `len`.
    pub fn length(&self, value: &Value, span: Span) -> Result<i64> {
        let length = match value {
            Value::Str(it) => it.chars().count(),
            Value::Tuple(it) => it.len(),
            Value::List(it) => it.borrow().len(),
            Value::Dict(it) | Value::Set(it) => it.borrow().len(),
            Value::Range(it) => it.len() as usize,
            Value::Array(it) => match it.borrow().shape().first() {
                Some(it) => *it,
                None => {
                    return Err(Error::type_error(
                        "an array without dimensions has no length",
                        span,
                    ));
                }
            },
            Value::Tensor(it) => it.view.dims()[0].count as usize,
            Value::Class(it) => self.enum_members(it).len(),
            _ if value.items().is_some() => value.items().map_or(0, |it| it.len()),
            _ => {
                return Err(Error::type_error(
                    format!("{} has no length", with_article(value.kind())),
                    span,
                ));
            }
        };
        Ok(length as i64)
    }
}

fn print(this: &mut Evaluator<'_>, args: CallArgs) -> Result<Value> {
    let (mut separator, mut end) = (" ".to_string(), "\n".to_string());
    for (name, value) in &args.keywords {
        match &**name {
            "sep" => separator = value.text(),
            "end" => end = value.text(),
            "flush" | "file" => {}
            _ => {
                return Err(super::call::unexpected(
                    "print",
                    name,
                    ["sep", "end", "flush"].into_iter(),
                    args.span,
                ));
            }
        }
    }
    let texts = args
        .positional
        .iter()
        .map(|it| this.text_of(it, false, args.span));
    let texts = texts.collect::<Result<Vec<String>>>()?;
    this.printed.push_str(&texts.join(&separator));
    this.printed.push_str(&end);
    Ok(Value::None)
}

fn extreme(this: &mut Evaluator<'_>, name: &'static str, args: CallArgs) -> Result<Value> {
    let span = args.span;
    let mut key = None;
    let mut default = None;
    for (keyword, value) in args.keywords {
        match &*keyword {
            "key" => key = Some(value),
            "default" => default = Some(value),
            _ => {
                return Err(super::call::unexpected(
                    name,
                    &keyword,
                    ["key", "default"].into_iter(),
                    span,
                ));
            }
        }
    }
    let items = match args.positional.as_slice() {
        [one] => this.iterate(one, span)?,
        several => several.to_vec(),
    };
    let mut best: Option<(Value, Value)> = None;
    for item in items {
        let rank = match &key {
            Some(key) => this.call(key, CallArgs::of(vec![item.clone()], span))?,
            None => item.clone(),
        };
        let better = match &best {
            None => true,
            Some((best, _)) => {
                let ordering = order(&rank, best).ok_or_else(|| {
                    let (a, b) = (with_article(rank.kind()), with_article(best.kind()));
                    Error::type_error(format!("{name} cannot compare {a} with {b}"), span)
                })?;
                if name == "min" {
                    ordering.is_some_and(|it| it.is_lt())
                } else {
                    ordering.is_some_and(|it| it.is_gt())
                }
            }
        };
        if better {
            best = Some((rank, item));
        }
    }
    match (best, default) {
        (Some((_, item)), _) => Ok(item),
        (None, Some(default)) => Ok(default),
        (None, None) => Err(Error::value_error(format!("{name} of nothing"), span)),
    }
}

fn is_instance(this: &Evaluator<'_>, value: &Value, class: &Value) -> bool {
    match class {
        Value::Tuple(classes) => classes.iter().any(|it| is_instance(this, value, it)),
        Value::Class(class) => this.is_object_of(value, class),
        Value::Builtin("tuple") if value.items().is_some() && matches!(value, Value::Object(_)) => true,
        Value::Builtin("object") => true,
        Value::Builtin("int") => matches!(value, Value::Int(_) | Value::Bool(_)),
        Value::Builtin(name) => *name == value.kind(),
        Value::Library(it) if it.module == "numpy" => {
            &*it.name == "ndarray" && matches!(value, Value::Array(_))
        }
        Value::Library(it) if it.module == "nki" => matches!(value, Value::Tensor(_)),
        Value::Nl("ndarray") => matches!(value, Value::Tensor(_)),
        _ => false,
    }
}
