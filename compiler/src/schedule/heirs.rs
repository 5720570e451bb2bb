//! Which buffers took over the bytes of which.
//!
//! Takes buffers in the order in which they are first touched, and tells their slots what of the earlier buffers at the
//! same bytes they have to wait for. Buffers start at a quadrant and do not share bytes while both live.

use super::clock::Clock;
use super::grid::Rect;
use super::slots::{SlotId, Slots};
use super::state::State;
use crate::footprint::Footprint;
use crate::ir::{BufferId, Placement, Program, Region};
use crate::isa::Memory;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// The smallest legal start partition above zero.
const QUADRANT: u16 = 32;
const N_QUADRANTS: usize = 4;

/// Bytes up to `end`, and the buffer that was last born there in each quadrant.
#[derive(Clone, Copy)]
struct Columns {
    end: u32,
    owners: [Option<BufferId>; N_QUADRANTS],
}

/// What earlier owners left in parts of a region that its buffer never wrote.
#[derive(Clone, Default)]
struct Remains {
    slots: Vec<SlotId>,
    /// Everything that is not kept slot by slot.
    rest: Clock,
}

/// A buffer looks at no more slots than this one by one; more of them count as one.
const MAX_SLOTS: usize = 128;

/// The last buffer born at each byte of the on-chip memories.
pub struct Owners {
    sbuf: BTreeMap<u32, Columns>,
    psum: BTreeMap<u32, Columns>,
    remains: FxHashMap<BufferId, Remains>,
    /// The last accesses of dead buffers with very many slots.
    ends: FxHashMap<BufferId, Clock>,
}

impl Owners {
    pub fn new() -> Owners {
        let all = Columns {
            end: u32::MAX,
            owners: [None; N_QUADRANTS],
        };
        Owners {
            sbuf: BTreeMap::from([(0, all)]),
            psum: BTreeMap::from([(0, all)]),
            remains: FxHashMap::default(),
            ends: FxHashMap::default(),
        }
    }

    /// Gives a buffer its bytes; `states` of its slots inherit what they must wait for.
    pub fn bear(
        &mut self,
        program: &Program,
        placement: &Placement,
        slots: &Slots,
        states: &mut [State],
        buffer: BufferId,
    ) {
        let Region::OnChip {
            partition,
            partitions,
            start,
            end,
        } = placement.region(buffer)
        else {
            return;
        };
        let quadrants =
            usize::from(partition / QUADRANT)..usize::from((partition + partitions).div_ceil(QUADRANT));
        let columns = match program[buffer].memory {
            Memory::Psum => &mut self.psum,
            _ => &mut self.sbuf,
        };
        let owners = take_over(columns, start..end, quadrants, buffer);
        if owners.is_empty() {
            return;
        }
        let newborn = Newborn::new(program, placement, slots, buffer);
        let mut remains = Remains::default();
        for owner in owners {
            let older = self.remains.get(&owner);
            if let Some(older) = older {
                remains.rest.join(&older.rest);
            }
            let older = older.map_or(&[][..], |it| &it.slots);
            let n_slots = slots.of_buffer(owner).count() + older.len();
            if n_slots > MAX_SLOTS {
                let end = self.ends.entry(owner).or_insert_with(|| {
                    let mut end = Clock::default();
                    let all = slots.of_buffer(owner).chain(older.iter().copied());
                    all.for_each(|it| end.join(&states[it.index()].last()));
                    end
                });
                remains.rest.join(end);
                continue;
            }
            for slot in slots.of_buffer(owner).chain(older.iter().copied()) {
                let footprint = slots.footprint(program, placement, slot);
                let rect = Rect::of(&footprint, 0, 1);
                if !rect.meets(&newborn.region) {
                    continue;
                }
                let last = states[slot.index()].last();
                for (heir, bytes) in &newborn.slots {
                    if bytes.common(&footprint).is_some() {
                        states[heir.index()].inherited.join(&last);
                    }
                }
                let clipped = rect.clipped(&newborn.region);
                if newborn.covered.is_none_or(|it| !it.contains(&clipped)) {
                    remains.slots.push(slot);
                }
            }
        }
        for (heir, _) in &newborn.slots {
            states[heir.index()].inherited.join(&remains.rest);
        }
        if newborn.covered == Some(newborn.region) {
            remains.rest = Clock::default();
        }
        if remains.slots.len() > MAX_SLOTS {
            for slot in remains.slots.drain(..) {
                remains.rest.join(&states[slot.index()].last());
            }
        }
        if !remains.slots.is_empty() || remains.rest != Clock::default() {
            self.remains.insert(buffer, remains);
        }
    }
}

