//! Rows that are copied or added to or from addresses of their own: gathers and scatters.
//!
//! Takes two sides, each with rows at equal distances or at indices that are read when it runs, gives the fault of the
//! first index that is out of bounds. Nothing is written before every index has been read.

use crate::access::Movement;
use crate::fault::{Index, read_index};
use crate::memory::Memory;
use crate::reference::cast::{decode, encode, encode_random};
use crate::reference::rounding;
use nk_compiler::dtype::Dtype;

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

/// A sum of rows: each is read, added up in f32 and written before the next.
#[derive(Clone, Debug)]
pub struct RowSum {
    pub rows: u32,
    pub dst: RowTerm,
    pub sources: Vec<RowTerm>,
    /// What stochastic rounding of the sum starts from.
    pub random: Option<u64>,
}

/// An operand of a sum of rows.
#[derive(Clone, Debug)]
pub struct RowTerm {
    pub side: Side,
    pub dtype: Dtype,
    /// Distances of the elements of a row from its start.
    pub elements: Vec<i64>,
}

impl RowSum {
    pub fn run(&self, memory: &mut Memory, registers: &[i32]) -> Result<(), Index> {
        let terms = || std::iter::once(&self.dst).chain(&self.sources);
        let mut starts = Vec::with_capacity(self.rows as usize * (self.sources.len() + 1));
        for row in 0..self.rows {
            for term in terms() {
                starts.push(term.side.row(row, memory, registers)?);
            }
        }
        let length = self.dst.elements.len();
        let mut sums = vec![0f32; length];
        for (row, starts) in starts.chunks(self.sources.len() + 1).enumerate() {
            for (number, (term, start)) in self.sources.iter().zip(&starts[1..]).enumerate() {
                let size = term.dtype.size();
                for (sum, distance) in sums.iter_mut().zip(&term.elements) {
                    let value = decode(
                        term.dtype,
                        memory.word(start.wrapping_add_signed(*distance), size),
                    );
                    *sum = if number == 0 { value } else { *sum + value };
                }
            }
            let (dtype, size) = (self.dst.dtype, self.dst.dtype.size());
            for (element, (sum, distance)) in sums.iter().zip(&self.dst.elements).enumerate() {
                let word = match self.random {
                    Some(key) => {
                        encode_random(dtype, *sum, rounding::bits(key, (row * length + element) as u64))
                    }
                    None => encode(dtype, *sum),
                };
                memory.set_word(starts[0].wrapping_add_signed(*distance), size, word);
            }
        }
        Ok(())
    }
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
