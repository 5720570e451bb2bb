//! The schedule verifier: a proof, from the schedule alone, that it does what the program says.
//!
//! Takes a placed program and a schedule, gives the rules that the schedule breaks:
//! every instruction stands in one queue that may hold it; the signals of a pair of queues count 1, 2, 3, … and each wait
//! has its signal; all queues have the barriers and loops of the program, and every instruction stands between the right
//! ones; the queues drain when they are run; what the kernel has asked of the order
//! holds; and of two instructions that touch a common byte, one writing, the
//! one that comes first in the program is complete before the other one starts. Shares geometry with the scheduler, not
//! its idea of what has to wait. That buffers which live at the same time lie apart is the placement's proof.

mod error;
mod asked;
mod older;
mod past;
mod races;

pub use error::{Blocked, Error, Line};

use super::slots::Slots;
use crate::ir::{ControlStep, InstId, Placement, Program, Schedule, Step};
use crate::isa::{ENGINES, Engine, N_ENGINES, Unit};
use past::{Moment, Past, Pasts, Place, Runner};

/// Every rule that a schedule breaks; none for a correct one.
pub fn verify_schedule(program: &Program, placement: &Placement, schedule: &Schedule) -> Vec<Error> {
    verify_over(program, placement, schedule, &Slots::new(program, placement))
}

/// [`verify_schedule`] with the views that can conflict.
pub fn verify_over(
    program: &Program,
    placement: &Placement,
    schedule: &Schedule,
    slots: &Slots,
) -> Vec<Error> {
    let mut errors = Vec::new();
    let places = places(program, schedule, &mut errors);
    check_semaphores(schedule, &mut errors);
    if !errors.is_empty() {
        return errors;
    }
    match run(program, schedule, &places) {
        Err(deadlock) => vec![deadlock],
        Ok(pasts) => {
            let mut errors = asked::broken(program, schedule, &places, &pasts);
            errors.extend(races::races(program, placement, schedule, slots, &places, &pasts));
            errors
        }
    }
}

/// The place of every instruction.
fn places(program: &Program, schedule: &Schedule, errors: &mut Vec<Error>) -> Vec<Place> {
    let mut places: Vec<Option<Place>> = vec![None; program.insts.len()];
    let control = program.control().flatten();
    let meets: Vec<Step> = control.iter().filter_map(ControlStep::meet).collect();
    let n_meets = meets_before(program, &control);
    for (steps, &(queue, _)) in schedule.queues.iter().zip(ENGINES) {
        let found: Vec<Step> = steps.iter().copied().filter(|it| it.is_barrier()).collect();
        if found != meets {
            errors.push(Error::Barriers {
                queue,
                expected: meets.len(),
                found: found.len(),
            });
            continue;
        }
        let (mut position, mut n_passed) = (0, 0);
        for step in steps {
            n_passed += usize::from(step.is_barrier());
            let Step::Inst(id) = *step else { continue };
            let Some(place) = places.get_mut(id.index()) else {
                errors.push(Error::UnknownInst {
                    queue,
                    number: id.index(),
                    n_insts: program.insts.len(),
                });
                continue;
            };
            let inst = &program[id];
            if n_meets[id.index()] != n_passed {
                errors.push(Error::WrongSegment {
                    inst: Line::new(program, id),
                    queue,
                });
            }
            let row = inst.op.row();
            let is_transfer = row.unit == Unit::Dma;
            let is_legal = match is_transfer {
                true => row.engines.contains(&queue),
                false => inst.engine == queue,
            };
            if !is_legal {
                errors.push(Error::WrongQueue {
                    inst: Line::new(program, id),
                    queue,
                    legal: if is_transfer {
                        row.engines.to_vec()
                    } else {
                        vec![inst.engine]
                    },
                });
            }
            let here = Place {
                queue,
                position,
                is_transfer,
            };
            position += 1;
            if let Some(first) = place.replace(here) {
                errors.push(Error::ScheduledTwice {
                    inst: Line::new(program, id),
                    queues: [first.queue, queue],
                });
            }
        }
    }
    let mut all = Vec::with_capacity(places.len());
    for (idx, place) in places.into_iter().enumerate() {
        match place {
            Some(place) => all.push(place),
            None => errors.push(Error::NotScheduled {
                inst: Line::new(program, InstId::new(idx)),
            }),
        }
    }
    all
}

/// How many barriers stand before each instruction.
fn meets_before(program: &Program, control: &[ControlStep]) -> Vec<usize> {
    let mut before = vec![0; program.insts.len()];
    let mut n_meets = 0;
    for step in control {
        match step {
            ControlStep::Segment(range) => before[range.clone()].fill(n_meets),
            ControlStep::Meet(_) => n_meets += 1,
        }
    }
    before
}

/// A number for each ordered pair of queues, the sender first.
type Pairs = [[u32; N_ENGINES]; N_ENGINES];

