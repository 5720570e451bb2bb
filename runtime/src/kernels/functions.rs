//! The functions of the Scalar engine and the two transcendental ALU operators.
//!
//! Takes vectors of f32, gives vectors of f32 within about one unit in the last place. Each is written once over
//! [`Lanes`]: all levels give the same bits. Most are computed in f64, where a short polynomial is exact enough that the
//! final rounding is nearly the only one. Never touches memory. NaN results are not yet canonical.

use super::lanes::{Lanes, One, Vector};
use super::sine::sine;
use nk_compiler::isa::ActFn;

/// (e^r - 1) / r for |r| <= ln 2 / 2, to 3e-10: enough for what is rounded to f32 next.
const EXP_SHORT: &[f64; 7] = &[
    1.0,
    0.500_000_004_740_139_4,
    0.166_666_667_193_124_8,
    0.041_666_351_638_448_54,
    0.008_333_298_344_023_092,
    0.001_394_121_310_000_633_4,
    0.000_198_993_901_836_792_32,
];

/// The same to 2e-18, for functions whose terms cancel.
const EXP_LONG: &[f64; 12] = &[
    1.0,
    0.5,
    0.166_666_666_666_666_8,
    0.041_666_666_666_666_68,
    0.008_333_333_333_319_49,
    0.001_388_888_888_887_900_4,
    0.000_198_412_698_903_406_66,
    2.480_158_733_663_095e-5,
    2.755_724_060_466_389_6e-6,
    2.755_726_307_730_941e-7,
    2.511_015_364_692_893e-8,
    2.091_821_231_913_398e-9,
];

/// ln(1 + r) / r for 1/sqrt 2 <= 1 + r <= sqrt 2, to 2e-11: enough for what is rounded to f32 next.
const LOG_SHORT: &[f64; 13] = &[
    0.999_999_999_987_465_1,
    -0.500_000_000_359_517_1,
    0.333_333_342_492_065_9,
    -0.249_999_927_284_493_05,
    0.199_998_881_399_736_32,
    -0.166_670_245_720_090_81,
    0.142_908_117_394_289_9,
    -0.124_954_353_249_921_45,
    0.110_060_382_703_795_48,
    -0.099_459_961_867_196_62,
    0.100_472_051_188_893_3,
    -0.098_044_200_677_862_03,
    0.052_358_885_169_237_83,
];

/// 2 atanh(s) / s in s^2, for ln m = 2 atanh((m - 1) / (m + 1)), 1/sqrt 2 <= m <= sqrt 2, to 5e-19.
const LOG: &[f64; 10] = &[
    2.0,
    0.666_666_666_666_666_6,
    0.399_999_999_999_999_25,
    0.285_714_285_714_624_15,
    0.222_222_222_147_722_83,
    0.181_818_191_228_111_6,
    0.153_845_431_418_995_2,
    0.133_367_568_713_173_68,
    0.116_671_741_682_651_07,
    0.120_447_574_038_986_51,
];

/// The same for ln(1 + u) = 2 atanh(u / (2 + u)), 0 <= u <= 1, to 9e-17.
const LOG1P: &[f64; 10] = &[
    2.0,
    0.666_666_666_666_825_7,
    0.399_999_999_952_876,
    0.285_714_291_116_571_6,
    0.222_221_908_613_462_83,
    0.181_828_598_004_739_1,
    0.153_636_762_488_916_33,
    0.135_913_054_855_798_94,
    0.098_807_890_487_647_86,
    0.177_807_638_261_133_02,
];

/// erf(z) / z in z^2 for z <= 1, to 2e-17.
const ERF: &[f64; 13] = &[
    std::f64::consts::FRAC_2_SQRT_PI,
    -0.376_126_389_031_837_5,
    0.112_837_916_709_548_79,
    -0.026_866_170_645_076_792,
    0.005_223_977_624_818_015,
    -0.000_854_832_698_083_379,
    0.000_120_553_311_116_427_1,
    -1.492_559_526_683_118_2e-5,
    1.646_100_048_412_136_8e-6,
    -1.635_031_270_105_469_5e-7,
    1.465_977_527_404_743_6e-8,
    -1.137_284_885_679_167_4e-9,
    5.957_176_147_748_911e-11,
];

