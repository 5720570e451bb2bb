//! Which buffers took over the bytes of which.
//!
//! Takes buffers in the order in which they are first touched, and tells their slots what of the earlier buffers at the
//! same bytes they have to wait for. Buffers start at a quadrant and do not share bytes while both live.

use super::clock::Clock;
use super::grid::Rect;
use super::owners::Owners;
use super::slots::{SlotId, Slots};
use super::state::State;
use crate::footprint::Footprint;
use crate::ir::{BufferId, Placement, Program};
use rustc_hash::FxHashMap;

/// What earlier owners left in parts of a region that its buffer never wrote.
#[derive(Clone, Default)]
struct Remains {
    slots: Vec<SlotId>,
    /// Everything that is not kept slot by slot.
    rest: Clock,
}

/// A buffer looks at no more slots than this one by one; more of them count as one.
const MAX_SLOTS: usize = 128;

/// Who owns what, and what is left behind.
pub struct Heirs {
    owners: Owners,
    remains: FxHashMap<BufferId, Remains>,
    /// The last accesses of dead buffers with very many slots.
    ends: FxHashMap<BufferId, Clock>,
}

impl Heirs {
    pub fn new() -> Heirs {
        Heirs {
            owners: Owners::new(),
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
        let owners = self.owners.take_over(program, placement, buffer);
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
