//! Instructions that do not stand as the kernel has asked for.
//!
//! Takes places and what is certainly complete when each instruction starts, gives the instructions that may start before one
//! they were to wait for, and those that passed one whose order is fixed.

use super::error::{Error, Line};
use super::past::{Pasts, Place};
use crate::ir::{InstId, Program, Schedule, Step};
use crate::isa::ENGINES;

pub fn broken(program: &Program, schedule: &Schedule, places: &[Place], pasts: &Pasts) -> Vec<Error> {
    let mut errors = Vec::new();
    let marked = program.marked();
    for (id, inst) in program.iter() {
        let after = inst.asked.mark().map_or(&[][..], |it| &program[it].after);
        for producer in after.iter().filter_map(|it| marked[it.index()]) {
            if !pasts.of(id, places[id.index()]).holds(places[producer.index()]) {
                errors.push(Error::NotBehind {
                    inst: Line::new(program, id),
                    producer: Line::new(program, producer),
                    queues: [places[id.index()].queue, places[producer.index()].queue],
                });
            }
        }
    }
    if program.insts.iter().any(|it| it.asked.is_fixed()) {
        passed(program, schedule, &mut errors);
    }
    errors
}

/// Adds the instructions that stand behind a fixed one in their queue and before it in the program, or the reverse.
fn passed(program: &Program, schedule: &Schedule, errors: &mut Vec<Error>) {
    // The last fixed instruction of the program up to each one, itself included.
    let mut floors: Vec<Option<InstId>> = Vec::with_capacity(program.insts.len());
    for (id, inst) in program.iter() {
        let last = floors.last().copied().flatten();
        floors.push(if inst.asked.is_fixed() { Some(id) } else { last });
    }
    for (steps, &(queue, _)) in schedule.queues.iter().zip(ENGINES) {
        // The last fixed instruction that something above comes after, and what that is.
        let mut passed: Option<(InstId, InstId)> = None;
        for step in steps {
            let Step::Inst(id) = *step else { continue };
            match passed {
                Some((fixed, by)) if id <= fixed => errors.push(Error::Passed {
                    inst: Line::new(program, if id == fixed { by } else { id }),
                    fixed: Line::new(program, fixed),
                    queue,
                }),
                _ => {
                    let floor = floors[id.index()].map(|it| (it, id));
                    passed = passed.max(floor);
                }
            }
        }
    }
}
