//! The `nk` command.
fn main() {}
