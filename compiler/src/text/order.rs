//! A program order for a scheduled text.
//!
//! Takes queues of steps, gives an order of all instructions that the semaphores allow, or the waits at which the
//! queues block each other. Never asks whether the waits are enough: that is the schedule verifier's work.

use crate::ir::{InstId, Step};
use crate::isa::{Engine, N_ENGINES};

/// Queues are printed and run in this order: transfers bring the data that the others work on.
pub const QUEUE_ORDER: [Engine; N_ENGINES] = [
    Engine::Sync,
    Engine::Tensor,
    Engine::Vector,
    Engine::Scalar,
    Engine::Gpsimd,
];

/// A wait that never ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked {
    pub queue: Engine,
    /// Index of the wait in its queue.
    pub position: usize,
    pub from: Engine,
    /// The signal it waits for, and the last one sent.
    pub count: u32,
    pub signalled: u32,
}

/// Runs the queues, each as far as it gets in turn, until all are empty or none can go on.
pub fn order(queues: &[Vec<Step>; N_ENGINES]) -> Result<Vec<InstId>, Vec<Blocked>> {
    let mut order = Vec::new();
    let mut next = [0; N_ENGINES];
    // `signals[from][to]`
    let mut signals = [[0; N_ENGINES]; N_ENGINES];
    loop {
        let mut moved = false;
        for queue in QUEUE_ORDER {
            let here = queue as usize;
            while let Some(step) = queues[here].get(next[here]) {
                match *step {
                    Step::Inst(id) => order.push(id),
                    Step::Wait { from, count } if signals[from as usize][here] < count => break,
                    Step::Wait { .. } => {}
                    Step::Signal { to, count } => signals[here][to as usize] = count,
                }
                next[here] += 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    let blocked: Vec<Blocked> = QUEUE_ORDER
        .into_iter()
        .filter_map(|queue| {
            let position = next[queue as usize];
            let Step::Wait { from, count } = *queues[queue as usize].get(position)? else {
                return None;
            };
            Some(Blocked {
                queue,
                position,
                from,
                count,
                signalled: signals[from as usize][queue as usize],
            })
        })
        .collect();
    if blocked.is_empty() {
        Ok(order)
    } else {
        Err(blocked)
    }
}
