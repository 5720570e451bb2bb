//! Which elements of one buffer have been written.
//!
//! Takes the bytes of views, gives what is missing of others. A set only grows: a buffer is allocated once. Partitions
//! that were written alike share their bits, so a tile costs as much as one of its rows.

use super::bits::Bits;
use crate::footprint::Bytes;
use crate::ir::{Buffer, Program};

/// The bytes of a view: `bytes` in each of its partitions, counted from the buffer's start.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub first_partition: u32,
    pub end_partition: u32,
    pub bytes: Bytes,
}

impl Window {
    /// Whether the two share a byte.
    pub fn meets(&self, other: &Window) -> bool {
        let rows = self.first_partition < other.end_partition && other.first_partition < self.end_partition;
        rows && self.bytes.common(&other.bytes).is_some()
    }

    /// Whether every byte of the other one is here too. May answer no for patterns with two steps or more.
    pub fn covers(&self, other: &Window) -> bool {
        let rows = self.first_partition <= other.first_partition && other.end_partition <= self.end_partition;
        rows && self.bytes.contains(&other.bytes)
    }
}

/// Missing bytes `start..end` in each of the partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    pub first_partition: u32,
    pub end_partition: u32,
    pub start: u64,
    pub end: u64,
}

impl Gap {
    /// Bytes in all its partitions.
    pub fn bytes(&self) -> u64 {
        u64::from(self.end_partition - self.first_partition) * (self.end - self.start)
    }
}

/// The written part of a buffer.
#[derive(Clone, Debug)]
pub enum Written {
    Nothing,
    All,
    Some(Box<Parts>),
}

#[derive(Clone, Debug)]
pub struct Parts {
    /// The unit of a bit: the smallest element of any view of the buffer.
    unit: u64,
    /// Bytes of a partition.
    n_bytes: u64,
    n_partitions: u32,
    /// Neighbouring partitions that were written alike, ascending and without gaps.
    bands: Vec<Band>,
}

#[derive(Clone, Debug)]
struct Band {
    end_partition: u32,
    bits: Bits,
}

/// The size of a buffer, and the size of the smallest element that a view of it has.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    pub n_partitions: u32,
    pub n_bytes: u64,
    pub unit: u32,
}

impl Extent {
    pub fn of(buffer: &Buffer) -> Extent {
        Extent {
            n_partitions: buffer.partitions(),
            n_bytes: buffer.bytes(),
            unit: buffer.dtype.size(),
        }
    }

    /// Those of all buffers, in units that every view of a buffer is made of.
    pub fn of_views(program: &Program) -> Vec<Extent> {
        let mut extents: Vec<Extent> = program.buffers.iter().map(Extent::of).collect();
        for view in program.views() {
            let unit = &mut extents[view.buffer.index()].unit;
            *unit = view.dtype.size().min(*unit);
        }
        extents
    }
}

impl Written {
    pub fn insert(&mut self, extent: Extent, window: &Window) {
        let is_dense = window.bytes.is_dense() && window.bytes.end() - window.bytes.start == extent.n_bytes;
        if is_dense && window.end_partition - window.first_partition == extent.n_partitions {
            *self = Written::All;
        }
        if let Written::Nothing = self {
            *self = Written::Some(Box::new(Parts::new(extent)));
        }
        if let Written::Some(parts) = self {
            parts.insert(window);
            if parts.bands.iter().all(|it| it.bits.is_full()) {
                *self = Written::All;
            }
        }
    }

    /// Calls `visit` with everything that has been written.
    pub fn for_each_piece(&self, extent: Extent, mut visit: impl FnMut(Gap)) {
        match self {
            Written::Nothing => {}
            Written::All => visit(Gap {
                first_partition: 0,
                end_partition: extent.n_partitions,
                start: 0,
                end: extent.n_bytes,
            }),
            Written::Some(parts) => parts.for_each_piece(visit),
        }
    }

    /// Calls `visit` with what of a window has not been written.
    pub fn for_each_gap(&self, window: &Window, mut visit: impl FnMut(Gap)) {
        match self {
            Written::All => {}
            Written::Nothing => window.bytes.for_each_run(|start, end| {
                visit(Gap {
                    first_partition: window.first_partition,
                    end_partition: window.end_partition,
                    start,
                    end,
                });
            }),
            Written::Some(parts) => parts.for_each_gap(window, visit),
        }
    }
}

impl Parts {
    fn new(extent: Extent) -> Parts {
        let unit = u64::from(extent.unit);
        Parts {
            unit,
            n_bytes: extent.n_bytes,
            n_partitions: extent.n_partitions,
            bands: vec![Band {
                end_partition: extent.n_partitions,
                bits: Bits::new(extent.n_bytes.div_ceil(unit)),
            }],
        }
    }

    fn insert(&mut self, window: &Window) {
        let first = self.split(window.first_partition);
        let end = self.split(window.end_partition);
        for band in &mut self.bands[first..end] {
            window.bytes.for_each_run(|start, end| {
                band.bits
                    .insert(start / self.unit, end.min(self.n_bytes).div_ceil(self.unit));
            });
        }
        // Bands grow together again when the same has been written to both.
        self.bands.dedup_by(|later, band| {
            let is_same = later.bits == band.bits;
            if is_same {
                band.end_partition = later.end_partition;
            }
            is_same
        });
    }

    /// Makes a band start at a partition and returns its index.
    fn split(&mut self, partition: u32) -> usize {
        let idx = self.bands.partition_point(|it| it.end_partition <= partition);
        let start = if idx == 0 {
            0
        } else {
            self.bands[idx - 1].end_partition
        };
        if start == partition || partition >= self.n_partitions {
            return idx;
        }
        let band = Band {
            end_partition: partition,
            bits: self.bands[idx].bits.clone(),
        };
        self.bands.insert(idx, band);
        idx + 1
    }

    fn for_each_piece(&self, mut visit: impl FnMut(Gap)) {
        let mut first_partition = 0;
        for band in &self.bands {
            let end_partition = band.end_partition;
            let mut visit_until = |at: &mut u64, end: u64, next: u64| {
                if *at < end {
                    visit(Gap {
                        first_partition,
                        end_partition,
                        start: *at * self.unit,
                        end: (end * self.unit).min(self.n_bytes),
                    });
                }
                *at = next;
            };
            let n_units = self.n_bytes.div_ceil(self.unit);
            let mut at = 0;
            band.bits
                .for_each_missing(0, n_units, |from, to| visit_until(&mut at, from, to));
            visit_until(&mut at, n_units, n_units);
            first_partition = end_partition;
        }
    }

    fn for_each_gap(&self, window: &Window, mut visit: impl FnMut(Gap)) {
        let mut start_partition = 0;
        for band in &self.bands {
            let first_partition = start_partition.max(window.first_partition);
            let end_partition = band.end_partition.min(window.end_partition);
            start_partition = band.end_partition;
            if first_partition >= end_partition {
                continue;
            }
            window.bytes.for_each_run(|start, end| {
                band.bits
                    .for_each_missing(start / self.unit, end.div_ceil(self.unit), |from, to| {
                        visit(Gap {
                            first_partition,
                            end_partition,
                            start: from * self.unit,
                            end: to * self.unit,
                        });
                    });
            });
        }
    }
}
