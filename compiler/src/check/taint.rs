//! Elements without meaning, and where an instruction carries them.
//!
//! Takes rectangles of bytes and the views of instructions, gives the rectangles that results get, through an engine's
//! accumulator too. What no rectangle can say grows to one that covers it, so an element may be called meaningless that is
//! not, but never the other way round.

use super::{Gap, window};
use crate::ir::{BufferId, Inst, Program, View, ViewId};
use crate::isa::{Access, Arg, Engine, Op, ReduceCmd};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

/// The elements of every buffer that have no meaning.
pub struct Taint<'a> {
    program: &'a Program,
    /// For buffers that have such elements.
    of_buffer: FxHashMap<BufferId, Vec<Gap>>,
    /// Engines whose accumulator has taken in such an element.
    accumulators: Vec<Engine>,
    /// Elements that may still be looked at one by one.
    budget: u64,
}

/// Some elements of a view: rows of its first pair, and ranges of the row-major order of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cells {
    rows: Range<u32>,
    columns: Range<u64>,
}

/// Which elements of a result depend on an element of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spread {
    /// The one at the same place.
    Elements,
    /// All of the same partition.
    Rows,
    /// All at the same place of the free dimension.
    Columns,
    /// Those of the partition that has the number of the element's column.
    RowsOfColumns,
    /// The one with row and column exchanged.
    Transposed,
    All,
}

/// More rectangles of one buffer are joined to one that covers them.
const MAX_RECTANGLES: usize = 64;
/// Afterwards every view counts as a whole.
const BUDGET: u64 = 20_000_000;

