//! What a program asks of the host around a run: contents that buffers start with, and buffers to show afterwards.

use super::BufferId;
use std::sync::Arc;

/// The contents of a buffer in HBM before the first instruction (`nl.shared_constant`).
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    pub buffer: BufferId,
    /// One value per element, row-major, each a value of the buffer's dtype.
    pub values: Arc<[f64]>,
}

/// A buffer in HBM that is shown after a run (`nl.device_print`).
///
/// The program copies what is printed into a buffer of its own, so it is shown as it was at that point whatever the order
/// of execution, and prints come out in program order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Print {
    pub buffer: BufferId,
    pub prefix: String,
    /// The view that was copied, as IR text without the mark of names.
    pub what: String,
}
