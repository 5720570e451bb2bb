//! The instruction set of NeuronCore-v2, as data.
//!
//! Gives the row types and lookups by name; the rows stand in `isa/table.rs`, the operators in `isa/operators.rs`. Call
//! binding, IR parser and printer, verifier, scheduler, timing, `nk isa` and the coverage test all read rows. Holds no behaviour:
//! what an instruction computes is in the runtime's `lower` and `reference`.

mod arg;
mod sets;
pub mod operators;
pub mod table;
pub mod newer;
pub mod manual;

pub use arg::{Accumulate, Arg, EXCHANGES, Exchange, MAX_ARGS, OOB_MODES, OobMode, REDUCE_CMDS, ReduceCmd};
pub use operators::{ACT_FNS, ALU_OPS, ActFacts, ActFn, ActTable, AluClass, AluFacts, AluOp, Range};
pub use sets::{AluSet, DtypeSet};
pub use table::{Op, ROWS};

/// An engine of the core, which is also the queue its instructions stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Engine {
    Tensor,
    Vector,
    Scalar,
    Gpsimd,
    /// Sequencer only: issues DMA transfers.
    Sync,
}

pub const N_ENGINES: usize = 5;

/// Every engine with the name that IR text and messages use.
pub const ENGINES: &[(Engine, &str)] = &[
    (Engine::Tensor, "tensor"),
    (Engine::Vector, "vector"),
    (Engine::Scalar, "scalar"),
    (Engine::Gpsimd, "gpsimd"),
    (Engine::Sync, "sync"),
];

impl Engine {
    pub fn name(self) -> &'static str {
        ENGINES[self as usize].1
    }

    pub fn from_name(name: &str) -> Option<Engine> {
        ENGINES.iter().find(|it| it.1 == name).map(|it| it.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Memory {
    Hbm,
    Sbuf,
    Psum,
}

pub const MEMORIES: &[(Memory, &str)] = &[
    (Memory::Hbm, "hbm"),
    (Memory::Sbuf, "sbuf"),
    (Memory::Psum, "psum"),
];

impl Memory {
    pub fn name(self) -> &'static str {
        MEMORIES[self as usize].1
    }

    pub fn from_name(name: &str) -> Option<Memory> {
        MEMORIES.iter().find(|it| it.1 == name).map(|it| it.0)
    }

    pub fn is_on_chip(self) -> bool {
        self != Memory::Hbm
    }
}

/// The first NeuronCore generation that has something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    V2,
    V3,
    V4,
}

impl Generation {
    pub fn name(self) -> &'static str {
        match self {
            Generation::V2 => "NeuronCore-v2",
            Generation::V3 => "NeuronCore-v3",
            Generation::V4 => "NeuronCore-v4",
        }
    }
}

/// One row of the instruction table.
#[derive(Debug)]
pub struct Row {
    pub op: Op,
    pub name: &'static str,
    /// Engines that may execute it, the default first. For a DMA row: the queues that may issue it.
    pub engines: &'static [Engine],
    pub unit: Unit,
    pub since: Generation,
    /// Operands in call order; `dst` is the first, where there is one.
    pub operands: &'static [Operand],
    /// Keywords of the call that are no operands of the instruction: they are checked and resolved when it is made.
    pub call_only: &'static [&'static str],
    /// What the verifier checks beyond what the operands say.
    pub rules: &'static [Rule],
    pub cost: Cost,
    pub basis: Basis,
    /// One paragraph for `nk isa`.
    pub doc: &'static str,
}

/// What does the work of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The engine in whose queue it stands.
    Engine,
    /// The DMA engines; the queue only triggers them.
    Dma,
    /// The sequencers of all queues, which hold the registers.
    Sequencer,
}

