//! Rows of f32: functions, the ALU operators that compiled code does not inline, and reductions.
//!
//! Takes contiguous rows of any alignment, gives rows whose NaNs are canonical, or sums. A result may overwrite its input
//! row exactly, otherwise rows of a call do not overlap.

use super::convert::NAN;
use super::functions::{apply, modulo, power, rsqrt};
use super::lanes::{Lanes, Vector};
use nk_compiler::isa::{ACT_FNS, ALU_OPS, AluOp};

/// Applies an expression of `$x` to each vector of a row of `$n` values. A macro and no function, since a closure is no part
/// of the function that is compiled for a level: every intrinsic in it would be a call.
macro_rules! map_row {
    ($level:ident, $to:ident, $from:ident, $n:ident, $x:ident => $result:expr) => {{
        let nan = $level::F::splat(NAN);
        let whole = $n - $n % $level::COUNT;
        // SAFETY: all ranges end at `n`, and the rows are the same or do not overlap.
        unsafe {
            for idx in (0..whole).step_by($level::COUNT) {
                let $x = $level::load($from.add(idx));
                $level::store($to.add(idx), ($result).canonical(nan));
            }
            if whole < $n {
                let $x = $level::load_part($from.add(whole), $n - whole, 0.0);
                $level::store_part($to.add(whole), $n - whole, ($result).canonical(nan));
            }
        }
    }};
}

/// The function `ACT_FNS[F]` of each value times `scale` plus `bias`, one fused multiply-add.
///
/// # Safety
/// Both rows hold `n` values, and are the same or do not overlap.
#[inline(always)]
pub unsafe fn function_row<L: Lanes, const F: u8>(
    to: *mut f32,
    from: *const f32,
    n: usize,
    scale: f32,
    bias: f32,
) {
    let (scale, bias) = (L::F::splat(scale), L::F::splat(bias));
    map_row!(L, to, from, n, x => apply::<L>(ACT_FNS[F as usize].op, x.fma(scale, bias)));
}

/// Adds to a counter how many of the values, times `scale` plus `bias`, lie outside of the range of `ACT_FNS[F]`.
///
/// # Safety
/// The row holds `n` values, and the counter is accessible.
#[inline(always)]
pub unsafe fn outside_row<const F: u8>(counter: *mut u64, from: *const f32, n: usize, scale: f32, bias: f32) {
    let valid = &ACT_FNS[F as usize].valid;
    let mut n_outside = 0u32;
    for idx in 0..n {
        // SAFETY: the index is below `n`.
        let value = unsafe { from.add(idx).read_unaligned() }.mul_add(scale, bias);
        // Without short circuits, so that the loop becomes vector code.
        let is_outside = (value < valid.low) | (value > valid.high) | (value.abs() < valid.smallest);
        n_outside += u32::from(is_outside);
    }
    // SAFETY: the caller's promise.
    unsafe { counter.write_unaligned(counter.read_unaligned() + u64::from(n_outside)) };
}

/// 1 / sqrt x of each value.
///
/// # Safety
/// Both rows hold `n` values, and are the same or do not overlap.
#[inline(always)]
pub unsafe fn rsqrt_row<L: Lanes>(to: *mut f32, from: *const f32, n: usize) {
    map_row!(L, to, from, n, x => rsqrt::<L>(x));
}

/// a^b of each pair.
///
/// # Safety
/// The rows hold `n` values; `to` may be one of the others.
#[inline(always)]
pub unsafe fn power_row(to: *mut f32, a: *const f32, b: *const f32, n: usize) {
    for idx in 0..n {
        // SAFETY: the index is below `n`.
        unsafe {
            let value = power(a.add(idx).read_unaligned(), b.add(idx).read_unaligned());
            to.add(idx).write_unaligned(value.canonical(NAN));
        }
    }
}

/// The remainder of each pair of values, with the sign of the second.
///
/// # Safety
/// The rows hold `n` values; `to` may be one of the others.
#[inline(always)]
pub unsafe fn modulo_row(to: *mut f32, a: *const f32, b: *const f32, n: usize) {
    for idx in 0..n {
        // SAFETY: the index is below `n`.
        unsafe {
            let (x, y) = (a.add(idx).read_unaligned(), b.add(idx).read_unaligned());
            to.add(idx).write_unaligned((modulo(x, y)).canonical(NAN));
        }
    }
}

