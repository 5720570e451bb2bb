//! The proof that no two buffers share bytes while both live.
//!
//! Takes regions, wherever they come from, gives every pair that collides. Follows births and deaths in program order.

use super::error::{Error, Tensor};
use super::in_place::replaces;
use super::live::{Life, lives};
use super::memory_space;
use super::space::{Granule, QUADRANT, Space, Spot};
use crate::ir::{BufferId, Placement, Program, Region};
use crate::isa::Memory;
use crate::target::Target;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A buffer in its place.
#[derive(Clone, Debug)]
pub struct Resident {
    pub buffer: BufferId,
    pub life: Life,
    pub spot: Spot,
}

/// Every pair of buffers that share bytes while both live; none for what `place` makes.
pub fn verify_placement(program: &Program, placement: &Placement, target: &Target) -> Vec<Error> {
    let lives = lives(program);
    let mut errors = hbm_collisions(program, placement);
    for memory in [Memory::Sbuf, Memory::Psum] {
        let regions = program.buffers.iter().zip(&placement.regions);
        let starts = regions.filter_map(|(buffer, region)| match *region {
            Region::OnChip { start, .. } if buffer.memory == memory => Some(start),
            Region::OnChip { .. } | Region::Hbm { .. } => None,
        });
        let granule = Granule::dividing(starts, target);
        let residents = program
            .buffers
            .iter()
            .zip(&lives)
            .enumerate()
            .filter_map(|(idx, (buffer, life))| {
                let (true, &Some(life)) = (buffer.memory == memory, life) else {
                    return None;
                };
                let id = BufferId::new(idx);
                let Region::OnChip {
                    partition,
                    partitions,
                    start,
                    end,
                } = placement.region(id)
                else {
                    return None;
                };
                let (first, end_partition) =
                    (u32::from(partition), u32::from(partition) + u32::from(partitions));
                let spot = Spot {
                    quadrants: first / QUADRANT..end_partition.div_ceil(QUADRANT),
                    granules: start / granule.bytes..end.div_ceil(granule.bytes),
                };
                Some(Resident {
                    buffer: id,
                    life,
                    spot,
                })
            });
        let mut residents: Vec<Resident> = residents.collect();
        residents.sort_by_key(|it| it.life.first);
        errors.extend(collisions(
            program,
            memory,
            &residents,
            memory_space(memory, granule, target),
        ));
    }
    errors
}

/// Pairs of residents, given in order of birth, that collide in an empty space.
pub fn collisions(program: &Program, memory: Memory, residents: &[Resident], mut space: Space) -> Vec<Error> {
    let mut errors = Vec::new();
    // The error for each pair of lines: the tiles of a loop collide alike.
    let mut known = FxHashMap::default();
    // The one that dies first is on top.
    let mut live: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
    // Residents whose place a result has taken.
    let mut is_replaced = vec![false; residents.len()];
    for (idx, resident) in residents.iter().enumerate() {
        while let Some(&Reverse((last, dead))) = live.peek() {
            if last >= resident.life.first.index() {
                break;
            }
            if !is_replaced[dead] {
                space.release(&residents[dead].spot);
            }
            live.pop();
        }
        if space.is_free(&resident.spot) {
            space.take(&resident.spot);
            live.push(Reverse((resident.life.last.index(), idx)));
            continue;
        }
        let first = resident.life.first;
        let replaced = live.iter().map(|it| it.0.1).find(|&it| {
            let old = &residents[it];
            old.life.last == first
                && old.life.first < first
                && !is_replaced[it]
                && old.spot == resident.spot
                && replaces(program, first, resident.buffer, old.buffer)
        });
        if let Some(old) = replaced {
            is_replaced[old] = true;
            live.push(Reverse((resident.life.last.index(), idx)));
            continue;
        }
        let others = live.iter().map(|it| &residents[it.0.1]);
        if let Some(other) = others
            .filter(|it| it.spot.overlaps(&resident.spot))
            .min_by_key(|it| it.buffer)
        {
            let spans = [resident.buffer, other.buffer].map(|it| program.span(program[it].loc));
            if let Some(Error::Overlap { repeats, .. }) = known.get(&spans).map(|&it: &usize| &mut errors[it])
            {
                *repeats += 1;
                continue;
            }
            if spans.iter().all(Option::is_some) {
                known.insert(spans, errors.len());
            }
            errors.push(Error::Overlap {
                tensor: Tensor::new(program, resident.buffer),
                other: Tensor::new(program, other.buffer),
                memory,
                last_use: program.span(program[other.life.last].loc),
                repeats: 0,
            });
        }
    }
    errors
}

/// Buffers in HBM live all the time.
fn hbm_collisions(program: &Program, placement: &Placement) -> Vec<Error> {
    let in_hbm = placement
        .regions
        .iter()
        .enumerate()
        .filter_map(|(idx, region)| match region {
            Region::Hbm { address } => Some((*address, BufferId::new(idx))),
            Region::OnChip { .. } => None,
        });
    let mut in_hbm: Vec<(u64, BufferId)> = in_hbm.collect();
    in_hbm.sort_unstable();
    let pairs = in_hbm.iter().zip(in_hbm.iter().skip(1));
    pairs
        .filter(|(low, high)| low.0 + program[low.1].bytes() > high.0)
        .map(|(low, high)| Error::Overlap {
            tensor: Tensor::new(program, high.1),
            other: Tensor::new(program, low.1),
            memory: Memory::Hbm,
            last_use: None,
            repeats: 0,
        })
        .collect()
}
