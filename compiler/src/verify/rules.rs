//! One function for each [`Rule`] of the instruction table.
//!
//! They run only when every operand is what its row says, so the positions that a rule names hold views.

use super::Case;
use super::error::{Axis, CountOf, Mistake, PeAxis};
use super::facts::{Facts, extent};
use crate::dtype::Dtype;
use crate::ir::ViewId;
use crate::isa::{
    Access, ActFn, AluClass, AluOp, Arg, DtypeSet, Engine, Kind, MAX_ARGS, Memory, REDUCE_CMDS, ReduceCmd,
    Rule,
};

/// Positions of `nc_matmul`'s operands, which a test compares with the table.
pub const STATIONARY: usize = 1;
pub const MOVING: usize = 2;
pub const TILE_POSITION: usize = 7;
pub const TILE_SIZE: usize = 8;

pub fn check(case: &mut Case, rule: Rule) {
    match rule {
        Rule::Elementwise => elementwise(case),
        Rule::NotBothPsum(first, second) => not_both_psum(case, first, second),
        Rule::SameDtype(first, second) => same_dtype(case, first, second),
        Rule::Matmul => matmul(case),
        Rule::Transpose => transpose(case),
        Rule::Reduce => reduce(case),
        Rule::SameCount => same_count(case),
        Rule::DmaTranspose => dma_transpose(case),
        Rule::PatternCount => pattern_count(case),
        Rule::AluClasses => alu_classes(case),
        Rule::NoBiasWithReciprocal => no_bias_with_reciprocal(case),
        Rule::ActivationReduce => activation_reduce(case),
        Rule::MemsetValue => memset_value(case),
        Rule::GpsimdNoPsum => gpsimd_no_psum(case),
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
            case.report(position, Mistake::PartitionMismatch { partitions, dst });
        } else if !is_column && view.free != dst.free {
            let (axis, count, dst) = (CountOf::Partition, view.free, dst.free);
            case.report(position, Mistake::ElementCountMismatch { axis, count, dst });
        }
    }
}

fn not_both_psum(case: &mut Case, first: usize, second: usize) {
    let in_psum = |position: usize| case.view(position).is_some_and(|it| it.memory == Memory::Psum);
    if in_psum(first) && in_psum(second) {
        let name = |position: usize| case.row.operands[position].name;
        let (first, second) = (name(first), name(second));
        case.report_whole(Mistake::BothInPsum { first, second });
    }
}

fn same_dtype(case: &mut Case, first: usize, second: usize) {
    if let (Some(a), Some(b)) = (case.view(first), case.view(second))
        && a.dtype != b.dtype
    {
        let (dtype, other_dtype) = (b.dtype, a.dtype);
        let other = case.row.operands[first].name;
        case.report(
            second,
            Mistake::DtypeMismatch {
                dtype,
                other,
                other_dtype,
            },
        );
    }
}

/// Whether a tile's size is within the limit; reports it if not.
fn is_within(case: &mut Case, position: usize, axis: Axis, size: u64, limit: u32) -> bool {
    let limit = u64::from(limit);
    if size > limit {
        case.report(position, Mistake::TileTooLarge { axis, size, limit });
    }
    size <= limit
}

fn matmul(case: &mut Case) {
    let (Some(&stationary), Some(&moving)) = (case.view(STATIONARY), case.view(MOVING)) else {
        return;
    };
    if stationary.partitions != moving.partitions {
        let (stationary, moving) = (stationary.partitions, moving.partitions);
        case.report_whole(Mistake::MatmulContraction { stationary, moving });
    }
    let is_wide = |dtype: Dtype| dtype.size() == 4;
    if is_wide(stationary.dtype) != is_wide(moving.dtype) {
        let (stationary, moving) = (stationary.dtype, moving.dtype);
        case.report_whole(Mistake::MatmulDtypes { stationary, moving });
    }
    let (m, n) = (stationary.free, moving.free);
    pe_tile(case, stationary.partitions.into(), m);
    let fits_columns = is_within(case, STATIONARY, Axis::Elements, m, case.target.stationary_max);
    let fits_bank = is_within(case, MOVING, Axis::Elements, n, case.target.moving_max);
    // Operands that have to be split will have other destinations.
    if fits_columns && fits_bank {
        let dst = dst(case);
        if u64::from(dst.partitions) != m || dst.free != n {
            let (partitions, free) = (dst.partitions, dst.free);
            case.report(
                0,
                Mistake::MatmulDestination {
                    partitions,
                    free,
                    m,
                    n,
                },
            );
        }
        one_bank(case);
    }
}

