//! Placement: an address for every buffer.
//!
//! Takes a verified program, gives regions such that no two buffers share bytes while both live. Live ranges are those of
//! program order; freed bytes rest for a while and are reused longest freed first, so that reuse costs the least waiting
//! and double buffering survives. Only when that does not fit are tighter packings tried, and then results in the place of
//! operands that die there. Never moves or splits a buffer.

mod disjoint;
mod error;
mod in_place;
mod live;
mod pack;
mod space;
mod tenant;

pub use disjoint::verify_placement;
pub use error::{Error, LiveTensor, NoRoom, Tensor};
pub use tenant::RequestFault;

use crate::ir::{BufferId, Placement, Program, Region};
use crate::isa::Memory;
use crate::target::Target;
use disjoint::Resident;
pub use live::{Life, lives};
use space::{Banks, Granule, QUADRANT, Space, Spot};
use std::cmp::Reverse;
use std::ops::Range;
use tenant::{Tenant, tenants, tile_starts};

/// Addresses in HBM are multiples of this, so that DMA rows start aligned.
const HBM_ALIGN: u64 = 64;

/// Gives every buffer an address, or says what does not fit.
pub fn place(program: &Program, target: &Target) -> Result<Placement, Vec<Error>> {
    place_by(program, target, None)
}

/// [`place`] with another choice among the places that fit, for each seed another one.
pub fn place_seeded(program: &Program, target: &Target, seed: u64) -> Result<Placement, Vec<Error>> {
    place_by(program, target, Some(seed))
}

fn place_by(program: &Program, target: &Target, seed: Option<u64>) -> Result<Placement, Vec<Error>> {
    let mut errors = Vec::new();
    let lives = lives(program);
    let mut regions = hbm_regions(program, target, &mut errors);
    let tile_starts = tile_starts(program, &mut errors);
    for memory in [Memory::Sbuf, Memory::Psum] {
        let requests = program.buffers.iter().filter(|it| it.memory == memory);
        let starts = requests.filter_map(|it| Some(it.request?.byte));
        let granule = Granule::dividing(starts, target);
        let space = memory_space(memory, granule, target);
        let tenants = tenants(
            program,
            target,
            memory,
            granule,
            &lives,
            &tile_starts,
            &mut errors,
        );
        let successions = in_place::successions(program, &tenants, &lives);
        match spots(program, memory, &tenants, &successions, space, target, seed) {
            Ok(spots) => {
                for (tenant, spot) in tenants.iter().zip(spots) {
                    regions[tenant.buffer.index()] = region(program, tenant.buffer, &spot, granule);
                }
            }
            Err(it) => errors.extend(it),
        }
    }
    if errors.is_empty() {
        Ok(with_peaks_of(program, regions, &lives))
    } else {
        Err(errors)
    }
}

/// An empty on-chip memory.
fn memory_space(memory: Memory, granule: Granule, target: &Target) -> Space {
    let (bytes, banks) = match memory {
        Memory::Psum => (
            target.psum_partition_bytes,
            Banks::Of(target.psum_bank_bytes / granule.bytes),
        ),
        Memory::Hbm | Memory::Sbuf => (target.sbuf_partition_bytes, Banks::None),
    };
    Space::new(bytes, banks, granule)
}

/// Addresses in HBM one after another; on-chip buffers start at byte 0, where those that are never touched stay.
fn hbm_regions(program: &Program, target: &Target, errors: &mut Vec<Error>) -> Vec<Region> {
    let mut next = 0u64;
    let regions = program.buffers.iter().map(|buffer| {
        if buffer.memory.is_on_chip() {
            return Region::OnChip {
                partition: 0,
                partitions: u16::try_from(buffer.partitions()).unwrap_or(u16::MAX),
                start: 0,
                end: u32::try_from(buffer.bytes()).unwrap_or(u32::MAX),
            };
        }
        let address = next;
        next = next
            .saturating_add(buffer.bytes())
            .checked_next_multiple_of(HBM_ALIGN)
            .unwrap_or(u64::MAX);
        Region::Hbm { address }
    });
    let regions = regions.collect();
    if next > target.hbm_bytes {
        let in_hbm = (0..program.buffers.len())
            .map(BufferId::new)
            .filter(|&it| !program[it].memory.is_on_chip());
        if let Some(largest) = in_hbm.max_by_key(|&it| (program[it].bytes(), Reverse(it))) {
            errors.push(Error::HbmOverCapacity {
                needed: next,
                capacity: target.hbm_bytes,
                largest: Tensor::new(program, largest),
            });
        }
    }
    regions
}

fn region(program: &Program, id: BufferId, spot: &Spot, granule: Granule) -> Region {
    let start = spot.granules.start * granule.bytes;
    let buffer = &program[id];
    Region::OnChip {
        partition: (spot.quadrants.start * QUADRANT) as u16,
        partitions: buffer.partitions() as u16,
        start,
        end: start + buffer.bytes() as u32,
    }
}

