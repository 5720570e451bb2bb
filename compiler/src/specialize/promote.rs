//! Default dtypes of results (`isa.md` §2.7).
//!
//! Takes the operands of a function of `nki.language`, gives the dtype of the tile it makes when the call names none.

use super::value::Value;
use crate::dtype::Dtype;
use crate::isa::{AluClass, AluOp};

/// The dtype of a binary operator's result.
///
/// Comparisons and logical operators give the dtype of the tiles, as NKI 0.6 has it, and so do operators on bits, which
/// never change the width. A quotient of two integers is a float, since rounding it to an integer loses what was asked.
pub fn result_dtype(op: AluOp, x: &Value, y: &Value) -> Dtype {
    let facts = op.facts();
    let is_logical = matches!(op, AluOp::LogicalAnd | AluOp::LogicalOr | AluOp::LogicalXor);
    if facts.compares || is_logical || facts.class == AluClass::Bits {
        let tiles = [x, y].into_iter().filter(|it| matches!(it, Value::Tensor(_)));
        return tiles.map(dtype_of).reduce(promote).unwrap_or(Dtype::F32);
    }
    let common = promote(dtype_of(x), dtype_of(y));
    if op == AluOp::Divide && common.is_int() {
        Dtype::F32
    } else {
        common
    }
}

/// The dtype that a value takes part in promotion with.
pub fn dtype_of(value: &Value) -> Dtype {
    match value {
        Value::Tensor(it) => it.view.dtype,
        Value::Bool(_) => Dtype::U8,
        Value::Int(_) => Dtype::I32,
        _ => Dtype::F32,
    }
}

/// The smallest dtype that both operands go into.
pub fn promote(a: Dtype, b: Dtype) -> Dtype {
    use Dtype::{Bf16, Bool, F32, I16, I32, U32};
    if a == b {
        return a;
    }
    match (a.is_float(), b.is_float()) {
        (true, false) => return a,
        (false, true) => return b,
        (true, true) => {
            return match (a.size(), b.size()) {
                (4, _) | (_, 4) | (2, 2) => F32,
                (2, _) => a,
                (_, 2) => b,
                _ => Bf16,
            };
        }
        (false, false) => {}
    }
    if a.is_signed_int() == b.is_signed_int() {
        return if a.size() > b.size() || b == Bool { a } else { b };
    }
    let (signed, unsigned) = if a.is_signed_int() { (a, b) } else { (b, a) };
    match (signed.size(), unsigned.size()) {
        (_, 4) => {
            debug_assert_eq!(unsigned, U32, "the only unsigned integer of 32 bits");
            F32
        }
        (4, _) | (_, 2) => I32,
        // Both fit in 16 bits with a sign.
        _ => I16,
    }
}

#[cfg(test)]
mod tests {
    use super::promote;
    use crate::dtype::Dtype::{self, *};

    /// The table of `isa.md` §2.7, each pair in both orders.
    const TABLE: &[(Dtype, Dtype, Dtype)] = &[
        (F32, I8, F32),
        (Bf16, I32, Bf16),
        (F16, U8, F16),
        (F8e4m3, I32, F8e4m3),
        (F32, Bf16, F32),
        (F32, F16, F32),
        (F32, Tf32, F32),
        (F32, F8e5m2, F32),
        (F16, Bf16, F32),
        (F8e4m3, F16, F16),
        (F8e5m2, Bf16, Bf16),
        (F8e4m3, F8e5m2, Bf16),
        (F8e3m4, F8e4m3, Bf16),
        (I8, I16, I16),
        (I8, I32, I32),
        (U8, U16, U16),
        (U16, U32, U32),
        (Bool, U8, U8),
        (I8, U8, I16),
        (I8, U16, I32),
        (I16, U8, I16),
        (I16, U16, I32),
        (I32, U8, I32),
        (I32, U16, I32),
        (I32, U32, F32),
        (I8, U32, F32),
        (I8, Bool, I16),
    ];

    #[test]
    fn promotion_is_the_published_table() {
        for &(a, b, want) in TABLE {
            assert_eq!(promote(a, b), want, "{a:?} {b:?}");
            assert_eq!(promote(b, a), want, "{b:?} {a:?}");
        }
        for (dtype, ..) in crate::dtype::DTYPES {
            assert_eq!(promote(*dtype, *dtype), *dtype);
        }
    }
}
