//! A program order for a scheduled text.
//!
//! Takes queues of steps, gives an order of all instructions that the semaphores allow, or the waits at which the
//! queues block each other. Never asks whether the waits are enough: that is the schedule verifier's work.

use crate::ir::{InstId, Step};
use crate::isa::{Engine, N_ENGINES};
use std::ops::Range;

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

/// An order, with the ranges of it that are loops.
#[derive(Debug, Default)]
pub struct Order {
    pub insts: Vec<InstId>,
    /// The number of each loop and its instructions.
    pub loops: Vec<(u32, Range<usize>)>,
}

/// Runs the queues, each as far as it gets in turn, until all are empty or none can go on. All queues have the same
/// barriers and loops.
pub fn order(queues: &[Vec<Step>; N_ENGINES]) -> Result<Order, Vec<Blocked>> {
    let mut order = Order::default();
    // The loops that are open: their places in `order.loops`.
    let mut open = Vec::new();
    let mut next = [0; N_ENGINES];
    // `signals[from][to]`
    let mut signals = [[0; N_ENGINES]; N_ENGINES];
    loop {
        let mut moved = false;
        for queue in QUEUE_ORDER {
            let here = queue as usize;
            while let Some(step) = queues[here].get(next[here]) {
                match *step {
                    Step::Inst(id) => order.insts.push(id),
                    Step::Wait { from, count } if signals[from as usize][here] < count => break,
                    Step::Wait { .. } => {}
                    Step::Signal { to, count } => signals[here][to as usize] = count,
                    Step::Barrier | Step::Loop(_) | Step::End => break,
                }
                next[here] += 1;
                moved = true;
            }
        }
        if moved {
            continue;
        }
        let steps = queues.iter().zip(next).map(|(steps, next)| steps.get(next));
        if !steps.clone().all(|it| it.is_some_and(|it| it.is_barrier())) {
            break;
        }
        let here = order.insts.len();
        match steps.flatten().next() {
            Some(Step::Loop(number)) => {
                open.push(order.loops.len());
                order.loops.push((*number, here..here));
            }
            Some(Step::End) => {
                let idx: usize = open.pop().expect("every end has its loop in the same queue");
                order.loops[idx].1.end = here;
            }
            _ => {}
        }
        next.iter_mut().for_each(|it| *it += 1);
        signals = Default::default();
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
