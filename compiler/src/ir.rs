//! The intermediate representation: `Program`, `Placement` and `Schedule`.
//!
//! `specialize` makes a [`Program`] (buffers, views, instructions in source order), `place` adds a [`Placement`]
//! (an address for every buffer), `check` adds [`FirstWrites`], `schedule` adds a [`Schedule`] (a queue per engine,
//! with semaphores). Nothing here is changed after it is made, and nothing holds `Rc`: a program can cross threads.

mod control;
mod host;
mod loc;
mod order;

pub(crate) use control::MAX_TOUCHES;
pub use control::{Bound, Control, ControlStep, Dynamic, Index, Loop, LoopKind, Node, Register};
pub use host::{Constant, Print};
pub use loc::{Frame, Loc, Locs};
pub use order::{Asked, Mark, MarkId};

use crate::diagnostic::quote;
use crate::dtype::Dtype;
use crate::isa::{Access, Accumulate, Arg, Engine, MAX_ARGS, Memory, N_ENGINES, Op, ReduceCmd};
use crate::source::Span;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::num::NonZeroU32;
use std::ops::Deref;
use std::sync::Arc;

macro_rules! ids {
    ($( $(#[$doc:meta])* $name:ident; )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// One more than the index is kept, so that an optional id takes no more room than an id.
            pub fn new(index: usize) -> $name {
                let number = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
                $name(number.expect("tables of a program have fewer than u32::MAX entries"))
            }

            pub fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.index()).finish()
            }
        }
    )* };
}

ids! {
    /// A tensor's storage.
    BufferId;
    /// An interned view.
    ViewId;
    /// An interned affine pattern.
    PatternId;
    /// An interned mask of a shuffle.
    ShuffleId;
    /// An instruction, numbered in program order.
    InstId;
    /// A source position with the calls and loops around it.
    LocId;
    /// An interned list of the ranks of a collective.
    RanksId;
    /// A register of the sequencers.
    RegisterId;
}

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

fn view_hash(view: &View) -> u64 {
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

/// One instruction: a row of the table applied to operands, which stand in the row's call order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inst {
    pub op: Op,
    /// The engine that executes it; for a DMA the queue that issues it.
    pub engine: Engine,
    pub loc: Option<LocId>,
    pub args: [Arg; MAX_ARGS],
    pub asked: Asked,
}

impl Inst {
    /// The ids of the view operands with what is done to each, in operand order.
    pub fn views(&self) -> impl Iterator<Item = (Access, ViewId)> {
        let operands = self.op.row().operands;
        let mut at = 0;
        // Every stage asks every instruction: a loop over indices is what compiles to one.
        std::iter::from_fn(move || {
            while let Some(operand) = operands.get(at) {
                let arg = self.args[at];
                at += 1;
                if let Arg::View(id) = arg {
                    let tile = operand.kind.tile().expect("only tile operands hold views");
                    return Some((self.access(tile.access), id));
                }
            }
            None
        })
    }

    /// What it does with its engine's accumulator, if it has to do with it.
    pub fn accumulator(&self) -> Option<ReduceCmd> {
        match self.op {
            // It has no command among its operands: it always starts the accumulator anew.
            Op::ActivationReduce => Some(ReduceCmd::ResetReduce),
            _ => self.args.iter().find_map(|it| match it {
                Arg::ReduceCmd(command) => Some(*command),
                _ => None,
            }),
        }
    }

    /// What is really done to a tile that an operand of the row may do this to: a matmul that overwrites keeps nothing of
    /// what it finds, nor does a shuffle that fills every lane.
    fn access(&self, access: Access) -> Access {
        let keeps_nothing = |it: &Arg| {
            matches!(
                it,
                Arg::Accumulate(Accumulate::Overwrite) | Arg::Shuffle(_, false)
            )
        };
        match access {
            Access::ReadWrite
                if matches!(self.op, Op::NcMatmul | Op::NcStreamShuffle)
                    && self.args.iter().any(keeps_nothing) =>
            {
                Access::Write
            }
            access => access,
        }
    }
}

/// A value the kernel returns: a name for files and messages, and the buffer that holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultValue {
    pub name: String,
    pub buffer: BufferId,
}

/// A specialised kernel: instructions in source order over named buffers.
#[derive(Clone, Debug)]
pub struct Program {
    pub name: String,
    /// The name of the target it was specialised for.
    pub target: &'static str,
    pub buffers: Vec<Buffer>,
    views: Vec<View>,
    /// The number of views when the newest buffer was made: none of those before is of it.
    n_views_before_buffer: usize,
    /// The newest id of every view, found by the view.
    view_ids: HashTable<ViewId>,
    patterns: Vec<Pattern>,
    shuffles: Vec<Shuffle>,
    ranks: Vec<Ranks>,
    pub insts: Vec<Inst>,
    /// What instructions are named by that wait for each other on request.
    pub marks: Vec<Mark>,
    pub registers: Vec<Register>,
    /// Loops that the device runs, in order of their beginnings, outer ones first.
    pub loops: Vec<Loop>,
    /// Whether some view is dynamic, and whether some has a tile for an index.
    has_dynamic_views: bool,
    has_index_tiles: bool,
    pub locs: Locs,
    pub results: Vec<ResultValue>,
    pub constants: Vec<Constant>,
    /// In program order.
    pub prints: Vec<Print>,
    /// Loops of the source that ran zero times: what they would have written is missing.
    pub idle_loops: Vec<Span>,
}

