//! Why a program takes as long as it does: the facts behind `nk profile`.
//!
//! Takes a compiled program and its modelled trace, gives sums per engine, per source line and along the critical path,
//! and counters under neuron-profile's names. Runs no values. A loop of the device whose bounds are registers counts once,
//! which the profile says.

pub mod cores;
mod diff;
mod path;
mod perfetto;
mod text;

pub use diff::{Difference, Side, difference};
pub(crate) use path::{line_of, place};
pub use perfetto::perfetto;
pub(crate) use text::timeline_text;
pub use text::{text, to_json};

use crate::advice::{Advice, advise};
use crate::time::{Fleet, time};
use crate::trace::{Totals, Trace};
use nk_compiler::Compiled;
use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{Control, Inst, InstId, LoopKind, Node, Program, Step, View};
use nk_compiler::isa::{Arg, ENGINES, Engine, Memory, N_ENGINES, Op, Unit};
use nk_compiler::reorder::Reordered;
use nk_compiler::source::Sources;
use nk_compiler::spill::Spilled;
use nk_compiler::target::Target;
use path::Path;
use std::sync::Arc;

/// A profile of one program on one core.
#[derive(Debug)]
pub struct Profile {
    pub kernel: String,
    pub target: &'static Target,
    pub trace: Trace,
    /// Sums over the whole execution.
    pub totals: Totals,
    /// How often each segment of the control flow runs, and whether every trip count is known.
    pub counts: Vec<u64>,
    pub is_exact: bool,
    pub n_insts: [u64; N_ENGINES],
    /// The queue of each instruction.
    pub queues: Vec<Engine>,
    /// What the head of each queue waited for.
    pub waits: [Waits; N_ENGINES],
    pub transfers: Transfers,
    /// Multiplications and additions of matmuls.
    pub matmul_flops: u64,
    /// Those of all work on the PE array, and of transposes, as neuron-profile books them: twice for f32.
    pub hardware_flops: u64,
    pub transpose_flops: u64,
    pub spilled: Spilled,
    /// How the order was chosen, when another than that of the program was asked for.
    pub reordered: Option<Reordered>,
    /// Source lines by the time that engines and transfers spend on them, longest first. A loop counts as often as it runs.
    pub lines: Vec<LineTime>,
    /// Source lines along the critical path, longest first; together they are the modelled time.
    pub critical: Vec<LineTime>,
    /// What one change would gain, the largest gain first; empty unless it was asked for.
    pub advice: Vec<Advice>,
}

/// Time in which the next instruction of a queue could not start, by cause.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waits {
    /// A semaphore of another engine.
    pub engine_ps: u64,
    /// A semaphore of a transfer.
    pub dma_ps: u64,
    /// What an instruction of its own queue writes.
    pub dependence_ps: u64,
    /// A memory port that another engine holds.
    pub port_ps: u64,
}

/// What DMA moves.
#[derive(Clone, Debug, Default)]
pub struct Transfers {
    pub count: u64,
    pub bytes: u64,
    /// Transfers and their bytes by the length of a contiguous row: below each of [`ROW_LIMITS`], and above.
    pub by_row: [(u64, u64); ROW_LIMITS.len() + 1],
}

/// Bytes of a row at which a class of the histogram ends.
pub const ROW_LIMITS: [u64; 7] = [64, 256, 512, 1024, 2048, 4096, 32_768];

/// Time of a source line.
#[derive(Clone, Debug, PartialEq)]
pub struct LineTime {
    /// `file:line`, or what there is instead.
    pub place: String,
    pub what: &'static str,
    pub ps: u64,
    pub count: u64,
}

impl Profile {
    pub fn new(compiled: &Compiled, target: &'static Target, sources: &Sources) -> Profile {
        let trace = time(&compiled.program, &compiled.placement, &compiled.schedule, target);
        Profile::of_trace(compiled, trace, target, sources)
    }

