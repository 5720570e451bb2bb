//! One instruction from its line: the row, its operands in call order, its engine.
//!
//! Takes the words of a line and the buffers declared so far, gives an `Inst`. Checks what the row says about the form
//! of operands; whether their values obey the hardware is `verify`'s work.

use super::ACCUMULATES;
use super::SPECIAL_FLOATS;
use super::build::Builder;
use super::error::{Mistake, Noun};
use super::print::is_positional;
use super::syntax::{At, IndexText, InstLine, Item, Named, OperandText, Term, Value, ViewText};
use super::window;
use crate::ir::{Dim, Dynamic, Index, Inst, Name, Pattern, Ranks, Shuffle};
use crate::isa::{
    ActFn, AluOp, Arg, EXCHANGES, Kind, MAX_ARGS, OOB_MODES, Op, Operand, REDUCE_CMDS, ROWS, Row,
};
use std::ops::Range;

/// Reads the text of a name, `%base.0.3'2`; `None` when a number in it does not fit.
pub fn read_name(text: &str) -> Option<Name> {
    let text = text.strip_prefix('%')?;
    let base_end = match text.strip_prefix('"') {
        Some(quoted) => closing_quote(quoted)? + 2,
        None => text.find(['.', '\'']).unwrap_or(text.len()),
    };
    let (base, numbers) = text.split_at(base_end);
    let (instance, copy) = match numbers.split_once('\'') {
        Some((instance, copy)) => (instance, copy.parse().ok()?),
        None => (numbers, 1),
    };
    let instance: Result<Vec<u32>, _> = instance.split('.').skip(1).map(str::parse).collect();
    let instance = instance.ok()?;
    Some(Name {
        base: read_word(base).into(),
        instance: (!instance.is_empty()).then(|| instance.into()),
        copy,
    })
}

fn closing_quote(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (idx, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(idx),
            _ => {}
        }
    }
    None
}

/// A word, or what stands between quotation marks.
pub fn read_word(text: &str) -> String {
    let Some(quoted) = text.strip_prefix('"').and_then(|it| it.strip_suffix('"')) else {
        return text.to_owned();
    };
    let mut word = String::with_capacity(quoted.len());
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            word.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => word.push('\n'),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok();
                word.push(
                    code.and_then(char::from_u32)
                        .unwrap_or(char::REPLACEMENT_CHARACTER),
                );
            }
            Some(other) => word.push(other),
            None => {}
        }
    }
    word
}

/// The instruction of a line; its location is left to the caller. `None` after reporting what is wrong.
pub fn instruction(builder: &mut Builder, range: &Range<usize>, line: InstLine) -> Option<Inst> {
    let Some(op) = Op::from_name(line.op.value) else {
        builder.unknown(Noun::Instruction, &line.op, ROWS.iter().map(|it| it.name));
        return None;
    };
    let row = op.row();
    let mut args = [Arg::Absent; MAX_ARGS];
    let n_errors = builder.errors.len();
    match (&line.dst, row.has_dst()) {
        (Some(dst), true) => {
            args[0] = place(builder, row.operands[0].kind, &dst.range, &dst.value).unwrap_or(Arg::Absent);
        }
        (None, false) => {}
        (Some(_), false) => {
            builder.report(
                range.clone(),
                Mistake::Destination {
                    op: row.name,
                    takes: false,
                },
            );
            return None;
        }
        (None, true) => {
            builder.report(
                range.clone(),
                Mistake::Destination {
                    op: row.name,
                    takes: true,
                },
            );
            return None;
        }
    }
    let mut tiles: Vec<usize> = (usize::from(row.has_dst())..row.operands.len())
        .filter(|&it| is_positional(&row.operands[it]))
        .collect();
    let n_tiles = line
        .operands
        .iter()
        .filter(|it| matches!(it.value, OperandText::Tile(_)))
        .count();
    if n_tiles != tiles.len() {
        let takes = tiles.iter().map(|&it| row.operands[it].name).collect();
        let (op, found) = (row.name, n_tiles);
        builder.report(range.clone(), Mistake::TileCount { op, takes, found });
        return None;
    }
    let mut is_given = [false; MAX_ARGS];
    for operand in line.operands {
        match operand.value {
            OperandText::Tile(_) if is_given.contains(&true) => {
                builder.report(operand.range, Mistake::TileAfterName);
                return None;
            }
            OperandText::Tile(text) => {
                let position = tiles.remove(0);
                let kind = row.operands[position].kind;
                args[position] = place(builder, kind, &operand.range, &text).unwrap_or(Arg::Absent);
            }
            OperandText::Named(named) => {
                if let Some((position, arg)) = named_operand(builder, row, &named, &mut is_given) {
                    args[position] = arg;
                }
            }
        }
    }
    for (position, operand) in row.operands.iter().enumerate() {
        if let (false, Some(default)) = (is_given[position], operand.default) {
            args[position] = default;
        }
    }
    let engine = match &line.engine {
        Some(name) => builder.engine(name)?,
        None => row.engines[0],
    };
    let asked = builder.asked(&line.asked);
    (builder.errors.len() == n_errors).then_some(Inst {
        op,
        engine,
        loc: None,
        args,
        asked,
    })
}

