//! Calls that need no compiled code: bulk copies, matrix products and transposes over tiles of any dtype and stride.
//!
//! Takes tiles as offsets into the reservation, which whoever made the call has proven to lie in it. Rows that a matrix
//! kernel cannot read in place are converted into scratch rows first.

use super::Kernels;
use super::lanes::{LINE, prefetch};
use super::matrix::{Product, Rows};
use crate::memory::{Layout, padded};
use nk_compiler::dtype::Dtype;

/// A copy of runs of contiguous bytes.
#[derive(Clone, Debug)]
pub struct Bulk {
    pub dst: u64,
    pub src: u64,
    pub bytes: usize,
    /// Count and the distances that dst and src move, outermost first.
    pub loops: Vec<(u32, i64, i64)>,
}

/// A tile as a matrix: a row per partition, its columns being the flattened free axes.
#[derive(Clone, Debug)]
pub struct Plane {
    pub start: u64,
    pub dtype: Dtype,
    pub rows: usize,
    pub pitch: i64,
    pub columns: usize,
    /// Count and stride of the free axes, merged.
    pub loops: Vec<(u32, i64)>,
}

/// dst = or += stationary transposed times moving.
#[derive(Clone, Debug)]
pub struct MatrixProduct {
    pub dst: Plane,
    pub stationary: Plane,
    pub moving: Plane,
    pub adds: bool,
    /// Byte ranges of f32 that become -0 first, so that adding overwrites them.
    pub cleared: Vec<(u64, usize)>,
}

/// dst = data transposed, as a product with the identity.
#[derive(Clone, Debug)]
pub struct Identity {
    pub dst: Plane,
    pub data: Plane,
}

/// A move of 32-bit elements whose rows become columns: dst[f, p] = src[p, f].
#[derive(Clone, Debug)]
pub struct Turn {
    pub dst: u64,
    pub src: u64,
    /// Of src, as those of dst are its columns.
    pub rows: usize,
    pub columns: usize,
    /// Elements from one row to the next.
    pub dst_pitch: usize,
    pub src_pitch: usize,
    /// Count and the distances in bytes that dst and src move, outermost first.
    pub loops: Vec<(u32, i64, i64)>,
}

/// So many rows before a row is read, the CPU is asked for it.
const ROWS_AHEAD: usize = 4;

impl Turn {
    pub fn addresses(&mut self) -> [&mut u64; 2] {
        [&mut self.dst, &mut self.src]
    }

    /// # Safety
    /// Both tiles lie in the reservation at `base` and share no byte.
    pub unsafe fn run(&self, kernels: &Kernels, base: *mut u8) {
        let (dst, src) = (
            base.wrapping_add(self.dst as usize),
            base.wrapping_add(self.src as usize),
        );
        // SAFETY: the caller's promise.
        unsafe { self.blocks(&self.loops, kernels, dst, src) };
    }

    /// # Safety
    /// As for [`Turn::run`], from the loops that are left on.
    unsafe fn blocks(&self, loops: &[(u32, i64, i64)], kernels: &Kernels, dst: *mut u8, src: *mut u8) {
        let Some((&(count, to, from), inner)) = loops.split_first() else {
            let (dst, data) = (
                Rows {
                    at: dst.cast(),
                    pitch: self.dst_pitch,
                },
                Rows {
                    at: src.cast(),
                    pitch: self.src_pitch,
                },
            );
            // SAFETY: the caller's promise.
            return unsafe { (kernels.turn)(dst, data, self.rows, self.columns) };
        };
        for idx in 0..i64::from(count) {
            let (dst, src) = (
                dst.wrapping_offset((to * idx) as isize),
                src.wrapping_offset((from * idx) as isize),
            );
            // SAFETY: the caller's promise.
            unsafe { self.blocks(inner, kernels, dst, src) };
        }
    }
}

impl Bulk {
    /// # Safety
    /// Both tiles lie in the reservation at `base` and share no byte.
    pub unsafe fn run(&self, base: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe {
            copy(
                &self.loops,
                base.add(self.dst as usize),
                base.add(self.src as usize),
                self.bytes,
            )
        };
    }
}

