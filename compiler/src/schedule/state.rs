//! What has happened to a slot so far.

use super::clock::{Clock, Few, Lane};

/// The accesses of a slot that a later one may have to wait for.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The last write, as a lane and the number of positions that complete it.
    written: Option<(Lane, u32)>,
    /// The last reads in each lane.
    reads: Few,
    /// The last accesses of earlier buffers at the same bytes, until the first write. Few slots have it at one time.
    inherited: Option<Box<Clock>>,
}

impl State {
    /// Adds what a read of some of the bytes waits for.
    pub fn before_read(&self, need: &mut Clock) {
        if let Some((lane, position)) = self.written {
            need.raise(lane, position);
        }
    }

    /// Adds what a write of some of the bytes waits for.
    pub fn before_write(&self, need: &mut Clock) {
        self.before_read(need);
        self.reads.raise_all(need);
    }

    /// Adds what any access of just these bytes waits for besides. The first write has waited for all of it.
    pub fn before_own(&self, need: &mut Clock) {
        if let Some(inherited) = &self.inherited {
            need.join(inherited);
        }
    }

    /// Adds the last accesses of an earlier buffer, before anything is written here.
    pub fn inherit(&mut self, last: &Clock) {
        self.inherited.get_or_insert_default().join(last);
    }

    pub fn read(&mut self, lane: Lane, position: u32) {
        self.reads.raise(lane, position);
    }

    pub fn write(&mut self, lane: Lane, position: u32) {
        self.written = Some((lane, position));
        self.inherited = None;
    }

    /// What a write to the bytes waits for, once all accesses of this buffer are known.
    pub fn last(&self) -> Clock {
        let mut last = Clock::default();
        self.before_own(&mut last);
        self.before_write(&mut last);
        last
    }
}
