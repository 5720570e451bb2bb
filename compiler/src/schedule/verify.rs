//! The schedule verifier: a proof, from the schedule alone, that it does what the program says.
//!
//! Takes a placed program and a schedule, gives the rules that the schedule breaks:
//! every instruction stands in one queue that may hold it; the signals of a pair of queues count 1, 2, 3, … and each wait
//! has its signal; the queues drain when they are run; and of two instructions that touch a common byte, one writing, the
//! one that comes first in the program is complete before the other one starts. Shares geometry with the scheduler, not
//! its idea of what has to wait.

mod error;
mod history;

pub use error::{Blocked, Error, Line};

use super::owners::Owners;
use crate::footprint::Footprint;
use crate::ir::{BufferId, InstId, Placement, Program, Region, Schedule, Step};
use crate::isa::{self, ENGINES, Engine, N_ENGINES, Unit};
use history::{Access, History, Place, Rows};

/// So many races are reported; one mistake in a loop makes thousands.
const MAX_RACES: usize = 20;

/// Every rule that a schedule breaks; none for a correct one.
pub fn verify_schedule(program: &Program, placement: &Placement, schedule: &Schedule) -> Vec<Error> {
    let mut errors = Vec::new();
    let places = places(program, schedule, &mut errors);
    check_semaphores(schedule, &mut errors);
    if !errors.is_empty() {
        return errors;
    }
    match run(program, schedule) {
        Err(deadlock) => vec![deadlock],
        Ok(pasts) => races(program, placement, &places, &pasts),
    }
}

