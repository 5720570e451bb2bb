//! The Tensor engine: matrix products and transposes over rows of f32.
//!
//! Takes matrices whose rows are contiguous, at any pitch. Never changes the order of a sum: k ascends, one fused
//! multiply-add a step, from +0.

use super::convert::NAN;
use super::lanes::{BLOCK, LINE, Lanes, Vector, move_word, prefetch};
use std::ops::Range;

/// f32 values of a cache line.
const VALUES: usize = LINE / 4;

/// A matrix in memory: its first element and the distance between two rows in elements.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Rows {
    pub at: *mut f32,
    pub pitch: usize,
}

/// A matrix product of `k` terms: dst is `m` x `n`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Product {
    pub dst: Rows,
    pub stationary: Rows,
    pub moving: Rows,
    pub k: usize,
    pub m: usize,
    pub n: usize,
    /// Adds onto dst instead of overwriting it.
    pub adds: bool,
}

/// dst[m, n] = or += the sum over k of stationary[k, m] * moving[k, n].
///
/// # Safety
/// All three matrices are accessible, and dst overlaps no other.
#[inline(always)]
pub unsafe fn multiply<L: Lanes>(product: &Product) {
    let Product { m, n, .. } = *product;
    let wide = L::COUNT * 2;
    let mut col = 0;
    ask(product.moving, 0..product.k, 0, wide.min(n));
    // SAFETY: every tile lies inside the product.
    unsafe {
        while col + wide <= n {
            columns::<L, 2>(product, m, col, wide);
            col += wide;
        }
        while col < n {
            let count = L::COUNT.min(n - col);
            columns::<L, 1>(product, m, col, count);
            col += count;
        }
    }
}

/// Asks for the cache lines of some rows of `count` columns. Rows of a memory lie far apart, so no CPU guesses the next one.
#[inline(always)]
fn ask(matrix: Rows, rows: Range<usize>, col: usize, count: usize) {
    for row in rows {
        for idx in (0..count).step_by(VALUES) {
            prefetch(matrix.at.wrapping_add(row * matrix.pitch + col + idx).cast());
        }
    }
}

/// All rows of some columns. On the way it asks for the columns that come next, and in the first ones for the rows of the
/// stationary matrix: what one tile reads arrives while the one before it is computed.
///
/// # Safety
/// The columns lie inside the product.
#[inline(always)]
unsafe fn columns<L: Lanes, const NV: usize>(product: &Product, m: usize, col: usize, count: usize) {
    let mut row = 0;
    let Product {
        stationary,
        moving,
        k,
        n,
        ..
    } = *product;
    let next = col + count;
    let mut asked = 0;
    let mut ask_ahead = |row: usize, rows: usize| {
        if next < n {
            let until = k * (row + rows) / m;
            ask(moving, asked..until, next, count.min(n - next));
            asked = until;
        }
        if col == 0 && (row + rows) % VALUES < rows && row + rows < m {
            ask(stationary, 0..k, row + rows, 1);
        }
    };
    // SAFETY: the rows lie inside the product.
    unsafe {
        // Sixteen accumulators hide the latency where there are 32 registers, twelve where there are 16.
        if L::COUNT == 16 {
            while row + 8 <= m {
                ask_ahead(row, 8);
                tile::<L, 8, NV>(product, row, col, count);
                row += 8;
            }
        } else {
            while row + 6 <= m {
                ask_ahead(row, 6);
                tile::<L, 6, NV>(product, row, col, count);
                row += 6;
            }
        }
        while row + 2 <= m {
            tile::<L, 2, NV>(product, row, col, count);
            row += 2;
        }
        if row < m {
            tile::<L, 1, NV>(product, row, col, count);
        }
    }
}