/// (1 + z) e^(z^2) erfc z in t = (z - 3.75) / (z + 3.75), to 2e-11.
const ERFC_SHORT: &[f64; 15] = &[
    0.691_551_176_045_730_6,
    -0.206_831_264_977_760_58,
    0.114_796_742_729_208_35,
    -0.040_647_581_757_299_246,
    -0.003_099_845_293_641_784,
    0.018_751_041_752_255_112,
    -0.017_274_757_042_592_355,
    0.010_070_580_882_985_966,
    -0.003_973_289_443_164_797,
    0.000_865_666_706_879_053_3,
    7.419_723_090_135_332e-5,
    -0.000_121_767_226_847_399_93,
    2.297_088_575_758_357_4e-5,
    8.167_218_837_957_629e-6,
    -2.352_526_757_973_304_6e-6,
];

/// (1 + z) e^(z^2) erfc z in t = (z - 3) / (z + 3), to 5e-17.
const ERFC: &[f64; 23] = &[
    0.716_004_604_725_559_8,
    -0.230_927_333_083_809_06,
    0.099_020_753_679_441_84,
    -0.010_235_388_899_025_841,
    -0.023_803_913_108_748_63,
    0.021_957_764_013_255_63,
    -0.009_750_689_291_367_153,
    0.001_618_569_117_965_030_4,
    0.000_645_814_190_488_909_3,
    -0.000_367_288_403_222_304_14,
    -2.055_153_437_473_992_7e-5,
    5.611_897_903_765_242e-5,
    -1.514_673_556_386_852_7e-6,
    -8.988_730_900_671_264e-6,
    2.614_837_291_100_724e-7,
    1.585_734_886_213_312_2e-6,
    5.907_605_182_029_693e-8,
    -2.889_203_269_258_575e-7,
    -4.446_677_078_202_596_4e-8,
    4.669_589_459_406_547e-8,
    1.372_446_568_083_395_6e-8,
    -4.731_187_198_069_741e-9,
    -2.032_351_427_180_949_7e-9,
];

/// atan(s) / s in s^2 for s <= tan(pi / 16), to 6e-19.
const ATAN: &[f64; 10] = &[
    1.0,
    -0.333_333_333_333_333_3,
    0.199_999_999_999_996_96,
    -0.142_857_142_856_158_7,
    0.111_111_110_949_147_95,
    -0.090_909_075_578_939_64,
    0.076_922_191_715_534_64,
    -0.066_634_917_818_314_74,
    0.058_130_519_628_168_696,
    -0.044_109_286_692_360_48,
];

/// The scale of the sigmoid approximation of gelu.
const GELU_SIGMOID: f64 = 1.702;

/// Computes an expression of `$x` in f64. A macro and no function, since a closure is no part of the function that is
/// compiled for a level: every intrinsic in it would be a call.
macro_rules! in_f64 {
    ($level:ident, $x:ident, $function:expr) => {{
        let $x = $level::widen($x);
        $level::narrow($function)
    }};
}

/// The same for a fraction. The denominator, which f32 has to be able to hold, is inverted in f32 and corrected once in f64:
/// that is several times faster than a division in f64, and leaves the final rounding nearly the only one.
macro_rules! quotient {
    ($level:ident, $x:ident, $function:expr) => {{
        let $x = $level::widen($x);
        let (numerator, denominator) = $function;
        let (zero, one) = ($level::D::splat(0.0), $level::D::splat(1.0));
        let inverse = $level::widen($level::F::splat(1.0) / $level::narrow(denominator));
        let rest = (zero - denominator).fma(inverse, one);
        $level::narrow(numerator * inverse.fma(rest, inverse))
    }};
}

