//! The element-wise functions of NumPy: one row each, with its rule for types.
//!
//! Gives tables; `elementwise.rs` applies them. A row works on f64 values of the operands' common type; rounding to
//! the result's type comes after it.

use super::special;

/// An element-wise function of one argument.
pub struct Unary {
    pub name: &'static str,
    pub rule: UnaryRule,
    pub apply: fn(f64) -> f64,
}

/// How the type of a result follows from that of the argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum UnaryRule {
    /// Floats as they are, integers become floats wide enough.
    Float,
    /// Any number as it is; not defined on `bool`.
    Number,
    /// Any type as it is.
    Any,
    /// Gives `bool`.
    Test,
    /// Bits of integers, or negation of `bool`.
    Invert,
}

/// An element-wise function of two arguments.
pub struct Binary {
    pub name: &'static str,
    pub rule: BinaryRule,
    pub float: fn(f64, f64) -> f64,
    /// The same on integers, where wrapping or division differ from f64.
    pub int: fn(i64, i64) -> i64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BinaryRule {
    /// The common type, `bool` included: sums and products of `bool` saturate at 1.
    Common,
    /// The common type; not defined on `bool`.
    Number,
    /// The common type, `bool` counts as `int8`.
    Divide,
    /// Like `Divide`, and refuses negative exponents of integers.
    Power,
    /// Integers become `float64`, floats keep their type.
    TrueDivide,
    /// Integers become floats wide enough.
    Float,
    /// Always `float64`.
    Float64,
    /// Gives `bool` of the compared values.
    Compare,
    /// Gives `bool` of the truths.
    Logical,
    /// Integers and `bool`.
    Bits,
    /// Integers, `bool` counts as `int8`.
    Shift,
    /// Integers only.
    Integer,
}

const fn unary(name: &'static str, rule: UnaryRule, apply: fn(f64) -> f64) -> Unary {
    Unary { name, rule, apply }
}

const fn binary(
    name: &'static str,
    rule: BinaryRule,
    float: fn(f64, f64) -> f64,
    int: fn(i64, i64) -> i64,
) -> Binary {
    Binary {
        name,
        rule,
        float,
        int,
    }
}

/// A function whose rule never gives integers to it.
const fn float_only(name: &'static str, rule: BinaryRule, float: fn(f64, f64) -> f64) -> Binary {
    binary(name, rule, float, |_, _| 0)
}

/// A function whose rule never gives floats to it.
const fn int_only(name: &'static str, rule: BinaryRule, int: fn(i64, i64) -> i64) -> Binary {
    binary(name, rule, |_, _| 0.0, int)
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// Every element-wise function of one argument.
pub static UNARY: &[Unary] = &[
    unary("exp", UnaryRule::Float, libm::exp),
    unary("exp2", UnaryRule::Float, libm::exp2),
    unary("expm1", UnaryRule::Float, libm::expm1),
    unary("log", UnaryRule::Float, libm::log),
    unary("log2", UnaryRule::Float, libm::log2),
    unary("log10", UnaryRule::Float, libm::log10),
    unary("log1p", UnaryRule::Float, libm::log1p),
    unary("sqrt", UnaryRule::Float, |x| x.sqrt()),
    unary("cbrt", UnaryRule::Float, libm::cbrt),
    unary("sin", UnaryRule::Float, libm::sin),
    unary("cos", UnaryRule::Float, libm::cos),
    unary("tan", UnaryRule::Float, libm::tan),
    unary("arcsin", UnaryRule::Float, libm::asin),
    unary("arccos", UnaryRule::Float, libm::acos),
    unary("arctan", UnaryRule::Float, libm::atan),
    unary("sinh", UnaryRule::Float, libm::sinh),
    unary("cosh", UnaryRule::Float, libm::cosh),
    unary("tanh", UnaryRule::Float, libm::tanh),
    unary("arcsinh", UnaryRule::Float, libm::asinh),
    unary("arccosh", UnaryRule::Float, libm::acosh),
    unary("arctanh", UnaryRule::Float, libm::atanh),
    unary("rint", UnaryRule::Float, |x| x.round_ties_even()),
    unary("fabs", UnaryRule::Float, |x| x.abs()),
    unary("radians", UnaryRule::Float, |x| {
        x * (std::f64::consts::PI / 180.0)
    }),
    unary("degrees", UnaryRule::Float, |x| {
        x * (180.0 / std::f64::consts::PI)
    }),
    unary("sinc", UnaryRule::Float, sinc),
    unary("special.erf", UnaryRule::Float, special::erf),
    unary("special.erfc", UnaryRule::Float, special::erfc),
    unary("special.gamma", UnaryRule::Float, special::gamma),
    unary("special.gammaln", UnaryRule::Float, special::ln_gamma),
    unary("special.expit", UnaryRule::Float, special::expit),
    unary("negative", UnaryRule::Number, |x| -x),
    unary("positive", UnaryRule::Number, |x| x),
    unary("sign", UnaryRule::Number, sign),
    unary("reciprocal", UnaryRule::Number, |x| 1.0 / x),
    unary("absolute", UnaryRule::Any, |x| x.abs()),
    unary("floor", UnaryRule::Any, |x| x.floor()),
    unary("ceil", UnaryRule::Any, |x| x.ceil()),
    unary("trunc", UnaryRule::Any, |x| x.trunc()),
    unary("isnan", UnaryRule::Test, |x| truth(x.is_nan())),
    unary("isinf", UnaryRule::Test, |x| truth(x.is_infinite())),
    unary("isfinite", UnaryRule::Test, |x| truth(x.is_finite())),
    unary("signbit", UnaryRule::Test, |x| truth(x.is_sign_negative())),
    unary("logical_not", UnaryRule::Test, |x| truth(x == 0.0)),
    unary("invert", UnaryRule::Invert, |x| !(x as i64) as f64),
];

/// Every element-wise function of two arguments.
pub static BINARY: &[Binary] = &[
    binary("add", BinaryRule::Common, |a, b| a + b, i64::wrapping_add),
    binary("multiply", BinaryRule::Common, |a, b| a * b, i64::wrapping_mul),
    binary("maximum", BinaryRule::Common, maximum, i64::max),
    binary("minimum", BinaryRule::Common, minimum, i64::min),
    binary("fmax", BinaryRule::Common, f64::max, i64::max),
    binary("fmin", BinaryRule::Common, f64::min, i64::min),
    binary("subtract", BinaryRule::Number, |a, b| a - b, i64::wrapping_sub),
    binary(
        "floor_divide",
        BinaryRule::Divide,
        special::floor_divide,
        floor_divide,
    ),
    binary("remainder", BinaryRule::Divide, special::remainder, remainder),
    binary(
        "fmod",
        BinaryRule::Divide,
        |a, b| a % b,
        |a, b| a.checked_rem(b).unwrap_or(0),
    ),
    binary("power", BinaryRule::Power, libm::pow, power),
    float_only("divide", BinaryRule::TrueDivide, |a, b| a / b),
    float_only("arctan2", BinaryRule::Float, libm::atan2),
    float_only("hypot", BinaryRule::Float, libm::hypot),
    float_only("copysign", BinaryRule::Float, f64::copysign),
    float_only("logaddexp", BinaryRule::Float, log_add_exp),
    float_only("heaviside", BinaryRule::Float, heaviside),
    float_only("float_power", BinaryRule::Float64, libm::pow),
    float_only("equal", BinaryRule::Compare, |a, b| truth(a == b)),
    float_only("not_equal", BinaryRule::Compare, |a, b| truth(a != b)),
    float_only("less", BinaryRule::Compare, |a, b| truth(a < b)),
    float_only("less_equal", BinaryRule::Compare, |a, b| truth(a <= b)),
    float_only("greater", BinaryRule::Compare, |a, b| truth(a > b)),
    float_only("greater_equal", BinaryRule::Compare, |a, b| truth(a >= b)),
    float_only("logical_and", BinaryRule::Logical, |a, b| {
        truth(a != 0.0 && b != 0.0)
    }),
    float_only("logical_or", BinaryRule::Logical, |a, b| {
        truth(a != 0.0 || b != 0.0)
    }),
    float_only("logical_xor", BinaryRule::Logical, |a, b| {
        truth((a != 0.0) != (b != 0.0))
    }),
    int_only("bitwise_and", BinaryRule::Bits, |a, b| a & b),
    int_only("bitwise_or", BinaryRule::Bits, |a, b| a | b),
    int_only("bitwise_xor", BinaryRule::Bits, |a, b| a ^ b),
    int_only("left_shift", BinaryRule::Shift, left_shift),
    int_only("right_shift", BinaryRule::Shift, right_shift),
    int_only("gcd", BinaryRule::Integer, greatest_common_divisor),
    int_only("lcm", BinaryRule::Integer, least_common_multiple),
];

/// The row of a function that our own code names.
pub fn binary_row(name: &str) -> &'static Binary {
    BINARY
        .iter()
        .find(|it| it.name == name)
        .expect("our code names rows of BINARY")
}

/// The row of a function that our own code names.
pub fn unary_row(name: &str) -> &'static Unary {
    UNARY
        .iter()
        .find(|it| it.name == name)
        .expect("our code names rows of UNARY")
}

fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() { x } else { x.signum() }
}

fn sinc(x: f64) -> f64 {
    let angle = std::f64::consts::PI * x;
    if x == 0.0 { 1.0 } else { libm::sin(angle) / angle }
}

/// The larger value; NaN wins, as in `np.maximum`.
pub fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || a >= b { a } else { b }
}

/// The smaller value; NaN wins, as in `np.minimum`.
pub fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || a <= b { a } else { b }
}

fn log_add_exp(a: f64, b: f64) -> f64 {
    if a == b {
        return a + std::f64::consts::LN_2;
    }
    maximum(a, b) + libm::log1p(libm::exp(-(a - b).abs()))
}

fn heaviside(x: f64, at_zero: f64) -> f64 {
    match x {
        _ if x.is_nan() => x,
        0.0 => at_zero,
        _ => truth(x > 0.0),
    }
}

/// NumPy gives 0 for an integer divided by 0.
fn floor_divide(a: i64, b: i64) -> i64 {
    let Some(quotient) = a.checked_div(b) else {
        return if b == 0 { 0 } else { a };
    };
    if a % b != 0 && (a < 0) != (b < 0) {
        quotient - 1
    } else {
        quotient
    }
}

fn remainder(a: i64, b: i64) -> i64 {
    let rest = a.checked_rem(b).unwrap_or(0);
    if rest != 0 && (rest < 0) != (b < 0) {
        rest + b
    } else {
        rest
    }
}

fn power(base: i64, exponent: i64) -> i64 {
    let (mut result, mut base, mut exponent) = (1i64, base, exponent.max(0));
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}

fn left_shift(a: i64, by: i64) -> i64 {
    let by = u32::try_from(by).unwrap_or(u32::MAX);
    a.checked_shl(by).unwrap_or(0)
}

fn right_shift(a: i64, by: i64) -> i64 {
    let by = u32::try_from(by).unwrap_or(u32::MAX);
    a.checked_shr(by).unwrap_or(if a < 0 { -1 } else { 0 })
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a as i64
}

fn least_common_multiple(a: i64, b: i64) -> i64 {
    match greatest_common_divisor(a, b) {
        0 => 0,
        divisor => (a / divisor).wrapping_mul(b).wrapping_abs(),
    }
}
