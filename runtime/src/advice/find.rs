//! The detectors: each looks for one cause in the program and its profile.
//!
//! Takes a compiled program with its profile, gives what each cause consists of and how the program would be without it.
//! Cheap conditions come first: a cause that cannot matter is not timed.

use super::pairs::{combinable, is_linear, is_single, links};
use super::{Found, Rule, Without};
use crate::profile::{Profile, moved, runs};
use crate::time::{Change, Changes};
use nk_compiler::Compiled;
use nk_compiler::cost;
use nk_compiler::ir::{Inst, InstId, Program, Role, View, ViewId};
use nk_compiler::isa::{Access, ActFn, Arg, Cost, Engine, Memory, Op, Unit};
use nk_compiler::target::{Target, Timing};
use rustc_hash::FxHashMap;

/// Rows below so many bytes are short: an engine of the DMA reaches less than 70 % of its rate.
const SHORT_ROW_BYTES: u64 = 2048;

/// Elements per partition below which the fixed cost of an instruction is most of it.
const TINY_FREE: u64 = 128;

/// How often a source line must run for its instructions to be one instead.
const FEW_TIMES: usize = 4;

/// Every cause that there is.
pub fn all(compiled: &Compiled, profile: &Profile) -> Vec<Found> {
    let program = &compiled.program;
    let target = profile.target;
    let found = [
        reloaded(program),
        spilled(program),
        single_buffered(program, profile),
        bank_reused(program, profile),
        one_engine(program, profile),
        tiny_free(program, target),
        few_partitions(program, target),
        combined(program),
        moving_weights(program, target),
        transposes(program),
        short_rows(program),
        dma_transposes(program),
        dependent(program, profile),
        table_loads(profile, target),
    ];
    found.into_iter().flatten().collect()
}

fn changed(
    rule: Rule,
    evidence: String,
    insts: Vec<InstId>,
    change: impl Fn(InstId) -> Change,
) -> Option<Found> {
    if insts.is_empty() {
        return None;
    }
    let changes = Changes {
        insts: insts.iter().map(|&it| (it, change(it))).collect(),
        fills_gaps: false,
    };
    Some(Found {
        rule,
        evidence,
        insts,
        without: Without::Changes(changes),
    })
}

fn retimed(
    rule: Rule,
    evidence: String,
    insts: Vec<InstId>,
    target: &Target,
    f: impl Fn(&mut Timing),
) -> Option<Found> {
    if insts.is_empty() {
        return None;
    }
    let mut timing = target.timing.clone();
    f(&mut timing);
    Some(Found {
        rule,
        evidence,
        insts,
        without: Without::Timing(Box::new(timing)),
    })
}

fn megabytes(bytes: u64) -> String {
    format!("{:.2} MB", bytes as f64 / 1e6)
}

fn is_dma(inst: &Inst) -> bool {
    inst.op.row().unit == Unit::Dma
}

/// Destination and source of a transfer.
fn sides<'a>(program: &'a Program, inst: &Inst) -> Option<(&'a View, ViewId)> {
    match (inst.args[0], inst.args[1]) {
        (Arg::View(dst), Arg::View(src)) if is_dma(inst) => Some((&program[dst], src)),
        _ => None,
    }
}

/// Loads of what an earlier load has brought.
fn reloaded(program: &Program) -> Option<Found> {
    let mut times: FxHashMap<ViewId, u64> = FxHashMap::default();
    let (mut again, mut bytes) = (Vec::new(), 0);
    for (id, inst) in program.iter() {
        let Some((dst, src)) = sides(program, inst) else {
            continue;
        };
        let is_load = program.memory(dst).is_on_chip() && program[program[src].buffer].role == Role::In;
        if !is_load || program[src].dynamic.is_some() {
            continue;
        }
        let n = times.entry(src).or_default();
        *n += 1;
        if *n > 1 {
            again.push(id);
            bytes += moved(program, inst).0;
        }
    }
    let most = times.values().max().copied().unwrap_or(0);
    let evidence = format!(
        "{} loads bring {} that an earlier load has brought; the most frequent is made {most} times",
        again.len(),
        megabytes(bytes)
    );
    changed(Rule::Reloaded, evidence, again, |_| Change::Removed)
}

