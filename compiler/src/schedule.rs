//! Scheduling: a queue per engine, with the semaphores that keep conflicting instructions in order.
//!
//! Takes a program with its placement, gives a queue of steps per engine. Every pair of instructions that touch common
//! bytes, one of them writing, happens in program order; no wait is implied by another one. Never changes what an
//! instruction does or which engine computes it, and knows nothing about time.

mod clock;
mod grid;
mod heirs;
mod owners;
mod slots;
mod state;
mod transfers;
mod verify;

pub use verify::{Error, verify_schedule};

use crate::ir::{InstId, Placement, Program, Schedule, Step};
use crate::isa::{Access, ENGINES, Engine, MAX_ARGS, N_ENGINES, Unit};
use clock::{Clock, Lane};
use heirs::Heirs;
use slots::{SlotId, Slots};
use state::State;

/// Deals the instructions to queues and orders every conflict with the fewest waits.
pub fn schedule(program: &Program, placement: &Placement) -> Schedule {
    let plan = transfers::plan(program, placement);
    let slots = Slots::new(program, placement);
    let mut states = vec![State::default(); slots.all.len()];
    let mut is_born = vec![false; program.buffers.len()];
    let mut heirs = Heirs::new();
    let mut queues: [Queue; N_ENGINES] = Default::default();
    for (sequence, &id) in plan.order.iter().enumerate() {
        let inst = &program[id];
        let engine = plan.queues[id.index()];
        let lane = Lane::new(engine, inst.op.row().unit);
        let mut touched = [None; MAX_ARGS];
        let mut need = Clock::default();
        for ((access, view), touched) in inst.views().zip(&mut touched) {
            let buffer = program[view].buffer;
            if !std::mem::replace(&mut is_born[buffer.index()], true) {
                heirs.bear(program, placement, &slots, &mut states, buffer);
            }
            let Some(slot) = slots.of_view(view) else { continue };
            states[slot.index()].before_own(&mut need);
            let others = slots.overlapping(slot).iter().copied();
            for it in others.chain([slot]) {
                match access {
                    Access::Read => states[it.index()].before_read(&mut need),
                    Access::Write | Access::ReadWrite => states[it.index()].before_write(&mut need),
                }
            }
            *touched = Some((access, slot));
        }
        wait_for(&mut queues, engine, &need);
        let position = queues[engine as usize].push(id, sequence, engine);
        record(&mut states, &touched, lane, position);
    }
    steps(&queues)
}

/// Notes the accesses of an instruction that is complete once its lane has reached `position`.
fn record(states: &mut [State], touched: &[Option<(Access, SlotId)>], lane: Lane, position: u32) {
    for (access, slot) in touched.iter().flatten() {
        let state = &mut states[slot.index()];
        match access {
            Access::Read => state.read(lane, position),
            Access::Write | Access::ReadWrite => state.write(lane, position),
        }
    }
}

/// A queue while it is filled.
#[derive(Default)]
struct Queue {
    insts: Vec<InstId>,
    /// The place of each instruction in the order in which they were dealt.
    sequence: Vec<usize>,
    /// What is known to be complete when each instruction starts.
    known_at: Vec<Clock>,
    /// What is known after the last wait.
    known: Clock,
    /// Before which instruction (by position) this queue waits for which queue.
    waits: Vec<(u32, usize)>,
    /// Behind how many instructions this queue signals each other one.
    signals: [Vec<u32>; N_ENGINES],
}

impl Queue {
    /// Appends an instruction and returns the number of instructions there are then.
    fn push(&mut self, id: InstId, sequence: usize, engine: Engine) -> u32 {
        self.insts.push(id);
        self.sequence.push(sequence);
        self.known_at.push(self.known);
        let position = u32::try_from(self.insts.len()).expect("instructions are numbered in 32 bits");
        // Compute takes effect in order, so the next instruction knows that this one is complete.
        self.known.raise(Lane::new(engine, Unit::Engine), position);
        position
    }

    /// What who waits for a signal behind `position` instructions learns.
    fn signalled(&self, engine: Engine, position: u32) -> Clock {
        let mut clock = self.known_at[position as usize - 1];
        clock.raise(Lane::new(engine, Unit::Engine), position);
        clock.raise(Lane::new(engine, Unit::Dma), position);
        clock
    }
}

/// Adds the waits that let the next instruction of a queue know all it needs.
///
/// The latest of what is missing is waited for first: its queue may have known the rest by then, never the reverse.
fn wait_for(queues: &mut [Queue; N_ENGINES], engine: Engine, need: &Clock) {
    let here = engine as usize;
    if queues[here].known.covers(need) {
        return;
    }
    let missing = |queues: &[Queue; N_ENGINES]| {
        let lanes = Lane::all().filter(|&it| need.get(it) > queues[here].known.get(it));
        lanes.max_by_key(|&it| queues[it.queue()].sequence[need.get(it) as usize - 1])
    };
    while let Some(lane) = missing(queues) {
        let position = need.get(lane);
        let (from, _) = ENGINES[lane.queue()];
        let learned = queues[from as usize].signalled(from, position);
        queues[from as usize].signals[here].push(position);
        let queue = &mut queues[here];
        let at = u32::try_from(queue.insts.len()).expect("instructions are numbered in 32 bits");
        queue.waits.push((at, from as usize));
        queue.known.join(&learned);
    }
}

/// The queues as steps: signals as early and waits as late as they can stand.
fn steps(queues: &[Queue; N_ENGINES]) -> Schedule {
    let mut schedule = Schedule::default();
    for (queue, steps) in queues.iter().zip(&mut schedule.queues) {
        let mut waits = queue.waits.iter().peekable();
        let mut n_waits = [0u32; N_ENGINES];
        let mut signals = queue
            .signals
            .each_ref()
            .map(|it| it.iter().zip(1u32..).peekable());
        for (position, &id) in (0u32..).zip(&queue.insts) {
            while let Some((_, from)) = waits.next_if(|it| it.0 == position) {
                n_waits[*from] += 1;
                steps.push(Step::Wait {
                    from: ENGINES[*from].0,
                    count: n_waits[*from],
                });
            }
            steps.push(Step::Inst(id));
            for (signals, (to, _)) in signals.iter_mut().zip(ENGINES) {
                if let Some((_, count)) = signals.next_if(|it| *it.0 == position + 1) {
                    steps.push(Step::Signal { to: *to, count });
                }
            }
        }
    }
    schedule
}
