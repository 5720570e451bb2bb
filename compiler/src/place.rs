//! Placement: an address for every buffer.
//!
//! Takes a verified program, gives regions such that no two buffers share bytes while both live. Live ranges are those of
//! program order; freed bytes rest for a while and are reused longest freed first, so that reuse costs the least waiting
//! and double buffering survives. Only when that does not fit are tighter packings tried, and then results in the place of
//! operands that die there. Never moves or splits a buffer.

mod disjoint;
mod capacity;
mod error;
mod in_place;
mod live;
mod pack;
mod space;
mod sweep;
mod tenant;

pub use disjoint::verify_placement;
pub use error::{Error, LiveTensor, NoRoom, Tensor};
pub use tenant::RequestFault;

use crate::ir::{BufferId, Placement, Program, Region};
use crate::isa::Memory;
use crate::target::Target;
use capacity::{no_room, over_capacity};
use disjoint::Resident;
pub use live::{Life, lives};
use space::{Banks, Granule, QUADRANT, Space, Spot};
use std::cmp::Reverse;
use std::ops::Range;
use sweep::{Failed, Failures, POLICIES, Policy, sweep};
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

/// Whether a program that is still being made and may have mistakes fits for now, tiles counted as if each had all partitions
/// of its bytes. A quick answer: no says nothing.
pub fn surely_fits(program: &Program, target: &Target) -> bool {
    let lives = lives(program);
    // By how much the bytes in use change at each instruction, in SBUF and in PSUM.
    let mut changes = vec![[0i64; 2]; program.insts.len() + 1];
    for (buffer, life) in program.buffers.iter().zip(lives) {
        let Some(life) = life.filter(|_| buffer.memory.is_on_chip()) else {
            continue;
        };
        let (at, bytes) = match buffer.memory {
            Memory::Psum => (1, target.psum_bytes(buffer.bytes())),
            Memory::Hbm | Memory::Sbuf => (0, buffer.bytes()),
        };
        let bytes = i64::from(u32::try_from(bytes).unwrap_or(u32::MAX));
        changes[life.first.index()][at] += bytes;
        changes[life.last.index() + 1][at] -= bytes;
    }
    let limits = [target.sbuf_partition_bytes, target.psum_partition_bytes].map(i64::from);
    let mut used = [0; 2];
    changes.iter().all(|change| {
        (0..2).all(|at| {
            used[at] += change[at];
            used[at] <= limits[at]
        })
    })
}

/// What can never fit, however it is placed, of a program that is still being made: what is to come only adds to it. The
/// buffer made last is left out, since its instruction may yet write straight into another.
pub fn overflow(program: &Program, target: &Target) -> Vec<Error> {
    let (lives, mut ignored) = (lives(program), Vec::new());
    let tile_starts = tile_starts(program, &mut ignored);
    let last = program.buffers.len().saturating_sub(1);
    let mut errors = Vec::new();
    for memory in [Memory::Sbuf, Memory::Psum] {
        let requests = program.buffers.iter().filter(|it| it.memory == memory);
        let starts = requests.filter_map(|it| Some(it.request?.byte));
        let granule = Granule::dividing(starts, target);
        let space = memory_space(memory, granule, target);
        let mut tenants = tenants(
            program,
            target,
            memory,
            granule,
            &lives,
            &tile_starts,
            &mut ignored,
        );
        tenants.retain(|it| it.buffer.index() != last);
        let successions = in_place::successions(program, &tenants, &lives);
        let failed = over_capacity(&tenants, &successions, &space);
        let rooms = no_room(program, memory, &tenants, &failed, granule, target).into_iter();
        errors.extend(rooms.map(|it| Error::NoRoom(Box::new(it))));
    }
    errors
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
    let full = |failed: &[Failed]| {
        let all = no_room(program, memory, tenants, failed, granule, target).into_iter();
        all.map(|it| Error::NoRoom(Box::new(it))).collect::<Vec<Error>>()
    };
    let too_many = over_capacity(tenants, successions, &space);
    if !too_many.is_empty() {
        return Err(full(&too_many));
    }
    let empty = space.clone();
    // Requested bytes are kept free for their owners all the time; only `pack` shares them.
    for spot in tenants.iter().filter_map(|it| it.fixed.as_ref()) {
        space.take(spot);
    }
    let alone = vec![None; tenants.len()];
    if let Some(seed) = seed
        && let Ok(spots) = sweep(
            tenants,
            &alone,
            space.clone(),
            Policy::seeded(seed),
            Failures::First,
        )
    {
        return Ok(spots);
    }
    for policy in POLICIES {
        if let Ok(spots) = sweep(tenants, &alone, space.clone(), *policy, Failures::First) {
            return Ok(spots);
        }
    }
    for order in orders(tenants) {
        if let Some(spots) = pack::pack(tenants, &order, &empty) {
            return Ok(spots);
        }
    }
    // Results in the place of their operands come last: they tie two lives together.
    let mut failed = Vec::new();
    for policy in POLICIES {
        match sweep(tenants, successions, space.clone(), *policy, Failures::All) {
            Ok(spots) => return Ok(spots),
            Err(it) => failed = it,
        }
    }
    Err(full(&failed))
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

/// The placement with these regions: the most bytes that are live at once follow from them.
pub(crate) fn with_peaks(program: &Program, regions: Vec<Region>) -> Placement {
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
