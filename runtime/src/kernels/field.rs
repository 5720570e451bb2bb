//! Rows of a tile as kernels see them: contiguous elements, one row per partition, anywhere in the reservation.
//!
//! Takes offsets that whoever made a call has proven to lie in the reservation, gives slices. Whoever makes a call also
//! sees to it that what is written overlaps nothing that is read, and that rows of words are aligned.

use super::Kernels;
use std::fmt::Debug;

/// The rows of a tile.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Offset of the first row in the reservation.
    pub start: u64,
    /// Bytes from one row to the next.
    pub pitch: i64,
    pub rows: usize,
    /// Elements of a row.
    pub n: usize,
}

/// A value per row, or one for all.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    Value(f32),
    /// The first element of each row.
    Column(Field),
}

/// An instruction that one kernel executes.
pub trait TileKernel: Debug + Send + Sync {
    /// # Safety
    /// All fields lie in the reservation at `base`, rows of words are aligned, and no written row overlaps another one.
    unsafe fn run(&self, kernels: &Kernels, base: *mut u8);
}

impl Field {
    fn at(&self, base: *mut u8, row: usize) -> *mut u8 {
        base.wrapping_add(self.start as usize)
            .wrapping_offset(self.pitch as isize * row as isize)
    }

    /// A row of f32 or of words, to read.
    ///
    /// # Safety
    /// As for [`TileKernel::run`], with `T` of four bytes, or of the element's size where rows are not of words.
    pub unsafe fn row<'a, T>(&self, base: *mut u8, row: usize) -> &'a [T] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.at(base, row).cast(), self.n) }
    }

    /// A row to write.
    ///
    /// # Safety
    /// As for [`Field::row`], and nothing else refers to the row.
    pub unsafe fn row_mut<'a, T>(&self, base: *mut u8, row: usize) -> &'a mut [T] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.at(base, row).cast(), self.n) }
    }

    /// The bytes of a row of elements of `size` bytes, to read.
    ///
    /// # Safety
    /// As for [`Field::row`].
    pub unsafe fn bytes<'a>(&self, base: *mut u8, row: usize, size: usize) -> &'a [u8] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(self.at(base, row), self.n * size) }
    }

    /// The bytes of a row of elements of `size` bytes, to write.
    ///
    /// # Safety
    /// As for [`Field::row_mut`].
    pub unsafe fn bytes_mut<'a>(&self, base: *mut u8, row: usize, size: usize) -> &'a mut [u8] {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.at(base, row), self.n * size) }
    }
}

impl Scalar {
    /// The value beside a row.
    ///
    /// # Safety
    /// As for [`Field::row`].
    pub unsafe fn of(&self, base: *mut u8, row: usize) -> f32 {
        match self {
            Scalar::Value(value) => *value,
            // SAFETY: the caller's promise.
            Scalar::Column(field) => unsafe { field.row(base, row)[0] },
        }
    }
}

/// A register of one word per partition, the first one's offset being `start`.
///
/// # Safety
/// The register lies in the reservation at `base`.
pub unsafe fn register<'a, T>(base: *mut u8, start: u64, row: usize) -> &'a mut T {
    // SAFETY: registers are aligned words, and a kernel refers to one at a time.
    unsafe { &mut *base.add(start as usize + row * 4).cast() }
}
