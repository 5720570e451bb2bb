//! The vector types of x86-64: AVX-512, and AVX2 with FMA and F16C.
//!
//! One intrinsic per operation. The register types are only used inside functions compiled for their instructions, and
//! [`super::Level`] only picks those when the CPU has them: that is what makes each intrinsic safe to call.

use super::lanes::{Lanes, Pair, Vector};
use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

pub struct Avx512;
pub struct Avx2;

#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F16(__m512);
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct D8(__m512d);
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F8(__m256);
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct D4(__m256d);

/// Implements `Vector` for a register type; each line is an operation, its operands and what it is.
macro_rules! vector {
    (
        $type:ident $element:ident $mask:ty, $lanes:literal;
        splat($value:ident) $splat:expr;
        $( $trait:ident $method:ident($a:ident, $b:ident) $operator:expr; )*
        ;
        $( $name:ident($($arg:ident: $arg_type:ty),*) -> $result:ty, $body:expr; )*
    ) => {
        $(
            impl $trait for $type {
                type Output = $type;

                #[inline(always)]
                fn $method(self, other: $type) -> $type {
                    let ($a, $b) = (self.0, other.0);
                    // SAFETY: the level was picked because the CPU has its instructions.
                    $type(unsafe { $operator })
                }
            }
        )*

        impl $type {
            $(
                #[inline(always)]
                fn $name($($arg: $arg_type),*) -> $result {
                    // SAFETY: the level was picked because the CPU has its instructions.
                    unsafe { $body }
                }
            )*
        }

        impl Vector for $type {
            type Element = $element;
            type Mask = $mask;

            #[inline(always)]
            fn splat($value: $element) -> $type {
                // SAFETY: the level was picked because the CPU has its instructions.
                $type(unsafe { $splat })
            }
            #[inline(always)]
            fn fma(self, factor: $type, addend: $type) -> $type {
                $type($type::multiply_add(self.0, factor.0, addend.0))
            }
            #[inline(always)]
            fn sqrt(self) -> $type {
                $type($type::root(self.0))
            }
            #[inline(always)]
            fn less(self, other: $type) -> $mask {
                $type::below(self.0, other.0)
            }
            #[inline(always)]
            fn is_nan(self) -> $mask {
                $type::unordered(self.0)
            }
            #[inline(always)]
            fn any(mask: $mask) -> bool {
                $type::bits(mask) != 0
            }
            #[inline(always)]
            fn lesser(self, other: $type) -> $type {
                $type($type::min(self.0, other.0))
            }
            #[inline(always)]
            fn greater(self, other: $type) -> $type {
                $type($type::max(self.0, other.0))
            }
            #[inline(always)]
            fn select(mask: $mask, yes: $type, no: $type) -> $type {
                $type($type::blend(mask, yes.0, no.0))
            }
            #[inline(always)]
            fn bit_and(self, other: $type) -> $type {
                $type($type::and(self.0, other.0))
            }
            #[inline(always)]
            fn bit_or(self, other: $type) -> $type {
                $type($type::or(self.0, other.0))
            }
            #[inline(always)]
            fn add_bits(self, other: $type) -> $type {
                $type($type::add_integers(self.0, other.0))
            }
            #[inline(always)]
            fn bits_to_exponent(self) -> $type {
                $type($type::shift_up(self.0))
            }
            #[inline(always)]
            fn exponent_to_bits(self) -> $type {
                $type($type::shift_down(self.0))
            }
            #[inline(always)]
            fn map(self, function: impl Fn($element) -> $element) -> $type {
                // SAFETY: a register is an array of its lanes.
                let lanes = unsafe { std::mem::transmute::<$type, [$element; $lanes]>(self) };
                // SAFETY: as above.
                unsafe { std::mem::transmute::<[$element; $lanes], $type>(lanes.map(function)) }
            }
        }
    };
}

vector! {
    F16 f32 __mmask16, 16;
    splat(x) _mm512_set1_ps(x);
    Add add(a, b) _mm512_add_ps(a, b);
    Sub sub(a, b) _mm512_sub_ps(a, b);
    Mul mul(a, b) _mm512_mul_ps(a, b);
    Div div(a, b) _mm512_div_ps(a, b);
    ;
    multiply_add(a: __m512, b: __m512, c: __m512) -> __m512, _mm512_fmadd_ps(a, b, c);
    root(a: __m512) -> __m512, _mm512_sqrt_ps(a);
    below(a: __m512, b: __m512) -> __mmask16, _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b);
    unordered(a: __m512) -> __mmask16, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, a);
    bits(m: __mmask16) -> u32, _cvtmask16_u32(m);
    min(a: __m512, b: __m512) -> __m512, _mm512_min_ps(a, b);
    max(a: __m512, b: __m512) -> __m512, _mm512_max_ps(a, b);
    blend(m: __mmask16, a: __m512, b: __m512) -> __m512, _mm512_mask_blend_ps(m, b, a);
    and(a: __m512, b: __m512) -> __m512, _mm512_and_ps(a, b);
    or(a: __m512, b: __m512) -> __m512, _mm512_or_ps(a, b);
    add_integers(a: __m512, b: __m512) -> __m512,
        _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
    shift_up(a: __m512) -> __m512, _mm512_castsi512_ps(_mm512_slli_epi32::<23>(_mm512_castps_si512(a)));
    shift_down(a: __m512) -> __m512, _mm512_castsi512_ps(_mm512_srli_epi32::<23>(_mm512_castps_si512(a)));
}

