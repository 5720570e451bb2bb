//! Matmuls and transposes.

use super::super::Case;
use super::super::error::{AgreementMistake, ArrayMistake, Axis, OperandMistake, PeSide};
use super::super::facts::{Facts, extent};
use super::dst;
use crate::dtype::Dtype;
use crate::ir::ViewId;
use crate::isa::{Arg, DtypeSet, Engine, Memory};

/// Positions of `nc_matmul`'s operands, which a test compares with the table.
pub const STATIONARY: usize = 1;
pub const MOVING: usize = 2;
pub const TILE_POSITION: usize = 7;
pub const TILE_SIZE: usize = 8;

/// Position of what a transpose reads.
const DATA: usize = 1;

pub fn matmul(case: &mut Case) {
    let (Some(&stationary), Some(&moving)) = (case.view(STATIONARY), case.view(MOVING)) else {
        return;
    };
    let has_sum = stationary.partitions == moving.partitions;
    if !has_sum {
        // Its other dimension says whether an operand was loaded the wrong way round.
        let is_transposed = |free: u64, other: u32| free == u64::from(other);
        let turned = match () {
            () if is_transposed(stationary.free, moving.partitions) => Some("stationary"),
            () if is_transposed(moving.free, stationary.partitions) => Some("moving"),
            () => None,
        };
        let (stationary, moving) = (stationary.partitions, moving.partitions);
        case.report_whole(ArrayMistake::Contraction {
            stationary,
            moving,
            turned,
        });
    }
    let is_wide = |dtype: Dtype| dtype.size() == 4;
    if is_wide(stationary.dtype) != is_wide(moving.dtype) {
        let (stationary, moving) = (stationary.dtype, moving.dtype);
        case.report_whole(ArrayMistake::MatmulDtypes { stationary, moving });
    }
    let (m, n) = (stationary.free, moving.free);
    pe_tile(case, stationary.partitions.into(), m);
    let fits_columns = is_within(case, STATIONARY, Axis::Elements, m, case.target.stationary_max);
    let fits_bank = is_within(case, MOVING, Axis::Elements, n, case.target.moving_max);
    // Operands that have to be split or turned will have other destinations.
    if !fits_columns || !fits_bank || !has_sum {
        return;
    }
    let dst = dst(case);
    if u64::from(dst.partitions) != m || dst.free != n {
        let (partitions, free) = (dst.partitions, dst.free);
        case.report(
            0,
            ArrayMistake::MatmulDestination {
                partitions,
                free,
                m,
                n,
            },
        );
    }
    one_bank(case);
}

/// Whether a tile's size is within the limit; reports it if not.
fn is_within(case: &mut Case, position: usize, axis: Axis, size: u64, limit: u32) -> bool {
    let limit = u64::from(limit);
    if size > limit {
        case.report(position, ArrayMistake::TileTooLarge { axis, size, limit });
    }
    size <= limit
}

