//! What the stages after specialising add to a program: an address for every buffer, first writes, a queue per engine.

use super::{BufferId, InstId};
use crate::isa::{Engine, N_ENGINES};

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// Byte address in the core's HBM window.
    Hbm { address: u64 },
    /// Partitions `partition..partition + partitions`, bytes `start..end` of each.
    OnChip {
        partition: u16,
        partitions: u16,
        start: u32,
        end: u32,
    },
}

/// An address for every buffer.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Placement {
    /// Indexed by [`BufferId`].
    pub regions: Vec<Region>,
    /// Highest number of bytes per partition that is live at once, in SBUF and PSUM.
    pub sbuf_peak_bytes: u32,
    pub psum_peak_bytes: u32,
}

impl Placement {
    pub fn region(&self, id: BufferId) -> Region {
        self.regions[id.index()]
    }
}

/// PSUM words that a matmul with `accumulate=auto` overwrites because no matmul has written them yet.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FirstWrites {
    /// For each such instruction (ascending): the words, as rectangles that do not overlap.
    pub ranges: Vec<(InstId, Vec<FirstWrite>)>,
}

/// Bytes `start..end` of the physical partitions `first_partition..end_partition` of PSUM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstWrite {
    pub first_partition: u16,
    pub end_partition: u16,
    pub start: u32,
    pub end: u32,
}

/// One entry of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Inst(InstId),
    /// Blocks the queue until `from` has signalled this queue `count` times in all.
    Wait {
        from: Engine,
        count: u32,
    },
    /// The `count`-th signal of this queue to `to`; it counts when all that stands above it in this queue is complete,
    /// transfers issued above it included.
    Signal {
        to: Engine,
        count: u32,
    },
    /// Goes on when all queues are here and everything above is complete. Counts of signals start anew behind it.
    Barrier,
    /// A barrier, and the beginning of a loop of the program, by number.
    Loop(u32),
    /// A barrier, and the end of the innermost open loop.
    End,
}

impl Step {
    /// Whether all queues meet here.
    pub fn is_barrier(self) -> bool {
        matches!(self, Step::Barrier | Step::Loop(_) | Step::End)
    }
}

/// A queue per engine. Every queue has the same barriers and loops, at the same places of the control flow.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Schedule {
    /// Indexed by [`Engine`].
    pub queues: [Vec<Step>; N_ENGINES],
}
