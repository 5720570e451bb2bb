//! Which buffers are read before they are written.
//!
//! Takes an unplaced program and some of its buffers, gives those of which an instruction reads an element that nothing has
//! written yet. The destination of a matmul that accumulates is not read in this sense: the matmul begins a word that no
//! matmul has written.

use super::{Extent, Sets, window};
use crate::ir::{BufferId, Program};
use crate::isa::{Access, Op};
use rustc_hash::FxHashSet;

/// The buffers of `candidates`, ascending, that are read before they are written.
pub fn read_before_written(program: &Program, candidates: &FxHashSet<BufferId>) -> Vec<BufferId> {
    let mut found = FxHashSet::default();
    let mut written = Sets::new(program, |_| false);
    let extents = Extent::of_views(program);
    for (_, inst) in program.iter() {
        for (access, id) in program.touches(inst) {
            let view = &program[id];
            let accumulates = inst.op == Op::NcMatmul && access == Access::ReadWrite;
            if access == Access::Write || accumulates || !candidates.contains(&view.buffer) {
                continue;
            }
            let mut is_missing = false;
            if let (Some(window), false) = (window(program, view), written.has_view[id.index()]) {
                written.of_buffer[view.buffer.index()].for_each_gap(&window, |_| is_missing = true);
            }
            if is_missing {
                found.insert(view.buffer);
            }
        }
        for (access, id) in inst.views() {
            // A dynamic view writes some of what it can reach, so nothing is sure to be written.
            let is_sure = program[id].dynamic.is_none() && candidates.contains(&program[id].buffer);
            if access != Access::Read && is_sure {
                written.insert(program, &extents, id);
            }
        }
    }
    let mut found: Vec<BufferId> = found.into_iter().collect();
    found.sort_unstable();
    found
}
