//! What the rules ask of a view, computed once per interned view.
//!
//! Programs of unrolled loops use a view many times, and most rules only compare counts, so instructions are verified
//! from these few words instead of from the views.

use super::error::{Axis, ViewMistake};
use crate::dtype::Dtype;
use crate::ir::{Buffer, Dim, Program, View};
use crate::isa::Memory;
use crate::target::Target;

/// The facts of one view.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub memory: Memory,
    pub dtype: Dtype,
    /// Some rule of views is broken, whoever uses it.
    pub is_bad: bool,
    /// Some rule of the engines' access patterns is broken; DMA may use it.
    pub is_bad_for_engines: bool,
    /// 1 in HBM.
    pub partitions: u32,
    /// Elements in each partition; all elements in HBM.
    pub free: u64,
}

impl Facts {
    pub fn count(&self) -> u64 {
        u64::from(self.partitions).saturating_mul(self.free)
    }
}

/// The facts of every view of a program, indexed like its views.
pub fn facts(program: &Program, target: &Target) -> Vec<Facts> {
    let sizes: Vec<u64> = program.buffers.iter().map(Buffer::bytes).collect();
    let facts = |view: &View| {
        let buffer = &program[view.buffer];
        let on_chip = buffer.memory.is_on_chip();
        let (partitions, free) = counts(view, on_chip);
        let mut facts = Facts {
            memory: buffer.memory,
            dtype: view.dtype,
            is_bad: false,
            is_bad_for_engines: false,
            partitions,
            free,
        };
        facts.is_bad =
            !(is_inside(view, buffer, sizes[view.buffer.index()]) && facts.free > 0 && partitions > 0);
        facts.is_bad_for_engines = on_chip && !is_legal_pattern(view, buffer, &facts, target);
        facts
    };
    program.views().iter().map(facts).collect()
}

/// Partitions and elements in each.
fn counts(view: &View, on_chip: bool) -> (u32, u64) {
    let product = |dims: &[Dim]| {
        let counts = dims.iter().map(|it| u64::from(it.count));
        counts.fold(1u64, u64::saturating_mul)
    };
    match view.dims() {
        [partitions, free @ ..] if on_chip => (partitions.count, product(free)),
        dims => (1, product(dims)),
    }
}

/// The first and last element that the pairs reach, relative to nothing; meaningless when a count is zero.
pub fn extent(offset: i64, dims: &[Dim]) -> (i64, i64) {
    let (mut first, mut last) = (offset, offset);
    for dim in dims {
        let reach = i64::from(dim.stride).saturating_mul(i64::from(dim.count) - 1);
        first = first.saturating_add(reach.min(0));
        last = last.saturating_add(reach.max(0));
    }
    (first, last)
}

/// The pairs that walk through memory: all in HBM, those after the partitions on chip.
pub fn walked_dims(view: &View, memory: Memory) -> &[Dim] {
    let dims = view.dims();
    &dims[dims.len().min(usize::from(memory.is_on_chip()))..]
}

fn is_inside(view: &View, buffer: &Buffer, bytes: u64) -> bool {
    let (first, last) = extent(view.offset, walked_dims(view, buffer.memory));
    let end = last.saturating_add(1).saturating_mul(view.dtype.size().into());
    let partitions_end =
        u32::from(view.partition).saturating_add(view.dims().first().map_or(0, |it| it.count));
    first >= 0
        && u64::try_from(end).is_ok_and(|it| it <= bytes)
        && (!buffer.memory.is_on_chip() || partitions_end <= buffer.partitions())
}

fn is_legal_pattern(view: &View, buffer: &Buffer, facts: &Facts, target: &Target) -> bool {
    let (n_dims, widest) = merged(walked_dims(view, buffer.memory));
    n_dims <= target.free_dims_max
        && widest <= u64::from(target.stride_max)
        && facts.free <= elements_max(buffer.memory, target)
        && may_start(view, buffer, target)
}