fn named_operand(
    builder: &mut Builder,
    row: &'static Row,
    named: &Named,
    is_given: &mut [bool; MAX_ARGS],
) -> Option<(usize, Arg)> {
    let by_name = |it: &&Operand| !is_positional(it);
    let Some(position) = row
        .position(named.name.value)
        .filter(|&it| by_name(&&row.operands[it]))
    else {
        let known = row.operands.iter().filter(by_name).map(|it| it.name);
        builder.unknown(Noun::Operand(row.name), &named.name, known);
        return None;
    };
    let operand = &row.operands[position];
    if is_given[position] {
        builder.report(
            named.name.range.clone(),
            Mistake::RepeatedOperand { name: operand.name },
        );
        return None;
    }
    is_given[position] = true;
    Some((position, value(builder, operand, &named.value)?))
}

/// A value as the operand's kind reads it.
fn value(builder: &mut Builder, operand: &'static Operand, value: &At<Value>) -> Option<Arg> {
    if let Value::Word("none") = value.value {
        return Some(Arg::Absent);
    }
    let n_errors = builder.errors.len();
    let arg = match operand.kind {
        Kind::Tile(_) | Kind::Column(_) | Kind::ColumnOrScalar(_) | Kind::TileOrScalar(_) => {
            match &value.value {
                Value::View(text) => view(builder, &value.range, text),
                other => scalar(other),
            }
        }
        Kind::Register => match &value.value {
            Value::View(text) => builder.register(&text.buffer).map(Arg::Register),
            _ => None,
        },
        Kind::RegisterOrInt => match &value.value {
            Value::View(text) => builder.register(&text.buffer).map(Arg::Register),
            other => scalar(other).filter(|it| matches!(it, Arg::Int(_))),
        },
        Kind::OobMode => word(&value.value)
            .and_then(|word| OOB_MODES.iter().find(|it| it.1 == word))
            .map(|it| Arg::OobMode(it.0)),
        Kind::Scalar => scalar(&value.value),
        Kind::Alu(_) => word(&value.value).and_then(AluOp::from_name).map(Arg::Alu),
        Kind::Act => word(&value.value).and_then(ActFn::from_name).map(Arg::Act),
        Kind::ReduceCmd => word(&value.value)
            .and_then(|word| REDUCE_CMDS.iter().find(|it| it.1 == word))
            .map(|it| Arg::ReduceCmd(it.0)),
        Kind::Accumulate => word(&value.value)
            .and_then(|word| ACCUMULATES.iter().find(|it| it.1 == word))
            .map(|it| Arg::Accumulate(it.0)),
        Kind::Bool => scalar(&value.value).filter(|it| matches!(it, Arg::Bool(_))),
        Kind::Int => scalar(&value.value).filter(|it| matches!(it, Arg::Int(_))),
        Kind::Pattern => pattern(builder, &value.value),
        Kind::Axes => axes(&value.value),
        Kind::Pair => pair(&value.value),
        Kind::Shuffle => shuffle(builder, &value.value),
        Kind::Exchange => word(&value.value)
            .and_then(|word| EXCHANGES.iter().find(|it| it.1 == word))
            .map(|it| Arg::Exchange(it.0)),
        Kind::Ranks => ranks(builder, &value.value),
    };
    if arg.is_none() && builder.errors.len() == n_errors {
        let (operand, takes) = (operand.name, takes(operand.kind));
        builder.report(value.range.clone(), Mistake::Value { operand, takes });
    }
    arg
}

