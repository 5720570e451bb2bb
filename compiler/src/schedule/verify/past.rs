//! What is complete at some point of a run.

use crate::isa::{ENGINES, Engine, N_ENGINES};

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
