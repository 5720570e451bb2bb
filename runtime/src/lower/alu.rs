//! ALU operators and casts on vectors of four lanes.
//!
//! Takes vectors of f32 or of words, gives the same. Must match `reference::alu` and `reference::cast` bit for bit, except
//! that NaNs of f32 become canonical only when they are written.

use super::emit::Emitter;
use cranelift::codegen::ir::Opcode;
use cranelift::prelude::types::{F32X4, I32X4};
use cranelift::prelude::*;
use nk_compiler::dtype::Dtype;
use nk_compiler::isa::AluOp;

/// Whether a dtype's elements become f32 in a register, without a row kernel.
pub fn converts_inline(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F32 | Dtype::Tf32 | Dtype::I32 | Dtype::U32)
}

/// Whether an operator has a row kernel instead of inline code.
pub fn has_row_kernel(op: AluOp) -> bool {
    matches!(op, AluOp::Power | AluOp::Rsqrt | AluOp::Mod | AluOp::Fmod)
}

/// Elements of 32 bits as f32.
pub fn decode(emitter: &mut Emitter, dtype: Dtype, bits: Value) -> Value {
    match dtype {
        Dtype::F32 => emitter.cast(F32X4, bits),
        Dtype::Tf32 => {
            let value = round_tf32(emitter, bits);
            emitter.cast(F32X4, value)
        }
        Dtype::I32 => emitter.b.ins().fcvt_from_sint(F32X4, bits),
        Dtype::U32 => emitter.b.ins().fcvt_from_uint(F32X4, bits),
        _ => panic!("narrow elements are converted by row kernels"),
    }
}

/// Computed f32 values as elements of 32 bits. Those of f32 are not yet canonical: the sink of a row sees to that.
pub fn encode(emitter: &mut Emitter, dtype: Dtype, value: Value) -> Value {
    match dtype {
        Dtype::F32 => value,
        Dtype::Tf32 => {
            let value = canonical(emitter, value);
            let bits = emitter.cast(I32X4, value);
            round_tf32(emitter, bits)
        }
        Dtype::I32 => {
            let rounded = emitter.b.ins().nearest(value);
            emitter.b.ins().fcvt_to_sint_sat(I32X4, rounded)
        }
        Dtype::U32 => {
            let rounded = emitter.b.ins().nearest(value);
            emitter.b.ins().fcvt_to_uint_sat(I32X4, rounded)
        }
        _ => panic!("narrow elements are converted by row kernels"),
    }
}

/// Every NaN becomes the positive quiet one.
pub fn canonical(emitter: &mut Emitter, value: Value) -> Value {
    let is_nan = emitter.b.ins().fcmp(FloatCC::Unordered, value, value);
    let nan = emitter.constant(F32X4, 0x7fc0_0000);
    emitter.select(is_nan, nan, value)
}

/// Rounds the mantissa to ten bits, to nearest even; NaN becomes canonical.
fn round_tf32(emitter: &mut Emitter, bits: Value) -> Value {
    let bits = emitter.cast(I32X4, bits);
    let value = emitter.cast(F32X4, bits);
    let b = &mut emitter.b;
    let is_nan = b.ins().fcmp(FloatCC::Unordered, value, value);
    let odd = b.ins().ushr_imm_u(bits, 13);
    let one = emitter.integer(1);
    let odd = emitter.b.ins().band(odd, one);
    let half = emitter.integer(0xfff);
    let sum = emitter.b.ins().iadd(bits, half);
    let sum = emitter.b.ins().iadd(sum, odd);
    let mask = emitter.integer(!0x1fff);
    let rounded = emitter.b.ins().band(sum, mask);
    let nan = emitter.integer(0x7fc0_0000);
    emitter.select(is_nan, nan, rounded)
}

