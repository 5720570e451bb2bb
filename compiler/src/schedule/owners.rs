//! The last buffer born at each byte of the on-chip memories.
//!
//! Takes buffers in the order in which they are first touched, gives the earlier buffers at their bytes. Buffers start at
//! a quadrant of partitions.

use crate::ir::{BufferId, Placement, Program, Region};
use crate::isa::Memory;
use std::collections::BTreeMap;
use std::ops::Range;

/// The smallest legal start partition above zero.
const QUADRANT: u16 = 32;
const N_QUADRANTS: usize = 4;

/// Bytes up to `end`, and who owns them in each quadrant.
#[derive(Clone, Copy)]
struct Piece {
    end: u32,
    owners: [Option<BufferId>; N_QUADRANTS],
}

impl Piece {
    /// Gives some quadrants a new owner and adds the old ones to `before`.
    fn take(&mut self, buffer: BufferId, quadrants: Range<usize>, before: &mut Vec<BufferId>) {
        for owner in &mut self.owners[quadrants] {
            if let Some(owner) = owner.replace(buffer).filter(|it| !before.contains(it)) {
                before.push(owner);
            }
        }
    }
}

/// Pieces by their first byte.
type Pieces = BTreeMap<u32, Piece>;

pub struct Owners {
    sbuf: Pieces,
    psum: Pieces,
}

impl Owners {
    pub fn new() -> Owners {
        let all = Piece {
            end: u32::MAX,
            owners: [None; N_QUADRANTS],
        };
        Owners {
            sbuf: BTreeMap::from([(0, all)]),
            psum: BTreeMap::from([(0, all)]),
        }
    }

    /// Makes a buffer the owner of its bytes and returns who owned any of them.
    pub fn take_over(&mut self, program: &Program, placement: &Placement, buffer: BufferId) -> Vec<BufferId> {
        let mut before = Vec::new();
        let Region::OnChip {
            partition,
            partitions,
            start,
            end,
        } = placement.region(buffer)
        else {
            return before;
        };
        if start >= end {
            return before;
        }
        let quadrants = usize::from(partition / QUADRANT)
            ..usize::from((partition + partitions).div_ceil(QUADRANT)).min(N_QUADRANTS);
        let pieces = match program[buffer].memory {
            Memory::Psum => &mut self.psum,
            _ => &mut self.sbuf,
        };
        // Mostly a buffer takes just the bytes of an earlier one.
        if let Some(piece) = pieces.get_mut(&start)
            && piece.end == end
        {
            piece.take(buffer, quadrants, &mut before);
            return before;
        }
        split(pieces, start);
        split(pieces, end);
        let mut n_pieces = 0;
        for piece in pieces.range_mut(start..end).map(|it| it.1) {
            n_pieces += 1;
            piece.take(buffer, quadrants.clone(), &mut before);
        }
        // Pieces with one owner in all quadrants become one again, so that their number follows what is live.
        if n_pieces > 1 && quadrants.len() == N_QUADRANTS {
            let inner: Vec<u32> = pieces.range(start + 1..end).map(|it| *it.0).collect();
            for start in inner {
                pieces.remove(&start);
            }
            pieces
                .get_mut(&start)
                .expect("a piece starts where it was split")
                .end = end;
        }
        before
    }
}

/// Makes a piece start at a byte.
fn split(pieces: &mut Pieces, at: u32) {
    if pieces.contains_key(&at) {
        return;
    }
    let (_, piece) = pieces
        .range_mut(..at)
        .next_back()
        .expect("the first piece starts at byte 0");
    let right = *piece;
    piece.end = at;
    pieces.insert(at, right);
}
