//! Execution: the compiled code, the reference and published formats must agree bit for bit.

#[path = "exec/case.rs"]
mod case;
#[path = "exec/dynamic.rs"]
mod dynamic;
#[path = "exec/golden.rs"]
mod golden;
#[path = "exec/generate.rs"]
mod generate;
#[path = "exec/instructions.rs"]
mod instructions;
#[path = "exec/functions.rs"]
mod functions;
#[path = "exec/orders.rs"]
mod orders;
#[path = "exec/recorded.rs"]
mod recorded;
#[path = "exec/rounding.rs"]
mod rounding;
#[path = "exec/random.rs"]
mod random;
#[path = "exec/streams.rs"]
mod streams;