/// An operator in f32; unary ones ignore `y`.
pub fn arithmetic(emitter: &mut Emitter, op: AluOp, x: Value, y: Value) -> Value {
    let b = &mut emitter.b;
    match op {
        AluOp::Add => b.ins().fadd(x, y),
        AluOp::Subtract => b.ins().fsub(x, y),
        AluOp::Multiply => b.ins().fmul(x, y),
        AluOp::Divide => b.ins().fdiv(x, y),
        AluOp::Maximum => b.ins().fmax(x, y),
        AluOp::Minimum => b.ins().fmin(x, y),
        AluOp::Equal => compare(emitter, FloatCC::Equal, x, y),
        AluOp::NotEqual => compare(emitter, FloatCC::NotEqual, x, y),
        AluOp::GreaterEqual => compare(emitter, FloatCC::GreaterThanOrEqual, x, y),
        AluOp::Greater => compare(emitter, FloatCC::GreaterThan, x, y),
        AluOp::LessEqual => compare(emitter, FloatCC::LessThanOrEqual, x, y),
        AluOp::Less => compare(emitter, FloatCC::LessThan, x, y),
        AluOp::LogicalAnd => {
            let (x, y) = (is_true(emitter, x), is_true(emitter, y));
            let both = emitter.b.ins().band(x, y);
            truth(emitter, both)
        }
        AluOp::LogicalOr => {
            let (x, y) = (is_true(emitter, x), is_true(emitter, y));
            let either = emitter.b.ins().bor(x, y);
            truth(emitter, either)
        }
        AluOp::LogicalXor => {
            let (x, y) = (is_true(emitter, x), is_true(emitter, y));
            let one = emitter.b.ins().bxor(x, y);
            truth(emitter, one)
        }
        AluOp::LogicalNot => {
            let zero = emitter.float(0.0);
            compare(emitter, FloatCC::Equal, x, zero)
        }
        AluOp::Abs => b.ins().fabs(x),
        AluOp::Reciprocal => {
            let one = emitter.float(1.0);
            emitter.b.ins().fdiv(one, x)
        }
        AluOp::Power | AluOp::Rsqrt | AluOp::Mod | AluOp::Fmod => panic!("the operator has a row kernel"),
        AluOp::BitwiseNot
        | AluOp::BitwiseAnd
        | AluOp::BitwiseOr
        | AluOp::BitwiseXor
        | AluOp::ShiftLeft
        | AluOp::ShiftRight
        | AluOp::Average => panic!("a verified instruction does not mix bit and arithmetic operators"),
    }
}

/// The mask of the lanes that are not zero; NaN is not.
fn is_true(emitter: &mut Emitter, x: Value) -> Value {
    let zero = emitter.float(0.0);
    emitter.b.ins().fcmp(FloatCC::NotEqual, x, zero)
}

fn compare(emitter: &mut Emitter, condition: FloatCC, x: Value, y: Value) -> Value {
    let mask = emitter.b.ins().fcmp(condition, x, y);
    truth(emitter, mask)
}

/// 1.0 where a mask is set, else 0.0.
fn truth(emitter: &mut Emitter, mask: Value) -> Value {
    let one = emitter.float(1.0);
    let bits = emitter.cast(I32X4, one);
    let result = emitter.b.ins().band(mask, bits);
    emitter.cast(F32X4, result)
}

/// An operator on integers of `width` bits in zero-extended words; unary ones ignore `y`.
pub fn bits(emitter: &mut Emitter, op: AluOp, x: Value, y: Value, width: u32) -> Value {
    let mask = crate::reference::alu::mask(width);
    let x = keep(emitter, x, mask);
    let b = &mut emitter.b;
    let result = match op {
        AluOp::BitwiseNot => b.ins().bnot(x),
        AluOp::BitwiseAnd => return b.ins().band(x, y),
        AluOp::BitwiseOr => b.ins().bor(x, y),
        AluOp::BitwiseXor => b.ins().bxor(x, y),
        AluOp::ShiftLeft => shift(emitter, x, y, width, |b, x, y| b.ins().ishl(x, y)),
        AluOp::ShiftRight => shift(emitter, x, y, width, |b, x, y| b.ins().ushr(x, y)),
        _ => panic!("a verified instruction does not mix bit and arithmetic operators"),
    };
    keep(emitter, result, mask)
}

/// The low bits of every lane.
pub fn keep(emitter: &mut Emitter, x: Value, mask: u32) -> Value {
    if mask == u32::MAX {
        return x;
    }
    let mask = emitter.integer(mask);
    emitter.b.ins().band(x, mask)
}

/// Shifts every lane by its own count; a count of `width` or more gives 0. Vectors only shift by one count, so different
/// counts are applied lane by lane.
fn shift(
    emitter: &mut Emitter,
    x: Value,
    count: Value,
    width: u32,
    op: impl Fn(&mut FunctionBuilder, Value, Value) -> Value,
) -> Value {
    let limit = emitter.integer(width);
    let b = &mut emitter.b;
    let result = match splatted(b, count) {
        Some(n) => op(b, x, n),
        None => (0..4).fold(x, |result, idx| {
            let (value, n) = (b.ins().extractlane(x, idx), b.ins().extractlane(count, idx));
            let shifted = op(b, value, n);
            b.ins().insertlane(result, shifted, idx)
        }),
    };
    let fits = b.ins().icmp(IntCC::UnsignedLessThan, count, limit);
    b.ins().band(result, fits)
}