/// The remainder of each pair of values, with the sign of the first.
///
/// # Safety
/// The rows hold `n` values; `to` may be one of the others.
#[inline(always)]
pub unsafe fn fmod_row(to: *mut f32, a: *const f32, b: *const f32, n: usize) {
    for idx in 0..n {
        // SAFETY: the index is below `n`.
        unsafe {
            let (x, y) = (a.add(idx).read_unaligned(), b.add(idx).read_unaligned());
            to.add(idx).write_unaligned((x % y).canonical(NAN));
        }
    }
}

/// An operator on each pair of values. NaNs are not canonical, which only scratch rows may hold.
///
/// # Safety
/// The rows hold `n` values; `to` may be one of the others.
#[inline(always)]
pub unsafe fn arithmetic_row<L: Lanes>(op: AluOp, to: *mut f32, a: *const f32, b: *const f32, n: usize) {
    let whole = n - n % L::COUNT;
    // SAFETY: all ranges end at `n`.
    unsafe {
        for idx in (0..whole).step_by(L::COUNT) {
            let value = arithmetic(op, L::load(a.add(idx)), L::load(b.add(idx)));
            L::store(to.add(idx), value);
        }
        if whole < n {
            let part = n - whole;
            let (a, b) = (
                L::load_part(a.add(whole), part, 0.0),
                L::load_part(b.add(whole), part, 0.0),
            );
            L::store_part(to.add(whole), part, arithmetic(op, a, b));
        }
    }
}

#[inline(always)]
fn arithmetic<V: Vector<Element = f32>>(op: AluOp, a: V, b: V) -> V {
    match op {
        AluOp::Add => a + b,
        AluOp::Subtract => a - b,
        AluOp::Multiply => a * b,
        _ => panic!("the other operators are inlined"),
    }
}

/// The operators whose reductions have the 16-lane shape.
#[inline(always)]
fn combine<V: Vector<Element = f32>>(op: AluOp, a: V, b: V) -> V {
    match op {
        AluOp::Add => a + b,
        AluOp::Multiply => a * b,
        AluOp::Maximum => V::select(b.less(a), a, V::select(a.less(b), b, tie(a, b, a.bit_and(b)))),
        AluOp::Minimum => V::select(a.less(b), a, V::select(b.less(a), b, tie(a, b, a.bit_or(b)))),
        _ => panic!("only associative operators have the 16-lane shape"),
    }
}

/// Of two equal values `equal`, which picks the right zero; NaN when one is NaN.
#[inline(always)]
fn tie<V: Vector<Element = f32>>(a: V, b: V, equal: V) -> V {
    let sum = a + b;
    V::select(sum.is_nan(), sum, equal)
}

#[inline(always)]
fn identity(op: AluOp) -> f32 {
    match op {
        AluOp::Add => -0.0,
        AluOp::Multiply => 1.0,
        AluOp::Maximum => f32::NEG_INFINITY,
        AluOp::Minimum => f32::INFINITY,
        _ => panic!("only associative operators have the 16-lane shape"),
    }
}

/// Folds a row onto 16 lanes, the first value onto lane 0.
///
/// # Safety
/// The row holds `n` values.
#[inline(always)]
unsafe fn fold<L: Lanes>(op: AluOp, lanes: &mut [f32; 16], from: *const f32, n: usize) {
    let whole = n - n % 16;
    let parts = 16 / L::COUNT;
    let mut sums = [L::F::splat(0.0); 16];
    // SAFETY: all ranges end at `n` or at the sixteenth lane.
    unsafe {
        for (part, sum) in sums[..parts].iter_mut().enumerate() {
            *sum = L::load(lanes.as_ptr().add(part * L::COUNT));
        }
        for idx in (0..whole).step_by(16) {
            for (part, sum) in sums[..parts].iter_mut().enumerate() {
                *sum = combine(op, *sum, L::load(from.add(idx + part * L::COUNT)));
            }
        }
        for (part, sum) in sums[..parts].iter_mut().enumerate() {
            let at = whole + part * L::COUNT;
            if at + L::COUNT <= n {
                *sum = combine(op, *sum, L::load(from.add(at)));
            } else if at < n {
                *sum = combine(op, *sum, L::load_part(from.add(at), n - at, identity(op)));
            }
            L::store(lanes.as_mut_ptr().add(part * L::COUNT), *sum);
        }
    }
}

/// Folds the lanes onto each other; lanes from `used` on hold the identity.
#[inline(always)]
fn finish(op: AluOp, lanes: &mut [f32; 16], used: usize) -> f32 {
    for distance in [8, 4, 2, 1] {
        if distance < used {
            for idx in 0..distance {
                lanes[idx] = combine(op, lanes[idx], lanes[idx + distance]);
            }
        }
    }
    lanes[0]
}