#[derive(Debug)]
pub struct Operand {
    pub name: &'static str,
    pub kind: Kind,
    /// `None`: must be given.
    pub default: Option<Arg>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A view.
    Tile(Tile),
    /// A view with one element per partition, broadcast along the free axis.
    Column(Tile),
    /// A column or an immediate.
    ColumnOrScalar(Tile),
    /// A view of the destination's shape or an immediate.
    TileOrScalar(Tile),
    /// An ALU operator of the set.
    Alu(AluSet),
    /// A function of the Scalar engine.
    Act,
    ReduceCmd,
    Bool,
    Int,
    /// An immediate number.
    Scalar,
    /// Up to four `[step, count]` pairs, outermost first.
    Pattern,
    /// The trailing free axes that are reduced.
    Axes,
    /// Two small integers.
    Pair,
    Accumulate,
    Register,
    /// A register or a number.
    RegisterOrInt,
    OobMode,
    /// For each lane of a quadrant, the lane it takes its elements from.
    Shuffle,
    Exchange,
    /// The ranks of all groups of a collective, group after group.
    Ranks,
}

/// What a view operand may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    pub access: Access,
    pub memories: &'static [Memory],
    pub dtypes: DtypeSet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    /// Keeps some of its old bits, so it is read and written.
    ReadWrite,
}

/// A rule of one instruction that its operands' facts do not say. The verifier has one function per rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Every tile has `dst`'s partition count and elements per partition; every column its partition count.
    Elementwise,
    /// The two operands (by position) are not both in PSUM.
    NotBothPsum(usize, usize),
    /// The two operands (by position) have one dtype.
    SameDtype(usize, usize),
    /// Stationary `[K, M]`, moving `[K, N]`, dst `[M, N]`, with the limits of the PE array; dst is f32 in one bank.
    Matmul,
    /// dst `[F, P]` of data `[P, F]`, with the limits of the engine that does it.
    Transpose,
    /// dst's free count is data's divided by the reduced count; the axes are the trailing ones.
    Reduce,
    /// Source and destination have the same number of elements.
    SameCount,
    /// dst's shape is src's, permuted.
    DmaTranspose,
    /// The pattern's product is the free count of dst.
    PatternCount,
    /// A bit operator needs integers throughout and the Vector engine; bit and arithmetic operators do not mix.
    AluClasses,
    /// On v2 `bias` may not stand beside `op=reciprocal`.
    NoBiasWithReciprocal,
    /// `reduce_res` and `reduce_cmd` need `reduce_op`; `reduce_op` is `add` on v2.
    ActivationReduce,
    /// An integer dst takes an integer value.
    MemsetValue,
    /// A GpSimd operand may not be in PSUM.
    GpsimdNoPsum,
    /// The operand (by position) has one element.
    OneElement(usize),
    /// Every tile and column has `dst`'s partition count.
    SamePartitions,
    /// The two operands (by position) have equally many elements per partition.
    SameFree(usize, usize),
    /// The operand has so many elements per partition.
    FreeCount(usize, u64),
    /// The operand has at least and at most so many elements per partition.
    FreeRange(usize, u64, u64),
    /// The operand's elements per partition are a multiple.
    FreeMultiple(usize, u64),
    /// The first operand has so many times the elements per partition of the second.
    FreeTimes(usize, usize, u64),
    /// The operand has so many partitions.
    Partitions(usize, u32),
    /// The operand's partitions are a multiple.
    PartitionMultiple(usize, u32),
    /// The reduce commands the instruction has.
    ReduceCommands(&'static [ReduceCmd]),
    /// The operand stands with `load_reduce`, and only with it.
    LoadReduce(usize),
    /// The operand is a flag that the hardware does not have.
    NotReversed(usize),
    /// A bit operator needs integers throughout.
    BitsNeedIntegers,
    /// Integer data has an f32 probability.
    DropoutProbability,
    /// Lanes named by the mask exist in src.
    StreamShuffle,
    /// Sizes of `local_gather`: elements an index, indices a GpSimd core, and what they make.
    LocalGather,
    /// Operands, dtypes and sizes that an exchange between ranks asks for.
    Collective,
}