impl<'a> Taint<'a> {
    pub fn new(program: &'a Program) -> Taint<'a> {
        Taint {
            program,
            of_buffer: FxHashMap::default(),
            accumulators: Vec::new(),
            budget: BUDGET,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.accumulators.is_empty() && self.of_buffer.is_empty()
    }

    /// Adds the elements of a view that lie in gaps.
    pub fn add(&mut self, view: ViewId, gaps: &[Gap]) {
        self.insert(self.program[view].buffer, gaps);
    }

    /// Whether a view has such an element. A view that moves at run time may have any it can reach.
    pub fn meets(&mut self, view: ViewId) -> bool {
        !self.cells(&self.program[view]).is_empty()
    }

    /// Follows an instruction; gives whether it writes such an element to HBM.
    pub fn follow(&mut self, inst: &Inst) -> bool {
        let reads: Vec<(Access, ViewId, Vec<Cells>)> = inst
            .views()
            .filter(|it| it.0 != Access::Write)
            .map(|(access, id)| (access, id, self.cells(&self.program[id])))
            .filter(|it| !it.2.is_empty())
            .collect();
        let command = inst.accumulator();
        let goes_on = matches!(command, Some(ReduceCmd::Idle | ReduceCmd::Reduce));
        let holds_some = goes_on && self.accumulators.contains(&inst.engine);
        let mut reaches_hbm = false;
        for (access, id) in inst.views().filter(|it| it.0 != Access::Read) {
            let view = self.program[id];
            let mut results = Vec::new();
            for (read, operand, cells) in &reads {
                // What stays in the destination is tainted already.
                if *read == Access::ReadWrite && *operand == id {
                    continue;
                }
                for spread in spreads(inst, *operand) {
                    carry(&self.program[*operand], &view, spread, cells, &mut results);
                }
            }
            if holds_some && shows_accumulator(inst, id) {
                let (rows, columns) = extent(&view);
                results.push(Cells {
                    rows: 0..rows,
                    columns: 0..columns,
                });
            }
            if !results.is_empty() && !self.program.memory(&view).is_on_chip() {
                reaches_hbm = true;
            }
            if access == Access::Write && view.dynamic.is_none() {
                self.clear(&view);
            }
            let gaps = self.gaps(&view, &results);
            self.insert(view.buffer, &gaps);
        }
        if command.is_some_and(|it| it != ReduceCmd::Idle) {
            let takes_some = !reads.is_empty() && command != Some(ReduceCmd::Reset);
            self.accumulators.retain(|it| *it != inst.engine);
            if holds_some || takes_some {
                self.accumulators.push(inst.engine);
            }
        }
        reaches_hbm
    }

    fn insert(&mut self, buffer: BufferId, gaps: &[Gap]) {
        if gaps.is_empty() {
            return;
        }
        let known = self.of_buffer.entry(buffer).or_default();
        for &gap in gaps {
            let is_known = known.iter().any(|it| {
                it.first_partition <= gap.first_partition
                    && gap.end_partition <= it.end_partition
                    && it.start <= gap.start
                    && gap.end <= it.end
            });
            if !is_known {
                known.push(gap);
            }
        }
        if known.len() > MAX_RECTANGLES
            && let Some(all) = known.iter().copied().reduce(|a, b| Gap {
                first_partition: a.first_partition.min(b.first_partition),
                end_partition: a.end_partition.max(b.end_partition),
                start: a.start.min(b.start),
                end: a.end.max(b.end),
            })
        {
            *known = vec![all];
        }
    }

    /// Takes away what an instruction writes anew.
    fn clear(&mut self, view: &View) {
        let Entry::Occupied(mut known) = self.of_buffer.entry(view.buffer) else {
            return;
        };
        let Some(window) = window(self.program, view) else {
            return;
        };
        // With holes between them, the written bytes are not worth the pieces they would leave.
        if !window.bytes.is_dense() {
            return;
        }
        let rows = window.first_partition..window.end_partition;
        let bytes = window.bytes.start..window.bytes.end();
        let rest: Vec<Gap> = known
            .get()
            .iter()
            .flat_map(|&gap| without(gap, rows.clone(), bytes.clone()))
            .collect();
        if rest.is_empty() {
            known.remove();
        } else {
            known.insert(rest);
        }
    }

    /// The tainted elements of a view.
    fn cells(&mut self, view: &View) -> Vec<Cells> {
        let Some(known) = self.of_buffer.get(&view.buffer) else {
            return Vec::new();
        };
        let Some(window) = window(self.program, view) else {
            return Vec::new();
        };
        let on_chip = self.program.memory(view).is_on_chip();
        let near: Vec<Gap> = known
            .iter()
            .filter(|it| {
                it.first_partition < window.end_partition
                    && window.first_partition < it.end_partition
                    && it.start < window.bytes.end()
                    && window.bytes.start < it.end
            })
            .copied()
            .collect();
        if near.is_empty() {
            return Vec::new();
        }
        let (n_rows, n_columns) = extent(view);
        let work = near.len() as u64 * if on_chip { n_columns } else { view.count() };
        if view.dynamic.is_some() || self.budget < work {
            return vec![Cells {
                rows: 0..n_rows,
                columns: 0..n_columns,
            }];
        }
        self.budget -= work;
        let mut cells = Vec::new();
        for gap in near {
            if on_chip {
                let first = gap.first_partition.max(window.first_partition) - window.first_partition;
                let end = gap.end_partition.min(window.end_partition) - window.first_partition;
                for_each_range(view, 0, gap.start..gap.end, |columns| {
                    cells.push(Cells {
                        rows: first..end,
                        columns,
                    })
                });
                continue;
            }
            for row in 0..n_rows {
                for_each_range(view, row, gap.start..gap.end, |columns| {
                    cells.push(Cells {
                        rows: row..row + 1,
                        columns,
                    })
                });
            }
        }
        cells
    }

    /// The bytes of elements.
    fn gaps(&mut self, view: &View, cells: &[Cells]) -> Vec<Gap> {
        if cells.is_empty() {
            return Vec::new();
        }
        let Some(window) = window(self.program, view) else {
            return Vec::new();
        };
        let on_chip = self.program.memory(view).is_on_chip();
        let work: u64 = cells.iter().map(|it| it.columns.end - it.columns.start).sum();
        // HBM is the end of the way, and what moves at run time can be anywhere.
        if !on_chip || view.dynamic.is_some() || self.budget < work {
            return vec![Gap {
                first_partition: window.first_partition,
                end_partition: window.end_partition,
                start: window.bytes.start,
                end: window.bytes.end(),
            }];
        }
        self.budget -= work;
        let mut gaps: Vec<Gap> = Vec::new();
        for it in cells {
            let (first, end) = (
                window.first_partition + it.rows.start,
                window.first_partition + it.rows.end,
            );
            for column in it.columns.clone() {
                let start = address(view, 0, column);
                let stop = start + u64::from(view.dtype.size());
                match gaps.last_mut() {
                    Some(last)
                        if last.end == start
                            && (last.first_partition, last.end_partition) == (first, end) =>
                    {
                        last.end = stop;
                    }
                    _ => gaps.push(Gap {
                        first_partition: first,
                        end_partition: end.min(window.end_partition),
                        start,
                        end: stop,
                    }),
                }
            }
        }
        gaps
    }
}

/// What of a rectangle lies outside of rows and bytes.
fn without(gap: Gap, rows: Range<u32>, bytes: Range<u64>) -> Vec<Gap> {
    let first = gap.first_partition.max(rows.start);
    let end = gap.end_partition.min(rows.end);
    let (start, stop) = (gap.start.max(bytes.start), gap.end.min(bytes.end));
    if first >= end || start >= stop {
        return vec![gap];
    }
    let above = Gap {
        end_partition: first,
        ..gap
    };
    let below = Gap {
        first_partition: end,
        ..gap
    };
    let (first_partition, end_partition) = (first, end);
    let left = Gap {
        first_partition,
        end_partition,
        start: gap.start,
        end: start,
    };
    let right = Gap {
        first_partition,
        end_partition,
        start: stop,
        end: gap.end,
    };
    let is_some = |it: &Gap| it.first_partition < it.end_partition && it.start < it.end;
    [above, below, left, right].into_iter().filter(is_some).collect()
}

/// Rows and columns of a view.
fn extent(view: &View) -> (u32, u64) {
    match view.dims() {
        [] => (1, 1),
        [rows, ..] => (rows.count, view.free_count()),
    }
}

/// The byte at which an element starts, in its partition (on chip, where the row is 0) or in HBM.
fn address(view: &View, row: u32, column: u64) -> u64 {
    let mut at = view.offset;
    let mut rest = column;
    let Some((first, free)) = view.dims().split_first() else {
        return (at.max(0) as u64) * u64::from(view.dtype.size());
    };
    for dim in free.iter().rev().filter(|it| it.count > 0) {
        let index = rest % u64::from(dim.count);
        rest /= u64::from(dim.count);
        at += i64::from(dim.stride) * index as i64;
    }
    at += i64::from(first.stride) * i64::from(row);
    (at.max(0) as u64) * u64::from(view.dtype.size())
}

/// The ranges of columns of a row whose elements share a byte with a range.
fn for_each_range(view: &View, row: u32, bytes: Range<u64>, mut visit: impl FnMut(Range<u64>)) {
    let size = u64::from(view.dtype.size());
    let mut open: Option<Range<u64>> = None;
    for column in 0..extent(view).1 {
        let start = address(view, row, column);
        let is_in = start < bytes.end && bytes.start < start + size;
        match &mut open {
            Some(range) if is_in => range.end = column + 1,
            None if is_in => open = Some(column..column + 1),
            _ => {
                if let Some(range) = open.take() {
                    visit(range);
                }
            }
        }
    }
    if let Some(range) = open {
        visit(range);
    }
}

/// Whether a result depends on what the accumulator held before.
fn shows_accumulator(inst: &Inst, result: ViewId) -> bool {
    let reads_out = inst.op.row().position("reduce_res");
    inst.op == Op::TensorScalarCumulative || reads_out.is_some_and(|it| inst.args[it] == Arg::View(result))
}

/// How an instruction spreads the elements of an operand.
fn spreads(inst: &Inst, operand: ViewId) -> Vec<Spread> {
    vec![match inst.op {
        Op::DmaCopy
        | Op::DmaCompute
        | Op::TensorCopy
        | Op::TensorTensor
        | Op::TensorScalar
        | Op::TensorScalarReduce
        | Op::ScalarTensorTensor
        | Op::Activation
        | Op::ActivationReduce
        | Op::Reciprocal
        | Op::AffineSelect
        | Op::TensorCopyPredicated
        | Op::SelectReduce
        | Op::Dropout => Spread::Elements,
        Op::TensorReduce
        | Op::TensorScalarCumulative
        | Op::TensorTensorScan
        | Op::BnStats
        | Op::BnAggr
        | Op::Max8
        | Op::NcFindIndex8
        | Op::NcMatchReplace8 => Spread::Rows,
        Op::TensorPartitionReduce | Op::NcStreamShuffle => Spread::Columns,
        Op::NcMatmul => {
            let row = inst.op.row();
            let is = |name| {
                let at = row.position(name).expect("nc_matmul has the operand");
                inst.args[at] == Arg::View(operand)
            };
            match (is("stationary"), is("moving")) {
                (true, true) => return vec![Spread::RowsOfColumns, Spread::Columns],
                (true, false) => Spread::RowsOfColumns,
                (false, _) => Spread::Columns,
            }
        }
        // The Tensor engine multiplies by the identity: a NaN spreads along the result's partition.
        Op::NcTranspose if inst.engine == Engine::Tensor => Spread::RowsOfColumns,
        Op::NcTranspose | Op::DmaTranspose => Spread::Transposed,
        Op::Memset
        | Op::Iota
        | Op::LocalGather
        | Op::NcNGather
        | Op::SequenceBounds
        | Op::Rng
        | Op::SetRngSeed
        | Op::Collective
        | Op::RegisterMove
        | Op::RegisterLoad
        | Op::RegisterStore => Spread::All,
    }]
}

/// Adds the elements of a result that depend on those of an operand.
fn carry(operand: &View, result: &View, spread: Spread, cells: &[Cells], found: &mut Vec<Cells>) {
    let (from_rows, from_columns) = extent(operand);
    let (to_rows, to_columns) = extent(result);
    // An operand of another shape, as the column of a bias or of a row sum, takes part in whole rows.
    let spread = match spread {
        Spread::Elements if (from_rows, from_columns) == (to_rows, to_columns) => Spread::Elements,
        Spread::Elements | Spread::Rows if from_rows == to_rows => Spread::Rows,
        Spread::Columns if from_columns == to_columns => Spread::Columns,
        Spread::RowsOfColumns if from_columns == u64::from(to_rows) => Spread::RowsOfColumns,
        Spread::Transposed if from_columns == u64::from(to_rows) && u64::from(from_rows) == to_columns => {
            Spread::Transposed
        }
        _ => Spread::All,
    };
    for it in cells {
        let across = it.columns.start as u32..it.columns.end as u32;
        let cells = match spread {
            Spread::Elements => it.clone(),
            Spread::Rows => Cells {
                rows: it.rows.clone(),
                columns: 0..to_columns,
            },
            Spread::Columns => Cells {
                rows: 0..to_rows,
                columns: it.columns.clone(),
            },
            Spread::RowsOfColumns => Cells {
                rows: across,
                columns: 0..to_columns,
            },
            Spread::Transposed => Cells {
                rows: across,
                columns: u64::from(it.rows.start)..u64::from(it.rows.end),
            },
            Spread::All => Cells {
                rows: 0..to_rows,
                columns: 0..to_columns,
            },
        };
        if found.last() != Some(&cells) {
            found.push(cells);
        }
    }
}
