//! Which lines of the kernel its time goes to: all of them, those of the critical path, and what queues wait for.

use super::{LineTime, Waits, add, runs};
use crate::trace::{Bound, Trace};
use nk_compiler::ir::{Control, Inst, InstId, LocId, Program};
use nk_compiler::isa::{N_ENGINES, Unit};
use nk_compiler::source::{Sources, Span};
use rustc_hash::FxHashMap;

/// Where an instruction stands that no line has made.
const NO_SOURCE: &str = "no source";

/// Where an instruction stands in the kernel's own file: where a helper is called, not inside it.
pub(crate) fn place(program: &Program, sources: &Sources, inst: &Inst) -> String {
    match inst.loc {
        Some(loc) => line_of(program, sources, loc),
        None => NO_SOURCE.to_string(),
    }
}

/// The line of a place, as `file:line`, in the kernel's own file.
pub(crate) fn line_of(program: &Program, sources: &Sources, loc: LocId) -> String {
    line(sources, program.locs.outermost(loc))
}

fn line(sources: &Sources, span: Span) -> String {
    let (line, _) = sources.line_column(span.file, span.start);
    format!("{}:{line}", sources.name_of(span.file))
}

/// What is summed over the instructions of a timeline, each as often as it runs.
pub struct Path<'a> {
    pub program: &'a Program,
    pub trace: &'a Trace,
    pub sources: &'a Sources,
    pub control: &'a Control,
    pub counts: &'a [u64],
}

impl Path<'_> {
    fn runs(&self, inst: InstId) -> u64 {
        runs(self.control, self.counts, inst)
    }

    pub fn waits(&self) -> [Waits; N_ENGINES] {
        let mut waits = [Waits::default(); N_ENGINES];
        for stall in &self.trace.stalls {
            let waits = &mut waits[stall.engine as usize];
            let sum = match stall.bound {
                Bound::Signal(by) if self.program[by].op.row().unit == Unit::Dma => &mut waits.dma_ps,
                Bound::Signal(_) => &mut waits.engine_ps,
                Bound::Dependence(_) => &mut waits.dependence_ps,
                Bound::Port(_) => &mut waits.port_ps,
                Bound::Start | Bound::Queue(_) => continue,
            };
            add(sum, stall.end_ps - stall.start_ps, self.runs(stall.inst));
        }
        waits
    }

    pub fn lines(&self) -> Vec<LineTime> {
        let transfers = self.trace.transfers.iter();
        let moving: FxHashMap<InstId, u64> = transfers
            .map(|it| (it.inst, it.last_ps.saturating_sub(it.first_ps)))
            .collect();
        let insts = (0..self.program.insts.len()).map(InstId::new);
        self.summed(insts.map(|id| {
            let event = self.trace.event(id);
            let own = event.free_ps.saturating_sub(event.start_ps);
            (id, moving.get(&id).copied().unwrap_or(own))
        }))
    }

    /// In each segment the path that ends last, followed back over what set each start. What is left of the time, queues
    /// take to meet.
    pub fn critical(&self, total_ps: u64) -> Vec<LineTime> {
        let control = self.control;
        let mut steps = Vec::new();
        for segment in 0..control.segments.len() {
            let last = control
                .insts(segment)
                .max_by_key(|it| self.trace.event(*it).end_ps);
            let Some(mut at) = last else { continue };
            let mut until_ps = self.trace.event(at).end_ps;
            let longest = steps.len() + control.segments[segment].len();
            loop {
                let event = self.trace.event(at);
                let from_ps = event.start_ps.min(until_ps);
                steps.push((at, until_ps - from_ps));
                until_ps = from_ps;
                at = match event.bound {
                    Bound::Queue(by) | Bound::Signal(by) | Bound::Dependence(by) | Bound::Port(by) => by,
                    Bound::Start => break,
                };
                if !control.segments[segment].contains(&at.index()) {
                    break;
                }
                assert!(steps.len() < longest, "what sets a start lies before it");
            }
        }
        let mut lines = self.summed(steps.into_iter());
        let known: u64 = lines.iter().fold(0, |sum, it| sum.saturating_add(it.ps));
        if known < total_ps {
            lines.push(LineTime {
                place: "where all queues meet".to_string(),
                what: "barrier",
                ps: total_ps - known,
                count: self.counts.iter().fold(0, |sum, it| sum.saturating_add(*it)),
            });
            lines.sort_by_key(|it| std::cmp::Reverse(it.ps));
        }
        lines
    }

    /// Sums by line and instruction, longest first.
    fn summed(&self, times: impl Iterator<Item = (InstId, u64)>) -> Vec<LineTime> {
        // By place first: only few of a million instructions have one of their own, and each becomes text once.
        let mut places: FxHashMap<(Option<Span>, &'static str), (u64, u64)> = FxHashMap::default();
        for (id, ps) in times {
            let inst = &self.program[id];
            let span = inst.loc.map(|it| self.program.locs.outermost(it));
            let (sum_ps, count) = places.entry((span, inst.op.name())).or_default();
            add(sum_ps, ps, self.runs(id));
            add(count, 1, self.runs(id));
        }
        let mut sums: FxHashMap<(String, &'static str), (u64, u64)> = FxHashMap::default();
        for ((span, what), (ps, n)) in places {
            let place = span.map_or(NO_SOURCE.to_string(), |it| line(self.sources, it));
            let (sum_ps, count) = sums.entry((place, what)).or_default();
            add(sum_ps, ps, 1);
            add(count, n, 1);
        }
        let mut lines: Vec<LineTime> = sums
            .into_iter()
            .map(|((place, what), (ps, count))| LineTime {
                place,
                what,
                ps,
                count,
            })
            .collect();
        lines.sort_by(|a, b| (b.ps, &a.place, a.what).cmp(&(a.ps, &b.place, b.what)));
        lines
    }
}
