//! The functions of `itertools` that end: each gives a list.
//!
//! Takes evaluated arguments, gives Python's items in Python's order; a result that is too long is an error.

use super::Evaluator;
use super::builtins::required;
use super::error::{Error, Result};
use super::eval::CallArgs;
use super::value::Value;
use crate::ast::BinOp;
use crate::limits::limits;
use std::rc::Rc;

/// A call of one of the functions; `None` when there is no such function.
pub fn call(this: &mut Evaluator<'_>, name: &Rc<str>, args: CallArgs) -> Option<Result<Value>> {
    let run = match &**name {
        "accumulate" => accumulate,
        "chain" => chain,
        "combinations" => |this: &mut Evaluator<'_>, args| picks(this, args, Order::Ascending),
        "islice" => islice,
        "permutations" => |this: &mut Evaluator<'_>, args| picks(this, args, Order::Any),
        "product" => product,
        "repeat" => repeat,
        "starmap" => starmap,
        "zip_longest" => zip_longest,
        _ => return None,
    };
    let span = args.span;
    Some(run(this, args).and_then(|items| {
        if items.len() as u64 > limits().list_items {
            let message = format!("{} items; at most {} are made", items.len(), limits().list_items);
            return Err(Error::value_error(message, span));
        }
        Ok(Value::list(items))
    }))
}

fn accumulate(this: &mut Evaluator<'_>, args: CallArgs) -> Result<Vec<Value>> {
    let span = args.span;
    let names = ["iterable", "func", "initial"];
    let [items, function, initial] = args.bind("itertools.accumulate", names, 1)?;
    let mut items = this.iterate(&required(items), span)?.into_iter();
    let Some(mut total) = initial
        .filter(|it| !matches!(it, Value::None))
        .or_else(|| items.next())
    else {
        return Ok(Vec::new());
    };
    let mut totals = vec![total.clone()];
    for item in items {
        total = match &function {
            None | Some(Value::None) => this.binary(BinOp::Add, &total, &item, span)?,
            Some(function) => this.call(function, CallArgs::of(vec![total, item], span))?,
        };
        totals.push(total.clone());
    }
    Ok(totals)
}

fn chain(this: &mut Evaluator<'_>, args: CallArgs) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    for list in &args.positional {
        all.extend(this.iterate(list, args.span)?);
    }
    Ok(all)
}

/// Whether the places of a pick ascend.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Ascending,
    Any,
}

fn picks(this: &mut Evaluator<'_>, args: CallArgs, order: Order) -> Result<Vec<Value>> {
    let span = args.span;
    let n_required = if order == Order::Ascending { 2 } else { 1 };
    let [items, count] = args.bind("itertools", ["iterable", "r"], n_required)?;
    let items = this.iterate(&required(items), span)?;
    let count = match count.filter(|it| !matches!(it, Value::None)) {
        None => items.len(),
        Some(it) => it
            .as_int()
            .and_then(|it| usize::try_from(it).ok())
            .ok_or_else(|| Error::type_error("`r` is an int that is not negative", span))?,
    };
    let mut rows: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..count {
        let fits = |row: &Vec<usize>| match order {
            Order::Ascending => items.len() - row.last().map_or(0, |it| it + 1),
            Order::Any => items.len() - row.len(),
        };
        let n_longer: usize = rows.iter().map(fits).sum();
        if n_longer as u64 > limits().list_items {
            return Err(Error::value_error("there are too many ways to pick", span));
        }
        if n_longer == 0 {
            return Ok(Vec::new());
        }
        let longer = |row: &Vec<usize>| {
            let first = match order {
                Order::Ascending => row.last().map_or(0, |it| it + 1),
                Order::Any => 0,
            };
            let fits = (first..items.len()).filter(|at| !row.contains(at));
            fits.map(|at| [row.as_slice(), &[at]].concat())
                .collect::<Vec<_>>()
        };
        rows = rows.iter().flat_map(longer).collect();
    }
    let row = |row: &Vec<usize>| Value::tuple(row.iter().map(|&at| items[at].clone()).collect());
    Ok(rows.iter().map(row).collect())
}

