//! How much comparing of values is done: structures that share their parts have exponentially many paths.
//!
//! Every comparison of two values enters here. Beyond the limit of steps, or nested too deep, values count as different at
//! once, and the evaluator ends with the next statement. Never decides equality.

use crate::limits::limits;
use std::cell::Cell;

/// Containers compare so deep in each other; Python gives up at a thousand, too.
const MAX_DEPTH: u32 = 1_000;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// A comparison that is going on.
pub struct Comparison;

/// Begins a comparison; `None` when no more are made.
pub fn enter() -> Option<Comparison> {
    let (count, depth) = (COUNT.get() + 1, DEPTH.get() + 1);
    if count > limits().steps || depth > MAX_DEPTH {
        COUNT.set(limits().steps.saturating_add(1));
        return None;
    }
    COUNT.set(count);
    DEPTH.set(depth);
    Some(Comparison)
}

impl Drop for Comparison {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Comparisons since the evaluation began.
pub fn count() -> u64 {
    COUNT.get()
}

/// An evaluation begins.
pub fn reset() {
    COUNT.set(0);
}
