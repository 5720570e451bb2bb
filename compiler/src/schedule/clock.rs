//! How far the queues are known to be: a vector clock of queue positions.

use super::epochs::Words;
use crate::isa::{Engine, N_ENGINES, Unit};
use std::num::NonZeroU8;

/// What runs in a queue's order: its compute, which takes effect in order, or the end of its transfers. One more than the
/// index is kept, so that an optional lane takes no more room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane(NonZeroU8);

impl Lane {
    pub const N: usize = 2 * N_ENGINES;

    pub fn new(queue: Engine, unit: Unit) -> Lane {
        match unit {
            Unit::Engine | Unit::Sequencer => Lane::at(queue as usize),
            Unit::Dma => Lane::at(queue as usize + N_ENGINES),
        }
    }

    fn at(index: usize) -> Lane {
        let number = u8::try_from(index + 1).ok().and_then(NonZeroU8::new);
        Lane(number.expect("there are few lanes"))
    }

    /// Index of the queue.
    pub fn queue(self) -> usize {
        self.index() % N_ENGINES
    }

    pub fn index(self) -> usize {
        usize::from(self.0.get()) - 1
    }

    pub fn all() -> impl Iterator<Item = Lane> {
        (0..Lane::N).map(Lane::at)
    }
}

/// A clock of few lanes: nearly every tile is read by one queue or two.
#[derive(Clone, Debug)]
pub enum Few {
    Two([Option<Lane>; 2], [u32; 2]),
    Many(Box<Clock>),
}

impl Default for Few {
    fn default() -> Few {
        Few::Two([None; 2], [0; 2])
    }
}

impl Few {
    pub fn raise(&mut self, lane: Lane, position: u32) {
        let (lanes, positions) = match self {
            Few::Two(lanes, positions) => (lanes, positions),
            Few::Many(clock) => return clock.raise(lane, position),
        };
        match lanes.iter().position(|it| it.is_none_or(|it| it == lane)) {
            Some(at) => {
                lanes[at] = Some(lane);
                positions[at] = position.max(positions[at]);
            }
            None => {
                let mut clock = Clock::default();
                self.raise_all(&mut clock);
                clock.raise(lane, position);
                *self = Few::Many(Box::new(clock));
            }
        }
    }

    /// Raises another clock to all that this one has.
    pub fn raise_all(&self, other: &mut Clock) {
        match self {
            Few::Two(lanes, positions) => {
                let known = lanes.iter().zip(positions);
                known
                    .filter_map(|(lane, position)| Some(((*lane)?, *position)))
                    .for_each(|(lane, position)| other.raise(lane, position));
            }
            Few::Many(clock) => other.join(clock),
        }
    }
}

/// For each lane a number of queue positions: everything of the lane that stands before is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Clock(pub Words);

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
