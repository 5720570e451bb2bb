//! The rules that need addresses.
//!
//! Takes a program that `verify` accepts and its placement, gives every broken rule of regions, start partitions and PSUM
//! banks. That buffers which live at the same time lie apart is the placer's own proof, not repeated here.

use super::error::{ArrayMistake, Error, RegionAxis, RegionMistake, ViewMistake};
use super::facts::extent;
use super::rules::{MOVING, STATIONARY, TILE_POSITION};
use super::{Case, Errors, facts};
use crate::ir::{Buffer, Placement, Program, Region, View};
use crate::isa::{Arg, Engine, Memory, Unit};
use crate::target::Target;

/// Every rule that a placed program breaks, in program order.
pub fn verify_placed(program: &Program, placement: &Placement, target: &Target) -> Vec<Error> {
    let mut errors = Errors::new(program);
    // A view may read the bytes of a buffer as a wider dtype.
    let mut aligns: Vec<u32> = program
        .buffers
        .iter()
        .map(|it| target.align_of(it.dtype))
        .collect();
    for view in program.views() {
        let align = &mut aligns[view.buffer.index()];
        *align = target.align_of(view.dtype).max(*align);
    }
    let buffers = program.buffers.iter().zip(aligns);
    for ((buffer, align), &region) in buffers.zip(&placement.regions) {
        for mistake in region_mistakes(buffer, region, align, target) {
            errors.add_buffer(buffer, mistake);
        }
    }
    if !errors.list.is_empty() {
        return errors.list;
    }
    let facts = facts::facts(program, target);
    for inst in &program.insts {
        let mut case = Case {
            program,
            target,
            facts: &facts,
            inst,
            row: inst.op.row(),
            errors: &mut errors,
        };
        check_inst(&mut case, placement);
    }
    errors.list
}

fn region_mistakes(buffer: &Buffer, region: Region, align: u32, target: &Target) -> Vec<RegionMistake> {
    let memory = buffer.memory;
    let outside = |axis, end: u64, limit: u64| {
        (end > limit).then_some(RegionMistake::Outside {
            memory,
            axis,
            end,
            limit,
        })
    };
    let size =
        |axis, has: u64, needs: u64| (has != needs).then_some(RegionMistake::Size { axis, has, needs });
    let mistakes = match (region, memory) {
        (Region::Hbm { address }, Memory::Hbm) => {
            let end = address.saturating_add(buffer.bytes());
            [
                outside(RegionAxis::Bytes, end, target.hbm_bytes),
                None,
                None,
                None,
                None,
            ]
        }
        (
            Region::OnChip {
                partition,
                partitions,
                start,
                end,
            },
            Memory::Sbuf | Memory::Psum,
        ) => {
            let capacity = match memory {
                Memory::Psum => target.psum_partition_bytes,
                _ => target.sbuf_partition_bytes,
            };
            let partitions_end = u64::from(partition) + u64::from(partitions);
            [
                outside(RegionAxis::Partitions, partitions_end, target.partitions.into()),
                outside(RegionAxis::Bytes, end.into(), capacity.into()),
                size(
                    RegionAxis::Partitions,
                    partitions.into(),
                    buffer.partitions().into(),
                ),
                size(
                    RegionAxis::Bytes,
                    u64::from(end).saturating_sub(start.into()),
                    buffer.bytes(),
                ),
                (start % align != 0).then_some(RegionMistake::Misaligned { start, align }),
            ]
        }
        (Region::Hbm { .. } | Region::OnChip { .. }, _) => [
            Some(RegionMistake::WrongMemory { memory }),
            None,
            None,
            None,
            None,
        ],
    };
    mistakes.into_iter().flatten().collect()
}

fn check_inst(case: &mut Case, placement: &Placement) {
    if case.row.unit == Unit::Dma {
        return;
    }
    for position in 0..case.row.operands.len() {
        let Arg::View(id) = case.inst.args[position] else {
            continue;
        };
        let view = &case.program[id];
        if let Region::OnChip { partition, .. } = placement.region(view.buffer) {
            let start = u32::from(partition) + u32::from(view.partition);
            let partitions = view.partitions();
            let legal = case.target.legal_starts(partitions);
            if !legal.contains(&start) {
                case.report(
                    position,
                    ViewMistake::StartPartition {
                        start,
                        partitions,
                        legal,
                    },
                );
            }
        }
    }
    if case.inst.engine == Engine::Tensor {
        one_bank(case, placement);
        pe_tile(case, placement);
    }
}

/// What the PE array writes lies in one bank of PSUM.
fn one_bank(case: &mut Case, placement: &Placement) {
    let Some((start, view)) = placed(case, 0, placement) else {
        return;
    };
    let (first, last) = extent(view.offset, view.free_dims());
    let address = |element: i64| u64::from(start.1) + element.unsigned_abs() * u64::from(view.dtype.size());
    let (first, end) = (address(first), address(last + 1));
    let bank_bytes = case.target.psum_bank_bytes;
    if first / u64::from(bank_bytes) != (end - 1) / u64::from(bank_bytes) {
        case.report(
            0,
            ArrayMistake::BankCrossed {
                first,
                end,
                bank_bytes,
            },
        );
    }
}

/// With a tile of the PE array, operands stand on its rows and the destination on its columns.
fn pe_tile(case: &mut Case, placement: &Placement) {
    let Arg::Pair(row, column) = case.inst.args[TILE_POSITION] else {
        return;
    };
    for (operand, position) in [(STATIONARY, row), (MOVING, row), (0, column)] {
        let Some(((start, _), _)) = placed(case, operand, placement) else {
            continue;
        };
        if start != u32::from(position) {
            case.report(operand, ArrayMistake::PeTileElsewhere { start, position });
        }
    }
}

/// The first partition of an operand and the first byte of its buffer, with the view.
fn placed(case: &Case, position: usize, placement: &Placement) -> Option<((u32, u32), View)> {
    let Arg::View(id) = case.inst.args[position] else {
        return None;
    };
    let view = case.program[id];
    match placement.region(view.buffer) {
        Region::OnChip { partition, start, .. } => {
            Some(((u32::from(partition) + u32::from(view.partition), start), view))
        }
        Region::Hbm { .. } => None,
    }
}
