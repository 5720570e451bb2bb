//! What the CPU can do, in hand-written code.

use std::arch::x86_64::*;

pub fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
}

/// Fused multiply-adds in 12 independent chains; gives the number of floating-point operations.
#[target_feature(enable = "avx512f")]
pub fn multiply_adds(rounds: usize) -> f64 {
    let factor = _mm512_set1_ps(std::hint::black_box(0.999));
    let mut sums = [_mm512_set1_ps(std::hint::black_box(1.0)); 12];
    for _ in 0..rounds {
        for sum in &mut sums {
            *sum = _mm512_fmadd_ps(*sum, factor, factor);
        }
    }
    std::hint::black_box(sums);
    (rounds * 12 * 16 * 2) as f64
}

/// Adds rows of `n` floats whose starts lie `pitch` floats apart.
#[target_feature(enable = "avx512f")]
pub fn add(memory: &mut [f32], pitch: usize, rows: usize, n: usize, [dst, a, b]: [usize; 3]) {
    for row in 0..rows {
        let start = memory[row * pitch..].as_mut_ptr();
        for idx in (0..n).step_by(16) {
            // SAFETY: the caller's rows hold all three tiles.
            unsafe {
                let sum = _mm512_add_ps(
                    _mm512_loadu_ps(start.add(a + idx)),
                    _mm512_loadu_ps(start.add(b + idx)),
                );
                _mm512_storeu_ps(start.add(dst + idx), sum);
            }
        }
    }
}

/// bf16 of two vectors of f32, to nearest even; NaN becomes the canonical one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn to_bf16(values: __m512) -> __m256i {
    let bits = _mm512_castps_si512(values);
    let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
    let rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    let is_nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(values, values);
    let word = _mm512_mask_mov_epi32(rounded, is_nan, _mm512_set1_epi32(0x7fc0_0000));
    _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(word))
}

/// Adds rows of `n` bf16 values: widened, added, rounded and written in one pass. Distances are in values.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn add_bf16(memory: &mut [u16], pitch: usize, rows: usize, n: usize, [dst, a, b]: [usize; 3]) {
    for row in 0..rows {
        let start = memory[row * pitch..].as_mut_ptr();
        for idx in (0..n).step_by(16) {
            // SAFETY: the caller's rows hold all three tiles.
            unsafe {
                let load = |at: usize| {
                    let half = _mm256_loadu_si256(start.add(at + idx).cast());
                    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(half)))
                };
                let sum = to_bf16(_mm512_add_ps(load(a), load(b)));
                _mm256_storeu_si256(start.add(dst + idx).cast(), sum);
            }
        }
    }
}

/// Multiplies single values that lie `pitch` apart.
pub fn multiply_columns(memory: &mut [f32], pitch: usize, rows: usize, [dst, a, b]: [usize; 3]) {
    for row in 0..rows {
        let row = &mut memory[row * pitch..row * pitch + 4096];
        row[dst] = row[a] * row[b];
    }
}

/// Transposes 8 x 8 blocks of `n` x `n` values in registers, from `src` to `dst`, whose rows lie `pitch` apart.
#[target_feature(enable = "avx2")]
pub fn transpose(memory: &mut [f32], n: usize, [dst, to_pitch]: [usize; 2], [src, pitch]: [usize; 2]) {
    let start = memory.as_mut_ptr();
    for column in (0..n).step_by(8) {
        for row in (0..n).step_by(8) {
            // SAFETY: the caller's memory holds both tiles.
            unsafe {
                let from = start.add(src + row * pitch + column);
                let r: [__m256; 8] = std::array::from_fn(|it| _mm256_loadu_ps(from.add(it * pitch)));
                let pairs = |a: __m256, b: __m256| (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
                let (a0, a1) = pairs(r[0], r[1]);
                let (a2, a3) = pairs(r[2], r[3]);
                let (a4, a5) = pairs(r[4], r[5]);
                let (a6, a7) = pairs(r[6], r[7]);
                let low = |a: __m256, b: __m256| _mm256_shuffle_ps::<0x44>(a, b);
                let high = |a: __m256, b: __m256| _mm256_shuffle_ps::<0xee>(a, b);
                let b = [
                    low(a0, a2),
                    high(a0, a2),
                    low(a1, a3),
                    high(a1, a3),
                    low(a4, a6),
                    high(a4, a6),
                    low(a5, a7),
                    high(a5, a7),
                ];
                let to = start.add(dst + column * to_pitch + row);
                for it in 0..4 {
                    let first = _mm256_permute2f128_ps::<0x20>(b[it], b[it + 4]);
                    let second = _mm256_permute2f128_ps::<0x31>(b[it], b[it + 4]);
                    _mm256_storeu_ps(to.add(it * to_pitch), first);
                    _mm256_storeu_ps(to.add((it + 4) * to_pitch), second);
                }
            }
        }
    }
}
