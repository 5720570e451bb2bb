//! The modelled timeline of a program: what ran when, on which engine, and what it waited for.
//!
//! `time` makes it; reports, drawings and advice read it. All times are integer picoseconds from the first
//! instruction on. Holds no wording.

use nk_compiler::ir::{Control, ControlStep, InstId};
use nk_compiler::isa::{Engine, Memory, N_ENGINES};

/// The timeline of one core.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// When the last instruction or transfer is complete.
    pub total_ps: u64,
    /// Indexed by [`InstId`].
    pub events: Vec<Event>,
    /// In the order of their triggers.
    pub transfers: Vec<Transfer>,
    /// Collectives, in the order of their completion: from when all ranks were there to the end.
    pub collectives: Vec<Transfer>,
    /// Times in which the head of a queue was ready to be dispatched but had to wait.
    pub stalls: Vec<Stall>,
    /// Loads of function tables by the Scalar engine, each before the instruction that needs it.
    pub table_loads: Vec<TableLoad>,
    /// Instructions by start time: an order in which they may be executed one after the other.
    pub order: Vec<InstId>,
    /// Time in which an engine has an instruction in flight, indexed by [`Engine`].
    pub busy_ps: [u64; N_ENGINES],
    /// Time in which at least one DMA engine moves data.
    pub dma_busy_ps: u64,
    /// Work charged to all engines, and the part of it that rests on guessed costs.
    pub charged_ps: u64,
    pub guessed_ps: u64,
    /// Bytes that instructions and transfers read and write, indexed by [`Memory`].
    pub traffic: [Traffic; 3],
    /// What each stretch between two barriers takes, from barrier to barrier; one for a program without control flow.
    pub segments: Vec<Totals>,
}

/// Sums over a stretch of the timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub total_ps: u64,
    pub busy_ps: [u64; N_ENGINES],
    pub dma_busy_ps: u64,
    pub charged_ps: u64,
    pub guessed_ps: u64,
    pub traffic: [Traffic; 3],
}

impl Totals {
    fn zip(&self, other: &Totals, f: impl Fn(u64, u64) -> u64) -> Totals {
        let mut result = Totals {
            total_ps: f(self.total_ps, other.total_ps),
            dma_busy_ps: f(self.dma_busy_ps, other.dma_busy_ps),
            charged_ps: f(self.charged_ps, other.charged_ps),
            guessed_ps: f(self.guessed_ps, other.guessed_ps),
            ..Totals::default()
        };
        for engine in 0..N_ENGINES {
            result.busy_ps[engine] = f(self.busy_ps[engine], other.busy_ps[engine]);
        }
        for memory in 0..3 {
            let (a, b) = (self.traffic[memory], other.traffic[memory]);
            result.traffic[memory] = Traffic {
                read: f(a.read, b.read),
                written: f(a.written, b.written),
            };
        }
        result
    }

    /// The share of the charged work that rests on guessed costs, 0 to 1.
    pub fn guessed_share(&self) -> f64 {
        self.guessed_ps as f64 / self.charged_ps.max(1) as f64
    }

    pub fn minus(&self, earlier: &Totals) -> Totals {
        self.zip(earlier, |a, b| a - b)
    }

    /// Loops that run for months end at the largest number.
    pub fn plus(&self, other: &Totals) -> Totals {
        self.zip(other, |a, b| a.saturating_add(b).min(MOST))
    }

    /// The same stretch so many times.
    pub fn times(&self, count: u64) -> Totals {
        self.zip(self, |it, _| it.saturating_mul(count).min(MOST))
    }
}

/// Four such sums are still a number.
const MOST: u64 = u64::MAX / 4;

/// One instruction in time. For a DMA, `start_ps` is the trigger and `end_ps` the end of the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub start_ps: u64,
    /// When the engine is free for the next instruction of its queue.
    pub free_ps: u64,
    /// When the results are visible to those who wait for them.
    pub end_ps: u64,
    /// What set the start.
    pub bound: Bound,
}

/// What set the start of an instruction: the edge of the critical path that ends in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// It is the first of its queue.
    Start,
    /// The queue was busy with the instruction before.
    Queue(InstId),
    /// A semaphore that was set when this instruction, or transfer, was complete.
    Signal(InstId),
    /// It reads what an instruction of its own queue wrote.
    Dependence(InstId),
    /// The port that this instruction of the other engine had.
    Port(InstId),
}

/// One DMA on the DMA engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub inst: InstId,
    /// When the queue triggered it.
    pub trigger_ps: u64,
    /// When the first and the last byte of any DMA engine move.
    pub first_ps: u64,
    pub last_ps: u64,
    /// When its semaphores are set.
    pub end_ps: u64,
    pub bytes: u64,
}

/// A wait of the instruction at the head of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    pub engine: Engine,
    pub inst: InstId,
    pub start_ps: u64,
    pub end_ps: u64,
    pub bound: Bound,
}

/// A load of a function table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableLoad {
    pub inst: InstId,
    pub start_ps: u64,
    pub end_ps: u64,
}

/// Bytes through the ports of a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    pub read: u64,
    pub written: u64,
}

impl Trace {
    /// The share of the charged work that rests on guessed costs, 0 to 1.
    pub fn guessed_share(&self) -> f64 {
        if self.charged_ps == 0 {
            return 0.0;
        }
        self.guessed_ps as f64 / self.charged_ps as f64
    }

    /// The sums over an execution that has gone through the segments of the control flow so many times each.
    pub fn along(&self, control: &Control, counts: &[u64]) -> Totals {
        let mut sum = Totals::default();
        let (mut n_meets, mut segment) = (0, 0);
        for step in control.flatten() {
            match step {
                ControlStep::Meet(_) => n_meets += 1,
                ControlStep::Segment(_) => {
                    sum = sum.plus(&self.segments[n_meets].times(counts[segment]));
                    segment += 1;
                }
            }
        }
        sum
    }

    pub fn event(&self, inst: InstId) -> &Event {
        &self.events[inst.index()]
    }

    pub fn traffic(&self, memory: Memory) -> Traffic {
        self.traffic[memory as usize]
    }
}
