//! What the event model asks of views: computed once a view, read once an instruction.
//!
//! Takes a placed program, gives for each view the bytes it touches and how they lie. Never looks at instructions.

use nk_compiler::ir::{BufferId, Dim, Placement, Program, Region, View, ViewId};
use nk_compiler::isa::Memory;

/// How a view lies in memory.
#[derive(Clone, Copy, Debug)]
pub struct ViewFacts {
    pub memory: Memory,
    buffer: BufferId,
    /// Physical partitions; 0 and 1 in HBM.
    pub partition: u32,
    pub partitions: u32,
    /// Bytes of all elements.
    pub bytes: u64,
    /// Bytes that lie one after the other, in one partition.
    pub run_bytes: u64,
    /// The range of bytes touched in each partition, relative to the buffer.
    first_byte: i64,
    end_byte: i64,
}

/// The facts of every view, indexed by [`ViewId`].
pub struct Views(Vec<ViewFacts>);

impl Views {
    pub fn of(program: &Program, placement: &Placement) -> Views {
        let facts = program.views().iter().map(|it| facts(program, placement, it));
        Views(facts.collect())
    }

    pub fn get(&self, id: ViewId) -> &ViewFacts {
        &self.0[id.index()]
    }

    /// Whether two views touch a common byte, as far as their bounds tell.
    pub fn overlap(&self, a: ViewId, b: ViewId) -> bool {
        let (a, b) = (self.get(a), self.get(b));
        a.buffer == b.buffer
            && a.partition < b.partition + b.partitions
            && b.partition < a.partition + a.partitions
            && a.first_byte < b.end_byte
            && b.first_byte < a.end_byte
    }

    /// Whether the second view takes the elements of the first in the same order.
    pub fn same_order(&self, program: &Program, a: ViewId, b: ViewId) -> bool {
        if a == b {
            return true;
        }
        let is_whole_run = |it: &ViewFacts| it.run_bytes * u64::from(it.partitions) == it.bytes;
        let (first, second) = (self.get(a), self.get(b));
        program[a].dtype == program[b].dtype
            && first.buffer == second.buffer
            && first.partition == second.partition
            && first.bytes == second.bytes
            && first.first_byte == second.first_byte
            && is_whole_run(first)
            && is_whole_run(second)
    }
}

fn facts(program: &Program, placement: &Placement, view: &View) -> ViewFacts {
    let memory = program.memory(view);
    let size = i64::from(view.dtype.size());
    let (partition, partitions, dims) = match placement.region(view.buffer) {
        Region::OnChip { partition, .. } => {
            let first = u32::from(partition) + u32::from(view.partition);
            (first, view.partitions(), view.free_dims())
        }
        Region::Hbm { .. } => (0, 1, view.dims()),
    };
    let reach = |it: &Dim| i64::from(it.stride) * (i64::from(it.count) - 1);
    let below: i64 = dims.iter().map(|it| reach(it).min(0)).sum();
    let above: i64 = dims.iter().map(|it| reach(it).max(0)).sum();
    ViewFacts {
        memory,
        buffer: view.buffer,
        partition,
        partitions,
        bytes: view.count() * size as u64,
        run_bytes: contiguous_elements(dims) * size as u64,
        first_byte: (view.offset + below) * size,
        end_byte: (view.offset + above + 1) * size,
    }
}

/// Elements of the innermost run without a gap.
fn contiguous_elements(dims: &[Dim]) -> u64 {
    let mut run = 1u64;
    for dim in dims.iter().rev().filter(|it| it.count != 1) {
        if i64::from(dim.stride) != run as i64 {
            break;
        }
        run *= u64::from(dim.count);
    }
    run
}
