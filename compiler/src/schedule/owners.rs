//! The last buffer born at each byte of the on-chip memories.
//!
//! Takes buffers in the order in which they are first touched, gives the earlier buffers at their bytes. Buffers start at
//! a quadrant of partitions.

use crate::ir::{BufferId, Placement, Program, Region};
use crate::isa::Memory;
use std::ops::Range;

/// The smallest legal start partition above zero.
const QUADRANT: u16 = 32;
const N_QUADRANTS: usize = 4;

/// Bytes `start..end`, and who owns them in each quadrant.
#[derive(Clone, Copy)]
struct Piece {
    start: u32,
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

/// All bytes of a memory, ascending. There are few pieces: their number follows what is live.
type Pieces = Vec<Piece>;

pub struct Owners {
    sbuf: Pieces,
    psum: Pieces,
}

impl Owners {
    pub fn new() -> Owners {
        let all = Piece {
            start: 0,
            end: u32::MAX,
            owners: [None; N_QUADRANTS],
        };
        Owners {
            sbuf: vec![all],
            psum: vec![all],
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
        let first = split(pieces, start);
        if pieces[first].end == end {
            pieces[first].take(buffer, quadrants, &mut before);
            return before;
        }
        let behind = split(pieces, end);
        for piece in &mut pieces[first..behind] {
            piece.take(buffer, quadrants.clone(), &mut before);
        }
        // Pieces with one owner in all quadrants become one again.
        if quadrants.len() == N_QUADRANTS {
            pieces[first].end = end;
            pieces.drain(first + 1..behind);
        }
        before
    }
}

/// Makes a piece start at a byte and gives its number, or that behind the last one.
fn split(pieces: &mut Pieces, at: u32) -> usize {
    let behind = match pieces.binary_search_by_key(&at, |it| it.start) {
        Ok(number) => return number,
        Err(behind) => behind,
    };
    let Some(piece) = pieces.get_mut(behind - 1).filter(|it| at < it.end) else {
        return behind;
    };
    let right = Piece { start: at, ..*piece };
    piece.end = at;
    pieces.insert(behind, right);
    behind
}