/// Applies a function to a vector.
#[inline(always)]
pub fn apply<L: Lanes>(function: ActFn, x: L::F) -> L::F {
    let zero = L::F::splat(0.0);
    let one = L::F::splat(1.0);
    match function {
        ActFn::Copy => x,
        ActFn::Square => x * x,
        ActFn::Abs => x.bit_and(L::F::splat(f32::from_bits(0x7fff_ffff))),
        ActFn::Sign => {
            let below = L::F::select(x.less(zero), L::F::splat(-1.0), zero);
            let sign = L::F::select(zero.less(x), one, below);
            L::F::select(x.is_nan(), x, sign)
        }
        ActFn::Relu => L::F::select(x.less(zero), zero, x + zero),
        ActFn::Exp => exp::<L>(x),
        ActFn::Sqrt => x.sqrt(),
        ActFn::Reciprocal => one / x,
        ActFn::Log => in_f64!(L, x, log(x)),
        ActFn::Softplus => in_f64!(L, x, softplus(x)),
        ActFn::Sigmoid => quotient!(L, x, sigmoid(x)),
        ActFn::Silu => quotient!(L, x, sigmoid_times(x, x)),
        ActFn::SiluDx => in_f64!(L, x, silu_dx(x)),
        ActFn::Tanh => quotient!(L, x, tanh(x)),
        ActFn::Mish => in_f64!(L, x, mish(x)),
        ActFn::Gelu => in_f64!(L, x, gelu(x)),
        ActFn::GeluDx => in_f64!(L, x, gelu_dx(x)),
        ActFn::GeluApprxTanh => quotient!(L, x, gelu_tanh(x)),
        ActFn::GeluApprxSigmoid => quotient!(L, x, sigmoid_times(x, x * L::D::splat(GELU_SIGMOID))),
        ActFn::GeluApprxSigmoidDx => in_f64!(L, x, silu_dx(x * L::D::splat(GELU_SIGMOID))),
        ActFn::Erf => in_f64!(L, x, erf(x)),
        ActFn::ErfDx => in_f64!(L, x, {
            exp_f64(L::D::splat(0.0) - x * x, EXP_SHORT) * L::D::splat(std::f64::consts::FRAC_2_SQRT_PI)
        }),
        ActFn::Sin => in_f64!(L, x, sine(x)),
        ActFn::Arctan => in_f64!(L, x, arctan(x)),
        ActFn::Rsqrt => rsqrt::<L>(x),
    }
}

/// 1 / sqrt x, in f64 so that the second rounding hardly shows.
#[inline(always)]
pub fn rsqrt<L: Lanes>(x: L::F) -> L::F {
    in_f64!(L, x, L::D::splat(1.0) / x.sqrt())
}

/// e^x in f32 arithmetic, subnormal results included.
#[inline(always)]
fn exp<L: Lanes>(x: L::F) -> L::F {
    const COEFFICIENTS: &[f32; 8] = &[
        1.0,
        1.0,
        0.5,
        0.166_666_66,
        0.041_665_796,
        0.008_333_452,
        0.001_398_2,
        0.000_198_756_92,
    ];
    // Adding it rounds to an integer.
    let magic = L::F::splat(12_582_912.0);
    // Beyond these, the result is 0 or infinite.
    let x = L::F::splat(-105.0).greater(L::F::splat(89.0).lesser(x));
    let n = x.fma(L::F::splat(std::f32::consts::LOG2_E), magic) - magic;
    let r = n.fma(L::F::splat(-0.693_359_4), x);
    let r = n.fma(L::F::splat(2.121_944_4e-4), r);
    L::scale(r.polynomial(COEFFICIENTS), n)
}

/// 2^n and (e^r - 1) of x = n ln 2 + r, for |x| < 700.
#[inline(always)]
fn exp_parts<D: Vector<Element = f64>, const N: usize>(x: D, coefficients: &[f64; N]) -> (D, D) {
    let magic = D::splat(6_755_399_441_055_744.0);
    let shifted = x.fma(D::splat(std::f64::consts::LOG2_E), magic);
    let n = shifted - magic;
    let r = n.fma(D::splat(-0.693_147_180_558_298_7), x);
    let r = n.fma(D::splat(-1.646_594_958_289_708_2e-12), r);
    let scale = shifted
        .add_bits(D::splat(f64::from_bits(1023)))
        .bits_to_exponent();
    (scale, r * r.polynomial(coefficients))
}

/// Keeps x where e^x is finite and not zero in f64, and far beyond where it is so in f32.
#[inline(always)]
fn clamp<D: Vector<Element = f64>>(x: D) -> D {
    D::splat(-200.0).greater(D::splat(200.0).lesser(x))
}

#[inline(always)]
fn exp_f64<D: Vector<Element = f64>, const N: usize>(x: D, coefficients: &[f64; N]) -> D {
    let (scale, rest) = exp_parts(clamp(x), coefficients);
    rest.fma(scale, scale)
}

#[inline(always)]
fn abs<D: Vector<Element = f64>>(x: D) -> D {
    x.bit_and(D::splat(f64::from_bits(u64::MAX >> 1)))
}

/// The magnitude of `x` with the sign of `sign`; `x` is not negative.
#[inline(always)]
fn with_sign<D: Vector<Element = f64>>(x: D, sign: D) -> D {
    x.bit_or(sign.bit_and(D::splat(-0.0)))
}

