//! Live ranges: from the first to the last instruction that touches a buffer, in program order.
//!
//! Takes a program, gives a range per buffer. Never looks at queues: the schedule keeps reuse correct.

use crate::ir::{InstId, Program, Role};

/// The first and last instruction that touch a buffer; both may be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    pub first: InstId,
    pub last: InstId,
}

impl Life {
    pub fn overlaps(&self, other: &Life) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// Instructions from first to last, both included.
    pub fn n_insts(&self) -> usize {
        self.last.index() - self.first.index() + 1
    }
}

/// A live range for every buffer; `None` for one that nothing touches.
///
/// An argument lives from the first instruction on, a result until the last one. What a loop shares with the rest of the
/// program lives as long as the loop: the next iteration may want it. So does what is addressed at run time, as nobody knows
/// which iteration reads what an earlier one has written.
pub fn lives(program: &Program) -> Vec<Option<Life>> {
    let mut lives: Vec<Option<Life>> = vec![None; program.buffers.len()];
    for (id, inst) in program.iter() {
        for (_, view) in program.accesses(inst) {
            let life = &mut lives[view.buffer.index()];
            match life {
                Some(life) => life.last = id,
                None => *life = Some(Life { first: id, last: id }),
            }
        }
    }
    let Some(last) = program.insts.len().checked_sub(1) else {
        return lives;
    };
    let mut is_dynamic = vec![false; program.buffers.len()];
    if !program.loops.is_empty() {
        for view in program.views().iter().filter(|it| it.dynamic.is_some()) {
            is_dynamic[view.buffer.index()] = true;
        }
    }
    for it in program.loops.iter().rev().filter(|it| it.first < it.end) {
        let (first, last) = (InstId::new(it.first), InstId::new(it.end - 1));
        for (life, is_dynamic) in lives.iter_mut().zip(&is_dynamic) {
            let Some(life) = life else { continue };
            let meets = life.first <= last && first <= life.last;
            if meets && (*is_dynamic || life.first < first || last < life.last) {
                life.first = life.first.min(first);
                life.last = life.last.max(last);
            }
        }
    }
    for (buffer, life) in program.buffers.iter().zip(&mut lives) {
        if let Some(life) = life {
            match buffer.role {
                Role::In => life.first = InstId::new(0),
                Role::Out => life.last = InstId::new(last),
                Role::Local => {}
            }
        }
    }
    for result in &program.results {
        if let Some(life) = &mut lives[result.buffer.index()] {
            life.last = InstId::new(last);
        }
    }
    lives
}
