//! What has happened to a slot so far.

use super::clock::{Clock, Lane};

/// The accesses of a slot that a later one may have to wait for.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    /// The last write, as a lane and the number of positions that complete it.
    written: Option<(Lane, u32)>,
    /// The last reads in each lane.
    reads: Clock,
    /// The last accesses of earlier buffers at the same bytes.
    pub inherited: Clock,
}

impl State {
    /// Adds what a read waits for.
    pub fn before_read(&self, need: &mut Clock) {
        match self.written {
            Some((lane, position)) => need.raise(lane, position),
            // The first write has waited for what was inherited.
            None => need.join(&self.inherited),
        }
    }

    /// Adds what a write waits for.
    pub fn before_write(&self, need: &mut Clock) {
        self.before_read(need);
        need.join(&self.reads);
    }

    pub fn read(&mut self, lane: Lane, position: u32) {
        self.reads.raise(lane, position);
    }

    pub fn write(&mut self, lane: Lane, position: u32) {
        self.written = Some((lane, position));
    }

    /// All accesses, for an heir of the bytes.
    pub fn last(&self) -> Clock {
        let mut last = self.inherited;
        self.before_write(&mut last);
        last
    }
}
