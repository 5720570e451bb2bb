//! Accesses of different programs to one byte of shared HBM that nothing orders, one of them a write.
//!
//! Takes the accesses of every program, static ones from its instructions and dynamic ones from its run, gives races
//! with both places. Programs that do not ask which one they are write the same values, which is a warning when no tensor
//! is both read and written. Programs of a launch are unordered, even on one core; only a `core_barrier` orders what they do to the
//! tensor it names. Disjoint tiles never meet: accesses are compared byte by byte.

use super::Key;
use crate::check::ForeignRead;
use crate::diagnostic::{Diagnostic, Report};
use crate::footprint::Bytes;
use crate::ir::{Inst, Program, ViewId};
use crate::isa::{Access, Arg, Exchange, Op};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The accesses of all programs of a launch so far.
#[derive(Debug, Default)]
pub struct Races {
    ids: FxHashMap<Key, usize>,
    names: Vec<String>,
    programs: Vec<Accesses>,
    /// Whether some program draws random numbers: then even equal programs write different values.
    draws: bool,
}

/// What one program does to shared tensors.
#[derive(Debug)]
struct Accesses {
    coordinates: Vec<u32>,
    sites: Vec<Site>,
    /// Reads of what the program has not written itself.
    foreign: Vec<ForeignRead>,
}

/// Bytes of a shared tensor that one instruction touches.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    tensor: usize,
    /// Barriers of the tensor that the program has passed.
    phase: u32,
    bytes: Bytes,
    writes: bool,
    span: Option<Span>,
}

/// Two accesses that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Race {
    tensor: String,
    start: u64,
    end: u64,
    first: Side,
    second: Side,
    /// Pairs of programs that race at the same two places.
    more: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Side {
    coordinates: Vec<u32>,
    writes: bool,
    span: Option<Span>,
}

/// Whether an instruction is a barrier of the cores.
fn is_barrier(inst: &Inst) -> bool {
    inst.op == Op::Collective && inst.args.contains(&Arg::Exchange(Exchange::Barrier))
}

impl Races {
    /// Adds a program with the keys of its buffers. Dynamic accesses are left to [`Races::touch`].
    pub fn add(
        &mut self,
        program: &Program,
        keys: &[Option<Key>],
        coordinates: &[u32],
        foreign: &[ForeignRead],
    ) {
        let tensors: Vec<Option<usize>> = keys
            .iter()
            .zip(&program.buffers)
            .map(|(key, buffer)| Some(self.tensor(key.as_ref()?, &buffer.name.to_string())))
            .collect();
        let is_draw = |it: &Inst| matches!(it.op, Op::Rng | Op::Dropout);
        self.draws |= program.insts.iter().any(is_draw);
        let mut phases = vec![0u32; tensors.len()];
        let mut known: FxHashSet<(ViewId, u32, bool)> = FxHashSet::default();
        let mut sites = Vec::new();
        for inst in &program.insts {
            for (access, id) in program.touches(inst) {
                let view = &program[id];
                let buffer = view.buffer.index();
                let Some(tensor) = tensors[buffer] else { continue };
                if is_barrier(inst) {
                    phases[buffer] += 1;
                    continue;
                }
                if view.dynamic.is_some() {
                    continue;
                }
                let Some(bytes) = Bytes::of(view, program[view.buffer].memory) else {
                    continue;
                };
                for writes in [false, true] {
                    let does = if writes {
                        access != Access::Read
                    } else {
                        access != Access::Write
                    };
                    if does && known.insert((id, phases[buffer], writes)) {
                        let (phase, span) = (phases[buffer], program.span(inst.loc));
                        sites.push(Site {
                            tensor,
                            phase,
                            bytes,
                            writes,
                            span,
                        });
                    }
                }
            }
        }
        self.programs.push(Accesses {
            coordinates: coordinates.to_vec(),
            sites,
            foreign: foreign.to_vec(),
        });
    }

    /// Adds what a dynamic access of a program has touched when it ran. Between barriers of its tensor a program has no
    /// dynamic accesses that the barrier would order, so these count as done before the first.
    pub fn touch(&mut self, program: usize, key: &Key, bytes: Bytes, writes: bool, span: Option<Span>) {
        if let Some(&tensor) = self.ids.get(key) {
            let phase = 0;
            self.programs[program].sites.push(Site {
                tensor,
                phase,
                bytes,
                writes,
                span,
            });
        }
    }

    fn tensor(&mut self, key: &Key, name: &str) -> usize {
        let next = self.names.len();
        let id = *self.ids.entry(key.clone()).or_insert(next);
        if id == next {
            self.names.push(name.trim_start_matches('%').to_string());
        }
        id
    }

