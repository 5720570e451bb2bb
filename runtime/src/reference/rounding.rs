//! The random numbers of stochastic rounding (`isa.md` §2.4), whose stream on the hardware is not published.
//!
//! Takes a seed, an instruction and the index of an element in access order, gives 32 bits that depend on nothing else:
//! neither on the order of execution nor on who executes. The same instruction rounds the same element with the same bits
//! each time it runs.

use nk_compiler::dtype::Dtype;
use nk_compiler::ir::InstId;

/// How the results of computations become elements of narrower floats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties to even.
    #[default]
    Nearest,
    /// Up with a probability proportional to the distance.
    Stochastic { seed: u64 },
}

impl Rounding {
    /// That of one program of a grid: each has random numbers of its own.
    pub fn of_program(self, number: usize) -> Rounding {
        match self {
            Rounding::Nearest => self,
            Rounding::Stochastic { seed } => Rounding::Stochastic {
                seed: seed.wrapping_add(mix(number as u64)),
            },
        }
    }
}

/// The number of the first element of an accumulator's result, which must not share bits with the elements of dst.
pub const FIRST_SUM: u64 = 1 << 40;

/// What the random numbers of one instruction start from.
pub fn key(seed: u64, inst: InstId) -> u64 {
    mix(mix(seed).wrapping_add(inst.index() as u64))
}

/// The bits for one element.
#[inline(always)]
pub fn bits(key: u64, index: u64) -> u32 {
    (mix(key.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15))) >> 32) as u32
}

/// The finaliser of splitmix64: every bit of the result depends on every bit of the word.
#[inline(always)]
pub fn mix(word: u64) -> u64 {
    let mut word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// Whether stochastic rounding applies to a destination: a float that is narrower than f32.
pub fn applies(dtype: Dtype) -> bool {
    dtype.is_float() && dtype != Dtype::F32
}
