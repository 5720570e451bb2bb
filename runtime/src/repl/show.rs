//! Facts about a compiled kernel, as commands show them.

use super::Subject;
use super::command::Verb;
use crate::append::line;
use crate::occupancy::{self, Occupancy};
use crate::profile::{self, Profile};
use crate::report::micros;
use crate::stage::{Stage, stage_text};
use crate::trace::Bound;
use nk_compiler::explain;
use nk_compiler::ir::{Frame, Inst, InstId, Program};
use nk_compiler::isa::{Memory, Unit, manual};
use nk_compiler::source::Sources;
use nk_compiler::target::Target;
use nk_compiler::target::datasheet::{datasheet, page};
use nk_compiler::text::PrintOptions;
use std::collections::BTreeMap;

/// What a command shows of a kernel.
pub fn facts(
    verb: Verb,
    rest: &str,
    subject: &Subject,
    sources: &Sources,
    target: &'static Target,
) -> String {
    let Subject {
        compiled, profile, ..
    } = subject;
    let occupancy = || Occupancy::new(&compiled.program, &compiled.placement, target, sources);
    match verb {
        Verb::Profile => profile::text(profile, &compiled.program),
        Verb::Timeline => profile::timeline_text(profile, &compiled.program),
        Verb::Memory => occupancy::text(&occupancy()),
        Verb::Psum => occupancy::memory_text(&occupancy(), Memory::Psum),
        Verb::Roofline => roofline(profile),
        Verb::Why => match rest.parse::<usize>() {
            Ok(line) => why(line, &compiled.program, profile, sources),
            Err(_) => format!("`{rest}` is no line number\n"),
        },
        Verb::Ir => match (rest, Stage::from_name(rest)) {
            ("", _) => stage_text(compiled, Stage::Program, target, PrintOptions::default()),
            (_, Some(stage)) => stage_text(compiled, stage, target, PrintOptions::default()),
            (_, None) => format!("`{rest}` is no stage; there are program, placement, schedule and clif\n"),
        },
        _ => cost(&compiled.program, profile),
    }
}

/// How long an instruction keeps its engine; for a transfer, from its first byte to its last.
pub fn duration_ps(profile: &Profile, transfers: &BTreeMap<InstId, u64>, id: InstId) -> u64 {
    let event = profile.trace.event(id);
    let own = event.free_ps.saturating_sub(event.start_ps);
    transfers.get(&id).copied().unwrap_or(own)
}

/// The time from the first byte to the last of every transfer.
pub fn moving(profile: &Profile) -> BTreeMap<InstId, u64> {
    let transfers = profile.trace.transfers.iter();
    transfers
        .map(|it| (it.inst, it.last_ps.saturating_sub(it.first_ps)))
        .collect()
}

/// The engine that does the work.
pub fn unit(inst: &Inst) -> &'static str {
    if inst.op.row().unit == Unit::Dma {
        return "dma";
    }
    inst.engine.name()
}

/// Time by instruction.
fn cost(program: &Program, profile: &Profile) -> String {
    let transfers = moving(profile);
    let mut sums: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for (id, inst) in program.iter() {
        let sum = sums.entry((unit(inst), inst.op.name())).or_default();
        *sum = (sum.0 + 1, sum.1 + duration_ps(profile, &transfers, id));
    }
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by_key(|it| (std::cmp::Reverse(it.1.1), it.0));
    let mut out = String::new();
    line!(
        out,
        "  {:<8} {:<24} {:>8} {:>12} {:>12}",
        "engine",
        "instruction",
        "count",
        "us",
        "ns each"
    );
    for ((engine, name), (count, ps)) in rows {
        let each = ps as f64 / count as f64 / 1e3;
        line!(
            out,
            "  {engine:<8} {name:<24} {count:>8} {:>12} {each:>12.0}",
            micros(ps)
        );
    }
    line!(
        out,
        "  modelled time {} us; engines work side by side",
        micros(profile.totals.total_ps)
    );
    out
}

/// Where the kernel is between the array's limit and that of HBM.
fn roofline(profile: &Profile) -> String {
    let mut out = String::new();
    let (hbm, mbu) = (profile.hbm_bytes(), 100.0 * profile.mbu());
    line!(out, "  HBM traffic   {hbm} bytes, MBU {mbu:.1} %");
    if profile.matmul_flops == 0 {
        line!(out, "  no matmul, so the limit is HBM or an engine");
        return out;
    }
    let (peak, ridge, intensity) = (profile.peak_flops(), profile.ridge(), profile.intensity());
    let bound = peak * (intensity / ridge).min(1.0);
    let reached = profile.matmul_flops as f64 / profile.seconds();
    let side = if intensity < ridge { "HBM" } else { "the PE array" };
    line!(
        out,
        "  intensity     {intensity:.1} FLOP a byte; the ridge is at {ridge:.1}, so the limit is {side}"
    );
    line!(
        out,
        "  limit here    {:.2} TFLOPS of {:.2}",
        bound / 1e12,
        peak / 1e12
    );
    let (share, mfu) = (100.0 * reached / bound, 100.0 * profile.mfu());
    line!(
        out,
        "  reached       {:.2} TFLOPS: {share:.1} % of the limit, MFU {mfu:.1} %",
        reached / 1e12
    );
    out
}

