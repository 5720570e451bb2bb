//! Element-wise functions and operators over arrays, with broadcasting and NumPy 2's promotion.

use super::array::broadcast_shapes;
use super::bind::Call;
use super::create::to_array;
use super::dtype::{float_for, promote};
use super::ufunc::{Binary, BinaryRule, Unary, UnaryRule, binary_row, unary_row};
use super::{Arg, HostArray, HostDtype, HostError, HostResult};
use crate::ast::{BinOp, CmpOp, UnaryOp};
use ndarray::{ArrayD, IxDyn, Zip};

/// An operand, and whether its type gives way to the other's.
pub struct Operand {
    pub array: HostArray,
    weak: bool,
}

impl Operand {
    /// Python's own numbers are weak; `bool` is the weakest type anyway.
    pub fn new(array: HostArray, from: &Arg) -> Operand {
        Operand {
            array,
            weak: matches!(from, Arg::Int(_) | Arg::Float(_)),
        }
    }

    fn from_arg(arg: &Arg) -> HostResult<Operand> {
        Ok(Operand::new(to_array(arg)?, arg))
    }

    /// Converts to the common type; a Python integer must fit it.
    pub fn as_type(&self, dtype: HostDtype) -> HostResult<HostArray> {
        if self.weak
            && dtype.is_int()
            && let (Some((low, high)), Some(&value)) = (dtype.int_range(), self.array.view().first())
            && !(low..=high).contains(&value)
        {
            return Err(HostError::ScalarOutOfRange {
                value: value as i64,
                dtype,
            });
        }
        Ok(self.array.astype(dtype))
    }
}

/// The common type of several operands.
pub fn common_type(operands: &[&Operand]) -> HostDtype {
    let strong = operands
        .iter()
        .filter(|it| !it.weak)
        .map(|it| it.array.dtype())
        .reduce(promote);
    let weak = operands
        .iter()
        .filter(|it| it.weak)
        .map(|it| it.array.dtype())
        .reduce(promote);
    match (strong, weak) {
        (Some(strong), None) => strong,
        (None, Some(weak)) => weak,
        (Some(HostDtype::Bool), Some(weak)) => weak,
        (Some(strong), Some(HostDtype::I64)) => strong,
        (Some(strong @ (HostDtype::F16 | HostDtype::F32 | HostDtype::F64)), Some(_)) => strong,
        // The types of ml_dtypes do not take Python floats in.
        (Some(strong), Some(_)) if strong.is_float() => HostDtype::F32,
        _ => HostDtype::F64,
    }
}

/// Applies a function of one argument.
pub fn apply_unary(function: &Unary, array: &HostArray) -> HostResult<HostArray> {
    let dtype = array.dtype();
    let refuse = || HostError::DtypeUnsupported {
        function: function.name.into(),
        dtype,
    };
    let out = match function.rule {
        UnaryRule::Float => float_for(dtype),
        UnaryRule::Number if dtype == HostDtype::Bool => return Err(refuse()),
        UnaryRule::Invert if dtype.is_float() => return Err(refuse()),
        UnaryRule::Invert if dtype == HostDtype::Bool => return apply_unary(unary_row("logical_not"), array),
        UnaryRule::Number | UnaryRule::Any | UnaryRule::Invert => dtype,
        UnaryRule::Test => HostDtype::Bool,
    };
    Ok(HostArray::from_rounded(map(array, function.apply), out))
}

