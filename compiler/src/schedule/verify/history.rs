//! The accesses of one buffer's bytes that later ones still have to be compared with.
//!
//! Takes accesses in program order, gives the earlier ones that share bytes. An access is forgotten, byte by byte, once a
//! later one that is ordered behind it stands for it.

use super::super::grid::{Grid, Rect};
use crate::footprint::{Bytes, Footprint};
use crate::ir::InstId;
use crate::isa::Engine;

/// An access to some bytes.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub inst: InstId,
    pub bytes: Footprint,
    pub writes: bool,
    pub at: Place,
}

/// Where an instruction stands, and what completes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub queue: Engine,
    pub position: u32,
    pub is_transfer: bool,
}

/// How addresses fall into rows, for the index.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    pub origin: u64,
    pub pitch: u64,
}

#[derive(Debug, Default)]
pub struct History {
    accesses: Vec<Access>,
    /// Made when there are many accesses.
    index: Option<Index>,
}

#[derive(Debug)]
struct Index {
    grid: Grid,
    /// Which accesses have been forgotten.
    is_gone: Vec<bool>,
    n_gone: usize,
}

/// More accesses than this are found through an index.
const FEW: usize = 32;

impl History {
    /// Calls `visit` with every access that may share bytes with some others.
    pub fn near(&self, bytes: &Footprint, rows: Rows, mut visit: impl FnMut(&Access)) {
        match &self.index {
            None => self.accesses.iter().for_each(visit),
            Some(index) => index.grid.near(&Rect::of(bytes, rows.origin, rows.pitch), |id| {
                if !index.is_gone[id as usize] {
                    visit(&self.accesses[id as usize]);
                }
            }),
        }
    }

    /// Adds an access that has been compared with the others, and forgets what it stands for: a write for all accesses
    /// to its bytes, a read for earlier reads of the same lane.
    pub fn add(&mut self, access: Access, rows: Rows) {
        if self.index.is_some() {
            self.forget_indexed(&access, rows);
        } else {
            self.forget(&access);
        }
        self.push(access, rows);
    }

    /// Adds what an access of another buffer touches of a region.
    pub fn inherit(&mut self, mut access: Access, region: &Footprint, rows: Rows) {
        let bytes = &mut access.bytes;
        if bytes.bytes.is_dense() {
            let start = bytes.bytes.start.max(region.bytes.start);
            let end = bytes.bytes.end().min(region.bytes.end());
            bytes.bytes = Bytes::dense(start, end);
        }
        bytes.first_partition = bytes.first_partition.max(region.first_partition);
        bytes.end_partition = bytes.end_partition.min(region.end_partition);
        self.push(access, rows);
    }

    fn push(&mut self, access: Access, rows: Rows) {
        if let Some(index) = &mut self.index {
            let id = u32::try_from(self.accesses.len()).expect("accesses are numbered in 32 bits");
            index
                .grid
                .insert(id, &Rect::of(&access.bytes, rows.origin, rows.pitch));
            index.is_gone.push(false);
        }
        self.accesses.push(access);
        let is_stale = match &self.index {
            None => self.accesses.len() > FEW,
            Some(index) => index.n_gone > FEW + self.accesses.len() / 2,
        };
        if is_stale {
            self.reindex(rows);
        }
    }

    fn reindex(&mut self, rows: Rows) {
        if let Some(index) = self.index.take() {
            let mut is_gone = index.is_gone.into_iter();
            self.accesses.retain(|_| is_gone.next() == Some(false));
        }
        let rect = |it: &Access| Rect::of(&it.bytes, rows.origin, rows.pitch);
        let mut grid = Grid::new(self.accesses.iter().map(rect));
        for (id, it) in (0u32..).zip(&self.accesses) {
            grid.insert(id, &rect(it));
        }
        self.index = Some(Index {
            grid,
            is_gone: vec![false; self.accesses.len()],
            n_gone: 0,
        });
    }

    fn forget(&mut self, access: &Access) {
        let mut left = Vec::new();
        self.accesses.retain(|old| match rest(old, access) {
            None => true,
            Some(parts) => {
                left.extend(parts.into_iter().flatten());
                false
            }
        });
        self.accesses.append(&mut left);
    }

    fn forget_indexed(&mut self, access: &Access, rows: Rows) {
        let mut cut = Vec::new();
        let index = self.index.as_ref().expect("the caller has looked");
        index
            .grid
            .near(&Rect::of(&access.bytes, rows.origin, rows.pitch), |id| {
                if !index.is_gone[id as usize]
                    && let Some(parts) = rest(&self.accesses[id as usize], access)
                {
                    cut.push((id, parts));
                }
            });
        for (id, parts) in cut {
            let index = self
                .index
                .as_mut()
                .expect("accesses are cut before the next reindexing");
            index.is_gone[id as usize] = true;
            index.n_gone += 1;
            for part in parts.into_iter().flatten() {
                let id = u32::try_from(self.accesses.len()).expect("accesses are numbered in 32 bits");
                index
                    .grid
                    .insert(id, &Rect::of(&part.bytes, rows.origin, rows.pitch));
                index.is_gone.push(false);
                self.accesses.push(part);
            }
        }
    }
}

/// Up to four parts of an access.
type Parts = [Option<Access>; 4];

/// What of an old access a later one does not stand for; `None` when that is all of it.
fn rest(old: &Access, later: &Access) -> Option<Parts> {
    let stands_for = later.writes
        || (!old.writes
            && old.at.queue == later.at.queue
            && old.at.is_transfer == later.at.is_transfer
            && old.at.position <= later.at.position);
    if !stands_for {
        return None;
    }
    if later.bytes.contains(&old.bytes) {
        return Some([None; 4]);
    }
    let is_dense = old.bytes.bytes.is_dense() && later.bytes.bytes.is_dense();
    if !is_dense || old.bytes.common(&later.bytes).is_none() {
        return None;
    }
    let (a, b) = (&old.bytes, &later.bytes);
    let part = |partitions: (u32, u32), bytes: (u64, u64)| {
        let is_some = partitions.0 < partitions.1 && bytes.0 < bytes.1;
        is_some.then(|| Access {
            bytes: Footprint {
                memory: a.memory,
                first_partition: partitions.0,
                end_partition: partitions.1,
                bytes: Bytes::dense(bytes.0, bytes.1),
            },
            ..*old
        })
    };
    let all = (a.first_partition, a.end_partition);
    let (start, end) = (a.bytes.start, a.bytes.end());
    let middle = (start.max(b.bytes.start), end.min(b.bytes.end()));
    Some([
        part(all, (start, b.bytes.start)),
        part(all, (b.bytes.end(), end)),
        part((all.0, b.first_partition), middle),
        part((b.end_partition, all.1), middle),
    ])
}
