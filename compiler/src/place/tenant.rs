//! What a buffer asks of an on-chip memory.
//!
//! Takes buffers with their live ranges, gives the room each needs and where it may start, and refuses requests that no
//! placement can meet. Never chooses an address.

use super::error::Error;
use super::live::Life;
use super::space::{Granule, QUADRANT, Spot};
use crate::ir::{Buffer, BufferId, Inst, Program};
use crate::isa::{Arg, Memory, Op};
use crate::target::Target;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A buffer that needs a place on chip.
#[derive(Clone, Debug)]
pub struct Tenant {
    pub buffer: BufferId,
    pub life: Life,
    /// Height in quadrants and width in granules.
    pub n_quadrants: u32,
    pub granules: u32,
    /// Partitions it may start at, the preferred one first.
    pub starts: &'static [u32],
    /// Where the user wants it.
    pub fixed: Option<Spot>,
}

impl Tenant {
    /// The quadrants it takes when it starts at a legal partition.
    pub fn quadrants(&self, start: u32) -> Range<u32> {
        start / QUADRANT..start / QUADRANT + self.n_quadrants
    }

    /// Granules times quadrants.
    pub fn area(&self) -> u64 {
        u64::from(self.granules) * u64::from(self.n_quadrants)
    }
}

/// The tenants of one memory in order of birth.
pub fn tenants(
    program: &Program,
    target: &Target,
    memory: Memory,
    granule: Granule,
    lives: &[Option<Life>],
    tile_starts: &FxHashMap<BufferId, i64>,
    errors: &mut Vec<Error>,
) -> Vec<Tenant> {
    let mut tenants = Vec::new();
    let mut faults = FxHashMap::default();
    for (idx, (buffer, life)) in program.buffers.iter().zip(lives).enumerate() {
        let (true, Some(life)) = (buffer.memory == memory, *life) else {
            continue;
        };
        let id = BufferId::new(idx);
        let partitions = buffer.partitions();
        if partitions > target.partitions {
            errors.push(Error::too_many_partitions(program, id, target));
            continue;
        }
        let bytes = buffer.bytes();
        let granules = match buffer.request {
            Some(_) => bytes.div_ceil(u64::from(granule.bytes)),
            None => granule.rounded(bytes),
        };
        let mut starts = target.legal_starts(partitions);
        if let Some(&start) = tile_starts.get(&id) {
            let Some(at) = starts.iter().position(|&it| i64::from(it) == start) else {
                errors.push(Error::tile_position(program, id, start, target));
                continue;
            };
            starts = &starts[at..=at];
        }
        let mut tenant = Tenant {
            buffer: id,
            life,
            n_quadrants: partitions.div_ceil(QUADRANT),
            // What does not fit into 32 bits does not fit into the memory either.
            granules: u32::try_from(granules).unwrap_or(u32::MAX),
            starts,
            fixed: None,
        };
        if buffer.request.is_some() {
            match requested_spot(buffer, &tenant, granule, target) {
                Ok(spot) => tenant.fixed = Some(spot),
                Err(reason) => {
                    // An allocator makes all its tensors at one line.
                    let place = (program.span(buffer.loc), std::mem::discriminant(&reason));
                    match faults.get(&place).map(|&it: &usize| &mut errors[it]) {
                        Some(Error::Request { repeats, .. }) if place.0.is_some() => *repeats += 1,
                        _ => {
                            faults.insert(place, errors.len());
                            errors.push(Error::request(program, id, life, reason));
                        }
                    }
                    continue;
                }
            }
        }
        tenants.push(tenant);
    }
    tenants.sort_by_key(|it| it.life.first);
    tenants
}

/// The start partitions that `tile_position` prescribes: the PE rows of a tile read from the same partitions, its
/// columns write to the same partitions.
pub fn tile_starts(program: &Program, errors: &mut Vec<Error>) -> FxHashMap<BufferId, i64> {
    let row = Op::NcMatmul.row();
    let position = row.position("tile_position").expect("nc_matmul has the operand");
    let operands =
        ["dst", "stationary", "moving"].map(|it| row.position(it).expect("nc_matmul has the operand"));
    let mut starts = FxHashMap::default();
    let tiled = |inst: &&Inst| inst.op == Op::NcMatmul && matches!(inst.args[position], Arg::Pair(..));
    for inst in program.insts.iter().filter(tiled) {
        let Arg::Pair(rows, columns) = inst.args[position] else {
            continue;
        };
        for (at, start) in operands.into_iter().zip([columns, rows, rows]) {
            let Arg::View(view) = inst.args[at] else { continue };
            let view = &program[view];
            let start = i64::from(start) - i64::from(view.partition);
            let known = *starts.entry(view.buffer).or_insert(start);
            if known != start {
                errors.push(Error::tile_positions_differ(
                    program,
                    view.buffer,
                    inst.loc,
                    [known, start],
                ));
            }
        }
    }
    starts
}

/// Why a requested address is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestFault {
    Partition {
        partition: u32,
        partitions: u32,
        legal: &'static [u32],
    },
    Align {
        byte: u32,
        align: u32,
    },
    Bank {
        byte: u32,
        bank: u32,
    },
    Range {
        end: u64,
        limit: u32,
        memory: Memory,
    },
}

fn requested_spot(
    buffer: &Buffer,
    tenant: &Tenant,
    granule: Granule,
    target: &Target,
) -> Result<Spot, RequestFault> {
    let request = buffer.request.expect("the caller has seen the request");
    if !tenant.starts.contains(&request.partition) {
        return Err(RequestFault::Partition {
            partition: request.partition,
            partitions: buffer.partitions(),
            legal: tenant.starts,
        });
    }
    let align = target.align_of(buffer.dtype);
    if !request.byte.is_multiple_of(align) {
        return Err(RequestFault::Align {
            byte: request.byte,
            align,
        });
    }
    let (limit, bank) = match buffer.memory {
        Memory::Psum => (target.psum_partition_bytes, target.psum_bank_bytes),
        _ => (target.sbuf_partition_bytes, 1),
    };
    if !request.byte.is_multiple_of(bank) {
        return Err(RequestFault::Bank {
            byte: request.byte,
            bank,
        });
    }
    let end = u64::from(request.byte) + buffer.bytes();
    if end > u64::from(limit) {
        return Err(RequestFault::Range {
            end,
            limit,
            memory: buffer.memory,
        });
    }
    let start = request.byte / granule.bytes;
    Ok(Spot {
        quadrants: tenant.quadrants(request.partition),
        granules: start..start + tenant.granules,
    })
}