/// A buffer that takes over bytes.
struct Newborn {
    region: Rect,
    slots: Vec<(SlotId, Footprint)>,
    /// Bytes that it certainly writes: who comes after it need not look behind it there.
    covered: Option<Rect>,
}

impl Newborn {
    fn new(program: &Program, placement: &Placement, slots: &Slots, buffer: BufferId) -> Newborn {
        let with_bytes = |it: SlotId| (it, slots.footprint(program, placement, it));
        let all: Vec<(SlotId, Footprint)> = slots.of_buffer(buffer).map(with_bytes).collect();
        Newborn {
            region: Rect::of(&Footprint::of_buffer(program, placement, buffer), 0, 1),
            covered: covered(slots, &all),
            slots: all,
        }
    }
}

/// A rectangle that the written slots of a buffer fill.
fn covered(slots: &Slots, all: &[(SlotId, Footprint)]) -> Option<Rect> {
    let is_written = |it: SlotId| {
        let slot = &slots.all[it.index()];
        // A slot that stands for many views says nothing about what is written.
        slot.is_written && slot.view.is_some()
    };
    let written = all
        .iter()
        .filter(|(slot, bytes)| is_written(*slot) && bytes.bytes.is_dense());
    let mut bounds: Option<Rect> = None;
    let mut largest: Option<Rect> = None;
    let mut area = 0;
    let mut is_disjoint = true;
    for (slot, footprint) in written {
        let rect = Rect::of(footprint, 0, 1);
        area += rect.area();
        is_disjoint &= !slots.overlapping(*slot).iter().any(|&it| is_written(it));
        bounds = Some(bounds.map_or(rect, |it| it.joined(&rect)));
        largest = largest.filter(|it| it.area() >= rect.area()).or(Some(rect));
    }
    // Disjoint pieces that add up to their bounds fill them.
    bounds.filter(|it| is_disjoint && it.area() == area).or(largest)
}

/// Makes a buffer the owner of some bytes and returns who owned any of them.
fn take_over(
    columns: &mut BTreeMap<u32, Columns>,
    bytes: Range<u32>,
    quadrants: Range<usize>,
    buffer: BufferId,
) -> Vec<BufferId> {
    let mut before = Vec::new();
    if bytes.is_empty() {
        return before;
    }
    split(columns, bytes.start);
    split(columns, bytes.end);
    for piece in columns.range_mut(bytes.clone()).map(|it| it.1) {
        for owner in &mut piece.owners[quadrants.clone()] {
            if let Some(owner) = owner.replace(buffer).filter(|it| !before.contains(it)) {
                before.push(owner);
            }
        }
    }
    // Pieces with one owner in all quadrants become one again, so that their number follows what is live.
    if quadrants.len() == N_QUADRANTS && columns[&bytes.start].end != bytes.end {
        let inner: Vec<u32> = columns
            .range(bytes.start + 1..bytes.end)
            .map(|it| *it.0)
            .collect();
        for start in inner {
            columns.remove(&start);
        }
        let first = columns
            .get_mut(&bytes.start)
            .expect("a piece starts where it was split");
        first.end = bytes.end;
    }
    before
}

/// Makes a piece start at a byte.
fn split(columns: &mut BTreeMap<u32, Columns>, at: u32) {
    if columns.contains_key(&at) {
        return;
    }
    let (_, piece) = columns
        .range_mut(..at)
        .next_back()
        .expect("the first piece starts at byte 0");
    let right = *piece;
    piece.end = at;
    columns.insert(at, right);
}
