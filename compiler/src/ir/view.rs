//! What instructions touch of a tensor, and the other things that they name by id: patterns, masks of shuffles, ranks.

use super::{Buffer, BufferId, Dynamic};
use crate::dtype::Dtype;
use rustc_hash::FxBuildHasher;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};

/// One `[stride, count]` pair, in elements of the view's dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dim {
    pub stride: i32,
    pub count: u32,
}

/// The most pairs a view has, the partition pair included: classic kernels index partitions and three image axes on two
/// levels. Instructions take fewer, so `specialize/split.rs` makes several of one.
pub const MAX_DIMS: usize = 7;

/// A window onto a buffer.
///
/// On chip, `dims[0]` is the partition pair: its count is the number of partitions, its stride is always 1 (partitions
/// are contiguous), and `partition` is the first one, relative to the buffer's. The other pairs and `offset` count
/// elements of `dtype` inside a partition. In HBM all pairs and `offset` count elements, and `partition` is 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct View {
    pub buffer: BufferId,
    pub dtype: Dtype,
    rank: u8,
    pub partition: u16,
    pub offset: i64,
    dims: [Dim; MAX_DIMS],
    /// What is added to the offset at run time.
    pub dynamic: Option<Dynamic>,
}

impl Hash for View {
    /// Pairs beyond the rank are all zero, so only those within it are hashed: every instruction interns its views.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let head = u64::from(self.partition) << 16 | (self.dtype as u64) << 8 | u64::from(self.rank);
        state.write_u64((self.buffer.index() as u64) << 32 | head);
        state.write_i64(self.offset);
        for dim in self.dims() {
            state.write_u64((dim.stride as u32 as u64) << 32 | u64::from(dim.count));
        }
        if let Some(dynamic) = self.dynamic {
            dynamic.hash(state);
        }
    }
}

/// The hash by which a program finds a view.
pub(super) fn view_hash(view: &View) -> u64 {
    FxBuildHasher.hash_one(view)
}

impl View {
    /// Makes a view; `None` when there are more than [`MAX_DIMS`] pairs.
    pub fn new(buffer: BufferId, dtype: Dtype, partition: u16, offset: i64, dims: &[Dim]) -> Option<View> {
        let mut all = [Dim { stride: 0, count: 0 }; MAX_DIMS];
        all.get_mut(..dims.len())?.copy_from_slice(dims);
        Some(View {
            buffer,
            dtype,
            rank: dims.len() as u8,
            partition,
            offset,
            dims: all,
            dynamic: None,
        })
    }

    /// The same window moved at run time.
    pub fn moved_by(self, dynamic: Option<Dynamic>) -> View {
        View { dynamic, ..self }
    }

    /// The view of all of a buffer.
    pub fn whole(id: BufferId, buffer: &Buffer) -> View {
        // Pairs past the rank stay as `new` leaves them: equal views must be equal bit for bit to be interned once.
        let mut dims = [Dim { stride: 0, count: 0 }; MAX_DIMS];
        let mut stride = 1i64;
        for (idx, &count) in buffer.shape.iter().enumerate().rev() {
            // Shapes whose strides do not fit are refused when the buffer is made.
            dims[idx] = Dim {
                stride: stride as i32,
                count,
            };
            stride = stride.saturating_mul(i64::from(count));
        }
        if buffer.memory.is_on_chip() {
            dims[0].stride = 1;
        }
        View {
            buffer: id,
            dtype: buffer.dtype,
            rank: buffer.shape.len() as u8,
            partition: 0,
            offset: 0,
            dims,
            dynamic: None,
        }
    }

    /// The view with another stride of its first pair.
    pub fn with_first_stride(mut self, stride: i32) -> View {
        self.dims[0].stride = stride;
        self
    }

    pub fn dims(&self) -> &[Dim] {
        &self.dims[..usize::from(self.rank)]
    }

    /// The pairs after the partition pair, for a view on chip.
    pub fn free_dims(&self) -> &[Dim] {
        &self.dims()[1..]
    }

    /// Number of partitions, for a view on chip.
    pub fn partitions(&self) -> u32 {
        self.dims[0].count
    }

    /// Elements per partition, for a view on chip.
    pub fn free_count(&self) -> u64 {
        self.free_dims().iter().map(|it| u64::from(it.count)).product()
    }

    /// All elements.
    pub fn count(&self) -> u64 {
        self.dims().iter().map(|it| u64::from(it.count)).product()
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?}:{} p{} +{} ",
            self.buffer,
            self.dtype.name(),
            self.partition,
            self.offset
        )?;
        f.debug_list()
            .entries(self.dims().iter().map(|it| (it.stride, it.count)))
            .finish()
    }
}

/// The affine pattern of `iota` and `affine_select`: up to four `[step, count]` pairs, outermost first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern(pub Vec<Dim>);

/// The mask of `nc_stream_shuffle`: for each lane of a quadrant the lane it takes its elements from, or [`Shuffle::KEEP`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shuffle(pub [u8; Shuffle::LANES]);

impl Shuffle {
    /// Lanes of a quadrant of the Vector engine.
    pub const LANES: usize = 32;
    /// The lane keeps what it has.
    pub const KEEP: u8 = 255;

    /// Makes a mask of one entry per lane: a lane's number or [`Shuffle::KEEP`].
    pub fn new(entries: &[i64]) -> Option<Shuffle> {
        let entries: [i64; Shuffle::LANES] = entries.try_into().ok()?;
        let is_lane = |it: i64| (0..Shuffle::LANES as i64).contains(&it) || it == i64::from(Shuffle::KEEP);
        entries
            .iter()
            .all(|&it| is_lane(it))
            .then(|| Shuffle(entries.map(|it| it as u8)))
    }
}

/// The ranks of all groups of a collective, group after group; for a permutation the sources and targets, pair after pair.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ranks(pub Vec<u32>);
