//! The faster of two orders: that of the program, and one in which engines wait less.
//!
//! Takes a compiled program, has its instructions listed anew, compiles that and times both; what is slower is left. Some
//! windows are tried, since far ahead is best where SRAM is plenty and near where it is scarce. Never changes a value:
//! the new order is proven to keep all that matters, and its schedule is verified like any other.

use crate::profile::trip_counts;
use crate::time::time;
use nk_compiler::check::Results;
use nk_compiler::place::place_seeded;
use nk_compiler::reorder::{Reordered, reorder};
use nk_compiler::target::Target;
use nk_compiler::{Compiled, complete};

/// How many others an instruction may overtake, in the order in which it is tried.
const WINDOWS: [usize; 3] = [512, 96, 24];

/// With more instructions than this one window has to do.
const MANY: usize = 200_000;

/// `is_part`: the program leaves parts of its results to other programs of its launch.
pub fn faster(compiled: Compiled, is_part: bool, place_seed: Option<u64>, target: &Target) -> Compiled {
    let program_ps = modelled_ps(&compiled, target);
    let mut other_ps = None;
    let mut best: Option<Compiled> = None;
    let n_windows = if compiled.program.insts.len() > MANY {
        1
    } else {
        WINDOWS.len()
    };
    for &window in &WINDOWS[..n_windows] {
        let program = reorder(&compiled.program, window, target);
        if program.insts == compiled.program.insts {
            continue;
        }
        let placement = place_seed.and_then(|seed| place_seeded(&program, target, seed).ok());
        let results = if is_part {
            Results::Part {
                shared: &compiled.shared,
            }
        } else {
            Results::Whole
        };
        // An order that does not fit is none.
        let Ok(stages) = complete(&program, placement, None, results, target) else {
            continue;
        };
        let other = Compiled {
            program,
            placement: stages.placement,
            first_writes: stages.first_writes,
            schedule: stages.schedule,
            unwritten: stages.unwritten,
            foreign: stages.foreign,
            shared: compiled.shared.clone(),
            inputs: compiled.inputs.clone(),
            warnings: compiled.warnings.clone(),
            printed: compiled.printed.clone(),
            ..compiled
        };
        let ps = modelled_ps(&other, target);
        if other_ps.is_none_or(|it| ps < it) {
            other_ps = Some(ps);
            best = Some(other);
        }
    }
    let reordered = Reordered { program_ps, other_ps };
    let chosen = best.filter(|_| reordered.is_taken()).unwrap_or(compiled);
    Compiled {
        reordered: Some(reordered),
        ..chosen
    }
}

fn modelled_ps(compiled: &Compiled, target: &Target) -> u64 {
    let trace = time(&compiled.program, &compiled.placement, &compiled.schedule, target);
    let control = compiled.program.control();
    let (counts, _) = trip_counts(&compiled.program, &control);
    trace.along(&control, &counts).total_ps
}
