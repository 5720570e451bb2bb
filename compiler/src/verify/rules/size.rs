//! Sizes that one instruction asks of its operands.

use super::super::Case;
use super::super::error::{AgreementMistake, SizeMistake};
use super::super::facts::Facts;
use super::dst;
use crate::dtype::Dtype;
use crate::ir::Shuffle;
use crate::isa::{Arg, Kind};

/// What `local_gather` can move for one index, in elements.
const GATHER_RUNS: &[i32] = &[1, 2, 4, 8, 16, 32];
/// The most indices of one GpSimd core.
const GATHER_INDICES_MAX: i64 = 4096;
/// Partitions that one GpSimd core serves.
pub const CORE_PARTITIONS: i64 = 16;

fn view(case: &Case, position: usize) -> Facts {
    *case
        .view(position)
        .expect("a rule of sizes names a required tile")
}

pub fn same_partitions(case: &mut Case) {
    let dst = dst(case).partitions;
    for position in 1..case.row.operands.len() {
        if let Some(partitions) = case.view(position).map(|it| it.partitions)
            && partitions != dst
        {
            case.report(position, AgreementMistake::Partitions { partitions, dst });
        }
    }
}

pub fn same_free(case: &mut Case, first: usize, second: usize) {
    let (count, other_count) = (view(case, second).free, view(case, first).free);
    if count != other_count {
        let other = case.row.operands[first].name;
        let mistake = SizeMistake::Same {
            count,
            other,
            other_count,
        };
        case.report(second, mistake);
    }
}

pub fn free_count(case: &mut Case, position: usize, needs: u64) {
    let count = view(case, position).free;
    if count != needs {
        case.report(position, SizeMistake::Count { count, needs });
    }
}

pub fn free_range(case: &mut Case, position: usize, low: u64, high: u64) {
    let count = view(case, position).free;
    if !(low..=high).contains(&count) {
        case.report(position, SizeMistake::Range { count, low, high });
    }
}

pub fn free_multiple(case: &mut Case, position: usize, of: u64) {
    let count = view(case, position).free;
    if !count.is_multiple_of(of) {
        case.report(position, SizeMistake::Multiple { count, of });
    }
}

pub fn free_times(case: &mut Case, first: usize, second: usize, times: u64) {
    let (count, other_count) = (view(case, first).free, view(case, second).free);
    if count != times.saturating_mul(other_count) {
        let other = case.row.operands[second].name;
        let mistake = SizeMistake::Times {
            count,
            times,
            other,
            other_count,
        };
        case.report(first, mistake);
    }
}

pub fn partitions(case: &mut Case, position: usize, needs: u32) {
    let partitions = view(case, position).partitions;
    if partitions != needs {
        case.report(position, SizeMistake::Partitions { partitions, needs });
    }
}

pub fn partition_multiple(case: &mut Case, position: usize, of: u32) {
    let partitions = view(case, position).partitions;
    if !partitions.is_multiple_of(of) {
        case.report(position, SizeMistake::PartitionMultiple { partitions, of });
    }
}

/// Every partition of dst that takes a row takes one that src has.
pub fn stream_shuffle(case: &mut Case) {
    let position = case.row.operands.iter().position(|it| it.kind == Kind::Shuffle);
    let position = position.expect("the row of a shuffle has a mask");
    let Arg::Shuffle(id, _) = case.inst.args[position] else {
        return;
    };
    let mask = case.program[id];
    let (to, partitions) = (view(case, 0).partitions, view(case, 1).partitions);
    for partition in 0..to {
        let (quadrant, lane) = (
            partition / Shuffle::LANES as u32,
            partition as usize % Shuffle::LANES,
        );
        let from = quadrant * Shuffle::LANES as u32 + u32::from(mask.0[lane]);
        if mask.0[lane] != Shuffle::KEEP && from >= partitions {
            let mistake = SizeMistake::ShuffleLane {
                partition,
                from,
                partitions,
            };
            case.report(position, mistake);
            return;
        }
    }
}

pub fn local_gather(case: &mut Case) {
    const INDEX: usize = 2;
    let size_position = INDEX + 1;
    let Arg::Int(size) = case.inst.args[size_position] else {
        return;
    };
    if !GATHER_RUNS.contains(&size) {
        let legal = GATHER_RUNS;
        case.report(size_position, SizeMistake::GatherRun { size, legal });
        return;
    }
    let index = view(case, INDEX).free as i64 * CORE_PARTITIONS;
    let count = match case.inst.args[size_position + 1] {
        Arg::Int(count) => i64::from(count),
        _ => index,
    };
    let limit = GATHER_INDICES_MAX;
    if count < 1 || count > index.min(limit) {
        case.report(INDEX, SizeMistake::GatherIndices { count, limit });
        return;
    }
    let dst = view(case, 0).free;
    if u64::try_from(count * i64::from(size)) != Ok(dst) {
        let indices = count;
        case.report(0, SizeMistake::GatherCount { indices, size, dst });
    }
}

/// Integer data is compared with an f32 probability only.
pub fn dropout_probability(case: &mut Case) {
    const PROBABILITY: usize = 2;
    let data = dst(case).dtype;
    let Some(dtype) = case.view(PROBABILITY).map(|it| it.dtype) else {
        return;
    };
    if data.is_int() && dtype != Dtype::F32 {
        case.report(PROBABILITY, SizeMistake::Probability { dtype, data });
    }
}

#[cfg(test)]
mod tests {
    use crate::isa::Op;

    #[test]
    fn positions_are_the_tables() {
        let row = Op::LocalGather.row();
        assert_eq!(row.position("index"), Some(2));
        assert_eq!(row.position("num_elem_per_idx"), Some(3));
        assert_eq!(row.position("num_valid_indices"), Some(4));
        assert_eq!(Op::Dropout.row().position("prob"), Some(2));
        assert_eq!(Op::NcStreamShuffle.row().position("src"), Some(1));
    }
}
