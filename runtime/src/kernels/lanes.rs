//! Vectors of f32 and f64 lanes: the operations that row kernels are written in, and their one-lane form.
//!
//! Every operation is exactly defined by IEEE 754 or on bits, so all levels give the same bits. Nothing here chooses a
//! level: [`super::Level`] does, and only picks one whose instructions the CPU has. That is what makes the operations
//! safe to call.

use super::convert::{decode, encode};
use std::ops::{Add, Div, Mul, Sub};

/// A vector of floating-point lanes.
pub trait Vector:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    type Element: Copy;
    /// One truth value per lane.
    type Mask: Copy;

    fn splat(value: Self::Element) -> Self;
    /// `self * factor + addend`, rounded once.
    fn fma(self, factor: Self, addend: Self) -> Self;
    fn sqrt(self) -> Self;
    /// False where a lane is NaN.
    fn less(self, other: Self) -> Self::Mask;
    fn is_nan(self) -> Self::Mask;
    /// Whether the mask holds for a lane.
    fn any(mask: Self::Mask) -> bool;
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    fn bit_and(self, other: Self) -> Self;
    fn bit_or(self, other: Self) -> Self;
    /// Adds the bit patterns as integers.
    fn add_bits(self, other: Self) -> Self;
    /// Moves the low bits of the pattern to where the exponent stands.
    fn bits_to_exponent(self) -> Self;
    /// Moves exponent and sign to the low bits of the pattern.
    fn exponent_to_bits(self) -> Self;
    /// Applies a function to each lane.
    fn map(self, function: impl Fn(Self::Element) -> Self::Element) -> Self;

    /// The lane-wise `self < other ? self : other`, so a NaN in `other` stays.
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        Self::select(self.less(other), self, other)
    }

    /// The lane-wise `self > other ? self : other`, so a NaN in `other` stays.
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        Self::select(other.less(self), self, other)
    }

    /// Every NaN becomes `nan`.
    #[inline(always)]
    fn canonical(self, nan: Self) -> Self {
        Self::select(self.is_nan(), nan, self)
    }

    /// A polynomial, its coefficients in ascending order.
    #[inline(always)]
    fn polynomial<const N: usize>(self, coefficients: &[Self::Element; N]) -> Self {
        let mut sum = Self::splat(coefficients[N - 1]);
        for idx in (0..N - 1).rev() {
            sum = sum.fma(self, Self::splat(coefficients[idx]));
        }
        sum
    }
}

/// Rows and columns of the blocks that are transposed in registers.
pub const BLOCK: usize = 8;

/// Moves a word, or a value plus 0: that makes +0 of -0. Gives whether the value is finite, if it adds.
///
/// # Safety
/// Both addresses are accessible.
#[inline(always)]
pub unsafe fn move_word<const ADDS: bool>(to: *mut f32, from: *const f32) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        if ADDS {
            let value = from.read_unaligned() + 0.0;
            to.write_unaligned(value);
            return value.is_finite();
        }
        // As an integer, since a float's bits may change on the way.
        to.cast::<u32>()
            .write_unaligned(from.cast::<u32>().read_unaligned());
        true
    }
}

/// Bytes of a cache line.
pub const LINE: usize = 64;

/// Asks for a cache line that will be read soon. Any address will do: a line that is not there is not read.
#[inline(always)]
pub fn prefetch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every CPU of this architecture has the instruction; it reads nothing that the program could see, and
        // does not fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// A level's vector types: the same number of f32 and of f64 lanes.
pub trait Lanes {
    const COUNT: usize;
    type F: Vector<Element = f32>;
    type D: Vector<Element = f64>;

    fn widen(values: Self::F) -> Self::D;
    /// Rounds to nearest even.
    fn narrow(values: Self::D) -> Self::F;

    /// `values` times 2^n, rounded once, for integers n from -200 to 200 and values near 1.
    ///
    /// 2^n has no f32 for the smallest and largest n, so half of it is multiplied first: only the last product rounds.
    #[inline(always)]
    fn scale(values: Self::F, n: Self::F) -> Self::F {
        // Under this exponent, the low bits of the sum are the integer.
        let magic = Self::F::splat(12_582_912.0);
        let bias = Self::F::splat(f32::from_bits(127));
        let half = n.fma(Self::F::splat(0.5), magic);
        let rest = (n - (half - magic)) + magic;
        let first = half.add_bits(bias).bits_to_exponent();
        let second = rest.add_bits(bias).bits_to_exponent();
        values * first * second
    }

