//! Placing in program order: room is given at births and taken back some time after deaths.
//!
//! Takes tenants in order of birth and a policy, gives a spot for each, or those that find none. Freed bytes rest for a while
//! and are reused longest freed first, so that reuse costs the least waiting. Never moves a tenant that has its place.

use super::space::{Space, Spot};
use super::tenant::Tenant;

/// Which free bytes a tenant gets.
#[derive(Clone, Copy, PartialEq)]
enum Pick {
    /// The lowest address.
    Lowest,
    /// The smallest piece that is large enough.
    Smallest,
    /// One of the two, or the highest address, by a seed and the number of the tenant.
    Seeded(u64),
}

#[derive(Clone, Copy)]
pub struct Policy {
    pick: Pick,
    /// For so many instructions freed bytes are given away only when nothing else fits, those freed longest ago first.
    rest: usize,
    /// Whether small tenants may start at any legal partition instead of the first.
    share_columns: bool,
}

impl Policy {
    pub fn seeded(seed: u64) -> Policy {
        Policy {
            pick: Pick::Seeded(seed),
            rest: (mixed(seed, 0) % (2 * REST as u64)) as usize,
            share_columns: true,
        }
    }
}

/// A number that depends on every bit of both (the finaliser of splitmix64).
fn mixed(seed: u64, number: u64) -> u64 {
    let mut word = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// Long enough for the transfers of several tiles to be on their way, short enough to keep an emulated memory in caches.
const REST: usize = 64;

pub const POLICIES: &[Policy] = &[
    Policy {
        pick: Pick::Lowest,
        rest: REST,
        share_columns: false,
    },
    Policy {
        pick: Pick::Lowest,
        rest: REST,
        share_columns: true,
    },
    Policy {
        pick: Pick::Smallest,
        rest: 0,
        share_columns: true,
    },
];

/// The first tenant that finds no room, and the most granules that it could have had.
#[derive(Clone, Copy)]
pub struct Failed {
    pub tenant: usize,
    pub largest_fit: u32,
}

/// After how many failures a sweep gives up.
#[derive(Clone, Copy, PartialEq)]
pub enum Failures {
    First,
    /// It goes on without the tenants that find no room.
    All,
}

/// Walks through the program once, giving room at births and taking it back some time after deaths.
pub fn sweep(
    tenants: &[Tenant],
    successions: &[Option<usize>],
    mut space: Space,
    policy: Policy,
    failures: Failures,
) -> Result<Vec<Spot>, Vec<Failed>> {
    let mut failed = Vec::new();
    // Those whose place a result took over, and those that have none.
    let mut is_gone = vec![false; tenants.len()];
    let mut deaths = deaths(tenants).into_iter().peekable();
    let mut spots: Vec<Spot> = Vec::with_capacity(tenants.len());
    for (idx, tenant) in tenants.iter().enumerate() {
        if let Some(spot) = &tenant.fixed {
            spots.push(spot.clone());
            continue;
        }
        let now = tenant.life.first.index();
        if let Some(old) = successions[idx] {
            is_gone[idx] = is_gone[old];
            is_gone[old] = true;
            spots.push(spots[old].clone());
            continue;
        }
        let mut release_next = |space: &mut Space, rest: usize| {
            let dead = deaths.next_if(|&it| tenants[it].life.last.index() + rest < now)?;
            // Requested bytes stay reserved, and those that a result took over live on.
            if tenants[dead].fixed.is_none() && !is_gone[dead] {
                space.release(&spots[dead]);
            }
            Some(())
        };
        while release_next(&mut space, policy.rest).is_some() {}
        let spot = loop {
            if let Some(spot) = find(tenant, &space, policy) {
                break Some(spot);
            }
            if release_next(&mut space, 0).is_none() {
                break None;
            }
        };
        if let Some(spot) = spot {
            space.take(&spot);
            spots.push(spot);
            continue;
        }
        let fits = tenant
            .starts
            .iter()
            .map(|&it| space.largest_fit(&tenant.quadrants(it)));
        failed.push(Failed {
            tenant: idx,
            largest_fit: fits.max().unwrap_or(0),
        });
        if failures == Failures::First {
            return Err(failed);
        }
        is_gone[idx] = true;
        spots.push(Spot {
            quadrants: 0..0,
            granules: 0..0,
        });
    }
    if failed.is_empty() { Ok(spots) } else { Err(failed) }
}

fn find(tenant: &Tenant, space: &Space, policy: Policy) -> Option<Spot> {
    let n_starts = if policy.share_columns {
        tenant.starts.len()
    } else {
        1
    };
    let quadrants = tenant.starts[..n_starts].iter().map(|&it| tenant.quadrants(it));
    match policy.pick {
        Pick::Seeded(seed) => {
            let random = mixed(seed, tenant.buffer.index() as u64 + 1);
            let mut fits: Vec<Spot> = quadrants
                .flat_map(|it| {
                    let lowest = space.first_fit(it.clone(), tenant.granules);
                    let highest = space.last_fit(it.clone(), tenant.granules);
                    let smallest = space.best_fit(it, tenant.granules).map(|it| it.1);
                    [lowest, highest, smallest].into_iter().flatten()
                })
                .collect();
            let n_fits = fits.len() as u64;
            (n_fits > 0).then(|| fits.swap_remove((random % n_fits) as usize))
        }
        Pick::Lowest => {
            let fits = quadrants.filter_map(|it| space.first_fit(it, tenant.granules));
            fits.min_by_key(|it| it.granules.start)
        }
        Pick::Smallest => {
            let fits = quadrants.filter_map(|it| space.best_fit(it, tenant.granules));
            fits.min_by_key(|(len, _)| *len).map(|(_, spot)| spot)
        }
    }
}

/// Tenants by the instruction after which they are dead.
pub fn deaths(tenants: &[Tenant]) -> Vec<usize> {
    let mut deaths: Vec<usize> = (0..tenants.len()).collect();
    deaths.sort_by_key(|&it| tenants[it].life.last);
    deaths
}
