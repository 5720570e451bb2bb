//! The Vector and GpSimd instructions that work element by element or along rows.

use super::alu::{self, Integers};
use super::cast::{self, encode, encode_integer};
use super::{Args, Core, Operand, alu_op, flag, is_bits};
use nk_compiler::dtype::Dtype;
use nk_compiler::isa::{AluOp, Arg, Engine};

pub fn tensor_tensor(core: &mut Core, args: &Args, engine: Engine) {
    let [dst, data1, data2, op, ..] = args;
    let (a, b, op) = (core.tile(data1), core.tile(data2), alu_op(op));
    let to = core.access(dst).dtype;
    let n = a.raw.len();
    let result: Vec<u32> = if is_bits(op) {
        let width = alu::width(a.dtype);
        (0..n)
            .map(|it| store_bits(to, alu::bits(op, a.raw[it], b.raw[it], width)))
            .collect()
    } else if let Some(form) = Integers::of(op, a.dtype, b.dtype).filter(|_| engine == Engine::Gpsimd) {
        let words = (0..n).map(|it| alu::integer(op, (a.dtype, a.raw[it]), (b.dtype, b.raw[it])));
        words.map(|it| store_integer(to, form, a.dtype, it)).collect()
    } else {
        let values = (0..n).map(|it| alu::arithmetic(op, a.value(it), b.value(it)));
        return core.write_values(dst, values);
    };
    core.write(dst, result);
}

/// The low bits of a word as an element; `bool` keeps one bit.
pub fn store_bits(to: Dtype, word: u32) -> u32 {
    word & alu::mask(alu::width(to))
}

/// A word of the integer ALU as an element: 32-bit integers take it as it is, other dtypes take its value.
fn store_integer(to: Dtype, form: Integers, data: Dtype, word: u32) -> u32 {
    if matches!(to, Dtype::I32 | Dtype::U32) {
        return word;
    }
    let dtype = match form {
        Integers::Signed => Dtype::I32,
        Integers::Unsigned => Dtype::U32,
        Integers::Mixed => data,
    };
    encode_integer(to, alu::integer_value((dtype, word)))
}

/// One step of a two-operator instruction.
struct Step {
    op: AluOp,
    operand: Operand,
    reverse: bool,
}

pub fn tensor_scalar(core: &mut Core, args: &Args) {
    let [dst, data, op0, operand0, reverse0, op1, operand1, reverse1, ..] = args;
    let mut steps = vec![step(core, op0, operand0, reverse0, true)];
    if *op1 != Arg::Absent {
        steps.push(step(core, op1, operand1, reverse1, true));
    }
    chain(core, dst, data, &steps);
}

pub fn scalar_tensor_tensor(core: &mut Core, args: &Args) {
    let [dst, data, op0, operand0, op1, operand1, reverse0, reverse1, ..] = args;
    let steps = [
        step(core, op0, operand0, reverse0, true),
        step(core, op1, operand1, reverse1, false),
    ];
    chain(core, dst, data, &steps);
}

fn step(core: &Core, op: &Arg, operand: &Arg, reverse: &Arg, column: bool) -> Step {
    let op = alu_op(op);
    Step {
        op,
        operand: core.operand(operand, column, op),
        reverse: flag(reverse),
    }
}

/// Applies the steps to every element. Between two steps the value stays in f32, or in raw bits of the data's width.
fn chain(core: &mut Core, dst: &Arg, data: &Arg, steps: &[Step]) {
    let data = core.tile(data);
    let to = core.access(dst).dtype;
    let indices = (0..data.raw.len()).map(|idx| (idx / data.row, idx));
    if is_bits(steps[0].op) {
        let width = alu::width(data.dtype);
        let element = |(p, idx): (usize, usize)| {
            let word = steps.iter().fold(data.raw[idx], |word, step| {
                let other = step.operand.bits(p, idx);
                if step.reverse && !step.op.facts().unary {
                    alu::bits(step.op, other, word, width)
                } else {
                    alu::bits(step.op, word, other, width)
                }
            });
            store_bits(to, word)
        };
        let result: Vec<u32> = indices.map(element).collect();
        core.write(dst, result);
    } else {
        let element = |(p, idx): (usize, usize)| {
            steps.iter().fold(data.value(idx), |value, step| {
                let other = step.operand.value(p, idx);
                if step.reverse && !step.op.facts().unary {
                    alu::arithmetic(step.op, other, value)
                } else {
                    alu::arithmetic(step.op, value, other)
                }
            })
        };
        core.write_values(dst, indices.map(element));
    }
}