/// The place of every instruction.
fn places(program: &Program, schedule: &Schedule, errors: &mut Vec<Error>) -> Vec<Place> {
    let mut places: Vec<Option<Place>> = vec![None; program.insts.len()];
    for (steps, &(queue, _)) in schedule.queues.iter().zip(ENGINES) {
        let mut position = 0;
        for step in steps {
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

/// A number for each ordered pair of queues, the sender first.
type Pairs = [[u32; N_ENGINES]; N_ENGINES];

fn check_semaphores(schedule: &Schedule, errors: &mut Vec<Error>) {
    let mut n_signals: Pairs = Default::default();
    for (steps, &(from, _)) in schedule.queues.iter().zip(ENGINES) {
        for step in steps {
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
    for (steps, &(queue, _)) in schedule.queues.iter().zip(ENGINES) {
        for step in steps {
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

/// What is complete at some point, for each queue: so many of its instructions, transfers not counted, and all
/// transfers among so many of its instructions.
#[derive(Clone, Copy, Default)]
struct Past {
    compute: [u32; N_ENGINES],
    transfers: [u32; N_ENGINES],
}

impl Past {
    fn join(&mut self, other: &Past) {
        for queue in 0..N_ENGINES {
            self.compute[queue] = self.compute[queue].max(other.compute[queue]);
            self.transfers[queue] = self.transfers[queue].max(other.transfers[queue]);
        }
    }

    fn holds(&self, place: Place) -> bool {
        let queue = place.queue as usize;
        let n_complete = if place.is_transfer {
            self.transfers[queue]
        } else {
            self.compute[queue]
        };
        place.position < n_complete
    }
}

/// Runs the queues and returns, for every instruction, what is certainly complete when it starts.
fn run(program: &Program, schedule: &Schedule) -> Result<Vec<Past>, Error> {
    let mut pasts = vec![Past::default(); program.insts.len()];
    let mut now = [Past::default(); N_ENGINES];
    let mut next = [0; N_ENGINES];
    // What each signal tells, `sent[from][to]`.
    let mut sent: [[Vec<Past>; N_ENGINES]; N_ENGINES] = Default::default();
    loop {
        let mut has_moved = false;
        for (queue, steps) in schedule.queues.iter().enumerate() {
            while let Some(step) = steps.get(next[queue]) {
                match *step {
                    Step::Inst(id) => {
                        pasts[id.index()] = now[queue];
                        now[queue].compute[queue] += 1;
                    }
                    Step::Signal { to, .. } => {
                        // It counts when the transfers above it are complete too.
                        let mut told = now[queue];
                        told.transfers[queue] = told.compute[queue];
                        sent[queue][to as usize].push(told);
                    }
                    Step::Wait { from, count } => {
                        // Any count below one is reached from the start.
                        let signals = &sent[from as usize][queue];
                        if signals.len() < count as usize {
                            break;
                        }
                        if let Some(idx) = (count as usize).checked_sub(1) {
                            now[queue].join(&signals[idx]);
                        }
                    }
                }
                next[queue] += 1;
                has_moved = true;
            }
        }
        if !has_moved {
            break;
        }
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
fn deadlock(
    program: &Program,
    schedule: &Schedule,
    next: [usize; N_ENGINES],
    sent: &[[Vec<Past>; N_ENGINES]; N_ENGINES],
) -> Error {
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
                Step::Wait { .. } | Step::Signal { .. } => None,
            }),
        }
    };
    let is_blocked = |it: &&(Engine, &str)| next[it.0 as usize] < schedule.queues[it.0 as usize].len();
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

/// Pairs of instructions that share a byte and are not kept in program order.
fn races(program: &Program, placement: &Placement, places: &[Place], pasts: &[Past]) -> Vec<Error> {
    let mut races = Vec::new();
    let mut histories: Vec<History> = Vec::new();
    histories.resize_with(program.buffers.len(), History::default);
    let mut is_born = vec![false; program.buffers.len()];
    let mut owners = Owners::new();
    let is_written = written(program);
    for (id, inst) in program.iter() {
        let (at, past) = (places[id.index()], &pasts[id.index()]);
        // Reads first: an instruction does not race with itself.
        let mut accesses = [None; isa::MAX_ARGS];
        for ((access, view), slot) in program.accesses(inst).zip(&mut accesses) {
            let buffer = view.buffer;
            if !is_written[buffer.index()] {
                continue;
            }
            if !std::mem::replace(&mut is_born[buffer.index()], true) {
                inherit(program, placement, &mut owners, &mut histories, buffer);
            }
            let Some(bytes) = Footprint::of(program, placement, view) else {
                continue;
            };
            let access = Access {
                inst: id,
                bytes,
                writes: access != isa::Access::Read,
                at,
            };
            let rows = rows(program, placement, buffer);
            histories[buffer.index()].near(&bytes, rows, |old| {
                let may_conflict =
                    (old.writes || access.writes) && !past.holds(old.at) && races.len() < MAX_RACES;
                if may_conflict && let Some((partition, byte)) = old.bytes.common(&bytes) {
                    races.push(Error::Race {
                        first: Line::new(program, old.inst),
                        second: Line::new(program, id),
                        queues: [old.at.queue, at.queue],
                        memory: bytes.memory,
                        partition,
                        byte,
                    });
                }
            });
            *slot = Some((buffer, access, rows));
        }
        for (buffer, access, rows) in accesses.into_iter().flatten() {
            histories[buffer.index()].add(access, rows);
        }
    }
    races
}

/// Buffers that anything writes, and those that take over the bytes of such.
fn written(program: &Program) -> Vec<bool> {
    let mut is_written: Vec<bool> = program.buffers.iter().map(|it| it.memory.is_on_chip()).collect();
    for inst in &program.insts {
        for (access, view) in program.accesses(inst) {
            is_written[view.buffer.index()] |= access != isa::Access::Read;
        }
    }
    is_written
}

/// A buffer takes over the accesses of earlier buffers at its bytes.
fn inherit(
    program: &Program,
    placement: &Placement,
    owners: &mut Owners,
    histories: &mut [History],
    buffer: BufferId,
) {
    let before = owners.take_over(program, placement, buffer);
    if before.is_empty() {
        return;
    }
    let region = Footprint::of_buffer(program, placement, buffer);
    let rows = rows(program, placement, buffer);
    let mut inherited = Vec::new();
    for owner in before {
        histories[owner.index()].near(&region, rows, |it| {
            if it.bytes.common(&region).is_some() {
                inherited.push(*it);
            }
        });
    }
    for it in inherited {
        histories[buffer.index()].inherit(it, &region, rows);
    }
}

fn rows(program: &Program, placement: &Placement, buffer: BufferId) -> Rows {
    Rows {
        origin: match placement.region(buffer) {
            Region::Hbm { address } => address,
            Region::OnChip { .. } => 0,
        },
        pitch: program[buffer].row_bytes(),
    }
}
