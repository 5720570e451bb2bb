//! Operators on compile-time values.
//!
//! Takes evaluated operands, gives Python's result on numbers, strings and containers; arrays go to the NumPy subset,
//! tiles to the language functions that the operators stand for.

use super::Evaluator;
use super::affine::Affine;
use super::error::{Error, Mistake, Result};
use super::eval::with_article;
use super::host_bridge;
use super::mask::Mask;
use super::value::Value;
use crate::ast::{BinOp, CmpOp, UnaryOp};
use crate::limits::limits;
use crate::source::Span;
use std::rc::Rc;

impl Evaluator<'_> {
    pub fn binary(&mut self, op: BinOp, left: &Value, right: &Value, span: Span) -> Result<Value> {
        if let (Value::Object(_), _) | (_, Value::Object(_)) = (left, right)
            && let Some(answer) = self.object_binary(op, left, right, span)
        {
            return answer;
        }
        match (left, right) {
            (Value::Int(a), Value::Int(b)) => int_binary(op, *a, *b, span),
            (Value::Bool(a), Value::Bool(b))
                if matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor) =>
            {
                Ok(Value::Bool(match op {
                    BinOp::BitAnd => a & b,
                    BinOp::BitOr => a | b,
                    _ => a ^ b,
                }))
            }
            (Value::Tensor(_), _) | (_, Value::Tensor(_)) => self.tile_binary(op, left, right, span),
            (Value::Access(it), _) | (_, Value::Access(it)) => Err(it.outside()),
            (Value::Index(_) | Value::Mask(_), _) | (_, Value::Index(_) | Value::Mask(_)) => {
                index_binary(op, left, right, span)
            }
            (Value::Array(_), _) | (_, Value::Array(_)) => host_bridge::binary(op, left, right, span),
            _ => match (left.as_float(), right.as_float()) {
                (Some(a), Some(b)) => match (left.as_int(), right.as_int()) {
                    (Some(a), Some(b)) => int_binary(op, a, b, span),
                    _ => float_binary(op, a, b, left, right, span),
                },
                _ => {
                    let made = container_binary(op, left, right, span)?;
                    self.charge(length_of(&made));
                    Ok(made)
                }
            },
        }
    }

    /// `a op= b`: lists grow in place, as every name that holds them sees.
    pub fn binary_in_place(&mut self, op: BinOp, left: &Value, right: &Value, span: Span) -> Result<Value> {
        if let (Value::List(list), BinOp::Add) = (left, op) {
            let items = self.iterate(right, span)?;
            bounded(list.borrow().len().saturating_add(items.len()), span)?;
            self.charge(items.len());
            list.borrow_mut().extend(items);
            return Ok(left.clone());
        }
        self.binary(op, left, right, span)
    }

    pub fn unary(&mut self, op: UnaryOp, value: &Value, span: Span) -> Result<Value> {
        if let Value::Object(object) = value
            && let Some(answer) = self.object_unary(op, object, span)
        {
            return answer;
        }
        match (op, value) {
            (_, Value::Tensor(_)) => self.tile_unary(op, value, span),
            (UnaryOp::Neg, Value::Index(it)) => Ok(Value::Index(Rc::new(it.negated()))),
            (UnaryOp::Invert | UnaryOp::Not, Value::Mask(it)) => match it.inverted() {
                Some(it) => Ok(Value::Mask(Rc::new(it))),
                None => Err(Error::unsupported(
                    "the opposite of several conditions",
                    "invert each comparison",
                    span,
                )),
            },
            (_, Value::Array(_)) => host_bridge::unary(op, value, span),
            (UnaryOp::Not, _) => Ok(Value::Bool(!value.truth())),
            (UnaryOp::Neg, Value::Float(it)) => Ok(Value::Float(-it)),
            (UnaryOp::Pos, Value::Float(it)) => Ok(Value::Float(*it)),
            _ => match (op, value.as_int()) {
                (UnaryOp::Neg, Some(it)) => it
                    .checked_neg()
                    .map(Value::Int)
                    .ok_or_else(|| overflow("-", span)),
                (UnaryOp::Pos, Some(it)) => Ok(Value::Int(it)),
                (UnaryOp::Invert, Some(it)) => Ok(Value::Int(!it)),
                _ => {
                    let symbol = match op {
                        UnaryOp::Neg => "-",
                        UnaryOp::Pos => "+",
                        UnaryOp::Invert => "~",
                        UnaryOp::Not => "not",
                    };
                    Err(Error::type_error(
                        format!("`{symbol}` does not work on {}", with_article(value.kind())),
                        span,
                    ))
                }
            },
        }
    }

    pub fn compare(&mut self, op: CmpOp, left: &Value, right: &Value, span: Span) -> Result<Value> {
        if let (Value::Object(_), _) | (_, Value::Object(_)) = (left, right)
            && let Some(answer) = self.object_compare(op, left, right, span)
        {
            return answer;
        }
        let result = match op {
            CmpOp::Is => left.is_same(right),
            CmpOp::IsNot => !left.is_same(right),
            CmpOp::In => contains(right, left, span)?,
            CmpOp::NotIn => !contains(right, left, span)?,
            _ if matches!(left, Value::Array(_)) || matches!(right, Value::Array(_)) => {
                return host_bridge::compare(op, left, right, span);
            }
            _ if matches!(left, Value::Index(_)) || matches!(right, Value::Index(_)) => {
                return index_compare(op, left, right, span);
            }
            // A tile beside a number is compared element by element; whether two tensors are one is asked as of any object.
            CmpOp::Eq | CmpOp::Ne if !is_tile_with_number(left, right) => {
                left.equals(right) == (op == CmpOp::Eq)
            }
            CmpOp::Eq | CmpOp::Ne | CmpOp::Lt | CmpOp::Le | CmpOp::Gt | CmpOp::Ge => {
                if matches!(left, Value::Tensor(_)) || matches!(right, Value::Tensor(_)) {
                    let result = self.tile_compare(op, left, right, span)?;
                    if let Value::Tensor(it) = &result {
                        self.comparisons.insert(it.buffer());
                    }
                    return Ok(result);
                }
                if let (Value::Set(a), Value::Set(b)) = (left, right) {
                    return Ok(Value::Bool(super::sets::compare(op, &a.borrow(), &b.borrow())));
                }
                let Some(ordering) = order(left, right) else {
                    return Err(Error::new(operands(op.symbol(), left, right), span));
                };
                // Only NaN has no order, and it makes every comparison false.
                ordering.is_some_and(|it| match op {
                    CmpOp::Lt => it.is_lt(),
                    CmpOp::Le => it.is_le(),
                    CmpOp::Gt => it.is_gt(),
                    _ => it.is_ge(),
                })
            }
        };
        Ok(Value::Bool(result))
    }
}

