//! What-if: instructions that take another time than they do.
//!
//! Advice asks how long a program would take without the cause of a delay. The schedule stays as it is, so that what is
//! saved is what the order of the program allows.

use nk_compiler::ir::InstId;
use rustc_hash::FxHashMap;

/// How an instruction differs from what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It takes no time at all, and a transfer moves nothing.
    Removed,
    /// It holds its engine so long, and is complete then.
    Takes { ps: u64 },
    /// A transposing transfer keeps the order of its elements.
    PlainCopy,
    /// The rows of a transfer are long.
    LongRows,
}

/// What differs from the program as it is.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub insts: FxHashMap<InstId, Change>,
    /// No instruction waits for what one of its own queue writes, as if there were other work in between.
    pub fills_gaps: bool,
}
