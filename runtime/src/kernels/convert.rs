//! Rows of elements to and from f32, and to and from raw words.
//!
//! Takes rows of any dtype, contiguous and of any alignment, gives rows of f32 or of zero-extended bits, and back. The two
//! rows of a call never overlap. The element functions are branch-free, so that every level's compiler makes vectors of
//! them.

use super::lanes::{Lanes, Vector};
use crate::reference::rounding;
use nk_compiler::dtype::{DTYPES, Dtype};
use std::slice;

/// The NaN of every conversion to f32.
pub const NAN: f32 = f32::from_bits(0x7fc0_0000);

/// Adding it to a small value leaves the value, rounded to an integer, in the low bits.
const MAGIC: f32 = 12_582_912.0;

/// A float with `E` bits of exponent (fewer than eight) and `M` of mantissa, as f32.
#[inline(always)]
pub fn decode<const E: u32, const M: u32>(raw: u32) -> f32 {
    let bias = (1u32 << (E - 1)) - 1;
    let infinity = ((1 << E) - 1) << M;
    let magnitude = raw & ((1 << (E + M)) - 1);
    let sign = (raw >> (E + M)) << 31;
    let aligned = magnitude << (23 - M);
    // A subnormal is the distance from the smallest normal number, both raised to where f32 is exact.
    let smallest = (128 - bias) << 23;
    let subnormal = (f32::from_bits(aligned + smallest) - f32::from_bits(smallest)).to_bits();
    let normal = aligned + ((127 - bias) << 23);
    let finite = if magnitude >> M == 0 { subnormal } else { normal };
    let value = if magnitude >= infinity {
        f32::INFINITY.to_bits()
    } else {
        finite
    };
    f32::from_bits(if magnitude > infinity {
        NAN.to_bits()
    } else {
        sign | value
    })
}

/// The other direction, to nearest even; what is too large becomes infinity.
#[inline(always)]
pub fn encode<const E: u32, const M: u32>(value: f32) -> u32 {
    let bias = (1u32 << (E - 1)) - 1;
    let infinity = ((1 << E) - 1) << M;
    let shift = 23 - M;
    let sign = (value.to_bits() >> 31) << (E + M);
    let magnitude = value.to_bits() & 0x7fff_ffff;
    let normal = round_bits(magnitude, shift).wrapping_sub((127 - bias) << M);
    // Adding a power of two makes the FPU round a subnormal at the right bit.
    let unit = (128 - bias + shift) << 23;
    let subnormal = (f32::from_bits(magnitude) + f32::from_bits(unit))
        .to_bits()
        .wrapping_sub(unit);
    let code = if magnitude < (128 - bias) << 23 {
        subnormal
    } else {
        normal
    };
    let code = if code > infinity || magnitude >= 0x7f80_0000 {
        infinity
    } else {
        code
    };
    if magnitude > 0x7f80_0000 {
        infinity | 1 << (M - 1)
    } else {
        sign | code
    }
}

/// Drops the low bits of a pattern, to nearest even.
#[inline(always)]
fn round_bits(bits: u32, shift: u32) -> u32 {
    bits.wrapping_add((1 << (shift - 1)) - 1 + (bits >> shift & 1)) >> shift
}

/// A float with eight bits of exponent, whose patterns are the upper bits of f32's.
#[inline(always)]
fn shorten(value: f32, shift: u32) -> u32 {
    let bits = value.to_bits();
    if bits & 0x7fff_ffff > 0x7f80_0000 {
        NAN.to_bits() >> shift
    } else {
        round_bits(bits, shift)
    }
}

/// An integer of at most 16 bits: rounded to nearest even, saturated, NaN to 0.
#[inline(always)]
fn integer(value: f32, low: f32, high: f32) -> u32 {
    let value = if value > low { value } else { low };
    let value = if value < high { value } else { high };
    (value + MAGIC).to_bits().wrapping_sub(MAGIC.to_bits())
}

#[inline(always)]
fn to_f32<const D: u8>(raw: u32) -> f32 {
    match DTYPES[D as usize].0 {
        Dtype::F32 => f32::from_bits(raw),
        Dtype::Tf32 => f32::from_bits(shorten(f32::from_bits(raw), 13) << 13),
        Dtype::Bf16 => f32::from_bits(raw << 16).canonical(NAN),
        Dtype::F16 => decode::<5, 10>(raw),
        Dtype::F8e4m3 => decode::<4, 3>(raw),
        Dtype::F8e5m2 => decode::<5, 2>(raw),
        Dtype::F8e3m4 => decode::<3, 4>(raw),
        Dtype::I32 => raw as i32 as f32,
        Dtype::U32 => raw as f32,
        Dtype::I16 => f32::from(raw as i16),
        Dtype::U16 => f32::from(raw as u16),
        Dtype::I8 => f32::from(raw as i8),
        Dtype::U8 | Dtype::Bool => f32::from(raw as u8),
    }
}

