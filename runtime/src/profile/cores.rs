//! Several cores in one profile: how long each takes, what it waits for the others, and what the chip makes of it.
//!
//! Takes the timelines of programs that run together, gives the time of each core, skew, the part of the communication
//! that hides behind work, and how well the work scales. Runs no values.

use super::Profile;
use super::perfetto::{self, Events};
use super::text::micros;
use crate::append::line;
use crate::trace::Trace;
use nk_compiler::Compiled;
use nk_compiler::isa::{ENGINES, N_ENGINES};
use nk_compiler::source::Sources;
use nk_compiler::target::Target;
use rustc_hash::FxHashSet;
use serde_json::{Value, json};
use std::sync::Arc;

/// A program on its core. Programs of one core follow each other.
#[derive(Clone, Debug)]
pub struct Lane {
    pub core: usize,
    pub compiled: Arc<Compiled>,
    pub trace: Trace,
    pub start_ps: u64,
}

/// Whether cores are ranks or share the chip's HBM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    Cores,
    Ranks,
}

/// A profile of several cores.
#[derive(Debug)]
pub struct Cores {
    kind: Together,
    cores: Vec<CoreTime>,
    total_ps: u64,
    /// Shares of the peaks of all cores together.
    mfu: f64,
    mbu: f64,
    peak_flops: f64,
    hbm_bytes_per_us: u64,
}

/// What one core does.
#[derive(Clone, Debug, Default, PartialEq)]
struct CoreTime {
    n_programs: usize,
    end_ps: u64,
    busy_ps: [u64; N_ENGINES],
    dma_ps: u64,
    /// Time in which a collective is under way, and the part of it in which the core does nothing else.
    collective_ps: u64,
    exposed_ps: u64,
}

/// Rows of the table, at most.
const MAX_ROWS: usize = 16;

impl Cores {
    pub fn new(lanes: &[Lane], kind: Together, target: &'static Target, sources: &Sources) -> Cores {
        let n_cores = lanes.iter().map(|it| it.core + 1).max().unwrap_or(1);
        let mut cores = vec![CoreTime::default(); n_cores];
        let (mut flops, mut bytes, mut peak_flops) = (0u64, 0u64, 0.0);
        // Ranks that share a program are looked at once.
        let mut known: Option<(*const Compiled, Profile)> = None;
        for lane in lanes {
            let core = &mut cores[lane.core];
            core.n_programs += 1;
            let at = Arc::as_ptr(&lane.compiled);
            let profile = match known.take().filter(|it| it.0 == at) {
                Some((_, profile)) => profile,
                None => Profile::of_trace(&lane.compiled, lane.trace.clone(), target, sources),
            };
            // Loops run as often as they say; what the timeline has once is the same for every rank of a program.
            let totals = lane
                .trace
                .along(&lane.compiled.program.control(), &profile.counts);
            core.end_ps = core.end_ps.max(lane.start_ps.saturating_add(totals.total_ps));
            for engine in 0..N_ENGINES {
                core.busy_ps[engine] = core.busy_ps[engine].saturating_add(totals.busy_ps[engine]);
            }
            core.dma_ps = core.dma_ps.saturating_add(totals.dma_busy_ps);
            let (collective_ps, exposed_ps) = communication(&lane.trace);
            core.collective_ps += collective_ps;
            core.exposed_ps += exposed_ps;
            peak_flops = profile.peak_flops();
            flops = flops.saturating_add(profile.matmul_flops);
            bytes = bytes.saturating_add(profile.hbm_bytes());
            known = Some((at, profile));
        }
        let total_ps = cores.iter().map(|it| it.end_ps).max().unwrap_or(0);
        let seconds = total_ps as f64 / 1e12;
        let hbm_bytes_per_us = target.timing.hbm_core_bytes_per_us * n_cores as u64;
        let peak_flops = peak_flops * n_cores as f64;
        Cores {
            kind,
            cores,
            total_ps,
            mfu: super::share(flops as f64, peak_flops * seconds),
            mbu: super::share(bytes as f64, hbm_bytes_per_us as f64 * 1e6 * seconds),
            peak_flops,
            hbm_bytes_per_us,
        }
    }

    /// Between the first and the last core to end.
    fn skew_ps(&self) -> u64 {
        let first = self.cores.iter().map(|it| it.end_ps).min().unwrap_or(0);
        self.total_ps - first
    }

    /// The share of the cores' time, until the last of them ends, that is neither waiting for others nor idle behind them.
    pub fn efficiency(&self) -> f64 {
        let used: u64 = self
            .cores
            .iter()
            .map(|it| it.end_ps - it.exposed_ps.min(it.end_ps))
            .sum();
        super::share(used as f64, self.total_ps as f64 * self.cores.len() as f64)
    }

