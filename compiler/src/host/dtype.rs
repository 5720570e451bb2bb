//! Element types of host arrays: NumPy's names, sizes, rounding and promotion.
//!
//! Takes a type or two, gives facts and rounded values. Never holds an array.

use crate::dtype::Dtype;

/// NumPy's element types, and the 8- and 16-bit floats that `ml_dtypes` adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum HostDtype {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    /// Exact up to 2^53 in magnitude, since values are held in f64.
    I64,
    /// Exact up to 2^53, since values are held in f64.
    U64,
    /// IEEE-style 1/4/3 with infinity, largest finite value 240.
    F8e4m3,
    /// 1/4/3 without infinity, largest value 448; the device does not have it.
    F8e4m3fn,
    F8e5m2,
    F8e3m4,
    Bf16,
    F16,
    F32,
    F64,
}

/// What decides a type's arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Class {
    Bool,
    Int { bits: u32, signed: bool },
    Float(Format),
}

/// A binary floating-point format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    pub bits: u32,
    /// Bits of the stored mantissa.
    pub mantissa: i32,
    /// Exponent of the smallest normal value.
    pub min_exponent: i32,
    pub max: f64,
    /// What larger values become: infinity, or NaN where the format has none.
    pub overflow: f64,
}

const fn int(bits: u32, signed: bool) -> Class {
    Class::Int { bits, signed }
}

const fn float(bits: u32, mantissa: i32, min_exponent: i32, max: f64) -> Class {
    Class::Float(Format {
        bits,
        mantissa,
        min_exponent,
        max,
        overflow: f64::INFINITY,
    })
}

const FLOAT8_E4M3FN: Class = Class::Float(Format {
    bits: 8,
    mantissa: 3,
    min_exponent: -6,
    max: 448.0,
    overflow: f64::NAN,
});
/// (2 - 2^-7) · 2^127.
const BFLOAT16_MAX: f64 = 3.389_531_389_251_535_5e38;

/// NumPy's name, the class, and the device's type of each host type, in declaration order.
pub const HOST_DTYPES: &[(HostDtype, &str, Class, Option<Dtype>)] = &[
    (HostDtype::Bool, "bool", Class::Bool, Some(Dtype::Bool)),
    (HostDtype::I8, "int8", int(8, true), Some(Dtype::I8)),
    (HostDtype::U8, "uint8", int(8, false), Some(Dtype::U8)),
    (HostDtype::I16, "int16", int(16, true), Some(Dtype::I16)),
    (HostDtype::U16, "uint16", int(16, false), Some(Dtype::U16)),
    (HostDtype::I32, "int32", int(32, true), Some(Dtype::I32)),
    (HostDtype::U32, "uint32", int(32, false), Some(Dtype::U32)),
    (HostDtype::I64, "int64", int(64, true), None),
    (HostDtype::U64, "uint64", int(64, false), None),
    (
        HostDtype::F8e4m3,
        "float8_e4m3",
        float(8, 3, -6, 240.0),
        Some(Dtype::F8e4m3),
    ),
    (HostDtype::F8e4m3fn, "float8_e4m3fn", FLOAT8_E4M3FN, None),
    (
        HostDtype::F8e5m2,
        "float8_e5m2",
        float(8, 2, -14, 57344.0),
        Some(Dtype::F8e5m2),
    ),
    (
        HostDtype::F8e3m4,
        "float8_e3m4",
        float(8, 4, -2, 15.5),
        Some(Dtype::F8e3m4),
    ),
    (
        HostDtype::Bf16,
        "bfloat16",
        float(16, 7, -126, BFLOAT16_MAX),
        Some(Dtype::Bf16),
    ),
    (
        HostDtype::F16,
        "float16",
        float(16, 10, -14, 65504.0),
        Some(Dtype::F16),
    ),
    (
        HostDtype::F32,
        "float32",
        float(32, 23, -126, f32::MAX as f64),
        Some(Dtype::F32),
    ),
    (HostDtype::F64, "float64", float(64, 52, -1022, f64::MAX), None),
];

