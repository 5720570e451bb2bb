//! The plans of transfers, each made once.
//!
//! Takes transfers, gives how each is cut. Those of one shape, which loops issue by the thousand, are cut alike.

use super::change::Change;
use super::facts::ViewFacts;
use super::plan::{self, Plan};
use super::queue::World;
use nk_compiler::ir::InstId;
use nk_compiler::isa::{Arg, Cost, Memory};
use rustc_hash::FxHashMap;

/// All that a plan depends on of a view.
type Extent = (Memory, u32, u32, u64, u64);

/// Plans by their two sides and the length of their rows, where it is not theirs.
#[derive(Default)]
pub struct Plans {
    known: FxHashMap<(Extent, Extent, Option<u64>), Plan>,
    /// The newest of those that have more than two sides.
    other: Option<Plan>,
}

impl Plans {
    pub fn of(&mut self, id: InstId, world: World) -> &Plan {
        let inst = &world.program[id];
        let facts = |idx: usize| match inst.args[idx] {
            Arg::View(id) => world.views.get(id),
            _ => unreachable!("the first two operands of a DMA row are required tiles"),
        };
        let (dst, src) = (facts(0), facts(1));
        let cost = inst.op.row().cost;
        if cost == Cost::DmaCompute {
            let sources = inst.views().skip(1).map(|(_, id)| world.views.get(id));
            return self.other.insert(plan::compute(dst, sources, world.target));
        }
        let row_bytes = match world.change(id) {
            Some(Change::LongRows) => Some(plan::LONG_ROW_BYTES),
            Some(Change::PlainCopy) => None,
            // Every element is a row.
            _ if cost == Cost::DmaTranspose => match inst.args[1] {
                Arg::View(id) => Some(u64::from(world.program[id].dtype.size())),
                _ => None,
            },
            _ => None,
        };
        let extent = |it: &ViewFacts| (it.memory, it.partition, it.partitions, it.bytes, it.run_bytes);
        self.known
            .entry((extent(dst), extent(src), row_bytes))
            .or_insert_with(|| plan::plan(dst, src, row_bytes, world.target))
    }
}
