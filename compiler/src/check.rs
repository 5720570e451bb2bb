//! Data-flow checks over the placed stream.
//!
//! Takes a program in program order with its placement, gives what it reads without having written it, results it does
//! not write, and the PSUM words that each `accumulate=auto` starts anew. Addresses are static, so all of this is known
//! before anything runs and costs nothing at run time. What is dynamic is taken at its best: a loop runs, and a dynamic
//! write reaches everything it can. Never changes the program.

mod bits;
mod error;
mod first_read;
mod groups;
mod ranges;
mod reach;
mod stores;
mod taint;
mod written;

pub use error::{Error, Holds, Missing, Site, Tensor};
pub(crate) use first_read::read_before_written;
pub use reach::Reach;
pub use written::Gap;
pub(crate) use written::{Extent, Written};

use crate::footprint::{Bytes, Footprint};
use crate::ir::{
    Buffer, BufferId, FirstWrite, FirstWrites, Frame, Inst, InstId, Loc, LocId, Placement, Program, Role,
    View, ViewId,
};
use crate::isa::{Access, Accumulate, Arg, Op};
use crate::source::Span;
use crate::text::print_view;
use groups::Groups;
use ranges::element_ranges;
use reach::{EarlyRead, explained};
use rustc_hash::FxHashMap;
use std::ops::Range;
use stores::{Stores, unused};
use written::Window;

/// What a correct program's data flow says.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    pub first_writes: FirstWrites,
    pub warnings: Vec<Error>,
    /// Empty when the program makes its results alone.
    pub unwritten: Vec<Unwritten>,
    /// Empty when the program shares nothing with others.
    pub foreign: Vec<ForeignRead>,
}

/// A read of a shared tensor that this program has not written: another program of the launch may have.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignRead {
    pub view: ViewId,
    /// The mistake it is when no program writes it.
    pub error: Error,
}

/// What a program does not write of one of its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritten {
    pub result: BufferId,
    /// At least one, ascending.
    pub gaps: Vec<Gap>,
    /// Some of its writes go where only a run knows, and reach no more even at their best.
    pub by_dynamic: bool,
}

/// How much of its results a program must write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Results<'a> {
    Whole,
    /// It is one program of a grid; what it leaves is for the caller to look into. Besides its results it shares these
    /// tensors with the others.
    Part {
        shared: &'a [BufferId],
    },
}

/// Checks that everything is written before it is read, and that every result is written.
pub fn check(program: &Program, placement: &Placement) -> Result<Checked, Vec<Error>> {
    check_as(program, placement, Results::Whole)
}

/// [`check`] for a program that may be one of a grid.
pub(crate) fn check_as(
    program: &Program,
    placement: &Placement,
    results: Results<'_>,
) -> Result<Checked, Vec<Error>> {
    let mut flow = Flow::new(program, placement);
    if let Results::Part { shared } = results {
        flow.is_shared = program.buffers.iter().map(|it| it.role == Role::Out).collect();
        shared.iter().for_each(|it| flow.is_shared[it.index()] = true);
    }
    let mut loops = program.loops.iter().peekable();
    for (id, inst) in program.iter() {
        flow.open.retain(|it| id.index() < it.end);
        while let Some(it) = loops.next_if(|it| it.first <= id.index()) {
            if id.index() < it.end {
                flow.open.push(it.first..it.end);
            }
        }
        flow.visit(id, inst);
    }
    let unwritten = flow.unwritten_results();
    if results == Results::Whole {
        let errors = unwritten.iter().map(|it| (not_written(program, it), Vec::new()));
        flow.found.extend(errors);
    }
    let Flow {
        found,
        first_writes,
        first_touch,
        foreign,
        stores,
        groups,
        ..
    } = flow;
    let found = found
        .into_iter()
        .map(|(error, reads)| explained(program, error, &reads));
    let (errors, mut warnings): (Vec<Error>, Vec<Error>) = found.partition(Error::is_wrong);
    warnings.extend(unused(program, &first_touch));
    warnings.extend(stores.dead(program));
    warnings.extend(groups.warnings(program));
    if !errors.is_empty() {
        return Err(errors.into_iter().chain(warnings).collect());
    }
    Ok(Checked {
        first_writes,
        warnings,
        unwritten,
        foreign,
    })
}

