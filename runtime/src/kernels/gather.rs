//! Moves of raw elements by positions that data or a mask gives.

use super::Kernels;
use super::field::{Field, TileKernel};
use nk_compiler::ir::Shuffle;

/// Rows move between the lanes of each quadrant.
#[derive(Debug)]
pub struct ShuffleRows {
    pub to: Field,
    pub from: Field,
    pub size: usize,
    pub mask: Shuffle,
}

/// Each row takes elements at its own indices.
#[derive(Debug)]
pub struct Gather {
    pub to: Field,
    pub from: Field,
    pub indices: Field,
    pub size: usize,
}

/// The rows of a GpSimd core share their indices, the row changing fastest.
#[derive(Debug)]
pub struct SharedGather {
    pub to: Field,
    pub from: Field,
    pub indices: Field,
    /// Bytes of an element, and elements of an index.
    pub size: usize,
    pub run: usize,
    /// Indices of a core.
    pub count: usize,
}

/// Partitions of a GpSimd core.
const CORE: usize = 16;

impl TileKernel for ShuffleRows {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        for row in 0..self.to.rows {
            let entry = self.mask.0[row % Shuffle::LANES];
            if entry == Shuffle::KEEP {
                continue;
            }
            let from = row - row % Shuffle::LANES + usize::from(entry);
            // SAFETY: the caller's promise; the verifier has proven that the row exists.
            unsafe {
                let from = self.from.bytes(base, from, self.size);
                self.to.bytes_mut(base, row, self.size).copy_from_slice(from);
            }
        }
    }
}

/// Copies `bytes` bytes from a position in a row; what lies outside is all ones.
fn take(to: &mut [u8], row: &[u8], at: usize) {
    let inside = row.get(at..).map_or(0, |it| it.len().min(to.len()));
    let (there, missing) = to.split_at_mut(inside);
    if inside > 0 {
        there.copy_from_slice(&row[at..at + inside]);
    }
    missing.fill(0xff);
}

impl TileKernel for Gather {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        for row in 0..self.to.rows {
            // SAFETY: the caller's promise.
            let (to, from, indices): (_, _, &[u32]) = unsafe {
                (
                    self.to.bytes_mut(base, row, self.size),
                    self.from.bytes(base, row, self.size),
                    self.indices.row(base, row),
                )
            };
            for (to, &idx) in to.chunks_exact_mut(self.size).zip(indices) {
                take(to, from, (idx as usize).saturating_mul(self.size));
            }
        }
    }
}

impl TileKernel for SharedGather {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        for core in (0..self.to.rows).step_by(CORE) {
            // SAFETY: the caller's promise.
            let index = |k: usize| unsafe { self.indices.row::<[u8; 2]>(base, core + k % CORE)[k / CORE] };
            let starts: Vec<usize> = (0..self.count)
                .map(|k| usize::from(u16::from_le_bytes(index(k))) * self.size)
                .collect();
            for row in core..core + CORE {
                // SAFETY: the caller's promise.
                let (to, from) = unsafe {
                    (
                        self.to.bytes_mut(base, row, self.size),
                        self.from.bytes(base, row, self.size),
                    )
                };
                for (to, &at) in to.chunks_exact_mut(self.size * self.run).zip(&starts) {
                    take(to, from, at);
                }
            }
        }
    }
}
