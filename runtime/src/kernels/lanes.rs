//! Vectors of f32 and f64 lanes: the operations that row kernels are written in, and their one-lane form.
//!
//! Every operation is exactly defined by IEEE 754 or on bits, so all levels give the same bits. Nothing here chooses a
//! level: [`super::Level`] does, and only picks one whose instructions the CPU has. That is what makes the operations
//! safe to call.

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

    /// A polynomial, its coefficients in ascending order.
    #[inline(always)]
    fn polynomial(self, coefficients: &[Self::Element]) -> Self {
        let mut terms = coefficients.iter().rev();
        let mut sum = Self::splat(*terms.next().expect("a polynomial has a coefficient"));
        for &it in terms {
            sum = sum.fma(self, Self::splat(it));
        }
        sum
    }
}

/// A level's vector types: the same number of f32 and of f64 lanes.
pub trait Lanes {
    type F: Vector<Element = f32>;
    type D: Vector<Element = f64>;

    fn widen(values: Self::F) -> Self::D;
    /// Rounds to nearest even.
    fn narrow(values: Self::D) -> Self::F;
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
        }
    };
}

scalar!(f32, u32, 23);
scalar!(f64, u64, 52);

impl Lanes for One {
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
}