fn is_tile_with_number(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Tensor(tile), number) | (number, Value::Tensor(tile)) => {
            tile.is_on_chip() && number.as_float().is_some()
        }
        _ => false,
    }
}

/// The index tensor in a value; a number is one of no dimensions.
fn form_of(value: &Value) -> Option<Affine> {
    match value {
        Value::Index(it) => Some(**it),
        Value::Float(it) if it.fract() == 0.0 && it.abs() < 9e15 => Some(Affine::constant(*it as i64)),
        value => value.as_int().map(Affine::constant),
    }
}

fn shapes_differ(left: &Affine, right: &Affine, span: Span) -> Box<Error> {
    let message = format!(
        "index tensors of shapes {:?} and {:?} do not broadcast",
        left.sizes(),
        right.sizes()
    );
    Error::value_error(message, span)
}

/// Arithmetic of index tensors, and combinations of masks.
fn index_binary(op: BinOp, left: &Value, right: &Value, span: Span) -> Result<Value> {
    let mask_of = |value: &Value| match value {
        Value::Mask(it) => Some((**it).clone()),
        Value::Bool(it) => Some(Mask::always(*it)),
        _ => None,
    };
    if let (BinOp::BitAnd | BinOp::Mul, Some(a), Some(b)) = (op, mask_of(left), mask_of(right)) {
        return Ok(Value::Mask(Rc::new(a.and(&b))));
    }
    if let (BinOp::BitOr, Value::Mask(mask), Value::Bool(it))
    | (BinOp::BitOr, Value::Bool(it), Value::Mask(mask)) = (op, left, right)
    {
        return Ok(if *it {
            Value::Bool(true)
        } else {
            Value::Mask(mask.clone())
        });
    }
    let (Some(a), Some(b)) = (form_of(left), form_of(right)) else {
        return Err(Error::new(operands(op.symbol(), left, right), span));
    };
    let form = match op {
        BinOp::Add => a.sum(&b).ok_or_else(|| shapes_differ(&a, &b, span))?,
        BinOp::Sub => a.sum(&b.negated()).ok_or_else(|| shapes_differ(&a, &b, span))?,
        BinOp::Mul if b.rank() == 0 => a.scaled(b.start),
        BinOp::Mul if a.rank() == 0 => b.scaled(a.start),
        _ => {
            let what = format!("`{}` on index tensors", op.symbol());
            let help = "indices are sums of index tensors times ints; put a split index into two dimensions of an nl.mgrid";
            return Err(Error::unsupported(&what, help, span));
        }
    };
    Ok(Value::Index(Rc::new(form)))
}

