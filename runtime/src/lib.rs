//! The machine of `nk`: memory, JIT, emulator, timing model and reports for a compiled program.

pub mod trace;
pub mod time;