pub fn tensor_reduce(core: &mut Core, args: &Args) {
    let [dst, op, data, axes, negate, ..] = args;
    let Arg::Axes(axes) = axes else {
        panic!("a verified axis operand holds axes")
    };
    let (op, reduced) = (alu_op(op), core.access(data).axes.iter().enumerate());
    let count: u64 = reduced
        .filter(|it| axes >> it.0 & 1 == 1)
        .map(|it| u64::from(it.1.count))
        .product();
    let (data, to) = (core.tile(data), core.access(dst).dtype);
    let rows = (0..data.raw.len())
        .step_by(count as usize)
        .map(|at| at..at + count as usize);
    if is_bits(op) {
        let width = alu::width(data.dtype);
        let row =
            |it: &mut dyn Iterator<Item = u32>| it.reduce(|a, b| alu::bits(op, a, b, width)).unwrap_or(0);
        let result: Vec<u32> = rows
            .map(|it| store_bits(to, row(&mut it.map(|idx| data.raw[idx] & alu::mask(width)))))
            .collect();
        core.write(dst, result);
    } else {
        let row = |it: std::ops::Range<usize>| {
            let values: Vec<f32> = it.map(|idx| data.value(idx)).collect();
            let sum = fold(op, &values);
            if flag(negate) { -sum } else { sum }
        };
        core.write_values(dst, rows.map(row));
    }
}

/// Reduces a row.
///
/// Sums, products, maxima and minima have one fixed shape: lane i folds the elements whose index is i modulo 16,
/// ascending, from the operator's identity; then the lanes are folded onto each other at distances 8, 4, 2 and 1. The
/// other operators fold from the left.
pub fn fold(op: AluOp, values: &[f32]) -> f32 {
    let Some(identity) = identity(op) else {
        let (first, rest) = values.split_first().expect("a verified reduction has elements");
        return rest.iter().fold(*first, |acc, &it| alu::arithmetic(op, acc, it));
    };
    let mut lanes = [identity; 16];
    for (idx, &it) in values.iter().enumerate() {
        lanes[idx % 16] = alu::arithmetic(op, lanes[idx % 16], it);
    }
    for distance in [8, 4, 2, 1] {
        for idx in 0..distance {
            lanes[idx] = alu::arithmetic(op, lanes[idx], lanes[idx + distance]);
        }
    }
    lanes[0]
}

/// The value that leaves every other one unchanged, its sign included: that of a sum is -0.
fn identity(op: AluOp) -> Option<f32> {
    match op {
        AluOp::Add => Some(-0.0),
        AluOp::Multiply => Some(1.0),
        AluOp::Maximum => Some(f32::NEG_INFINITY),
        AluOp::Minimum => Some(f32::INFINITY),
        _ => None,
    }
}

pub fn affine_select(core: &mut Core, args: &Args) {
    let [dst, pattern, multiplier, on_true, on_false, cmp, offset, ..] = args;
    let values = core.pattern(dst, pattern, offset, multiplier);
    let (tile, cmp) = (core.tile(on_true), alu_op(cmp));
    let constant = cast::immediate(on_false);
    // Unlike the ALU's f32 comparison, that of the pattern is exact.
    let keeps = |value: i32| alu::integer(cmp, (Dtype::I32, value as u32), (Dtype::I32, 0)) != 0;
    let to = core.access(dst).dtype;
    if tile.dtype == to {
        let constant = encode(to, constant);
        let select = |(idx, &value): (usize, &i32)| if keeps(value) { tile.raw[idx] } else { constant };
        let result: Vec<u32> = values.iter().enumerate().map(select).collect();
        core.write(dst, result);
    } else {
        let select = |(idx, &value): (usize, &i32)| if keeps(value) { tile.value(idx) } else { constant };
        core.write_values(dst, values.iter().enumerate().map(select));
    }
}

pub fn copy_predicated(core: &mut Core, args: &Args) {
    let [dst, src, predicate, reverse, ..] = args;
    let (old, predicate) = (core.tile(dst), core.tile(predicate));
    let new: Vec<u32> = match src {
        Arg::View(_) => core.tile(src).raw,
        constant => vec![cast::immediate_as(old.dtype, constant); old.raw.len()],
    };
    let result = (0..old.raw.len()).map(|idx| {
        let takes = (predicate.raw[idx] != 0) != flag(reverse);
        if takes { new[idx] } else { old.raw[idx] }
    });
    core.write(dst, result.collect::<Vec<u32>>());
}
