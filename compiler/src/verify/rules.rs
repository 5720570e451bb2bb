//! One function for each [`Rule`] of the instruction table.
//!
//! They run only when every operand is what its row says, so the positions that a rule names hold views.

mod array;
mod collective;
mod operator;
mod size;

pub use array::{MOVING, STATIONARY, TILE_POSITION};

use super::Case;
use super::error::{AgreementMistake, CountOf, OperandMistake, OperatorMistake};
use super::facts::Facts;
use crate::isa::{Access, Arg, Engine, Kind, Memory, Rule};

pub fn check(case: &mut Case, rule: Rule) {
    match rule {
        Rule::Elementwise => elementwise(case),
        Rule::NotBothPsum(first, second) => not_both_psum(case, first, second),
        Rule::SameDtype(first, second) => same_dtype(case, first, second),
        Rule::Matmul => array::matmul(case),
        Rule::Transpose => array::transpose(case),
        Rule::Reduce => reduce(case),
        Rule::SameCount => same_count(case),
        Rule::DmaTranspose => array::dma_transpose(case),
        Rule::PatternCount => operator::pattern_count(case),
        Rule::AluClasses => operator::alu_classes(case),
        Rule::NoBiasWithReciprocal => operator::no_bias_with_reciprocal(case),
        Rule::ActivationReduce => operator::activation_reduce(case),
        Rule::MemsetValue => operator::memset_value(case),
        Rule::GpsimdNoPsum => gpsimd_no_psum(case),
        Rule::OneElement(position) => one_element(case, position),
        Rule::SamePartitions => size::same_partitions(case),
        Rule::SameFree(first, second) => size::same_free(case, first, second),
        Rule::FreeCount(position, count) => size::free_count(case, position, count),
        Rule::FreeRange(position, low, high) => size::free_range(case, position, low, high),
        Rule::FreeMultiple(position, of) => size::free_multiple(case, position, of),
        Rule::FreeTimes(first, second, times) => size::free_times(case, first, second, times),
        Rule::Partitions(position, count) => size::partitions(case, position, count),
        Rule::PartitionMultiple(position, of) => size::partition_multiple(case, position, of),
        Rule::ReduceCommands(takes) => operator::reduce_commands(case, takes),
        Rule::LoadReduce(position) => operator::load_reduce(case, position),
        Rule::NotReversed(position) => operator::not_reversed(case, position),
        Rule::BitsNeedIntegers => operator::bits_need_integers(case),
        Rule::DropoutProbability => size::dropout_probability(case),
        Rule::StreamShuffle => size::stream_shuffle(case),
        Rule::LocalGather => size::local_gather(case),
        Rule::Collective => collective::collective(case),
    }
}

fn dst(case: &Case) -> Facts {
    *case
        .view(0)
        .expect("the first operand of every row is a required tile")
}

fn elementwise(case: &mut Case) {
    let dst = dst(case);
    for position in 1..case.row.operands.len() {
        let Some(&view) = case.view(position) else {
            continue;
        };
        let is_column = matches!(
            case.row.operands[position].kind,
            Kind::Column(_) | Kind::ColumnOrScalar(_)
        );
        if view.partitions != dst.partitions {
            let (partitions, dst) = (view.partitions, dst.partitions);
            case.report(position, AgreementMistake::Partitions { partitions, dst });
        } else if !is_column && view.free != dst.free {
            let (of, count, dst) = (CountOf::Partition, view.free, dst.free);
            case.report(position, AgreementMistake::Elements { of, count, dst });
        }
    }
}

fn not_both_psum(case: &mut Case, first: usize, second: usize) {
    let in_psum = |position: usize| case.view(position).is_some_and(|it| it.memory == Memory::Psum);
    if in_psum(first) && in_psum(second) {
        let name = |position: usize| case.row.operands[position].name;
        let (first, second) = (name(first), name(second));
        case.report_whole(AgreementMistake::BothInPsum { first, second });
    }
}

fn same_dtype(case: &mut Case, first: usize, second: usize) {
    if let (Some(a), Some(b)) = (case.view(first), case.view(second))
        && a.dtype != b.dtype
    {
        let mistake = AgreementMistake::Dtypes {
            dtype: b.dtype,
            other: case.row.operands[first].name,
            other_dtype: a.dtype,
        };
        case.report(second, mistake);
    }
}

fn same_count(case: &mut Case) {
    let dst = dst(case).count();
    for position in 1..case.row.operands.len() {
        if let Some(count) = case.view(position).map(Facts::count)
            && count != dst
        {
            let of = CountOf::Tile;
            case.report(position, AgreementMistake::Elements { of, count, dst });
        }
    }
}

fn one_element(case: &mut Case, position: usize) {
    if let Some(count) = case.view(position).map(Facts::count)
        && count != 1
    {
        let (of, dst) = (CountOf::Tile, 1);
        case.report(position, AgreementMistake::Elements { of, count, dst });
    }
}

fn reduce(case: &mut Case) {
    let mut data = None;
    let mut axes = None;
    for (position, operand) in case.row.operands.iter().enumerate() {
        match (operand.kind, case.inst.args[position]) {
            (Kind::Tile(tile), Arg::View(id)) if tile.access == Access::Read => data = Some((position, id)),
            (Kind::Axes, Arg::Axes(bits)) => axes = Some((position, bits)),
            _ => {}
        }
    }
    let (Some((data_position, id)), Some((axes_position, bits))) = (data, axes) else {
        return;
    };
    let dims = case.program[id].dims();
    let rank = dims.len();
    let n_axes = bits.count_ones() as usize;
    // The last axes without a gap, and never the partitions: the set bits are the highest ones below `rank`.
    let is_trailing =
        n_axes > 0 && n_axes < rank && u32::from(bits) == ((1 << n_axes) - 1) << (rank - n_axes);
    if !is_trailing {
        let axes = (0..u8::BITS).filter(|it| bits & (1 << it) != 0).collect();
        case.report(axes_position, OperatorMistake::ReduceAxes { axes, rank });
        return;
    }
    let partitions = dims[0].count;
    let count = dims[1..rank - n_axes]
        .iter()
        .map(|it| u64::from(it.count))
        .product();
    let dst = dst(case);
    if partitions != dst.partitions {
        let dst = dst.partitions;
        case.report(data_position, AgreementMistake::Partitions { partitions, dst });
    } else if count != dst.free {
        let (of, dst) = (CountOf::Reduced, dst.free);
        case.report(data_position, AgreementMistake::Elements { of, count, dst });
    }
}

fn gpsimd_no_psum(case: &mut Case) {
    if case.inst.engine != Engine::Gpsimd {
        return;
    }
    for position in 0..case.row.operands.len() {
        if case.view(position).is_some_and(|it| it.memory == Memory::Psum) {
            case.report(position, OperandMistake::GpsimdPsum);
        }
    }
}
