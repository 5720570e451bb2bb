//! The rows of the instruction table: one per mnemonic, every fact of `isa.md` §3.
//!
//! Facts only. A new row does not compile until the runtime's `lower` and `reference` say what it computes.

use super::Access::{Read, ReadWrite, Write};
use super::Engine::{Gpsimd, Scalar, Sync, Tensor, Vector};
use super::{
    AluSet, Arg, Basis, Cost, DtypeSet, Generation, Kind, Memory, Operand, ReduceCmd, Row, Rule, Tile, Unit,
};

const SBUF: &[Memory] = &[Memory::Sbuf];
const PSUM: &[Memory] = &[Memory::Psum];
const ON_CHIP: &[Memory] = &[Memory::Sbuf, Memory::Psum];
const HBM_SBUF: &[Memory] = &[Memory::Hbm, Memory::Sbuf];

const fn tile(access: super::Access, memories: &'static [Memory], dtypes: DtypeSet) -> Kind {
    Kind::Tile(Tile {
        access,
        memories,
        dtypes,
    })
}

const fn column(memories: &'static [Memory], dtypes: DtypeSet) -> Kind {
    Kind::Column(Tile {
        access: Read,
        memories,
        dtypes,
    })
}

const fn column_or_scalar(dtypes: DtypeSet) -> Kind {
    Kind::ColumnOrScalar(Tile {
        access: Read,
        memories: ON_CHIP,
        dtypes,
    })
}

const fn written_column(memories: &'static [Memory], dtypes: DtypeSet) -> Kind {
    Kind::Column(Tile {
        access: Write,
        memories,
        dtypes,
    })
}

const fn required(name: &'static str, kind: Kind) -> Operand {
    Operand {
        name,
        kind,
        default: None,
    }
}

const fn optional(name: &'static str, kind: Kind, default: Arg) -> Operand {
    Operand {
        name,
        kind,
        default: Some(default),
    }
}

macro_rules! isa {
    ($( $op:ident { $($field:ident : $value:expr),* $(,)? } )*) => {
        /// A mnemonic of the instruction table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op { $($op),* }

        /// Every row, in declaration order.
        pub const ROWS: &[Row] = &[ $( Row { op: Op::$op, $($field: $value),* } ),* ];
    };
}

