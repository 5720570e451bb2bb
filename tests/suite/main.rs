//! Every kernel file of the repository, run as a user would: examples, test kernels, broken kernels, and the command.
//!
//! A new case is a new file; no Rust is added. `# nk:` directives say what to run and what to expect, `# error: CODE` on
//! a line says what must be reported there.

mod case;
mod command;
mod ir;
mod messages;
#[path = "../setup.rs"]
mod setup;
mod values;
#[path = "../workbench.rs"]
mod workbench;
