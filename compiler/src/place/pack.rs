//! Packing with all live ranges known: what is tried when placing in program order does not fit.
//!
//! Takes tenants in an order of importance, gives each the lowest bytes that no earlier one uses at the same time. Slower
//! to compute, and harder on double buffering, than letting freed bytes rest.

use super::space::{Space, Spot};
use super::tenant::Tenant;
use std::ops::Range;

/// Live ranges are found through this many buckets of instructions, so that tenants with short lives meet few others.
const N_BUCKETS: usize = 1024;

/// A spot for every tenant, in the order of `tenants`; `None` when one does not fit.
pub fn pack(tenants: &[Tenant], order: &[usize], space: &Space) -> Option<Vec<Spot>> {
    let n_insts = tenants
        .iter()
        .map(|it| it.life.last.index() + 1)
        .max()
        .unwrap_or(0);
    let mut shelf = Shelf {
        tenants,
        spots: vec![None; tenants.len()],
        buckets: vec![Vec::new(); N_BUCKETS],
        bucket_len: n_insts.div_ceil(N_BUCKETS).max(1),
        seen: vec![usize::MAX; tenants.len()],
    };
    // Requested addresses are given, so they come before everything.
    for (idx, tenant) in tenants.iter().enumerate() {
        if let Some(spot) = &tenant.fixed {
            shelf.put(idx, spot.clone());
        }
    }
    for &idx in order {
        if tenants[idx].fixed.is_none() {
            let spot = shelf.lowest(idx, space)?;
            shelf.put(idx, spot);
        }
    }
    shelf.spots.into_iter().collect()
}

/// The tenants that have a spot.
struct Shelf<'a> {
    tenants: &'a [Tenant],
    spots: Vec<Option<Spot>>,
    /// Placed tenants by the instructions they live through.
    buckets: Vec<Vec<usize>>,
    bucket_len: usize,
    /// The last tenant that each tenant was compared with: one that fills several buckets is met once.
    seen: Vec<usize>,
}

impl Shelf<'_> {
    fn buckets_of(&self, idx: usize) -> Range<usize> {
        let life = self.tenants[idx].life;
        life.first.index() / self.bucket_len..life.last.index() / self.bucket_len + 1
    }

    fn put(&mut self, idx: usize, spot: Spot) {
        for bucket in self.buckets_of(idx) {
            self.buckets[bucket].push(idx);
        }
        self.spots[idx] = Some(spot);
    }

    /// The lowest spot, over the legal start partitions, that no placed tenant of the same time uses.
    fn lowest(&mut self, idx: usize, space: &Space) -> Option<Spot> {
        let tenant = &self.tenants[idx];
        let mut neighbours = Vec::new();
        for bucket in self.buckets_of(idx) {
            for &other in &self.buckets[bucket] {
                if self.seen[other] != idx && self.tenants[other].life.overlaps(&tenant.life) {
                    self.seen[other] = idx;
                    neighbours.extend(self.spots[other].as_ref());
                }
            }
        }
        neighbours.sort_by_key(|it| it.granules.start);
        let spots = tenant.starts.iter().filter_map(|&start| {
            let quadrants = tenant.quadrants(start);
            let start = lowest_gap(&neighbours, &quadrants, tenant.granules, space)?;
            Some(Spot {
                quadrants,
                granules: start..start + tenant.granules,
            })
        });
        spots.min_by_key(|it| it.granules.start)
    }
}

/// The lowest start of a gap between neighbours (sorted by start) in some quadrants.
fn lowest_gap(neighbours: &[&Spot], quadrants: &Range<u32>, granules: u32, space: &Space) -> Option<u32> {
    let in_way = |it: &&&Spot| it.quadrants.start < quadrants.end && quadrants.start < it.quadrants.end;
    let mut start = 0;
    for it in neighbours.iter().filter(in_way) {
        if space.start(start, granules) + granules <= it.granules.start {
            break;
        }
        start = start.max(it.granules.end);
    }
    let start = space.start(start, granules);
    (granules <= space.granules && start <= space.granules - granules).then_some(start)
}