/// A tile whose sums stay in registers. With one vector of columns, `count` may be less than a vector.
///
/// # Safety
/// The tile lies inside the product.
#[inline(always)]
unsafe fn tile<L: Lanes, const MR: usize, const NV: usize>(
    product: &Product,
    row: usize,
    col: usize,
    count: usize,
) {
    let Product {
        dst,
        stationary,
        moving,
        k,
        adds,
        ..
    } = *product;
    let whole = count == NV * L::COUNT;
    let mut sums = [[L::F::splat(0.0); NV]; MR];
    // SAFETY: rows below k of both factors are accessible, and partial vectors are masked.
    unsafe {
        let mut left = stationary.at.add(row).cast_const();
        let mut right = moving.at.add(col).cast_const();
        for _ in 0..k {
            let mut vectors = [L::F::splat(0.0); NV];
            for (idx, it) in vectors.iter_mut().enumerate() {
                *it = if whole {
                    L::load(right.add(idx * L::COUNT))
                } else {
                    L::load_part(right, count, 0.0)
                };
            }
            for (idx, sums) in sums.iter_mut().enumerate() {
                let factor = L::F::splat(left.add(idx).read_unaligned());
                for (sum, vector) in sums.iter_mut().zip(vectors) {
                    *sum = factor.fma(vector, *sum);
                }
            }
            left = left.wrapping_add(stationary.pitch);
            right = right.wrapping_add(moving.pitch);
        }
        for (idx, sums) in sums.iter().enumerate() {
            for (part, &sum) in sums.iter().enumerate() {
                let to = dst.at.add((row + idx) * dst.pitch + col + part * L::COUNT);
                finish::<L>(to, sum, adds, if whole { L::COUNT } else { count });
            }
        }
    }
}

/// Writes a vector of sums, or adds it, with canonical NaNs.
///
/// # Safety
/// `to` holds `count` values, at most a vector.
#[inline(always)]
unsafe fn finish<L: Lanes>(to: *mut f32, sum: L::F, adds: bool, count: usize) {
    let nan = L::F::splat(NAN);
    // SAFETY: the caller's promise.
    unsafe {
        if count == L::COUNT {
            let sum = if adds { L::load(to) + sum } else { sum };
            L::store(to, sum.canonical(nan));
        } else {
            let sum = if adds {
                L::load_part(to, count, 0.0) + sum
            } else {
                sum
            };
            L::store_part(to, count, sum.canonical(nan));
        }
    }
}

/// dst[f, p] = data[p, f] times the identity, for `rows` rows of `n` values: -0 becomes +0, what is not finite spreads.
///
/// # Safety
/// Both matrices are accessible and do not overlap.
#[inline(always)]
pub unsafe fn transpose<L: Lanes>(dst: Rows, data: Rows, rows: usize, n: usize) {
    // SAFETY: the caller's promise, and the rows of dst are inside it.
    unsafe {
        if turn::<L, true>(dst, data, rows, n) {
            return;
        }
        for f in 0..n {
            spread(std::slice::from_raw_parts_mut(
                dst.at.add(f * dst.pitch).cast(),
                rows,
            ));
        }
    }
}

/// dst[f, p] = data[p, f] for `rows` rows of `n` words: the bits, or the values plus 0. Gives whether all values are finite,
/// if it adds.
///
/// # Safety
/// Both matrices are accessible and do not overlap.
#[inline(always)]
pub unsafe fn turn<L: Lanes, const ADDS: bool>(dst: Rows, data: Rows, rows: usize, n: usize) -> bool {
    let (whole_rows, whole_n) = (rows - rows % BLOCK, n - n % BLOCK);
    let mut is_finite = true;
    // SAFETY: all indices are inside the matrices.
    unsafe {
        let mut block = |p: usize, f: usize| {
            let (to, from) = (
                dst.at.add(f * dst.pitch + p),
                data.at.add(p * data.pitch + f).cast_const(),
            );
            is_finite &= L::transpose::<ADDS>(to, dst.pitch, from, data.pitch);
        };
        // Two blocks side by side use up the cache lines that they read.
        for f in (0..whole_n).step_by(2 * BLOCK) {
            for p in (0..whole_rows).step_by(BLOCK) {
                block(p, f);
                if f + BLOCK < whole_n {
                    block(p, f + BLOCK);
                }
            }
        }
        for f in 0..n {
            let done = if f < whole_n { whole_rows } else { 0 };
            for p in done..rows {
                let to = dst.at.add(f * dst.pitch + p);
                is_finite &= move_word::<ADDS>(to, data.at.add(p * data.pitch + f));
            }
        }
    }
    is_finite
}

/// What multiplying a row with the identity makes of values that are not finite: 0 times them is NaN, so only a lone
/// infinity stays where it lands.
fn spread(row: &mut [[u8; 4]]) {
    let is_finite = |it: &[u8; 4]| f32::from_le_bytes(*it).is_finite();
    if row.iter().fold(true, |all, it| all & is_finite(it)) {
        return;
    }
    let mut others = (0..row.len()).filter(|&p| !is_finite(&row[p]));
    let first = others.next().expect("a value is not finite");
    let lone_infinity = others.next().is_none() && !f32::from_le_bytes(row[first]).is_nan();
    for (p, it) in row.iter_mut().enumerate() {
        if p != first || !lone_infinity {
            *it = NAN.to_le_bytes();
        }
    }
}
