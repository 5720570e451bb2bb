//! Scheduling: a queue per engine, with the semaphores that keep conflicting instructions in order.
//!
//! Takes a program with its placement, gives a queue of steps per engine. Every pair of instructions that touch common
//! bytes, one of them writing, happens in program order; no wait is implied by another one. Never changes what an
//! instruction does or which engine computes it, and knows nothing about time. Between segments of the control flow all
//! queues meet at a barrier, so that the iterations of a loop need no order of their own.

mod budget;
mod clock;
mod epochs;
mod grid;
mod heirs;
pub(crate) mod owners;
pub(crate) mod slots;
mod state;
mod transfers;
mod verify;

pub use budget::{check_semaphores, semaphores};
pub use verify::{Error, verify_schedule};

use crate::ir::{ControlStep, InstId, MAX_TOUCHES, MarkId, Placement, Program, Schedule, Step};
use crate::isa::{Access, ENGINES, Engine, N_ENGINES, Unit};
use clock::{Clock, Lane};
use epochs::Epochs;
use heirs::Heirs;
use slots::{SlotId, Slots};
use state::State;

/// Deals the instructions to queues and orders every conflict with the fewest waits.
pub fn schedule(program: &Program, placement: &Placement) -> Schedule {
    schedule_over(program, placement, &Slots::new(program, placement))
}

/// [`schedule`] and [`verify_schedule`], with the geometry worked out once.
pub fn verified_schedule(program: &Program, placement: &Placement) -> Result<Schedule, Vec<Error>> {
    let slots = Slots::new(program, placement);
    let schedule = schedule_over(program, placement, &slots);
    match verify::verify_over(program, placement, &schedule, &slots) {
        errors if errors.is_empty() => Ok(schedule),
        errors => Err(errors),
    }
}

fn schedule_over(program: &Program, placement: &Placement, slots: &Slots) -> Schedule {
    let mut plan = transfers::Plan::new(program, placement);
    let mut scheduling = Scheduling {
        program,
        placement,
        states: vec![State::default(); slots.all.len()],
        slots,
        is_born: vec![false; program.buffers.len()],
        heirs: Heirs::new(),
        marked: vec![None; program.marks.len()],
        queues: [(); N_ENGINES].map(|()| Queue::new(plan.lanes())),
        n_dealt: 0,
    };
    for step in program.control().flatten() {
        match step {
            ControlStep::Segment(range) => {
                for (id, queue) in plan.segment(range) {
                    scheduling.deal(id, queue);
                }
            }
            ControlStep::Meet(step) => scheduling.meet(step),
        }
    }
    let Scheduling { queues, .. } = scheduling;
    steps(queues)
}

/// The queues while they are filled.
struct Scheduling<'a> {
    program: &'a Program,
    placement: &'a Placement,
    slots: &'a Slots,
    states: Vec<State>,
    is_born: Vec<bool>,
    heirs: Heirs,
    /// What completes the marked instructions that were dealt.
    marked: Vec<Option<(Lane, u32)>>,
    queues: [Queue; N_ENGINES],
    n_dealt: u32,
}

impl Scheduling<'_> {
    /// Appends an instruction to a queue, behind the waits that it needs.
    fn deal(&mut self, id: InstId, engine: Engine) {
        let inst = &self.program[id];
        let lane = Lane::new(engine, inst.op.row().unit);
        let mut touched = [None; MAX_TOUCHES];
        let mut need = Clock::default();
        for ((access, view), touched) in self.program.touches(inst).zip(&mut touched) {
            let buffer = self.program[view].buffer;
            if !std::mem::replace(&mut self.is_born[buffer.index()], true) {
                self.heirs
                    .bear(self.program, self.placement, self.slots, &mut self.states, buffer);
            }
            let Some(slot) = self.slots.of_view(view) else {
                continue;
            };
            self.states[slot.index()].before_own(&mut need);
            let others = self.slots.overlapping(slot).iter().copied();
            for it in others.chain([slot]) {
                match access {
                    Access::Read => self.states[it.index()].before_read(&mut need),
                    Access::Write | Access::ReadWrite => self.states[it.index()].before_write(&mut need),
                }
            }
            *touched = Some((access, slot));
        }
        if let Some(mark) = inst.asked.mark() {
            self.after(mark, &mut need);
        }
        wait_for(&mut self.queues, engine, &need);
        let position = self.queues[engine as usize].push(id, self.n_dealt, engine);
        if let Some(mark) = inst.asked.mark() {
            self.marked[mark.index()] = Some((lane, position));
        }
        self.n_dealt += 1;
        record(&mut self.states, &touched, lane, position);
    }

    /// Adds what a marked instruction waits for on request.
    fn after(&self, mark: MarkId, need: &mut Clock) {
        for it in &self.program[mark].after {
            if let Some((lane, position)) = self.marked[it.index()] {
                need.raise(lane, position);
            }
        }
    }

    /// Lets all queues meet: behind a barrier everything above it is complete.
    fn meet(&mut self, step: Step) {
        let mut all = Clock::default();
        for (queue, &(engine, _)) in self.queues.iter().zip(ENGINES) {
            for unit in [Unit::Engine, Unit::Dma] {
                all.raise(Lane::new(engine, unit), queue.position());
            }
        }
        for queue in &mut self.queues {
            let position = queue.position();
            queue.barriers.push((position, step));
            queue.known = all;
            queue.has_learned = true;
        }
    }
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
struct Queue {
    insts: Vec<InstId>,
    /// The place of each instruction in the order in which they were dealt.
    sequence: Vec<u32>,
    /// What is known after each wait, and before the first one.
    epochs: Epochs,
    /// The epoch in which each instruction starts.
    epoch_of: Vec<u32>,
    /// Whether something was learned since the last epoch began.
    has_learned: bool,
    /// What is known now.
    known: Clock,
    /// Before which instruction (by position) this queue waits for which queue.
    waits: Vec<(u32, Engine)>,
    /// Behind how many instructions this queue signals each other one.
    signals: [Vec<u32>; N_ENGINES],
    /// Before which instruction (by position) the queues meet.
    barriers: Vec<(u32, Step)>,
}

