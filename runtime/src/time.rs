//! The timing model (`timing.md` §4): when each instruction of a scheduled program starts and ends.
//!
//! Takes a verified schedule, runs its five in-order queues and the DMA engines event by event in integer picoseconds,
//! gives a [`Trace`]. Never computes a value, and never decides an order that the schedule leaves open otherwise than
//! by time.

mod change;
mod collective;
mod dma;
mod facts;
mod link;
mod meet;
mod plan;
mod plans;
mod queue;

pub use change::Change;
pub(crate) use change::Changes;

use crate::trace::{Bound, Event, Stall, TableLoad, Totals, Trace, Traffic, Transfer};
pub use collective::Fleet;
pub(crate) use meet::{Timed, time_changed, time_together};

use dma::{DmaEngines, InFlight};
use facts::ViewFacts;
use nk_compiler::ir::{Inst, InstId, Placement, Program, Schedule};
use nk_compiler::isa::{Access, Basis, ENGINES, Engine, MEMORIES, N_ENGINES, Op};
use nk_compiler::target::Target;
use plans::Plans;
use queue::{ALL, Head, Queue, QueueSet, Signals, Touches, Work, World};

/// Counts the changes of the model that give a schedule other times.
pub const MODEL_VERSION: u32 = 1;

/// Runs the model over a verified schedule.
pub fn time(program: &Program, placement: &Placement, schedule: &Schedule, target: &Target) -> Trace {
    let timed = Timed {
        program,
        placement,
        schedule,
    };
    let mut traces = time_together(&[timed], &Fleet::of_ranks(target, 1), target);
    traces.swap_remove(0)
}

/// A core while the model runs: its queues, its DMA engines, and what is known of its timeline.
struct Core<'a> {
    world: World<'a>,
    signals: Signals,
    queues: Vec<Queue<'a>>,
    ports: Ports,
    dma: DmaEngines,
    plans: Plans,
    record: Record,
    /// Collectives that were triggered and whose other ranks have not been looked for.
    arrived: Vec<Arrival>,
}

/// A collective that a core has triggered.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    inst: InstId,
    queue: Engine,
    trigger_ps: u64,
}

/// The instruction that can start next, if one can: when, in which queue, and whose port it waits for.
type Next = Option<(u64, Engine, Option<InstId>)>;

