//! Builtins that make sequences of sequences: `list`, `sorted`, `zip`, `map` and the like.

use super::Evaluator;
use super::builtins::set_of;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::operate::{order, overflow};
use super::value::Value;
use crate::source::Span;
use std::cmp::Ordering;

pub fn sequence(this: &mut Evaluator<'_>, name: &'static str, args: CallArgs) -> Result<Value> {
    let span = args.span;
    let known: &[&str] = match name {
        "sorted" => &["key", "reverse"],
        "enumerate" => &["start"],
        _ => &[],
    };
    let (mut key, mut reverse, mut start) = (None, None, None);
    for (keyword, value) in args.keywords {
        match &*keyword {
            it if !known.contains(&it) => {
                return Err(super::call::unexpected(
                    name,
                    &keyword,
                    known.iter().copied(),
                    span,
                ));
            }
            "key" => key = Some(value),
            "reverse" => reverse = Some(value),
            _ => start = Some(value),
        }
    }
    let mut positional = args.positional;
    let (given, takes) = match name {
        "zip" | "map" => (positional.len(), usize::MAX),
        "filter" | "enumerate" => (positional.len(), 2),
        _ => (positional.len(), 1),
    };
    if given > takes {
        let function = name.to_string();
        return Err(Error::new(
            Mistake::TooManyArguments {
                function,
                takes,
                given,
            },
            span,
        ));
    }
    if name == "enumerate" && given == 2 {
        start = positional.pop();
    }
    let mut given = positional.into_iter();
    let callee = matches!(name, "map" | "filter").then(|| given.next()).flatten();
    let mut lists = given
        .map(|it| this.iterate(&it, span))
        .collect::<Result<Vec<_>>>()?;
    let shortest = lists.iter().map(Vec::len).min().unwrap_or(0);
    let row = |idx: usize| lists.iter().map(|it| it[idx].clone()).collect::<Vec<_>>();
    let items = match name {
        "zip" => (0..shortest).map(|idx| Value::tuple(row(idx))).collect(),
        "map" => {
            let callee =
                callee.ok_or_else(|| Error::type_error("map takes a function and sequences", span))?;
            let rows: Vec<Vec<Value>> = (0..shortest).map(row).collect();
            let call = |it| this.call(&callee, CallArgs::of(it, span));
            rows.into_iter().map(call).collect::<Result<_>>()?
        }
        _ => {
            let mut items = if lists.is_empty() {
                Vec::new()
            } else {
                lists.swap_remove(0)
            };
            match name {
                "reversed" => items.reverse(),
                "sorted" => items = sorted(this, items, key, reverse.is_some_and(|it| it.truth()), span)?,
                "enumerate" => {
                    let start = start.map_or(Ok(0), |it| super::tensor::int(&it, "`start`", span))?;
                    if start.checked_add(items.len() as i64).is_none() {
                        return Err(overflow("+", span));
                    }
                    let pair = |(idx, it)| Value::tuple(vec![Value::Int(start + idx as i64), it]);
                    items = items.into_iter().enumerate().map(pair).collect();
                }
                "filter" => {
                    let callee = callee.unwrap_or(Value::None);
                    let mut kept = Vec::new();
                    for item in items {
                        let verdict = match &callee {
                            Value::None => item.clone(),
                            callee => this.call(callee, CallArgs::of(vec![item.clone()], span))?,
                        };
                        if this.truth(&verdict, span)? {
                            kept.push(item);
                        }
                    }
                    items = kept;
                }
                _ => {}
            }
            items
        }
    };
    match name {
        "tuple" => Ok(Value::tuple(items)),
        "set" | "frozenset" => set_of(items, span),
        _ => Ok(Value::list(items)),
    }
}

pub fn sorted(
    this: &mut Evaluator<'_>,
    items: Vec<Value>,
    key: Option<Value>,
    reverse: bool,
    span: Span,
) -> Result<Vec<Value>> {
    let mut ranked = Vec::with_capacity(items.len());
    for item in items {
        let rank = match &key {
            Some(key) => this.call(key, CallArgs::of(vec![item.clone()], span))?,
            None => item.clone(),
        };
        ranked.push((rank, item));
    }
    if let Some(pair) = ranked.windows(2).find(|it| order(&it[0].0, &it[1].0).is_none()) {
        let (a, b) = (with_article(pair[0].0.kind()), with_article(pair[1].0.kind()));
        return Err(Error::type_error(
            format!("sorted cannot compare {a} with {b}"),
            span,
        ));
    }
    let first = if reverse {
        Ordering::Greater
    } else {
        Ordering::Less
    };
    let is_before = |a: &Value, b: &Value| order(a, b).flatten() == Some(first);
    Ok(merge_sorted(ranked, &is_before)
        .into_iter()
        .map(|it| it.1)
        .collect())
}

type Ranked = (Value, Value);

/// A stable sort of values by their ranks. The library's panics where an order is none, such as that of NaN.
fn merge_sorted(mut items: Vec<Ranked>, is_before: &dyn Fn(&Value, &Value) -> bool) -> Vec<Ranked> {
    if items.len() < 2 {
        return items;
    }
    let right = items.split_off(items.len() / 2);
    let mut out = Vec::with_capacity(items.len() + right.len());
    let mut left = merge_sorted(items, is_before).into_iter().peekable();
    let mut right = merge_sorted(right, is_before).into_iter().peekable();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = if is_before(&b.0, &a.0) {
            right.next()
        } else {
            left.next()
        };
        out.extend(next);
    }
    out.extend(left);
    out.extend(right);
    out
}
