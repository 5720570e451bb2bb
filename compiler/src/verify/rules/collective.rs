//! The rule of exchanges between ranks.

use super::{Case, dst, same_dtype};
use crate::isa::{Arg, Exchange};
use crate::verify::error::{CollectiveMistake, OperandMistake};

/// Positions of the row's operands.
pub const SRC: usize = 1;
pub const SRC1: usize = 2;
pub const KIND: usize = 3;
pub const DIM: usize = 5;
pub const RANKS: usize = 6;
pub const GROUP: usize = 7;

pub fn collective(case: &mut Case) {
    let args = case.inst.args;
    let (Arg::Exchange(kind), Arg::Ranks(ranks), Arg::Int(group), Arg::Int(dim)) =
        (args[KIND], args[RANKS], args[GROUP], args[DIM])
    else {
        return;
    };
    let n_ranks = case.program[ranks].0.len();
    let group = usize::try_from(group).unwrap_or(0);
    if group == 0 || n_ranks == 0 || !n_ranks.is_multiple_of(group) {
        case.report(GROUP, CollectiveMistake::Group { n_ranks, group });
        return;
    }
    let is_moved = |arg: &Arg| matches!(arg, Arg::View(id) if case.program[*id].dynamic.is_some());
    if let Some(position) = args.iter().position(is_moved) {
        case.report(position, CollectiveMistake::Dynamic);
        return;
    }
    let needs = match kind {
        Exchange::Barrier => &[][..],
        Exchange::PermuteReduce => &[SRC, SRC1],
        _ => &[SRC],
    };
    for position in [SRC, SRC1] {
        match (needs.contains(&position), args[position]) {
            (true, Arg::Absent) => {
                case.report(position, OperandMistake::Missing);
                return;
            }
            (false, Arg::View(_)) => {
                case.report(position, CollectiveMistake::Unused { kind });
                return;
            }
            _ => {}
        }
    }
    let dst = dst(case);
    for &position in needs {
        same_dtype(case, 0, position);
        let Some(&src) = case.view(position) else { continue };
        if src.memory != dst.memory {
            case.report(position, CollectiveMistake::Memories { kind });
            continue;
        }
        let n = group as u64;
        let makes = match kind {
            Exchange::AllGather => Some(src.count() * n),
            Exchange::ReduceScatter => src.count().is_multiple_of(n).then(|| src.count() / n),
            Exchange::AllToAll => src.count().is_multiple_of(n).then(|| src.count()),
            _ => Some(src.count()),
        };
        let partitions = match (kind, dim) {
            _ if !src.memory.is_on_chip() => dst.partitions,
            (Exchange::AllGather, 0) => src.partitions.saturating_mul(group as u32),
            (Exchange::ReduceScatter, _) => src.partitions / group as u32,
            _ => src.partitions,
        };
        if makes != Some(dst.count()) || partitions != dst.partitions {
            let (count, of) = (src.count(), dst.count());
            case.report(
                position,
                CollectiveMistake::Size {
                    kind,
                    group,
                    count,
                    dst: of,
                },
            );
        }
    }
}
