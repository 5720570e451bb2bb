//! Pairs of instructions that share a byte, one writing, and are not kept in program order.
//!
//! Takes what is certainly complete when each instruction starts, gives the pairs. Walks through the program in its own
//! order; a view needs no more than its last write and, for each lane, the last read since: what is ordered behind those
//! is ordered behind everything before them.

use super::error::{Error, Line};
use super::older::{self, Older};
use super::past::{Past, Pasts, Place, Reads};
use crate::footprint::Footprint;
use crate::ir::{BufferId, InstId, MAX_TOUCHES, Placement, Program, Schedule, Step};
use crate::isa::Access;
use crate::schedule::owners::Owners;
use crate::schedule::slots::{SlotId, Slots};
use rustc_hash::FxHashMap;

/// So many races are reported; one mistake in a loop makes thousands.
const MAX_RACES: usize = 20;

/// The last write through a view, and the reads since.
#[derive(Clone, Default)]
struct Last {
    write: Option<Place>,
    reads: Reads,
}

impl Last {
    /// The place of an access that has to be complete before another one, and is not.
    fn missing(&self, past: &Past, access: Access) -> Option<Place> {
        let write = self.write.filter(|it| !past.holds(*it));
        write.or_else(|| match access {
            Access::Read => None,
            Access::Write | Access::ReadWrite => past.first_missing(&self.reads.past()),
        })
    }
}

/// The state of the walk.
struct Walk<'a> {
    program: &'a Program,
    placement: &'a Placement,
    schedule: &'a Schedule,
    places: &'a [Place],
    slots: &'a Slots,
    last: Vec<Last>,
    /// What earlier buffers did to the bytes of each buffer; nothing for most.
    older: FxHashMap<BufferId, Vec<Older>>,
    is_born: Vec<bool>,
    owners: Owners,
    races: Vec<Error>,
}

pub fn races(
    program: &Program,
    placement: &Placement,
    schedule: &Schedule,
    slots: &Slots,
    places: &[Place],
    pasts: &Pasts,
) -> Vec<Error> {
    let mut walk = Walk {
        program,
        placement,
        schedule,
        places,
        last: vec![Last::default(); slots.all.len()],
        slots,
        older: FxHashMap::default(),
        is_born: vec![false; program.buffers.len()],
        owners: Owners::new(),
        races: Vec::new(),
    };
    for (id, inst) in program.iter() {
        let past = &pasts.of(id, places[id.index()]);
        let mut touched = [None; MAX_TOUCHES];
        // An instruction does not race with itself, so all its views are compared before any is noted.
        for ((access, view), touched) in program.touches(inst).zip(&mut touched) {
            let buffer = program[view].buffer;
            if !std::mem::replace(&mut walk.is_born[buffer.index()], true) {
                walk.inherit(buffer);
            }
            let Some(slot) = walk.slots.of_view(view) else {
                continue;
            };
            walk.compare(id, past, access, slot);
            *touched = Some((access, slot));
        }
        for (access, slot) in touched.into_iter().flatten() {
            walk.note(places[id.index()], access, slot);
        }
        if walk.races.len() >= MAX_RACES {
            break;
        }
    }
    walk.races
}

impl Walk<'_> {
    /// Compares an access with all earlier ones to common bytes.
    fn compare(&mut self, id: InstId, past: &Past, access: Access, slot: SlotId) {
        for idx in 0..=self.slots.overlapping(slot).len() {
            let other = self.slots.overlapping(slot).get(idx).copied().unwrap_or(slot);
            if let Some(place) = self.last[other.index()].missing(past, access) {
                let bytes = self.slots.footprint(self.program, self.placement, other);
                self.report(place, &bytes, id, slot);
            }
        }
        let Some(older) = self.older.get(&self.slots.all[slot.index()].buffer) else {
            return;
        };
        let bytes = self.slots.footprint(self.program, self.placement, slot);
        let missing = older
            .iter()
            .filter(|it| it.bytes.common(&bytes).is_some())
            .filter_map(|it| {
                let missing = past.first_missing(&it.writes).or_else(|| match access {
                    Access::Read => None,
                    Access::Write | Access::ReadWrite => past.first_missing(&it.reads),
                });
                missing.map(|place| (place, it.bytes))
            });
        for (place, other) in missing.collect::<Vec<_>>() {
            self.report(place, &other, id, slot);
        }
    }

    /// Notes an access.
    fn note(&mut self, place: Place, access: Access, slot: SlotId) {
        let last = &mut self.last[slot.index()];
        if access == Access::Read {
            last.reads.add(place);
            return;
        }
        *last = Last {
            write: Some(place),
            reads: Reads::default(),
        };
        let buffer = self.slots.all[slot.index()].buffer;
        if let Some(older) = self.older.get_mut(&buffer) {
            older::forget(older, &self.slots.footprint(self.program, self.placement, slot));
            if older.is_empty() {
                self.older.remove(&buffer);
            }
        }
    }

    /// Hands what earlier buffers did to the bytes of a buffer on to it.
    fn inherit(&mut self, buffer: BufferId) {
        let owners = self.owners.take_over(self.program, self.placement, buffer);
        if owners.is_empty() {
            return;
        }
        let region = Footprint::of_buffer(self.program, self.placement, buffer);
        let mut inherited = Vec::new();
        for owner in owners {
            for slot in self.slots.of_buffer(owner) {
                let Last { write, reads } = &self.last[slot.index()];
                let reads = reads.past();
                let mut writes = Past::default();
                write.iter().for_each(|it| writes.add(*it));
                let bytes = self.slots.footprint(self.program, self.placement, slot);
                inherited.extend(Older { bytes, writes, reads }.clipped(&region));
            }
            let older = self.older.get(&owner).into_iter().flatten();
            inherited.extend(older.filter_map(|it| it.clipped(&region)));
        }
        if !inherited.is_empty() {
            self.older.insert(buffer, older::merged(inherited));
        }
    }

    /// Reports that the instruction at a place may still run when another one starts.
    fn report(&mut self, place: Place, other: &Footprint, second: InstId, slot: SlotId) {
        let mut insts = self.schedule.queues[place.queue as usize]
            .iter()
            .filter_map(|it| match it {
                Step::Inst(id) => Some(*id),
                _ => None,
            });
        let first = insts
            .nth(place.position as usize)
            .expect("places are positions in queues");
        let bytes = self.slots.footprint(self.program, self.placement, slot);
        let (partition, byte) = other.common(&bytes).expect("the two accesses share a byte");
        self.races.push(Error::Race {
            first: Line::new(self.program, first),
            second: Line::new(self.program, second),
            queues: [place.queue, self.places[second.index()].queue],
            memory: bytes.memory,
            partition,
            byte,
        });
    }
}