    /// The profile of a program whose timeline is known.
    pub fn of_trace(
        compiled: &Compiled,
        trace: Trace,
        target: &'static Target,
        sources: &Sources,
    ) -> Profile {
        let program = &compiled.program;
        let control = program.control();
        let (counts, is_exact) = trip_counts(program, &control);
        let totals = trace.along(&control, &counts);
        let mut profile = Profile {
            kernel: program.name.clone(),
            target,
            totals,
            counts: Vec::new(),
            is_exact,
            n_insts: [0; N_ENGINES],
            queues: program.insts.iter().map(|it| it.engine).collect(),
            waits: [Waits::default(); N_ENGINES],
            transfers: Transfers::default(),
            matmul_flops: 0,
            hardware_flops: 0,
            transpose_flops: 0,
            spilled: compiled.spilled,
            reordered: compiled.reordered,
            lines: Vec::new(),
            critical: Vec::new(),
            advice: Vec::new(),
            trace,
        };
        for (steps, (queue, _)) in compiled.schedule.queues.iter().zip(ENGINES) {
            for step in steps {
                if let Step::Inst(id) = step {
                    profile.queues[id.index()] = *queue;
                }
            }
        }
        for (segment, &count) in counts.iter().enumerate() {
            for id in control.insts(segment) {
                profile.count(program, &program[id], count);
            }
        }
        let path = Path {
            program,
            trace: &profile.trace,
            sources,
            control: &control,
            counts: &counts,
        };
        profile.waits = path.waits();
        profile.lines = path.lines();
        profile.critical = path.critical(totals.total_ps);
        profile.counts = counts;
        profile
    }

    /// The profile with advice, for which the schedule is timed again without each cause of lost time.
    pub fn advised(compiled: &Compiled, target: &'static Target, sources: &Sources) -> Profile {
        let mut profile = Profile::new(compiled, target, sources);
        profile.advice = advise(compiled, &profile, sources, &Fleet::of_ranks(target, 1));
        profile
    }

    /// The same for the first program of a launch on several cores. What a change does to ranks that do other things and wait
    /// for this one is not known, so that they get none.
    pub fn first_advised(
        lanes: &[cores::Lane],
        fleet: &Fleet<'_>,
        target: &'static Target,
        sources: &Sources,
    ) -> Profile {
        let first = &lanes[0];
        let mut profile = Profile::of_trace(&first.compiled, first.trace.clone(), target, sources);
        let is_same = |it: &cores::Lane| Arc::ptr_eq(&it.compiled, &first.compiled);
        if first.trace.collectives.is_empty() || lanes.iter().all(is_same) {
            profile.advice = advise(&first.compiled, &profile, sources, fleet);
        }
        profile
    }

    fn count(&mut self, program: &Program, inst: &Inst, count: u64) {
        match inst.op.row().unit {
            Unit::Engine | Unit::Sequencer => add(&mut self.n_insts[inst.engine as usize], 1, count),
            Unit::Dma => {
                let (bytes, row) = moved(program, inst);
                add(&mut self.transfers.count, 1, count);
                add(&mut self.transfers.bytes, bytes, count);
                let class = ROW_LIMITS.iter().filter(|it| row >= **it).count();
                let (transfers, moved) = &mut self.transfers.by_row[class];
                add(transfers, 1, count);
                add(moved, bytes, count);
            }
        }
        let Flops {
            matmul,
            transpose,
            factor,
        } = flops(program, inst);
        add(&mut self.matmul_flops, matmul, count);
        add(&mut self.hardware_flops, (matmul + transpose) * factor, count);
        add(&mut self.transpose_flops, transpose * factor, count);
    }

    pub fn traffic(&self, memory: Memory) -> crate::trace::Traffic {
        self.totals.traffic[memory as usize]
    }

    pub fn hbm_bytes(&self) -> u64 {
        let traffic = self.traffic(Memory::Hbm);
        traffic.read + traffic.written
    }

    /// Floating-point operations a second that the PE array can do.
    pub fn peak_flops(&self) -> f64 {
        let mhz = f64::from(self.target.timing.clock_mhz[0]);
        let side = f64::from(self.target.partitions);
        2.0 * side * f64::from(self.target.stationary_max) * mhz * 1e6
    }

    pub fn seconds(&self) -> f64 {
        self.totals.total_ps as f64 / 1e12
    }

    /// The share of the array's peak that matmuls reach.
    pub fn mfu(&self) -> f64 {
        share(self.matmul_flops as f64, self.peak_flops() * self.seconds())
    }

    /// The share of the core's HBM bandwidth that is used.
    pub fn mbu(&self) -> f64 {
        let rate = self.target.timing.hbm_core_bytes_per_us as f64 * 1e6;
        share(self.hbm_bytes() as f64, rate * self.seconds())
    }

    /// Operations of matmuls, as the profiler books them, per byte of HBM.
    pub fn intensity(&self) -> f64 {
        share(
            (self.hardware_flops - self.transpose_flops) as f64,
            self.hbm_bytes() as f64,
        )
    }

    /// The share of the array's peak that everything on it reaches, as the profiler books it.
    pub fn hfu(&self) -> f64 {
        share(self.hardware_flops as f64, self.peak_flops() * self.seconds())
    }

    /// The intensity from which the array, not HBM, is the limit.
    pub fn ridge(&self) -> f64 {
        self.peak_flops() / (self.target.timing.hbm_core_bytes_per_us as f64 * 1e6)
    }