/// The error for a result of which something is never written.
pub fn not_written(program: &Program, unwritten: &Unwritten) -> Error {
    let buffer = &program[unwritten.result];
    let size = u64::from(buffer.dtype.size());
    let n_bytes: u64 = unwritten.gaps.iter().map(Gap::bytes).sum();
    Error::OutputNotWritten {
        tensor: Tensor::new(program, unwritten.result),
        missing: Missing {
            count: n_bytes.div_ceil(size),
            of: buffer.shape.count(),
            ranges: element_ranges(program, unwritten.result, &unwritten.gaps),
        },
        by_dynamic: unwritten.by_dynamic,
        last_write: last_write(program, unwritten.result),
        idle: program.idle_loops.clone(),
    }
}

/// The last instruction that writes to a buffer, and its place.
fn last_write(program: &Program, buffer: BufferId) -> Option<(&'static str, Span)> {
    let writes = |inst: &&Inst| {
        let mut accesses = program.accesses(inst);
        accesses.any(|(access, view)| access != Access::Read && view.buffer == buffer)
    };
    let inst = program.insts.iter().rev().find(writes)?;
    Some((inst.op.name(), program.span(inst.loc)?))
}

/// The written part of every buffer.
struct Sets {
    of_buffer: Vec<Written>,
    /// Views that are known to lie in it: what is written only grows, so each view is looked into once.
    has_view: Vec<bool>,
}

impl Sets {
    fn new(program: &Program, is_written: impl Fn(&Buffer) -> bool) -> Sets {
        let start = |it: &Buffer| {
            if is_written(it) {
                Written::All
            } else {
                Written::Nothing
            }
        };
        Sets {
            of_buffer: program.buffers.iter().map(start).collect(),
            has_view: vec![false; program.views().len()],
        }
    }

    /// Adds a view, where `extents` are those of [`Extent::of_views`].
    fn insert(&mut self, program: &Program, extents: &[Extent], id: ViewId) {
        if std::mem::replace(&mut self.has_view[id.index()], true) {
            return;
        }
        let view = &program[id];
        let buffer = view.buffer.index();
        let written = &mut self.of_buffer[buffer];
        if let Written::All = written {
            return;
        }
        if let Some(window) = window(program, view) {
            written.insert(extents[buffer], &window);
        }
    }
}

/// What has been written so far.
struct Flow<'a> {
    program: &'a Program,
    placement: &'a Placement,
    /// By any instruction.
    written: Sets,
    by_matmul: Sets,
    /// The size of every buffer, in units of its smallest view.
    extents: Vec<Extent>,
    /// The instruction that touches a buffer first, indexed by buffer.
    first_touch: Vec<Option<InstId>>,
    /// The loops around the instruction at hand.
    open: Vec<Range<usize>>,
    first_writes: FirstWrites,
    /// Buffers that other programs may write; empty when there are none.
    is_shared: Vec<bool>,
    foreign: Vec<ForeignRead>,
    stores: Stores,
    groups: Groups,
    /// What is wrong, with the operands that read too early.
    found: Vec<(Error, Vec<EarlyRead>)>,
    /// The error for each code, operand and place: unrolled loops repeat mistakes.
    known: FxHashMap<(&'static str, &'static str, Span), usize>,
}

