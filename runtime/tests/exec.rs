//! Execution: the compiled code, the reference and published formats must agree bit for bit.

#[path = "exec/case.rs"]
mod case;
#[path = "exec/golden.rs"]
mod golden;
