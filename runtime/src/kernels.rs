//! Row and matrix kernels: the machine code that instructions spend their time in.
//!
//! Takes pointers into the emulated memory from compiled code and the op table, gives values. Never chooses what to
//! compute. Every kernel is written once over [`lanes::Lanes`] and instantiated per CPU level; all levels give the same
//! bits.

mod functions;
mod lanes;
mod sine;

use lanes::One;
use nk_compiler::isa::ActFn;

/// A function of the Scalar engine on one value.
pub fn function(function: ActFn, x: f32) -> f32 {
    functions::apply::<One>(function, x)
}

/// 1 / sqrt x, as the ALU computes it.
pub fn rsqrt(x: f32) -> f32 {
    functions::rsqrt::<One>(x)
}

/// a^b with the special cases of C's `pow`.
pub fn power(a: f32, b: f32) -> f32 {
    functions::power(a, b)
}
