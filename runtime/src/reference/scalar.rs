//! The Scalar engine: functions with a scale, a bias and an accumulator.

use super::Core;
use super::cast::canonical;
use super::elementwise::fold;
use super::rounding::FIRST_SUM;
use crate::kernels;
use nk_compiler::isa::{AluOp, Arg, ReduceCmd};

/// y = f(data * scale + bias), the argument being one fused multiply-add. A bias that is left out adds nothing, so without
/// scale and bias y = f(data) exactly, a zero's sign included.
///
/// The accumulator has one register per physical partition of `data` and sums the results before their cast, row by row
/// in the shape of [`fold`].
pub fn activation(core: &mut Core, [dst, function, data, bias, scale, result]: [&Arg; 6], cmd: ReduceCmd) {
    let Arg::Act(function) = function else {
        panic!("a verified function is a function")
    };
    let first = u64::from(core.access(data).partition);
    let scale = core.operand(scale, true, AluOp::Multiply);
    let bias = match bias {
        Arg::Absent => None,
        _ => Some(core.operand(bias, true, AluOp::Add)),
    };
    let tile = core.tile(data);
    let argument = |p: usize, idx: usize| {
        let bias = bias.as_ref().map_or(-0.0, |it| it.value(p, idx));
        tile.value(idx).mul_add(scale.value(p, idx), bias)
    };
    let arguments: Vec<f32> = (0..tile.raw.len())
        .map(|idx| argument(idx / tile.row, idx))
        .collect();
    if let Some(counter) = core.counter {
        let valid = &function.facts().valid;
        let n_outside = arguments.iter().filter(|it| valid.excludes(**it)).count();
        core.memory.count(counter, n_outside as u64);
    }
    let values: Vec<f32> = arguments
        .into_iter()
        .map(|it| kernels::function(*function, it))
        .collect();

    let resets = matches!(cmd, ReduceCmd::Reset | ReduceCmd::ResetReduce);
    let adds = matches!(cmd, ReduceCmd::Reduce | ReduceCmd::ResetReduce);
    let mut sums = Vec::new();
    for (p, row) in values.chunks(tile.row).enumerate() {
        let register = core.memory.layout.accumulators + (first + p as u64) * 4;
        let mut sum = f32::from_bits(core.memory.word(register, 4));
        if resets {
            sum = 0.0;
        }
        if adds {
            sum = canonical(sum + fold(AluOp::Add, row));
        }
        core.memory.set_word(register, 4, sum.to_bits());
        sums.push(sum);
    }

    core.write_values(dst, values);
    if *result != Arg::Absent {
        core.write_values_from(result, sums, FIRST_SUM);
    }
}
