//! The machine of `nk`: memory, JIT, emulator, timing model and reports for a compiled program.
//!
//! ```text
//! Program + Placement ─jit─▶ Code ─emulate(order)─▶ values, faults
//! Schedule ─time─▶ Trace ─report─▶ summary, advice, Perfetto, SVG
//! ```
//!
//! [`session`] is the way in: it opens a kernel file, compiles it, runs it on arrays ([`tensor`]) and checks the results.
//! Below it, [`Machine`] holds the memories of a core and the code of a program, [`mod@emulate`] runs a schedule in one of
//! its orders, and [`mod@time`] models when each instruction would start and end on the chip. Values are emulated, times on
//! the chip are modelled, and our own running time is wall time: the three are never mixed.
//!
//! The example `profile` runs a kernel on arrays and reads its profile: `cargo run -p nk-runtime --example profile`.

pub mod output;
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
mod watch;
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
pub mod difference;
pub mod summary;
pub mod tune;
pub mod repl;

pub use fault::{Fault, FaultReport};
pub use kernels::{LEVELS, Level};
pub use machine::{Emulator, Execution, Machine, Stats, clif};
pub use reference::rounding::Rounding;
pub use watch::{Lookout, Trap, WatchReport};
