//! The ALU operators on one pair of values: the one definition of what each computes (`isa.md` §5.2).
//!
//! Takes values, gives values. Never touches memory; results are not yet canonical, the final cast sees to that.

use crate::kernels;
use nk_compiler::dtype::Dtype;
use nk_compiler::isa::AluOp;

/// Bits of an element that bit operators work on: `bool` is an integer of one bit.
pub fn width(dtype: Dtype) -> u32 {
    if dtype == Dtype::Bool { 1 } else { dtype.size() * 8 }
}

/// A word with the low `width` bits set.
pub fn mask(width: u32) -> u32 {
    u32::MAX >> (32 - width)
}

/// An operator in f32. Unary ones ignore `b`.
pub fn arithmetic(op: AluOp, a: f32, b: f32) -> f32 {
    match op {
        AluOp::Add => a + b,
        AluOp::Subtract => a - b,
        AluOp::Multiply => a * b,
        AluOp::Maximum => maximum(a, b),
        AluOp::Minimum => -maximum(-a, -b),
        AluOp::Equal => truth(a == b),
        AluOp::NotEqual => truth(a != b),
        AluOp::GreaterEqual => truth(a >= b),
        AluOp::Greater => truth(a > b),
        AluOp::LessEqual => truth(a <= b),
        AluOp::Less => truth(a < b),
        // NaN is not equal to zero, so it counts as true.
        AluOp::LogicalAnd => truth(a != 0.0 && b != 0.0),
        AluOp::LogicalOr => truth(a != 0.0 || b != 0.0),
        AluOp::LogicalXor => truth((a != 0.0) != (b != 0.0)),
        AluOp::LogicalNot => truth(a == 0.0),
        AluOp::Power => kernels::power(a, b),
        AluOp::Abs => a.abs(),
        AluOp::Rsqrt => kernels::rsqrt(a),
        AluOp::Reciprocal => 1.0 / a,
        AluOp::Divide => a / b,
        AluOp::Mod => kernels::modulo(a, b),
        AluOp::Fmod => a % b,
        AluOp::BitwiseNot
        | AluOp::BitwiseAnd
        | AluOp::BitwiseOr
        | AluOp::BitwiseXor
        | AluOp::ShiftLeft
        | AluOp::ShiftRight
        | AluOp::Average => panic!("a verified instruction does not mix bit and arithmetic operators"),
    }
}

fn truth(condition: bool) -> f32 {
    f32::from(u8::from(condition))
}

/// NaN if any operand is NaN; +0 is larger than -0.
fn maximum(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        f32::NAN
    } else if a > b || (a == b && a.is_sign_positive()) {
        a
    } else {
        b
    }
}

/// An operator on integers of `width` bits, zero-extended. Shift counts are whole words; too large a count gives 0.
pub fn bits(op: AluOp, a: u32, b: u32, width: u32) -> u32 {
    let mask = mask(width);
    let a = a & mask;
    let result = match op {
        AluOp::BitwiseNot => !a,
        AluOp::BitwiseAnd => a & b,
        AluOp::BitwiseOr => a | b,
        AluOp::BitwiseXor => a ^ b,
        AluOp::ShiftLeft if b < width => a << b,
        AluOp::ShiftRight if b < width => a >> b,
        AluOp::ShiftLeft | AluOp::ShiftRight => 0,
        AluOp::Add
        | AluOp::Subtract
        | AluOp::Multiply
        | AluOp::Maximum
        | AluOp::Minimum
        | AluOp::Equal
        | AluOp::NotEqual
        | AluOp::GreaterEqual
        | AluOp::Greater
        | AluOp::LessEqual
        | AluOp::Less
        | AluOp::LogicalAnd
        | AluOp::LogicalOr
        | AluOp::LogicalXor
        | AluOp::LogicalNot
        | AluOp::Power
        | AluOp::Abs
        | AluOp::Rsqrt
        | AluOp::Reciprocal
        | AluOp::Divide
        | AluOp::Mod
        | AluOp::Fmod
        | AluOp::Average => panic!("a verified instruction does not mix bit and arithmetic operators"),
    };
    result & mask
}

/// How GpSimd's 32-bit integer ALU sees its operands, when it has the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Integers {
    Signed,
    Unsigned,
    /// One of each: compared by value.
    Mixed,
}

impl Integers {
    /// The integer form of an operator on two dtypes; `None` when it is computed in f32.
    pub fn of(op: AluOp, a: Dtype, b: Dtype) -> Option<Integers> {
        let form = match (a, b) {
            (Dtype::I32, Dtype::I32) => Integers::Signed,
            (Dtype::U32, Dtype::U32) => Integers::Unsigned,
            (Dtype::I32, Dtype::U32) | (Dtype::U32, Dtype::I32) => Integers::Mixed,
            _ => return None,
        };
        let has = op.facts().compares
            || matches!(
                op,
                AluOp::Add | AluOp::Subtract | AluOp::Multiply | AluOp::Maximum | AluOp::Minimum
            );
        has.then_some(form)
    }
}

/// An operator of GpSimd's integer ALU on two 32-bit integers; sums and products wrap.
///
/// The result is a word: of `a`'s dtype, or 0 and 1.
pub fn integer(op: AluOp, a: (Dtype, u32), b: (Dtype, u32)) -> u32 {
    let (x, y) = (integer_value(a), integer_value(b));
    let result = match op {
        AluOp::Add => x + y,
        AluOp::Subtract => x - y,
        AluOp::Multiply => x.wrapping_mul(y),
        AluOp::Maximum => x.max(y),
        AluOp::Minimum => x.min(y),
        AluOp::Equal => i64::from(x == y),
        AluOp::NotEqual => i64::from(x != y),
        AluOp::GreaterEqual => i64::from(x >= y),
        AluOp::Greater => i64::from(x > y),
        AluOp::LessEqual => i64::from(x <= y),
        AluOp::Less => i64::from(x < y),
        _ => panic!("the integer ALU has no {}", op.name()),
    };
    result as u32
}

/// The value of a 32-bit integer element.
pub fn integer_value((dtype, raw): (Dtype, u32)) -> i64 {
    if dtype == Dtype::I32 {
        i64::from(raw as i32)
    } else {
        i64::from(raw)
    }
}