/// A destination longer than a bank crosses one wherever it is placed; `verify_placed` sees the others.
fn one_bank(case: &mut Case) {
    let Arg::View(id) = case.inst.args[0] else { return };
    let view = &case.program[id];
    let size = u64::from(view.dtype.size());
    let (first, last) = extent(view.offset, view.free_dims());
    let (first, end) = (first.unsigned_abs() * size, (last + 1).unsigned_abs() * size);
    let bank_bytes = case.target.psum_bank_bytes;
    if end - first > u64::from(bank_bytes) {
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

fn pe_tile(case: &mut Case, k: u64, m: u64) {
    let (position, size) = (case.inst.args[TILE_POSITION], case.inst.args[TILE_SIZE]);
    let ((row, column), (rows, columns)) = match (position, size) {
        (Arg::Absent, Arg::Absent) => return,
        (Arg::Pair(row, column), Arg::Pair(rows, columns)) => ((row, column), (rows, columns)),
        _ => {
            let (given, missing) = if size == Arg::Absent {
                (TILE_POSITION, TILE_SIZE)
            } else {
                (TILE_SIZE, TILE_POSITION)
            };
            let name = |position: usize| case.row.operands[position].name;
            let (given, missing) = (name(given), name(missing));
            case.report_whole(ArrayMistake::PeTileIncomplete { given, missing });
            return;
        }
    };
    let legal = case.target.pe_tile_sizes;
    let limit = case.target.partitions;
    let sides = [
        (PeSide::Rows, row, rows, k),
        (PeSide::Columns, column, columns, m),
    ];
    for (side, position, size, needs) in sides {
        if !legal.contains(&size) {
            case.report(TILE_SIZE, ArrayMistake::PeTileSize { size, legal });
        } else if position % size != 0 || u32::from(position) + u32::from(size) > limit {
            case.report(
                TILE_POSITION,
                ArrayMistake::PeTilePosition {
                    position,
                    size,
                    limit,
                },
            );
        } else if needs > u64::from(size) {
            case.report(TILE_SIZE, ArrayMistake::PeTileTooSmall { side, needs, size });
        }
    }
}

pub fn transpose(case: &mut Case) {
    let Some(&data) = case.view(DATA) else { return };
    let on_tensor = case.inst.engine == Engine::Tensor;
    let limit = if on_tensor {
        case.target.stationary_max
    } else {
        case.target.vector_transpose_max
    };
    let fits_rows = is_within(case, DATA, Axis::Partitions, data.partitions.into(), limit);
    let fits_columns = is_within(case, DATA, Axis::Elements, data.free, limit);
    if !fits_rows || !fits_columns {
        return;
    }
    let dst = dst(case);
    if u64::from(dst.partitions) != data.free || dst.free != u64::from(data.partitions) {
        let mistake = ArrayMistake::TransposeDestination {
            partitions: dst.partitions,
            free: dst.free,
            needs_partitions: data.free,
            needs_free: data.partitions.into(),
        };
        case.report(0, mistake);
    }
    if on_tensor {
        tensor_transpose(case, &data, &dst);
        one_bank(case);
    } else if dst.dtype != data.dtype {
        let mistake = AgreementMistake::Dtypes {
            dtype: dst.dtype,
            other: case.row.operands[DATA].name,
            other_dtype: data.dtype,
        };
        case.report(0, mistake);
    }
}

/// On the Tensor engine a transpose is a matmul with the identity, with a matmul's memories and dtypes.
fn tensor_transpose(case: &mut Case, data: &Facts, dst: &Facts) {
    for (position, memory, takes) in [
        (DATA, data.memory, &[Memory::Sbuf]),
        (0, dst.memory, &[Memory::Psum]),
    ] {
        if !takes.contains(&memory) {
            case.report(position, OperandMistake::WrongMemory { memory, takes });
        }
    }
    if !DtypeSet::Matmul.contains(data.dtype) {
        let (dtype, takes) = (data.dtype, DtypeSet::Matmul);
        case.report(DATA, OperandMistake::WrongDtype { dtype, takes });
    } else if dst.dtype != data.dtype && dst.dtype != Dtype::F32 {
        let (dtype, data) = (dst.dtype, data.dtype);
        case.report(0, ArrayMistake::TransposeDtype { dtype, data });
    }
}

pub fn dma_transpose(case: &mut Case) {
    let (Arg::View(dst), Arg::View(src)) = (case.inst.args[0], case.inst.args[DATA]) else {
        return;
    };
    let shape = |id: ViewId| {
        let dims = case.program[id].dims();
        dims.iter().map(|it| it.count).collect::<Vec<u32>>()
    };
    let (dst, src) = (shape(dst), shape(src));
    let axes: &[usize] = match src.len() {
        2 => &[1, 0],
        3 => &[2, 1, 0],
        4 => &[3, 1, 2, 0],
        rank => {
            case.report(DATA, ArrayMistake::TransposeRank { rank });
            return;
        }
    };
    let needs: Vec<u32> = axes.iter().map(|&it| src[it]).collect();
    if dst != needs {
        case.report(0, ArrayMistake::TransposeShape { dst, needs });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Op;

    #[test]
    fn positions_are_the_tables() {
        let row = Op::NcMatmul.row();
        assert_eq!(row.position("stationary"), Some(STATIONARY));
        assert_eq!(row.position("moving"), Some(MOVING));
        assert_eq!(row.position("tile_position"), Some(TILE_POSITION));
        assert_eq!(row.position("tile_size"), Some(TILE_SIZE));
        assert_eq!(Op::NcTranspose.row().position("data"), Some(DATA));
        assert_eq!(Op::DmaTranspose.row().position("src"), Some(DATA));
    }
}
