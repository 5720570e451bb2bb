//! Which queue issues a transfer, and when.
//!
//! Takes a program, gives each instruction a queue and the order in which they are dealt to their queues. Loads stand in
//! the queue of the Sync engine. A store waits for compute, so it stands in a queue that neither computes nor loads, when
//! there is one: a load never waits behind it, no compute is held up, and a signal, which counts only when all transfers
//! above it are complete, never waits for the other kind. When every engine computes, stores share the loads' queue but
//! step behind some of the loads that follow.

use super::clock::Lane;
use crate::footprint::Footprint;
use crate::ir::{Asked, BufferId, Inst, InstId, Placement, Program, View};
use crate::isa::{Access, Engine, N_ENGINES, Unit};
use std::collections::VecDeque;
use std::ops::Range;

/// A store lets so many loads pass, so that the next tiles are on their way while it waits for compute.
const LOADS_AHEAD: u32 = 8;

/// Deals one segment after the other.
pub struct Plan<'a> {
    program: &'a Program,
    placement: &'a Placement,
    /// The queue of stores, when one neither computes nor loads.
    store_queue: Option<Engine>,
    is_born: Vec<bool>,
}

impl<'a> Plan<'a> {
    pub fn new(program: &'a Program, placement: &'a Placement) -> Plan<'a> {
        let mut computes = [false; N_ENGINES];
        for inst in &program.insts {
            computes[inst.engine as usize] |= inst.op.row().unit == Unit::Engine;
        }
        Plan {
            program,
            placement,
            store_queue: [Engine::Gpsimd, Engine::Scalar]
                .into_iter()
                .find(|&it| !computes[it as usize]),
            is_born: vec![false; program.buffers.len()],
        }
    }

    /// The lanes in which instructions may complete.
    pub fn lanes(&self) -> [bool; Lane::N] {
        let mut is_used = [false; Lane::N];
        let mut has_transfers = false;
        for inst in &self.program.insts {
            let unit = inst.op.row().unit;
            is_used[Lane::new(inst.engine, unit).index()] = true;
            has_transfers |= unit == Unit::Dma;
        }
        if let Some(queue) = self.store_queue.filter(|_| has_transfers) {
            is_used[Lane::new(queue, Unit::Dma).index()] = true;
        }
        is_used
    }

    /// The instructions of a segment with their queues, in an order that keeps every conflicting pair as it is in the
    /// program.
    pub fn segment(&mut self, range: Range<usize>) -> Vec<(InstId, Engine)> {
        let ids = match self.store_queue {
            Some(_) => range.map(InstId::new).collect(),
            None => self.delayed(range),
        };
        ids.into_iter()
            .map(|id| (id, self.queue(&self.program[id])))
            .collect()
    }

    fn queue(&self, inst: &Inst) -> Engine {
        match self.store_queue {
            Some(queue) if is_free_store(self.program, inst) && inst.op.row().engines.contains(&queue) => {
                queue
            }
            _ => inst.engine,
        }
    }

    /// Program order, except that stores step behind the loads that follow, up to what depends on them.
    fn delayed(&mut self, range: Range<usize>) -> Vec<InstId> {
        let (program, placement) = (self.program, self.placement);
        let mut order = Vec::with_capacity(range.len());
        let mut waiting: VecDeque<Waiting> = VecDeque::new();
        for id in range.map(InstId::new) {
            let inst = &program[id];
            // A store on which the kernel has said something stays where it is.
            let is_asked = inst.asked != Asked::default();
            let is_store = is_free_store(program, inst) && !is_asked;
            if !waiting.is_empty()
                && (is_asked || depends(program, placement, inst, &waiting, &self.is_born, is_store))
            {
                order.extend(waiting.drain(..).map(|it| it.id));
            }
            for (_, view) in program.accesses(inst) {
                self.is_born[view.buffer.index()] = true;
            }
            if is_store {
                let buffer_of = |wanted| {
                    program
                        .accesses(inst)
                        .find(|it| it.0 == wanted)
                        .map(|it| it.1.buffer)
                };
                if let (Some(source), Some(destination)) = (buffer_of(Access::Read), buffer_of(Access::Write))
                {
                    waiting.push_back(Waiting {
                        id,
                        source,
                        destination,
                        n_passed: 0,
                    });
                    continue;
                }
            }
            order.push(id);
            if inst.op.row().unit == Unit::Dma && inst.engine == inst.op.row().engines[0] {
                waiting.iter_mut().for_each(|it| it.n_passed += 1);
                while let Some(it) = waiting.pop_front_if(|it| it.n_passed >= LOADS_AHEAD) {
                    order.push(it.id);
                }
            }
        }
        order.extend(waiting.into_iter().map(|it| it.id));
        order
    }
}

/// Whether an instruction is a transfer from the chip to HBM that no engine was asked to issue.
fn is_free_store(program: &Program, inst: &Inst) -> bool {
    let row = inst.op.row();
    let to_hbm =
        |(access, view): (Access, &View)| program.memory(view).is_on_chip() == (access == Access::Read);
    row.unit == Unit::Dma && inst.engine == row.engines[0] && program.accesses(inst).all(to_hbm)
}

/// A store that lets loads pass.
struct Waiting {
    id: InstId,
    source: BufferId,
    destination: BufferId,
    n_passed: u32,
}

/// Whether an instruction may touch bytes that a waiting store reads or writes. Stores stay in order among themselves.
fn depends(
    program: &Program,
    placement: &Placement,
    inst: &Inst,
    waiting: &VecDeque<Waiting>,
    is_born: &[bool],
    is_store: bool,
) -> bool {
    program.accesses(inst).any(|(access, view)| {
        let buffer = view.buffer;
        let is_newborn = !is_born[buffer.index()] && program[buffer].memory.is_on_chip();
        waiting.iter().any(|it| {
            let takes_over = || {
                let source = Footprint::of_buffer(program, placement, it.source);
                source
                    .common(&Footprint::of_buffer(program, placement, buffer))
                    .is_some()
            };
            (access != Access::Read && buffer == it.source)
                || (buffer == it.destination && !is_store)
                || (is_newborn && takes_over())
        })
    })
}
