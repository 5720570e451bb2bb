//! Which views of a buffer share bytes.
//!
//! Takes a placed program, gives a slot per view that can take part in a conflict, and for each slot the others of its
//! buffer that overlap it. Buffers that nothing writes have no slots: reads alone never conflict. Never looks at order.

use super::grid::{Grid, Rect};
use crate::footprint::Footprint;
use crate::ir::{BufferId, Placement, Program, Region, ViewId};
use crate::isa::Access;
use std::num::NonZeroU32;
use std::ops::Range;

/// A view of a buffer that is written; the slots of one buffer are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlotId(NonZeroU32);

impl SlotId {
    fn new(index: usize) -> SlotId {
        let number = u32::try_from(index + 1).expect("slots are fewer than views");
        SlotId(NonZeroU32::new(number).expect("one more than an index"))
    }

    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// What a slot stands for.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub buffer: BufferId,
    /// `None` stands for all bytes of the buffer.
    pub view: Option<ViewId>,
    pub is_written: bool,
}

pub struct Slots {
    pub all: Vec<Slot>,
    of_view: Vec<Option<SlotId>>,
    /// The slots of buffer `b` are `of_buffer[b]..of_buffer[b + 1]`.
    of_buffer: Vec<u32>,
    /// The slots that overlap slot `s` are `overlapping[starts[s]..starts[s + 1]]`.
    overlapping: Vec<SlotId>,
    starts: Vec<u32>,
}

/// Buffers with at most this many slots are compared pair by pair.
const FEW: usize = 12;

/// When the slots of a buffer have more neighbours than this on average, the buffer is kept in order as a whole.
const MAX_NEIGHBOURS: usize = 512;

impl Slots {
    pub fn new(program: &Program, placement: &Placement) -> Slots {
        let n_views = program.views().len();
        let mut is_used = vec![false; n_views];
        let mut is_written = vec![false; n_views];
        let mut has_writes = vec![false; program.buffers.len()];
        for inst in &program.insts {
            for (access, view) in inst.views() {
                is_used[view.index()] = true;
                if access != Access::Read {
                    is_written[view.index()] = true;
                    has_writes[program[view].buffer.index()] = true;
                }
            }
        }
        let has_slot = |idx: usize| {
            let view = &program.views()[idx];
            is_used[idx] && has_writes[view.buffer.index()] && view.count() > 0
        };
        let mut of_buffer = vec![0u32; program.buffers.len() + 1];
        for idx in (0..n_views).filter(|&it| has_slot(it)) {
            of_buffer[program.views()[idx].buffer.index() + 1] += 1;
        }
        for idx in 1..of_buffer.len() {
            of_buffer[idx] += of_buffer[idx - 1];
        }
        let mut next = of_buffer.clone();
        let n_slots = *of_buffer.last().expect("one more than buffers") as usize;
        let filler = Slot {
            buffer: BufferId::new(0),
            view: None,
            is_written: false,
        };
        let mut slots = Slots {
            all: vec![filler; n_slots],
            of_view: vec![None; n_views],
            of_buffer,
            overlapping: Vec::new(),
            starts: Vec::with_capacity(n_slots + 1),
        };
        for idx in (0..n_views).filter(|&it| has_slot(it)) {
            let buffer = program.views()[idx].buffer;
            let slot = next[buffer.index()];
            next[buffer.index()] += 1;
            slots.all[slot as usize] = Slot {
                buffer,
                view: Some(ViewId::new(idx)),
                is_written: is_written[idx],
            };
            slots.of_view[idx] = Some(SlotId::new(slot as usize));
        }
        slots.find_overlaps(program, placement);
        slots
    }

    pub fn of_view(&self, view: ViewId) -> Option<SlotId> {
        self.of_view[view.index()]
    }

    pub fn of_buffer(&self, buffer: BufferId) -> impl Iterator<Item = SlotId> + use<> {
        let mut range = self.range(buffer);
        if self.all[range.clone()]
            .first()
            .is_some_and(|it| it.view.is_none())
        {
            range.end = range.start + 1;
        }
        range.map(SlotId::new)
    }