fn elements_max(memory: Memory, target: &Target) -> u64 {
    match memory {
        Memory::Hbm => u64::MAX,
        Memory::Sbuf => target.sbuf_elements_max,
        Memory::Psum => target.psum_elements_max,
    }
}

/// How many pairs the hardware needs when neighbours that walk on evenly are merged, and the widest step among them.
pub fn merged(dims: &[Dim]) -> (usize, u64) {
    let mut n_dims = 0;
    let mut widest = 0;
    // The pair inside the one at hand, as (stride, count).
    let mut inner: Option<(i64, i64)> = None;
    for dim in dims.iter().rev().filter(|it| it.count != 1) {
        let (stride, count) = (i64::from(dim.stride), i64::from(dim.count));
        inner = match inner {
            Some((inner_stride, inner_count)) if stride == inner_stride.saturating_mul(inner_count) => {
                Some((inner_stride, inner_count.saturating_mul(count)))
            }
            _ => {
                n_dims += 1;
                widest = widest.max(stride.unsigned_abs());
                Some((stride, count))
            }
        };
    }
    (n_dims, widest)
}

/// Whether the buffer can be placed so that the view starts on a partition that engines can reach.
pub fn may_start(view: &View, buffer: &Buffer, target: &Target) -> bool {
    let legal = target.legal_starts(view.partitions());
    let is_legal = |base: u32| legal.contains(&base.saturating_add(view.partition.into()));
    match buffer.request {
        Some(request) => is_legal(request.partition),
        None => target
            .legal_starts(buffer.partitions())
            .iter()
            .any(|&it| is_legal(it)),
    }
}

/// Every rule of views that this one breaks.
pub fn mistakes(view: &View, facts: &Facts, program: &Program) -> Vec<ViewMistake> {
    let buffer = &program[view.buffer];
    if facts.free == 0 || facts.partitions == 0 {
        return vec![ViewMistake::Empty];
    }
    let mut mistakes = Vec::new();
    let first = i64::from(view.partition);
    let last = first + i64::from(facts.partitions) - 1;
    if facts.memory.is_on_chip() && last >= i64::from(buffer.partitions()) {
        mistakes.push(ViewMistake::OutOfBounds {
            axis: Axis::Partitions,
            first,
            last,
            size: buffer.partitions().into(),
            memory: facts.memory,
            buffer: buffer.name.to_string(),
        });
    }
    let size = buffer.bytes() / u64::from(view.dtype.size());
    let (first, last) = extent(view.offset, walked_dims(view, facts.memory));
    if first < 0 || u64::try_from(last).is_ok_and(|it| it >= size) {
        mistakes.push(ViewMistake::OutOfBounds {
            axis: Axis::Elements,
            first,
            last,
            size,
            memory: facts.memory,
            buffer: buffer.name.to_string(),
        });
    }
    mistakes
}

/// Every rule of the engines' access patterns that this view breaks.
pub fn pattern_mistakes(view: &View, facts: &Facts, program: &Program, target: &Target) -> Vec<ViewMistake> {
    let buffer = &program[view.buffer];
    let mut mistakes = Vec::new();
    let (dims, widest) = merged(walked_dims(view, facts.memory));
    if dims > target.free_dims_max {
        let limit = target.free_dims_max;
        mistakes.push(ViewMistake::TooManyDims { dims, limit });
    }
    if widest > u64::from(target.stride_max) {
        mistakes.push(ViewMistake::StrideTooLarge {
            stride: widest,
            limit: target.stride_max,
        });
    }
    let limit = elements_max(facts.memory, target);
    if facts.free > limit {
        mistakes.push(ViewMistake::TooManyElements {
            free: facts.free,
            limit,
            memory: facts.memory,
        });
    }
    if !may_start(view, buffer, target) && facts.partitions <= target.partitions {
        mistakes.push(ViewMistake::StartPartition {
            start: u32::from(view.partition) + buffer.request.map_or(0, |it| it.partition),
            partitions: facts.partitions,
            legal: target.legal_starts(facts.partitions),
        });
    }
    mistakes
}
