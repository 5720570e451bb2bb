//! The machine of `nk`: memory, JIT, emulator, timing model and reports for a compiled program.

pub mod tensor;
pub mod memory;
pub mod access;
mod kernels;
mod reference;
mod machine;
pub mod emulate;
pub mod trace;
pub mod time;
pub mod session;
pub mod report;

pub use machine::{Emulator, Machine};
