//! Which views of a buffer share bytes.
//!
//! Takes a placed program, gives a slot per view that can take part in a conflict, and for each slot the others of its
//! buffer that overlap it. HBM that nothing writes has no slots: reads alone never conflict. Never looks at order.

use super::grid::{Grid, Rect};
use crate::footprint::Footprint;
use crate::ir::{BufferId, Placement, Program, Region, ViewId};
use crate::isa::Access;
use std::num::NonZeroU32;
use std::ops::Range;

/// A view that can take part in a conflict; the slots of one buffer are neighbours.
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
    /// Holds its bytes.
    pub rect: Rect,
    /// Whether it has every byte of the rectangle.
    pub is_full: bool,
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
        // On chip even what is only read follows earlier buffers at the same bytes.
        let mut has_writes: Vec<bool> = program.buffers.iter().map(|it| it.memory.is_on_chip()).collect();
        for inst in &program.insts {
            for (access, view) in program.touches(inst) {
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
            rect: Rect::default(),
            is_full: false,
        };
        let mut slots = Slots {
            all: vec![filler; n_slots],
            of_view: vec![None; n_views],
            of_buffer,
            overlapping: Vec::new(),
            starts: Vec::with_capacity(n_slots + 1),
        };
        for idx in (0..n_views).filter(|&it| has_slot(it)) {
            let view = &program.views()[idx];
            let slot = next[view.buffer.index()];
            next[view.buffer.index()] += 1;
            let footprint = Footprint::of(program, placement, view).expect("the view has elements");
            slots.all[slot as usize] = Slot {
                buffer: view.buffer,
                view: Some(ViewId::new(idx)),
                is_written: is_written[idx],
                rect: rect(program, placement, view.buffer, &footprint),
                is_full: footprint.memory.is_on_chip() && footprint.bytes.is_dense(),
            };
            slots.of_view[idx] = Some(SlotId::new(slot as usize));
        }
        slots.find_overlaps(program, placement);
        slots
    }

    pub fn of_view(&self, view: ViewId) -> Option<SlotId> {
        self.of_view[view.index()]
    }

    pub fn of_buffer(&self, buffer: BufferId) -> impl ExactSizeIterator<Item = SlotId> + use<> {
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

    /// Whether two slots of one memory have a byte in common.
    pub fn share(&self, program: &Program, placement: &Placement, a: SlotId, b: SlotId) -> bool {
        let (x, y) = (&self.all[a.index()], &self.all[b.index()]);
        if !x.rect.meets(&y.rect) {
            return false;
        }
        let common = || {
            let bytes = self.footprint(program, placement, a);
            bytes.common(&self.footprint(program, placement, b)).is_some()
        };
        (x.is_full && y.is_full) || common()
    }

    fn find_overlaps(&mut self, program: &Program, placement: &Placement) {
        let mut pairs = Vec::new();
        self.starts.push(0);
        for idx in 0..program.buffers.len() {
            let buffer = BufferId::new(idx);
            let range = self.range(buffer);
            pairs.clear();
            if range.len() > 1 && !self.overlaps_of(program, placement, buffer, &mut pairs) {
                self.join_slots(program, placement, buffer);
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
        let slots = self.range(buffer);
        let limit = slots.len() * MAX_NEIGHBOURS;
        let mut n_compared = 0;
        let mut compare = |a: usize, b: usize| {
            n_compared += 1;
            let may_conflict = self.all[a].is_written || self.all[b].is_written;
            let (a, b) = (SlotId::new(a), SlotId::new(b));
            if n_compared <= limit && may_conflict && self.share(program, placement, a, b) {
                pairs.extend([(a, b), (b, a)]);
            }
            n_compared <= limit
        };
        if slots.len() <= FEW {
            return slots.clone().all(|a| (slots.start..a).all(|b| compare(a, b)));
        }
        let mut grid = Grid::new(self.all[slots.clone()].iter().map(|it| it.rect));
        let (written, read): (Vec<usize>, Vec<usize>) = slots.partition(|&it| self.all[it].is_written);
        // Written slots meet each other when the later one is inserted; the others meet written ones only.
        let mut is_sparse = true;
        for a in written {
            grid.near(&self.all[a].rect, |b| is_sparse = compare(a, b as usize));
            grid.insert(a as u32, &self.all[a].rect);
            if !is_sparse {
                return false;
            }
        }
        for a in read {
            grid.near(&self.all[a].rect, |b| is_sparse = compare(a, b as usize));
            if !is_sparse {
                return false;
            }
        }
        true
    }

    /// Makes one slot stand for all views of a buffer.
    fn join_slots(&mut self, program: &Program, placement: &Placement, buffer: BufferId) {
        let all = Footprint::of_buffer(program, placement, buffer);
        let rect = rect(program, placement, buffer, &all);
        let range = self.range(buffer);
        let first = SlotId::new(range.start);
        for slot in &self.all[range.clone()] {
            let view = slot.view.expect("slots are joined once");
            self.of_view[view.index()] = Some(first);
        }
        for slot in &mut self.all[range] {
            slot.view = None;
            slot.is_written = true;
            slot.rect = rect;
            slot.is_full = all.memory.is_on_chip();
        }
    }
}

/// The rectangle of a footprint: partitions and bytes, in HBM rows of the tensor and bytes in a row.
fn rect(program: &Program, placement: &Placement, buffer: BufferId, footprint: &Footprint) -> Rect {
    match placement.region(buffer) {
        Region::Hbm { address } => Rect::of(footprint, address, program[buffer].row_bytes()),
        Region::OnChip { .. } => Rect::of(footprint, 0, 1),
    }
}