    /// Reads `COUNT` values.
    ///
    /// # Safety
    /// All of them are readable; the address need not be aligned.
    unsafe fn load(from: *const f32) -> Self::F;
    /// Writes `COUNT` values.
    ///
    /// # Safety
    /// All of them are writable; the address need not be aligned.
    unsafe fn store(to: *mut f32, values: Self::F);
    /// Reads `n < COUNT` values; the other lanes are `fill`.
    ///
    /// # Safety
    /// The first `n` are readable.
    unsafe fn load_part(from: *const f32, n: usize, fill: f32) -> Self::F;
    /// Writes the first `n < COUNT` lanes.
    ///
    /// # Safety
    /// The first `n` are writable.
    unsafe fn store_part(to: *mut f32, n: usize, values: Self::F);
    /// Transposes a block, whose rows lie `from_pitch` and `to_pitch` words apart; as [`move_word`] of each.
    ///
    /// # Safety
    /// Both blocks are accessible and do not overlap.
    #[inline(always)]
    unsafe fn transpose<const ADDS: bool>(
        to: *mut f32,
        to_pitch: usize,
        from: *const f32,
        from_pitch: usize,
    ) -> bool {
        let mut is_finite = true;
        for row in 0..BLOCK {
            for column in 0..BLOCK {
                // SAFETY: the caller's promise.
                is_finite &= unsafe {
                    move_word::<ADDS>(
                        to.add(column * to_pitch + row),
                        from.add(row * from_pitch + column),
                    )
                };
            }
        }
        is_finite
    }
    /// Reads `COUNT` f16 values.
    ///
    /// # Safety
    /// All of them are readable.
    unsafe fn load_f16(from: *const [u8; 2]) -> Self::F;
    /// Writes `COUNT` f16 values, rounded to nearest even; a NaN must be canonical.
    ///
    /// # Safety
    /// All of them are writable.
    unsafe fn store_f16(to: *mut [u8; 2], values: Self::F);
}

/// Two vectors as one, for the f64 lanes of a whole register of f32.
#[derive(Clone, Copy)]
pub struct Pair<H>(pub H, pub H);

macro_rules! pair_operators {
    ($($trait:ident $name:ident;)*) => { $(
        impl<H: Vector> $trait for Pair<H> {
            type Output = Self;

            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Pair(self.0.$name(other.0), self.1.$name(other.1))
            }
        }
    )* };
}

pair_operators! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
}

impl<H: Vector> Vector for Pair<H> {
    type Element = H::Element;
    type Mask = (H::Mask, H::Mask);

    #[inline(always)]
    fn splat(value: H::Element) -> Self {
        Pair(H::splat(value), H::splat(value))
    }
    #[inline(always)]
    fn fma(self, factor: Self, addend: Self) -> Self {
        Pair(self.0.fma(factor.0, addend.0), self.1.fma(factor.1, addend.1))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Pair(self.0.sqrt(), self.1.sqrt())
    }
    #[inline(always)]
    fn less(self, other: Self) -> Self::Mask {
        (self.0.less(other.0), self.1.less(other.1))
    }
    #[inline(always)]
    fn is_nan(self) -> Self::Mask {
        (self.0.is_nan(), self.1.is_nan())
    }
    #[inline(always)]
    fn any(mask: Self::Mask) -> bool {
        H::any(mask.0) || H::any(mask.1)
    }
    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Pair(H::select(mask.0, yes.0, no.0), H::select(mask.1, yes.1, no.1))
    }
    #[inline(always)]
    fn bit_and(self, other: Self) -> Self {
        Pair(self.0.bit_and(other.0), self.1.bit_and(other.1))
    }
    #[inline(always)]
    fn bit_or(self, other: Self) -> Self {
        Pair(self.0.bit_or(other.0), self.1.bit_or(other.1))
    }
    #[inline(always)]
    fn add_bits(self, other: Self) -> Self {
        Pair(self.0.add_bits(other.0), self.1.add_bits(other.1))
    }
    #[inline(always)]
    fn bits_to_exponent(self) -> Self {
        Pair(self.0.bits_to_exponent(), self.1.bits_to_exponent())
    }
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        Pair(self.0.lesser(other.0), self.1.lesser(other.1))
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        Pair(self.0.greater(other.0), self.1.greater(other.1))
    }
    #[inline(always)]
    fn exponent_to_bits(self) -> Self {
        Pair(self.0.exponent_to_bits(), self.1.exponent_to_bits())
    }
    #[inline(always)]
    fn map(self, function: impl Fn(H::Element) -> H::Element) -> Self {
        Pair(self.0.map(&function), self.1.map(&function))
    }
}