/// Reduces each of `rows` consecutive rows of `n` values by `ALU_OPS[OP]`, in the shape of `reference::fold`.
///
/// # Safety
/// `from` holds `rows * n` values and `to` holds `rows`; they do not overlap.
#[inline(always)]
pub unsafe fn reduce_rows<L: Lanes, const OP: u8>(to: *mut f32, from: *const f32, rows: usize, n: usize) {
    let op = const { ALU_OPS[OP as usize].op };
    for row in 0..rows {
        // SAFETY: the row index is below `rows`.
        unsafe {
            let from = from.add(row * n);
            let value = match op {
                AluOp::Add | AluOp::Multiply | AluOp::Maximum | AluOp::Minimum => {
                    let mut lanes = [identity(op); 16];
                    fold::<L>(op, &mut lanes, from, n);
                    finish(op, &mut lanes, n)
                }
                _ => fold_left(op, from, n),
            };
            to.add(row).write_unaligned(value.canonical(NAN));
        }
    }
}

/// Folds a row from the left.
///
/// # Safety
/// The row holds `n` values.
#[inline(always)]
unsafe fn fold_left(op: AluOp, from: *const f32, n: usize) -> f32 {
    let truth = |it: bool| f32::from(u8::from(it));
    // SAFETY: the index is below `n`.
    let value = |idx: usize| unsafe { from.add(idx).read_unaligned() };
    let step = |acc: f32, it: f32| match op {
        AluOp::Subtract => acc - it,
        AluOp::LogicalAnd => truth(acc != 0.0 && it != 0.0),
        AluOp::LogicalOr => truth(acc != 0.0 || it != 0.0),
        AluOp::LogicalXor => truth((acc != 0.0) != (it != 0.0)),
        _ => panic!("the operator is no left fold"),
    };
    (1..n).fold(value(0), |acc, idx| step(acc, value(idx)))
}

/// Reduces rows of words by a bit operator.
///
/// # Safety
/// As for [`reduce_rows`].
#[inline(always)]
pub unsafe fn reduce_bits<const OP: u8>(to: *mut u32, from: *const u32, rows: usize, n: usize) {
    let op = const { ALU_OPS[OP as usize].op };
    for row in 0..rows {
        // SAFETY: the index is below `rows * n`.
        let value = |idx: usize| unsafe { from.add(row * n + idx).read_unaligned() };
        let step = |acc: u32, it: u32| match op {
            AluOp::BitwiseAnd => acc & it,
            AluOp::BitwiseOr => acc | it,
            AluOp::BitwiseXor => acc ^ it,
            _ => panic!("the operator reduces no bits"),
        };
        let result = (1..n).fold(value(0), |acc, idx| step(acc, value(idx)));
        // SAFETY: the row index is below `rows`.
        unsafe { to.add(row).write_unaligned(result) };
    }
}

/// Adds a piece of a row onto 16 lanes; `phase` is the number of values before it in the row.
///
/// # Safety
/// `lanes` holds 16 values and the piece `n`; they do not overlap.
#[inline(always)]
pub unsafe fn sum_row<L: Lanes>(lanes: *mut f32, from: *const f32, n: usize, phase: usize) {
    let first = ((16 - phase % 16) % 16).min(n);
    // SAFETY: the caller's promise, and all indices are below `n` and 16.
    unsafe {
        let lanes = &mut *lanes.cast::<[f32; 16]>();
        for idx in 0..first {
            lanes[(phase + idx) % 16] += from.add(idx).read_unaligned();
        }
        fold::<L>(AluOp::Add, lanes, from.add(first), n - first);
    }
}

/// Makes 16 lanes ready for [`sum_row`].
///
/// # Safety
/// `lanes` holds 16 values.
#[inline(always)]
pub unsafe fn clear_lanes(lanes: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe { *lanes.cast::<[f32; 16]>() = [identity(AluOp::Add); 16] };
}

/// Adds the sum of 16 lanes to a register, and gives the register.
///
/// # Safety
/// `lanes` holds 16 values, `register` one.
#[inline(always)]
pub unsafe fn add_lanes(register: *mut f32, lanes: *const f32) -> f32 {
    // SAFETY: the caller's promise.
    unsafe {
        let mut lanes = *lanes.cast::<[f32; 16]>();
        *register = (*register + finish(AluOp::Add, &mut lanes, 16)).canonical(NAN);
        *register
    }
}