/// A spot for every tenant of one memory.
fn spots(
    program: &Program,
    memory: Memory,
    tenants: &[Tenant],
    successions: &[Option<usize>],
    mut space: Space,
    target: &Target,
    seed: Option<u64>,
) -> Result<Vec<Spot>, Vec<Error>> {
    let collisions = disjoint::collisions(program, memory, &requested(tenants), space.clone());
    if !collisions.is_empty() {
        return Err(collisions);
    }
    let granule = space.granule;
    let full = |failed: &Failed| {
        let no_room = no_room(program, memory, tenants, failed, granule, target);
        vec![Error::NoRoom(Box::new(no_room))]
    };
    if let Some(failed) = over_capacity(tenants, successions, &space) {
        return Err(full(&failed));
    }
    let empty = space.clone();
    // Requested bytes are kept free for their owners all the time; only `pack` shares them.
    for spot in tenants.iter().filter_map(|it| it.fixed.as_ref()) {
        space.take(spot);
    }
    let mut failed = None;
    let alone = vec![None; tenants.len()];
    if let Some(seed) = seed
        && let Ok(spots) = sweep(tenants, &alone, space.clone(), Policy::seeded(seed))
    {
        return Ok(spots);
    }
    for policy in POLICIES {
        match sweep(tenants, &alone, space.clone(), *policy) {
            Ok(spots) => return Ok(spots),
            Err(it) => failed = Some(it),
        }
    }
    for order in orders(tenants) {
        if let Some(spots) = pack::pack(tenants, &order, &empty) {
            return Ok(spots);
        }
    }
    // Results in the place of their operands come last: they tie two lives together.
    for policy in POLICIES {
        match sweep(tenants, successions, space.clone(), *policy) {
            Ok(spots) => return Ok(spots),
            Err(it) => failed = Some(it),
        }
    }
    Err(full(&failed.expect("every policy has failed")))
}

/// The tenants whose places are given.
fn requested(tenants: &[Tenant]) -> Vec<Resident> {
    let resident = |it: &Tenant| {
        Some(Resident {
            buffer: it.buffer,
            life: it.life,
            spot: it.fixed.clone()?,
        })
    };
    tenants.iter().filter_map(resident).collect()
}

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
struct Policy {
    pick: Pick,
    /// For so many instructions freed bytes are given away only when nothing else fits, those freed longest ago first.
    rest: usize,
    /// Whether small tenants may start at any legal partition instead of the first.
    share_columns: bool,
}