/// What an operand takes, in words.
fn takes(kind: Kind) -> &'static str {
    match kind {
        Kind::Tile(_) | Kind::Column(_) => "a view",
        Kind::ColumnOrScalar(_) | Kind::TileOrScalar(_) => "a view or a number",
        Kind::Scalar => "a number within 32 bits",
        Kind::Alu(_) => "an operator such as `add`",
        Kind::Act => "an activation function such as `exp`",
        Kind::ReduceCmd => "`idle`, `reset`, `reduce`, `reset_reduce` or `load_reduce`",
        Kind::Accumulate => "`true`, `false` or `auto`",
        Kind::Bool => "`true` or `false`",
        Kind::Int => "an integer within 32 bits",
        Kind::Pattern => "a pattern such as `2*64 + 64*1`",
        Kind::Axes => "an axis, or several like `(1, 2)`",
        Kind::Pair => "two numbers below 256, like `(0, 64)`",
        Kind::Register => "a register",
        Kind::RegisterOrInt => "a register or an integer within 32 bits",
        Kind::OobMode => "`error` or `skip`",
        Kind::Exchange => {
            "`all_reduce`, `all_gather`, `reduce_scatter`, `all_to_all`, `permute`, `permute_reduce` or `core_barrier`"
        }
        Kind::Ranks => "ranks, like `(0, 1)`",
        Kind::Shuffle => "32 lanes from 0 to 31, or 255 to keep one, like `(1, 0, 255, …)`",
    }
}

fn word<'t>(value: &Value<'t>) -> Option<&'t str> {
    match value {
        Value::Word(word) => Some(word),
        _ => None,
    }
}

fn scalar(value: &Value) -> Option<Arg> {
    match value {
        Value::Float(value) => Some(Arg::Float(*value)),
        Value::Int(value) => i32::try_from(*value)
            .map(Arg::Int)
            .or_else(|_| u32::try_from(*value).map(Arg::Uint))
            .ok(),
        Value::Word("true") => Some(Arg::Bool(true)),
        Value::Word("false") => Some(Arg::Bool(false)),
        Value::Word("nan") => Some(Arg::Float(f32::NAN)),
        Value::Word(word) => SPECIAL_FLOATS
            .iter()
            .find(|it| it.1 == *word)
            .map(|it| Arg::Float(it.0)),
        Value::View(_) | Value::Terms(_) | Value::Tuple(_) => None,
    }
}

fn pattern(builder: &mut Builder, value: &Value) -> Option<Arg> {
    let dims = match value {
        Value::Int(0) => Vec::new(),
        Value::Terms(terms) => dims(builder, terms)?,
        _ => return None,
    };
    Some(Arg::Pattern(builder.program.add_pattern(Pattern(dims))))
}

fn dims(builder: &mut Builder, terms: &[At<Term>]) -> Option<Vec<Dim>> {
    let dim = |it: &At<Term>| {
        Some(Dim {
            count: builder.fit(&at(it, it.value.count), "a count", "4294967295")?,
            stride: builder.fit(&at(it, it.value.step), "a step", "2147483647")?,
        })
    };
    terms.iter().map(dim).collect()
}

fn at<T, U>(place: &At<T>, value: U) -> At<U> {
    At {
        range: place.range.clone(),
        value,
    }
}