/// A tile longer than a bank crosses one wherever it is placed; `verify_placed` knows the rest.
fn one_bank(case: &mut Case) {
    let Arg::View(id) = case.inst.args[0] else { return };
    let view = &case.program[id];
    let (first, last) = extent(0, view.free_dims());
    let bytes = (last - first + 1).unsigned_abs() * u64::from(view.dtype.size());
    let bank_bytes = case.target.psum_bank_bytes;
    if bytes > u64::from(bank_bytes) {
        let start = view.offset.unsigned_abs() * u64::from(view.dtype.size());
        case.report(
            0,
            Mistake::PsumBankCrossed {
                first: start,
                end: start + bytes,
                bank_bytes,
            },
        );
    }
}

fn pe_tile(case: &mut Case, k: u64, m: u64) {
    let (position, size) = (case.inst.args[TILE_POSITION], case.inst.args[TILE_SIZE]);
    let ((row, column), (rows, columns)) = match (position, size) {
        (Arg::Pair(row, column), Arg::Pair(rows, columns)) => ((row, column), (rows, columns)),
        (Arg::Absent, Arg::Absent) => return,
        _ => {
            let name = |position: usize| case.row.operands[position].name;
            let is_given = position != Arg::Absent;
            let given = name(if is_given { TILE_POSITION } else { TILE_SIZE });
            let missing = name(if is_given { TILE_SIZE } else { TILE_POSITION });
            case.report_whole(Mistake::PeTileIncomplete { given, missing });
            return;
        }
    };
    let legal = case.target.pe_tile_sizes;
    let limit = case.target.partitions;
    let sides = [
        (PeAxis::Rows, row, rows, k),
        (PeAxis::Columns, column, columns, m),
    ];
    for (axis, position, size, needs) in sides {
        if !legal.contains(&size) {
            case.report(TILE_SIZE, Mistake::PeTileSize { size, legal });
        } else if position % size != 0 || u32::from(position) + u32::from(size) > limit {
            case.report(
                TILE_POSITION,
                Mistake::PeTilePosition {
                    position,
                    size,
                    limit,
                },
            );
        } else if needs > u64::from(size) {
            case.report(TILE_SIZE, Mistake::PeTileTooSmall { axis, needs, size });
        }
    }
}

fn transpose(case: &mut Case) {
    const DATA: usize = 1;
    let Some(&data) = case.view(DATA) else { return };
    let dst = dst(case);
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
    if u64::from(dst.partitions) != data.free || dst.free != u64::from(data.partitions) {
        let mistake = Mistake::TransposeDestination {
            partitions: dst.partitions,
            free: dst.free,
            needs_partitions: data.free,
            needs_free: data.partitions.into(),
        };
        case.report(0, mistake);
    }
    if on_tensor {
        tensor_transpose(case, DATA, &data, &dst);
    } else if dst.dtype != data.dtype {
        let (dtype, other, other_dtype) = (dst.dtype, case.row.operands[DATA].name, data.dtype);
        case.report(
            0,
            Mistake::DtypeMismatch {
                dtype,
                other,
                other_dtype,
            },
        );
    }
}

