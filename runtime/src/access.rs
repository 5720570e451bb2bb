//! A view resolved to the emulated memory: where its first element lies, and how far apart the others are.
//!
//! Takes views and the placement, proves that every element lies in its buffer, and gives offsets and strides in bytes.
//! Never reads or writes a byte.

use crate::memory::Layout;
use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{Index, Placement, Program, Region, View};
use nk_compiler::isa::Memory as Space;

/// One loop over equally spaced elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axis {
    pub count: u32,
    /// Bytes.
    pub stride: i64,
}

/// A view resolved to the reservation.
///
/// On chip, the first axis is the partition axis, whose stride is the padded pitch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub space: Space,
    pub dtype: Dtype,
    /// Offset of the first element in the reservation.
    pub start: u64,
    pub axes: Vec<Axis>,
    /// First partition in SBUF or PSUM; 0 in HBM.
    pub partition: u16,
    /// What moves it when an instruction runs.
    pub movement: Option<Movement>,
    /// Bytes before and behind `start` that the elements of one partition span, wherever it is moved.
    before: u64,
    behind: u64,
}

/// How a dynamic access is moved: by `stride` bytes times an index that is below `count`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movement {
    pub index: IndexSource,
    pub stride: u64,
    pub count: u32,
    /// The number of its view, by which compiled code knows it.
    pub view: u32,
}

/// Where an index is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexSource {
    /// By number.
    Register(usize),
    Element {
        at: u64,
        dtype: Dtype,
    },
    /// One index for each row, each in a partition of its own.
    Rows {
        at: u64,
        pitch: u64,
        dtype: Dtype,
    },
}

/// Addresses of compiled code carry the number of a dynamic view, plus one, above this bit.
const VIEW_SHIFT: u32 = 40;

/// Takes the number of a view off an address.
pub fn split_address(address: u64) -> (Option<u32>, u64) {
    let view = (address >> VIEW_SHIFT) as u32;
    (view.checked_sub(1), address & ((1 << VIEW_SHIFT) - 1))
}

impl Access {
    /// Resolves a view of a placed program.
    ///
    /// Panics when an element lies outside the view's buffer: the verifier has refused such a program.
    pub fn new(program: &Program, placement: &Placement, layout: &Layout, view: &View) -> Access {
        let movement = view.dynamic.map(|it| {
            let index = match it.index {
                Index::Register(id) => IndexSource::Register(id.index()),
                Index::Element(id) => {
                    let tile = Access::new(program, placement, layout, &program[id]);
                    let (at, dtype) = (tile.start, tile.dtype);
                    IndexSource::Element { at, dtype }
                }
                Index::Rows(id) => {
                    let tile = Access::new(program, placement, layout, &program[id]);
                    IndexSource::Rows {
                        at: tile.start,
                        pitch: tile.axes[0].stride as u64,
                        dtype: tile.dtype,
                    }
                }
            };
            Movement {
                index,
                stride: u64::from(it.stride) * u64::from(view.dtype.size()),
                count: it.count,
                view: 0,
            }
        });
        let reach = movement
            .as_ref()
            .map_or(0, |it| it.stride * u64::from(it.count.saturating_sub(1)));
        let space = program.memory(view);
        let size = i64::from(view.dtype.size());
        let mut axes: Vec<Axis> = view
            .dims()
            .iter()
            .map(|it| Axis {
                count: it.count,
                stride: i64::from(it.stride) * size,
            })
            .collect();
        let (first, start, end) = match placement.region(view.buffer) {
            Region::Hbm { address } => (0, address, address + program[view.buffer].bytes()),
            Region::OnChip {
                partition,
                partitions,
                start,
                end,
            } => {
                axes[0].stride = layout.pitch(space) as i64;
                let last = u64::from(view.partition) + u64::from(view.partitions());
                assert!(
                    last <= u64::from(partitions),
                    "a verified view stays in its buffer's partitions"
                );
                (partition + view.partition, u64::from(start), u64::from(end))
            }
        };
        let free = &axes[usize::from(space.is_on_chip())..];
        let before = span(free.iter().map(|it| -it.stride.min(0)), free);
        let behind =
            span(free.iter().map(|it| it.stride.max(0)), free) + u64::from(view.dtype.size()) + reach;
        let byte = (start as i64) + view.offset * size;
        let fits = byte - (before as i64) >= start as i64 && byte + (behind as i64) <= end as i64;
        assert!(
            fits || axes.iter().any(|it| it.count == 0),
            "a verified view stays in its buffer's bytes"
        );
        Access {
            space,
            dtype: view.dtype,
            start: layout.offset(space, u64::from(first), byte as u64),
            axes,
            partition: first,
            movement,
            before,
            behind,
        }
    }