impl<'a> Core<'a> {
    fn new(world: World<'a>, schedule: &'a Schedule) -> Core<'a> {
        let queues = ENGINES
            .iter()
            .map(|&(engine, _)| Queue::new(engine, &schedule.queues[engine as usize]))
            .collect();
        let mut core = Core {
            world,
            signals: Signals::default(),
            queues,
            ports: Ports::default(),
            dma: DmaEngines::new(world.target),
            plans: Plans::default(),
            record: Record::new(world.program.insts.len()),
            arrived: Vec::new(),
        };
        advance(&mut core.queues, &mut core.signals, world, ALL);
        core
    }

    fn next_start(&self) -> Next {
        let heads = self
            .queues
            .iter()
            .filter_map(|it| it.head.as_ref().map(|head| (it.engine, head)));
        let starts = heads.map(|(engine, head)| {
            let (free_ps, holder) = self.ports.free(engine, head.touches);
            (head.ready_ps.max(free_ps), engine, holder)
        });
        starts.min_by_key(|it| it.0)
    }

    /// When something happens next; `None` when nothing does before a collective is complete.
    fn next_ps(&self) -> Option<u64> {
        let start_ps = self.next_start().map(|it| it.0);
        let event_ps = [start_ps, self.dma.next_ps()].into_iter().flatten().min();
        event_ps.or_else(|| barrier_ps(&self.queues))
    }

    /// Lets one thing happen; says whether something could, which [`Core::next_ps`] tells before.
    fn step(&mut self) -> bool {
        let target = self.world.target;
        let next = self.next_start();
        let moved = match next {
            Some((start_ps, engine, holder)) if self.dma.next_ps().is_none_or(|it| start_ps < it) => {
                self.start(start_ps, engine, holder);
                only(engine)
            }
            _ => {
                let until_ps = next.map(|it| it.0);
                if let Some(done) = self.dma.run(until_ps) {
                    let basis = self.world.program[done.inst].op.row().basis;
                    self.record.transfer(&done, basis);
                    let queue = &mut self.queues[done.queue as usize];
                    queue.complete(done.inst, done.end_ps, &mut self.signals, target)
                } else if next.is_none() {
                    let Some(at_ps) = pass_barrier(&mut self.queues, target) else {
                        return false;
                    };
                    self.signals = Signals::default();
                    self.record.segment(at_ps);
                    ALL
                } else {
                    // Descriptors were served, and the next instruction starts before the next transfer is complete.
                    0
                }
            }
        };
        advance(&mut self.queues, &mut self.signals, self.world, moved);
        true
    }

    fn start(&mut self, start_ps: u64, engine: Engine, holder: Option<InstId>) {
        let world = self.world;
        let queue = &mut self.queues[engine as usize];
        let head = queue.head.take().expect("the queue was chosen for its head");
        let bound = match holder {
            Some(inst) if start_ps > head.ready_ps => Bound::Port(inst),
            _ => head.bound,
        };
        let (free_ps, end_ps) = queue.start(&head, start_ps, world);
        let event = Event {
            start_ps,
            free_ps,
            end_ps,
            bound,
        };
        self.record.instruction(engine, &head, event, world);
        match head.work {
            Work::Compute { occupancy_ps, .. } => {
                self.ports
                    .hold(engine, head.touches, start_ps + occupancy_ps, head.inst);
            }
            Work::Nothing => {}
            Work::Trigger { .. } if world.program[head.inst].op == Op::Collective => {
                self.arrived.push(Arrival {
                    inst: head.inst,
                    queue: engine,
                    trigger_ps: start_ps,
                });
            }
            Work::Trigger { address_ps } => {
                self.record.charge(address_ps, Basis::Guess);
                let start_ps = start_ps + address_ps;
                let plan = self.plans.of(head.inst, world);
                let ready_ps = start_ps + world.target.timing.dma_start_ps;
                self.dma.issue(plan, head.inst, engine, start_ps, ready_ps);
            }
        }
    }

    /// Notes when a collective that this core has triggered is complete.
    fn complete(&mut self, arrival: Arrival, transfer: Transfer) {
        let Arrival { inst, queue, .. } = arrival;
        self.record.collective(transfer);
        let queue = &mut self.queues[queue as usize];
        let moved = queue.complete(inst, transfer.end_ps, &mut self.signals, self.world.target);
        advance(&mut self.queues, &mut self.signals, self.world, moved);
    }

    fn finish(self) -> Trace {
        assert!(
            self.queues.iter().all(Queue::is_drained),
            "a verified schedule drains: each wait has its signal and no queues wait for each other"
        );
        self.record.finish(&self.dma)
    }
}

/// When everything above the barrier at which all queues stand is complete.
fn barrier_ps(queues: &[Queue]) -> Option<u64> {
    let times = queues.iter().map(Queue::barrier_ps);
    times.collect::<Option<Vec<u64>>>()?.into_iter().max()
}

/// Lets all queues go on behind the barrier they stand at, and says when.
fn pass_barrier(queues: &mut [Queue], target: &Target) -> Option<u64> {
    let at_ps = barrier_ps(queues)? + target.timing.engine_semaphore_ps;
    queues.iter_mut().for_each(|it| it.pass_barrier(at_ps));
    Some(at_ps)
}

/// Lets queues come to their next instruction, as far as the signals they wait for are known: those of the set, then those
/// that they signal.
fn advance(queues: &mut [Queue], signals: &mut Signals, world: World, mut due: QueueSet) {
    while due != 0 {
        let at = due.trailing_zeros() as usize;
        due &= due - 1;
        due |= queues[at].advance(signals, world);
    }
}