fn index_compare(op: CmpOp, left: &Value, right: &Value, span: Span) -> Result<Value> {
    let (Some(a), Some(b)) = (form_of(left), form_of(right)) else {
        return Err(Error::new(operands(op.symbol(), left, right), span));
    };
    match Mask::compared(op, &a, &b) {
        Some(mask) => Ok(Value::Mask(Rc::new(mask))),
        None => Err(shapes_differ(&a, &b, span)),
    }
}

fn operands(op: &'static str, left: &Value, right: &Value) -> Mistake {
    Mistake::Operands {
        op,
        left: with_article(left.kind()),
        right: with_article(right.kind()),
    }
}

pub fn overflow(op: &'static str, span: Span) -> Box<Error> {
    Error::new(Mistake::IntegerOverflow { op }, span)
}

fn int_binary(op: BinOp, a: i64, b: i64, span: Span) -> Result<Value> {
    let zero = || Error::new(Mistake::DivisionByZero { op: op.symbol() }, span);
    let result = match op {
        BinOp::Add => a.checked_add(b),
        BinOp::Sub => a.checked_sub(b),
        BinOp::Mul => a.checked_mul(b),
        BinOp::Div if b == 0 => return Err(zero()),
        BinOp::Div => return Ok(Value::Float(a as f64 / b as f64)),
        BinOp::FloorDiv | BinOp::Mod if b == 0 => return Err(zero()),
        BinOp::FloorDiv => floor_div(a, b),
        BinOp::Mod => floor_mod(a, b),
        BinOp::Pow if b < 0 && a == 0 => return Err(zero()),
        BinOp::Pow if b < 0 => return Ok(Value::Float(libm::pow(a as f64, b as f64))),
        BinOp::Pow => u32::try_from(b)
            .ok()
            .and_then(|it| a.checked_pow(it))
            .or(match a {
                0 | 1 => Some(a),
                -1 => Some(if b % 2 == 0 { 1 } else { -1 }),
                _ => None,
            }),
        BinOp::BitAnd => Some(a & b),
        BinOp::BitOr => Some(a | b),
        BinOp::BitXor => Some(a ^ b),
        BinOp::Shl | BinOp::Shr if b < 0 => {
            return Err(Error::value_error("a shift count must not be negative", span));
        }
        BinOp::Shl if a == 0 => Some(0),
        BinOp::Shl if b < 63 => a.checked_mul(1 << b),
        BinOp::Shl => None,
        BinOp::Shr => Some(a >> b.min(63)),
        BinOp::MatMul => {
            return Err(Error::new(operands("@", &Value::Int(a), &Value::Int(b)), span));
        }
    };
    result.map(Value::Int).ok_or_else(|| overflow(op.symbol(), span))
}

