//! Stores that nothing reads.
//!
//! Takes the instructions one by one in program order, gives the lines of the kernel none of whose executions writes a value
//! that is read afterwards. A line with one store that matters is not mentioned, nor is anything that cannot be known: what
//! is addressed at run time, and what lies in a loop of the device, is read unless nothing ever reads the tensor. Also finds
//! the allocations that nothing touches.

use super::error::{Error, Tensor};
use super::window;
use super::written::Window;
use crate::ir::{BufferId, Inst, InstId, Program, Role, ViewId};
use crate::isa::{Access, Arg, OobMode, Op, ReduceCmd};
use crate::source::Span;
use rustc_hash::FxHashMap;

/// A store whose value has not been read yet.
#[derive(Clone, Copy)]
struct Pending {
    by: InstId,
    view: ViewId,
    bounds: Bounds,
}

/// A rectangle around a view's bytes in its tile: most stores of a tile are told apart by theirs.
#[derive(Clone, Copy)]
struct Bounds {
    partitions: (u32, u32),
    bytes: (u64, u64),
}

impl Bounds {
    /// Empty for a view without elements.
    fn of(window: Option<&Window>) -> Bounds {
        Bounds {
            partitions: window.map_or((0, 0), |it| (it.first_partition, it.end_partition)),
            bytes: window.map_or((0, 0), |it| (it.bytes.start, it.bytes.end())),
        }
    }

    fn meet(&self, other: &Bounds) -> bool {
        let meets = |a: (u64, u64), b: (u64, u64)| a.0 < b.1 && b.0 < a.1;
        let wide = |it: (u32, u32)| (u64::from(it.0), u64::from(it.1));
        meets(wide(self.partitions), wide(other.partitions)) && meets(self.bytes, other.bytes)
    }
}

/// More stores of one tensor than this are not followed; they count as read.
const MAX_PENDING: usize = 64;

/// What is known of the stores so far.
pub struct Stores {
    pending: Vec<Vec<Pending>>,
    /// Tensors with too many stores, and those in HBM, which others may read.
    is_kept: Vec<bool>,
    /// Tensors that are read somewhere; only asked about in programs with loops.
    is_read: Vec<bool>,
    /// Instructions with a result that is read, or with another effect; one bit each.
    live: Vec<u64>,
    /// For a store that was overwritten, by whom.
    overwritten: FxHashMap<InstId, InstId>,
}

impl Stores {
    pub fn new(program: &Program) -> Stores {
        let n_buffers = program.buffers.len();
        let mut is_kept: Vec<bool> = program
            .buffers
            .iter()
            .map(|it| it.role != Role::Local || !it.memory.is_on_chip())
            .collect();
        let results = program.results.iter().map(|it| it.buffer);
        for buffer in results.chain(program.prints.iter().map(|it| it.buffer)) {
            is_kept[buffer.index()] = true;
        }
        let mut is_read = vec![false; n_buffers];
        if !program.loops.is_empty() {
            for inst in &program.insts {
                let reads = program.touches(inst).filter(|it| it.0 == Access::Read);
                for (_, view) in reads {
                    is_read[program[view].buffer.index()] = true;
                }
            }
        }
        Stores {
            pending: vec![Vec::new(); n_buffers],
            is_kept,
            is_read,
            live: vec![0; program.insts.len().div_ceil(64)],
            overwritten: FxHashMap::default(),
        }
    }

    /// Follows an instruction; `in_loop` says that the device repeats it.
    pub fn visit(&mut self, program: &Program, id: InstId, inst: &Inst, in_loop: bool) {
        for (access, view) in program.touches(inst) {
            if access == Access::Read {
                self.read(program, view);
            }
        }
        let mut has_result = false;
        for (access, view) in inst.views() {
            if access == Access::Read {
                continue;
            }
            has_result = true;
            let buffer = program[view].buffer.index();
            if self.is_kept[buffer] || in_loop && self.is_read[buffer] {
                self.keep(id);
                continue;
            }
            if access == Access::Write && !in_loop && program[view].dynamic.is_none() && !skips(inst) {
                self.overwrite(program, id, view);
            }
            let bounds = Bounds::of(window(program, &program[view]).as_ref());
            self.pending[buffer].push(Pending { by: id, view, bounds });
            if self.pending[buffer].len() > MAX_PENDING {
                self.is_kept[buffer] = true;
                for it in std::mem::take(&mut self.pending[buffer]) {
                    self.keep(it.by);
                }
            }
        }
        if !has_result || has_other_effect(inst) {
            self.keep(id);
        }
    }

    fn keep(&mut self, id: InstId) {
        self.live[id.index() / 64] |= 1 << (id.index() % 64);
    }