/// What spilling moves.
fn spilled(program: &Program) -> Option<Found> {
    let is_spill = |view: &View| {
        let buffer = &program[view.buffer];
        buffer.memory == Memory::Hbm && buffer.role == Role::Local && buffer.name.base.ends_with("_spilled")
    };
    let moves: Vec<InstId> = program
        .iter()
        .filter(|it| is_dma(it.1) && program.accesses(it.1).any(|(_, view)| is_spill(view)))
        .map(|it| it.0)
        .collect();
    let bytes = moves.iter().map(|it| moved(program, &program[*it]).0).sum();
    let evidence = format!(
        "{} transfers move {} of tiles that do not fit",
        moves.len(),
        megabytes(bytes)
    );
    let found = changed(Rule::Spilled, evidence, moves, |_| Change::Removed)?;
    // Where everything fits, nothing waits for a place either.
    let without = match found.without {
        Without::Changes(changes) => Without::Apart(Memory::Sbuf, changes),
        other => other,
    };
    Some(Found { without, ..found })
}

/// Stalls of engines for which another place for each tile would help, and who stalls.
fn stalled(
    program: &Program,
    profile: &Profile,
    is_meant: impl Fn(&Inst, Engine) -> bool,
) -> (u64, Vec<InstId>) {
    let control = program.control();
    let mut sum_ps: u64 = 0;
    let mut insts = Vec::new();
    for stall in &profile.trace.stalls {
        if is_meant(&program[stall.inst], stall.engine) {
            let ps = stall.end_ps - stall.start_ps;
            sum_ps = sum_ps.saturating_add(ps.saturating_mul(runs(&control, &profile.counts, stall.inst)));
            insts.push(stall.inst);
        }
    }
    (sum_ps, insts)
}

fn is_worth(ps: u64, profile: &Profile) -> bool {
    super::is_worth(ps, profile.totals.total_ps)
}

/// Loads that wait for compute on what lay there before.
fn single_buffered(program: &Program, profile: &Profile) -> Option<Found> {
    let loads = |inst: &Inst, _: Engine| {
        sides(program, inst).is_some_and(|(dst, _)| program.memory(dst) == Memory::Sbuf)
    };
    let (ps, insts) = stalled(program, profile, loads);
    if !is_worth(ps, profile) {
        return None;
    }
    Some(Found {
        rule: Rule::SingleBuffered,
        evidence: format!(
            "loads wait {:.1} us for instructions that still use the bytes they go to",
            ps as f64 / 1e6
        ),
        insts,
        without: Without::Apart(Memory::Sbuf, Changes::default()),
    })
}

/// Matmuls that wait until a bank is empty.
fn bank_reused(program: &Program, profile: &Profile) -> Option<Found> {
    let (ps, insts) = stalled(program, profile, |_, engine| engine == Engine::Tensor);
    if !is_worth(ps, profile) {
        return None;
    }
    Some(Found {
        rule: Rule::BankReused,
        evidence: format!(
            "the PE array waits {:.1} us, also for banks that are not empty yet",
            ps as f64 / 1e6
        ),
        insts,
        without: Without::Apart(Memory::Psum, Changes::default()),
    })
}

/// Copies and scales on a busy engine while the other one is idle.
fn one_engine(program: &Program, profile: &Profile) -> Option<Found> {
    let busy = |engine: Engine| profile.totals.busy_ps[engine as usize];
    let total_ps = profile.totals.total_ps;
    let (vector, scalar) = (busy(Engine::Vector), busy(Engine::Scalar));
    let (full, idle) = if vector > scalar {
        (Engine::Vector, Engine::Scalar)
    } else {
        (Engine::Scalar, Engine::Vector)
    };
    if busy(full) < total_ps / 10 * 7 || busy(idle) > busy(full) / 2 {
        return None;
    }
    let is_plain = |inst: &Inst| match inst.op {
        Op::TensorCopy => true,
        Op::TensorScalar => is_single(inst) && is_linear(inst),
        Op::Activation => inst.args.contains(&Arg::Act(ActFn::Copy)),
        _ => false,
    };
    let movable: Vec<InstId> = program
        .iter()
        .filter(|it| it.1.engine == full && is_plain(it.1))
        .map(|it| it.0)
        .collect();
    let evidence = format!(
        "{} instructions of {} could run on {}, which is busy {:.0} % of the time",
        movable.len(),
        full.name(),
        idle.name(),
        100.0 * busy(idle) as f64 / total_ps.max(1) as f64
    );
    // Every second one: both engines would share them.
    let half = movable.into_iter().step_by(2).collect();
    changed(Rule::OneEngine, evidence, half, |_| Change::Removed)
}