/// Division that rounds towards minus infinity, as Python's does.
pub fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) {
        quotient - 1
    } else {
        quotient
    })
}

/// The remainder that goes with [`floor_div`]: it has the sign of the divisor.
pub fn floor_mod(a: i64, b: i64) -> Option<i64> {
    let rest = a.checked_rem(b)?;
    Some(if rest != 0 && (rest < 0) != (b < 0) {
        rest + b
    } else {
        rest
    })
}

fn float_binary(op: BinOp, a: f64, b: f64, left: &Value, right: &Value, span: Span) -> Result<Value> {
    let is_division = matches!(op, BinOp::Div | BinOp::FloorDiv | BinOp::Mod);
    if is_division && b == 0.0 {
        return Err(Error::new(Mistake::DivisionByZero { op: op.symbol() }, span));
    }
    Ok(Value::Float(match op {
        BinOp::Add => a + b,
        BinOp::Sub => a - b,
        BinOp::Mul => a * b,
        BinOp::Div => a / b,
        // From the remainder, as Python does: 1.0 // 0.1 is 9, though 1.0 / 0.1 is 10.
        BinOp::FloorDiv => {
            let rest = a % b;
            let is_below = rest != 0.0 && (rest < 0.0) != (b < 0.0);
            ((a - rest) / b).round_ties_even() - if is_below { 1.0 } else { 0.0 }
        }
        BinOp::Mod => float_mod(a, b),
        BinOp::Pow if a == 0.0 && b < 0.0 => {
            return Err(Error::new(Mistake::DivisionByZero { op: op.symbol() }, span));
        }
        BinOp::Pow if a < 0.0 && a.is_finite() && b.is_finite() && b.fract() != 0.0 => {
            let message = "a negative number has no real power with a fraction as exponent";
            return Err(Error::value_error(message, span));
        }
        BinOp::Pow => libm::pow(a, b),
        BinOp::MatMul | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor | BinOp::Shl | BinOp::Shr => {
            return Err(Error::new(operands(op.symbol(), left, right), span));
        }
    }))
}

/// The remainder of floats, with the sign of the divisor.
fn float_mod(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
        rest + b
    } else if rest == 0.0 {
        rest.copysign(b)
    } else {
        rest
    }
}

/// The items of a sequence, the bytes of a string.
fn length_of(value: &Value) -> usize {
    match value {
        Value::Str(it) => it.len(),
        Value::Tuple(it) => it.len(),
        Value::List(it) => it.borrow().len(),
        _ => 0,
    }
}

/// Refuses sequences and strings that are too long.
pub fn bounded(length: usize, span: Span) -> Result<()> {
    let limit = limits().list_items;
    if length as u64 > limit {
        let message = format!("the result would have more than {limit} items");
        return Err(Error::value_error(message, span));
    }
    Ok(())
}

