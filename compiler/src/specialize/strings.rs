//! Methods of strings.
//!
//! Takes a string and evaluated arguments, gives what Python's method of the name gives.

use super::Evaluator;
use super::builtins::no_attribute;
use super::call::unexpected;
use super::error::{Error, Mistake, Result};
use super::eval::CallArgs;
use super::operate::bounded;
use super::value::Value;
use std::rc::Rc;

/// The methods that strings have.
pub const METHODS: &[&str] = &[
    "capitalize",
    "center",
    "count",
    "endswith",
    "find",
    "format",
    "index",
    "isalnum",
    "isalpha",
    "isdecimal",
    "isdigit",
    "islower",
    "isnumeric",
    "isspace",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "title",
    "upper",
    "zfill",
];

impl Evaluator<'_> {
    pub fn str_method(&mut self, text: &Rc<str>, name: &Rc<str>, args: CallArgs) -> Result<Value> {
        let span = args.span;
        if &**name == "format" {
            return self.str_format(text, args);
        }
        let takes = match &**name {
            "replace" => 3,
            "split" | "rsplit" | "ljust" | "rjust" | "center" => 2,
            _ => 1,
        };
        if args.positional.len() > takes {
            let (function, given) = (format!("str.{name}"), args.positional.len());
            return Err(Error::new(
                Mistake::TooManyArguments {
                    function,
                    takes,
                    given,
                },
                span,
            ));
        }
        let mut words: Vec<Value> = args.positional;
        for (keyword, value) in args.keywords {
            let at = match (&**name, &*keyword) {
                ("split" | "rsplit", "sep") => 0,
                ("split" | "rsplit", "maxsplit") => 1,
                _ => {
                    return Err(unexpected(
                        &format!("str.{name}"),
                        &keyword,
                        std::iter::empty(),
                        span,
                    ));
                }
            };
            words.resize(words.len().max(at + 1), Value::None);
            words[at] = value;
        }
        let text: &str = text;
        let all = |is_so: &dyn Fn(char) -> bool| Value::Bool(!text.is_empty() && text.chars().all(is_so));
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
            "replace" => {
                let (old, new) = (needs(0)?, needs(1)?);
                let most = words
                    .get(2)
                    .and_then(Value::as_int)
                    .and_then(|it| usize::try_from(it).ok());
                let most = most.unwrap_or(usize::MAX);
                let n_found = text.matches(old.as_str()).count().min(most);
                let added = n_found.saturating_mul(new.len());
                bounded(text.len().saturating_add(added), span)?;
                self.charge(text.len() + added);
                Value::str(text.replacen(&old, &new, n_found))
            }
            "find" | "rfind" | "index" => {
                let word = needs(0)?;
                let at = if &**name == "rfind" {
                    text.rfind(&word)
                } else {
                    text.find(&word)
                };
                match at {
                    None if &**name == "index" => {
                        return Err(Error::value_error(format!("`{word}` is not in the string"), span));
                    }
                    _ => Value::Int(at.map_or(-1, |it| text[..it].chars().count() as i64)),
                }
            }
            "removeprefix" => Value::str(text.strip_prefix(needs(0)?.as_str()).unwrap_or(text)),
            "removesuffix" => Value::str(text.strip_suffix(needs(0)?.as_str()).unwrap_or(text)),
            "title" => {
                let mut starts = true;
                let turn = |it: char| {
                    let turned: String = if starts {
                        it.to_uppercase().collect()
                    } else {
                        it.to_lowercase().collect()
                    };
                    starts = !it.is_alphabetic();
                    turned
                };
                Value::str(text.chars().map(turn).collect::<String>())
            }
            "partition" | "rpartition" => {
                let word = needs(0)?;
                let at = if &**name == "partition" {
                    text.find(&word)
                } else {
                    text.rfind(&word)
                };
                let parts = match at {
                    Some(at) => [&text[..at], &word, &text[at + word.len()..]],
                    None if &**name == "partition" => [text, "", ""],
                    None => ["", "", text],
                };
                Value::tuple(parts.map(Value::str).to_vec())
            }
            "splitlines" => Value::list(text.lines().map(Value::str).collect()),
            "ljust" | "rjust" | "center" => {
                let width = width(words.first());
                let missing = width.saturating_sub(text.chars().count());
                let before = match &**name {
                    "ljust" => 0,
                    "rjust" => missing,
                    // Python puts the odd one in front where the width is odd, too.
                    _ => missing / 2 + (missing & width & 1),
                };
                let fill = word(1).unwrap_or(" ".to_string());
                let filler = |n: usize| fill.repeat(n);
                Value::str(format!("{}{text}{}", filler(before), filler(missing - before)))
            }
            "count" => Value::Int(text.matches(&needs(0)?).count() as i64),
            "isdigit" | "isnumeric" | "isdecimal" => all(&|it| it.is_ascii_digit()),
            "isalpha" => all(&|it| it.is_alphabetic()),
            "isalnum" => all(&|it| it.is_alphanumeric()),
            "isspace" => all(&|it| it.is_whitespace()),
            "isupper" | "islower" => {
                let has_upper = text.chars().any(char::is_uppercase);
                let has_lower = text.chars().any(char::is_lowercase);
                Value::Bool(match &**name {
                    "isupper" => has_upper && !has_lower,
                    _ => has_lower && !has_upper,
                })
            }
            "zfill" => {
                let (sign, digits) = text.split_at(usize::from(text.starts_with(['+', '-'])));
                let missing = width(words.first()).saturating_sub(text.chars().count());
                Value::str(format!("{sign}{}{digits}", "0".repeat(missing)))
            }
            "split" | "rsplit" if word(0).is_some_and(|it| it.is_empty()) => {
                return Err(Error::value_error("the separator is empty", span));
            }
            "split" | "rsplit" => {
                let limit = words.get(1).and_then(Value::as_int);
                let limit = limit
                    .and_then(|it| usize::try_from(it).ok())
                    .map_or(usize::MAX, |it| it.saturating_add(1));
                Value::list(match word(0) {
                    Some(separator) if &**name == "rsplit" => {
                        let mut parts: Vec<Value> = text.rsplitn(limit, &separator).map(Value::str).collect();
                        parts.reverse();
                        parts
                    }
                    Some(separator) => text.splitn(limit, &separator).map(Value::str).collect(),
                    None if limit == usize::MAX => text.split_whitespace().map(Value::str).collect(),
                    None if &**name == "rsplit" => {
                        let help = "give the separator";
                        return Err(Error::unsupported(
                            "rsplit at white space with maxsplit",
                            help,
                            span,
                        ));
                    }
                    None => words_and_rest(text, limit).into_iter().map(Value::str).collect(),
                })
            }
            "join" => {
                let items = match words.first() {
                    Some(it) => self.iterate(it, span)?,
                    None => return Err(Error::type_error("join takes a sequence of strings", span)),
                };
                let mut length = 0usize;
                let mut texts: Vec<String> = Vec::with_capacity(items.len());
                for item in &items {
                    texts.push(item.text());
                    length += texts.last().map_or(0, String::len) + text.len();
                    bounded(length, span)?;
                }
                self.charge(length);
                Value::str(texts.join(text))
            }
            _ => {
                return Err(no_attribute(
                    "a str".to_string(),
                    name,
                    METHODS.iter().copied(),
                    span,
                ));
            }
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

/// The width that a text is padded to.
fn width(asked: Option<&Value>) -> usize {
    asked.and_then(Value::as_int).unwrap_or(0).clamp(0, 10_000) as usize
}

/// The words of a text, at most so many parts: the last one is what is left.
fn words_and_rest(text: &str, n_parts: usize) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() {
        let end = rest
            .find(char::is_whitespace)
            .filter(|_| parts.len() + 1 < n_parts);
        let (part, behind) = rest.split_at(end.unwrap_or(rest.len()));
        parts.push(part);
        rest = behind.trim_start();
    }
    parts
}