    /// Everything that is wrong or strange, each pair of places once. `is_one` says that all programs are one: they do not ask
    /// which of the launch they are.
    pub fn reports(&self, is_one: bool) -> Vec<Diagnostic> {
        let races = self.races();
        if !races.is_empty() {
            let report: fn(&Race, usize) -> Diagnostic = match is_one && self.writes_agree() {
                true => Race::repeated,
                false => |it, _| it.report(),
            };
            return races.iter().map(|it| report(it, self.programs.len())).collect();
        }
        // A read of what another program writes at the same time is a race; of what nobody writes it is a mistake of its own.
        let mut reports: Vec<Diagnostic> = Vec::new();
        for read in self.programs.iter().flat_map(|it| &it.foreign) {
            let report = read.error.report();
            if reports
                .iter()
                .all(|it| it.primary_span() != report.primary_span())
            {
                reports.push(report);
            }
        }
        reports
    }

    /// Whether equal programs give every byte the same value, in whatever order they run.
    fn writes_agree(&self) -> bool {
        let tensors = |writes: bool| -> FxHashSet<usize> {
            let sites = self.programs.iter().flat_map(|it| &it.sites);
            sites
                .filter(|it| it.writes == writes)
                .map(|it| it.tensor)
                .collect()
        };
        !self.draws && tensors(true).is_disjoint(&tensors(false))
    }

    fn races(&self) -> Vec<Race> {
        let mut races: Vec<Race> = Vec::new();
        let mut before: FxHashMap<(usize, u32), Touched> = FxHashMap::default();
        for (number, program) in self.programs.iter().enumerate() {
            let mut now: BTreeMap<(usize, u32), ReadWritten> = BTreeMap::new();
            for site in &program.sites {
                let runs = &mut now.entry((site.tensor, site.phase)).or_default()[usize::from(site.writes)];
                site.bytes.for_each_run(|start, end| runs.push((start, end)));
            }
            for (at, [reads, writes]) in now {
                let (reads, writes) = (merged(reads), merged(writes));
                let touched = before.entry(at).or_default();
                let conflicts = writes
                    .iter()
                    .filter_map(|&run| {
                        Some((
                            touched.written.meet(run).or_else(|| touched.read.meet(run))?,
                            true,
                        ))
                    })
                    .chain(
                        reads
                            .iter()
                            .filter_map(|&run| Some((touched.written.meet(run)?, false))),
                    );
                for ((start, end), writes) in conflicts {
                    self.report(number, at, (start, end), writes, &mut races);
                }
                writes.into_iter().for_each(|it| touched.written.insert(it));
                reads.into_iter().for_each(|it| touched.read.insert(it));
            }
        }
        races
    }

    /// Finds the instructions that meet at a byte, in a program and one before it.
    fn report(
        &self,
        number: usize,
        at: (usize, u32),
        bytes: (u64, u64),
        writes: bool,
        races: &mut Vec<Race>,
    ) {
        let (start, end) = bytes;
        let touches = |it: &&Site| {
            let wanted = Bytes::dense(start, start + 1);
            (it.tensor, it.phase) == at && it.bytes.common(&wanted).is_some()
        };
        let side = |program: &Accesses, site: &Site| Side {
            coordinates: program.coordinates.clone(),
            writes: site.writes,
            span: site.span,
        };
        let second = &self.programs[number];
        let second_site = second.sites.iter().filter(touches).find(|it| it.writes == writes);
        let others = self.programs[..number].iter();
        let first = others
            .flat_map(|program| {
                program
                    .sites
                    .iter()
                    .filter(touches)
                    .map(move |site| (program, site))
            })
            .find(|it| it.1.writes || writes);
        let (Some(second_site), Some((first, first_site))) = (second_site, first) else {
            return;
        };
        let (first, second) = (side(first, first_site), side(second, second_site));
        let places = |a: &Side, b: &Side| (a.span, a.writes, b.span, b.writes);
        let known = races.iter_mut().find(|it| {
            it.tensor == self.names[at.0] && places(&it.first, &it.second) == places(&first, &second)
        });
        match known {
            Some(race)
                if race.first.coordinates == first.coordinates
                    && race.second.coordinates == second.coordinates => {}
            Some(race) => race.more += 1,
            None => races.push(Race {
                tensor: self.names[at.0].clone(),
                start,
                end,
                first,
                second,
                more: 0,
            }),
        }
    }
}

/// The bytes that a program reads, and those that it writes.
type ReadWritten = [Vec<(u64, u64)>; 2];