/// Instructions of the Vector, Scalar and GpSimd engines by the line they stand in.
fn by_line(program: &Program, is_meant: impl Fn(&Inst) -> bool) -> Vec<InstId> {
    let mut lines: FxHashMap<(Op, Option<nk_compiler::source::Span>), Vec<InstId>> = FxHashMap::default();
    for (id, inst) in program.iter() {
        let is_elementwise = inst.op.row().unit == Unit::Engine && inst.engine != Engine::Tensor;
        if is_elementwise && is_meant(inst) {
            lines
                .entry((inst.op, program.span(inst.loc)))
                .or_default()
                .push(id);
        }
    }
    let mut all: Vec<InstId> = lines
        .into_values()
        .filter(|it| it.len() >= FEW_TIMES)
        .flatten()
        .collect();
    all.sort_unstable();
    all
}

fn destination<'a>(program: &'a Program, inst: &'a Inst) -> Option<&'a View> {
    program
        .accesses(inst)
        .find(|it| it.0 != Access::Read)
        .map(|it| it.1)
}

/// The widest tile of an instruction, in elements per partition.
fn widest(program: &Program, inst: &Inst) -> u64 {
    program
        .accesses(inst)
        .map(|it| it.1.free_count())
        .max()
        .unwrap_or(0)
}

fn gap_ps(engine: Engine, target: &Target) -> u64 {
    target.cycles_to_ps(engine, target.timing.access_gap_cycles[engine as usize])
}

fn tiny_free(program: &Program, target: &Target) -> Option<Found> {
    let insts = by_line(program, |it| widest(program, it) < TINY_FREE);
    let least = insts
        .iter()
        .map(|it| widest(program, &program[*it]))
        .min()
        .unwrap_or(0);
    let evidence = format!(
        "{} instructions work on few elements per partition, down to {least}; each costs at least {} ns",
        insts.len(),
        (target.cycles_to_ps(Engine::Vector, target.timing.min_ii_cycles) + gap_ps(Engine::Vector, target))
            / 1000
    );
    changed(Rule::TinyFree, evidence, insts, |id| {
        let inst = &program[id];
        let ps = cost::busy(program, inst, target).stream_ps(inst.engine, target);
        Change::Takes { ps }
    })
}

fn few_partitions(program: &Program, target: &Target) -> Option<Found> {
    let partitions = |inst: &Inst| destination(program, inst).map_or(u32::MAX, View::partitions);
    let insts = by_line(program, |it| partitions(it) * 2 <= target.partitions);
    let least = insts
        .iter()
        .map(|it| partitions(&program[*it]))
        .min()
        .unwrap_or(0);
    let evidence = format!(
        "{} instructions work on half of the {} partitions or fewer, down to {least}",
        insts.len(),
        target.partitions
    );
    changed(Rule::FewPartitions, evidence, insts, |id| {
        let inst = &program[id];
        let whole = cost::busy(program, inst, target).ps(inst.engine, target) + gap_ps(inst.engine, target);
        let ps = whole * u64::from(partitions(inst)) / u64::from(target.partitions);
        Change::Takes { ps }
    })
}

fn combined(program: &Program) -> Option<Found> {
    let insts = combinable(program);
    let evidence = format!(
        "{} instructions could be part of the one before or behind them",
        insts.len()
    );
    changed(Rule::Combinable, evidence, insts, |_| Change::Removed)
}

/// Runs of matmuls in which the moving operand stays and the stationary one changes.
fn moving_weights(program: &Program, target: &Target) -> Option<Found> {
    let operands = |inst: &Inst| match (inst.args[1], inst.args[2]) {
        (Arg::View(stationary), Arg::View(moving))
            if inst.op == Op::NcMatmul && inst.args[5] != Arg::Bool(true) =>
        {
            Some((stationary, moving))
        }
        _ => None,
    };
    let mut insts = Vec::new();
    let mut run: Vec<InstId> = Vec::new();
    let mut before: Option<(ViewId, ViewId)> = None;
    let products = program.iter().filter(|it| it.1.engine == Engine::Tensor);
    for (id, inst) in products {
        let here = operands(inst);
        let goes_on = matches!((before, here), (Some(a), Some(b)) if a.1 == b.1 && a.0 != b.0);
        if !goes_on {
            if run.len() >= FEW_TIMES {
                insts.append(&mut run);
            }
            run.clear();
        }
        if here.is_some_and(|it| program[it.1].free_count() < u64::from(target.moving_max)) {
            run.push(id);
        }
        before = here;
    }
    if run.len() >= FEW_TIMES {
        insts.append(&mut run);
    }
    let evidence = format!(
        "{} matmuls load other weights for the same moving tile, which is shorter than {}",
        insts.len(),
        target.moving_max
    );
    changed(Rule::MovingWeights, evidence, insts, |id| {
        let inst = &program[id];
        let columns = operands(inst).map_or(0, |it| program[it.0].free_count());
        let busy = cost::busy(program, inst, target);
        // The columns that are loaded would move instead, in rows of full length with one load each.
        let loads_ps =
            busy.weight_loads * target.timing.weight_load_ps * columns / u64::from(target.moving_max);
        let ps = target.cycles_to_ps(Engine::Tensor, busy.weight_loads * columns) + loads_ps;
        Change::Takes { ps }
    })
}