isa! {
    DmaCopy {
        name: "dma_copy",
        engines: &[Sync, Scalar, Gpsimd],
        unit: Unit::Dma,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, HBM_SBUF, DtypeSet::Any)),
            required("src", tile(Read, HBM_SBUF, DtypeSet::Any)),
            optional("oob_mode", Kind::OobMode, Arg::OobMode(super::OobMode::Error)),
        ],
        call_only: &["priority", "dge_mode", "engine"],
        rules: &[Rule::SameCount],
        cost: Cost::Dma,
        basis: Basis::Derived,
        doc: "Copies between HBM and SBUF in flattened order. Equal dtypes move bits; different ones go through f32, \
              rounding to nearest even and saturating into integers.",
    }
    DmaTranspose {
        name: "dma_transpose",
        engines: &[Sync, Scalar, Gpsimd],
        unit: Unit::Dma,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, SBUF, DtypeSet::Any)),
            required("src", tile(Read, HBM_SBUF, DtypeSet::Any)),
        ],
        call_only: &["axes", "priority", "dge_mode", "oob_mode"],
        rules: &[Rule::SameDtype(0, 1), Rule::DmaTranspose],
        cost: Cost::DmaTranspose,
        basis: Basis::Derived,
        doc: "Copies into SBUF with the axes permuted: 2-D (1,0), 3-D (2,1,0), 4-D (3,1,2,0). On v2 every element is \
              a descriptor of its own, so it is slow.",
    }
    TensorCopy {
        name: "tensor_copy",
        engines: &[Vector, Gpsimd],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("src", tile(Read, ON_CHIP, DtypeSet::Any)),
        ],
        call_only: &["engine"],
        rules: &[Rule::Elementwise, Rule::GpsimdNoPsum],
        cost: Cost::Elementwise,
        basis: Basis::Published,
        doc: "Copies a tile. Equal dtypes move bits; different ones go through f32.",
    }
    Memset {
        name: "memset",
        engines: &[Vector, Gpsimd],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("value", Kind::Scalar),
        ],
        call_only: &["engine"],
        rules: &[Rule::Elementwise, Rule::MemsetValue, Rule::GpsimdNoPsum],
        cost: Cost::Memset,
        basis: Basis::Published,
        doc: "Fills a tile with a compile-time constant of the tile's dtype class.",
    }
    Iota {
        name: "iota",
        engines: &[Gpsimd],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, SBUF, DtypeSet::Any)),
            required("pattern", Kind::Pattern),
            optional("offset", Kind::Int, Arg::Int(0)),
            optional("channel_multiplier", Kind::Int, Arg::Int(0)),
        ],
        call_only: &[],
        rules: &[Rule::Elementwise, Rule::PatternCount],
        cost: Cost::Gpsimd,
        basis: Basis::Published,
        doc: "Writes offset + partition * channel_multiplier + the affine pattern's value, in int32 arithmetic, then \
              converts to the destination dtype.",
    }
    NcMatmul {
        name: "nc_matmul",
        engines: &[Tensor],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(ReadWrite, PSUM, DtypeSet::F32)),
            required("stationary", tile(Read, SBUF, DtypeSet::Matmul)),
            required("moving", tile(Read, SBUF, DtypeSet::Matmul)),
            optional("is_stationary_onezero", Kind::Bool, Arg::Bool(false)),
            optional("is_moving_onezero", Kind::Bool, Arg::Bool(false)),
            optional("is_transpose", Kind::Bool, Arg::Bool(false)),
            optional("accumulate", Kind::Accumulate, Arg::Accumulate(super::Accumulate::Overwrite)),
            optional("tile_position", Kind::Pair, Arg::Absent),
            optional("tile_size", Kind::Pair, Arg::Absent),
        ],
        call_only: &["perf_mode"],
        rules: &[Rule::Matmul],
        cost: Cost::Matmul,
        basis: Basis::Published,
        doc: "dst[m, n] = sum over k of stationary[k, m] * moving[k, n] in f32, k ascending with fused multiply-adds, \
              written to or added onto PSUM.",
    }
    NcTranspose {
        name: "nc_transpose",
        engines: &[Tensor, Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("data", tile(Read, ON_CHIP, DtypeSet::Any)),
        ],
        call_only: &["engine"],
        rules: &[Rule::Transpose],
        cost: Cost::Transpose,
        basis: Basis::Published,
        doc: "dst[f, p] = data[p, f]. On the Tensor engine it is a matmul with the identity, so -0 becomes +0 and a NaN or \
              infinity spreads over its row; on the Vector engine it moves bits of up to 32 x 32 elements.",
    }
    TensorTensor {
        name: "tensor_tensor",
        engines: &[Vector, Gpsimd],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("data1", tile(Read, ON_CHIP, DtypeSet::Any)),
            required("data2", tile(Read, ON_CHIP, DtypeSet::Any)),
            required("op", Kind::Alu(AluSet::Binary)),
        ],
        call_only: &["engine"],
        rules: &[Rule::Elementwise, Rule::NotBothPsum(1, 2), Rule::AluClasses, Rule::GpsimdNoPsum],
        cost: Cost::TwoStreams(1, 2),
        basis: Basis::Published,
        doc: "dst = data1 op data2, element by element, in f32 (bit operators on raw integers; int32 on GpSimd exactly).",
    }
    TensorScalar {
        name: "tensor_scalar",
        engines: &[Vector, Gpsimd],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("data", tile(Read, ON_CHIP, DtypeSet::Any)),
            required("op0", Kind::Alu(AluSet::Any)),
            required("operand0", column_or_scalar(DtypeSet::Any)),
            optional("reverse0", Kind::Bool, Arg::Bool(false)),
            optional("op1", Kind::Alu(AluSet::Any), Arg::Absent),
            optional("operand1", column_or_scalar(DtypeSet::Any), Arg::Absent),
            optional("reverse1", Kind::Bool, Arg::Bool(false)),
        ],
        call_only: &["engine"],
        rules: &[Rule::Elementwise, Rule::AluClasses, Rule::GpsimdNoPsum],
        cost: Cost::Elementwise,
        basis: Basis::Published,
        doc: "dst = (data op0 operand0) op1 operand1, the operands being immediates or one element per partition; a \
              reverse flag swaps the two sides. The intermediate stays in f32.",
    }
    ScalarTensorTensor {
        name: "scalar_tensor_tensor",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("data", tile(Read, ON_CHIP, DtypeSet::Any)),
            required("op0", Kind::Alu(AluSet::Arithmetic)),
            required("operand0", column_or_scalar(DtypeSet::Any)),
            required("op1", Kind::Alu(AluSet::Arithmetic)),
            required("operand1", tile(Read, ON_CHIP, DtypeSet::Any)),
            optional("reverse0", Kind::Bool, Arg::Bool(false)),
            optional("reverse1", Kind::Bool, Arg::Bool(false)),
        ],
        call_only: &[],
        rules: &[Rule::Elementwise, Rule::NotBothPsum(1, 5), Rule::AluClasses],
        cost: Cost::TwoStreams(1, 5),
        basis: Basis::Published,
        doc: "dst = (data op0 operand0) op1 operand1 with a scalar or column operand0 and a tile operand1.",
    }
    TensorReduce {
        name: "tensor_reduce",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("op", Kind::Alu(AluSet::Reduction)),
            required("data", tile(Read, ON_CHIP, DtypeSet::Any)),
            required("axis", Kind::Axes),
            optional("negate", Kind::Bool, Arg::Bool(false)),
        ],
        call_only: &["keepdims"],
        rules: &[Rule::Reduce, Rule::AluClasses],
        cost: Cost::Reduce,
        basis: Basis::Published,
        doc: "Reduces the trailing free axes with one operator, in f32 (bit operators on raw integers).",
    }
    Activation {
        name: "activation",
        engines: &[Scalar],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("op", Kind::Act),
            required("data", tile(Read, ON_CHIP, DtypeSet::Any)),
            optional("bias", column(ON_CHIP, DtypeSet::Bias), Arg::Absent),
            optional("scale", column_or_scalar(DtypeSet::F32), Arg::Float(1.0)),
            optional("reduce_op", Kind::Alu(AluSet::Add), Arg::Absent),
            optional("reduce_res", written_column(ON_CHIP, DtypeSet::Any), Arg::Absent),
            optional("reduce_cmd", Kind::ReduceCmd, Arg::ReduceCmd(ReduceCmd::Idle)),
        ],
        call_only: &[],
        rules: &[
            Rule::Elementwise,
            Rule::NoBiasWithReciprocal,
            Rule::ActivationReduce,
            Rule::ReduceCommands(&[ReduceCmd::Idle, ReduceCmd::Reset, ReduceCmd::Reduce, ReduceCmd::ResetReduce]),
        ],
        cost: Cost::Activation,
        basis: Basis::Published,
        doc: "dst = op(data * scale + bias) on the Scalar engine, in f32; can add the results of a row into the engine's \
              accumulator and read it out.",
    }
    ActivationReduce {
        name: "activation_reduce",
        engines: &[Scalar],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("op", Kind::Act),
            required("data", tile(Read, ON_CHIP, DtypeSet::Any)),
            required("reduce_op", Kind::Alu(AluSet::Add)),
            required("reduce_res", written_column(ON_CHIP, DtypeSet::Any)),
            optional("bias", column(ON_CHIP, DtypeSet::Bias), Arg::Absent),
            optional("scale", column_or_scalar(DtypeSet::F32), Arg::Float(1.0)),
        ],
        call_only: &[],
        rules: &[Rule::Elementwise, Rule::NoBiasWithReciprocal],
        cost: Cost::ActivationReduce,
        basis: Basis::Published,
        doc: "activation that clears the accumulator, adds up every row's results and writes the sums to reduce_res.",
    }
    Reciprocal {
        name: "reciprocal",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("data", tile(Read, ON_CHIP, DtypeSet::Any)),
        ],
        call_only: &[],
        rules: &[Rule::Elementwise],
        cost: Cost::Reciprocal,
        basis: Basis::Published,
        doc: "dst = 1 / data, correctly rounded in f32: more precise and eight times slower than the Scalar engine's.",
    }
    AffineSelect {
        name: "affine_select",
        engines: &[Gpsimd],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, SBUF, DtypeSet::Any)),
            required("pattern", Kind::Pattern),
            required("channel_multiplier", Kind::Int),
            required("on_true_tile", tile(Read, SBUF, DtypeSet::Any)),
            required("on_false_value", Kind::Scalar),
            optional("cmp_op", Kind::Alu(AluSet::Comparison), Arg::Alu(super::AluOp::Equal)),
            optional("offset", Kind::Int, Arg::Int(0)),
        ],
        call_only: &[],
        rules: &[Rule::Elementwise, Rule::PatternCount],
        cost: Cost::Gpsimd,
        basis: Basis::Published,
        doc: "Keeps an element where offset + partition * channel_multiplier + the affine pattern compares true against \
              zero, else writes the constant.",
    }
    TensorCopyPredicated {
        name: "tensor_copy_predicated",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(ReadWrite, ON_CHIP, DtypeSet::Any)),
            required("src", Kind::TileOrScalar(Tile { access: Read, memories: ON_CHIP, dtypes: DtypeSet::Any })),
            required("predicate", tile(Read, ON_CHIP, DtypeSet::Unsigned)),
            optional("reverse_pred", Kind::Bool, Arg::Bool(false)),
        ],
        call_only: &[],
        rules: &[Rule::Elementwise, Rule::NotBothPsum(1, 2), Rule::SameDtype(0, 1)],
        cost: Cost::TwoStreams(1, 2),
        basis: Basis::Published,
        doc: "Overwrites the elements of dst whose predicate is not zero (or is zero, with reverse_pred); the others keep \
              their bits.",
    }
    RegisterMove {
        name: "register_move",
        engines: &[Sync],
        unit: Unit::Sequencer,
        since: Generation::V2,
        operands: &[
            required("dst", Kind::Register),
            required("src", Kind::RegisterOrInt),
        ],
        call_only: &[],
        rules: &[],
        cost: Cost::Register,
        basis: Basis::Guess,
        doc: "Sets a register to a number or to another register's value.",
    }
    RegisterLoad {
        name: "register_load",
        engines: &[Sync],
        unit: Unit::Sequencer,
        since: Generation::V2,
        operands: &[
            required("dst", Kind::Register),
            required("src", tile(Read, HBM_SBUF, DtypeSet::Any)),
        ],
        call_only: &[],
        rules: &[Rule::OneElement(1)],
        cost: Cost::Register,
        basis: Basis::Guess,
        doc: "Reads one element into a register: integers keep their value, floats their bits.",
    }
    RegisterStore {
        name: "register_store",
        engines: &[Sync],
        unit: Unit::Sequencer,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, HBM_SBUF, DtypeSet::Any)),
            required("src", Kind::Register),
        ],
        call_only: &[],
        rules: &[Rule::OneElement(0)],
        cost: Cost::Register,
        basis: Basis::Guess,
        doc: "Writes a register to one element: the low bits into an integer, all bits into a 32-bit float.",
    }
    TensorScalarReduce {
        name: "tensor_scalar_reduce",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("data", tile(Read, ON_CHIP, DtypeSet::Any)),
            required("op0", Kind::Alu(AluSet::Numeric)),
            required("operand0", column_or_scalar(DtypeSet::Any)),
            required("reduce_op", Kind::Alu(AluSet::Accumulator)),
            optional("reduce_res", written_column(ON_CHIP, DtypeSet::Any), Arg::Absent),
            optional("reverse0", Kind::Bool, Arg::Bool(false)),
            optional("reduce_cmd", Kind::ReduceCmd, Arg::ReduceCmd(ReduceCmd::ResetReduce)),
            optional("reduce_init", column_or_scalar(DtypeSet::F32), Arg::Absent),
            optional("reduce_res_negate", Kind::Bool, Arg::Bool(false)),
        ],
        call_only: &[],
        rules: &[
            Rule::Elementwise,
            Rule::AluClasses,
            Rule::ReduceCommands(&[ReduceCmd::ResetReduce, ReduceCmd::Reduce, ReduceCmd::LoadReduce]),
            Rule::LoadReduce(8),
            Rule::NotReversed(6),
        ],
        cost: Cost::Activation,
        basis: Basis::Published,
        doc: "dst = data op0 operand0, and the Vector engine's accumulator takes in the f32 results of each row with \
              reduce_op, from the operator's identity, from reduce_init or from what it holds; reduce_res reads it out, \
              negated on demand.",
    }
    TensorScalarCumulative {
        name: "tensor_scalar_cumulative",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Streamed)),
            required("src", tile(Read, ON_CHIP, DtypeSet::Streamed)),
            required("op0", Kind::Alu(AluSet::Recurrence)),
            required("op1", Kind::Alu(AluSet::Cumulative)),
            required("imm0", column_or_scalar(DtypeSet::F32)),
            optional("imm1", column_or_scalar(DtypeSet::F32), Arg::Absent),
            optional("reduce_cmd", Kind::ReduceCmd, Arg::ReduceCmd(ReduceCmd::ResetReduce)),
        ],
        call_only: &[],
        rules: &[
            Rule::Elementwise,
            Rule::AluClasses,
            Rule::ReduceCommands(&[ReduceCmd::ResetReduce, ReduceCmd::Reduce, ReduceCmd::LoadReduce]),
            Rule::LoadReduce(5),
        ],
        cost: Cost::Cumulative,
        basis: Basis::Derived,
        doc: "A running reduction along the free axis: V = (src[i] op0 imm0) op1 V, dst[i] = V, the new term being the left \
              operand. V is the Vector engine's accumulator: it starts from op1's identity (0 for subtract), from imm1 or \
              from what it holds.",
    }
    TensorTensorScan {
        name: "tensor_tensor_scan",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("data0", tile(Read, ON_CHIP, DtypeSet::Any)),
            required("data1", tile(Read, ON_CHIP, DtypeSet::Any)),
            required("initial", column_or_scalar(DtypeSet::Any)),
            required("op0", Kind::Alu(AluSet::Recurrence)),
            required("op1", Kind::Alu(AluSet::Recurrence)),
            optional("reverse0", Kind::Bool, Arg::Bool(false)),
            optional("reverse1", Kind::Bool, Arg::Bool(false)),
        ],
        call_only: &[],
        rules: &[Rule::Elementwise, Rule::NotBothPsum(1, 2), Rule::AluClasses],
        cost: Cost::Scan,
        basis: Basis::Published,
        doc: "A recurrence along the free axis: s = (data0[i] op0 s) op1 data1[i], dst[i] = s, from s = initial; a reverse \
              flag swaps the two sides. s stays in f32.",
    }
    TensorPartitionReduce {
        name: "tensor_partition_reduce",
        engines: &[Gpsimd],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, SBUF, DtypeSet::Any)),
            required("op", Kind::Alu(AluSet::Partitions)),
            required("data", tile(Read, SBUF, DtypeSet::Any)),
        ],
        call_only: &[],
        rules: &[Rule::Partitions(0, 1), Rule::SameFree(0, 2), Rule::BitsNeedIntegers],
        cost: Cost::GpsimdTimes(8),
        basis: Basis::Guess,
        doc: "Reduces over the partitions, from the first one on, in f32 (bit operators on raw integers); average divides \
              the sum by the number of partitions. Slow: a matmul with ones adds up partitions faster.",
    }
    SelectReduce {
        name: "select_reduce",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("predicate", tile(Read, ON_CHIP, DtypeSet::Predicate)),
            required("on_true", tile(Read, ON_CHIP, DtypeSet::Streamed)),
            required("on_false", column_or_scalar(DtypeSet::Any)),
            optional("reduce_res", written_column(ON_CHIP, DtypeSet::Float), Arg::Absent),
            optional("reduce_cmd", Kind::ReduceCmd, Arg::ReduceCmd(ReduceCmd::Idle)),
            optional("reduce_op", Kind::Alu(AluSet::Maximum), Arg::Alu(super::AluOp::Maximum)),
            optional("reverse_pred", Kind::Bool, Arg::Bool(false)),
        ],
        call_only: &[],
        rules: &[
            Rule::Elementwise,
            Rule::NotBothPsum(1, 2),
            Rule::ReduceCommands(&[ReduceCmd::Idle, ReduceCmd::ResetReduce, ReduceCmd::Reduce]),
        ],
        cost: Cost::SelectReduce(1, 2),
        basis: Basis::Derived,
        doc: "dst = predicate ? on_true : on_false in f32 (the other way round with reverse_pred); the Vector engine's \
              accumulator can keep the maximum of each row.",
    }
    SequenceBounds {
        name: "sequence_bounds",
        engines: &[Gpsimd],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, SBUF, DtypeSet::Segment)),
            required("segment_ids", tile(Read, SBUF, DtypeSet::Segment)),
        ],
        call_only: &[],
        rules: &[Rule::Partitions(0, 1), Rule::Partitions(1, 1), Rule::FreeTimes(0, 1, 2)],
        cost: Cost::GpsimdTimes(4),
        basis: Basis::Guess,
        doc: "For each of n segment numbers in a row, the first position of its run of equal numbers and, n elements \
              later, one past its last; a number 0 is padding and has n and -1.",
    }
    BnStats {
        name: "bn_stats",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("data", tile(Read, ON_CHIP, DtypeSet::Any)),
        ],
        call_only: &[],
        rules: &[Rule::SamePartitions, Rule::FreeCount(0, 6), Rule::FreeRange(1, 1, 512)],
        cost: Cost::Elementwise,
        basis: Basis::Published,
        doc: "Count, mean and count times population variance of the elements at even positions of a row, then of those \
              at odd positions: two triples for bn_aggr.",
    }
    BnAggr {
        name: "bn_aggr",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("data", tile(Read, ON_CHIP, DtypeSet::Any)),
        ],
        call_only: &[],
        rules: &[Rule::SamePartitions, Rule::FreeCount(0, 2), Rule::FreeMultiple(1, 3)],
        cost: Cost::Aggregate,
        basis: Basis::Published,
        doc: "Mean and population variance of a row from the triples (count, mean, count times variance) of its parts, as \
              bn_stats makes them.",
    }
    Max8 {
        name: "max8",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("src", tile(Read, ON_CHIP, DtypeSet::Any)),
        ],
        call_only: &[],
        rules: &[Rule::SamePartitions, Rule::FreeCount(0, 8), Rule::FreeRange(1, 8, 16_384)],
        cost: Cost::Reduce,
        basis: Basis::Published,
        doc: "The eight largest values of each row, descending, duplicates kept. NaN counts as larger than every number.",
    }
    NcFindIndex8 {
        name: "nc_find_index8",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Position)),
            required("data", tile(Read, ON_CHIP, DtypeSet::Any)),
            required("vals", tile(Read, ON_CHIP, DtypeSet::Any)),
        ],
        call_only: &[],
        rules: &[
            Rule::SamePartitions,
            Rule::FreeCount(0, 8),
            Rule::FreeRange(1, 8, 16_384),
            Rule::FreeCount(2, 8),
        ],
        cost: Cost::Reduce,
        basis: Basis::Published,
        doc: "The position of each of eight values in its row: equal values take successive positions, and a value that \
              is not there (or no longer) gives all ones.",
    }
    NcMatchReplace8 {
        name: "nc_match_replace8",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("data", tile(Read, ON_CHIP, DtypeSet::Any)),
            required("vals", tile(Read, ON_CHIP, DtypeSet::Any)),
            required("imm", Kind::Scalar),
        ],
        call_only: &["dst_idx"],
        rules: &[
            Rule::SamePartitions,
            Rule::SameFree(0, 1),
            Rule::FreeRange(1, 1, 16_384),
            Rule::FreeCount(2, 8),
        ],
        cost: Cost::Elementwise,
        basis: Basis::Published,
        doc: "dst = data, with one element for each of eight values replaced by imm: the last value takes its first match, \
              then the value before it its first one that is left, and so on. All elements go through f32.",
    }
    NcStreamShuffle {
        name: "nc_stream_shuffle",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(ReadWrite, ON_CHIP, DtypeSet::Any)),
            required("src", tile(Read, ON_CHIP, DtypeSet::Any)),
            required("shuffle_mask", Kind::Shuffle),
        ],
        call_only: &[],
        rules: &[Rule::SameFree(0, 1), Rule::SameDtype(0, 1), Rule::StreamShuffle],
        cost: Cost::Elementwise,
        basis: Basis::Published,
        doc: "Moves rows between the 32 lanes of each quadrant: lane l of dst takes the row of lane mask[l] of src, or keeps \
              its own where the mask is 255. All rows are read before one is written.",
    }
    LocalGather {
        name: "local_gather",
        engines: &[Gpsimd],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, SBUF, DtypeSet::Any)),
            required("src_buffer", tile(Read, SBUF, DtypeSet::Any)),
            required("index", tile(Read, SBUF, DtypeSet::U16)),
            optional("num_elem_per_idx", Kind::Int, Arg::Int(1)),
            optional("num_valid_indices", Kind::Int, Arg::Absent),
        ],
        call_only: &[],
        rules: &[
            Rule::SamePartitions,
            Rule::SameDtype(0, 1),
            Rule::PartitionMultiple(0, 16),
            Rule::LocalGather,
        ],
        cost: Cost::LocalGather,
        basis: Basis::Guess,
        doc: "Each GpSimd core takes indices from its 16 partitions, partition fastest, and every one of those partitions \
              gathers num_elem_per_idx elements of its own row from each index on. An index counts elements; one that \
              leaves the row reads bytes of all ones.",
    }
    NcNGather {
        name: "nc_n_gather",
        engines: &[Gpsimd],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, SBUF, DtypeSet::Any)),
            required("data", tile(Read, SBUF, DtypeSet::Any)),
            required("indices", tile(Read, SBUF, DtypeSet::U32)),
        ],
        call_only: &[],
        rules: &[Rule::SamePartitions, Rule::SameFree(0, 2), Rule::SameDtype(0, 1)],
        cost: Cost::Gather,
        basis: Basis::Derived,
        doc: "dst[p, j] = data[p, indices[p, j]], positions counting the elements of a row. An index that leaves the row \
              reads bytes of all ones.",
    }
    Dropout {
        name: "dropout",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, ON_CHIP, DtypeSet::Any)),
            required("data", tile(Read, ON_CHIP, DtypeSet::Any)),
            required("prob", column_or_scalar(DtypeSet::Float)),
        ],
        call_only: &[],
        rules: &[Rule::Elementwise, Rule::SameDtype(0, 1), Rule::DropoutProbability],
        cost: Cost::Elementwise,
        basis: Basis::Published,
        doc: "Each element is zeroed with a probability and keeps its bits otherwise; nothing is rescaled. One random word \
              of its lane's generator decides an element.",
    }
    Rng {
        name: "rng",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[required("dst", tile(Write, ON_CHIP, DtypeSet::Int))],
        call_only: &["engine"],
        rules: &[],
        cost: Cost::Elementwise,
        basis: Basis::Derived,
        doc: "Fills a tile with the low bits of random words, one word of its lane's generator an element. The generator \
              is a 32-bit shift-register sequence of our own choice: the hardware's is not published.",
    }
    SetRngSeed {
        name: "set_rng_seed",
        engines: &[Vector],
        unit: Unit::Engine,
        since: Generation::V2,
        operands: &[required("src_seeds", tile(Read, ON_CHIP, DtypeSet::Word))],
        call_only: &[],
        rules: &[Rule::Partitions(0, 1), Rule::FreeCount(0, 1)],
        cost: Cost::Interval,
        basis: Basis::Derived,
        doc: "Starts the generators of all lanes anew from one 32-bit word, each with a sequence of its own.",
    }
    DmaCompute {
        name: "dma_compute",
        engines: &[Sync, Scalar, Gpsimd],
        unit: Unit::Dma,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, HBM_SBUF, DtypeSet::Any)),
            required("src0", tile(Read, HBM_SBUF, DtypeSet::Any)),
            optional("src1", tile(Read, HBM_SBUF, DtypeSet::Any), Arg::Absent),
            optional("src2", tile(Read, HBM_SBUF, DtypeSet::Any), Arg::Absent),
            optional("src3", tile(Read, HBM_SBUF, DtypeSet::Any), Arg::Absent),
            optional("src4", tile(Read, HBM_SBUF, DtypeSet::Any), Arg::Absent),
            optional("src5", tile(Read, HBM_SBUF, DtypeSet::Any), Arg::Absent),
            optional("src6", tile(Read, HBM_SBUF, DtypeSet::Any), Arg::Absent),
            optional("src7", tile(Read, HBM_SBUF, DtypeSet::Any), Arg::Absent),
        ],
        call_only: &["srcs", "reduce_op", "scales", "unique_indices", "oob_mode"],
        rules: &[Rule::SameCount],
        cost: Cost::DmaCompute,
        basis: Basis::Derived,
        doc: "Adds up tensors on the way, in f32 and in the order given, and writes the sum. In a kernel the sources are a \
              list, srcs=[…], of at most sixteen; more than eight take two transfers. Indexed rows of HBM are added to \
              or from with srcs=[dst, src], row after row: an index that comes twice adds twice.",
    }
    Collective {
        name: "collective",
        engines: &[Sync],
        unit: Unit::Dma,
        since: Generation::V2,
        operands: &[
            required("dst", tile(Write, HBM_SBUF, DtypeSet::Any)),
            optional("src", tile(Read, HBM_SBUF, DtypeSet::Any), Arg::Absent),
            optional("src1", tile(Read, HBM_SBUF, DtypeSet::Any), Arg::Absent),
            required("kind", Kind::Exchange),
            optional("op", Kind::Alu(AluSet::Collective), Arg::Alu(super::AluOp::Add)),
            optional("dim", Kind::Int, Arg::Int(0)),
            required("ranks", Kind::Ranks),
            required("group", Kind::Int),
        ],
        call_only: &[],
        rules: &[Rule::Collective],
        cost: Cost::Collective,
        basis: Basis::Derived,
        doc: "What the functions of nki.collectives become: the ranks of each group exchange a tensor, by the collective \
              cores of the chips, while the engines go on. Reductions run in f32, by ascending position in the group. \
              `kind=core_barrier` is nisa.core_barrier of the two cores of a chip.",
    }
}
