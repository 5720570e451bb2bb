//! What can be wrong with an instruction.
//!
//! One variant of [`Mistake`] per rule, with the numbers that its message needs; the wording stands in `report.rs`.

use crate::dtype::Dtype;
use crate::isa::{AluSet, DtypeSet, Engine, Generation, Memory};
use crate::source::Span;

/// A broken rule, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub subject: Subject,
    pub place: Place,
    pub mistake: Mistake,
}

/// What the message is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An instruction and, unless the mistake is of the whole instruction, one of its operands.
    Inst {
        op: &'static str,
        operand: Option<&'static str>,
    },
    /// A buffer by name.
    Buffer(String),
}

/// Where a mistake is. A loop that makes the same mistake in each iteration makes one error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub span: Option<Span>,
    /// The calls around it, innermost first.
    pub callers: Vec<Span>,
    /// IR text of the first instruction that makes the mistake, or of the buffer.
    pub text: String,
    /// How many more instructions of the same source place make the mistake.
    pub more: u64,
    /// Whether they are iterations of a loop (else calls of a function).
    pub is_loop: bool,
}

/// What a size counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    Partitions,
    /// Elements in each partition; all elements in HBM.
    Elements,
}

/// Every rule that can be broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    // The instruction as a whole.
    UnsupportedInstruction {
        since: Generation,
        target: &'static str,
    },
    WrongEngine {
        engine: Engine,
        takes: &'static [Engine],
    },

    // One operand.
    MissingOperand,
    WrongOperand,
    /// A number where only a tile will do.
    NeedsTile,
    WrongMemory {
        memory: Memory,
        takes: &'static [Memory],
    },
    WrongDtype {
        dtype: Dtype,
        takes: DtypeSet,
    },
    WrongOperator {
        operator: &'static str,
        takes: AluSet,
    },
    NotColumn {
        free: u64,
    },
    EmptyView,
    OutOfBounds {
        axis: Axis,
        first: i64,
        last: i64,
        size: u64,
        buffer: String,
    },
    TooManyPartitions {
        partitions: u32,
        limit: u32,
    },
    TooManyDims {
        dims: usize,
        limit: usize,
    },
    TooManyElements {
        free: u64,
        limit: u64,
        memory: Memory,
    },
    StrideTooLarge {
        stride: u64,
        limit: u32,
    },
    StartPartition {
        start: u32,
        partitions: u32,
        legal: &'static [u32],
    },

    // Operands against each other.
    PartitionMismatch {
        partitions: u32,
        dst: u32,
    },
    ElementCountMismatch {
        axis: CountOf,
        count: u64,
        dst: u64,
    },
    BothInPsum {
        first: &'static str,
        second: &'static str,
    },
    DtypeMismatch {
        dtype: Dtype,
        other: &'static str,
        other_dtype: Dtype,
    },
    /// A transfer whose source and destination overlap partly.
    OverlappingOperands {
        other: &'static str,
    },
    /// Several results for one element.
    RepeatedDestination {
        times: u32,
    },

    // Matmul and transposes.
    TileTooLarge {
        axis: Axis,
        size: u64,
        limit: u64,
    },
    MatmulContraction {
        stationary: u32,
        moving: u32,
    },
    MatmulDestination {
        partitions: u32,
        free: u64,
        m: u64,
        n: u64,
    },
    MatmulDtypes {
        stationary: Dtype,
        moving: Dtype,
    },
    PsumBankCrossed {
        first: u64,
        end: u64,
        bank_bytes: u32,
    },
    PeTileIncomplete {
        given: &'static str,
        missing: &'static str,
    },
    PeTileSize {
        size: u8,
        legal: &'static [u8],
    },
    PeTilePosition {
        position: u8,
        size: u8,
        limit: u32,
    },
    PeTileTooSmall {
        axis: PeAxis,
        needs: u64,
        size: u8,
    },
    /// After placing: the tile lies on other partitions than its part of the PE array.
    PeTileElsewhere {
        start: u32,
        position: u8,
    },
    TransposeDestination {
        partitions: u32,
        free: u64,
        needs_partitions: u64,
        needs_free: u64,
    },
    TransposeRank {
        rank: usize,
    },
    TransposeShape {
        dst: Vec<u32>,
        needs: Vec<u32>,
    },

    // Operators and immediates.
    ReduceAxes {
        axes: Vec<u32>,
        rank: usize,
    },
    PatternCount {
        product: u64,
        free: u64,
    },
    OperatorClassesMixed {
        bits: &'static str,
        arithmetic: &'static str,
    },
    BitsNeedIntegers {
        operator: &'static str,
        found: &'static str,
    },
    OperatorEngine {
        operator: &'static str,
        engine: Engine,
        needs: Engine,
    },
    UnaryTakesNoOperand {
        operator: &'static str,
    },
    OperandWithoutOperator {
        operator: &'static str,
    },
    NegateNeedsArithmetic {
        operator: &'static str,
    },
    BiasWithReciprocal,
    ReduceNeedsOperator,
    ReduceCommand {
        command: &'static str,
    },
    MemsetValue {
        dtype: Dtype,
    },
    GpsimdPsum,

    // Regions.
    RegionOutside {
        memory: Memory,
        axis: RegionAxis,
        end: u64,
        limit: u64,
    },
    RegionSize {
        axis: RegionAxis,
        has: u64,
        needs: u64,
    },
    RegionMisaligned {
        start: u32,
        align: u32,
    },
    RegionKind {
        memory: Memory,
    },
}

/// What a count of elements is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountOf {
    /// Each partition.
    Partition,
    /// The whole tile.
    Tile,
    /// Each partition, after the reduced axes are gone.
    Reduced,
}

/// A side of the PE array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeAxis {
    Rows,
    Columns,
}

/// What a region is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionAxis {
    Partitions,
    Bytes,
}