impl Queue {
    /// An empty queue of a program whose instructions complete in these lanes.
    fn new(lanes: [bool; Lane::N]) -> Queue {
        Queue {
            insts: Vec::new(),
            sequence: Vec::new(),
            epochs: Epochs::new(lanes),
            epoch_of: Vec::new(),
            has_learned: true,
            known: Clock::default(),
            waits: Vec::new(),
            signals: Default::default(),
            barriers: Vec::new(),
        }
    }

    /// Appends an instruction and returns the number of instructions there are then.
    fn push(&mut self, id: InstId, sequence: u32, engine: Engine) -> u32 {
        self.insts.push(id);
        self.sequence.push(sequence);
        let epoch = match self.epoch_of.last() {
            Some(&last) if !std::mem::take(&mut self.has_learned) => last,
            _ => self.epochs.push(&self.known.0),
        };
        self.epoch_of.push(epoch);
        let position = self.position();
        // Compute takes effect in order, so the next instruction knows that this one is complete.
        self.known.raise(Lane::new(engine, Unit::Engine), position);
        position
    }

    /// How many instructions it has.
    fn position(&self) -> u32 {
        u32::try_from(self.insts.len()).expect("instructions are numbered in 32 bits")
    }

    /// What who waits for a signal behind `position` instructions learns.
    fn signalled(&self, engine: Engine, position: u32) -> Clock {
        let mut clock = Clock(self.epochs.get(self.epoch_of[position as usize - 1]));
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
        let at = queue.position();
        queue.waits.push((at, from));
        queue.known.join(&learned);
        queue.has_learned = true;
    }
}

/// The queues as steps: signals as early and waits as late as they can stand.
fn steps(queues: [Queue; N_ENGINES]) -> Schedule {
    let mut schedule = Schedule::default();
    for (mut queue, steps) in queues.into_iter().zip(&mut schedule.queues) {
        // What long programs need most memory for is not held beside the steps.
        (queue.epochs, queue.epoch_of, queue.sequence) = Default::default();
        let n_signals: usize = queue.signals.iter().map(Vec::len).sum();
        let n_steps = queue.insts.len() + queue.waits.len() + queue.barriers.len() + n_signals;
        steps.reserve_exact(n_steps);
        let mut waits = queue.waits.iter().peekable();
        let mut barriers = queue.barriers.iter().peekable();
        let mut signals = queue.signals.each_ref().map(|it| it.iter().peekable());
        let (mut n_waits, mut n_signals) = ([0u32; N_ENGINES], [0u32; N_ENGINES]);
        for position in 0..=queue.position() {
            while let Some((_, step)) = barriers.next_if(|it| it.0 == position) {
                steps.push(*step);
                (n_waits, n_signals) = Default::default();
            }
            let Some(&id) = queue.insts.get(position as usize) else {
                break;
            };
            while let Some((_, from)) = waits.next_if(|it| it.0 == position) {
                let n_waits = &mut n_waits[*from as usize];
                *n_waits += 1;
                let (from, count) = (*from, *n_waits);
                steps.push(Step::Wait { from, count });
            }
            steps.push(Step::Inst(id));
            for ((signals, n_signals), (to, _)) in signals.iter_mut().zip(&mut n_signals).zip(ENGINES) {
                if signals.next_if(|it| **it == position + 1).is_some() {
                    *n_signals += 1;
                    let (to, count) = (*to, *n_signals);
                    steps.push(Step::Signal { to, count });
                }
            }
        }
    }
    schedule
}
