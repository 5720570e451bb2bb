//! Appending to a string, which cannot fail.

/// Appends a line.
macro_rules! line {
    ($out:expr, $($format:tt)*) => {{
        use std::fmt::Write;
        writeln!($out, $($format)*).expect("a string takes any text")
    }};
}

/// Appends formatted text.
macro_rules! push {
    ($out:expr, $($format:tt)*) => {{
        use std::fmt::Write;
        write!($out, $($format)*).expect("a string takes any text")
    }};
}

pub(crate) use {line, push};