vector! {
    D8 f64 __mmask8, 8;
    splat(x) _mm512_set1_pd(x);
    Add add(a, b) _mm512_add_pd(a, b);
    Sub sub(a, b) _mm512_sub_pd(a, b);
    Mul mul(a, b) _mm512_mul_pd(a, b);
    Div div(a, b) _mm512_div_pd(a, b);
    ;
    multiply_add(a: __m512d, b: __m512d, c: __m512d) -> __m512d, _mm512_fmadd_pd(a, b, c);
    root(a: __m512d) -> __m512d, _mm512_sqrt_pd(a);
    below(a: __m512d, b: __m512d) -> __mmask8, _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b);
    unordered(a: __m512d) -> __mmask8, _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(a, a);
    bits(m: __mmask8) -> u32, _cvtmask8_u32(m);
    min(a: __m512d, b: __m512d) -> __m512d, _mm512_min_pd(a, b);
    max(a: __m512d, b: __m512d) -> __m512d, _mm512_max_pd(a, b);
    blend(m: __mmask8, a: __m512d, b: __m512d) -> __m512d, _mm512_mask_blend_pd(m, b, a);
    and(a: __m512d, b: __m512d) -> __m512d, _mm512_and_pd(a, b);
    or(a: __m512d, b: __m512d) -> __m512d, _mm512_or_pd(a, b);
    add_integers(a: __m512d, b: __m512d) -> __m512d,
        _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(a), _mm512_castpd_si512(b)));
    shift_up(a: __m512d) -> __m512d, _mm512_castsi512_pd(_mm512_slli_epi64::<52>(_mm512_castpd_si512(a)));
    shift_down(a: __m512d) -> __m512d, _mm512_castsi512_pd(_mm512_srli_epi64::<52>(_mm512_castpd_si512(a)));
}

vector! {
    F8 f32 __m256, 8;
    splat(x) _mm256_set1_ps(x);
    Add add(a, b) _mm256_add_ps(a, b);
    Sub sub(a, b) _mm256_sub_ps(a, b);
    Mul mul(a, b) _mm256_mul_ps(a, b);
    Div div(a, b) _mm256_div_ps(a, b);
    ;
    multiply_add(a: __m256, b: __m256, c: __m256) -> __m256, _mm256_fmadd_ps(a, b, c);
    root(a: __m256) -> __m256, _mm256_sqrt_ps(a);
    below(a: __m256, b: __m256) -> __m256, _mm256_cmp_ps::<_CMP_LT_OQ>(a, b);
    unordered(a: __m256) -> __m256, _mm256_cmp_ps::<_CMP_UNORD_Q>(a, a);
    bits(m: __m256) -> i32, _mm256_movemask_ps(m);
    min(a: __m256, b: __m256) -> __m256, _mm256_min_ps(a, b);
    max(a: __m256, b: __m256) -> __m256, _mm256_max_ps(a, b);
    blend(m: __m256, a: __m256, b: __m256) -> __m256, _mm256_blendv_ps(b, a, m);
    and(a: __m256, b: __m256) -> __m256, _mm256_and_ps(a, b);
    or(a: __m256, b: __m256) -> __m256, _mm256_or_ps(a, b);
    add_integers(a: __m256, b: __m256) -> __m256,
        _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b)));
    shift_up(a: __m256) -> __m256, _mm256_castsi256_ps(_mm256_slli_epi32::<23>(_mm256_castps_si256(a)));
    shift_down(a: __m256) -> __m256, _mm256_castsi256_ps(_mm256_srli_epi32::<23>(_mm256_castps_si256(a)));
}

