//! Builtins that convert numbers: `int`, `float`, `round`.

use super::error::{Error, Result};
use super::eval::{CallArgs, first, with_article};
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
            let base = base.and_then(|it| it.as_int()).unwrap_or(10);
            let clean = text.trim().replace('_', "");
            let parsed = u32::try_from(base)
                .ok()
                .filter(|it| (2..=36).contains(it))
                .and_then(|base| {
                    let digits = ["0x", "0X", "0b", "0B", "0o", "0O"]
                        .iter()
                        .find_map(|it| clean.strip_prefix(it));
                    i64::from_str_radix(
                        if base == 10 {
                            &clean
                        } else {
                            digits.unwrap_or(&clean)
                        },
                        base,
                    )
                    .ok()
                });
            parsed
                .map(Value::Int)
                .ok_or_else(|| Error::value_error(format!("{} is no integer", value.repr()), span))
        }
        Value::Array(it) if it.borrow().len() == 1 => Ok(Value::Int(first(it) as i64)),
        _ => match value.as_int() {
            Some(it) => Ok(Value::Int(it)),
            None => Err(Error::type_error(
                format!("int does not take {}", with_article(value.kind())),
                span,
            )),
        },
    }
}

pub fn to_float(args: CallArgs) -> Result<Value> {
    let span = args.span;
    let [value] = args.bind("float", ["x"], 0)?;
    let value = value.unwrap_or(Value::Float(0.0));
    match &value {
        Value::Str(text) => {
            let clean = text.trim().to_lowercase();
            let parsed = match clean.trim_start_matches(['+', '-']) {
                "inf" | "infinity" => Some(if clean.starts_with('-') {
                    f64::NEG_INFINITY
                } else {
                    f64::INFINITY
                }),
                "nan" => Some(f64::NAN),
                _ => clean.parse().ok(),
            };
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
        (Value::Float(it), None) if it.abs() < 9.2e18 => Ok(Value::Int(it.round_ties_even() as i64)),
        (Value::Float(it), Some(digits)) if (0..=300).contains(&digits) => {
            let text = format!("{it:.*}", digits as usize);
            Ok(Value::Float(text.parse().unwrap_or(*it)))
        }
        (Value::Float(it), Some(digits)) => {
            let scale = libm::pow(10.0, -(digits as f64));
            Ok(Value::Float((it / scale).round_ties_even() * scale))
        }
        _ => match value.as_int() {
            Some(it) => Ok(Value::Int(it)),
            None => Err(Error::type_error(
                format!("round does not take {}", with_article(value.kind())),
                span,
            )),
        },
    }
}