/// Ranges that touch are one; ascending.
fn merged(mut runs: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    runs.sort_unstable();
    runs.dedup_by(|next, run| {
        let touches = next.0 <= run.1;
        if touches {
            run.1 = run.1.max(next.1);
        }
        touches
    });
    runs
}

/// What earlier programs have done to a tensor.
#[derive(Debug, Default)]
struct Touched {
    written: Ranges,
    read: Ranges,
}

/// Disjoint ranges by their start.
#[derive(Debug, Default)]
struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// The first bytes that a range has in common with these.
    fn meet(&self, (start, end): (u64, u64)) -> Option<(u64, u64)> {
        let before = self.0.range(..=start).next_back().filter(|it| *it.1 > start);
        let (&from, &to) = before.or_else(|| self.0.range(start..end).next())?;
        Some((from.max(start), to.min(end)))
    }

    fn insert(&mut self, (mut start, mut end): (u64, u64)) {
        if let Some((&from, &to)) = self.0.range(..=start).next_back()
            && to >= start
        {
            start = from;
            end = end.max(to);
        }
        while let Some((&from, &to)) = self.0.range(start..=end).next() {
            end = end.max(to);
            self.0.remove(&from);
        }
        self.0.insert(start, end);
    }
}

/// `(0, 1)` as NKI writes the coordinates of a program; one number stands alone.
fn coordinates(at: &[u32]) -> String {
    match at {
        [one] => one.to_string(),
        at => {
            let numbers: Vec<String> = at.iter().map(u32::to_string).collect();
            format!("({})", numbers.join(", "))
        }
    }
}

impl Race {
    /// The warning for programs that write the same values.
    fn repeated(&self, n_programs: usize) -> Diagnostic {
        let message = format!(
            "all {n_programs} programs of the launch write the same to `{}`",
            self.tensor
        );
        let mut diagnostic = Diagnostic::warning("same-programs", message);
        if let Some(span) = self.second.span {
            diagnostic = diagnostic.at(span, "each of them writes here");
        }
        diagnostic
            .note("the kernel does not ask nl.program_id, so every program does all of the work")
            .help("divide the work by nl.program_id, or launch the kernel without a grid")
    }
}

impl Report for Race {
    fn report(&self) -> Diagnostic {
        let (a, b) = (
            coordinates(&self.first.coordinates),
            coordinates(&self.second.coordinates),
        );
        let does = |it: &Side| if it.writes { "writes" } else { "reads" };
        let what = match (self.first.writes, self.second.writes) {
            (true, true) => format!("programs {a} and {b} both write"),
            (true, false) => format!("program {a} writes and program {b} reads"),
            (false, _) => format!("program {a} reads and program {b} writes"),
        };
        let message = format!(
            "{what} bytes {} to {} of `{}`, and nothing orders them",
            self.start,
            self.end - 1,
            self.tensor
        );
        let mut diagnostic = Diagnostic::error("data-race", message);
        match (self.first.span, self.second.span) {
            (Some(first), Some(second)) if first == second => {
                let label = format!(
                    "program {a} {} here, and program {b} {}",
                    does(&self.first),
                    does(&self.second)
                );
                diagnostic = diagnostic.at(second, label);
            }
            (first, second) => {
                if let Some(span) = second {
                    diagnostic = diagnostic.at(span, format!("program {b} {} here", does(&self.second)));
                }
                if let Some(span) = first {
                    diagnostic = diagnostic.because(span, format!("program {a} {} here", does(&self.first)));
                }
            }
        }
        if self.more > 0 {
            let plural = if self.more == 1 { "" } else { "s" };
            diagnostic = diagnostic.note(format!(
                "and so do {} more pair{plural} of programs here",
                self.more
            ));
        }
        diagnostic
            .note("the programs of a launch are unordered, even on one core")
            .help("give each program bytes of its own by nl.program_id, or order them with nisa.core_barrier in a launch on nl.nc(2)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_meet_where_they_overlap() {
        let mut ranges = Ranges::default();
        [(10, 20), (30, 40), (20, 25)]
            .into_iter()
            .for_each(|it| ranges.insert(it));
        assert_eq!(ranges.0.len(), 2);
        assert_eq!(ranges.meet((25, 30)), None);
        assert_eq!(ranges.meet((24, 31)), Some((24, 25)));
        assert_eq!(ranges.meet((0, 11)), Some((10, 11)));
        ranges.insert((0, 100));
        assert_eq!(ranges.meet((50, 60)), Some((50, 60)));
    }
}