vector! {
    D4 f64 __m256d, 4;
    splat(x) _mm256_set1_pd(x);
    Add add(a, b) _mm256_add_pd(a, b);
    Sub sub(a, b) _mm256_sub_pd(a, b);
    Mul mul(a, b) _mm256_mul_pd(a, b);
    Div div(a, b) _mm256_div_pd(a, b);
    ;
    multiply_add(a: __m256d, b: __m256d, c: __m256d) -> __m256d, _mm256_fmadd_pd(a, b, c);
    root(a: __m256d) -> __m256d, _mm256_sqrt_pd(a);
    below(a: __m256d, b: __m256d) -> __m256d, _mm256_cmp_pd::<_CMP_LT_OQ>(a, b);
    unordered(a: __m256d) -> __m256d, _mm256_cmp_pd::<_CMP_UNORD_Q>(a, a);
    bits(m: __m256d) -> i32, _mm256_movemask_pd(m);
    min(a: __m256d, b: __m256d) -> __m256d, _mm256_min_pd(a, b);
    max(a: __m256d, b: __m256d) -> __m256d, _mm256_max_pd(a, b);
    blend(m: __m256d, a: __m256d, b: __m256d) -> __m256d, _mm256_blendv_pd(b, a, m);
    and(a: __m256d, b: __m256d) -> __m256d, _mm256_and_pd(a, b);
    or(a: __m256d, b: __m256d) -> __m256d, _mm256_or_pd(a, b);
    add_integers(a: __m256d, b: __m256d) -> __m256d,
        _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(a), _mm256_castpd_si256(b)));
    shift_up(a: __m256d) -> __m256d, _mm256_castsi256_pd(_mm256_slli_epi64::<52>(_mm256_castpd_si256(a)));
    shift_down(a: __m256d) -> __m256d, _mm256_castsi256_pd(_mm256_srli_epi64::<52>(_mm256_castpd_si256(a)));
}

impl Lanes for Avx512 {
    const COUNT: usize = 16;
    type F = F16;
    type D = Pair<D8>;

    #[inline(always)]
    fn widen(values: F16) -> Pair<D8> {
        // SAFETY: the level was picked because the CPU has its instructions.
        unsafe {
            let high = _mm512_extractf32x8_ps::<1>(values.0);
            let low = _mm512_castps512_ps256(values.0);
            Pair(D8(_mm512_cvtps_pd(low)), D8(_mm512_cvtps_pd(high)))
        }
    }
    #[inline(always)]
    fn narrow(values: Pair<D8>) -> F16 {
        // SAFETY: the level was picked because the CPU has its instructions.
        unsafe {
            let low = _mm512_castps256_ps512(_mm512_cvtpd_ps(values.0.0));
            F16(_mm512_insertf32x8::<1>(low, _mm512_cvtpd_ps(values.1.0)))
        }
    }
    #[inline(always)]
    fn scale(values: F16, n: F16) -> F16 {
        // SAFETY: the level was picked because the CPU has its instructions.
        F16(unsafe { _mm512_scalef_ps(values.0, n.0) })
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> F16 {
        // SAFETY: the caller's promise.
        F16(unsafe { _mm512_loadu_ps(from) })
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, values: F16) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_ps(to, values.0) };
    }
    #[inline(always)]
    unsafe fn load_part(from: *const f32, n: usize, fill: f32) -> F16 {
        // SAFETY: masked lanes are not read.
        F16(unsafe { _mm512_mask_loadu_ps(_mm512_set1_ps(fill), (1 << n) - 1, from) })
    }
    #[inline(always)]
    unsafe fn store_part(to: *mut f32, n: usize, values: F16) {
        // SAFETY: masked lanes are not written.
        unsafe { _mm512_mask_storeu_ps(to, (1 << n) - 1, values.0) };
    }
    #[inline(always)]
    unsafe fn transpose<const ADDS: bool>(
        to: *mut f32,
        to_pitch: usize,
        from: *const f32,
        from_pitch: usize,
    ) -> bool {
        // SAFETY: the caller's promise; the level has AVX2 and FMA.
        unsafe { transpose_block::<ADDS>(to, to_pitch, from, from_pitch) }
    }
    #[inline(always)]
    unsafe fn load_f16(from: *const [u8; 2]) -> F16 {
        // SAFETY: the caller's promise.
        F16(unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(from.cast())) })
    }
    #[inline(always)]
    unsafe fn store_f16(to: *mut [u8; 2], values: F16) {
        // SAFETY: the caller's promise.
        unsafe { _mm256_storeu_si256(to.cast(), _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values.0)) };
    }
}

