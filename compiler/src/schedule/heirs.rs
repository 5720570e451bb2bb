//! Which buffers took over the bytes of which.
//!
//! Takes buffers in the order in which they are first touched, and tells their slots what of the earlier buffers at the
//! same bytes they have to wait for. Buffers start at a quadrant and do not share bytes while both live.

use super::clock::Clock;
use super::grid::Rect;
use super::owners::Owners;
use super::slots::{Slot, SlotId, Slots};
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
        let region = Rect::of(&Footprint::of_buffer(program, placement, buffer), 0, 1);
        let covered = covered(slots, buffer);
        let mut remains = Remains::default();
        let none = Remains::default();
        for &owner in &owners {
            let older = match self.remains.is_empty() {
                true => &none,
                false => self.remains.get(&owner).unwrap_or(&none),
            };
            remains.rest.join(&older.rest);
            let all = || slots.of_buffer(owner).chain(older.slots.iter().copied());
            if slots.of_buffer(owner).len() + older.slots.len() > MAX_SLOTS {
                let end = self.ends.entry(owner).or_insert_with(|| {
                    let mut end = Clock::default();
                    all().for_each(|it| end.join(&states[it.index()].last()));
                    end
                });
                remains.rest.join(end);
                continue;
            }
            for slot in all() {
                let rect = &slots.all[slot.index()].rect;
                if !rect.meets(&region) {
                    continue;
                }
                let last = states[slot.index()].last();
                for heir in slots.of_buffer(buffer) {
                    if slots.share(program, placement, heir, slot) {
                        states[heir.index()].inherit(&last);
                    }
                }
                if covered.is_none_or(|it| !it.contains(&rect.clipped(&region))) {
                    remains.slots.push(slot);
                }
            }
        }
        if remains.rest != Clock::default() {
            for heir in slots.of_buffer(buffer) {
                states[heir.index()].inherit(&remains.rest);
            }
        }
        if covered == Some(region) {
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

/// A rectangle that a buffer certainly writes: who comes after it need not look behind it there.
fn covered(slots: &Slots, buffer: BufferId) -> Option<Rect> {
    // A slot that stands for many views says nothing about what is written.
    let is_written = |it: SlotId| slots.all[it.index()].is_written && slots.all[it.index()].view.is_some();
    let mut bounds: Option<Rect> = None;
    let mut largest: Option<Rect> = None;
    let mut area = 0;
    let mut is_disjoint = true;
    for slot in slots.of_buffer(buffer) {
        let Slot { rect, is_full, .. } = slots.all[slot.index()];
        if !is_full || !is_written(slot) {
            continue;
        }
        area += rect.area();
        is_disjoint &= !slots.overlapping(slot).iter().any(|&it| is_written(it));
        bounds = Some(bounds.map_or(rect, |it| it.joined(&rect)));
        largest = largest.filter(|it| it.area() >= rect.area()).or(Some(rect));
    }
    // Disjoint pieces that add up to their bounds fill them.
    bounds.filter(|it| is_disjoint && it.area() == area).or(largest)
}
