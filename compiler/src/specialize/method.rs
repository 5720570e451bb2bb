//! Methods of lists, dicts, sets, tuples and strings.

use super::builtins::{no_attribute, required};
use super::dict::Dict;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::sequence::sorted;
use super::value::Value;
use super::{Evaluator, host_bridge};
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
const SET: &[&str] = &["add", "clear", "copy", "discard", "remove", "union", "update"];
const TUPLE: &[&str] = &["count", "index"];
const STR: &[&str] = &[
    "capitalize",
    "count",
    "endswith",
    "find",
    "format",
    "isdigit",
    "join",
    "lower",
    "lstrip",
    "replace",
    "rstrip",
    "split",
    "startswith",
    "strip",
    "upper",
    "zfill",
];

/// The methods a value has.
pub fn names(value: &Value) -> &'static [&'static str] {
    match value {
        Value::List(_) => LIST,
        Value::Dict(_) => DICT,
        Value::Set(_) => SET,
        Value::Tuple(_) => TUPLE,
        Value::Str(_) => STR,
        Value::Instruction => &["depends_on"],
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
            Value::Instruction => Ok(Value::Instruction),
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
                let at = at.and_then(|it| it.as_int()).unwrap_or(-1);
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

    fn set_method(&mut self, set: &Rc<RefCell<Dict>>, name: &Rc<str>, args: CallArgs) -> Result<Value> {
        let span = args.span;
        match &**name {
            "clear" => set.borrow_mut().clear(),
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
                        "discard" | "remove" => drop(target.borrow_mut().remove(&key)),
                        _ => return Err(no_attribute("a set".to_string(), name, SET.iter().copied(), span)),
                    }
                }
                if &**name == "union" {
                    return Ok(Value::Set(target));
                }
            }
        }
        Ok(Value::None)
    }

    fn str_method(&mut self, text: &Rc<str>, name: &Rc<str>, args: CallArgs) -> Result<Value> {
        let span = args.span;
        if &**name == "format" {
            return self.str_format(text, args);
        }
        let words: Vec<Value> = args.positional;
        let word = |idx: usize| match words.get(idx) {
            Some(Value::Str(it)) => Some(it.to_string()),
            _ => None,
        };
        let needs =
            |idx: usize| word(idx).ok_or_else(|| Error::type_error(format!("{name} takes a string"), span));
        Ok(match &**name {
            "lower" => Value::str(text.to_lowercase()),
            "upper" => Value::str(text.to_uppercase()),
            "capitalize" => {
                let mut chars = text.chars();
                let first = chars
                    .next()
                    .map(|it| it.to_uppercase().to_string())
                    .unwrap_or_default();
                Value::str(first + &chars.as_str().to_lowercase())
            }
            "strip" | "lstrip" | "rstrip" => {
                let set: Vec<char> = word(0).unwrap_or(" \t\r\n".to_string()).chars().collect();
                let is_in = |c: char| set.contains(&c);
                let text = if &**name == "rstrip" {
                    text
                } else {
                    text.trim_start_matches(is_in)
                };
                Value::str(if &**name == "lstrip" {
                    text
                } else {
                    text.trim_end_matches(is_in)
                })
            }
            "startswith" | "endswith" => {
                let options = words.first().and_then(Value::items).unwrap_or(words.clone());
                let fits = |it: &Value| match it {
                    Value::Str(it) if &**name == "startswith" => text.starts_with(&**it),
                    Value::Str(it) => text.ends_with(&**it),
                    _ => false,
                };
                Value::Bool(options.iter().any(fits))
            }
            "replace" => Value::str(text.replace(&needs(0)?, &needs(1)?)),
            "find" => {
                let at = text.find(&needs(0)?);
                Value::Int(at.map_or(-1, |it| text[..it].chars().count() as i64))
            }
            "count" => Value::Int(text.matches(&needs(0)?).count() as i64),
            "isdigit" => Value::Bool(!text.is_empty() && text.chars().all(|it| it.is_ascii_digit())),
            "zfill" => {
                let width = words
                    .first()
                    .and_then(Value::as_int)
                    .unwrap_or(0)
                    .clamp(0, 10_000) as usize;
                Value::str(format!("{text:0>width$}"))
            }
            "split" => Value::list(match word(0) {
                Some(separator) if !separator.is_empty() => text.split(&separator).map(Value::str).collect(),
                _ => text.split_whitespace().map(Value::str).collect(),
            }),
            "join" => {
                let items = match words.first() {
                    Some(it) => self.iterate(it, span)?,
                    None => return Err(Error::type_error("join takes a sequence of strings", span)),
                };
                let texts: Vec<String> = items.iter().map(Value::text).collect();
                Value::str(texts.join(text))
            }
            _ => return Err(no_attribute("a str".to_string(), name, STR.iter().copied(), span)),
        })
    }

    fn str_format(&mut self, text: &str, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let mut out = String::new();
        let mut next = 0;
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            out.push_str(&rest[..at]);
            let (mark, tail) = rest[at..].split_at(1);
            if tail.starts_with(mark) {
                out.push_str(mark);
                rest = &tail[1..];
                continue;
            }
            let end = tail.find('}').filter(|_| mark == "{");
            let end = end.ok_or_else(|| Error::value_error("a brace of the format has no partner", span))?;
            let (field, spec) = tail[..end].split_once(':').unwrap_or((&tail[..end], ""));
            let value = if field.is_empty() {
                next += 1;
                args.positional.get(next - 1)
            } else if let Ok(idx) = field.parse::<usize>() {
                args.positional.get(idx)
            } else {
                args.keywords.iter().find(|it| *it.0 == *field).map(|it| &it.1)
            };
            let value =
                value.ok_or_else(|| Error::value_error(format!("no value for `{{{field}}}`"), span))?;
            out.push_str(&super::format::format(value, spec).map_err(|it| Error::value_error(it, span))?);
            rest = &tail[end + 1..];
        }
        out.push_str(rest);
        Ok(Value::str(out))
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
