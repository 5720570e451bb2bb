//! Conversions between the bits of an element and values: the one definition of NeuronCore's casts.
//!
//! Takes raw bits (zero-extended to 32) and dtypes, gives f32 values and raw bits. Plain arithmetic, no tables, no
//! vector code: the kernels must match it bit for bit. `isa.md` §2.3 is the source.

use nk_compiler::dtype::Dtype;
use nk_compiler::isa::Arg;

/// The NaN that every computation and conversion to f32 produces.
pub const NAN: f32 = f32::from_bits(0x7fc0_0000);

/// A binary floating-point format with infinities, narrower than f32.
#[derive(Clone, Copy)]
struct Format {
    exponent_bits: u32,
    mantissa_bits: u32,
}

const TF32: Format = Format {
    exponent_bits: 8,
    mantissa_bits: 10,
};
const BF16: Format = Format {
    exponent_bits: 8,
    mantissa_bits: 7,
};
const F16: Format = Format {
    exponent_bits: 5,
    mantissa_bits: 10,
};
const F8E4M3: Format = Format {
    exponent_bits: 4,
    mantissa_bits: 3,
};
const F8E5M2: Format = Format {
    exponent_bits: 5,
    mantissa_bits: 2,
};
const F8E3M4: Format = Format {
    exponent_bits: 3,
    mantissa_bits: 4,
};

impl Format {
    /// The format of a dtype, if it is one of these.
    fn of(dtype: Dtype) -> Option<Format> {
        match dtype {
            Dtype::Tf32 => Some(TF32),
            Dtype::Bf16 => Some(BF16),
            Dtype::F16 => Some(F16),
            Dtype::F8e4m3 => Some(F8E4M3),
            Dtype::F8e5m2 => Some(F8E5M2),
            Dtype::F8e3m4 => Some(F8E3M4),
            _ => None,
        }
    }

    fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    fn infinity(self) -> u32 {
        ((1 << self.exponent_bits) - 1) << self.mantissa_bits
    }

    fn sign(self) -> u32 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// What is too large becomes infinity, NaN becomes the positive quiet one. `round` makes an integer of a number of
    /// units that is not negative. The value is that of an f32 or of a 32-bit integer.
    fn encode(self, value: f64, round: impl Fn(f64) -> f64) -> u32 {
        if value.is_nan() {
            return self.infinity() | 1 << (self.mantissa_bits - 1);
        }
        let sign = if value.is_sign_negative() { self.sign() } else { 0 };
        let magnitude = value.abs();
        if magnitude.is_infinite() {
            return sign | self.infinity();
        }
        // Subnormals share the exponent of the smallest normal number.
        let exponent = exponent(magnitude).max(1 - self.bias());
        // An f64 holds the value and the scaled one exactly, so this is the only rounding.
        let quanta = round(magnitude * power_of_two(self.mantissa_bits as i32 - exponent)) as u32;
        // A mantissa that rounds up to the next power of two carries into the exponent.
        let code = (((exponent + self.bias() - 1) as u32) << self.mantissa_bits) + quanta;
        sign | code.min(self.infinity())
    }

    fn decode(self, raw: u32) -> f32 {
        let mantissa = raw & ((1 << self.mantissa_bits) - 1);
        let biased = (raw >> self.mantissa_bits) & ((1 << self.exponent_bits) - 1);
        let magnitude = if biased << self.mantissa_bits == self.infinity() {
            if mantissa != 0 {
                return NAN;
            }
            f64::INFINITY
        } else if biased == 0 {
            f64::from(mantissa) * power_of_two(1 - self.bias() - self.mantissa_bits as i32)
        } else {
            let exponent = biased as i32 - self.bias() - self.mantissa_bits as i32;
            f64::from(mantissa | 1 << self.mantissa_bits) * power_of_two(exponent)
        };
        let value = magnitude as f32;
        if raw & self.sign() != 0 { -value } else { value }
    }
}

/// The exponent of a finite number: that of zero is far below every format's.
fn exponent(magnitude: f64) -> i32 {
    ((magnitude.to_bits() >> 52) as i32) - 1023
}

fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The value of an element in f32, where all arithmetic happens. A tf32 container's low mantissa bits are rounded away.
pub fn decode(dtype: Dtype, raw: u32) -> f32 {
    match dtype {
        Dtype::F32 => f32::from_bits(raw),
        Dtype::Tf32 => tf32(f32::from_bits(raw)),
        Dtype::Bf16 => BF16.decode(raw),
        Dtype::F16 => F16.decode(raw),
        Dtype::F8e4m3 => F8E4M3.decode(raw),
        Dtype::F8e5m2 => F8E5M2.decode(raw),
        Dtype::F8e3m4 => F8E3M4.decode(raw),
        Dtype::I32 => raw as i32 as f32,
        Dtype::U32 => raw as f32,
        Dtype::I16 => f32::from(raw as i16),
        Dtype::U16 => f32::from(raw as u16),
        Dtype::I8 => f32::from(raw as i8),
        Dtype::U8 | Dtype::Bool => f32::from(raw as u8),
    }
}