/// How long the executing engine is busy. Formulas are in `isa.md` §3.1 and `timing.md` §1.2; `cost.rs` evaluates them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// One element per partition per cycle, with the floor of the initiation interval.
    Elementwise,
    /// `Elementwise`, plus one interval when the accumulator is read.
    Activation,
    /// `Activation` with the accumulator always read.
    ActivationReduce,
    /// Two streams: full rate when exactly one of the two operands (by position) is in PSUM, else half.
    TwoStreams(usize, usize),
    /// Eight cycles an element.
    Reciprocal,
    /// One element a cycle of the input.
    Reduce,
    /// A GpSimd kernel: start-up plus one cycle an element.
    Gpsimd,
    /// Full rate, half the cycles for zero into a 16-bit destination.
    Memset,
    Matmul,
    Transpose,
    /// The DMA model of `timing.md` §4.
    Dma,
    /// One descriptor an element.
    DmaTranspose,
    /// An instruction of the sequencers.
    Register,
    /// The DMA model at half rate, with the bytes of all sources.
    DmaCompute,
    /// `Elementwise`, plus one interval when the accumulator is loaded first.
    Cumulative,
    /// Two streams that always take turns.
    Scan,
    /// `TwoStreams`, plus one interval when the accumulator is read.
    SelectReduce(usize, usize),
    /// A GpSimd kernel with so many cycles an element.
    GpsimdTimes(u64),
    /// 13 cycles a triple.
    Aggregate,
    /// A GpSimd kernel whose cycles an element depend on how much an index moves.
    LocalGather,
    /// A GpSimd kernel that is started again for every 512 elements, with eight cycles an element.
    Gather,
    /// One initiation interval.
    Interval,
    /// The model of `timing.md` §5: it depends on the ranks and on when they arrive.
    Collective,
}

/// How well a figure is known. The share of modelled time that rests on guesses is printed with every result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    Published,
    Derived,
    Guess,
}

impl Op {
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub fn from_name(name: &str) -> Option<Op> {
        ROWS.iter().find(|it| it.name == name).map(|it| it.op)
    }
}

impl Row {
    /// Whether the first operand is what the instruction writes: one that only changes an engine's state has no `dst`.
    pub fn has_dst(&self) -> bool {
        self.operands[0].name == "dst"
    }

    /// Position of an operand by name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.operands.iter().position(|it| it.name == name)
    }
}

impl Kind {
    /// The facts of the view this operand may be, if it may be one.
    pub fn tile(&self) -> Option<Tile> {
        match self {
            Kind::Tile(tile) | Kind::Column(tile) | Kind::ColumnOrScalar(tile) | Kind::TileOrScalar(tile) => {
                Some(*tile)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_declaration_order() {
        for (idx, it) in ROWS.iter().enumerate() {
            assert_eq!(it.op as usize, idx, "{}", it.name);
            assert!(it.operands.len() <= MAX_ARGS, "{}", it.name);
            let reads = it.operands[0]
                .kind
                .tile()
                .is_some_and(|it| it.access == Access::Read);
            assert_eq!(it.has_dst(), !reads, "{}", it.name);
        }
        assert!(ALU_OPS.iter().enumerate().all(|(idx, it)| it.op as usize == idx));
        assert!(ACT_FNS.iter().enumerate().all(|(idx, it)| it.op as usize == idx));
        assert!(ENGINES.iter().enumerate().all(|(idx, it)| it.0 as usize == idx));
        assert!(EXCHANGES.iter().enumerate().all(|(idx, it)| it.0 as usize == idx));
        assert!(MEMORIES.iter().enumerate().all(|(idx, it)| it.0 as usize == idx));
        assert!(OOB_MODES.iter().enumerate().all(|(idx, it)| it.0 as usize == idx));
        assert!(
            REDUCE_CMDS
                .iter()
                .enumerate()
                .all(|(idx, it)| it.0 as usize == idx)
        );
    }
}