/// A queue, as a set.
fn only(engine: Engine) -> QueueSet {
    1 << engine as usize
}

/// The ports that two engines share, held for the occupancy of an instruction.
#[derive(Default)]
struct Ports {
    /// Until when, and by which instruction; by engine and memory.
    held: [[Option<(u64, InstId)>; 3]; N_ENGINES],
}

impl Ports {
    /// When the ports that an instruction needs are free of the other engine's instructions, and whose is the last.
    fn free(&self, engine: Engine, touches: Touches) -> (u64, Option<InstId>) {
        let mut free = (0, None);
        for &(memory, _) in MEMORIES.iter().filter(|it| touches[it.0 as usize]) {
            let rival = queue::rival(engine, memory);
            let held = rival.and_then(|it| self.held[it as usize][memory as usize]);
            if let Some((until_ps, inst)) = held
                && until_ps > free.0
            {
                free = (until_ps, Some(inst));
            }
        }
        free
    }

    fn hold(&mut self, engine: Engine, touches: Touches, until_ps: u64, inst: InstId) {
        for (memory, _) in touches.iter().enumerate().filter(|it| *it.1) {
            self.held[engine as usize][memory] = Some((until_ps, inst));
        }
    }
}

/// The trace as far as it is known.
struct Record {
    events: Vec<Option<Event>>,
    order: Vec<InstId>,
    stalls: Vec<Stall>,
    table_loads: Vec<TableLoad>,
    busy_ps: [u64; N_ENGINES],
    busy_until_ps: [u64; N_ENGINES],
    charged_ps: u64,
    guessed_ps: u64,
    traffic: [Traffic; 3],
    collectives: Vec<Transfer>,
    /// What was known at the end of each segment.
    marks: Vec<Totals>,
}