    /// The accesses of all views of a program.
    pub fn all(program: &Program, placement: &Placement, layout: &Layout) -> Vec<Access> {
        let resolve = |(number, view): (usize, &View)| {
            let mut access = Access::new(program, placement, layout, view);
            if let Some(movement) = &mut access.movement {
                movement.view = u32::try_from(number).expect("views are numbered in 32 bits");
                assert!(
                    layout.stage >> VIEW_SHIFT == 0 && (number as u64) < (1 << (64 - VIEW_SHIFT)) - 2,
                    "addresses and numbers of views share a word"
                );
            }
            access
        };
        program.views().iter().enumerate().map(resolve).collect()
    }

    /// Where it starts, for compiled code: with the number of the view when that moves it.
    pub fn address(&self) -> u64 {
        match &self.movement {
            Some(it) => self.start | (u64::from(it.view) + 1) << VIEW_SHIFT,
            None => self.start,
        }
    }

    /// Whether each row has an index of its own.
    pub fn has_row_indices(&self) -> bool {
        let index = self.movement.as_ref().map(|it| it.index);
        matches!(index, Some(IndexSource::Rows { .. }))
    }

    /// The access that a movement by an index gives.
    pub fn moved(&self, index: u32) -> Access {
        let movement = self.movement.as_ref().expect("only dynamic accesses move");
        Access {
            start: self.start + movement.stride * u64::from(index),
            movement: None,
            ..self.clone()
        }
    }

    /// A tile outside the memories of the core, which overlaps nothing.
    pub fn staged(dtype: Dtype, start: u64, axes: Vec<Axis>) -> Access {
        Access {
            space: Space::Hbm,
            dtype,
            start,
            axes,
            partition: 0,
            movement: None,
            before: 0,
            behind: 0,
        }
    }

    /// All elements.
    pub fn count(&self) -> u64 {
        self.axes.iter().map(|it| u64::from(it.count)).product()
    }

    /// Number of partitions of an access on chip.
    pub fn partitions(&self) -> u32 {
        self.axes[0].count
    }

    /// The axes after the partition axis, of an access on chip.
    pub fn free_axes(&self) -> &[Axis] {
        &self.axes[1..]
    }

    /// Elements per partition of an access on chip.
    pub fn free_count(&self) -> u64 {
        self.free_axes().iter().map(|it| u64::from(it.count)).product()
    }

    /// Offsets of the elements in row-major order.
    pub fn offsets(&self) -> Vec<u64> {
        let mut offsets = vec![self.start];
        for axis in &self.axes {
            offsets = offsets
                .iter()
                .flat_map(|&at| {
                    (0..axis.count).map(move |idx| at.wrapping_add_signed(axis.stride * i64::from(idx)))
                })
                .collect();
        }
        offsets
    }

    /// Whether the two may share a byte. It compares ranges, so interleaved views count as overlapping.
    pub fn overlaps(&self, other: &Access) -> bool {
        if self.space != other.space {
            return false;
        }
        let (mine, theirs) = (self.byte_range(), other.byte_range());
        let bytes_meet = mine.0 < theirs.1 && theirs.0 < mine.1;
        if !self.space.is_on_chip() {
            return bytes_meet;
        }
        let last = |it: &Access| u64::from(it.partition) + u64::from(it.partitions());
        u64::from(self.partition) < last(other) && u64::from(other.partition) < last(self) && bytes_meet
    }

    /// Whether the two visit the same bytes in the same order, each once: then an element may be written as soon as it
    /// has been read.
    pub fn same_elements(&self, other: &Access) -> bool {
        let index = |it: &Access| it.movement.as_ref().map(|it| (it.index, it.stride));
        self.start == other.start
            && self.dtype.size() == other.dtype.size()
            && self.axes == other.axes
            && index(self) == index(other)
            && self.visits_once()
    }

    /// Whether each axis steps over all that the narrower ones reach. Interleaved axes count as visiting twice.
    fn visits_once(&self) -> bool {
        let mut axes: Vec<Axis> = self.axes.iter().filter(|it| it.count > 1).copied().collect();
        axes.sort_by_key(|it| it.stride.unsigned_abs());
        let mut reach = u64::from(self.dtype.size());
        axes.iter().all(|it| {
            let stride = it.stride.unsigned_abs();
            let is_apart = reach <= stride;
            reach += stride * u64::from(it.count - 1);
            is_apart
        })
    }

    /// The bytes touched in the first partition, as offsets that are comparable between accesses of one memory.
    fn byte_range(&self) -> (u64, u64) {
        let partition = if self.space.is_on_chip() {
            u64::from(self.partition) * self.axes[0].stride as u64
        } else {
            0
        };
        let start = self.start - partition;
        (start - self.before, start + self.behind)
    }
}

/// Bytes from the first element to the farthest one, given each axis's stride in that direction.
fn span(strides: impl Iterator<Item = i64>, axes: &[Axis]) -> u64 {
    strides
        .zip(axes)
        .map(|(stride, axis)| stride as u64 * u64::from(axis.count.saturating_sub(1)))
        .sum()
}