fn check_semaphores(schedule: &Schedule, errors: &mut Vec<Error>) {
    // Counts start anew behind every barrier.
    let segments = schedule
        .queues
        .each_ref()
        .map(|it| it.split(|it| it.is_barrier()).collect::<Vec<_>>());
    for segment in 0..segments[0].len() {
        check_signals(&segments.each_ref().map(|it| it[segment]), errors);
    }
}

/// [`check_semaphores`] between two barriers.
fn check_signals(queues: &[&[Step]; N_ENGINES], errors: &mut Vec<Error>) {
    let mut n_signals: Pairs = Default::default();
    for (steps, &(from, _)) in queues.iter().zip(ENGINES) {
        for step in *steps {
            let Step::Signal { to, count } = *step else {
                continue;
            };
            let n = &mut n_signals[from as usize][to as usize];
            *n += 1;
            if count != *n {
                errors.push(Error::SignalCount {
                    from,
                    to,
                    expected: *n,
                    found: count,
                });
            }
        }
    }
    for (steps, &(queue, _)) in queues.iter().zip(ENGINES) {
        for step in *steps {
            let Step::Wait { from, count } = *step else {
                continue;
            };
            let n_signals = n_signals[from as usize][queue as usize];
            if count > n_signals {
                errors.push(Error::WaitWithoutSignal {
                    queue,
                    from,
                    count,
                    n_signals,
                });
            }
        }
    }
}

/// For each ordered pair of queues, the sender first, when its signals were given.
type Sent = [[Vec<Moment>; N_ENGINES]; N_ENGINES];

/// Runs the queues and returns, for every instruction, what is certainly complete when it starts.
fn run(program: &Program, schedule: &Schedule, places: &[Place]) -> Result<Pasts, Error> {
    let mut pasts = Pasts::new(places);
    let mut runners = [Runner::default(); N_ENGINES];
    let mut next = [0; N_ENGINES];
    // When each signal was given, `sent[from][to]`.
    let mut sent: Sent = Default::default();
    loop {
        let mut has_moved = false;
        for (queue, steps) in schedule.queues.iter().enumerate() {
            while let Some(step) = steps.get(next[queue]) {
                match *step {
                    Step::Inst(id) => {
                        let now = runners[queue].now(&mut pasts);
                        pasts.start(id, now);
                        runners[queue].position += 1;
                    }
                    Step::Signal { to, .. } => {
                        sent[queue][to as usize].push(runners[queue].now(&mut pasts));
                    }
                    Step::Wait { from, count } => {
                        // Any count below one is reached from the start.
                        let signals = &sent[from as usize][queue];
                        if signals.len() < count as usize {
                            break;
                        }
                        if let Some(idx) = (count as usize).checked_sub(1) {
                            runners[queue].join(&pasts.told(from as usize, signals[idx]));
                        }
                    }
                    Step::Barrier | Step::Loop(_) | Step::End => break,
                }
                next[queue] += 1;
                has_moved = true;
            }
        }
        if has_moved {
            continue;
        }
        let at_barrier =
            |(steps, next): (&Vec<Step>, usize)| steps.get(next).is_some_and(|it| it.is_barrier());
        if !schedule.queues.iter().zip(next).all(at_barrier) {
            break;
        }
        let mut all = Past::default();
        for queue in 0..N_ENGINES {
            all.compute[queue] = runners[queue].position;
            all.transfers[queue] = runners[queue].position;
            next[queue] += 1;
        }
        runners.iter_mut().for_each(|it| it.join(&all));
        sent = Default::default();
    }
    let is_drained = schedule
        .queues
        .iter()
        .zip(next)
        .all(|(steps, next)| next == steps.len());
    if is_drained {
        Ok(pasts)
    } else {
        Err(deadlock(program, schedule, next, &sent))
    }
}

/// The ring of queues that wait for each other: every blocked queue waits for a blocked one, as each wait has its signal.
fn deadlock(program: &Program, schedule: &Schedule, next: [usize; N_ENGINES], sent: &Sent) -> Error {
    let blocked = |queue: Engine| {
        let steps = &schedule.queues[queue as usize][next[queue as usize]..];
        let Some(&Step::Wait { from, count }) = steps.first() else {
            unreachable!("a queue that does not move stands at a wait");
        };
        Blocked {
            queue,
            from,
            count,
            signalled: sent[from as usize][queue as usize].len() as u32,
            next: steps.iter().find_map(|it| match it {
                Step::Inst(id) => Some(Line::new(program, *id)),
                _ => None,
            }),
        }
    };
    // Queues at a barrier have given all signals of their segment: nobody waits for them.
    let is_blocked = |it: &&(Engine, &str)| {
        let step = schedule.queues[it.0 as usize].get(next[it.0 as usize]);
        matches!(step, Some(Step::Wait { .. }))
    };
    let (mut at, _) = *ENGINES
        .iter()
        .find(is_blocked)
        .expect("some queue has not drained");
    // After as many steps as there are queues the walk is in the ring.
    for _ in 0..N_ENGINES {
        at = blocked(at).from;
    }
    let mut ring = vec![blocked(at)];
    while let Some(last) = ring.last().filter(|it| it.from != at) {
        ring.push(blocked(last.from));
    }
    Error::Deadlock { ring }
}