/// On the Tensor engine a transpose is a matmul with the identity, with a matmul's memories and dtypes.
fn tensor_transpose(case: &mut Case, position: usize, data: &Facts, dst: &Facts) {
    if data.memory != Memory::Sbuf {
        let (memory, takes) = (data.memory, &[Memory::Sbuf]);
        case.report(position, Mistake::WrongMemory { memory, takes });
    }
    if dst.memory != Memory::Psum {
        let (memory, takes) = (dst.memory, &[Memory::Psum]);
        case.report(0, Mistake::WrongMemory { memory, takes });
    }
    if !DtypeSet::Matmul.contains(data.dtype) {
        let (dtype, takes) = (data.dtype, DtypeSet::Matmul);
        case.report(position, Mistake::WrongDtype { dtype, takes });
    } else if dst.dtype != data.dtype && dst.dtype != Dtype::F32 {
        let (dtype, other, other_dtype) = (dst.dtype, case.row.operands[position].name, data.dtype);
        case.report(
            0,
            Mistake::DtypeMismatch {
                dtype,
                other,
                other_dtype,
            },
        );
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
    // Trailing axes, all of them after the partitions: the highest bit is the last axis and none is missing between.
    let is_trailing =
        n_axes > 0 && n_axes < rank && u32::from(bits) == ((1 << n_axes) - 1) << (rank - n_axes);
    if !is_trailing {
        let axes = (0..u8::BITS).filter(|it| bits & (1 << it) != 0).collect();
        case.report(axes_position, Mistake::ReduceAxes { axes, rank });
        return;
    }
    let left: u64 = dims[1..rank - n_axes]
        .iter()
        .map(|it| u64::from(it.count))
        .product();
    let dst = dst(case);
    let partitions = dims[0].count;
    if partitions != dst.partitions {
        let dst = dst.partitions;
        case.report(data_position, Mistake::PartitionMismatch { partitions, dst });
    } else if left != dst.free {
        let (axis, count, dst) = (CountOf::Reduced, left, dst.free);
        case.report(data_position, Mistake::ElementCountMismatch { axis, count, dst });
    }
}

fn same_count(case: &mut Case) {
    let dst = dst(case);
    for position in 1..case.row.operands.len() {
        if let Some(count) = case.view(position).map(Facts::count)
            && count != dst.count()
        {
            let (axis, dst) = (CountOf::Tile, dst.count());
            case.report(position, Mistake::ElementCountMismatch { axis, count, dst });
        }
    }
}

fn dma_transpose(case: &mut Case) {
    const SRC: usize = 1;
    let (Arg::View(dst), Arg::View(src)) = (case.inst.args[0], case.inst.args[SRC]) else {
        return;
    };
    let shape = |id: ViewId| {
        case.program[id]
            .dims()
            .iter()
            .map(|it| it.count)
            .collect::<Vec<u32>>()
    };
    let (dst, src) = (shape(dst), shape(src));
    let axes: &[usize] = match src.len() {
        2 => &[1, 0],
        3 => &[2, 1, 0],
        4 => &[3, 1, 2, 0],
        rank => {
            case.report(SRC, Mistake::TransposeRank { rank });
            return;
        }
    };
    let needs: Vec<u32> = axes.iter().map(|&it| src[it]).collect();
    if dst != needs {
        case.report(0, Mistake::TransposeShape { dst, needs });
    }
}

fn pattern_count(case: &mut Case) {
    let free = dst(case).free;
    for position in 1..case.row.operands.len() {
        let Arg::Pattern(id) = case.inst.args[position] else {
            continue;
        };
        let pairs = &case.program[id].0;
        let limit = case.target.free_dims_max;
        if pairs.len() > limit {
            let dims = pairs.len();
            case.report(position, Mistake::TooManyDims { dims, limit });
        }
        let product = pairs
            .iter()
            .fold(1u64, |it, pair| it.saturating_mul(pair.count.into()));
        if product != free {
            case.report(position, Mistake::PatternCount { product, free });
        }
    }
}

fn alu_classes(case: &mut Case) {
    let mut bits = None;
    let mut arithmetic = None;
    for position in 1..case.row.operands.len() {
        if let Arg::Alu(op) = case.inst.args[position] {
            match op.facts().class {
                AluClass::Bits => bits = Some(op),
                AluClass::Arithmetic => arithmetic = Some(op),
            }
            operator_engine(case, position, op);
        }
        operand_of_operator(case, position);
    }
    let Some(bits) = bits else { return };
    if let Some(arithmetic) = arithmetic {
        let (bits, arithmetic) = (bits.name(), arithmetic.name());
        case.report_whole(Mistake::OperatorClassesMixed { bits, arithmetic });
    }
    integers_throughout(case, bits.name());
}

/// Bit operators run on the Vector engine, some arithmetic ones only on GpSimd.
fn operator_engine(case: &mut Case, position: usize, op: AluOp) {
    let needs = match (op.facts().class, op.facts().gpsimd_only) {
        (AluClass::Bits, _) => Engine::Vector,
        (AluClass::Arithmetic, true) => Engine::Gpsimd,
        (AluClass::Arithmetic, false) => return,
    };
    let engine = case.inst.engine;
    if engine != needs {
        let operator = op.name();
        case.report(
            position,
            Mistake::OperatorEngine {
                operator,
                engine,
                needs,
            },
        );
    }
}

/// An operator and the column or number after it come together, unless the operator is unary.
fn operand_of_operator(case: &mut Case, position: usize) {
    let operand = &case.row.operands[position];
    let before = &case.row.operands[position - 1];
    if !matches!(
        (before.kind, operand.kind),
        (Kind::Alu(_), Kind::ColumnOrScalar(_))
    ) {
        return;
    }
    let arg = case.inst.args[position];
    match case.inst.args[position - 1] {
        Arg::Alu(op) if op.facts().unary => {
            let is_nothing = matches!(arg, Arg::Absent | Arg::Int(0)) || arg == Arg::Float(0.0);
            if !is_nothing {
                let operator = op.name();
                case.report(position, Mistake::UnaryTakesNoOperand { operator });
            }
        }
        Arg::Alu(_) if arg == Arg::Absent => case.report(position, Mistake::MissingOperand),
        Arg::Absent if arg != Arg::Absent => {
            let operator = before.name;
            case.report(position, Mistake::OperandWithoutOperator { operator });
        }
        _ => {}
    }
}

fn integers_throughout(case: &mut Case, operator: &'static str) {
    for position in 0..MAX_ARGS {
        let found = match case.inst.args[position] {
            Arg::View(id) if case.facts[id.index()].dtype.is_float() => case.facts[id.index()].dtype.name(),
            Arg::Float(_) => "a float",
            Arg::Bool(true) if is_negate(case, position) => {
                case.report(position, Mistake::NegateNeedsArithmetic { operator });
                continue;
            }
            _ => continue,
        };
        case.report(position, Mistake::BitsNeedIntegers { operator, found });
    }
}

fn is_negate(case: &Case, position: usize) -> bool {
    case.row.operands[position].name == "negate"
}

fn no_bias_with_reciprocal(case: &mut Case) {
    if !case.inst.args.contains(&Arg::Act(ActFn::Reciprocal)) {
        return;
    }
    let is_bias = |kind: Kind| matches!(kind, Kind::Column(tile) if tile.access == Access::Read);
    let bias = case.views().find(|it| is_bias(it.1)).map(|it| it.0);
    if let Some(position) = bias {
        case.report(position, Mistake::BiasWithReciprocal);
    }
}

fn activation_reduce(case: &mut Case) {
    let has_operator = case.inst.args.iter().any(|it| matches!(it, Arg::Alu(_)));
    for position in 1..case.row.operands.len() {
        match (case.row.operands[position].kind, case.inst.args[position]) {
            (Kind::ReduceCmd, Arg::ReduceCmd(ReduceCmd::LoadReduce)) => {
                let command = REDUCE_CMDS[ReduceCmd::LoadReduce as usize].1;
                case.report(position, Mistake::ReduceCommand { command });
            }
            (Kind::ReduceCmd, Arg::ReduceCmd(command)) if command != ReduceCmd::Idle && !has_operator => {
                case.report(position, Mistake::ReduceNeedsOperator);
            }
            (Kind::Column(tile), Arg::View(_)) if tile.access == Access::Write && !has_operator => {
                case.report(position, Mistake::ReduceNeedsOperator);
            }
            _ => {}
        }
    }
}

fn memset_value(case: &mut Case) {
    const VALUE: usize = 1;
    let dtype = dst(case).dtype;
    if dtype.is_int() && matches!(case.inst.args[VALUE], Arg::Float(_)) {
        case.report(VALUE, Mistake::MemsetValue { dtype });
    }
}

fn gpsimd_no_psum(case: &mut Case) {
    if case.inst.engine != Engine::Gpsimd {
        return;
    }
    for position in 0..case.row.operands.len() {
        if case.view(position).is_some_and(|it| it.memory == Memory::Psum) {
            case.report(position, Mistake::GpsimdPsum);
        }
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
    }
}
