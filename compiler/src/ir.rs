//! The intermediate representation: `Program`, `Placement` and `Schedule`.
//!
//! `specialize` makes a [`Program`] (buffers, views, instructions in source order), `place` adds a [`Placement`]
//! (an address for every buffer), `check` adds [`FirstWrites`], `schedule` adds a [`Schedule`] (a queue per engine,
//! with semaphores). Nothing here is changed after it is made, and nothing holds `Rc`: a program can cross threads.

mod buffer;
mod control;
mod host;
mod loc;
mod order;
mod stages;
mod view;

pub use buffer::{Buffer, Name, Request, Role, Shape, is_word};
pub(crate) use control::MAX_TOUCHES;
pub use control::{Bound, Control, ControlStep, Dynamic, Index, Loop, LoopKind, Node, Register};
pub use host::{Constant, Print};
pub use loc::{Frame, Loc, Locs};
pub use order::{Asked, Mark};
pub use stages::{FirstWrite, FirstWrites, Placement, Region, Schedule, Step};
pub use view::{Dim, MAX_DIMS, Pattern, Ranks, Shuffle, View};

use crate::isa::{Access, Accumulate, Arg, Engine, MAX_ARGS, Memory, Op, ReduceCmd};
use crate::source::Span;
use hashbrown::HashTable;
use std::fmt;
use std::num::NonZeroU32;
use view::view_hash;

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
    /// A mark of an instruction, by which others name it.
    MarkId;
}

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
