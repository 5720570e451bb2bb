//! Operands that overlap, and destinations that hold one element twice.
//!
//! An instruction of an engine streams: element by element it reads, then writes, so a tile may be updated in place. Where
//! the order of elements is not fixed (16 DMA engines, a transpose, a copy to other partitions), overlap that is not
//! identity has no meaning. Only overlap that is certain is reported; interleaved patterns pass.

use super::Case;
use super::error::AgreementMistake;
use super::facts::{extent, merged, walked_dims};
use crate::ir::{Dim, View};
use crate::isa::{Access, Arg, Memory, Op, Unit};

pub fn check(case: &mut Case) {
    let Arg::View(dst_id) = case.inst.args[0] else {
        return;
    };
    if !case.row.has_dst() {
        return;
    }
    let dst = case.program[dst_id];
    let memory = case.program.memory(&dst);
    let moves_freely = case.row.unit == Unit::Dma
        || matches!(case.inst.op, Op::NcTranspose | Op::LocalGather | Op::NcNGather);
    if moves_freely || case.inst.op == Op::NcMatmul {
        // Rows with indices of their own stand at a stride of 0.
        let dims = &dst.dims()[usize::from(dst.has_row_indices())..];
        let repeated = dims.iter().find(|it| it.stride == 0 && it.count > 1);
        if let Some(times) = repeated.map(|it| it.count) {
            case.report(0, AgreementMistake::RepeatedDestination { times });
        }
    }
    for position in 1..case.row.operands.len() {
        let Arg::View(id) = case.inst.args[position] else {
            continue;
        };
        let view = case.program[id];
        let is_read = case.row.operands[position]
            .kind
            .tile()
            .is_some_and(|it| it.access == Access::Read);
        let is_dynamic = view.dynamic.is_some() || dst.dynamic.is_some();
        if view.buffer != dst.buffer || id == dst_id || !is_read || is_dynamic {
            continue;
        }
        let moves = moves_freely || view.partition != dst.partition;
        if moves && certainly_overlap(&view, &dst, memory) {
            let other = case.row.operands[0].name;
            case.report(position, AgreementMistake::Overlap { other });
        }
    }
}

/// Whether two views of one buffer share an element beyond doubt.
fn certainly_overlap(a: &View, b: &View, memory: Memory) -> bool {
    if memory.is_on_chip() && !ranges_overlap(partitions(a), partitions(b)) {
        return false;
    }
    let (a_dims, b_dims) = (walked_dims(a, memory), walked_dims(b, memory));
    if a.dtype.size() != b.dtype.size() {
        return is_dense(a_dims) && is_dense(b_dims) && ranges_overlap(bytes(a, a_dims), bytes(b, b_dims));
    }
    match (starts(a, a_dims), starts(b, b_dims)) {
        // Two boxes of one shape: compare dimension by dimension.
        (Some(a_starts), Some(b_starts)) if strides(a_dims).eq(strides(b_dims)) => {
            let range = |start: &i64, dim: &Dim| (*start, start + i64::from(dim.count));
            let a_ranges = a_starts.iter().zip(a_dims).map(|(start, dim)| range(start, dim));
            let b_ranges = b_starts.iter().zip(b_dims).map(|(start, dim)| range(start, dim));
            a_ranges.zip(b_ranges).all(|(a, b)| ranges_overlap(a, b))
        }
        _ => is_dense(a_dims) && is_dense(b_dims) && ranges_overlap(bytes(a, a_dims), bytes(b, b_dims)),
    }
}

fn ranges_overlap(a: (i64, i64), b: (i64, i64)) -> bool {
    a.0 < b.1 && b.0 < a.1
}

fn partitions(view: &View) -> (i64, i64) {
    let start = i64::from(view.partition);
    (start, start + i64::from(view.partitions()))
}

fn bytes(view: &View, dims: &[Dim]) -> (i64, i64) {
    let size = i64::from(view.dtype.size());
    let (first, last) = extent(view.offset, dims);
    (first * size, (last + 1) * size)
}

fn strides(dims: &[Dim]) -> impl Iterator<Item = i32> {
    dims.iter().map(|it| it.stride)
}

/// Whether the pairs fill their extent without holes.
fn is_dense(dims: &[Dim]) -> bool {
    matches!(merged(dims), (0, _) | (1, 1))
}

/// Where a box starts in each dimension; `None` for patterns that are no box of falling strides.
fn starts(view: &View, dims: &[Dim]) -> Option<Vec<i64>> {
    let mut rest = view.offset;
    let mut outer = i64::MAX;
    let mut starts = Vec::with_capacity(dims.len());
    for dim in dims {
        let stride = i64::from(dim.stride);
        if stride <= 0 || stride > outer {
            return None;
        }
        outer = stride;
        starts.push(rest / stride);
        rest %= stride;
    }
    // Boxes of one shape that lie beside each other within a stride are told apart by what is left.
    (rest == 0).then_some(starts)
}