fn container_binary(op: BinOp, left: &Value, right: &Value, span: Span) -> Result<Value> {
    if op == BinOp::Add {
        bounded(length_of(left).saturating_add(length_of(right)), span)?;
    }
    match (op, left, right) {
        (BinOp::Add, Value::Str(a), Value::Str(b)) => Ok(Value::str(format!("{a}{b}"))),
        (BinOp::Add, Value::Tuple(a), Value::Tuple(b)) => {
            Ok(Value::tuple(a.iter().chain(b.iter()).cloned().collect()))
        }
        (BinOp::Add, Value::List(a), Value::List(b)) => Ok(Value::list(
            a.borrow().iter().chain(b.borrow().iter()).cloned().collect(),
        )),
        (BinOp::Mul, Value::Str(_) | Value::Tuple(_) | Value::List(_), _) if right.as_int().is_some() => {
            repeat(left, right.as_int().unwrap_or(0), span)
        }
        (BinOp::Mul, _, Value::Str(_) | Value::Tuple(_) | Value::List(_)) if left.as_int().is_some() => {
            repeat(right, left.as_int().unwrap_or(0), span)
        }
        (BinOp::Mod, Value::Str(format), _) => super::format::percent(format, right)
            .map(Value::str)
            .map_err(|it| Error::value_error(it, span)),
        (_, Value::Set(a), Value::Set(b)) => super::sets::binary(op, &a.borrow(), &b.borrow())
            .ok_or_else(|| Error::new(operands(op.symbol(), left, right), span)),
        (BinOp::BitOr, Value::Dict(a), Value::Dict(b)) => {
            let mut merged = a.borrow().clone();
            for (name, value) in b.borrow().entries() {
                merged.insert(
                    name.key().expect("keys of a dict are hashable"),
                    name.clone(),
                    value.clone(),
                );
            }
            Ok(Value::Dict(Rc::new(merged.into())))
        }
        _ => Err(Error::new(operands(op.symbol(), left, right), span)),
    }
}

fn repeat(value: &Value, count: i64, span: Span) -> Result<Value> {
    let count = count.max(0) as usize;
    let length = length_of(value);
    bounded(length.saturating_mul(count), span)?;
    Ok(match value {
        Value::Str(it) => Value::str(it.repeat(count)),
        Value::Tuple(it) => Value::tuple(it.iter().cycle().take(length * count).cloned().collect()),
        Value::List(it) => Value::list(it.borrow().iter().cycle().take(length * count).cloned().collect()),
        _ => value.clone(),
    })
}

fn contains(container: &Value, item: &Value, span: Span) -> Result<bool> {
    match (container, item) {
        (Value::Str(text), Value::Str(part)) => Ok(text.contains(&**part)),
        (Value::Dict(dict) | Value::Set(dict), _) => {
            let key = item.key().ok_or_else(|| Error::unhashable(item, span))?;
            Ok(dict.borrow().get(&key).is_some())
        }
        (Value::Range(range), _) => Ok(item.as_int().is_some_and(|it| {
            let (offset, step) = (i128::from(it) - i128::from(range.start), i128::from(range.step));
            offset % step == 0 && (0..i128::from(range.len())).contains(&(offset / step))
        })),
        (Value::Class(class), Value::Object(object)) => Ok(Rc::ptr_eq(class, &object.class)),
        _ => match container.items() {
            Some(items) => Ok(items.iter().any(|it| it.equals(item))),
            None => Err(Error::new(operands("in", item, container), span)),
        },
    }
}

/// The order of two values: `None` when they have none, `Some(None)` when one is NaN.
pub fn order(left: &Value, right: &Value) -> Option<Option<std::cmp::Ordering>> {
    match (left, right) {
        (Value::Str(a), Value::Str(b)) => Some(Some(a.cmp(b))),
        (Value::Member(a), Value::Member(b)) if a.kind == b.kind => Some(Some(a.value.cmp(&b.value))),
        (Value::Tuple(_), Value::Tuple(_)) | (Value::List(_), Value::List(_)) => {
            let (a, b) = (left.items()?, right.items()?);
            for (a, b) in a.iter().zip(&b) {
                if !a.equals(b) {
                    return order(a, b);
                }
            }
            Some(Some(a.len().cmp(&b.len())))
        }
        _ => match (left.as_int(), right.as_int()) {
            (Some(a), Some(b)) => Some(Some(a.cmp(&b))),
            _ => Some(left.as_float()?.partial_cmp(&right.as_float()?)),
        },
    }
}