/// What the instructions of a line wait for.
fn why(number: usize, program: &Program, profile: &Profile, sources: &Sources) -> String {
    let transfers = moving(profile);
    let at_line = |inst: &Inst| lines_of(program, inst, sources).contains(&number);
    let mut sums: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for (id, inst) in program.iter().filter(|it| at_line(it.1)) {
        let sum = sums.entry((unit(inst), inst.op.name())).or_default();
        *sum = (sum.0 + 1, sum.1 + duration_ps(profile, &transfers, id));
    }
    if sums.is_empty() {
        let mut lines: Vec<usize> = program
            .insts
            .iter()
            .flat_map(|it| lines_of(program, it, sources))
            .collect();
        lines.sort_unstable();
        lines.dedup();
        let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
        return format!(
            "no instruction comes from line {number}, but from {}\n",
            lines.join(", ")
        );
    }
    let mut out = String::new();
    for ((engine, name), (count, ps)) in sums {
        line!(out, "  {count} x {name} on {engine}: {} us of work", micros(ps));
    }
    let mut waits: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for stall in profile
        .trace
        .stalls
        .iter()
        .filter(|it| at_line(&program[it.inst]))
    {
        let cause = match stall.bound {
            Bound::Start => continue,
            Bound::Queue(by) => format!("its queue to finish {}", origin(program, by, sources)),
            Bound::Signal(by) => format!("the signal of {}", origin(program, by, sources)),
            Bound::Dependence(by) => format!("the result of {}", origin(program, by, sources)),
            Bound::Port(by) => format!("a memory port that {} holds", origin(program, by, sources)),
        };
        let wait = waits.entry(cause).or_default();
        *wait = (wait.0 + 1, wait.1 + stall.end_ps.saturating_sub(stall.start_ps));
    }
    if waits.is_empty() {
        line!(out, "  they wait for nothing");
    }
    let mut waits: Vec<_> = waits.into_iter().collect();
    waits.sort_by_key(|it| std::cmp::Reverse(it.1.1));
    for (cause, (count, ps)) in waits.iter().take(MAX_CAUSES) {
        line!(out, "  {} us waiting for {cause}, {count} times", micros(*ps));
    }
    let critical = profile
        .critical
        .iter()
        .filter(|it| it.place.rsplit(':').next() == Some(&number.to_string()));
    let critical: u64 = critical.map(|it| it.ps).sum();
    let share = 100.0 * critical as f64 / profile.totals.total_ps.max(1) as f64;
    line!(
        out,
        "  {} us of the critical path ({share:.0} %)",
        micros(critical)
    );
    out
}

/// Causes that `:why` lists.
const MAX_CAUSES: usize = 5;

/// The lines of an instruction: its own, and those of the calls around it.
fn lines_of(program: &Program, inst: &Inst, sources: &Sources) -> Vec<usize> {
    let around = program.locs.around(inst.loc);
    around
        .filter(|it| !matches!(it.frame, Frame::Iteration(_)))
        .map(|it| sources.line_column(it.span.file, it.span.start).0)
        .collect()
}

fn origin(program: &Program, id: InstId, sources: &Sources) -> String {
    let inst = &program[id];
    match program.span(inst.loc) {
        Some(span) => format!(
            "{} (line {})",
            inst.op.name(),
            sources.line_column(span.file, span.start).0
        ),
        None => inst.op.name().to_string(),
    }
}

/// An instruction's page, or all of them.
pub fn isa(name: &str) -> String {
    let name = name.strip_prefix("nisa.").unwrap_or(name);
    if name.is_empty() {
        return manual::list();
    }
    match manual::page(name) {
        Ok(page) => page,
        Err(Some(near)) => format!("`{name}` is no instruction; did you mean `{near}`?\n"),
        Err(None) => format!("`{name}` is no instruction; :isa lists all of them\n"),
    }
}

/// What a code means; without one, what the last message's means, or the list of all codes.
pub fn explain(code: &str, last: Option<&'static str>) -> String {
    let code = match (code, last) {
        ("", None) => return explain::list(),
        ("", Some(last)) => last,
        (code, _) => code,
    };
    match explain::find(code) {
        Ok(entry) => explain::page(entry),
        Err(Some(near)) => format!("`{code}` is no code of a message; did you mean `{near}`?\n"),
        Err(None) => {
            format!("`{code}` is no code of a message; codes stand in brackets: error[start-partition]\n")
        }
    }
}

/// A chip's datasheet.
pub fn target(target: &Target) -> String {
    datasheet(target.name).map_or(format!("{}\n", target.name), |it| page(&it))
}
