//! What one change would gain: the rules of the vendor's performance guide as detectors.
//!
//! Takes a compiled program and its profile, gives findings, the largest gain first. The gain of each is an upper bound: the
//! schedule is timed again with the cause removed and everything else as it is; other ranks of a launch are taken to do
//! the same at the same time. Runs no values and changes no program.

mod apart;
mod find;
mod pairs;
mod rename;

use crate::profile::{Profile, place};
use crate::time::{Changes, Fleet, Timed, time_changed};
use nk_compiler::Compiled;
use nk_compiler::ir::{InstId, Placement, Program, Schedule};
use nk_compiler::isa::Memory;
use nk_compiler::source::Sources;
use nk_compiler::target::{Target, Timing};
use std::collections::BTreeSet;

/// A finding.
#[derive(Clone, Debug)]
pub struct Advice {
    pub rule: Rule,
    /// What was found, with numbers.
    pub evidence: String,
    /// Where, `file:line`.
    pub places: Vec<String>,
    /// What the time would be without it, and how much less that is.
    pub without_ps: u64,
    pub gain_ps: u64,
}

/// A cause of lost time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    Reloaded,
    Spilled,
    SingleBuffered,
    BankReused,
    OneEngine,
    TinyFree,
    FewPartitions,
    Combinable,
    MovingWeights,
    Transposes,
    ShortRows,
    DmaTransposes,
    Dependent,
    TableLoads,
}

/// Each rule with its name and what to do.
const RULES: &[(Rule, &str, &str)] = &[
    (
        Rule::Reloaded,
        "loaded-again",
        "keep the tile on the chip, or move its load out of the loop",
    ),
    (
        Rule::Spilled,
        "spilled",
        "make tiles smaller, or use them sooner, so that they fit into SBUF",
    ),
    (
        Rule::SingleBuffered,
        "single-buffered",
        "make the tile inside of the loop, or take turns between two, so that the next load overlaps with compute",
    ),
    (
        Rule::BankReused,
        "psum-bank-reused",
        "make the PSUM tile inside of the loop, so that the next product goes to another bank",
    ),
    (
        Rule::OneEngine,
        "one-engine",
        "let an idle engine do some of the copies and scales",
    ),
    (
        Rule::TinyFree,
        "tiny-free-size",
        "let one instruction work on more elements of the free dimension",
    ),
    (
        Rule::FewPartitions,
        "few-partitions",
        "lay the data out so that an instruction works on all partitions",
    ),
    (
        Rule::Combinable,
        "combinable",
        "let one instruction do both steps",
    ),
    (
        Rule::MovingWeights,
        "weights-moving",
        "make the operand that stays the stationary one, and move the other in long rows",
    ),
    (
        Rule::Transposes,
        "transposes",
        "choose layouts that need no transposes, or transpose once outside",
    ),
    (
        Rule::ShortRows,
        "short-dma-rows",
        "transfer rows of at least 2 KiB, better 4",
    ),
    (
        Rule::DmaTransposes,
        "dma-transposes",
        "transpose on the PE array, or store the tensor the other way round",
    ),
    (
        Rule::Dependent,
        "dependent",
        "put independent work between an instruction and the one that needs its result",
    ),
    (
        Rule::TableLoads,
        "table-loads",
        "group activations by function, so that their tables are loaded once",
    ),
];

impl Rule {
    fn row(self) -> (&'static str, &'static str) {
        let row = RULES.iter().find(|it| it.0 == self);
        row.map(|it| (it.1, it.2)).expect("every rule has a row")
    }

    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// What to do about it.
    pub fn fix(self) -> &'static str {
        self.row().1
    }
}

/// What a detector found: how the program would be without it.
struct Found {
    rule: Rule,
    evidence: String,
    insts: Vec<InstId>,
    without: Without,
}

/// The program without a cause.
enum Without {
    Changes(Changes),
    Timing(Box<Timing>),
    /// With an own place for every version of every tile of a memory, and without some instructions.
    Apart(Memory, Changes),
}

/// Gains below so many thousandths of the time are not worth a line.
const LEAST_GAIN: u64 = 20;

fn is_worth(gain_ps: u64, total_ps: u64) -> bool {
    u128::from(gain_ps) * 1000 >= u128::from(total_ps) * u128::from(LEAST_GAIN)
}

/// Places that a finding names, and instructions among which they are looked for.
const MAX_PLACES: usize = 3;
const MAX_EXAMPLES: usize = 500;

/// The findings whose gain is worth a line, the largest first.
pub(crate) fn advise(
    compiled: &Compiled,
    profile: &Profile,
    sources: &Sources,
    fleet: &Fleet<'_>,
) -> Vec<Advice> {
    let program = &compiled.program;
    let total_ps = profile.totals.total_ps;
    let found = find::all(compiled, profile);
    // Each cause is timed on a thread of its own: none depends on another.
    let times: Vec<Option<u64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = found
            .iter()
            .map(|it| scope.spawn(|| retime(compiled, profile, &it.without, fleet)))
            .collect();
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .map(|it| it.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut all: Vec<Advice> = found
        .into_iter()
        .zip(times)
        .filter_map(|(found, without_ps)| {
            let without_ps = without_ps?;
            let gain_ps = total_ps.saturating_sub(without_ps);
            if !is_worth(gain_ps, total_ps) {
                return None;
            }
            let examples = found.insts.iter().take(MAX_EXAMPLES);
            let places: BTreeSet<String> = examples
                .map(|it| place(program, sources, &program[*it]))
                .collect();
            Some(Advice {
                rule: found.rule,
                evidence: found.evidence,
                places: places.into_iter().take(MAX_PLACES).collect(),
                without_ps,
                gain_ps,
            })
        })
        .collect();
    all.sort_by_key(|it| (std::cmp::Reverse(it.gain_ps), it.rule));
    all
}

/// The modelled time without a cause.
fn retime(compiled: &Compiled, profile: &Profile, without: &Without, fleet: &Fleet<'_>) -> Option<u64> {
    let (program, target) = (&compiled.program, profile.target);
    let total = |program: &Program,
                 placement: &Placement,
                 schedule: &Schedule,
                 target: &Target,
                 changes: &Changes| {
        let timed = Timed {
            program,
            placement,
            schedule,
        };
        let traces = time_changed(&[timed], fleet, target, changes);
        traces[0].along(&program.control(), &profile.counts).total_ps
    };
    Some(match without {
        Without::Changes(changes) => total(program, &compiled.placement, &compiled.schedule, target, changes),
        Without::Timing(timing) => {
            let target = Target {
                timing: (**timing).clone(),
                ..target.clone()
            };
            total(
                program,
                &compiled.placement,
                &compiled.schedule,
                &target,
                &Changes::default(),
            )
        }
        Without::Apart(memory, changes) => match apart::apart(program, &compiled.placement, *memory) {
            Some((program, placement, schedule)) => total(&program, &placement, &schedule, target, changes),
            None if changes.insts.is_empty() => return None,
            None => total(program, &compiled.placement, &compiled.schedule, target, changes),
        },
    })
}
