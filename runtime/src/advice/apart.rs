//! A program with room for everything: no tile of a memory lies where another one lies or lay.
//!
//! Takes a placed program, gives it with tiles renamed, placed apart and scheduled anew, for the clock only: no chip has
//! such a memory.

use super::rename::renamed;
use nk_compiler::ir::{BufferId, Placement, Program, Region, Schedule};
use nk_compiler::isa::Memory;
use nk_compiler::schedule::schedule;

/// Behind every address that a chip has.
const FIRST_BYTE: u32 = 1 << 24;

/// The program with an own place for each version of each tile of a memory; `None` when it has loops or dynamic addresses,
/// or so many tiles that no address is left.
pub fn apart(
    program: &Program,
    placement: &Placement,
    memory: Memory,
) -> Option<(Program, Placement, Schedule)> {
    let (program, origins) = renamed(program, memory)?;
    let mut next = FIRST_BYTE;
    let mut regions = Vec::with_capacity(origins.len());
    for (idx, origin) in origins.iter().enumerate() {
        let region = placement.region(*origin);
        let Region::OnChip {
            partition,
            partitions,
            start,
            end,
        } = region
        else {
            regions.push(region);
            continue;
        };
        if program[BufferId::new(idx)].memory != memory {
            regions.push(region);
            continue;
        }
        let after = next.checked_add(end - start)?;
        regions.push(Region::OnChip {
            partition,
            partitions,
            start: next,
            end: after,
        });
        next = after;
    }
    let placement = Placement {
        regions,
        ..Placement::default()
    };
    let schedule = schedule(&program, &placement);
    Some((program, placement, schedule))
}