    fn word(&self) -> &'static str {
        match self.kind {
            Together::Cores => "core",
            Together::Ranks => "rank",
        }
    }

    /// The profile in lines.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let percent = |ps: u64| 100.0 * super::share(ps as f64, self.total_ps as f64);
        let (n, word) = (self.cores.len(), self.word());
        line!(out, "{n} {word}s together, modelled");
        line!(
            out,
            "  time        {} us until the last {word} ends",
            micros(self.total_ps)
        );
        line!(
            out,
            "  skew        {} us between the first and the last to end, {:.1} %",
            micros(self.skew_ps()),
            percent(self.skew_ps())
        );
        line!(
            out,
            "  efficiency  {:.1} % of {n} times one {word}: the rest waits for others",
            100.0 * self.efficiency()
        );
        line!(
            out,
            "  roofline    MFU {:.1} % of {:.1} TFLOPS, MBU {:.1} % of {} GB/s, all {word}s together",
            100.0 * self.mfu,
            self.peak_flops / 1e12,
            100.0 * self.mbu,
            self.hbm_bytes_per_us / 1000
        );
        let names: Vec<String> = ENGINES.iter().map(|it| format!("{:>8}", it.1)).collect();
        line!(
            out,
            "\n  {:<9} {:>11} {} {:>8} {:>12} {:>8}",
            word,
            "end us",
            names.join(" "),
            "dma",
            "collectives",
            "exposed"
        );
        for (number, it) in self.cores.iter().enumerate().take(MAX_ROWS) {
            let busy: Vec<String> = it
                .busy_ps
                .iter()
                .map(|it| format!("{:>6.1} %", percent(*it)))
                .collect();
            line!(
                out,
                "  {:<9} {:>11} {} {:>6.1} % {:>10.1} % {:>6.1} %",
                format!("{word} {number}"),
                micros(it.end_ps),
                busy.join(" "),
                percent(it.dma_ps),
                percent(it.collective_ps),
                percent(it.exposed_ps)
            );
        }
        if n > MAX_ROWS {
            line!(out, "  and {} more {word}s", n - MAX_ROWS);
        }
        out
    }

    pub fn to_json(&self) -> Value {
        let nanos = |ps: u64| json!(ps as f64 / 1e3);
        let core = |it: &CoreTime| {
            let busy: Value = ENGINES
                .iter()
                .map(|(engine, name)| ((*name).to_string(), nanos(it.busy_ps[*engine as usize])))
                .collect();
            json!({
                "programs": it.n_programs,
                "end_ns": nanos(it.end_ps),
                "busy_ns": busy,
                "dma_busy_ns": nanos(it.dma_ps),
                "collective_ns": nanos(it.collective_ps),
                "exposed_collective_ns": nanos(it.exposed_ps),
            })
        };
        json!({
            "kind": self.word(),
            "modelled_ns": nanos(self.total_ps),
            "skew_ns": nanos(self.skew_ps()),
            "scaling_efficiency": self.efficiency(),
            "mfu": self.mfu,
            "mbu": self.mbu,
            "cores": self.cores.iter().map(core).collect::<Vec<_>>(),
        })
    }
}

/// Time in which collectives are under way, and the part of it in which neither engines nor transfers work.
pub fn communication(trace: &Trace) -> (u64, u64) {
    if trace.collectives.is_empty() {
        return (0, 0);
    }
    let waits = union(
        trace
            .collectives
            .iter()
            .map(|it| (it.trigger_ps, it.end_ps))
            .collect(),
    );
    let collectives: FxHashSet<_> = trace.collectives.iter().map(|it| it.inst.index()).collect();
    let events = trace.events.iter().enumerate();
    let engines = events
        .filter(|it| !collectives.contains(&it.0))
        .map(|it| (it.1.start_ps, it.1.free_ps));
    let transfers = trace.transfers.iter().map(|it| (it.first_ps, it.last_ps));
    let work = union(engines.chain(transfers).collect());
    let length = |spans: &[(u64, u64)]| spans.iter().map(|it| it.1 - it.0).sum::<u64>();
    let mut hidden = 0;
    let mut rest = &work[..];
    for &(start, end) in &waits {
        while let [first, later @ ..] = rest
            && first.1 <= start
        {
            rest = later;
        }
        for &(from, to) in rest.iter().take_while(|it| it.0 < end) {
            hidden += to.min(end) - from.max(start);
        }
    }
    let all = length(&waits);
    (all, all - hidden)
}

/// The same time in spans that do not touch, ascending.
fn union(mut spans: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    spans.retain(|it| it.0 < it.1);
    spans.sort_unstable();
    spans.dedup_by(|next, span| {
        let touches = next.0 <= span.1;
        if touches {
            span.1 = span.1.max(next.1);
        }
        touches
    });
    spans
}

/// The timelines of all cores in Chrome's trace format: a group of tracks for each core, with one for collectives.
pub fn perfetto(lanes: &[Lane], kind: Together, target: &'static Target, sources: &Sources) -> String {
    const COLLECTIVE_TRACK: u64 = 32;
    let word = match kind {
        Together::Cores => "core",
        Together::Ranks => "rank",
    };
    let micros = |ps: u64| ps as f64 / 1e6;
    let mut events = Events::new();
    for lane in lanes {
        let program = &lane.compiled.program;
        let profile = Profile::of_trace(&lane.compiled, lane.trace.clone(), target, sources);
        (events.core, events.start_us) = (lane.core, micros(lane.start_ps));
        let title = format!("{word} {}", lane.core);
        perfetto::add(&mut events, &title, &profile, program, sources);
        if !lane.trace.collectives.is_empty() {
            events.push(json!({
                "ph": "M", "tid": COLLECTIVE_TRACK, "name": "thread_name", "args": {"name": "collectives"},
            }));
        }
        for it in &lane.trace.collectives {
            let inst = &program[it.inst];
            events.push(json!({
                "ph": "X", "tid": COLLECTIVE_TRACK, "name": inst.op.name(),
                "ts": micros(it.first_ps), "dur": micros(it.end_ps - it.first_ps),
                "args": {"line": super::place(program, sources, inst), "bytes": it.bytes},
            }));
        }
    }
    events.end()
}