#[inline(always)]
fn log<D: Vector<Element = f64>>(x: D) -> D {
    let (exponent, m) = split(x);
    let r = m - D::splat(1.0);
    let result = exponent.fma(D::splat(std::f64::consts::LN_2), r * r.polynomial(LOG_SHORT));
    let zero = D::splat(0.0);
    let result = D::select(zero.less(x), result, D::splat(f64::NEG_INFINITY));
    let result = D::select(x.less(zero), D::splat(f64::NAN), result);
    // Infinity and NaN are their own logarithms.
    D::select(x.less(D::splat(f64::INFINITY)), result, x)
}

/// n and m of x = m 2^n with 1/sqrt 2 <= m <= sqrt 2, for finite x > 0.
#[inline(always)]
fn split<D: Vector<Element = f64>>(x: D) -> (D, D) {
    let mantissa = x
        .bit_and(D::splat(f64::from_bits((1 << 52) - 1)))
        .bit_or(D::splat(1.0));
    let large = D::splat(std::f64::consts::SQRT_2).less(mantissa);
    let m = D::select(large, mantissa * D::splat(0.5), mantissa);
    // Under this exponent, the low bits count ones.
    let two_52 = D::splat(4_503_599_627_370_496.0);
    let biased = x.exponent_to_bits().bit_or(two_52) - two_52;
    (biased - D::select(large, D::splat(1022.0), D::splat(1023.0)), m)
}

/// ln(1 + u) for 0 <= u <= 1, exact for tiny u too.
#[inline(always)]
fn log1p<D: Vector<Element = f64>>(u: D) -> D {
    let s = u / (u + D::splat(2.0));
    s * (s * s).polynomial(LOG1P)
}

#[inline(always)]
fn softplus<D: Vector<Element = f64>>(x: D) -> D {
    let zero = D::splat(0.0);
    let tail = log1p(exp_f64(zero - abs(x), EXP_SHORT));
    zero.greater(x) + tail
}

/// The sigmoid as a fraction.
#[inline(always)]
fn sigmoid<D: Vector<Element = f64>>(x: D) -> (D, D) {
    sigmoid_times(D::splat(1.0), x)
}

/// x times the sigmoid of y as a fraction, where y has the sign of x and is not much smaller, or x is 1.
#[inline(always)]
fn sigmoid_times<D: Vector<Element = f64>>(x: D, y: D) -> (D, D) {
    let (zero, one) = (D::splat(0.0), D::splat(1.0));
    // Far below zero the product is -0, which an infinite x would make NaN or infinite.
    let x = D::splat(-1000.0).greater(x);
    let e = exp_f64(zero - abs(y), EXP_SHORT);
    (x * D::select(y.less(zero), e, one), one + e)
}

#[inline(always)]
fn silu_dx<D: Vector<Element = f64>>(x: D) -> D {
    let x = clamp(x);
    let one = D::splat(1.0);
    let e = exp_f64(D::splat(0.0) - x, EXP_LONG);
    let s = one / (one + e);
    // 1 - s is e s, without the cancellation.
    s * x.fma(e * s, one)
}

#[inline(always)]
fn tanh<D: Vector<Element = f64>>(x: D) -> (D, D) {
    let one = D::splat(1.0);
    let twice = D::splat(40.0).lesser(abs(x) * D::splat(2.0));
    let (scale, rest) = exp_parts(twice, EXP_SHORT);
    let minus_one = rest.fma(scale, scale - one);
    (with_sign(minus_one, x), minus_one + D::splat(2.0))
}

#[inline(always)]
fn mish<D: Vector<Element = f64>>(x: D) -> D {
    // tanh(ln(1 + u)) = u (u + 2) / (u (u + 2) + 2) with u = e^x.
    let u = exp_f64(D::splat(40.0).lesser(x), EXP_SHORT);
    let two = D::splat(2.0);
    let n = u * (u + two);
    D::splat(-1000.0).greater(x) * (n / (n + two))
}

/// erfc z for z >= 0, with its relative precision in the tail.
#[inline(always)]
fn erfc<D: Vector<Element = f64>>(z: D) -> D {
    erfc_with(z, 3.0, ERFC, EXP_LONG)
}

/// [`erfc`] from a polynomial around `centre`.
#[inline(always)]
fn erfc_with<D: Vector<Element = f64>, const N: usize, const M: usize>(
    z: D,
    centre: f64,
    coefficients: &[f64; N],
    exp: &[f64; M],
) -> D {
    let z = D::splat(29.0).lesser(z);
    let centre = D::splat(centre);
    let (plus, one_plus) = (z + centre, z + D::splat(1.0));
    let inverse = D::splat(1.0) / (plus * one_plus);
    let t = (z - centre) * one_plus * inverse;
    exp_f64(D::splat(0.0) - z * z, exp) * t.polynomial(coefficients) * (plus * inverse)
}

