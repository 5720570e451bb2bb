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
//! A kernel run on arrays, and its profile:
//!
//! ```
//! use nk_compiler::source::Sources;
//! use nk_runtime::profile::Profile;
//! use nk_runtime::session::{Failure, RunOptions, Session, Settings};
//!
//! # fn main() -> Result<(), Failure> {
//! let mut sources = Sources::new();
//! let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/vector_add.nk");
//! let session = Session::open(&mut sources, path, Settings::default())?;
//! // Arguments as on the command line: a generator, or `@x.npy` for a file.
//! let args = [("a", "f32[256,1024]:arange"), ("b", "f32[256,1024]:ones")];
//! let args = args.map(|(name, value)| (name.to_string(), value.to_string()));
//! for job in session.jobs(Some("vector_add"), &args)? {
//!     let outcome = session.run(&mut sources, &job, &RunOptions::default())?;
//!     assert_eq!(outcome.results[0].tensor.to_f64()[..4], [1.0, 2.0, 3.0, 4.0]);
//!
//!     let compiled = session.compile(&mut sources, &job, &[])?;
//!     let profile = Profile::new(&compiled, session.settings().target, &sources);
//!     println!("modelled: {} ns", profile.totals.total_ps / 1000);
//!     for advice in &profile.advice {
//!         println!("{}", advice.evidence);
//!     }
//! }
//! # Ok(())
//! # }
//! ```

mod append;
pub mod heap;
pub mod output;
pub mod tensor;
mod memory;
mod access;
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
pub mod stage;
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
