//! The instruction set of NeuronCore-v2, as data.
//!
//! Gives the row types, the operator tables and lookups by name; the rows stand in `isa/table.rs`. Call binding, IR
//! parser and printer, verifier, scheduler, timing, `nk isa` and the coverage test all read rows. Holds no behaviour:
//! what an instruction computes is in the runtime's `lower` and `reference`.

pub mod operators;
pub mod table;
pub mod newer;
pub mod manual;

use crate::dtype::Dtype;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DtypeSet {
    Any,
    F32,
    /// f32, bf16, f16: what the Scalar engine's bias takes.
    Bias,
    /// What the PE array multiplies.
    Matmul,
    /// u8, u16, u32.
    Unsigned,
    Int,
    Float,
    /// What streams through an accumulator: all but tf32 and 32-bit integers.
    Streamed,
    /// Integers of 8 and 16 bits.
    Predicate,
    U16,
    U32,
    /// Where positions in a row are written to.
    Position,
    /// Segment numbers.
    Segment,
    /// Any type of 32 bits.
    Word,
}

impl DtypeSet {
    pub fn contains(self, dtype: Dtype) -> bool {
        match self {
            DtypeSet::Any => true,
            DtypeSet::F32 => dtype == Dtype::F32,
            DtypeSet::Bias => matches!(dtype, Dtype::F32 | Dtype::Bf16 | Dtype::F16),
            DtypeSet::Matmul => dtype.is_float() && dtype != Dtype::F8e3m4,
            DtypeSet::Unsigned => matches!(dtype, Dtype::U8 | Dtype::U16 | Dtype::U32),
            DtypeSet::Int => dtype.is_int(),
            DtypeSet::Float => dtype.is_float(),
            DtypeSet::Streamed => !matches!(dtype, Dtype::Tf32 | Dtype::I32 | Dtype::U32),
            DtypeSet::Predicate => dtype.is_int() && dtype.size() < 4,
            DtypeSet::U16 => dtype == Dtype::U16,
            DtypeSet::U32 => dtype == Dtype::U32,
            DtypeSet::Position => matches!(dtype, Dtype::U16 | Dtype::U32),
            DtypeSet::Segment => matches!(dtype, Dtype::F32 | Dtype::I32),
            DtypeSet::Word => dtype.size() == 4,
        }
    }

    /// The set in words, for messages.
    pub fn words(self) -> &'static str {
        match self {
            DtypeSet::Any => "any dtype",
            DtypeSet::F32 => "float32",
            DtypeSet::Bias => "float32, bfloat16 or float16",
            DtypeSet::Matmul => "float32, tfloat32, bfloat16, float16, float8_e4m3 or float8_e5m2",
            DtypeSet::Unsigned => "uint8, uint16 or uint32",
            DtypeSet::Int => "an integer dtype",
            DtypeSet::Float => "a float dtype",
            DtypeSet::Streamed => "any dtype but tfloat32, int32 and uint32",
            DtypeSet::Predicate => "int8, uint8, int16 or uint16",
            DtypeSet::U16 => "uint16",
            DtypeSet::U32 => "uint32",
            DtypeSet::Position => "uint16 or uint32",
            DtypeSet::Segment => "float32 or int32",
            DtypeSet::Word => "a dtype of 32 bits",
        }
    }
}

/// Operators an operand may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AluSet {
    /// Two operands, arithmetic or bits.
    Binary,
    /// Two operands, arithmetic.
    Arithmetic,
    /// One or two operands.
    Any,
    /// Legal in a reduction of `tensor_reduce`.
    Reduction,
    Comparison,
    /// What the Scalar engine's accumulator can do on v2: `add`.
    Add,
    /// Two operands, arithmetic, what the Vector engine computes in one step.
    Recurrence,
    /// The same with one or two operands.
    Numeric,
    /// What the Vector engine's accumulator can do with a row.
    Accumulator,
    /// What it can do element by element.
    Cumulative,
    Maximum,
    /// What `tensor_partition_reduce` can do.
    Partitions,
    /// What collectives reduce with.
    Collective,
}

impl AluSet {
    pub fn contains(self, op: AluOp) -> bool {
        use AluOp::{Add, Average, BitwiseAnd, BitwiseOr, Maximum, Minimum, Multiply, Subtract};
        let facts = op.facts();
        let is_elementwise = op != Average;
        let is_arithmetic = is_elementwise && facts.class == AluClass::Arithmetic;
        match self {
            AluSet::Binary => is_elementwise && !facts.unary,
            AluSet::Arithmetic => is_arithmetic && !facts.unary,
            AluSet::Any => is_elementwise,
            AluSet::Reduction => facts.reduces,
            AluSet::Comparison => facts.compares,
            AluSet::Add => op == Add,
            AluSet::Recurrence => is_arithmetic && !facts.unary && !facts.gpsimd_only && !facts.emulated,
            AluSet::Numeric => is_arithmetic && !facts.gpsimd_only && !facts.emulated,
            AluSet::Accumulator => matches!(op, Add | Multiply | Maximum | Minimum),
            AluSet::Cumulative => matches!(op, Add | Subtract | Multiply | Maximum | Minimum),
            AluSet::Maximum => op == Maximum,
            AluSet::Partitions => matches!(op, Add | Average | Maximum | BitwiseOr | BitwiseAnd),
            AluSet::Collective => matches!(op, Add | Maximum | Minimum),
        }
    }
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

/// The value of one operand of one instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg {
    /// An optional operand that was left out.
    Absent,
    View(crate::ir::ViewId),
    Float(f32),
    Int(i32),
    /// An immediate above `i32::MAX`.
    Uint(u32),
    Bool(bool),
    Alu(AluOp),
    Act(ActFn),
    ReduceCmd(ReduceCmd),
    Pattern(crate::ir::PatternId),
    /// Bit `k` is set when axis `k` of the data view is reduced.
    Axes(u8),
    Pair(u8, u8),
    Accumulate(Accumulate),
    Register(crate::ir::RegisterId),
    OobMode(OobMode),
    /// The mask, and whether some lane keeps what it has.
    Shuffle(crate::ir::ShuffleId, bool),
    Exchange(Exchange),
    Ranks(crate::ir::RanksId),
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

pub use operators::{ACT_FNS, ALU_OPS, ActFacts, ActFn, ActTable, AluClass, AluFacts, AluOp, Range};
pub use table::{Op, ROWS};

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
    }
}
