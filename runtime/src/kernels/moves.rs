//! Rows that are copied to or from addresses of their own: gathers and scatters.
//!
//! Takes two sides, each with rows at equal distances or at indices that are read when it runs, gives the fault of the
//! first index that is out of bounds. Nothing is written before every index has been read.

use crate::access::Movement;
use crate::fault::{Index, read_index};
use crate::memory::Memory;

/// Where the rows of a tile lie.
#[derive(Clone, Debug)]
pub struct Side {
    pub start: u64,
    pub pitch: i64,
    /// Moves the tile, or with an index for each row each row; the pitch is 0 then.
    pub movement: Option<Movement>,
}

/// A copy of rows, each a nest of elements or runs.
#[derive(Clone, Debug)]
pub struct RowMove {
    pub rows: u32,
    pub dst: Side,
    pub src: Side,
    /// Bytes that lie together on both sides.
    pub run: u64,
    /// Count and the distances that dst and src move within a row, outermost first.
    pub loops: Vec<(u32, i64, i64)>,
    /// Further indices that must be in bounds for a row to be copied.
    pub masks: Vec<Movement>,
    /// Leaves rows out whose index is out of bounds.
    pub skips: bool,
}

impl Side {
    fn row(&self, row: u32, memory: &Memory, registers: &[i32]) -> Result<u64, Index> {
        let at = self.start.wrapping_add_signed(self.pitch * i64::from(row));
        Ok(match &self.movement {
            Some(it) => at + it.stride * u64::from(read_index(it, row, memory, registers)?),
            None => at,
        })
    }
}

impl RowMove {
    pub fn run(&self, memory: &mut Memory, registers: &[i32]) -> Result<(), Index> {
        let mut places = Vec::with_capacity(self.rows as usize);
        for row in 0..self.rows {
            let mask = self
                .masks
                .iter()
                .try_for_each(|it| read_index(it, row, memory, registers).map(|_| ()));
            let place = mask.and_then(|()| {
                Ok((
                    self.dst.row(row, memory, registers)?,
                    self.src.row(row, memory, registers)?,
                ))
            });
            match place {
                Ok(place) => places.push(place),
                Err(_) if self.skips => {}
                Err(index) => return Err(index),
            }
        }
        for (dst, src) in places {
            copy(memory, &self.loops, dst, src, self.run);
        }
        Ok(())
    }
}

fn copy(memory: &mut Memory, loops: &[(u32, i64, i64)], dst: u64, src: u64, run: u64) {
    let Some((&(count, to, from), inner)) = loops.split_first() else {
        return memory.move_bytes(dst, src, run);
    };
    for idx in 0..i64::from(count) {
        let (dst, src) = (
            dst.wrapping_add_signed(to * idx),
            src.wrapping_add_signed(from * idx),
        );
        copy(memory, inner, dst, src, run);
    }
}
