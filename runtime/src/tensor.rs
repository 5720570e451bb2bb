//! Arrays on the host: what goes into a kernel, what comes out, and what it is compared with.
//!
//! Gives [`Tensor`] with exact conversions, files (`.npy`, `.npz`, `.safetensors`), generators, the argument syntax of
//! the command line, and comparison. Every size that a file claims is checked before memory is taken for it. Never
//! looks at programs or emulated memory.

mod arg;
mod archive;
mod compare;
mod element;
mod error;
mod generate;
mod npy;
mod safetensor;

pub use arg::{ArgSpec, Loaded, Source, parse_arg};
pub use compare::{Check, Tolerance, compare};
pub use error::Error;
pub use generate::Generator;

use crate::reference::cast;
use nk_compiler::dtype::Dtype;
use std::path::{Path, PathBuf};

/// The largest tensor that files and generators may make: a guard against sizes that nobody meant.
const MAX_BYTES: u64 = 1 << 32;

/// An array of the elements of one dtype, row-major, little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    /// Makes a tensor of bytes; `None` unless there are as many as the shape says.
    pub fn new(dtype: Dtype, shape: Vec<usize>, bytes: Vec<u8>) -> Option<Tensor> {
        let is_full = byte_count(dtype, &shape) == Some(bytes.len() as u64);
        is_full.then_some(Tensor { dtype, shape, bytes })
    }

    /// Makes a tensor of values, each rounded to f32 and then to the dtype as the hardware does.
    ///
    /// `None` unless there are as many values as the shape says.
    pub fn from_f64(dtype: Dtype, shape: Vec<usize>, values: &[f64]) -> Option<Tensor> {
        let mut bytes = Vec::with_capacity(values.len() * dtype.size() as usize);
        for &value in values {
            push(&mut bytes, dtype, value);
        }
        Tensor::new(dtype, shape, bytes)
    }

    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Part `index` of `n` equal ones along an axis.
    pub fn part(&self, axis: usize, index: usize, n: usize) -> Tensor {
        let mut shape = self.shape.clone();
        shape[axis] /= n;
        let bytes = part(&self.bytes, &self.shape, axis, index, n);
        Tensor {
            dtype: self.dtype,
            shape,
            bytes,
        }
    }

    /// Number of elements.
    pub fn count(&self) -> usize {
        self.bytes.len() / self.dtype.size() as usize
    }

    /// The exact value of every element.
    pub fn to_f64(&self) -> Vec<f64> {
        let raw = self.bytes.chunks_exact(self.dtype.size() as usize);
        raw.map(|it| value(self.dtype, it)).collect()
    }

    /// Writes `DIR/NAME.npy`, or `DIR/NAME.safetensors` for a dtype that npy has no name for.
    pub fn write(&self, dir: &Path, name: &str) -> Result<PathBuf, Error> {
        match npy::descr(self.dtype) {
            Some(descr) => npy::write(self, descr, &dir.join(format!("{name}.npy"))),
            None => safetensor::write(self, name, &dir.join(format!("{name}.safetensors"))),
        }
    }
}

/// Part `index` of `n` equal ones along an axis, of the elements of a shape; each element is equally many items.
pub fn part<T: Copy>(items: &[T], shape: &[usize], axis: usize, index: usize, n: usize) -> Vec<T> {
    let n_outer: usize = shape[..axis].iter().product();
    let row = items.len() / n_outer.max(1);
    let share = row / n;
    (0..n_outer)
        .flat_map(|outer| &items[outer * row + index * share..][..share])
        .copied()
        .collect()
}

/// Bytes of a tensor; `None` when the number is too large for any machine.
fn byte_count(dtype: Dtype, shape: &[usize]) -> Option<u64> {
    let mut sizes = shape.iter().map(|&it| it as u64);
    sizes.try_fold(u64::from(dtype.size()), u64::checked_mul)
}

/// Appends one value as an element.
fn push(bytes: &mut Vec<u8>, dtype: Dtype, value: f64) {
    let raw = if dtype.is_int() && dtype != Dtype::Bool {
        // The cast saturates at the ends of i64, and `encode_integer` at those of the dtype.
        cast::encode_integer(dtype, value.round_ties_even() as i64)
    } else {
        cast::encode(dtype, value as f32)
    };
    bytes.extend_from_slice(&raw.to_le_bytes()[..dtype.size() as usize]);
}

/// The exact value of one element.
fn value(dtype: Dtype, element: &[u8]) -> f64 {
    let mut raw = [0; 4];
    raw[..element.len()].copy_from_slice(element);
    let raw = u32::from_le_bytes(raw);
    match dtype {
        // These have more bits than an f32 holds.
        Dtype::I32 => f64::from(raw as i32),
        Dtype::U32 => f64::from(raw),
        _ => f64::from(cast::decode(dtype, raw)),
    }
}

#[cfg(test)]
mod tests;
