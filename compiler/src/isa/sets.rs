//! What an operand may be: sets of dtypes and of operators, by the names that rows use.
//!
//! Takes a dtype or an operator, says whether it is in a set.

use super::{AluClass, AluOp};
use crate::dtype::Dtype;

/// Dtypes an operand may have.
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
    /// Two operands, arithmetic, what the Vector engine computes.
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
            AluSet::Arithmetic => is_arithmetic && !facts.unary && !facts.gpsimd_only,
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