/// The bits of a computed value: NaN canonical, integers rounded to nearest even and saturated, NaN to 0.
pub fn encode(dtype: Dtype, value: f32) -> u32 {
    encode_with(dtype, value, f64::round_ties_even)
}

/// The same for floats, rounded up with a probability proportional to the distance; `random` is any of 2^32 numbers.
pub fn encode_random(dtype: Dtype, value: f32, random: u32) -> u32 {
    let round = |units: f64| {
        let below = units.floor();
        // 1 - random / 2^32 is exact, which the sum of the fraction and the random number would not be.
        let goes_up = units - below >= 1.0 - f64::from(random) * power_of_two(-32);
        below + f64::from(u8::from(goes_up))
    };
    encode_with(dtype, value, round)
}

fn encode_with(dtype: Dtype, value: f32, round: impl Fn(f64) -> f64) -> u32 {
    if let Some(code) = encode_narrow(dtype, value.into(), round) {
        return code;
    }
    // Casts from float to integer saturate and take NaN to 0 by themselves.
    let rounded = value.round_ties_even();
    match dtype {
        Dtype::I32 => rounded as i32 as u32,
        Dtype::U32 => rounded as u32,
        Dtype::I16 => u32::from(rounded as i16 as u16),
        Dtype::U16 => u32::from(rounded as u16),
        Dtype::I8 => u32::from(rounded as i8 as u8),
        Dtype::U8 => u32::from(rounded as u8),
        Dtype::Bool => u32::from(value != 0.0),
        _ => canonical(value).to_bits(),
    }
}

/// The bits of a value as an element of a float narrower than f32; `None` for other dtypes.
fn encode_narrow(dtype: Dtype, value: f64, round: impl Fn(f64) -> f64) -> Option<u32> {
    let code = Format::of(dtype)?.encode(value, round);
    // The container of a tf32 is an f32.
    Some(if dtype == Dtype::Tf32 { code << 13 } else { code })
}

/// The bits of an exact integer of 32 bits, as `iota` and the integer ALU make them; integers saturate, floats are rounded
/// once.
pub fn encode_integer(dtype: Dtype, value: i64) -> u32 {
    let clamped = |low: i64, high: i64| value.clamp(low, high);
    match dtype {
        Dtype::I32 => clamped(i32::MIN.into(), i32::MAX.into()) as i32 as u32,
        Dtype::U32 => clamped(0, u32::MAX.into()) as u32,
        Dtype::I16 => u32::from(clamped(i16::MIN.into(), i16::MAX.into()) as u16),
        Dtype::U16 => clamped(0, u16::MAX.into()) as u32,
        Dtype::I8 => u32::from(clamped(i8::MIN.into(), i8::MAX.into()) as u8),
        Dtype::U8 => clamped(0, u8::MAX.into()) as u32,
        _ => encode_narrow(dtype, value as f64, f64::round_ties_even)
            .unwrap_or_else(|| encode(dtype, value as f32)),
    }
}

/// The value of an immediate in arithmetic.
pub fn immediate(arg: &Arg) -> f32 {
    match arg {
        Arg::Float(value) => *value,
        Arg::Int(value) => *value as f32,
        Arg::Uint(value) => *value as f32,
        Arg::Bool(value) => f32::from(u8::from(*value)),
        _ => panic!("a verified immediate is a number"),
    }
}

/// The raw bits of an immediate operand of a bit operator.
pub fn immediate_bits(arg: &Arg) -> u32 {
    match arg {
        Arg::Int(value) => *value as u32,
        Arg::Uint(value) => *value,
        Arg::Bool(value) => u32::from(*value),
        _ => panic!("a verified operand of a bit operator is an integer"),
    }
}

/// The bits of an immediate that is stored as an element: integers exactly, floats rounded.
pub fn immediate_as(dtype: Dtype, arg: &Arg) -> u32 {
    match arg {
        Arg::Int(value) => encode_integer(dtype, i64::from(*value)),
        Arg::Uint(value) => encode_integer(dtype, i64::from(*value)),
        _ => encode(dtype, immediate(arg)),
    }
}

/// Rounds to tf32's ten bits of mantissa, to nearest even.
fn tf32(value: f32) -> f32 {
    f32::from_bits(TF32.encode(value.into(), f64::round_ties_even) << 13)
}

/// Every NaN becomes the same one. It looks at bits, as a compiler may take any NaN for any other.
pub fn canonical(value: f32) -> f32 {
    let is_nan = value.to_bits() & 0x7fff_ffff > f32::INFINITY.to_bits();
    f32::from_bits(if is_nan { NAN.to_bits() } else { value.to_bits() })
}
