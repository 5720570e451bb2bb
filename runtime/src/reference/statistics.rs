//! Statistics of rows for batch normalisation, and reductions over partitions.

use super::alu;
use super::elementwise::{fold, store_bits};
use super::{Args, Core, alu_op, is_bits};
use nk_compiler::isa::AluOp;

/// Count, mean and count times population variance of some values; the mean of none is 0.
fn triple(values: &[f32]) -> [f32; 3] {
    if values.is_empty() {
        return [0.0; 3];
    }
    let count = values.len() as f32;
    let mean = fold(AluOp::Add, values) / count;
    let squares: Vec<f32> = values.iter().map(|it| (it - mean) * (it - mean)).collect();
    [count, mean, fold(AluOp::Add, &squares)]
}

/// The triples of the elements at even and at odd positions.
pub fn bn_stats(core: &mut Core, args: &Args) {
    let [dst, data, ..] = args;
    let tile = core.tile(data);
    let mut results = Vec::new();
    for start in (0..tile.raw.len()).step_by(tile.row) {
        for first in [start, start + 1] {
            let positions = (first..start + tile.row).step_by(2);
            let values: Vec<f32> = positions.map(|it| tile.value(it)).collect();
            results.extend(triple(&values));
        }
    }
    core.write_values(dst, results);
}

/// Mean and population variance from triples, all sums from the left.
pub fn bn_aggr(core: &mut Core, args: &Args) {
    let [dst, data, ..] = args;
    let tile = core.tile(data);
    let mut results = Vec::new();
    for start in (0..tile.raw.len()).step_by(tile.row) {
        let triples = || {
            (start..start + tile.row)
                .step_by(3)
                .map(|it| [tile.value(it), tile.value(it + 1), tile.value(it + 2)])
        };
        let count = triples().fold(0.0, |sum, [c, _, _]| sum + c);
        let mean = triples().fold(0.0, |sum, [c, m, _]| sum + c * m) / count;
        let squares = triples().fold(0.0, |sum, [c, m, q]| sum + (q + c * ((m - mean) * (m - mean))));
        results.extend([mean, squares / count]);
    }
    core.write_values(dst, results);
}

/// Reduces over partitions, from the first one on.
pub fn partition_reduce(core: &mut Core, args: &Args) {
    let [dst, op, data, ..] = args;
    let (op, tile, to) = (alu_op(op), core.tile(data), core.access(dst).dtype);
    let partitions = tile.raw.len() / tile.row;
    let at = |p: usize, column: usize| p * tile.row + column;
    if is_bits(op) {
        let width = alu::width(tile.dtype);
        let column = |it: usize| {
            let first = tile.raw[it] & alu::mask(width);
            (1..partitions).fold(first, |word, p| alu::bits(op, word, tile.raw[at(p, it)], width))
        };
        let words: Vec<u32> = (0..tile.row).map(|it| store_bits(to, column(it))).collect();
        return core.write(dst, words);
    }
    let (step, divisor) = match op {
        AluOp::Average => (AluOp::Add, partitions as f32),
        op => (op, 1.0),
    };
    let column = |it: usize| {
        let fold = |sum: f32, p: usize| alu::arithmetic(step, sum, tile.value(at(p, it)));
        (1..partitions).fold(tile.value(it), fold) / divisor
    };
    core.write_values(dst, (0..tile.row).map(column));
}
