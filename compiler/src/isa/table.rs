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
            optional("reduce_res", Kind::Column(Tile { access: Write, memories: ON_CHIP, dtypes: DtypeSet::Any }), Arg::Absent),
            optional("reduce_cmd", Kind::ReduceCmd, Arg::ReduceCmd(ReduceCmd::Idle)),
        ],
        call_only: &[],
        rules: &[Rule::Elementwise, Rule::NoBiasWithReciprocal, Rule::ActivationReduce],
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
            required("reduce_res", Kind::Column(Tile { access: Write, memories: ON_CHIP, dtypes: DtypeSet::Any })),
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
}