#[inline(always)]
fn from_f32<const D: u8>(value: f32) -> u32 {
    let number = if value.is_nan() { 0.0 } else { value };
    match DTYPES[D as usize].0 {
        Dtype::F32 => value.canonical(NAN).to_bits(),
        Dtype::Tf32 => shorten(value, 13) << 13,
        Dtype::Bf16 => shorten(value, 16),
        Dtype::F16 => encode::<5, 10>(value),
        Dtype::F8e4m3 => encode::<4, 3>(value),
        Dtype::F8e5m2 => encode::<5, 2>(value),
        Dtype::F8e3m4 => encode::<3, 4>(value),
        Dtype::I32 => value.round_ties_even() as i32 as u32,
        Dtype::U32 => value.round_ties_even() as u32,
        Dtype::I16 => integer(number, -32_768.0, 32_767.0),
        Dtype::U16 => integer(number, 0.0, 65_535.0),
        Dtype::I8 => integer(number, -128.0, 127.0),
        Dtype::U8 => integer(number, 0.0, 255.0),
        Dtype::Bool => u32::from(value != 0.0),
    }
}

/// A float of a narrower dtype, rounded up with a probability proportional to the distance; `random` is any of 2^32 numbers.
#[inline(always)]
fn encode_random<const E: u32, const M: u32>(value: f32, random: u32) -> u32 {
    let bias = (1i32 << (E - 1)) - 1;
    let infinity = ((1 << E) - 1) << M;
    let sign = (value.to_bits() >> 31) << (E + M);
    let magnitude = value.to_bits() & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return infinity | 1 << (M - 1);
    }
    if magnitude == 0x7f80_0000 {
        return sign | infinity;
    }
    let biased = magnitude >> 23;
    let mantissa = u64::from(magnitude & 0x7f_ffff | u32::from(biased > 0) << 23);
    let exponent = biased.max(1) as i32 - 127;
    // Subnormals share the exponent of the smallest normal number, so more of their bits are dropped. From 63 bits on
    // nothing ever rounds up.
    let unit = exponent.max(1 - bias);
    let dropped = (23 - M as i32 + unit - exponent).min(63) as u32;
    let random = u64::from(random);
    let random = if dropped <= 32 {
        random >> (32 - dropped)
    } else {
        random << (dropped - 32)
    };
    let code = (((unit + bias - 1) as u32) << M) + ((mantissa + random) >> dropped) as u32;
    sign | code.min(infinity)
}

/// A row of f32 to a float of dtype `D`, rounded at random; the row's elements are numbered from `index` on. Other dtypes
/// are rounded as ever.
///
/// # Safety
/// Both rows hold `n` elements and do not overlap.
#[inline(always)]
pub unsafe fn store_random_row<L: Lanes, const D: u8>(
    to: *mut u8,
    from: *const f32,
    n: usize,
    key: u64,
    index: u64,
) {
    let dtype = const { DTYPES[D as usize].0 };
    if !rounding::applies(dtype) {
        // SAFETY: the caller's promise.
        return unsafe { store_row::<L, D>(to, from, n) };
    }
    let size = dtype.size() as usize;
    for idx in 0..n {
        // SAFETY: the index is below `n`.
        let value = unsafe { from.add(idx).read_unaligned() };
        let random = rounding::bits(key, index.wrapping_add(idx as u64));
        let word = match dtype {
            Dtype::Tf32 => encode_random::<8, 10>(value, random) << 13,
            Dtype::Bf16 => encode_random::<8, 7>(value, random),
            Dtype::F16 => encode_random::<5, 10>(value, random),
            Dtype::F8e4m3 => encode_random::<4, 3>(value, random),
            Dtype::F8e5m2 => encode_random::<5, 2>(value, random),
            Dtype::F8e3m4 => encode_random::<3, 4>(value, random),
            _ => from_f32::<D>(value),
        };
        // SAFETY: as above, and an element has `size` bytes.
        unsafe { std::ptr::copy_nonoverlapping(word.to_le_bytes().as_ptr(), to.add(idx * size), size) };
    }
}

/// A little-endian number of up to four bytes.
#[inline(always)]
fn word<const SIZE: usize>(bytes: &[u8; SIZE]) -> u32 {
    let mut word = [0; 4];
    word[..SIZE].copy_from_slice(bytes);
    u32::from_le_bytes(word)
}

/// A row of `SIZE`-byte elements of dtype `D` to f32.
///
/// # Safety
/// Both rows hold `n` elements and do not overlap; `to` is aligned.
#[inline(always)]
unsafe fn read<const D: u8, const SIZE: usize>(to: *mut f32, from: *const u8, n: usize) {
    // SAFETY: the caller's promise; byte arrays have no alignment.
    let (to, from) = unsafe {
        (
            slice::from_raw_parts_mut(to, n),
            slice::from_raw_parts(from.cast::<[u8; SIZE]>(), n),
        )
    };
    for (to, from) in to.iter_mut().zip(from) {
        *to = to_f32::<D>(word(from));
    }
}

