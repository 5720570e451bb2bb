//! One in-order instruction queue: when its next instruction can start, as far as the queue itself decides.
//!
//! Takes the steps of one queue, the signals that other queues have given, and facts of views. Never looks at ports
//! or at the other queues' instructions: the event loop does.

use super::change::{Change, Changes};
use super::facts::Views;
use super::link::{Link, link};
use crate::trace::Bound;
use nk_compiler::cost;
use nk_compiler::ir::{Inst, InstId, Program, Step};
use nk_compiler::isa::{ActTable, Arg, Basis, Engine, Memory, N_ENGINES, Unit};
use nk_compiler::target::Target;
use std::collections::VecDeque;

/// Queues: bit `e` is set for that of engine `e`.
pub type QueueSet = u32;

/// Every queue.
pub const ALL: QueueSet = (1 << N_ENGINES) - 1;

/// What the queues read and nobody changes.
#[derive(Clone, Copy)]
pub struct World<'a> {
    pub program: &'a Program,
    pub views: &'a Views,
    pub target: &'a Target,
    pub changes: &'a Changes,
}

impl World<'_> {
    pub fn change(&self, inst: InstId) -> Option<Change> {
        if self.changes.insts.is_empty() {
            return None;
        }
        self.changes.insts.get(&inst).copied()
    }
}

/// When a signal is seen by the queue it is sent to, and what it waited for.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    pub seen_ps: u64,
    pub by: Option<InstId>,
}

/// The signals given so far, by sender and receiver; the n-th signal of a pair stands at position n - 1.
#[derive(Default)]
pub struct Signals([[Vec<Signal>; N_ENGINES]; N_ENGINES]);

/// A queue and its state.
pub struct Queue<'a> {
    pub engine: Engine,
    steps: &'a [Step],
    cursor: usize,
    /// When the next instruction can be dispatched, and the instruction before it.
    dispatch_ps: u64,
    previous: Option<InstId>,
    /// The latest signal that the next instruction waits for.
    awaited: Signal,
    last_trigger_ps: Option<u64>,
    table: Option<ActTable>,
    /// Compute of this queue that may still be in flight.
    recent: VecDeque<Recent>,
    /// The latest completion of compute.
    done: Signal,
    /// What a removed instruction waited for, while nothing else stands between it and its signals.
    removed: Option<Signal>,
    /// Ends of this queue's transfers in the order of their triggers; `None` while in flight.
    transfers: VecDeque<(InstId, Option<u64>)>,
    n_retired: usize,
    retired: Signal,
    /// Signals that wait for transfers: how many must be retired, receiver, time and instruction of the compute above.
    pending: VecDeque<(usize, Engine, Signal)>,
    pub head: Option<Head>,
}

/// The next instruction of a queue, whose waits are all known.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub inst: InstId,
    pub dispatch_ps: u64,
    /// When it can start, the ports permitting.
    pub ready_ps: u64,
    pub bound: Bound,
    /// A table load that comes first: its start.
    pub table_load_ps: Option<u64>,
    pub touches: Touches,
    pub work: Work,
}

/// The memories whose ports an instruction uses, indexed by [`Memory`].
pub type Touches = [bool; 3];

/// What an instruction does to its engine.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Nothing: it was removed.
    Nothing,
    Compute {
        occupancy_ps: u64,
        /// Until the last element is in the pipeline.
        stream_ps: u64,
        gap_ps: u64,
        completion_ps: u64,
        basis: Basis,
    },
    Trigger {
        /// What the queue spends on addresses first.
        address_ps: u64,
    },
}

/// A compute instruction in flight.
struct Recent {
    inst: InstId,
    /// When it no longer holds up a consumer that streams its output.
    chained_ps: u64,
    /// When its results can be used in any way.
    usable_ps: u64,
}

impl Signals {
    pub fn send(&mut self, from: Engine, to: Engine, signal: Signal) {
        self.0[from as usize][to as usize].push(signal);
    }

    fn get(&self, from: Engine, to: Engine, count: u32) -> Option<Signal> {
        self.0[from as usize][to as usize]
            .get((count as usize).checked_sub(1)?)
            .copied()
    }
}