fn islice(this: &mut Evaluator<'_>, args: CallArgs) -> Result<Vec<Value>> {
    let span = args.span;
    let (Some(items), bounds) = (
        args.positional.first(),
        args.positional.get(1..).unwrap_or_default(),
    ) else {
        return Err(Error::type_error("islice takes an iterable and its bounds", span));
    };
    let bound = |it: &Value| match it {
        Value::None => Ok(None),
        _ => match it.as_int().and_then(|it| usize::try_from(it).ok()) {
            Some(it) => Ok(Some(it)),
            None => Err(Error::type_error(
                "a bound of islice is an int that is not negative",
                span,
            )),
        },
    };
    let bounds = bounds.iter().map(bound).collect::<Result<Vec<_>>>()?;
    let (start, stop, step) = match bounds[..] {
        [stop] => (0, stop, 1),
        [start, stop] => (start.unwrap_or(0), stop, 1),
        [start, stop, step] => (start.unwrap_or(0), stop, step.unwrap_or(1).max(1)),
        _ => return Err(Error::type_error("islice takes one to three bounds", span)),
    };
    let items = this.iterate(items, span)?;
    let stop = stop.unwrap_or(items.len()).min(items.len());
    Ok(items.into_iter().take(stop).skip(start).step_by(step).collect())
}

fn product(this: &mut Evaluator<'_>, args: CallArgs) -> Result<Vec<Value>> {
    let span = args.span;
    let mut lists = Vec::new();
    for list in &args.positional {
        lists.push(this.iterate(list, span)?);
    }
    let repeat = args.keywords.iter().find(|it| &*it.0 == "repeat");
    let n_times = match repeat {
        Some((_, times)) => super::tensor::int(times, "`repeat`", span)?,
        None => 1,
    };
    const MAX_LISTS: u64 = 1_000;
    let n_lists = (lists.len() as u64).saturating_mul(n_times.max(0) as u64);
    if n_lists > MAX_LISTS {
        let message = format!("the product of {n_lists} sequences; at most {MAX_LISTS} are taken");
        return Err(Error::value_error(message, span));
    }
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for list in (0..n_times).flat_map(|_| &lists) {
        if (rows.len() as u64).saturating_mul(list.len() as u64) > limits().list_items {
            return Err(Error::value_error("the product has too many rows", span));
        }
        let extend = |row: &Vec<Value>| {
            let with = |it: &Value| row.iter().cloned().chain([it.clone()]).collect::<Vec<_>>();
            list.iter().map(with).collect::<Vec<_>>()
        };
        rows = rows.iter().flat_map(extend).collect();
    }
    Ok(rows.into_iter().map(Value::tuple).collect())
}

fn repeat(_: &mut Evaluator<'_>, args: CallArgs) -> Result<Vec<Value>> {
    let span = args.span;
    let [item, times] = args.bind("itertools.repeat", ["object", "times"], 2)?;
    match required(times).as_int() {
        Some(times) if times <= limits().list_items as i64 => {
            Ok(vec![required(item); usize::try_from(times).unwrap_or(0)])
        }
        _ => Err(Error::type_error(
            "`times` is an int; a kernel makes no endless list",
            span,
        )),
    }
}

fn starmap(this: &mut Evaluator<'_>, args: CallArgs) -> Result<Vec<Value>> {
    let span = args.span;
    let [function, rows] = args.bind("itertools.starmap", ["function", "iterable"], 2)?;
    let function = required(function);
    let mut results = Vec::new();
    for row in this.iterate(&required(rows), span)? {
        let row = this.iterate(&row, span)?;
        results.push(this.call(&function, CallArgs::of(row, span))?);
    }
    Ok(results)
}

fn zip_longest(this: &mut Evaluator<'_>, args: CallArgs) -> Result<Vec<Value>> {
    let mut lists = Vec::new();
    for list in &args.positional {
        lists.push(this.iterate(list, args.span)?);
    }
    let fill = args.keywords.iter().find(|it| &*it.0 == "fillvalue");
    let fill = fill.map_or(Value::None, |it| it.1.clone());
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let row = |idx: usize| {
        let items = lists.iter().map(|it| it.get(idx).unwrap_or(&fill).clone());
        Value::tuple(items.collect())
    };
    Ok((0..longest).map(row).collect())
}