impl Program {
    pub fn new(name: impl Into<String>, target: &'static str) -> Program {
        Program {
            name: name.into(),
            target,
            buffers: Vec::new(),
            views: Vec::new(),
            n_views_before_buffer: 0,
            view_ids: HashTable::new(),
            patterns: Vec::new(),
            shuffles: Vec::new(),
            ranks: Vec::new(),
            insts: Vec::new(),
            marks: Vec::new(),
            registers: Vec::new(),
            loops: Vec::new(),
            has_dynamic_views: false,
            has_index_tiles: false,
            locs: Locs::default(),
            results: Vec::new(),
            constants: Vec::new(),
            prints: Vec::new(),
            idle_loops: Vec::new(),
        }
    }

    pub fn add_buffer(&mut self, buffer: Buffer) -> BufferId {
        self.buffers.push(buffer);
        self.n_views_before_buffer = self.views.len();
        BufferId::new(self.buffers.len() - 1)
    }

    /// Interns a view.
    pub fn add_view(&mut self, view: View) -> ViewId {
        self.has_dynamic_views |= view.dynamic.is_some();
        self.has_index_tiles |= view.dynamic.is_some_and(|it| it.index.tile().is_some());
        if let Some(known) = self.known_view(&view) {
            return known;
        }
        self.views.push(view);
        self.know_view(ViewId::new(self.views.len() - 1))
    }

    fn known_view(&self, view: &View) -> Option<ViewId> {
        let is_it = |id: &ViewId| self.views[id.index()] == *view;
        self.view_ids.find(view_hash(view), is_it).copied()
    }

    fn know_view(&mut self, id: ViewId) -> ViewId {
        let views = &self.views;
        let hash = |id: &ViewId| view_hash(&views[id.index()]);
        self.view_ids.insert_unique(hash(&id), id, hash);
        id
    }

    fn forget_view(&mut self, id: ViewId) {
        let hash = view_hash(&self.views[id.index()]);
        if let Ok(entry) = self.view_ids.find_entry(hash, |it| *it == id) {
            entry.remove();
        }
    }

    /// Takes back the buffer made last and lets `view` stand wherever its view `id` stood; gives the id to use.
    pub fn replace_last_buffer(&mut self, id: ViewId, view: View) -> ViewId {
        self.buffers.pop();
        let last = BufferId::new(self.buffers.len());
        for at in self.n_views_before_buffer..self.views.len() {
            if self.views[at].buffer == last {
                self.forget_view(ViewId::new(at));
                self.views[at] = view;
            }
        }
        self.known_view(&view).unwrap_or_else(|| self.know_view(id))
    }

    /// Takes back the buffers and views made since there were so many; no instruction may name them.
    pub fn take_back(&mut self, n_buffers: usize, n_views: usize) {
        for at in n_views..self.views.len() {
            self.forget_view(ViewId::new(at));
        }
        self.views.truncate(n_views);
        self.buffers.truncate(n_buffers);
        self.n_views_before_buffer = self.views.len();
    }

    /// Lets another view stand where only the instruction that is being made has named one; gives the id to use.
    pub fn replace_view(&mut self, id: ViewId, view: View) -> ViewId {
        self.forget_view(id);
        self.views[id.index()] = view;
        self.known_view(&view).unwrap_or_else(|| self.know_view(id))
    }

    /// Interns a pattern; programs have few of them.
    pub fn add_pattern(&mut self, pattern: Pattern) -> PatternId {
        let known = self.patterns.iter().position(|it| *it == pattern);
        PatternId::new(known.unwrap_or_else(|| {
            self.patterns.push(pattern);
            self.patterns.len() - 1
        }))
    }

    /// Interns the mask of a shuffle; programs have few of them.
    pub fn add_shuffle(&mut self, shuffle: Shuffle) -> Arg {
        let known = self.shuffles.iter().position(|it| *it == shuffle);
        let id = ShuffleId::new(known.unwrap_or_else(|| {
            self.shuffles.push(shuffle);
            self.shuffles.len() - 1
        }));
        Arg::Shuffle(id, shuffle.0.contains(&Shuffle::KEEP))
    }