impl<'a> Queue<'a> {
    pub fn new(engine: Engine, steps: &'a [Step]) -> Queue<'a> {
        let nothing = Signal { seen_ps: 0, by: None };
        Queue {
            engine,
            steps,
            cursor: 0,
            dispatch_ps: 0,
            previous: None,
            awaited: nothing,
            last_trigger_ps: None,
            table: None,
            recent: VecDeque::new(),
            done: nothing,
            removed: None,
            transfers: VecDeque::new(),
            n_retired: 0,
            retired: nothing,
            pending: VecDeque::new(),
            head: None,
        }
    }

    pub fn is_drained(&self) -> bool {
        self.head.is_none() && self.cursor == self.steps.len()
    }

    /// Goes on to the next instruction, if there is one and all it waits for is known. Gives the queues that it signals.
    pub fn advance(&mut self, signals: &mut Signals, world: World) -> QueueSet {
        let mut signalled = 0;
        while self.head.is_none() {
            match self.steps.get(self.cursor) {
                None => break,
                Some(&Step::Wait { from, count }) => {
                    let Some(signal) = signals.get(from, self.engine, count) else {
                        break;
                    };
                    self.awaited = later(self.awaited, signal);
                }
                Some(&Step::Signal { to, .. }) => {
                    // A signal that follows a wait directly passes on what it waited for.
                    let passed_on = Signal {
                        seen_ps: self.awaited.seen_ps + world.target.timing.engine_semaphore_ps,
                        by: self.awaited.by,
                    };
                    // Who waits for a removed instruction waits for what that would have waited for, and nothing else.
                    let (n_needed, above) = match self.removed {
                        Some(signal) => (self.n_retired, signal),
                        None if self.awaited.by.is_some() => {
                            (self.n_retired + self.transfers.len(), later(self.done, passed_on))
                        }
                        None => (self.n_retired + self.transfers.len(), self.done),
                    };
                    self.pending.push_back((n_needed, to, above));
                    signalled |= self.send_pending(signals);
                }
                Some(&Step::Inst(inst)) => self.head = Some(self.decode(inst, world)),
                Some(Step::Barrier | Step::Loop(_) | Step::End) => break,
            }
            self.cursor += 1;
        }
        signalled
    }

    /// When everything above the barrier at which this queue stands is complete, if it stands at one.
    pub fn barrier_ps(&self) -> Option<u64> {
        let is_there = self.steps.get(self.cursor).is_some_and(|it| it.is_barrier());
        let is_idle = self.head.is_none() && self.transfers.is_empty() && self.pending.is_empty();
        (is_there && is_idle).then(|| {
            self.dispatch_ps
                .max(self.done.seen_ps)
                .max(self.retired.seen_ps)
                .max(self.awaited.seen_ps)
        })
    }

    /// Goes on behind the barrier.
    pub fn pass_barrier(&mut self, at_ps: u64) {
        let nothing = Signal { seen_ps: 0, by: None };
        self.cursor += 1;
        self.dispatch_ps = at_ps;
        self.previous = None;
        self.recent.clear();
        (self.awaited, self.done, self.retired) = (nothing, nothing, nothing);
    }

    fn decode(&mut self, id: InstId, world: World) -> Head {
        let inst = &world.program[id];
        let timing = &world.target.timing;
        let change = world.change(id);
        if change == Some(Change::Removed) {
            return self.removed(id);
        }
        let is_trigger = inst.op.row().unit == Unit::Dma;
        let mut dispatch_ps = self.dispatch_ps;
        if let (true, Some(last)) = (is_trigger, self.last_trigger_ps) {
            dispatch_ps = dispatch_ps.max(last + timing.trigger_ii_ps);
        }
        let mut bound = self.previous.map_or(Bound::Start, Bound::Queue);
        let table_load_ps = self.needs_table(inst).then_some(dispatch_ps);
        if table_load_ps.is_some() {
            dispatch_ps += timing.act_table_load_ps;
        }
        let mut ready_ps = dispatch_ps;
        if self.awaited.seen_ps > ready_ps {
            ready_ps = self.awaited.seen_ps;
            bound = self.awaited.by.map_or(Bound::Start, Bound::Signal);
        }
        if let Some((producer, usable_ps)) = self.dependence(inst, world)
            && usable_ps > ready_ps
        {
            ready_ps = usable_ps;
            bound = Bound::Dependence(producer);
        }
        Head {
            inst: id,
            dispatch_ps,
            ready_ps,
            bound,
            table_load_ps,
            touches: touches(inst, world),
            work: if is_trigger {
                let cycles = cost::address_cycles(world.program, inst, world.target);
                Work::Trigger {
                    address_ps: world.target.cycles_to_ps(self.engine, cycles),
                }
            } else {
                compute(inst, change, world)
            },
        }
    }

    /// An instruction that passes as soon as what it waits for is there.
    fn removed(&self, inst: InstId) -> Head {
        let waits = self.awaited.seen_ps > self.dispatch_ps;
        Head {
            inst,
            dispatch_ps: self.dispatch_ps,
            ready_ps: self.dispatch_ps.max(self.awaited.seen_ps),
            bound: match (waits, self.awaited.by) {
                (true, Some(by)) => Bound::Signal(by),
                _ => self.previous.map_or(Bound::Start, Bound::Queue),
            },
            table_load_ps: None,
            touches: [false; 3],
            work: Work::Nothing,
        }
    }

    /// Whether another function table must be loaded first; keeps account of the loaded one.
    fn needs_table(&mut self, inst: &Inst) -> bool {
        let function = inst.args.iter().find_map(|it| match it {
            Arg::Act(function) => Some(function.facts().table),
            _ => None,
        });
        let Some(table) = function else { return false };
        if table == ActTable::Common || self.table == Some(table) {
            return false;
        }
        self.table = Some(table);
        true
    }

    /// The instruction in flight in this queue that holds this one up longest, because it reads its output.
    fn dependence(&mut self, inst: &Inst, world: World) -> Option<(InstId, u64)> {
        // The PE array adds in PSUM in order, and nothing else it writes can it read.
        if self.engine == Engine::Tensor || world.changes.fills_gaps {
            return None;
        }
        let dispatch_ps = self.dispatch_ps;
        self.recent.retain(|it| it.usable_ps > dispatch_ps);
        let limits = self.recent.iter().filter_map(|it| {
            let link = link(&world.program[it.inst], inst, world)?;
            Some((
                it.inst,
                if link == Link::Chained {
                    it.chained_ps
                } else {
                    it.usable_ps
                },
            ))
        });
        limits.max_by_key(|it| it.1)
    }

    /// Starts the head; gives when the queue is free for the next instruction and when the compute is complete.
    pub fn start(&mut self, head: &Head, start_ps: u64, world: World) -> (u64, u64) {
        let timing = &world.target.timing;
        let interval_ps = world.target.cycles_to_ps(self.engine, timing.min_ii_cycles);
        self.head = None;
        self.previous = Some(head.inst);
        self.removed = None;
        let awaited = std::mem::replace(&mut self.awaited, Signal { seen_ps: 0, by: None });
        let (free_ps, end_ps) = match head.work {
            Work::Nothing => {
                self.dispatch_ps = start_ps;
                self.removed = Some(awaited);
                return (start_ps, start_ps);
            }
            Work::Trigger { address_ps } => {
                self.last_trigger_ps = Some(start_ps + address_ps);
                self.transfers.push_back((head.inst, None));
                let free_ps = start_ps + address_ps + timing.trigger_ps;
                (free_ps, free_ps)
            }
            Work::Compute {
                occupancy_ps,
                stream_ps,
                gap_ps,
                completion_ps,
                ..
            } => {
                let held_ps = start_ps + occupancy_ps + gap_ps;
                let end_ps = start_ps + stream_ps + completion_ps;
                if matches!(world.change(head.inst), Some(Change::Takes { .. })) {
                    let by = Some(head.inst);
                    self.dispatch_ps = held_ps;
                    self.done = later(self.done, Signal { seen_ps: end_ps, by });
                    return (held_ps, end_ps);
                }
                self.recent.push_back(Recent {
                    inst: head.inst,
                    chained_ps: held_ps.max(start_ps + completion_ps + timing.chained_gap_ps),
                    usable_ps: end_ps + timing.dependent_gap_ps,
                });
                (held_ps, end_ps)
            }
        };
        self.dispatch_ps = free_ps.max(start_ps + interval_ps);
        if let Work::Compute { .. } = head.work {
            let seen_ps = end_ps + timing.engine_semaphore_ps;
            self.done = later(
                self.done,
                Signal {
                    seen_ps,
                    by: Some(head.inst),
                },
            );
        }
        (free_ps, end_ps)
    }

    /// Notes that one of this queue's transfers is complete. Gives the queues that it signals.
    pub fn complete(
        &mut self,
        inst: InstId,
        end_ps: u64,
        signals: &mut Signals,
        target: &Target,
    ) -> QueueSet {
        let transfer = self
            .transfers
            .iter_mut()
            .find(|it| it.0 == inst && it.1.is_none());
        transfer
            .expect("a transfer completes once, in the queue that triggered it")
            .1 = Some(end_ps);
        while let Some(&(inst, Some(end_ps))) = self.transfers.front() {
            self.transfers.pop_front();
            self.n_retired += 1;
            let seen_ps = end_ps + target.timing.dma_semaphore_ps;
            self.retired = later(
                self.retired,
                Signal {
                    seen_ps,
                    by: Some(inst),
                },
            );
        }
        self.send_pending(signals)
    }

    fn send_pending(&mut self, signals: &mut Signals) -> QueueSet {
        let mut signalled = 0;
        while let Some(&(n_needed, to, above)) = self.pending.front()
            && n_needed <= self.n_retired
        {
            self.pending.pop_front();
            signals.send(self.engine, to, later(above, self.retired));
            signalled |= 1 << to as usize;
        }
        signalled
    }
}

/// The later of two signals; the first of equal ones.
fn later(a: Signal, b: Signal) -> Signal {
    if b.seen_ps > a.seen_ps { b } else { a }
}

fn compute(inst: &Inst, change: Option<Change>, world: World) -> Work {
    let timing = &world.target.timing;
    let engine = inst.engine as usize;
    if let Some(Change::Takes { ps }) = change {
        return Work::Compute {
            occupancy_ps: ps,
            stream_ps: ps,
            gap_ps: 0,
            completion_ps: 0,
            basis: Basis::Derived,
        };
    }
    let busy = cost::busy(world.program, inst, world.target);
    Work::Compute {
        occupancy_ps: busy.ps(inst.engine, world.target),
        stream_ps: busy.stream_ps(inst.engine, world.target),
        gap_ps: (timing.access_gap_cycles[engine] * 1_000_000).div_ceil(u64::from(timing.clock_mhz[engine])),
        completion_ps: timing.completion_ps[engine],
        basis: busy.basis,
    }
}

/// The ports of the engine that an instruction uses. A transfer uses those of the DMA engines, whose queue only rings the bell.
fn touches(inst: &Inst, world: World) -> Touches {
    let mut touches = [false; 3];
    if inst.op.row().unit == Unit::Dma {
        return touches;
    }
    for arg in &inst.args {
        if let Arg::View(id) = arg {
            touches[world.views.get(*id).memory as usize] = true;
        }
    }
    touches
}

/// The other engine that may not use a port of this memory while this one does (`isa.md` §1.6).
pub fn rival(engine: Engine, memory: Memory) -> Option<Engine> {
    match (engine, memory) {
        (Engine::Vector, Memory::Sbuf) => Some(Engine::Gpsimd),
        (Engine::Gpsimd, Memory::Sbuf) => Some(Engine::Vector),
        (Engine::Vector, Memory::Psum) => Some(Engine::Scalar),
        (Engine::Scalar, Memory::Psum) => Some(Engine::Vector),
        _ => None,
    }
}
