//! Orders of execution: what a schedule allows besides program order.
//!
//! Takes a schedule, gives instructions in an order that its queues, semaphores and transfers can produce, or says where
//! the queues block each other. Never executes anything.

use nk_compiler::ir::{InstId, Program, Schedule, Step};
use nk_compiler::isa::{ENGINES, Engine, N_ENGINES, Unit};

/// Queues that cannot go on: each blocked one with the position of the wait it stands at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    pub blocked: Vec<(Engine, usize)>,
}

/// A transfer that was issued and has not moved its data yet.
struct Transfer {
    inst: InstId,
    queue: usize,
    /// How many transfers its queue issued before it.
    number: usize,
}

/// A signal that its queue has passed, and that counts once the transfers above it are complete.
struct Signal {
    from: usize,
    to: usize,
    count: u32,
    /// Transfers its queue had issued.
    issued: usize,
}

/// The queues of a schedule while it runs.
struct Queues<'a> {
    schedule: &'a Schedule,
    /// The next step of each queue.
    next: [usize; N_ENGINES],
    issued: [usize; N_ENGINES],
    transfers: Vec<Transfer>,
    signals: Vec<Signal>,
    /// `counts[from][to]`: the highest signal that counts.
    counts: [[u32; N_ENGINES]; N_ENGINES],
    order: Vec<InstId>,
}

/// An order that the schedule allows, chosen by a seed. The effect of a transfer lies anywhere between its issue and the
/// signals below it.
pub fn random_order(schedule: &Schedule, program: &Program, seed: u64) -> Result<Vec<InstId>, Deadlock> {
    let mut queues = Queues {
        schedule,
        next: [0; N_ENGINES],
        issued: [0; N_ENGINES],
        transfers: Vec::new(),
        signals: Vec::new(),
        counts: [[0; N_ENGINES]; N_ENGINES],
        order: Vec::with_capacity(program.insts.len()),
    };
    let mut state = seed;
    loop {
        let ready: Vec<usize> = (0..N_ENGINES).filter(|&it| queues.is_ready(it)).collect();
        let choices = ready.len() + queues.transfers.len();
        if choices == 0 {
            if queues.pass_barrier() {
                continue;
            }
            break;
        }
        let choice = (random(&mut state) % choices as u64) as usize;
        match ready.get(choice) {
            Some(&queue) => queues.advance(queue, program),
            None => queues.complete(choice - ready.len()),
        }
    }
    let blocked: Vec<(Engine, usize)> = ENGINES
        .iter()
        .map(|it| (it.0, queues.next[it.0 as usize]))
        .filter(|&(engine, at)| at < schedule.queues[engine as usize].len())
        .collect();
    if blocked.is_empty() {
        Ok(queues.order)
    } else {
        Err(Deadlock { blocked })
    }
}

impl Queues<'_> {
    fn is_ready(&self, queue: usize) -> bool {
        match self.schedule.queues[queue].get(self.next[queue]) {
            None => false,
            Some(Step::Wait { from, count }) => self.counts[*from as usize][queue] >= *count,
            Some(Step::Inst(_) | Step::Signal { .. }) => true,
            Some(Step::Barrier | Step::Loop(_) | Step::End) => false,
        }
    }

    /// Goes on behind a barrier when all queues are at it.
    fn pass_barrier(&mut self) -> bool {
        let at_barrier = |queue: usize| {
            let step = self.schedule.queues[queue].get(self.next[queue]);
            step.is_some_and(|it| it.is_barrier())
        };
        if !(0..N_ENGINES).all(at_barrier) {
            return false;
        }
        self.next.iter_mut().for_each(|it| *it += 1);
        self.counts = Default::default();
        self.signals.clear();
        true
    }

    fn advance(&mut self, queue: usize, program: &Program) {
        match self.schedule.queues[queue][self.next[queue]] {
            Step::Inst(inst) if program[inst].op.row().unit == Unit::Dma => {
                self.transfers.push(Transfer {
                    inst,
                    queue,
                    number: self.issued[queue],
                });
                self.issued[queue] += 1;
            }
            Step::Inst(inst) => self.order.push(inst),
            Step::Wait { .. } | Step::Barrier | Step::Loop(_) | Step::End => {}
            Step::Signal { to, count } => {
                self.signals.push(Signal {
                    from: queue,
                    to: to as usize,
                    count,
                    issued: self.issued[queue],
                });
                self.deliver();
            }
        }
        self.next[queue] += 1;
    }

    /// Lets a transfer move its data.
    fn complete(&mut self, index: usize) {
        let transfer = self.transfers.swap_remove(index);
        self.order.push(transfer.inst);
        self.deliver();
    }

    /// Makes the signals count whose transfers are all complete.
    fn deliver(&mut self) {
        let (transfers, counts) = (&self.transfers, &mut self.counts);
        self.signals.retain(|it| {
            let waits = transfers
                .iter()
                .any(|other| other.queue == it.from && other.number < it.issued);
            if !waits {
                let counter = &mut counts[it.from][it.to];
                *counter = (*counter).max(it.count);
            }
            waits
        });
    }
}

/// The next number of a splitmix64 sequence.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