/// Applies a function of two arguments.
pub fn apply_binary(function: &Binary, left: &Operand, right: &Operand) -> HostResult<HostArray> {
    let common = common_type(&[left, right]);
    let refuse = || HostError::DtypeUnsupported {
        function: function.name.into(),
        dtype: common,
    };
    let is_bool = common == HostDtype::Bool;
    let (work, out) = match function.rule {
        BinaryRule::Number if is_bool => return Err(refuse()),
        BinaryRule::Integer if !common.is_int() => return Err(refuse()),
        BinaryRule::Bits | BinaryRule::Shift if common.is_float() => return Err(refuse()),
        BinaryRule::Divide | BinaryRule::Power | BinaryRule::Shift if is_bool => {
            (HostDtype::I8, HostDtype::I8)
        }
        BinaryRule::Common | BinaryRule::Number | BinaryRule::Divide | BinaryRule::Power => (common, common),
        BinaryRule::Bits | BinaryRule::Shift | BinaryRule::Integer => (common, common),
        BinaryRule::TrueDivide if !common.is_float() => (HostDtype::F64, HostDtype::F64),
        BinaryRule::TrueDivide | BinaryRule::Float => (float_for(common), float_for(common)),
        BinaryRule::Float64 => (HostDtype::F64, HostDtype::F64),
        // A Python integer outside the array's type compares by value.
        BinaryRule::Compare if common.is_int() => (HostDtype::F64, HostDtype::Bool),
        BinaryRule::Compare | BinaryRule::Logical => (common, HostDtype::Bool),
    };
    let (left, right) = (left.as_type(work)?, right.as_type(work)?);
    let integers = work.is_int() || function.rule == BinaryRule::Bits;
    if integers && function.rule == BinaryRule::Power && right.view().iter().any(|it| *it < 0.0) {
        return Err(HostError::NegativeIntegerPower);
    }
    let data = if integers {
        let int = function.int;
        zip_map(&left, &right, |a, b| int(a as i64, b as i64) as f64)?
    } else {
        zip_map(&left, &right, function.float)?
    };
    Ok(HostArray::from_rounded(data, out))
}

/// A new array of the function of each element.
pub fn map(array: &HostArray, function: impl Fn(f64) -> f64) -> ArrayD<f64> {
    match array.view().as_slice_memory_order() {
        Some(_) => array.view().mapv(function),
        None => array.contiguous().mapv(function).into_owned(),
    }
}

/// A new array of the function of each pair, after broadcasting.
pub fn zip_map(
    left: &HostArray,
    right: &HostArray,
    function: impl Fn(f64, f64) -> f64,
) -> HostResult<ArrayD<f64>> {
    let shape = broadcast_shapes(left.shape(), right.shape())?;
    if left.shape() == shape
        && right.len() == 1
        && let Some(&b) = right.view().first()
    {
        return Ok(map(left, |a| function(a, b)));
    }
    if right.shape() == shape
        && left.len() == 1
        && let Some(&a) = left.view().first()
    {
        return Ok(map(right, |b| function(a, b)));
    }
    let (left, right) = (left.view(), right.view());
    if let (Some(a), Some(b)) = (left.as_slice(), right.as_slice())
        && left.shape() == right.shape()
    {
        let values: Vec<f64> = a.iter().zip(b).map(|(a, b)| function(*a, *b)).collect();
        return Ok(super::create::filled(&shape, values));
    }
    let left = left.broadcast(IxDyn(&shape)).expect("the shapes broadcast");
    let right = right.broadcast(IxDyn(&shape)).expect("the shapes broadcast");
    Ok(Zip::from(&left).and(&right).map_collect(|a, b| function(*a, *b)))
}

/// A binary operator of the language, at least one side of which is an array.
pub fn binary(op: BinOp, left: &Arg, right: &Arg) -> HostResult<Arg> {
    let name = match op {
        BinOp::Add => "add",
        BinOp::Sub => "subtract",
        BinOp::Mul => "multiply",
        BinOp::Div => "divide",
        BinOp::FloorDiv => "floor_divide",
        BinOp::Mod => "remainder",
        BinOp::Pow => "power",
        BinOp::BitAnd => "bitwise_and",
        BinOp::BitOr => "bitwise_or",
        BinOp::BitXor => "bitwise_xor",
        BinOp::Shl => "left_shift",
        BinOp::Shr => "right_shift",
        BinOp::MatMul => return Ok(super::linalg::matmul_of(&to_array(left)?, &to_array(right)?)?.into()),
    };
    operator(name, op.symbol(), left, right)
}