    fn range(&self, buffer: BufferId) -> Range<usize> {
        let idx = buffer.index();
        self.of_buffer[idx] as usize..self.of_buffer[idx + 1] as usize
    }

    /// The other slots of its buffer that share bytes with a slot, one of the two being written.
    pub fn overlapping(&self, slot: SlotId) -> &[SlotId] {
        let idx = slot.index();
        &self.overlapping[self.starts[idx] as usize..self.starts[idx + 1] as usize]
    }

    /// The bytes of a slot.
    pub fn footprint(&self, program: &Program, placement: &Placement, slot: SlotId) -> Footprint {
        let slot = &self.all[slot.index()];
        match slot.view {
            Some(view) => Footprint::of(program, placement, &program[view])
                .expect("views without elements have no slot"),
            None => Footprint::of_buffer(program, placement, slot.buffer),
        }
    }

    fn find_overlaps(&mut self, program: &Program, placement: &Placement) {
        let mut pairs = Vec::new();
        self.starts.push(0);
        for idx in 0..program.buffers.len() {
            let buffer = BufferId::new(idx);
            let range = self.range(buffer);
            pairs.clear();
            if range.len() > 1 && !self.overlaps_of(program, placement, buffer, &mut pairs) {
                self.join_slots(buffer);
                pairs.clear();
            }
            pairs.sort_unstable();
            let mut pairs = pairs.iter().peekable();
            for slot in range {
                while let Some((_, other)) = pairs.next_if(|it| it.0.index() == slot) {
                    self.overlapping.push(*other);
                }
                let n = u32::try_from(self.overlapping.len()).expect("overlaps are limited for each slot");
                self.starts.push(n);
            }
        }
    }

    /// Collects overlapping pairs of one buffer's slots, each both ways; gives up, with `false`, when they are too many.
    fn overlaps_of(
        &self,
        program: &Program,
        placement: &Placement,
        buffer: BufferId,
        pairs: &mut Vec<(SlotId, SlotId)>,
    ) -> bool {
        let slots: Vec<SlotId> = self.of_buffer(buffer).collect();
        let footprints: Vec<Footprint> = slots
            .iter()
            .map(|&it| self.footprint(program, placement, it))
            .collect();
        let written = |idx: usize| self.all[slots[idx].index()].is_written;
        let limit = slots.len() * MAX_NEIGHBOURS;
        let mut n_compared = 0;
        let mut compare = |a: usize, b: usize| {
            n_compared += 1;
            let conflicts = n_compared <= limit && (written(a) || written(b));
            if conflicts && footprints[a].common(&footprints[b]).is_some() {
                pairs.extend([(slots[a], slots[b]), (slots[b], slots[a])]);
            }
            n_compared <= limit
        };
        if slots.len() <= FEW {
            return (0..slots.len()).all(|a| (0..a).all(|b| compare(a, b)));
        }
        let origin = match placement.region(buffer) {
            Region::Hbm { address } => address,
            Region::OnChip { .. } => 0,
        };
        let pitch = program[buffer].row_bytes();
        let rects: Vec<Rect> = footprints.iter().map(|it| Rect::of(it, origin, pitch)).collect();
        let mut grid = Grid::new(rects.iter().copied());
        let (first, then): (Vec<usize>, Vec<usize>) = (0..slots.len()).partition(|&it| written(it));
        // Written slots meet each other when the later one is inserted; the others meet written ones only.
        let mut is_sparse = true;
        for a in first {
            grid.near(&rects[a], |b| is_sparse = compare(a, b as usize));
            grid.insert(a as u32, &rects[a]);
            if !is_sparse {
                return false;
            }
        }
        for a in then {
            grid.near(&rects[a], |b| is_sparse = compare(a, b as usize));
            if !is_sparse {
                return false;
            }
        }
        true
    }

    /// Makes one slot stand for all views of a buffer.
    fn join_slots(&mut self, buffer: BufferId) {
        let range = self.range(buffer);
        let first = SlotId::new(range.start);
        for slot in &self.all[range.clone()] {
            let view = slot.view.expect("slots are joined once");
            self.of_view[view.index()] = Some(first);
        }
        for slot in &mut self.all[range] {
            slot.view = None;
            slot.is_written = true;
        }
    }
}
