//! The compiler of `nk`: NKI kernel source in, scheduled NeuronCore-v2 instruction streams out.
//!
//! No I/O, no unsafe code, no Cranelift: files are read and code is run by `nk-runtime`.
#![forbid(unsafe_code)]

pub mod source;
pub mod diagnostic;
pub mod lex;
pub mod parse;
pub mod ast;
pub mod dtype;
pub mod host;
pub mod isa;
pub mod target;
pub mod ir;
pub mod text;
pub mod directive;
pub mod specialize;
pub mod verify;
pub mod cost;
pub mod footprint;
pub mod place;
pub mod check;
pub mod schedule;