impl<'a> Flow<'a> {
    fn new(program: &'a Program, placement: &'a Placement) -> Flow<'a> {
        let mut written = Sets::new(program, |it| it.role == Role::In);
        for constant in &program.constants {
            written.of_buffer[constant.buffer.index()] = Written::All;
        }
        Flow {
            program,
            placement,
            written,
            by_matmul: Sets::new(program, |_| false),
            extents: Extent::of_views(program),
            first_touch: vec![None; program.buffers.len()],
            open: Vec::new(),
            first_writes: FirstWrites::default(),
            is_shared: Vec::new(),
            foreign: Vec::new(),
            stores: Stores::new(program),
            groups: Groups::new(program),
            found: Vec::new(),
            known: FxHashMap::default(),
        }
    }

    fn visit(&mut self, id: InstId, inst: &Inst) {
        let accumulates = inst.op == Op::NcMatmul;
        for (access, view) in self.program.touches(inst) {
            self.first_touch[self.program[view].buffer.index()].get_or_insert(id);
            let is_matmul_dst = accumulates && access != Access::Read;
            if access != Access::Write && !is_matmul_dst && !self.written.has_view[view.index()] {
                self.check_read(id, inst, view);
            }
            if access == Access::Read {
                self.groups.read(self.program, id, view);
            }
        }
        self.stores.visit(self.program, id, inst, !self.open.is_empty());
        for (access, view) in inst.views().filter(|it| it.0 != Access::Read) {
            if accumulates {
                let adds = access == Access::ReadWrite;
                let begins =
                    adds && !self.by_matmul.has_view[view.index()] && self.accumulate(id, inst, view);
                self.groups.matmul(self.program, id, view, adds && !begins);
                self.by_matmul.insert(self.program, &self.extents, view);
            }
            self.written.insert(self.program, &self.extents, view);
        }
    }

    /// Reports what of a view has no value, once.
    fn check_read(&mut self, by: InstId, inst: &Inst, id: ViewId) {
        let view = &self.program[id];
        let mut gaps = Vec::new();
        let missing = self.missing(&self.written, view, &mut gaps);
        // A dynamic view reads some of what it can reach, so something of that must have been written.
        let Some(missing) = missing.filter(|it| view.dynamic.is_none() || it.count == it.of) else {
            self.written.has_view[id.index()] = true;
            return;
        };
        let error = Error::UninitializedRead {
            by: self.site(inst, id),
            tensor: Tensor::new(self.program, view.buffer),
            missing,
            reach: Reach::Nothing,
            later: None,
            idle: Vec::new(),
        };
        if self.is_shared.get(view.buffer.index()) == Some(&true) {
            self.written.has_view[id.index()] = true;
            let error = explained(self.program, error, &[EarlyRead { by, view: id, gaps }]);
            self.foreign.push(ForeignRead { view: id, error });
            return;
        }
        self.report(error, Some(EarlyRead { by, view: id, gaps }));
        // What has been reported counts as written, so that it is reported once.
        self.written.insert(self.program, &self.extents, id);
    }

    /// Finds the words of a matmul's destination that no matmul has written: an automatic one overwrites them, an explicit
    /// one must not meet them. Gives whether the matmul begins a sum.
    fn accumulate(&mut self, id: InstId, inst: &Inst, view_id: ViewId) -> bool {
        let view = &self.program[view_id];
        if inst.args.contains(&Arg::Accumulate(Accumulate::Auto)) {
            let Some(placed) = Footprint::of(self.program, self.placement, view) else {
                return false;
            };
            let Some(window) = window(self.program, view) else {
                return false;
            };
            let (partition, byte) = (
                placed.first_partition - window.first_partition,
                placed.bytes.start - window.bytes.start,
            );
            let mut ranges = Vec::new();
            self.by_matmul.of_buffer[view.buffer.index()].for_each_gap(&window, |gap| {
                ranges.push(FirstWrite {
                    first_partition: (gap.first_partition + partition) as u16,
                    end_partition: (gap.end_partition + partition) as u16,
                    start: (gap.start + byte) as u32,
                    end: (gap.end + byte) as u32,
                });
            });
            // Which iteration is the first to write is not known when the program is compiled.
            let born = self.first_touch[view.buffer.index()].map_or(0, InstId::index);
            let is_shared = self.open.iter().any(|it| born < it.start);
            if (is_shared || view.dynamic.is_some()) && !ranges.is_empty() {
                let error = Error::AccumulateUnset {
                    by: self.site(inst, view_id),
                    tensor: Tensor::new(self.program, view.buffer),
                    missing: Missing {
                        count: 1,
                        of: 1,
                        ranges: String::new(),
                    },
                    holds: Holds::Unknown,
                };
                self.report(error, None);
            } else if !ranges.is_empty() {
                self.first_writes.ranges.push((id, ranges));
                return true;
            }
            return false;
        }
        let Some(missing) = self.missing(&self.by_matmul, view, &mut Vec::new()) else {
            return false;
        };
        let holds = match self.missing(&self.written, view, &mut Vec::new()) {
            None => Holds::OtherValues,
            Some(_) => Holds::Nothing,
        };
        let error = Error::AccumulateUnset {
            by: self.site(inst, view_id),
            tensor: Tensor::new(self.program, view.buffer),
            missing,
            holds,
        };
        self.report(error, None);
        false
    }

    /// The results of which something is not written.
    fn unwritten_results(&self) -> Vec<Unwritten> {
        let buffers = self.program.buffers.iter();
        let mut is_result: Vec<bool> = buffers.map(|it| it.role == Role::Out).collect();
        for result in &self.program.results {
            is_result[result.buffer.index()] = true;
        }
        let results = (0..is_result.len())
            .filter(|&it| is_result[it])
            .map(BufferId::new);
        let unwritten = results.map(|result| {
            let view = View::whole(result, &self.program[result]);
            let mut gaps = Vec::new();
            if let Some(window) = window(self.program, &view) {
                let written = &self.written.of_buffer[result.index()];
                written.for_each_gap(&window, |gap| gaps.push(gap));
            }
            gaps.sort_by_key(|it| (it.first_partition, it.start));
            let mut views = self.program.views().iter();
            let by_dynamic = !gaps.is_empty() && views.any(|it| it.buffer == result && it.dynamic.is_some());
            Unwritten {
                result,
                gaps,
                by_dynamic,
            }
        });
        unwritten.filter(|it| !it.gaps.is_empty()).collect()
    }

    /// The elements of a view that are not in a set, as bytes too.
    fn missing(&self, sets: &Sets, view: &View, gaps: &mut Vec<Gap>) -> Option<Missing> {
        let written = &sets.of_buffer[view.buffer.index()];
        if let Written::All = written {
            return None;
        }
        let window = window(self.program, view)?;
        let mut n_bytes = 0;
        written.for_each_gap(&window, |gap| {
            n_bytes += gap.bytes();
            gaps.push(gap);
        });
        if gaps.is_empty() {
            return None;
        }
        let size = u64::from(view.dtype.size());
        let n_partitions = u64::from(window.end_partition - window.first_partition);
        Some(Missing {
            count: n_bytes.div_ceil(size),
            of: window.bytes.count() * n_partitions / size,
            ranges: element_ranges(self.program, view.buffer, gaps),
        })
    }

    fn site(&self, inst: &Inst, id: ViewId) -> Site {
        // A view that is read may be the destination too; the mistake is the reading.
        let operands = inst.op.row().operands;
        let is_read = |idx: &usize| {
            operands[*idx]
                .kind
                .tile()
                .is_some_and(|it| it.access == Access::Read)
        };
        let mut places = (0..operands.len()).filter(|idx| inst.args[*idx] == Arg::View(id));
        let operand = places.clone().find(is_read).or_else(|| places.next());
        Site {
            op: inst.op.name(),
            operand: operand.map_or("dst", |it| operands[it].name),
            view: print_view(self.program, &self.program[id]),
            span: self.program.span(inst.loc),
            repeats: 0,
            around: inst.loc.and_then(|it| innermost_loop(self.program, it)),
        }
    }

    /// Adds an error, or counts it when the same place has made the same mistake in another iteration.
    fn report(&mut self, mut error: Error, read: Option<EarlyRead>) {
        let code = error.code();
        let place = error.site().and_then(|it| Some((it.operand, it.span?)));
        let Some((operand, span)) = place else {
            return self.found.push((error, read.into_iter().collect()));
        };
        let idx = *self
            .known
            .entry((code, operand, span))
            .or_insert(self.found.len());
        let Some((known, reads)) = self.found.get_mut(idx) else {
            return self.found.push((error, read.into_iter().collect()));
        };
        if let Some(site) = known.site() {
            site.repeats += 1;
        }
        if reads.len() < MAX_READS {
            reads.extend(read);
        }
    }
}

/// So many repetitions of a mistake are followed to see whether one of them matters.
const MAX_READS: usize = 32;

/// The bytes of a view, counted from its buffer's start; `None` when it has no elements.
pub(crate) fn window(program: &Program, view: &View) -> Option<Window> {
    let memory = program.memory(view);
    let bytes = Bytes::reach(view, &program[view.buffer])?;
    let (first_partition, n_partitions) = match memory.is_on_chip() {
        true => (u32::from(view.partition), view.partitions()),
        false => (0, 1),
    };
    Some(Window {
        first_partition,
        end_partition: first_partition + n_partitions,
        bytes,
    })
}

/// The innermost unrolled loop around a place.
fn innermost_loop(program: &Program, loc: LocId) -> Option<Span> {
    let mut around = program.locs.around(Some(loc));
    let is_iteration = |it: &Loc| matches!(it.frame, Frame::Iteration(_));
    around.find(is_iteration).map(|it| it.span)
}