/// Copies runs of bytes.
///
/// # Safety
/// All runs are accessible, and none of dst meets one of src.
unsafe fn copy(loops: &[(u32, i64, i64)], dst: *mut u8, src: *const u8, bytes: usize) {
    let Some((&(count, to, from), inner)) = loops.split_first() else {
        // SAFETY: the caller's promise.
        return unsafe { std::ptr::copy_nonoverlapping(src, dst, bytes) };
    };
    for idx in 0..i64::from(count) {
        let (dst, src) = (
            dst.wrapping_offset((to * idx) as isize),
            src.wrapping_offset((from * idx) as isize),
        );
        // SAFETY: the caller's promise.
        unsafe { copy(inner, dst, src, bytes) };
    }
}

impl Bulk {
    pub fn addresses(&mut self) -> [&mut u64; 2] {
        [&mut self.dst, &mut self.src]
    }
}

impl MatrixProduct {
    pub fn addresses(&mut self) -> [&mut u64; 3] {
        [
            &mut self.dst.start,
            &mut self.stationary.start,
            &mut self.moving.start,
        ]
    }
}

impl Identity {
    pub fn addresses(&mut self) -> [&mut u64; 2] {
        [&mut self.dst.start, &mut self.data.start]
    }
}

impl Plane {
    /// Whether a matrix kernel reads and writes the tile in place.
    fn is_plain(&self) -> bool {
        self.dtype == Dtype::F32 && self.is_contiguous()
    }

    fn is_contiguous(&self) -> bool {
        match self.loops[..] {
            [] => true,
            [(_, stride)] => stride == i64::from(self.dtype.size()),
            _ => false,
        }
    }

    /// # Safety
    /// The tile lies in the reservation at `base`.
    unsafe fn row(&self, base: *mut u8, row: usize) -> *mut u8 {
        base.wrapping_offset(self.start as isize + self.pitch as isize * row as isize)
    }

    fn in_place(&self, base: *mut u8) -> Rows {
        Rows {
            at: base.wrapping_add(self.start as usize).cast(),
            pitch: self.pitch as usize / 4,
        }
    }

    /// A row as runs of elements that lie together: their length, and their distances from the row's first element.
    fn runs(&self) -> (usize, Vec<isize>) {
        let (run, outer) = match self.loops.split_last() {
            None => (1, &[][..]),
            Some((&(count, stride), outer)) if stride == i64::from(self.dtype.size()) => {
                (count as usize, outer)
            }
            Some(_) => (1, &self.loops[..]),
        };
        let mut offsets = vec![0];
        for &(count, stride) in outer {
            let step = |at: &isize| {
                (0..count as isize)
                    .map(|idx| *at + idx * stride as isize)
                    .collect::<Vec<_>>()
            };
            offsets = offsets.iter().flat_map(step).collect();
        }
        (run, offsets)
    }

    /// The tile as rows of f32: in place, or converted into scratch.
    ///
    /// # Safety
    /// The tile lies in the reservation at `base`, and the scratch has room for it.
    unsafe fn load(&self, kernels: &Kernels, base: *mut u8, scratch: Rows) -> Rows {
        if self.is_plain() {
            return self.in_place(base);
        }
        let size = self.dtype.size() as usize;
        let load = kernels.load[self.dtype as usize];
        let (run, offsets) = self.runs();
        let mut packed = vec![0u8; if run > 1 { 0 } else { offsets.len() * size }];
        for idx in 0..self.rows {
            // SAFETY: the caller's promise; `packed` has room for a row.
            unsafe {
                let from = self.row(base, idx).cast_const();
                let to = scratch.at.add(idx * scratch.pitch);
                if run > 1 {
                    // Partitions lie far apart: no CPU guesses where the next ones begin.
                    let ahead = self.row(base, idx + ROWS_AHEAD);
                    for (number, &offset) in offsets.iter().enumerate() {
                        for at in (0..run * size).step_by(LINE) {
                            prefetch(ahead.wrapping_offset(offset).wrapping_add(at));
                        }
                        load(to.add(number * run), from.wrapping_offset(offset), run);
                    }
                    continue;
                }
                for (to, &offset) in packed.chunks_exact_mut(size).zip(&offsets) {
                    std::ptr::copy_nonoverlapping(from.wrapping_offset(offset), to.as_mut_ptr(), size);
                }
                load(to, packed.as_ptr(), self.columns);
            }
        }
        scratch
    }