impl Policy {
    fn seeded(seed: u64) -> Policy {
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

const POLICIES: &[Policy] = &[
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

/// Tenants by falling size, by size times life, and by life: what is hard to place comes first.
fn orders(tenants: &[Tenant]) -> [Vec<usize>; 3] {
    let by = |key: fn(&Tenant) -> u64| {
        let mut order: Vec<usize> = (0..tenants.len()).collect();
        order.sort_by_key(|&it| Reverse(key(&tenants[it])));
        order
    };
    [
        by(Tenant::area),
        by(|it| it.area() * it.life.n_insts() as u64),
        by(|it| it.life.n_insts() as u64),
    ]
}

/// The first tenant that finds no room, and the most granules that it could have had.
struct Failed {
    tenant: usize,
    largest_fit: u32,
}

/// Walks through the program once, giving room at births and taking it back some time after deaths.
fn sweep(
    tenants: &[Tenant],
    successions: &[Option<usize>],
    mut space: Space,
    policy: Policy,
) -> Result<Vec<Spot>, Failed> {
    let mut has_heir = vec![false; tenants.len()];
    let mut deaths = deaths(tenants).into_iter().peekable();
    let mut spots: Vec<Spot> = Vec::with_capacity(tenants.len());
    for (idx, tenant) in tenants.iter().enumerate() {
        if let Some(spot) = &tenant.fixed {
            spots.push(spot.clone());
            continue;
        }
        let now = tenant.life.first.index();
        if let Some(old) = successions[idx] {
            has_heir[old] = true;
            spots.push(spots[old].clone());
            continue;
        }
        let mut release_next = |space: &mut Space, rest: usize| {
            let dead = deaths.next_if(|&it| tenants[it].life.last.index() + rest < now)?;
            // Requested bytes stay reserved, and those that a result took over live on.
            if tenants[dead].fixed.is_none() && !has_heir[dead] {
                space.release(&spots[dead]);
            }
            Some(())
        };
        while release_next(&mut space, policy.rest).is_some() {}
        let spot = loop {
            if let Some(spot) = find(tenant, &space, policy) {
                break spot;
            }
            if release_next(&mut space, 0).is_none() {
                let fits = tenant
                    .starts
                    .iter()
                    .map(|&it| space.largest_fit(&tenant.quadrants(it)));
                return Err(Failed {
                    tenant: idx,
                    largest_fit: fits.max().unwrap_or(0),
                });
            }
        };
        space.take(&spot);
        spots.push(spot);
    }
    Ok(spots)
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
fn deaths(tenants: &[Tenant]) -> Vec<usize> {
    let mut deaths: Vec<usize> = (0..tenants.len()).collect();
    deaths.sort_by_key(|&it| tenants[it].life.last);
    deaths
}

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

/// The first tenant with which more is live than the memory has.
fn over_capacity(tenants: &[Tenant], successions: &[Option<usize>], space: &Space) -> Option<Failed> {
    let mut demand = Demand::default();
    let mut deaths = deaths(tenants).into_iter().peekable();
    let mut is_gone = vec![false; tenants.len()];
    for (idx, tenant) in tenants.iter().enumerate() {
        while let Some(dead) = deaths.next_if(|&it| tenants[it].life.last < tenant.life.first) {
            if !is_gone[dead] {
                demand.remove(&tenants[dead]);
            }
        }
        if let Some(old) = successions[idx] {
            demand.remove(&tenants[old]);
            is_gone[old] = true;
        }
        let before = demand.granules();
        demand.add(tenant);
        if demand.granules() > u64::from(space.granules) {
            return Some(Failed {
                tenant: idx,
                largest_fit: space.granules - before as u32,
            });
        }
    }
    None
}

/// What to say about the first tenant that does not fit.
fn no_room(
    program: &Program,
    memory: Memory,
    tenants: &[Tenant],
    failed: &Failed,
    granule: Granule,
    target: &Target,
) -> NoRoom {
    let tensor = &tenants[failed.tenant];
    let described = |it: &Tenant| LiveTensor {
        tensor: Tensor::new(program, it.buffer),
        born: it.life.first.index() + 1,
        dies: it.life.last.index() + 1,
    };
    let others = tenants[..failed.tenant]
        .iter()
        .filter(|it| it.life.last >= tensor.life.first);
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
        n_insts: program.insts.len(),
    }
}

/// The placement with these regions: the most bytes that are live at once follow from them.
pub fn with_peaks(program: &Program, regions: Vec<Region>) -> Placement {
    with_peaks_of(program, regions, &lives(program))
}

/// [`with_peaks`] where the live ranges are known.
fn with_peaks_of(program: &Program, regions: Vec<Region>, lives: &[Option<Life>]) -> Placement {
    // A result in the place of an operand counts beside it for one instruction; nothing lies above the highest byte.
    let highest = |memory| {
        let ends = program.buffers.iter().zip(&regions).zip(lives);
        let ends = ends.filter_map(|((buffer, region), life)| match region {
            Region::OnChip { end, .. } if buffer.memory == memory && life.is_some() => Some(*end),
            _ => None,
        });
        ends.max().unwrap_or(0)
    };
    let peak = |memory| peak_bytes(program, &regions, lives, memory).min(highest(memory));
    let (sbuf_peak_bytes, psum_peak_bytes) = (peak(Memory::Sbuf), peak(Memory::Psum));
    Placement {
        regions,
        sbuf_peak_bytes,
        psum_peak_bytes,
    }
}

/// The most bytes of an on-chip memory that are live at once in a partition.
fn peak_bytes(program: &Program, regions: &[Region], lives: &[Option<Life>], memory: Memory) -> u32 {
    let lives = program.buffers.iter().zip(regions).zip(lives);
    let mut births: Vec<(Life, Range<usize>, u32)> = lives
        .filter_map(|((buffer, region), life)| match *region {
            Region::OnChip {
                partition,
                partitions,
                start,
                end,
            } if buffer.memory == memory => {
                let first = usize::from(partition) / QUADRANT as usize;
                let last = (usize::from(partition) + usize::from(partitions)).div_ceil(QUADRANT as usize);
                Some(((*life)?, first..last, end.saturating_sub(start)))
            }
            Region::OnChip { .. } | Region::Hbm { .. } => None,
        })
        .collect();
    births.sort_by_key(|it| it.0.first);
    let mut deaths: Vec<usize> = (0..births.len()).collect();
    deaths.sort_by_key(|&it| births[it].0.last);
    let mut deaths = deaths.into_iter().peekable();
    let mut live = [0u64; 4];
    let mut peak = 0;
    for (life, quadrants, bytes) in &births {
        while let Some(dead) = deaths.next_if(|&it| births[it].0.last < life.first) {
            let (_, quadrants, bytes) = &births[dead];
            for it in live.get_mut(quadrants.clone()).into_iter().flatten() {
                *it -= u64::from(*bytes);
            }
        }
        // Regions beyond the last partition, which only a text can ask for, are reported by the verifier.
        for it in live.get_mut(quadrants.clone()).into_iter().flatten() {
            *it += u64::from(*bytes);
            peak = peak.max(*it);
        }
    }
    u32::try_from(peak).unwrap_or(u32::MAX)
}