/// A comparison of the language, at least one side of which is an array.
pub fn compare(op: CmpOp, left: &Arg, right: &Arg) -> HostResult<Arg> {
    let name = match op {
        CmpOp::Eq => "equal",
        CmpOp::Ne => "not_equal",
        CmpOp::Lt => "less",
        CmpOp::Le => "less_equal",
        CmpOp::Gt => "greater",
        CmpOp::Ge => "greater_equal",
        CmpOp::In | CmpOp::NotIn => {
            let found = operator("equal", op.symbol(), left, right)?;
            let any = to_array(&found)?.view().iter().any(|it| *it != 0.0);
            return Ok(Arg::Bool(any == (op == CmpOp::In)));
        }
        CmpOp::Is | CmpOp::IsNot => {
            return Err(HostError::DtypeUnsupported {
                function: op.symbol().into(),
                dtype: to_array(left).or_else(|_| to_array(right))?.dtype(),
            });
        }
    };
    operator(name, op.symbol(), left, right)
}

/// A unary operator of the language on an array.
pub fn unary(op: UnaryOp, operand: &Arg) -> HostResult<Arg> {
    let array = to_array(operand)?;
    let name = match op {
        UnaryOp::Neg => "negative",
        UnaryOp::Pos => "positive",
        UnaryOp::Invert => "invert",
        UnaryOp::Not => return Ok(Arg::Bool(!array.truth()?)),
    };
    Ok(apply_unary(unary_row(name), &array)?.into())
}

fn operator(name: &str, symbol: &'static str, left: &Arg, right: &Arg) -> HostResult<Arg> {
    let side = |arg: &Arg, parameter: &str| {
        Operand::from_arg(arg).map_err(|error| match error {
            HostError::WrongType { wants, got, .. } => HostError::WrongType {
                function: symbol,
                parameter: parameter.into(),
                wants,
                got,
            },
            other => other,
        })
    };
    let (left, right) = (side(left, "left side")?, side(right, "right side")?);
    Ok(apply_binary(binary_row(name), &left, &right)?.into())
}

/// `square(x)`: a product, so that integers wrap.
pub fn square(call: &Call) -> HostResult<Arg> {
    let operand = call.operand("x")?;
    Ok(apply_binary(binary_row("multiply"), &operand, &operand)?.into())
}

/// `clip(a, min, max)`.
pub fn clip(call: &Call) -> HostResult<Arg> {
    let mut result = call.operand("a")?;
    for (name, row) in [("min", "maximum"), ("max", "minimum")] {
        if call.opt(name).is_some() {
            let clipped = apply_binary(binary_row(row), &result, &call.operand(name)?)?;
            result = Operand {
                array: clipped,
                weak: false,
            };
        }
    }
    Ok(result.array.into())
}

/// `where(condition, x, y)`; with the condition alone, the indices of its true elements.
pub fn select(call: &Call) -> HostResult<Arg> {
    let condition = call.array("condition")?;
    if call.opt("x").is_none() && call.opt("y").is_none() {
        return Ok(super::pick::nonzero_of(&condition));
    }
    let (x, y) = (call.operand("x")?, call.operand("y")?);
    let dtype = common_type(&[&x, &y]);
    let (x, y) = (x.as_type(dtype)?, y.as_type(dtype)?);
    let shape = broadcast_shapes(&broadcast_shapes(condition.shape(), x.shape())?, y.shape())?;
    let (condition, x, y) = (condition.view(), x.view(), y.view());
    let wide = |view: &ndarray::ArrayViewD<'_, f64>| {
        view.broadcast(IxDyn(&shape))
            .expect("the shapes broadcast")
            .to_owned()
    };
    let mut data = wide(&x);
    let condition = condition.broadcast(IxDyn(&shape)).expect("the shapes broadcast");
    let y = y.broadcast(IxDyn(&shape)).expect("the shapes broadcast");
    Zip::from(&mut data)
        .and(&condition)
        .and(&y)
        .for_each(|out, test, other| {
            if *test == 0.0 {
                *out = *other;
            }
        });
    Ok(HostArray::from_exact(data, dtype).into())
}