    /// Interns the ranks of a collective; programs have few of them.
    pub fn add_ranks(&mut self, ranks: Ranks) -> Arg {
        let known = self.ranks.iter().position(|it| *it == ranks);
        Arg::Ranks(RanksId::new(known.unwrap_or_else(|| {
            self.ranks.push(ranks);
            self.ranks.len() - 1
        })))
    }

    pub fn add_register(&mut self, register: Register) -> RegisterId {
        self.registers.push(register);
        RegisterId::new(self.registers.len() - 1)
    }

    pub fn add_inst(&mut self, inst: Inst) -> InstId {
        self.insts.push(inst);
        InstId::new(self.insts.len() - 1)
    }

    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// Instructions with their ids, in program order.
    pub fn iter(&self) -> impl Iterator<Item = (InstId, &Inst)> {
        self.insts
            .iter()
            .enumerate()
            .map(|(idx, it)| (InstId::new(idx), it))
    }

    /// The views an instruction touches with what is done to each: its operands in their order, then the tiles that hold
    /// indices of dynamic ones.
    pub fn touches<'a>(&'a self, inst: &'a Inst) -> impl Iterator<Item = (Access, ViewId)> {
        let mut views = inst.views();
        let mut operands = self.has_index_tiles.then(|| inst.views());
        std::iter::from_fn(move || {
            if let Some(it) = views.next() {
                return Some(it);
            }
            let tile = |(_, id): (Access, ViewId)| self[id].dynamic?.index.tile();
            operands.as_mut()?.find_map(tile).map(|it| (Access::Read, it))
        })
    }

    /// [`Program::touches`] with the views themselves.
    pub fn accesses<'a>(&'a self, inst: &'a Inst) -> impl Iterator<Item = (Access, &'a View)> {
        self.touches(inst).map(|(access, id)| (access, &self[id]))
    }

    /// Whether no address depends on a register or a tile.
    pub fn is_static(&self) -> bool {
        !self.has_dynamic_views
    }

    /// The memory a view lies in.
    pub fn memory(&self, view: &View) -> Memory {
        self[view.buffer].memory
    }

    /// The source span of a location, without its parents.
    pub fn span(&self, loc: Option<LocId>) -> Option<Span> {
        loc.map(|it| self.locs.get(it).span)
    }
}

macro_rules! indexed {
    ($( $id:ident $field:ident $item:ident; )*) => { $(
        impl std::ops::Index<$id> for Program {
            type Output = $item;

            fn index(&self, id: $id) -> &$item {
                &self.$field[id.index()]
            }
        }
    )* };
}

indexed! {
    BufferId buffers Buffer;
    ViewId views View;
    PatternId patterns Pattern;
    ShuffleId shuffles Shuffle;
    RanksId ranks Ranks;
    InstId insts Inst;
    MarkId marks Mark;
    RegisterId registers Register;
}

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// Byte address in the core's HBM window.
    Hbm { address: u64 },
    /// Partitions `partition..partition + partitions`, bytes `start..end` of each.
    OnChip {
        partition: u16,
        partitions: u16,
        start: u32,
        end: u32,
    },
}

/// An address for every buffer.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Placement {
    /// Indexed by [`BufferId`].
    pub regions: Vec<Region>,
    /// Highest number of bytes per partition that is live at once, in SBUF and PSUM.
    pub sbuf_peak_bytes: u32,
    pub psum_peak_bytes: u32,
}

impl Placement {
    pub fn region(&self, id: BufferId) -> Region {
        self.regions[id.index()]
    }
}

/// PSUM words that a matmul with `accumulate=auto` overwrites because no matmul has written them yet.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FirstWrites {
    /// For each such instruction (ascending): the words, as rectangles that do not overlap.
    pub ranges: Vec<(InstId, Vec<FirstWrite>)>,
}

/// Bytes `start..end` of the physical partitions `first_partition..end_partition` of PSUM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstWrite {
    pub first_partition: u16,
    pub end_partition: u16,
    pub start: u32,
    pub end: u32,
}

/// One entry of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Inst(InstId),
    /// Blocks the queue until `from` has signalled this queue `count` times in all.
    Wait {
        from: Engine,
        count: u32,
    },
    /// The `count`-th signal of this queue to `to`; it counts when all that stands above it in this queue is complete,
    /// transfers issued above it included.
    Signal {
        to: Engine,
        count: u32,
    },
    /// Goes on when all queues are here and everything above is complete. Counts of signals start anew behind it.
    Barrier,
    /// A barrier, and the beginning of a loop of the program, by number.
    Loop(u32),
    /// A barrier, and the end of the innermost open loop.
    End,
}

impl Step {
    /// Whether all queues meet here.
    pub fn is_barrier(self) -> bool {
        matches!(self, Step::Barrier | Step::Loop(_) | Step::End)
    }
}

/// A queue per engine. Every queue has the same barriers and loops, at the same places of the control flow.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Schedule {
    /// Indexed by [`Engine`].
    pub queues: [Vec<Step>; N_ENGINES],
}
