//! Builtins that convert numbers: `int`, `float`, `round`.

use super::error::{Error, Result};
use super::eval::{CallArgs, first, with_article};
use super::operate::overflow;
use super::value::Value;
use crate::source::Span;

pub fn to_int(args: CallArgs) -> Result<Value> {
    let span = args.span;
    let [value, base] = args.bind("int", ["x", "base"], 0)?;
    let value = value.unwrap_or(Value::Int(0));
    match &value {
        Value::Float(it) if it.is_finite() && it.abs() < 9.2e18 => Ok(Value::Int(it.trunc() as i64)),
        Value::Float(it) => Err(Error::value_error(
            format!("{} is no 64-bit integer", Value::Float(*it).repr()),
            span,
        )),
        Value::Str(text) => {
            let base = base.map_or(Ok(10), |it| super::tensor::int(&it, "the base", span))?;
            parsed_int(text, base).map(Value::Int).ok_or_else(|| {
                Error::value_error(format!("{} is no integer of base {base}", value.repr()), span)
            })
        }
        Value::Array(it) if it.borrow().len() == 1 => {
            to_int(CallArgs::of(vec![Value::Float(first(it))], span))
        }
        _ => match value.as_int() {
            Some(it) => Ok(Value::Int(it)),
            None => Err(Error::type_error(
                format!("int does not take {}", with_article(value.kind())),
                span,
            )),
        },
    }
}

/// The prefix that a number of a base may have.
const PREFIXES: &[(u32, &str)] = &[(2, "0b"), (8, "0o"), (16, "0x")];

/// The integer that a text is in a base; base 0 is the one that the prefix says.
fn parsed_int(text: &str, base: i64) -> Option<i64> {
    let clean = text.trim().replace('_', "").to_lowercase();
    let (sign, size) = match clean.strip_prefix('-') {
        Some(size) => ("-", size),
        None => ("", clean.strip_prefix('+').unwrap_or(&clean)),
    };
    let prefix = PREFIXES.iter().find(|it| {
        let is_asked = base == 0 || base == i64::from(it.0);
        is_asked && size.starts_with(it.1)
    });
    let (base, digits) = match (prefix, base) {
        (Some((base, prefix)), _) => (*base, &size[prefix.len()..]),
        (None, 0) => (10, size),
        (None, base) => (u32::try_from(base).ok().filter(|it| (2..=36).contains(it))?, size),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    i64::from_str_radix(&format!("{sign}{digits}"), base).ok()
}

pub fn to_float(args: CallArgs) -> Result<Value> {
    let span = args.span;
    let [value] = args.bind("float", ["x"], 0)?;
    let value = value.unwrap_or(Value::Float(0.0));
    match &value {
        Value::Str(text) => {
            // Rust reads what Python does, the words for infinity and NaN too.
            let parsed = text.trim().parse().ok();
            parsed
                .map(Value::Float)
                .ok_or_else(|| Error::value_error(format!("{} is no number", value.repr()), span))
        }
        Value::Array(it) if it.borrow().len() == 1 => Ok(Value::Float(first(it))),
        _ => match value.as_float() {
            Some(it) => Ok(Value::Float(it)),
            None => Err(Error::type_error(
                format!("float does not take {}", with_article(value.kind())),
                span,
            )),
        },
    }
}

pub fn round(value: &Value, digits: Option<i64>, span: Span) -> Result<Value> {
    match (value, digits) {
        (Value::Array(_), _) => Err(Error::type_error("use np.round on arrays", span)),
        (Value::Float(it), None) => to_int(CallArgs::of(vec![Value::Float(it.round_ties_even())], span)),
        (Value::Float(it), Some(digits)) if (0..=300).contains(&digits) => {
            let text = format!("{it:.*}", digits as usize);
            Ok(Value::Float(text.parse().unwrap_or(*it)))
        }
        // No float has so many digits behind the point that more would be cut.
        (Value::Float(it), Some(301..)) => Ok(Value::Float(*it)),
        (Value::Float(_), Some(..-308)) => Ok(Value::Float(0.0)),
        (Value::Float(it), Some(digits)) => {
            let scale = libm::pow(10.0, -(digits as f64));
            Ok(Value::Float((it / scale).round_ties_even() * scale))
        }
        _ => match value.as_int() {
            Some(it) if digits.is_none_or(|it| it >= 0) => Ok(Value::Int(it)),
            Some(it) => rounded_int(it, digits.map_or(0, i64::unsigned_abs))
                .map(Value::Int)
                .ok_or_else(|| overflow("round", span)),
            None => Err(Error::type_error(
                format!("round does not take {}", with_article(value.kind())),
                span,
            )),
        },
    }
}

/// An integer rounded to a multiple of a power of ten, halves to the even one.
fn rounded_int(it: i64, n_zeros: u64) -> Option<i64> {
    let Some(unit) = u32::try_from(n_zeros).ok().and_then(|it| 10i128.checked_pow(it)) else {
        return Some(0);
    };
    let (quotient, rest) = (i128::from(it).div_euclid(unit), i128::from(it).rem_euclid(unit));
    let is_up = 2 * rest > unit || (2 * rest == unit && quotient % 2 != 0);
    i64::try_from((quotient + i128::from(is_up)) * unit).ok()
}
