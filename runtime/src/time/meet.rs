//! Several cores in one timeline: those of a launch that wait for each other.
//!
//! Takes scheduled programs, one for each rank, gives a trace each. Cores are run by the clock, so that a core is never
//! ahead of a collective that it waits for: the earliest event of all cores comes first. Each core's DMA may use its half
//! of the chip's HBM bandwidth, whatever the other one does (`timing.md` §4.3: HBM is two stacks, 410 GB/s for each core), so two
//! cores together never exceed the chip's. Never looks into a core's queues.

use super::change::Changes;
use super::collective::{Exchanged, Fleet};
use super::facts::Views;
use super::queue::World;
use super::{Arrival, Core};
use crate::trace::{Trace, Transfer};
use nk_compiler::ir::{Placement, Program, Schedule};
use nk_compiler::target::Target;
use rustc_hash::FxHashMap;

/// A program with what the model reads of it.
#[derive(Clone, Copy, Debug)]
pub struct Timed<'a> {
    pub program: &'a Program,
    pub placement: &'a Placement,
    pub schedule: &'a Schedule,
}

/// The cores of a launch while the model runs.
struct Cores<'a> {
    cores: Vec<Core<'a>>,
    fleet: &'a Fleet<'a>,
    /// Those who are there, by the members of a group.
    meetings: FxHashMap<Vec<u32>, Vec<(usize, Arrival)>>,
    /// Until when the links of each rank are busy.
    busy_ps: Vec<u64>,
}

/// Runs the model over programs that run together, one on each rank.
pub fn time_together(programs: &[Timed<'_>], fleet: &Fleet<'_>, target: &Target) -> Vec<Trace> {
    time_changed(programs, fleet, target, &Changes::default())
}

/// The same, with some instructions taking another time than they do.
pub fn time_changed(
    programs: &[Timed<'_>],
    fleet: &Fleet<'_>,
    target: &Target,
    changes: &Changes,
) -> Vec<Trace> {
    let is_same = |it: &Timed| std::ptr::eq(it.program, programs[0].program);
    if programs.len() > 1 && programs.iter().all(is_same) {
        // Ranks that do the same are always at the same place.
        let traces = time_changed(&programs[..1], fleet, target, changes);
        return programs.iter().flat_map(|_| traces.iter().cloned()).collect();
    }
    let views: Vec<Views> = programs
        .iter()
        .map(|it| Views::of(it.program, it.placement))
        .collect();
    let cores = programs.iter().zip(&views).map(|(it, views)| {
        let world = World {
            program: it.program,
            views,
            target,
            changes,
        };
        Core::new(world, it.schedule)
    });
    let mut cores = Cores {
        cores: cores.collect(),
        fleet,
        meetings: FxHashMap::default(),
        busy_ps: vec![0; programs.len()],
    };
    cores.run();
    cores.cores.into_iter().map(Core::finish).collect()
}

impl Cores<'_> {
    fn run(&mut self) {
        if self.cores.len() == 1 {
            return self.run_alone();
        }
        let mut next: Vec<Option<u64>> = self.cores.iter().map(Core::next_ps).collect();
        loop {
            let times = next.iter().enumerate().filter_map(|(at, it)| Some(((*it)?, at)));
            let Some((_, at)) = times.min() else {
                // Nobody can go on: whoever waits for ranks that never come is taken to find them there.
                if self.release() {
                    next = self.cores.iter().map(Core::next_ps).collect();
                    continue;
                }
                return;
            };
            self.cores[at].step();
            let mut has_met = false;
            while let Some(arrival) = self.cores[at].arrived.pop() {
                has_met |= self.arrive(at, arrival);
            }
            if has_met {
                next = self.cores.iter().map(Core::next_ps).collect();
            } else {
                next[at] = self.cores[at].next_ps();
            }
        }
    }

    /// One core needs no look at what comes next on others.
    fn run_alone(&mut self) {
        while self.cores[0].step() || self.release() {
            while let Some(arrival) = self.cores[0].arrived.pop() {
                self.arrive(0, arrival);
            }
        }
    }

    /// Adds a rank to its group's meeting; says whether that was the last one.
    fn arrive(&mut self, at: usize, arrival: Arrival) -> bool {
        let exchanged = Exchanged::of(self.cores[at].world.program, arrival.inst);
        let group = group_of(&exchanged, at as u32);
        let there = self.meetings.entry(group.clone()).or_default();
        there.push((at, arrival));
        if there.len() < group.len() {
            return false;
        }
        let there = self.meetings.remove(&group).unwrap_or_default();
        self.complete(&there, &exchanged, &group);
        true
    }

    fn complete(&mut self, there: &[(usize, Arrival)], exchanged: &Exchanged, group: &[u32]) {
        let length = self.fleet.length(exchanged, group);
        let begins = there.iter().map(|(at, it)| it.trigger_ps.max(self.busy_ps[*at]));
        let begin_ps = begins.max().unwrap_or(0);
        for &(at, arrival) in there {
            self.busy_ps[at] = begin_ps + length.data_ps;
            let program = self.cores[at].world.program;
            let end_ps = begin_ps + length.total_ps;
            let bytes = program.accesses(&program[arrival.inst]);
            let bytes = bytes.map(|it| it.1.count() * u64::from(it.1.dtype.size())).max();
            let transfer = Transfer {
                inst: arrival.inst,
                trigger_ps: arrival.trigger_ps,
                first_ps: begin_ps,
                last_ps: end_ps,
                end_ps,
                bytes: bytes.unwrap_or(0),
            };
            self.cores[at].complete(arrival, transfer);
        }
    }

    /// Lets those who wait go on as if all were there.
    fn release(&mut self) -> bool {
        let first = |it: &Vec<(usize, Arrival)>| it.iter().map(|it| (it.1.trigger_ps, it.0)).min();
        let earliest = self.meetings.iter().min_by_key(|it| first(it.1));
        let Some(group) = earliest.map(|it| it.0.clone()) else {
            return false;
        };
        let there = self.meetings.remove(&group).unwrap_or_default();
        let (at, arrival) = there[0];
        let exchanged = Exchanged::of(self.cores[at].world.program, arrival.inst);
        self.complete(&there, &exchanged, &group);
        true
    }
}

/// The members of a rank's group, in its order; the rank alone when it is in none.
fn group_of(exchanged: &Exchanged, rank: u32) -> Vec<u32> {
    let group = exchanged.groups.iter().find(|it| it.contains(&rank));
    group.cloned().unwrap_or_else(|| vec![rank])
}