fn axes(value: &Value) -> Option<Arg> {
    let bit = |axis: i64| u32::try_from(axis).ok().and_then(|it| 1u8.checked_shl(it));
    let bits = match value {
        Value::Int(axis) => bit(*axis)?,
        Value::Tuple(axes) => axes.iter().try_fold(0, |bits, it| Some(bits | bit(it.value)?))?,
        _ => return None,
    };
    Some(Arg::Axes(bits))
}

fn pair(value: &Value) -> Option<Arg> {
    let Value::Tuple(items) = value else { return None };
    let [first, second] = items.as_slice() else {
        return None;
    };
    Some(Arg::Pair(
        first.value.try_into().ok()?,
        second.value.try_into().ok()?,
    ))
}

/// A required operand that stands without a name: a view, or a register where the row wants one.
fn place(builder: &mut Builder, kind: Kind, range: &Range<usize>, text: &ViewText) -> Option<Arg> {
    match kind {
        Kind::Register => builder.register(&text.buffer).map(Arg::Register),
        _ => view(builder, range, text),
    }
}

/// What moves a view when the program runs.
fn dynamic(builder: &mut Builder, text: &At<IndexText>) -> Option<Dynamic> {
    let stride = builder.fit(&text.value.stride, "a stride", "4294967295")?;
    let count = builder.fit(&text.value.count, "a count", "4294967295")?;
    let tile = &text.value.tile;
    let is_register = tile.items.is_none() && !text.value.is_rows && builder.is_register(&tile.buffer);
    let index = if is_register {
        Index::Register(builder.register(&tile.buffer)?)
    } else {
        let Arg::View(id) = view(builder, &text.range, tile)? else {
            return None;
        };
        match text.value.is_rows {
            true => Index::Rows(id),
            false => Index::Element(id),
        }
    };
    Some(Dynamic { index, stride, count })
}

fn ranks(builder: &mut Builder, value: &Value) -> Option<Arg> {
    let ranks = match value {
        Value::Int(rank) => vec![u32::try_from(*rank).ok()?],
        Value::Tuple(items) => items
            .iter()
            .map(|it| u32::try_from(it.value).ok())
            .collect::<Option<Vec<u32>>>()?,
        _ => return None,
    };
    Some(builder.program.add_ranks(Ranks(ranks)))
}

fn shuffle(builder: &mut Builder, value: &Value) -> Option<Arg> {
    let Value::Tuple(items) = value else { return None };
    let entries: Vec<i64> = items.iter().map(|it| it.value).collect();
    let mask = Shuffle::new(&entries)?;
    Some(builder.program.add_shuffle(mask))
}

/// The view that a text stands for, interned.
fn view(builder: &mut Builder, range: &Range<usize>, text: &ViewText) -> Option<Arg> {
    let id = builder.buffer(&text.buffer);
    let dtype = match &text.dtype {
        Some(name) => Some(builder.dtype(name)?),
        None => None,
    };
    let items = match &text.items {
        Some(items) => Some(
            items
                .iter()
                .map(|it| item(builder, it))
                .collect::<Option<Vec<_>>>()?,
        ),
        None => None,
    };
    let dynamic = match &text.index {
        Some(index) => Some(dynamic(builder, index)?),
        None => None,
    };
    let id = id?;
    let buffer = &builder.program[id];
    match window::view(id, buffer, dtype.unwrap_or(buffer.dtype), items.as_deref()) {
        Ok(view) => Some(Arg::View(builder.program.add_view(view.moved_by(dynamic)))),
        Err(misfit) => {
            builder.report(range.clone(), Mistake::View { misfit });
            None
        }
    }
}

fn item(builder: &mut Builder, text: &At<Item>) -> Option<window::Item> {
    Some(match &text.value {
        Item::Range(it) => window::Item::Range(it.start.value, it.end.value),
        Item::Index(index) => window::Item::Index(*index),
        Item::Pattern(offset, terms) => window::Item::Pattern(*offset, dims(builder, terms)?),
    })
}
