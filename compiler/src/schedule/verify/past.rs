//! What is complete at some point of a run.

use crate::ir::InstId;
use crate::isa::{ENGINES, Engine, N_ENGINES};
use crate::schedule::epochs::{Epochs, Words};

/// Where an instruction stands, and what completes it: its turn in the queue, or the end of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub queue: Engine,
    pub position: u32,
    pub is_transfer: bool,
}

/// For each queue: so many of its instructions are complete, transfers not counted, and all transfers among so many of its
/// instructions are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Past {
    pub compute: [u32; N_ENGINES],
    pub transfers: [u32; N_ENGINES],
}

/// The past of every instruction: that of its queue since the last wait, and what stands before it in the queue.
pub struct Pasts {
    /// What each queue has learned from others, after each of its waits.
    epochs: Epochs,
    /// The epoch of each instruction.
    of_inst: Vec<u32>,
}

/// A point in a queue: an epoch of it, and so many of its instructions.
#[derive(Clone, Copy)]
pub struct Moment {
    epoch: u32,
    position: u32,
}

impl Pasts {
    /// For instructions at these places.
    pub fn new(places: &[Place]) -> Pasts {
        let mut is_used = [false; 2 * N_ENGINES];
        for it in places {
            is_used[it.queue as usize + if it.is_transfer { N_ENGINES } else { 0 }] = true;
        }
        Pasts {
            epochs: Epochs::new(is_used),
            of_inst: vec![0; places.len()],
        }
    }

    /// Begins an epoch of a queue that has learned so much.
    fn learn(&mut self, past: Past) -> u32 {
        let mut words = Words::default();
        words[..N_ENGINES].copy_from_slice(&past.compute);
        words[N_ENGINES..].copy_from_slice(&past.transfers);
        self.epochs.push(&words)
    }

    fn learned(&self, epoch: u32) -> Past {
        let words = self.epochs.get(epoch);
        let mut past = Past::default();
        past.compute.copy_from_slice(&words[..N_ENGINES]);
        past.transfers.copy_from_slice(&words[N_ENGINES..]);
        past
    }

    /// An instruction starts at a moment of its queue.
    pub fn start(&mut self, id: InstId, now: Moment) {
        self.of_inst[id.index()] = now.epoch;
    }

    /// What is complete when an instruction starts.
    pub fn of(&self, id: InstId, place: Place) -> Past {
        let mut past = self.learned(self.of_inst[id.index()]);
        past.compute[place.queue as usize] = place.position;
        past
    }

    /// What a signal tells that a queue gives at some moment: it counts when the transfers above it are complete too.
    pub fn told(&self, queue: usize, moment: Moment) -> Past {
        let mut past = self.learned(moment.epoch);
        past.compute[queue] = moment.position;
        past.transfers[queue] = moment.position;
        past
    }
}

/// A queue while the verifier runs it.
#[derive(Clone, Copy, Default)]
pub struct Runner {
    /// What it has learned from others.
    learned: Past,
    /// Its instructions so far.
    pub position: u32,
    /// The epoch, once it is asked for.
    epoch: Option<u32>,
}

impl Runner {
    /// Learns what another queue tells.
    pub fn join(&mut self, told: &Past) {
        self.learned.join(told);
        self.epoch = None;
    }

    /// Where it stands.
    pub fn now(&mut self, pasts: &mut Pasts) -> Moment {
        Moment {
            epoch: *self.epoch.get_or_insert_with(|| pasts.learn(self.learned)),
            position: self.position,
        }
    }
}

impl Past {
    pub fn join(&mut self, other: &Past) {
        for queue in 0..N_ENGINES {
            self.compute[queue] = self.compute[queue].max(other.compute[queue]);
            self.transfers[queue] = self.transfers[queue].max(other.transfers[queue]);
        }
    }

    /// Makes an instruction part of the past.
    pub fn add(&mut self, place: Place) {
        let lane = if place.is_transfer {
            &mut self.transfers
        } else {
            &mut self.compute
        };
        let position = &mut lane[place.queue as usize];
        *position = (place.position + 1).max(*position);
    }

    pub fn holds(&self, place: Place) -> bool {
        let lane = if place.is_transfer {
            &self.transfers
        } else {
            &self.compute
        };
        place.position < lane[place.queue as usize]
    }

    /// The place of an instruction that is in the other past and not in this one.
    pub fn first_missing(&self, other: &Past) -> Option<Place> {
        let lanes = [
            (false, &self.compute, &other.compute),
            (true, &self.transfers, &other.transfers),
        ];
        lanes.into_iter().find_map(|(is_transfer, known, needed)| {
            let idx = (0..N_ENGINES).find(|&it| known[it] < needed[it])?;
            Some(Place {
                queue: ENGINES[idx].0,
                position: needed[idx] - 1,
                is_transfer,
            })
        })
    }
}

/// The last reads of some bytes, one for each lane. Nearly all are read by one queue or two.
#[derive(Clone)]
pub enum Reads {
    Two([Option<Place>; 2]),
    Many(Box<Past>),
}

impl Default for Reads {
    fn default() -> Reads {
        Reads::Two([None; 2])
    }
}

impl Reads {
    pub fn add(&mut self, place: Place) {
        let places = match self {
            Reads::Two(places) => places,
            Reads::Many(past) => return past.add(place),
        };
        let is_lane = |it: &Place| (it.queue, it.is_transfer) == (place.queue, place.is_transfer);
        match places.iter_mut().find(|it| it.as_ref().is_none_or(is_lane)) {
            Some(last) if last.is_some_and(|it| it.position > place.position) => {}
            Some(last) => *last = Some(place),
            None => {
                let mut past = self.past();
                past.add(place);
                *self = Reads::Many(Box::new(past));
            }
        }
    }

    pub fn past(&self) -> Past {
        match self {
            Reads::Two(places) => {
                let mut past = Past::default();
                places.iter().flatten().for_each(|it| past.add(*it));
                past
            }
            Reads::Many(past) => **past,
        }
    }
}