/// A row of f32 to `SIZE`-byte elements of dtype `D`.
///
/// # Safety
/// Both rows hold `n` elements and do not overlap.
#[inline(always)]
unsafe fn write<const D: u8, const SIZE: usize>(to: *mut u8, from: *const f32, n: usize) {
    // SAFETY: the caller's promise; byte arrays have no alignment.
    let (to, from) = unsafe {
        (
            slice::from_raw_parts_mut(to.cast::<[u8; SIZE]>(), n),
            slice::from_raw_parts(from.cast::<[u8; 4]>(), n),
        )
    };
    for (to, from) in to.iter_mut().zip(from) {
        let word = from_f32::<D>(f32::from_le_bytes(*from));
        to.copy_from_slice(&word.to_le_bytes()[..SIZE]);
    }
}

/// A row of dtype `D` to f32.
///
/// # Safety
/// Both rows hold `n` elements and do not overlap; `to` is aligned.
#[inline(always)]
pub unsafe fn load_row<L: Lanes, const D: u8>(to: *mut f32, from: *const u8, n: usize) {
    let dtype = const { DTYPES[D as usize].0 };
    // SAFETY: the caller's promise.
    unsafe {
        match dtype.size() {
            1 => read::<D, 1>(to, from, n),
            2 if dtype == Dtype::F16 => load_f16_row::<L, D>(to, from, n),
            2 => read::<D, 2>(to, from, n),
            _ => read::<D, 4>(to, from, n),
        }
    }
}

/// A row of f32 to dtype `D`.
///
/// # Safety
/// Both rows hold `n` elements and do not overlap.
#[inline(always)]
pub unsafe fn store_row<L: Lanes, const D: u8>(to: *mut u8, from: *const f32, n: usize) {
    let dtype = const { DTYPES[D as usize].0 };
    // SAFETY: the caller's promise.
    unsafe {
        match dtype.size() {
            1 => write::<D, 1>(to, from, n),
            2 if dtype == Dtype::F16 => store_f16_row::<L, D>(to, from, n),
            2 => write::<D, 2>(to, from, n),
            _ => write::<D, 4>(to, from, n),
        }
    }
}

/// A row of f16, for which CPUs have instructions.
///
/// # Safety
/// As for [`load_row`].
#[inline(always)]
unsafe fn load_f16_row<L: Lanes, const D: u8>(to: *mut f32, from: *const u8, n: usize) {
    let halves = from.cast::<[u8; 2]>();
    let nan = L::F::splat(NAN);
    let mut idx = 0;
    // SAFETY: vectors end at `n` at most.
    unsafe {
        while idx + L::COUNT <= n {
            L::store(to.add(idx), L::load_f16(halves.add(idx)).canonical(nan));
            idx += L::COUNT;
        }
        read::<D, 2>(to.add(idx), halves.add(idx).cast(), n - idx);
    }
}

/// A row to f16.
///
/// # Safety
/// As for [`store_row`].
#[inline(always)]
unsafe fn store_f16_row<L: Lanes, const D: u8>(to: *mut u8, from: *const f32, n: usize) {
    let halves = to.cast::<[u8; 2]>();
    let nan = L::F::splat(NAN);
    let mut idx = 0;
    // SAFETY: vectors end at `n` at most.
    unsafe {
        while idx + L::COUNT <= n {
            L::store_f16(halves.add(idx), L::load(from.add(idx)).canonical(nan));
            idx += L::COUNT;
        }
        write::<D, 2>(halves.add(idx).cast(), from.add(idx), n - idx);
    }
}

/// A row of `SIZE`-byte elements to words, zero-extended.
///
/// # Safety
/// As for [`load_row`].
#[inline(always)]
pub unsafe fn widen_row<const SIZE: usize>(to: *mut u32, from: *const u8, n: usize) {
    // SAFETY: the caller's promise; byte arrays have no alignment.
    let (to, from) = unsafe {
        (
            slice::from_raw_parts_mut(to, n),
            slice::from_raw_parts(from.cast::<[u8; SIZE]>(), n),
        )
    };
    for (to, from) in to.iter_mut().zip(from) {
        *to = word(from);
    }
}

/// The low bytes of a row of words.
///
/// # Safety
/// As for [`store_row`].
#[inline(always)]
pub unsafe fn narrow_row<const SIZE: usize>(to: *mut u8, from: *const u32, n: usize) {
    // SAFETY: the caller's promise; byte arrays have no alignment.
    let (to, from) = unsafe {
        (
            slice::from_raw_parts_mut(to.cast::<[u8; SIZE]>(), n),
            slice::from_raw_parts(from.cast::<[u8; 4]>(), n),
        )
    };
    for (to, from) in to.iter_mut().zip(from) {
        to.copy_from_slice(&from[..SIZE]);
    }
}
