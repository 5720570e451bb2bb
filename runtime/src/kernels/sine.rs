//! The sine of every f32, however large.
//!
//! Takes vectors of f64 that hold f32 values, gives their sines in f64. Arguments up to 2^24 are reduced by subtracting multiples
//! of pi/2 in two parts; larger ones multiply the bits of 2/pi that matter, in integers. Infinities give NaN.

use super::lanes::Vector;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// sin r / r in r^2 for |r| <= pi / 4, to 1e-17.
const SIN: &[f64; 7] = &[
    1.0,
    -0.166_666_666_666_666_16,
    0.008_333_333_333_320_349,
    -0.000_198_412_698_286_402_2,
    2.755_731_337_289_906e-6,
    -2.505_071_641_923_338_8e-8,
    1.589_470_394_697_773e-10,
];

/// cos r in r^2, to 7e-18.
const COS: &[f64; 8] = &[
    1.0,
    -0.5,
    0.041_666_666_666_666_45,
    -0.001_388_888_888_886_106_7,
    2.480_158_728_386_701e-5,
    -2.755_731_309_412_218e-7,
    2.087_558_191_224_429_7e-9,
    -1.135_335_627_620_715_6e-11,
];

/// What pi/2 has beyond the precision of f64.
const FRAC_PI_2_REST: f64 = 6.123_233_995_736_766e-17;

/// The first 256 bits of 2/pi after the binary point, the highest word first.
const TWO_OVER_PI: [u64; 4] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
];

/// Up to here, multiples of pi/2 are subtracted.
const LARGE: f64 = 16_777_216.0;

/// Adding it rounds to an integer.
const MAGIC: f64 = 6_755_399_441_055_744.0;

#[inline(always)]
pub fn sine<D: Vector<Element = f64>>(x: D) -> D {
    let magnitude = x.bit_and(D::splat(f64::from_bits(u64::MAX >> 1)));
    let is_large = D::splat(LARGE).less(magnitude);
    let magic = D::splat(MAGIC);
    let n = x.fma(D::splat(FRAC_2_PI), magic) - magic;
    // The first difference is exact: it is a multiple of the last bit of pi/2 and smaller than 1.
    let r = n.fma(D::splat(-FRAC_PI_2), x);
    let r = n.fma(D::splat(-FRAC_PI_2_REST), r);
    // The quadrant, from -2 to 2.
    let turns = n.fma(D::splat(0.25), magic) - magic;
    let result = of_quadrant(turns.fma(D::splat(-4.0), n), r);
    if D::any(is_large) {
        return D::select(is_large, x.map(sine_of_large), result);
    }
    result
}

/// The sine of r plus that many quarter turns.
#[inline(always)]
fn of_quadrant<D: Vector<Element = f64>>(quadrant: D, r: D) -> D {
    let square = r * r;
    let (sin, cos) = (r * square.polynomial(SIN), square.polynomial(COS));
    let (half, one_and_half) = (D::splat(0.5), D::splat(1.5));
    let squared = quadrant * quadrant;
    let is_odd = D::select(half.less(squared), cos, sin);
    let magnitude = D::select(one_and_half.less(squared), sin, is_odd);
    let negative = magnitude * D::splat(-1.0);
    let below = D::select(quadrant.less(D::splat(-0.5)), negative, magnitude);
    D::select(one_and_half.less(quadrant), negative, below)
}

/// The sine of what is large or infinite; of anything else 0, which nobody looks at.
fn sine_of_large(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    if x.abs() <= LARGE {
        return 0.0;
    }
    let (quadrant, r) = reduce_large(x);
    of_quadrant([0.0, 1.0, 2.0, -1.0][(quadrant & 3) as usize], r)
}

/// The quadrant and the rest of a finite f32 above 2^24.
fn reduce_large(x: f64) -> (u64, f64) {
    let bits = x.abs().to_bits();
    // x is mantissa * 2^exponent with 24 bits of mantissa.
    let mantissa = u128::from((bits & ((1 << 52) - 1) | 1 << 52) >> 29);
    let exponent = (bits >> 52) - 1023 - 23;
    // Bits of 2/pi whose product with x is a multiple of four do not matter, nor those far behind the point.
    let skip = exponent.saturating_sub(2);
    let (word, shift) = ((skip / 64) as usize, skip % 64);
    let high = u128::from(TWO_OVER_PI[word]) << 64 | u128::from(TWO_OVER_PI[word + 1]);
    let low = TWO_OVER_PI[word + 2];
    let bits = if shift == 0 {
        high
    } else {
        high << shift | u128::from(low >> (64 - shift))
    };
    // The product uses 100 bits, the last of which stands for 2^-(skip + 100).
    let product = mantissa * (bits >> 28);
    let point = skip + 100 - exponent;
    let quarter_turns = product >> point;
    let fraction = product & ((1 << point) - 1);
    // The fraction is taken to be nearest zero, so that r lies in [-pi/4, pi/4].
    let up = fraction >> (point - 1);
    let signed = fraction as i128 - ((up as i128) << point);
    let r = signed as f64 / (1u128 << point) as f64 * FRAC_PI_2;
    let quadrant = quarter_turns as u64 + up as u64;
    if x > 0.0 {
        (quadrant, r)
    } else {
        (quadrant.wrapping_neg(), -r)
    }
}