/// `round(a, decimals)`, halves to even.
pub fn round(call: &Call) -> HostResult<Arg> {
    let (array, decimals) = (call.array("a")?, call.int_or("decimals", 0)?);
    if array.dtype().is_int() && decimals >= 0 {
        return Ok(array.into());
    }
    let dtype = if array.dtype() == HostDtype::Bool {
        HostDtype::F16
    } else {
        array.dtype()
    };
    let scale = libm::exp10(decimals.unsigned_abs().min(400) as f64);
    let data = map(&array, |x| match decimals {
        _ if !x.is_finite() => x,
        0 => x.round_ties_even(),
        1.. => (x * scale).round_ties_even() / scale,
        _ => (x / scale).round_ties_even() * scale,
    });
    Ok(HostArray::from_rounded(data, dtype).into())
}

/// `nan_to_num(x, nan, posinf, neginf)`.
pub fn nan_to_num(call: &Call) -> HostResult<Arg> {
    let array = call.array("x")?;
    let (low, high) = array.dtype().limits();
    let nan = call.float_or("nan", 0.0)?;
    let (high, low) = (call.float_or("posinf", high)?, call.float_or("neginf", low)?);
    let data = map(&array, |x| match x {
        _ if x.is_nan() => nan,
        f64::INFINITY => high,
        f64::NEG_INFINITY => low,
        _ => x,
    });
    Ok(HostArray::from_rounded(data, array.dtype()).into())
}

/// `isclose(a, b, rtol, atol, equal_nan)`.
pub fn is_close(call: &Call) -> HostResult<Arg> {
    let (rtol, atol, equal_nan) = (
        call.float_or("rtol", 1e-5)?,
        call.float_or("atol", 1e-8)?,
        call.flag("equal_nan")?,
    );
    let close = |a: f64, b: f64| {
        let near = a == b || (b.is_finite() && (a - b).abs() <= atol + rtol * b.abs());
        f64::from(u8::from(near || (equal_nan && a.is_nan() && b.is_nan())))
    };
    Ok(HostArray::from_exact(
        zip_map(&call.array("a")?, &call.array("b")?, close)?,
        HostDtype::Bool,
    )
    .into())
}

pub fn all_close(call: &Call) -> HostResult<Arg> {
    let close = to_array(&is_close(call)?)?;
    Ok(Arg::Bool(close.view().iter().all(|it| *it != 0.0)))
}

pub fn array_equal(call: &Call) -> HostResult<Arg> {
    let (a, b, equal_nan) = (call.array("a1")?, call.array("a2")?, call.flag("equal_nan")?);
    let same = |(a, b): (&f64, &f64)| a == b || (equal_nan && a.is_nan() && b.is_nan());
    Ok(Arg::Bool(
        a.shape() == b.shape() && a.view().iter().zip(b.view().iter()).all(same),
    ))
}

/// `divmod(x1, x2)`: the floored quotient and its remainder.
pub fn div_mod(call: &Call) -> HostResult<Arg> {
    let (left, right) = (call.operand("x1")?, call.operand("x2")?);
    let quotient = apply_binary(binary_row("floor_divide"), &left, &right)?;
    let rest = apply_binary(binary_row("remainder"), &left, &right)?;
    Ok(Arg::Tuple(vec![quotient.into(), rest.into()]))
}

/// `outer` of a function of two arguments: every pair of an element of each side.
pub fn outer_of(function: &Binary, left: Operand, right: Operand) -> HostResult<HostArray> {
    let mut shape = left.array.shape().to_vec();
    shape.extend(std::iter::repeat_n(1, right.array.n_dims()));
    super::array::check_size(&shape)?;
    let tall = super::shape::reshape_to(&left.array, &shape);
    apply_binary(
        function,
        &Operand {
            array: tall,
            weak: left.weak,
        },
        &right,
    )
}
