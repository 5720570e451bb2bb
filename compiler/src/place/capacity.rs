//! What to say when a memory is full.
//!
//! Takes tenants in order of birth, gives those with which more is live than the memory has, and the report about each that
//! finds no room: what else lives there, and what would fit. Never chooses an address.

use super::error::{LiveTensor, NoRoom, Tensor};
use super::space::{Granule, Space};
use super::sweep::{Failed, deaths};
use super::tenant::Tenant;
use crate::ir::Program;
use crate::isa::Memory;
use crate::target::Target;
use std::cmp::Reverse;

/// Granules that tenants living at the same time need in at least one partition, however they are packed.
#[derive(Clone, Copy, Default)]
struct Demand {
    /// Granules times quadrants of all.
    area: u64,
    /// Granules of those that leave less than a half of the partitions: they never lie side by side.
    tall: u64,
}

impl Demand {
    fn add(&mut self, tenant: &Tenant) {
        self.area += tenant.area();
        if tenant.n_quadrants > 2 {
            self.tall += u64::from(tenant.granules);
        }
    }

    fn remove(&mut self, tenant: &Tenant) {
        self.area -= tenant.area();
        if tenant.n_quadrants > 2 {
            self.tall -= u64::from(tenant.granules);
        }
    }

    fn granules(&self) -> u64 {
        self.area.div_ceil(4).max(self.tall)
    }
}

/// The tenants with which more is live than the memory has, those before them that do not fit left out.
pub fn over_capacity(tenants: &[Tenant], successions: &[Option<usize>], space: &Space) -> Vec<Failed> {
    let mut failed = Vec::new();
    let mut demand = Demand::default();
    let mut deaths = deaths(tenants).into_iter().peekable();
    let mut is_gone = vec![false; tenants.len()];
    for (idx, tenant) in tenants.iter().enumerate() {
        while let Some(dead) = deaths.next_if(|&it| tenants[it].life.last < tenant.life.first) {
            if !is_gone[dead] {
                demand.remove(&tenants[dead]);
            }
        }
        if let Some(old) = successions[idx]
            && !is_gone[old]
        {
            demand.remove(&tenants[old]);
            is_gone[old] = true;
        }
        let before = demand.granules();
        demand.add(tenant);
        if demand.granules() > u64::from(space.granules) {
            failed.push(Failed {
                tenant: idx,
                largest_fit: space.granules - before as u32,
            });
            demand.remove(tenant);
            is_gone[idx] = true;
        }
    }
    failed
}

/// So many lines are told that their tensors do not fit.
const MAX_REPORTS: usize = 8;

/// What to say about the tenants that do not fit, once for each line of the kernel.
pub fn no_room(
    program: &Program,
    memory: Memory,
    tenants: &[Tenant],
    failed: &[Failed],
    granule: Granule,
    target: &Target,
) -> Vec<NoRoom> {
    let mut is_homeless = vec![false; tenants.len()];
    failed.iter().for_each(|it| is_homeless[it.tenant] = true);
    let mut all: Vec<NoRoom> = Vec::new();
    for it in failed {
        let span = program.span(program[tenants[it.tenant].buffer].loc);
        let known = all
            .iter_mut()
            .find(|known| span.is_some() && known.tensor.tensor.span == span);
        if let Some(known) = known {
            known.repeats += 1;
        } else if all.len() < MAX_REPORTS {
            all.push(no_room_for(
                program,
                memory,
                tenants,
                (it, &is_homeless),
                granule,
                target,
            ));
        }
    }
    all
}

fn no_room_for(
    program: &Program,
    memory: Memory,
    tenants: &[Tenant],
    (failed, is_homeless): (&Failed, &[bool]),
    granule: Granule,
    target: &Target,
) -> NoRoom {
    let tensor = &tenants[failed.tenant];
    let described = |it: &Tenant| LiveTensor {
        tensor: Tensor::new(program, it.buffer),
        born: it.life.first.index() + 1,
        dies: it.life.last.index() + 1,
    };
    let others = tenants[..failed.tenant].iter().zip(is_homeless);
    let others = others.filter(|(it, is_homeless)| it.life.last >= tensor.life.first && !**is_homeless);
    let others = others.map(|it| it.0);
    let mut demand = Demand::default();
    demand.add(tensor);
    others.clone().for_each(|it| demand.add(it));
    let mut live: Vec<LiveTensor> = others.map(described).collect();
    live.sort_by_key(|it| Reverse(it.tensor.bytes));
    let granule_bytes = u64::from(granule.bytes);
    NoRoom {
        memory,
        capacity: u64::from(match memory {
            Memory::Psum => target.psum_partition_bytes,
            _ => target.sbuf_partition_bytes,
        }),
        needed: demand.granules() * granule_bytes,
        tensor: described(tensor),
        largest_fit: u64::from(failed.largest_fit) * granule_bytes,
        live,
        repeats: 0,
        n_insts: program.insts.len(),
    }
}
