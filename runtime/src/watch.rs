//! What is looked into between the instructions of a run: `--trap` and `--sanitize`.
//!
//! Takes the memory before and after each instruction, stops the run with a fault or lets it go on. Never changes a value
//! that a correct program can see.

mod operands;
mod origin;
mod parts;
mod shadow;
mod trap;

pub use origin::Origin;
pub use shadow::{Sanitized, Unset};
pub use trap::Trap;

use crate::access::Access;
use crate::fault::Fault;
use crate::memory::{Layout, Memory};
use nk_compiler::ir::{BufferId, FirstWrites, InstId, Placement, Program};
use shadow::Shadow;
use std::time::{Duration, Instant};
use trap::Traps;

/// What to look for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lookout {
    /// Stop at the first instruction that makes one of these.
    pub traps: Vec<Trap>,
    /// Check reads at run-time addresses, and poison storage when it is reused.
    pub sanitize: bool,
}

impl Lookout {
    pub fn is_idle(&self) -> bool {
        self.traps.is_empty() && !self.sanitize
    }
}

/// A program as it is watched.
pub struct Watched<'a> {
    pub program: &'a Program,
    pub placement: &'a Placement,
    pub first: &'a FirstWrites,
    /// Every view, resolved.
    pub accesses: Vec<Access>,
    pub layout: Layout,
}

/// How a program runs while it is watched.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// In program order, so that storage can be poisoned where a life begins.
    pub in_order: bool,
    /// No other program of a grid writes to the same HBM.
    pub alone: bool,
}

/// The state of a watch during one run.
pub struct Watch<'a> {
    watched: Watched<'a>,
    traps: Option<Traps>,
    shadow: Option<Shadow>,
    spent: Duration,
}

/// What a watch did.
#[derive(Clone, Copy, Debug, Default)]
pub struct WatchReport {
    pub sanitized: Option<Sanitized>,
    /// Our own time between instructions.
    pub spent: Duration,
}

impl<'a> Watch<'a> {
    pub fn new(
        program: &'a Program,
        placement: &'a Placement,
        first: &'a FirstWrites,
        layout: Layout,
        lookout: &Lookout,
        manner: Manner,
    ) -> Watch<'a> {
        let watched = Watched {
            program,
            placement,
            first,
            accesses: Access::all(program, placement, &layout),
            layout,
        };
        Watch {
            traps: (!lookout.traps.is_empty()).then(|| Traps::new(&lookout.traps)),
            shadow: lookout.sanitize.then(|| Shadow::new(&watched, manner)),
            watched,
            spent: Duration::ZERO,
        }
    }

    /// Looks at what an instruction is about to read.
    pub fn before(&mut self, id: InstId, memory: &mut Memory, registers: &[i32]) -> Result<(), Fault> {
        let started = Instant::now();
        if let Some(shadow) = &mut self.shadow {
            shadow.before(&self.watched, id, memory, registers)?;
        }
        if let Some(traps) = &mut self.traps {
            traps.before(&self.watched, id, memory, registers);
        }
        self.spent += started.elapsed();
        Ok(())
    }

    /// Looks at what it has written.
    pub fn after(&mut self, id: InstId, memory: &mut Memory, registers: &[i32]) -> Result<(), Fault> {
        let started = Instant::now();
        if let Some(shadow) = &mut self.shadow {
            shadow.after();
        }
        if let Some(traps) = &mut self.traps {
            traps.after(&self.watched, id, memory, registers)?;
        }
        self.spent += started.elapsed();
        Ok(())
    }

    /// What of a buffer with run-time addresses has not been written; `None` when all has, or all its addresses are static.
    pub fn unset(&self, buffer: BufferId) -> Option<Unset> {
        self.shadow.as_ref()?.unset(&self.watched, buffer)
    }

    pub fn report(&self) -> WatchReport {
        WatchReport {
            sanitized: self.shadow.as_ref().map(Shadow::sanitized),
            spent: self.spent,
        }
    }
}