/// One lane, in plain Rust: the portable level.
///
/// A fused multiply-add is exactly defined, so it is the same whether the CPU or a library computes it.
pub struct One;

macro_rules! scalar {
    ($float:ident, $bits:ident, $exponent:literal) => {
        impl Vector for $float {
            type Element = $float;
            type Mask = bool;

            #[inline(always)]
            fn splat(value: $float) -> $float {
                value
            }
            #[inline(always)]
            fn fma(self, factor: $float, addend: $float) -> $float {
                self.mul_add(factor, addend)
            }
            #[inline(always)]
            fn sqrt(self) -> $float {
                $float::sqrt(self)
            }
            #[inline(always)]
            fn less(self, other: $float) -> bool {
                self < other
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
            #[inline(always)]
            fn any(mask: bool) -> bool {
                mask
            }
            #[inline(always)]
            fn select(mask: bool, yes: $float, no: $float) -> $float {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn bit_and(self, other: $float) -> $float {
                $float::from_bits(self.to_bits() & other.to_bits())
            }
            #[inline(always)]
            fn bit_or(self, other: $float) -> $float {
                $float::from_bits(self.to_bits() | other.to_bits())
            }
            #[inline(always)]
            fn add_bits(self, other: $float) -> $float {
                $float::from_bits(self.to_bits().wrapping_add(other.to_bits()))
            }
            #[inline(always)]
            fn bits_to_exponent(self) -> $float {
                $float::from_bits(self.to_bits() << $exponent)
            }
            #[inline(always)]
            fn exponent_to_bits(self) -> $float {
                $float::from_bits(self.to_bits() >> $exponent)
            }
            #[inline(always)]
            fn map(self, function: impl Fn($float) -> $float) -> $float {
                function(self)
            }
            // On bits, as a compiler may take any NaN for any other.
            #[inline(always)]
            fn canonical(self, nan: $float) -> $float {
                let is_nan = self.to_bits() << 1 > $float::INFINITY.to_bits() << 1;
                $float::from_bits(if is_nan {
                    nan.to_bits()
                } else {
                    self.to_bits()
                })
            }
        }
    };
}

scalar!(f32, u32, 23);
scalar!(f64, u64, 52);

impl Lanes for One {
    const COUNT: usize = 1;
    type F = f32;
    type D = f64;

    #[inline(always)]
    fn widen(values: f32) -> f64 {
        f64::from(values)
    }
    #[inline(always)]
    fn narrow(values: f64) -> f32 {
        values as f32
    }
    #[inline(always)]
    unsafe fn load(from: *const f32) -> f32 {
        // SAFETY: the caller's promise.
        unsafe { from.read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, values: f32) {
        // SAFETY: the caller's promise.
        unsafe { to.write_unaligned(values) }
    }
    #[inline(always)]
    unsafe fn load_part(_from: *const f32, _n: usize, fill: f32) -> f32 {
        fill
    }
    #[inline(always)]
    unsafe fn store_part(_to: *mut f32, _n: usize, _values: f32) {}
    #[inline(always)]
    unsafe fn load_f16(from: *const [u8; 2]) -> f32 {
        // SAFETY: the caller's promise.
        decode::<5, 10>(u16::from_le_bytes(unsafe { *from }).into())
    }
    #[inline(always)]
    unsafe fn store_f16(to: *mut [u8; 2], values: f32) {
        // SAFETY: the caller's promise.
        unsafe { *to = (encode::<5, 10>(values) as u16).to_le_bytes() };
    }
}
