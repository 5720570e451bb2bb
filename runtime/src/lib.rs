//! The machine of `nk`: memory, JIT, emulator, timing model and reports for a compiled program.

pub mod tensor;
pub mod memory;
pub mod access;
mod fault;
mod kernels;
mod reference;
mod lower;
mod control;
mod jit;
mod fabric;
mod collective;
mod machine;
pub mod emulate;
pub mod trace;
pub mod time;
pub mod session;
pub mod report;
pub mod testing;
pub mod occupancy;
pub mod profile;
pub mod advice;
pub mod draw;
pub mod truth;

pub use fault::{Fault, FaultReport};
pub use kernels::{LEVELS, Level};
pub use machine::{Emulator, Execution, Machine, Stats, clif};
pub use reference::rounding::Rounding;
