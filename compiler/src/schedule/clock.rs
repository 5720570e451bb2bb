//! How far the queues are known to be: a vector clock of queue positions.

use crate::isa::{Engine, N_ENGINES, Unit};

/// What runs in a queue's order: its compute, which takes effect in order, or the end of its transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane(u8);

impl Lane {
    pub const N: usize = 2 * N_ENGINES;

    pub fn new(queue: Engine, unit: Unit) -> Lane {
        match unit {
            Unit::Engine | Unit::Sequencer => Lane(queue as u8),
            Unit::Dma => Lane(queue as u8 + N_ENGINES as u8),
        }
    }

    /// Index of the queue.
    pub fn queue(self) -> usize {
        self.index() % N_ENGINES
    }

    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    pub fn all() -> impl Iterator<Item = Lane> {
        (0..Lane::N as u8).map(Lane)
    }
}

/// For each lane a number of queue positions: everything of the lane that stands before is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Clock([u32; Lane::N]);

impl Clock {
    pub fn get(&self, lane: Lane) -> u32 {
        self.0[lane.index()]
    }

    pub fn raise(&mut self, lane: Lane, position: u32) {
        let known = &mut self.0[lane.index()];
        *known = position.max(*known);
    }

    pub fn join(&mut self, other: &Clock) {
        for (known, other) in self.0.iter_mut().zip(&other.0) {
            *known = (*known).max(*other);
        }
    }

    /// Whether all that the other one knows is known here.
    pub fn covers(&self, other: &Clock) -> bool {
        self.0.iter().zip(&other.0).all(|(known, other)| known >= other)
    }
}