    fn is_live(&self, id: InstId) -> bool {
        self.live[id.index() / 64] >> (id.index() % 64) & 1 == 1
    }

    fn read(&mut self, program: &Program, view: ViewId) {
        let pending = &mut self.pending[program[view].buffer.index()];
        if pending.is_empty() {
            return;
        }
        let live = &mut self.live;
        let read = window(program, &program[view]);
        let bounds = Bounds::of(read.as_ref());
        pending.retain(|it| {
            let meets = || {
                let pair = read.as_ref().zip(window(program, &program[it.view]));
                pair.is_some_and(|(a, b)| a.meets(&b))
            };
            let is_met = it.view == view || bounds.meet(&it.bounds) && meets();
            if is_met {
                live[it.by.index() / 64] |= 1 << (it.by.index() % 64);
            }
            !is_met
        });
        if pending.is_empty() {
            *pending = Vec::new();
        }
    }

    fn overwrite(&mut self, program: &Program, by: InstId, view: ViewId) {
        let pending = &mut self.pending[program[view].buffer.index()];
        if pending.is_empty() {
            return;
        }
        let overwritten = &mut self.overwritten;
        let written = window(program, &program[view]);
        let bounds = Bounds::of(written.as_ref());
        pending.retain(|it| {
            let covers = || {
                let pair = written.as_ref().zip(window(program, &program[it.view]));
                pair.is_some_and(|(a, b)| a.covers(&b))
            };
            let is_gone = it.view == view || bounds.meet(&it.bounds) && covers();
            if is_gone {
                overwritten.insert(it.by, by);
            }
            !is_gone
        });
    }

    /// A warning for each line of the kernel whose stores are all dead.
    pub fn dead(&self, program: &Program) -> Vec<Error> {
        let n_live: u32 = self.live.iter().map(|it| it.count_ones()).sum();
        if n_live as usize == program.insts.len() {
            return Vec::new();
        }
        let mut is_live: FxHashMap<Span, bool> = FxHashMap::default();
        let mut dead: Vec<(Span, InstId, u64)> = Vec::new();
        for (id, inst) in program.iter() {
            let Some(span) = program.span(inst.loc) else {
                continue;
            };
            let is_live = is_live.entry(span).or_default();
            *is_live |= self.is_live(id);
            if !*is_live {
                match dead.iter_mut().find(|it| it.0 == span) {
                    Some(line) => line.2 += 1,
                    None => dead.push((span, id, 1)),
                }
            }
        }
        dead.retain(|it| is_live.get(&it.0) == Some(&false));
        let warning = |(span, id, count): (Span, InstId, u64)| {
            let inst = &program[id];
            let buffer: BufferId = inst
                .views()
                .find(|it| it.0 != Access::Read)
                .map(|it| program[it.1].buffer)
                .expect("only instructions with a result are not kept");
            Error::DeadStore {
                op: inst.op.name(),
                tensor: Tensor::new(program, buffer),
                span,
                count,
                again: self.overwritten.get(&id).and_then(|it| {
                    let inst = &program[*it];
                    Some((inst.op.name(), program.span(inst.loc)?))
                }),
            }
        };
        dead.into_iter().map(warning).collect()
    }
}

/// Whether an instruction may leave rows of its result as they are.
fn skips(inst: &Inst) -> bool {
    inst.args.contains(&Arg::OobMode(OobMode::Skip))
}

/// Whether an instruction changes something besides its results: an engine's accumulator or its random numbers.
fn has_other_effect(inst: &Inst) -> bool {
    let accumulates = inst.accumulator().is_some_and(|it| it != ReduceCmd::Idle);
    matches!(inst.op, Op::Rng | Op::SetRngSeed | Op::Dropout) || accumulates
}

/// A warning for each allocation in the source that no instruction touches.
pub fn unused(program: &Program, first_touch: &[Option<InstId>]) -> Vec<Error> {
    let mut known: FxHashMap<Span, bool> = FxHashMap::default();
    for (buffer, first_touch) in program.buffers.iter().zip(first_touch) {
        if let (Role::Local, Some(span)) = (buffer.role, program.span(buffer.loc)) {
            *known.entry(span).or_default() |= first_touch.is_some();
        }
    }
    let mut warnings = Vec::new();
    for (idx, buffer) in program.buffers.iter().enumerate() {
        let Some(span) = program.span(buffer.loc) else {
            continue;
        };
        // Said once for an allocation in a loop, and only when none of its tensors is used.
        if buffer.role == Role::Local && known.insert(span, true) == Some(false) {
            let tensor = Tensor::new(program, BufferId::new(idx));
            warnings.push(Error::UnusedTensor { tensor });
        }
    }
    warnings
}
