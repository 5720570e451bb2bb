//! The operands of an instruction as values, with the names that IR text has for those that are words.

use super::{ActFn, AluOp};
use crate::ir::{PatternId, RanksId, RegisterId, ShuffleId, ViewId};

/// The value of one operand of one instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg {
    /// An optional operand that was left out.
    Absent,
    View(ViewId),
    Float(f32),
    Int(i32),
    /// An immediate above `i32::MAX`.
    Uint(u32),
    Bool(bool),
    Alu(AluOp),
    Act(ActFn),
    ReduceCmd(ReduceCmd),
    Pattern(PatternId),
    /// Bit `k` is set when axis `k` of the data view is reduced.
    Axes(u8),
    Pair(u8, u8),
    Accumulate(Accumulate),
    Register(RegisterId),
    OobMode(OobMode),
    /// The mask, and whether some lane keeps what it has.
    Shuffle(ShuffleId, bool),
    Exchange(Exchange),
    Ranks(RanksId),
}

/// What the ranks of a group do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Exchange {
    AllReduce,
    AllGather,
    ReduceScatter,
    AllToAll,
    /// Pairs of a source and a target stand for groups.
    Permute,
    /// The same for two sources that are combined first.
    PermuteReduce,
    /// Nobody goes on before all are there; nothing moves.
    Barrier,
}

pub const EXCHANGES: &[(Exchange, &str)] = &[
    (Exchange::AllReduce, "all_reduce"),
    (Exchange::AllGather, "all_gather"),
    (Exchange::ReduceScatter, "reduce_scatter"),
    (Exchange::AllToAll, "all_to_all"),
    (Exchange::Permute, "permute"),
    (Exchange::PermuteReduce, "permute_reduce"),
    (Exchange::Barrier, "core_barrier"),
];

impl Exchange {
    pub fn name(self) -> &'static str {
        EXCHANGES[self as usize].1
    }
}

/// What happens to a transfer whose dynamic address leaves its tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum OobMode {
    /// The program stops.
    Error,
    /// The row, or the whole transfer, is left out.
    Skip,
}

pub const OOB_MODES: &[(OobMode, &str)] = &[(OobMode::Error, "error"), (OobMode::Skip, "skip")];

impl OobMode {
    pub fn name(self) -> &'static str {
        OOB_MODES[self as usize].1
    }
}

/// What a matmul does with the PSUM words it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulate {
    Overwrite,
    Add,
    /// Words that no matmul has written since allocation are overwritten, the others are added to.
    Auto,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ReduceCmd {
    Idle,
    Reset,
    Reduce,
    ResetReduce,
    LoadReduce,
}

pub const REDUCE_CMDS: &[(ReduceCmd, &str)] = &[
    (ReduceCmd::Idle, "idle"),
    (ReduceCmd::Reset, "reset"),
    (ReduceCmd::Reduce, "reduce"),
    (ReduceCmd::ResetReduce, "reset_reduce"),
    (ReduceCmd::LoadReduce, "load_reduce"),
];

impl ReduceCmd {
    pub fn name(self) -> &'static str {
        REDUCE_CMDS[self as usize].1
    }
}

/// The most operands a row has.
pub const MAX_ARGS: usize = 10;