    /// Which of the engines and transfers is busy longest, and its share of the time.
    pub fn bottleneck(&self) -> (&'static str, f64) {
        let (collectives, _) = cores::communication(&self.trace);
        let busy = self.totals.busy_ps.into_iter();
        let busy = busy.chain([self.totals.dma_busy_ps, collectives]);
        let longest = bottlenecks()
            .zip(busy)
            .filter(|it| it.1 > 0)
            .max_by_key(|it| it.1);
        let (name, busy) = longest.unwrap_or((NOTHING, 0));
        (name, share(busy as f64, self.totals.total_ps as f64))
    }
}

/// What an empty program is bound by.
const NOTHING: &str = "nothing";

/// What a program can be bound by: an engine, transfers, collectives, or nothing.
pub(crate) fn bottlenecks() -> impl Iterator<Item = &'static str> {
    let engines = ENGINES.iter().map(|it| it.1);
    engines.chain(["dma", "collectives", NOTHING])
}

/// Adds so many times something; a loop that runs for months ends at the largest number.
fn add(sum: &mut u64, part: u64, count: u64) {
    *sum = sum.saturating_add(part.saturating_mul(count));
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// How often each segment runs, and whether that is known: loops with bounds in registers count once.
pub(crate) fn trip_counts(program: &Program, control: &Control) -> (Vec<u64>, bool) {
    fn walk(program: &Program, nodes: &[Node], count: u64, counts: &mut [u64]) -> bool {
        let mut is_exact = true;
        for node in nodes {
            match node {
                Node::Segment(number) => counts[*number] = count,
                Node::Loop(number, body) => {
                    let trips = known_trips(&program.loops[*number].kind);
                    is_exact &= trips.is_some();
                    is_exact &= walk(program, body, count.saturating_mul(trips.unwrap_or(1)), counts);
                }
            }
        }
        is_exact
    }
    let mut counts = vec![0; control.segments.len()];
    let is_exact = walk(program, &control.nodes, 1, &mut counts);
    (counts, is_exact)
}

/// How often an instruction runs.
pub(crate) fn runs(control: &Control, counts: &[u64], inst: InstId) -> u64 {
    counts[control.segments.partition_point(|it| it.end <= inst.index())]
}

fn known_trips(kind: &LoopKind) -> Option<u64> {
    use nk_compiler::ir::Bound::Int;
    match kind {
        LoopKind::For {
            lower: Int(lower),
            upper: Int(upper),
            step,
            ..
        } => {
            let distance = i64::from(*upper) - i64::from(*lower);
            Some(u64::try_from(distance).unwrap_or(0).div_ceil(u64::from(*step)))
        }
        LoopKind::For { .. } | LoopKind::While { .. } => None,
    }
}

/// Bytes of a transfer, and of a row that is contiguous on both sides.
pub(crate) fn moved(program: &Program, inst: &Inst) -> (u64, u64) {
    let views = program.accesses(inst).take(2).map(|it| it.1);
    let row = |view: &View| {
        let skip = usize::from(program.memory(view).is_on_chip());
        let mut run = 1u64;
        for dim in view.dims()[skip..].iter().rev().filter(|it| it.count != 1) {
            if i64::from(dim.stride) != run as i64 {
                break;
            }
            run *= u64::from(dim.count);
        }
        run * u64::from(view.dtype.size())
    };
    views.fold((0, u64::MAX), |(bytes, least), view| {
        let all = view.count() * u64::from(view.dtype.size());
        (bytes.max(all), least.min(row(view)))
    })
}

/// Operations on the PE array.
struct Flops {
    matmul: u64,
    transpose: u64,
    /// How often the profiler books them: an f32 operand is two halves.
    factor: u64,
}

fn flops(program: &Program, inst: &Inst) -> Flops {
    let view = |idx: usize| match inst.args[idx] {
        Arg::View(id) => Some(&program[id]),
        _ => None,
    };
    let (matmul, transpose, operand) = match (inst.op, view(1), view(2)) {
        (Op::NcMatmul, Some(stationary), Some(moving)) => {
            let count = 2 * stationary.count() * moving.free_count();
            if inst.args[5] == Arg::Bool(true) {
                (0, count, stationary)
            } else {
                (count, 0, stationary)
            }
        }
        (Op::NcTranspose, Some(data), _) if inst.engine == ENGINES[0].0 => {
            (0, 2 * data.count() * u64::from(data.partitions()), data)
        }
        _ => {
            return Flops {
                matmul: 0,
                transpose: 0,
                factor: 1,
            };
        }
    };
    let factor = if operand.dtype == Dtype::F32 { 2 } else { 1 };
    Flops {
        matmul,
        transpose,
        factor,
    }
}