/// Other spellings that NumPy code uses.
const ALIASES: &[(&str, HostDtype)] = &[
    ("bool_", HostDtype::Bool),
    ("int", HostDtype::I64),
    ("int_", HostDtype::I64),
    ("intp", HostDtype::I64),
    ("longlong", HostDtype::I64),
    ("uint", HostDtype::U64),
    ("byte", HostDtype::I8),
    ("ubyte", HostDtype::U8),
    ("short", HostDtype::I16),
    ("ushort", HostDtype::U16),
    ("intc", HostDtype::I32),
    ("uintc", HostDtype::U32),
    ("half", HostDtype::F16),
    ("single", HostDtype::F32),
    ("double", HostDtype::F64),
    ("float", HostDtype::F64),
];

impl HostDtype {
    /// NumPy's name, e.g. `float32`.
    pub fn name(self) -> &'static str {
        HOST_DTYPES[self as usize].1
    }

    pub fn class(self) -> Class {
        HOST_DTYPES[self as usize].2
    }

    /// Reads NumPy's name or an alias of it, as in `np.NAME`.
    pub fn from_numpy_name(name: &str) -> Option<HostDtype> {
        let own = HOST_DTYPES.iter().find(|it| it.1 == name).map(|it| it.0);
        own.or_else(|| ALIASES.iter().find(|it| it.0 == name).map(|it| it.1))
    }

    /// Reads one of NumPy's names or one of the device's short names, as in `dtype="f32"`.
    pub fn from_name(name: &str) -> Option<HostDtype> {
        HostDtype::from_numpy_name(name).or_else(|| Dtype::from_name(name).map(HostDtype::from))
    }

    /// The device's type of the same values, or `None` for the 64-bit types and `float8_e4m3fn`.
    pub fn device(self) -> Option<Dtype> {
        HOST_DTYPES[self as usize].3
    }

    /// Bytes per element, as NumPy would store it.
    pub fn size(self) -> usize {
        match self.class() {
            Class::Bool => 1,
            Class::Int { bits, .. } => bits as usize / 8,
            Class::Float(format) => format.bits as usize / 8,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self.class(), Class::Float(_))
    }

    /// An integer type, `bool` excluded.
    pub fn is_int(self) -> bool {
        matches!(self.class(), Class::Int { .. })
    }

    pub fn is_signed_int(self) -> bool {
        matches!(self.class(), Class::Int { signed: true, .. })
    }

    /// Whether every value of the other type is one of this type too.
    pub fn holds(self, other: HostDtype) -> bool {
        // The 8-bit floats win promotion over 8-bit integers without holding them.
        let lossy = self.is_float() && self.size() == 1 && other.is_int();
        promote(self, other) == self && !lossy
    }

    /// The smallest and the largest integer of an integer type or `bool`.
    pub fn int_range(self) -> Option<(f64, f64)> {
        match self.class() {
            Class::Bool => Some((0.0, 1.0)),
            Class::Int { bits, signed: true } => {
                Some((-power_of_two(bits - 1), power_of_two(bits - 1) - 1.0))
            }
            Class::Int { bits, signed: false } => Some((0.0, power_of_two(bits) - 1.0)),
            Class::Float(_) => None,
        }
    }

    /// The smallest and the largest finite value.
    pub fn limits(self) -> (f64, f64) {
        match self.class() {
            Class::Float(format) => (-format.max, format.max),
            _ => self
                .int_range()
                .expect("types that are not floats are integers or bool"),
        }
    }

    /// A value as the type holds it: rounded to nearest even, truncated and wrapped, or 0 / 1.
    ///
    /// C leaves the conversion of NaN and infinity to an integer open; here both give 0.
    pub fn round(self, value: f64) -> f64 {
        match self {
            HostDtype::F64 => value,
            HostDtype::F32 => f64::from(value as f32),
            _ => match self.class() {
                Class::Bool => f64::from(u8::from(value != 0.0)),
                Class::Int { bits, signed } => wrap(value, bits, signed),
                Class::Float(format) => round_float(value, &format),
            },
        }
    }

    /// Rounds each value in place.
    pub fn round_all(self, values: &mut [f64]) {
        match self.class() {
            _ if self == HostDtype::F64 => {}
            _ if self == HostDtype::F32 => values.iter_mut().for_each(|it| *it = f64::from(*it as f32)),
            Class::Bool => values
                .iter_mut()
                .for_each(|it| *it = f64::from(u8::from(*it != 0.0))),
            Class::Int { bits, signed } => values.iter_mut().for_each(|it| *it = wrap(*it, bits, signed)),
            Class::Float(format) => values.iter_mut().for_each(|it| *it = round_float(*it, &format)),
        }
    }
}