/// The scalar that a vector repeats.
fn splatted(b: &FunctionBuilder, vector: Value) -> Option<Value> {
    let inst = b.func.dfg.value_def(vector).inst()?;
    let is_splat = b.func.dfg.insts[inst].opcode() == Opcode::Splat;
    is_splat.then(|| b.func.dfg.inst_args(inst)[0])
}

/// An operator of GpSimd's 32-bit integer ALU; comparisons give 0 and 1.
pub fn integer(emitter: &mut Emitter, op: AluOp, form: [Dtype; 2], x: Value, y: Value) -> Value {
    let b = &mut emitter.b;
    match op {
        AluOp::Add => return b.ins().iadd(x, y),
        AluOp::Subtract => return b.ins().isub(x, y),
        AluOp::Multiply => return b.ins().imul(x, y),
        _ => {}
    }
    let equal = equal(emitter, form, x, y);
    let less = less(emitter, form, x, y);
    let b = &mut emitter.b;
    let mask = match op {
        AluOp::Equal => equal,
        AluOp::NotEqual => b.ins().bnot(equal),
        AluOp::Less => less,
        AluOp::GreaterEqual => b.ins().bnot(less),
        AluOp::LessEqual => b.ins().bor(less, equal),
        AluOp::Greater => {
            let not_greater = b.ins().bor(less, equal);
            b.ins().bnot(not_greater)
        }
        AluOp::Maximum => return emitter.select(less, y, x),
        AluOp::Minimum => return emitter.select(less, x, y),
        _ => panic!("the integer ALU has no {}", op.name()),
    };
    let one = emitter.integer(1);
    emitter.b.ins().band(mask, one)
}

/// Integers that an f32 holds and that round to the same number of a narrower float as `x` does: above 2^24, the lowest
/// bit that an f32 of any of them has is set when a bit below it is.
pub fn fit_f32(emitter: &mut Emitter, dtype: Dtype, x: Value) -> Value {
    let (low, bit) = (emitter.integer(0xff), emitter.integer(0x100));
    let zero = emitter.integer(0);
    let (bias, span) = match dtype {
        Dtype::I32 => (emitter.integer(1 << 24), emitter.integer(1 << 25)),
        _ => (zero, emitter.integer(1 << 24)),
    };
    let b = &mut emitter.b;
    let rest = b.ins().band(x, low);
    let is_between = b.ins().icmp(IntCC::NotEqual, rest, zero);
    let sticky = b.ins().band(is_between, bit);
    let whole = b.ins().band_not(x, low);
    let fitting = b.ins().bor(whole, sticky);
    let distance = b.ins().iadd(x, bias);
    let is_large = b.ins().icmp(IntCC::UnsignedLessThan, span, distance);
    emitter.select(is_large, fitting, x)
}

/// The mask of the lanes of a 32-bit integer dtype that are negative.
fn negative(emitter: &mut Emitter, dtype: Dtype, x: Value) -> Value {
    let zero = emitter.integer(0);
    if dtype == Dtype::I32 {
        emitter.b.ins().icmp(IntCC::SignedLessThan, x, zero)
    } else {
        zero
    }
}

/// Lanes that are equal as numbers: with the same bits, and both or none negative.
fn equal(emitter: &mut Emitter, [x_type, y_type]: [Dtype; 2], x: Value, y: Value) -> Value {
    let same = emitter.b.ins().icmp(IntCC::Equal, x, y);
    if x_type == y_type {
        return same;
    }
    let (x_negative, y_negative) = (negative(emitter, x_type, x), negative(emitter, y_type, y));
    let differ = emitter.b.ins().bor(x_negative, y_negative);
    emitter.b.ins().band_not(same, differ)
}

/// Lanes of x that are less than those of y as numbers.
fn less(emitter: &mut Emitter, [x_type, y_type]: [Dtype; 2], x: Value, y: Value) -> Value {
    if x_type == y_type {
        let signed = x_type == Dtype::I32;
        let condition = if signed {
            IntCC::SignedLessThan
        } else {
            IntCC::UnsignedLessThan
        };
        return emitter.b.ins().icmp(condition, x, y);
    }
    // One is negative at most, and then it is the lesser; else both compare as unsigned numbers.
    let below = emitter.b.ins().icmp(IntCC::UnsignedLessThan, x, y);
    let (x_negative, y_negative) = (negative(emitter, x_type, x), negative(emitter, y_type, y));
    let below = emitter.b.ins().band_not(below, y_negative);
    emitter.b.ins().bor(below, x_negative)
}