#[inline(always)]
fn erf<D: Vector<Element = f64>>(x: D) -> D {
    let one = D::splat(1.0);
    let z = abs(x);
    let near = D::splat(1.0).lesser(z);
    let near = near * (near * near).polynomial(ERF);
    let far = one - erfc(z);
    with_sign(D::select(one.less(z), far, near), x)
}

/// The distribution function of the standard normal, from erfc(|x| / sqrt 2).
#[inline(always)]
fn normal<D: Vector<Element = f64>>(x: D, erfc: D) -> D {
    let tail = erfc * D::splat(0.5);
    D::select(x.less(D::splat(0.0)), tail, D::splat(1.0) - tail)
}

/// |x| / sqrt 2.
#[inline(always)]
fn deviations<D: Vector<Element = f64>>(x: D) -> D {
    abs(x) * D::splat(std::f64::consts::FRAC_1_SQRT_2)
}

#[inline(always)]
fn gelu<D: Vector<Element = f64>>(x: D) -> D {
    let x = D::splat(-1000.0).greater(x);
    x * normal(x, erfc_with(deviations(x), 3.75, ERFC_SHORT, EXP_SHORT))
}

#[inline(always)]
fn gelu_dx<D: Vector<Element = f64>>(x: D) -> D {
    const FRAC_1_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
    let x = clamp(x);
    let density = exp_f64(x * x * D::splat(-0.5), EXP_LONG) * D::splat(FRAC_1_SQRT_2PI);
    x.fma(density, normal(x, erfc(deviations(x))))
}

#[inline(always)]
fn gelu_tanh<D: Vector<Element = f64>>(x: D) -> (D, D) {
    // (1 + tanh u) / 2 is the sigmoid of 2 u.
    const TWICE_SQRT_2_OVER_PI: f64 = 1.595_769_121_605_730_7;
    let cubic = (x * x).fma(D::splat(0.044_715), D::splat(1.0));
    sigmoid_times(x, x * cubic * D::splat(TWICE_SQRT_2_OVER_PI))
}

#[inline(always)]
fn arctan<D: Vector<Element = f64>>(x: D) -> D {
    let one = D::splat(1.0);
    let z = abs(x);
    let large = one.less(z);
    let z = D::select(large, one / z, z);
    // The angle is halved twice, so that a short polynomial does.
    let halved = z / (one + z.fma(z, one).sqrt());
    let s = halved / (one + halved.fma(halved, one).sqrt());
    let angle = s * (s * s).polynomial(ATAN) * D::splat(4.0);
    let angle = D::select(large, D::splat(std::f64::consts::FRAC_PI_2) - angle, angle);
    with_sign(angle, x)
}

/// a^b with the special cases of C's `pow`.
#[inline(always)]
pub fn power(a: f32, b: f32) -> f32 {
    if b == 0.0 || a == 1.0 {
        return 1.0;
    }
    if a.is_nan() || b.is_nan() {
        return f32::NAN;
    }
    let magnitude = a.abs();
    // From 2^24 on, every float is an even integer.
    let small = b.abs() < 16_777_216.0;
    let is_integer = !small || (b as i32) as f32 == b;
    let is_odd = small && is_integer && (b as i32) & 1 == 1;
    let sign = if is_odd && a.is_sign_negative() { -1.0 } else { 1.0 };
    if a < 0.0 && a.is_finite() && !is_integer && b.is_finite() {
        return f32::NAN;
    }
    if magnitude == 1.0 {
        return sign;
    }
    let grows = (magnitude > 1.0) == (b > 0.0);
    if magnitude == 0.0 || magnitude.is_infinite() || b.is_infinite() {
        return sign * if grows { f32::INFINITY } else { 0.0 };
    }
    let (exponent, m) = split(f64::from(magnitude));
    let s = (m - 1.0) / (m + 1.0);
    let log = exponent.mul_add(std::f64::consts::LN_2, s * (s * s).polynomial(LOG));
    One::narrow(f64::from(sign) * exp_f64(f64::from(b) * log, EXP_LONG))
}

/// The remainder of a / b with the sign of b. That of C's `fmod` is exact; adding b to it rounds once.
#[inline(always)]
pub fn modulo(a: f32, b: f32) -> f32 {
    let rest = a % b;
    if rest == 0.0 {
        return 0f32.copysign(b);
    }
    if (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
}