/// `Lanes::transpose` in eight registers of eight words.
///
/// # Safety
/// Both blocks are accessible and do not overlap, and the CPU has AVX2 and FMA.
#[inline(always)]
unsafe fn transpose_block<const ADDS: bool>(
    to: *mut f32,
    to_pitch: usize,
    from: *const f32,
    from_pitch: usize,
) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let zero = _mm256_setzero_ps();
        let mut products = zero;
        let mut rows = [zero; 8];
        for (idx, row) in rows.iter_mut().enumerate() {
            *row = _mm256_loadu_ps(from.add(idx * from_pitch));
            if ADDS {
                *row = _mm256_add_ps(*row, zero);
                // Zero times anything that is not finite is NaN.
                products = _mm256_fmadd_ps(*row, zero, products);
            }
        }
        let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
        // Pairs of rows, then groups of four, then all eight.
        let pairs = [
            (_mm256_unpacklo_ps(r0, r1), _mm256_unpacklo_ps(r2, r3)),
            (_mm256_unpackhi_ps(r0, r1), _mm256_unpackhi_ps(r2, r3)),
            (_mm256_unpacklo_ps(r4, r5), _mm256_unpacklo_ps(r6, r7)),
            (_mm256_unpackhi_ps(r4, r5), _mm256_unpackhi_ps(r6, r7)),
        ];
        let mut fours = [zero; 8];
        for (idx, (a, b)) in pairs.into_iter().enumerate() {
            fours[2 * idx] = _mm256_shuffle_ps::<0x44>(a, b);
            fours[2 * idx + 1] = _mm256_shuffle_ps::<0xee>(a, b);
        }
        for idx in 0..4 {
            let (upper, lower) = (fours[idx], fours[idx + 4]);
            let near = _mm256_permute2f128_ps::<0x20>(upper, lower);
            let far = _mm256_permute2f128_ps::<0x31>(upper, lower);
            _mm256_storeu_ps(to.add(idx * to_pitch), near);
            _mm256_storeu_ps(to.add((idx + 4) * to_pitch), far);
        }
        !ADDS || _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(products, products)) == 0
    }
}

/// The mask of the first `n` of eight lanes.
#[inline(always)]
fn first(n: usize) -> __m256i {
    // SAFETY: the level was picked because the CPU has its instructions.
    unsafe {
        _mm256_cmpgt_epi32(
            _mm256_set1_epi32(n as i32),
            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        )
    }
}

impl Lanes for Avx2 {
    const COUNT: usize = 8;
    type F = F8;
    type D = Pair<D4>;

    #[inline(always)]
    fn widen(values: F8) -> Pair<D4> {
        // SAFETY: the level was picked because the CPU has its instructions.
        unsafe {
            let high = _mm256_extractf128_ps::<1>(values.0);
            let low = _mm256_castps256_ps128(values.0);
            Pair(D4(_mm256_cvtps_pd(low)), D4(_mm256_cvtps_pd(high)))
        }
    }
    #[inline(always)]
    fn narrow(values: Pair<D4>) -> F8 {
        // SAFETY: the level was picked because the CPU has its instructions.
        unsafe {
            F8(_mm256_set_m128(
                _mm256_cvtpd_ps(values.1.0),
                _mm256_cvtpd_ps(values.0.0),
            ))
        }
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> F8 {
        // SAFETY: the caller's promise.
        F8(unsafe { _mm256_loadu_ps(from) })
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, values: F8) {
        // SAFETY: the caller's promise.
        unsafe { _mm256_storeu_ps(to, values.0) };
    }
    #[inline(always)]
    unsafe fn load_part(from: *const f32, n: usize, fill: f32) -> F8 {
        // SAFETY: masked lanes are not read.
        unsafe {
            let mask = first(n);
            let values = _mm256_maskload_ps(from, mask);
            F8(_mm256_blendv_ps(
                _mm256_set1_ps(fill),
                values,
                _mm256_castsi256_ps(mask),
            ))
        }
    }
    #[inline(always)]
    unsafe fn store_part(to: *mut f32, n: usize, values: F8) {
        // SAFETY: masked lanes are not written.
        unsafe { _mm256_maskstore_ps(to, first(n), values.0) };
    }
    #[inline(always)]
    unsafe fn transpose<const ADDS: bool>(
        to: *mut f32,
        to_pitch: usize,
        from: *const f32,
        from_pitch: usize,
    ) -> bool {
        // SAFETY: the caller's promise; the level has AVX2 and FMA.
        unsafe { transpose_block::<ADDS>(to, to_pitch, from, from_pitch) }
    }
    #[inline(always)]
    unsafe fn load_f16(from: *const [u8; 2]) -> F8 {
        // SAFETY: the caller's promise.
        F8(unsafe { _mm256_cvtph_ps(_mm_loadu_si128(from.cast())) })
    }
    #[inline(always)]
    unsafe fn store_f16(to: *mut [u8; 2], values: F8) {
        // SAFETY: the caller's promise.
        unsafe { _mm_storeu_si128(to.cast(), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values.0)) };
    }
}
