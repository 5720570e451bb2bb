//! How many semaphores a schedule takes.
//!
//! Takes a schedule, counts the counters that it needs on hardware and holds them against what a core has. Never asks whether
//! they are used rightly: that is the verifier's proof.

use super::verify::Error;
use crate::ir::{Program, Schedule, Step};
use crate::isa::{N_ENGINES, Unit};
use crate::target::Target;

/// The semaphores of a schedule: one for each pair of queues of which one signals the other, one for each queue whose
/// transfers count it up as they end, and one for each queue that meets the others at barriers.
pub fn semaphores(program: &Program, schedule: &Schedule) -> u32 {
    let mut n = 0;
    for steps in &schedule.queues {
        let mut signals = [false; N_ENGINES];
        let (mut has_transfers, mut meets) = (false, false);
        for step in steps {
            match *step {
                Step::Inst(id) => has_transfers |= program[id].op.row().unit == Unit::Dma,
                Step::Signal { to, .. } => signals[to as usize] = true,
                Step::Barrier | Step::Loop(_) | Step::End => meets = true,
                Step::Wait { .. } => {}
            }
        }
        let n_pairs = signals.iter().filter(|it| **it).count() as u32;
        n += n_pairs + u32::from(has_transfers) + u32::from(meets);
    }
    n
}

/// The error of a schedule that needs more semaphores than a core has.
pub fn check_semaphores(program: &Program, schedule: &Schedule, target: &Target) -> Vec<Error> {
    let (needed, limit) = (semaphores(program, schedule), target.semaphores);
    if needed > limit {
        vec![Error::Semaphores { needed, limit }]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Report;
    use crate::place::place;
    use crate::schedule::schedule;
    use crate::source::Sources;
    use crate::target::TARGETS;
    use crate::text;

    const LOAD_ADD_STORE: &str = "
        kernel %k for trainium1
        in %h: f32[128, 4] @ hbm
        out %o: f32[128, 4] @ hbm
        buf %x: f32[128, 4] @ sbuf
        body {
          %x <- dma_copy %h
          %x <- tensor_scalar %x, op0=add, operand0=1.0
          %o <- dma_copy %x
        }";

    #[test]
    fn a_schedule_beyond_the_semaphores_of_a_core_is_an_error() {
        let mut sources = Sources::new();
        let file = sources.add("k.nir", LOAD_ADD_STORE);
        let program = text::parse(&sources, file).expect("the text is correct").program;
        let target = TARGETS[0].clone();
        let placement = place(&program, &target).expect("it fits");
        let schedule = schedule(&program, &placement);
        // sync to vector, vector to gpsimd, and the transfers of sync and of gpsimd.
        assert_eq!(semaphores(&program, &schedule), 4);
        assert!(check_semaphores(&program, &schedule, &target).is_empty());
        let small = Target {
            semaphores: 3,
            ..target
        };
        let errors = check_semaphores(&program, &schedule, &small);
        let report = errors[0].report();
        assert_eq!(report.code, "schedule-semaphores");
        assert_eq!(report.message, "the schedule needs 4 semaphores; a core has 3");
    }
}
