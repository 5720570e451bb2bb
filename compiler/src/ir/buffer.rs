//! Tensors as a program has them: a name, a dtype and a shape in a memory.
//!
//! Never says where a tensor lies; that is the placement's.

use super::{LocId, MAX_DIMS};
use crate::diagnostic::quote;
use crate::dtype::Dtype;
use crate::isa::Memory;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The sizes of a tensor, outermost first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    rank: u8,
    dims: [u32; Shape::MAX_RANK],
}

impl Shape {
    pub const MAX_RANK: usize = MAX_DIMS;

    /// Makes a shape of at most [`Shape::MAX_RANK`] dimensions.
    pub fn new(dims: &[u32]) -> Option<Shape> {
        let mut shape = Shape {
            rank: u8::try_from(dims.len()).ok()?,
            dims: [0; Shape::MAX_RANK],
        };
        shape.dims.get_mut(..dims.len())?.copy_from_slice(dims);
        Some(shape)
    }

    /// Number of elements.
    pub fn count(&self) -> u64 {
        self.iter().map(|&it| u64::from(it)).product()
    }
}

impl Deref for Shape {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.dims[..usize::from(self.rank)]
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A buffer's name: the word from the source and, inside unrolled loops, the numbers of the iterations.
///
/// Names are unique in a program; a second tensor of the same name in the same iteration gets `copy` = 2, 3, …
/// Text: `%base`, `%base.0.3`, `%base.0.3'2`; a base that is no word is quoted, `%"my base"`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    pub base: Arc<str>,
    pub instance: Option<Arc<[u32]>>,
    pub copy: u32,
}

impl Name {
    pub fn plain(base: &str) -> Name {
        Name {
            base: base.into(),
            instance: None,
            copy: 1,
        }
    }
}

/// Whether IR text can hold it without quotation marks.
pub fn is_word(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|it| it.is_alphabetic() || it == '_')
        && chars.all(|it| it.is_alphanumeric() || it == '_')
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_word(&self.base) {
            write!(f, "%{}", self.base)?;
        } else {
            write!(f, "%{}", quote(&self.base))?;
        }
        for it in self.instance.iter().flat_map(|it| it.iter()) {
            write!(f, ".{it}")?;
        }
        if self.copy > 1 {
            write!(f, "'{}", self.copy)?;
        }
        Ok(())
    }
}

/// How a buffer is seen from outside the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// An argument; it may also be written (then it is reported as mutated) or returned.
    In,
    /// A result.
    Out,
    /// Lives and dies inside the kernel.
    Local,
}

/// The storage of one tensor.
///
/// On chip, `shape[0]` is the partition count and the rest is laid out row-major in each partition. In HBM the whole
/// shape is row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    pub name: Name,
    pub dtype: Dtype,
    pub shape: Shape,
    pub memory: Memory,
    pub role: Role,
    /// Where the user asked for it to be.
    pub request: Option<Request>,
    pub loc: Option<LocId>,
}

impl Buffer {
    /// Partitions it occupies; 1 in HBM.
    pub fn partitions(&self) -> u32 {
        if self.memory.is_on_chip() {
            self.shape[0]
        } else {
            1
        }
    }

    /// Elements in each partition; all elements in HBM.
    pub fn free_count(&self) -> u64 {
        let skip = usize::from(self.memory.is_on_chip());
        self.shape[skip..].iter().map(|&it| u64::from(it)).product()
    }

    /// Bytes of the last dimension.
    pub fn row_bytes(&self) -> u64 {
        let count = self.shape.last().map_or(1, |&it| u64::from(it));
        (count * u64::from(self.dtype.size())).max(1)
    }

    /// Bytes in each partition; all bytes in HBM.
    pub fn bytes(&self) -> u64 {
        self.free_count() * u64::from(self.dtype.size())
    }
}

/// `address=(partition, byte)` of `nl.ndarray`; for PSUM the byte is bank * 2048 + offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    pub partition: u32,
    pub byte: u32,
}