/// Transposes by compute engines, and the copies that fetch their results.
fn transposes(program: &Program) -> Option<Found> {
    let is_transpose = |inst: &Inst| {
        inst.op == Op::NcTranspose || (inst.op == Op::NcMatmul && inst.args[5] == Arg::Bool(true))
    };
    let mut insts: Vec<InstId> = program
        .iter()
        .filter(|it| is_transpose(it.1))
        .map(|it| it.0)
        .collect();
    if insts.is_empty() {
        return None;
    }
    let n = insts.len();
    let is_copy = |inst: &Inst| inst.op == Op::TensorCopy || inst.args.contains(&Arg::Act(ActFn::Copy));
    let copies = links(program)
        .into_iter()
        .filter(|(first, second)| is_transpose(&program[*first]) && is_copy(&program[*second]));
    insts.extend(copies.map(|it| it.1));
    let evidence = format!("{n} transposes, and {} copies of what they give", insts.len() - n);
    changed(Rule::Transposes, evidence, insts, |_| Change::Removed)
}

fn short_rows(program: &Program) -> Option<Found> {
    let (mut insts, mut bytes, mut least) = (Vec::new(), 0, u64::MAX);
    for (id, inst) in program
        .iter()
        .filter(|it| is_dma(it.1) && it.1.op.row().cost != Cost::DmaTranspose)
    {
        let (moved_bytes, row) = moved(program, inst);
        if row < SHORT_ROW_BYTES {
            insts.push(id);
            bytes += moved_bytes;
            least = least.min(row);
        }
    }
    let evidence = format!(
        "{} transfers move {} in rows of less than {SHORT_ROW_BYTES} bytes, down to {least}",
        insts.len(),
        megabytes(bytes)
    );
    changed(Rule::ShortRows, evidence, insts, |_| Change::LongRows)
}

fn dma_transposes(program: &Program) -> Option<Found> {
    let insts: Vec<InstId> = program
        .iter()
        .filter(|it| it.1.op.row().cost == Cost::DmaTranspose)
        .map(|it| it.0)
        .collect();
    let bytes = insts.iter().map(|it| moved(program, &program[*it]).0).sum();
    let evidence = format!(
        "{} transfers transpose {} an element at a time",
        insts.len(),
        megabytes(bytes)
    );
    changed(Rule::DmaTransposes, evidence, insts, |_| Change::PlainCopy)
}

fn dependent(program: &Program, profile: &Profile) -> Option<Found> {
    let waits = profile.waits.iter().map(|it| it.dependence_ps);
    let waits_ps = waits.fold(0, u64::saturating_add);
    if !is_worth(waits_ps, profile) {
        return None;
    }
    let insts = program
        .iter()
        .filter(|it| {
            matches!(
                profile.trace.event(it.0).bound,
                crate::trace::Bound::Dependence(_)
            )
        })
        .map(|it| it.0)
        .collect();
    Some(Found {
        rule: Rule::Dependent,
        evidence: format!(
            "engines wait {:.1} us for the results of the instruction before",
            waits_ps as f64 / 1e6
        ),
        insts,
        without: Without::Changes(Changes {
            fills_gaps: true,
            ..Changes::default()
        }),
    })
}

fn table_loads(profile: &Profile, target: &Target) -> Option<Found> {
    let insts: Vec<InstId> = profile.trace.table_loads.iter().map(|it| it.inst).collect();
    let evidence = format!(
        "{} loads of function tables take {:.1} us",
        insts.len(),
        (insts.len() as u64 * target.timing.act_table_load_ps) as f64 / 1e6
    );
    if insts.len() < FEW_TIMES {
        return None;
    }
    retimed(Rule::TableLoads, evidence, insts, target, |timing| {
        timing.act_table_load_ps = 0
    })
}