    /// Casts rows of f32 into the tile.
    ///
    /// # Safety
    /// The tile lies in the reservation at `base` and does not overlap the rows.
    unsafe fn store(&self, kernels: &Kernels, base: *mut u8, from: Rows) {
        let size = self.dtype.size() as usize;
        let store = kernels.store[self.dtype as usize];
        let (run, offsets) = self.runs();
        let mut packed = vec![0u8; if run > 1 { 0 } else { offsets.len() * size }];
        for idx in 0..self.rows {
            // SAFETY: the caller's promise; `packed` has room for a row.
            unsafe {
                let (to, from) = (self.row(base, idx), from.at.add(idx * from.pitch));
                if run > 1 {
                    for (number, &offset) in offsets.iter().enumerate() {
                        store(to.wrapping_offset(offset), from.add(number * run), run);
                    }
                    continue;
                }
                store(packed.as_mut_ptr(), from, self.columns);
                for (element, &offset) in packed.chunks_exact(size).zip(&offsets) {
                    std::ptr::copy_nonoverlapping(element.as_ptr(), to.wrapping_offset(offset), size);
                }
            }
        }
    }
}

/// Scratch row `idx` as a matrix with room for `plane`.
fn scratch(layout: &Layout, base: *mut u8, idx: u64, plane: &Plane) -> Rows {
    let pitch = padded(plane.columns as u64 * 4);
    assert!(
        pitch * plane.rows as u64 <= layout.row_pitch,
        "operands of the PE array fit in a scratch row"
    );
    Rows {
        at: base
            .wrapping_add((layout.rows + idx * layout.row_pitch) as usize)
            .cast(),
        pitch: pitch as usize / 4,
    }
}

impl MatrixProduct {
    /// # Safety
    /// All tiles lie in the reservation at `base`, and dst overlaps no other.
    pub unsafe fn run(&self, kernels: &Kernels, layout: &Layout, base: *mut u8) {
        let rows = |idx: u64, plane: &Plane| scratch(layout, base, idx, plane);
        // SAFETY: the caller's promise; the scratch rows are apart.
        unsafe {
            for &(at, bytes) in &self.cleared {
                let words = base.add(at as usize).cast::<[u8; 4]>();
                std::slice::from_raw_parts_mut(words, bytes / 4).fill((-0.0f32).to_le_bytes());
            }
            let stationary = self.stationary.load(kernels, base, rows(0, &self.stationary));
            let moving = self.moving.load(kernels, base, rows(1, &self.moving));
            let dst = self.dst.load(kernels, base, rows(2, &self.dst));
            (kernels.multiply)(&Product {
                dst,
                stationary,
                moving,
                k: self.stationary.rows,
                m: self.stationary.columns,
                n: self.moving.columns,
                adds: self.adds,
            });
            if !self.dst.is_plain() {
                self.dst.store(kernels, base, dst);
            }
        }
    }
}

impl Identity {
    /// # Safety
    /// Both tiles lie in the reservation at `base` and share no byte.
    pub unsafe fn run(&self, kernels: &Kernels, layout: &Layout, base: *mut u8) {
        let rows = |idx: u64, plane: &Plane| scratch(layout, base, idx, plane);
        // SAFETY: the caller's promise; the scratch rows are apart.
        unsafe {
            let data = self.data.load(kernels, base, rows(0, &self.data));
            let plain = self.dst.is_plain();
            let dst = if plain {
                self.dst.in_place(base)
            } else {
                rows(1, &self.dst)
            };
            (kernels.transpose)(dst, data, self.data.rows, self.data.columns);
            if !plain {
                self.dst.store(kernels, base, dst);
            }
        }
    }
}