impl From<Dtype> for HostDtype {
    /// The type whose values include the device type's; `tf32` becomes `float32`.
    fn from(dtype: Dtype) -> HostDtype {
        let same = HOST_DTYPES.iter().find(|it| it.3 == Some(dtype)).map(|it| it.0);
        same.unwrap_or(HostDtype::F32)
    }
}

fn power_of_two(exponent: u32) -> f64 {
    f64::from_bits(u64::from(1023 + exponent) << 52)
}

/// Truncates towards zero, then keeps the low bits.
fn wrap(value: f64, bits: u32, signed: bool) -> f64 {
    let whole = value.trunc();
    let span = power_of_two(bits);
    let (low, high) = if signed {
        (-span / 2.0, span / 2.0)
    } else {
        (0.0, span)
    };
    if whole >= low && whole < high {
        // Adding 0 turns -0 into 0, which integers do not tell apart.
        return whole + 0.0;
    }
    if !whole.is_finite() {
        return 0.0;
    }
    let rest = whole - (whole / span).floor() * span;
    if rest >= high { rest - span } else { rest }
}

fn round_float(value: f64, format: &Format) -> f64 {
    if value.is_nan() {
        return value;
    }
    // Also keeps the exponents below in range.
    if value.abs() >= 2.0 * format.max {
        return format.overflow.copysign(value);
    }
    let biased = ((value.to_bits() >> 52) & 0x7ff) as i32;
    let exponent = (biased - 1023).max(format.min_exponent) - format.mantissa;
    // Adding 1.5 · 2^52 steps leaves no room for bits below one step, so the addition itself rounds to nearest even.
    let magic = 1.5 * f64::from_bits(((1023 + 52 + exponent) as u64) << 52);
    let rounded = ((value + magic) - magic).copysign(value);
    if rounded.abs() > format.max {
        format.overflow.copysign(value)
    } else {
        rounded
    }
}

/// The type of an operation between two arrays, as NumPy 2 and `ml_dtypes` choose it.
///
/// Two different 8-bit floats give `float32`; `ml_dtypes` picks one of them by registration order.
pub fn promote(left: HostDtype, right: HostDtype) -> HostDtype {
    match (left.class(), right.class()) {
        _ if left == right => left,
        (Class::Bool, _) => right,
        (_, Class::Bool) => left,
        (Class::Int { .. }, Class::Int { .. }) => promote_ints(left, right),
        (Class::Float(_), Class::Int { bits, .. }) => promote_float_int(left, bits),
        (Class::Int { bits, .. }, Class::Float(_)) => promote_float_int(right, bits),
        (Class::Float(a), Class::Float(b)) => match a.bits.max(b.bits) {
            64 => HostDtype::F64,
            _ => HostDtype::F32,
        },
    }
}

fn promote_ints(left: HostDtype, right: HostDtype) -> HostDtype {
    let (wide, narrow) = if left.size() >= right.size() {
        (left, right)
    } else {
        (right, left)
    };
    if wide.is_signed_int() == narrow.is_signed_int() || (wide.is_signed_int() && wide.size() > narrow.size())
    {
        return wide;
    }
    // An unsigned type at least as wide as the signed one: the next wider signed type holds both.
    match wide.size() {
        1 => HostDtype::I16,
        2 => HostDtype::I32,
        4 => HostDtype::I64,
        _ => HostDtype::F64,
    }
}

fn promote_float_int(float: HostDtype, int_bits: u32) -> HostDtype {
    match (float, int_bits) {
        (HostDtype::F64, _) | (_, 32..) => HostDtype::F64,
        (HostDtype::F32, _) | (_, 16) => HostDtype::F32,
        _ => float,
    }
}

/// The type of `exp`, `sqrt` and other functions that are only defined on floats.
pub fn float_for(dtype: HostDtype) -> HostDtype {
    match dtype.class() {
        Class::Float(_) => dtype,
        Class::Bool => HostDtype::F16,
        Class::Int { bits: 8, .. } => HostDtype::F16,
        Class::Int { bits: 16, .. } => HostDtype::F32,
        Class::Int { .. } => HostDtype::F64,
    }
}