impl Record {
    fn new(n_insts: usize) -> Record {
        Record {
            events: vec![None; n_insts],
            order: Vec::with_capacity(n_insts),
            stalls: Vec::new(),
            table_loads: Vec::new(),
            busy_ps: [0; N_ENGINES],
            busy_until_ps: [0; N_ENGINES],
            charged_ps: 0,
            guessed_ps: 0,
            traffic: [Traffic::default(); 3],
            collectives: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Notes the end of a segment.
    fn segment(&mut self, end_ps: u64) {
        self.marks.push(Totals {
            total_ps: end_ps,
            busy_ps: self.busy_ps,
            dma_busy_ps: 0,
            charged_ps: self.charged_ps,
            guessed_ps: self.guessed_ps,
            traffic: self.traffic,
        });
    }

    fn instruction(&mut self, engine: Engine, head: &Head, event: Event, world: World) {
        let start_ps = event.start_ps;
        self.order.push(head.inst);
        self.events[head.inst.index()] = Some(event);
        if start_ps > head.dispatch_ps {
            self.stalls.push(Stall {
                engine,
                inst: head.inst,
                start_ps: head.dispatch_ps,
                end_ps: start_ps,
                bound: event.bound,
            });
        }
        if let Some(load_ps) = head.table_load_ps {
            let end_ps = load_ps + world.target.timing.act_table_load_ps;
            self.table_loads.push(TableLoad {
                inst: head.inst,
                start_ps: load_ps,
                end_ps,
            });
            self.busy(engine, load_ps, end_ps);
        }
        self.busy(engine, start_ps, event.end_ps);
        if let Work::Compute { basis, .. } = head.work {
            self.charge(event.free_ps - start_ps, basis);
        }
        self.count_bytes(&world.program[head.inst], world);
    }

    /// Adds a stretch of work; starts of one engine never go back.
    fn busy(&mut self, engine: Engine, start_ps: u64, end_ps: u64) {
        let until_ps = &mut self.busy_until_ps[engine as usize];
        self.busy_ps[engine as usize] += end_ps.saturating_sub(start_ps.max(*until_ps));
        *until_ps = end_ps.max(*until_ps);
    }

    fn charge(&mut self, work_ps: u64, basis: Basis) {
        self.charged_ps += work_ps;
        if basis == Basis::Guess {
            self.guessed_ps += work_ps;
        }
    }

    fn count_bytes(&mut self, inst: &Inst, world: World) {
        for (access, view) in world.program.touches(inst) {
            let &ViewFacts { memory, bytes, .. } = world.views.get(view);
            let traffic = &mut self.traffic[memory as usize];
            if access != Access::Write {
                traffic.read += bytes;
            }
            if access != Access::Read {
                traffic.written += bytes;
            }
        }
    }

    fn transfer(&mut self, done: &InFlight, basis: Basis) {
        self.charge(done.last_ps - done.first_ps, basis);
        let event = self.events[done.inst.index()].as_mut();
        event.expect("a transfer completes after its trigger").end_ps = done.end_ps;
    }

    fn collective(&mut self, transfer: Transfer) {
        let event = self.events[transfer.inst.index()].as_mut();
        event.expect("a collective completes after its trigger").end_ps = transfer.end_ps;
        self.charge(transfer.end_ps - transfer.first_ps, Basis::Derived);
        self.collectives.push(transfer);
    }

    fn finish(mut self, dma: &DmaEngines) -> Trace {
        let transfers: Vec<Transfer> = dma.transfers().iter().map(|it| Transfer::from(*it)).collect();
        let events = std::mem::take(&mut self.events).into_iter();
        let events: Vec<Event> = events
            .map(|it| it.expect("a verified schedule holds every instruction"))
            .collect();
        let last_barrier_ps = self.marks.last().map_or(0, |it| it.total_ps);
        let total_ps = events.iter().map(|it| it.end_ps).fold(last_barrier_ps, u64::max);
        self.segment(total_ps);
        Trace {
            total_ps,
            dma_busy_ps: union_ps(&transfers),
            segments: segments(&self.marks, &transfers),
            events,
            transfers,
            collectives: self.collectives,
            stalls: self.stalls,
            table_loads: self.table_loads,
            order: self.order,
            busy_ps: self.busy_ps,
            charged_ps: self.charged_ps,
            guessed_ps: self.guessed_ps,
            traffic: self.traffic,
        }
    }
}

/// What each stretch between two barriers adds, from what was known at its end.
fn segments(marks: &[Totals], transfers: &[Transfer]) -> Vec<Totals> {
    let mut before = Totals::default();
    let mut transfers = transfers.iter().peekable();
    let mut segments = Vec::with_capacity(marks.len());
    for mark in marks {
        let mut inside = Vec::new();
        while let Some(it) = transfers.next_if(|it| it.trigger_ps < mark.total_ps) {
            inside.push(*it);
        }
        segments.push(Totals {
            dma_busy_ps: union_ps(&inside),
            ..mark.minus(&before)
        });
        before = *mark;
    }
    segments
}

impl From<InFlight> for Transfer {
    fn from(it: InFlight) -> Transfer {
        Transfer {
            inst: it.inst,
            trigger_ps: it.trigger_ps,
            first_ps: it.first_ps,
            last_ps: it.last_ps,
            end_ps: it.end_ps,
            bytes: it.bytes,
        }
    }
}

/// Time in which at least one transfer moves data.
fn union_ps(transfers: &[Transfer]) -> u64 {
    let mut spans: Vec<(u64, u64)> = transfers.iter().map(|it| (it.first_ps, it.last_ps)).collect();
    spans.sort_unstable();
    let mut busy_ps = 0;
    let mut until_ps = 0;
    for (start_ps, end_ps) in spans {
        busy_ps += end_ps.saturating_sub(start_ps.max(until_ps));
        until_ps = end_ps.max(until_ps);
    }
    busy_ps
}

#[cfg(test)]
mod acceptance;
