//! Sizes that one instruction asks of one operand, or of two together.

use super::{About, Words, plural, words};
use crate::dtype::Dtype;

/// An operand of a size that the instruction does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeMistake {
    /// Elements per partition.
    Count {
        count: u64,
        needs: u64,
    },
    Range {
        count: u64,
        low: u64,
        high: u64,
    },
    Multiple {
        count: u64,
        of: u64,
    },
    /// Elements per partition, as a multiple of another operand's.
    Times {
        count: u64,
        times: u64,
        other: &'static str,
        other_count: u64,
    },
    Same {
        count: u64,
        other: &'static str,
        other_count: u64,
    },
    Partitions {
        partitions: u32,
        needs: u32,
    },
    PartitionMultiple {
        partitions: u32,
        of: u32,
    },
    /// A shuffle takes rows from a lane that src does not have.
    ShuffleLane {
        partition: u32,
        from: u32,
        partitions: u32,
    },
    /// `local_gather`: elements an index moves.
    GatherRun {
        size: i32,
        legal: &'static [i32],
    },
    /// `local_gather`: indices of one GpSimd core.
    GatherIndices {
        count: i64,
        limit: i64,
    },
    /// `local_gather`: what the indices make against what dst has.
    GatherCount {
        indices: i64,
        size: i32,
        dst: u64,
    },
    Probability {
        dtype: Dtype,
        data: Dtype,
    },
}

impl SizeMistake {
    pub(super) fn code(&self) -> &'static str {
        match self {
            SizeMistake::Count { .. }
            | SizeMistake::Range { .. }
            | SizeMistake::Multiple { .. }
            | SizeMistake::Times { .. } => "element-count",
            SizeMistake::Same { .. } => "element-count-mismatch",
            SizeMistake::Partitions { .. } | SizeMistake::PartitionMultiple { .. } => "partition-count",
            SizeMistake::ShuffleLane { .. } => "shuffle-lane",
            SizeMistake::GatherRun { .. }
            | SizeMistake::GatherIndices { .. }
            | SizeMistake::GatherCount { .. } => "gather-size",
            SizeMistake::Probability { .. } => "wrong-dtype",
        }
    }

    pub(super) fn words(&self, about: &About) -> Words {
        let (op, name) = (about.op, about.name);
        let has = |count: u64, takes: String| {
            words(
                format!(
                    "`{name}` of {op} has {} per partition; it takes {takes}",
                    plural(count, "element")
                ),
                format!("{} per partition", plural(count, "element")),
            )
        };
        match self {
            SizeMistake::Count { count, needs } => {
                has(*count, needs.to_string()).help(format!("use a tile of shape (P, {needs})"))
            }
            SizeMistake::Range { count, low, high } => has(*count, format!("{low} to {high}"))
                .help("split the row, or fill it up with values that change nothing"),
            SizeMistake::Multiple { count, of } => has(*count, format!("a multiple of {of}")),
            SizeMistake::Times {
                count,
                times,
                other,
                other_count,
            } => has(
                *count,
                format!(
                    "{times} times the {other_count} of `{other}`, {}",
                    times * other_count
                ),
            ),
            SizeMistake::Same {
                count,
                other,
                other_count,
            } => words(
                format!(
                    "`{name}` of {op} has {} per partition; `{other}` has {other_count}",
                    plural(*count, "element")
                ),
                format!("{count} against {other_count}"),
            )
            .help("make both slices the same size"),
            SizeMistake::Partitions { partitions, needs } => words(
                format!(
                    "`{name}` of {op} has {}; it takes {needs}",
                    plural(*partitions, "partition")
                ),
                plural(*partitions, "partition"),
            )
            .help(format!("slice it to {}", plural(*needs, "partition"))),
            SizeMistake::PartitionMultiple { partitions, of } => words(
                format!(
                    "{op} on {}; it takes a multiple of {of}",
                    plural(*partitions, "partition")
                ),
                plural(*partitions, "partition"),
            )
            .rule(format!("a GpSimd core serves {of} partitions, all at once")),
            SizeMistake::ShuffleLane {
                partition,
                from,
                partitions,
            } => words(
                format!(
                    "the mask sends partition {from} of `src` to partition {partition}; `src` has {}",
                    plural(*partitions, "partition")
                ),
                format!("partition {from} of {partitions}"),
            )
            .rule("the mask holds for every quadrant of 32 partitions")
            .help("use 255 for lanes that have no source, or a larger src"),
            SizeMistake::GatherRun { size, legal } => words(
                format!("an index of {op} cannot move {size} elements"),
                format!("`{name}` is {size}"),
            )
            .rule(format!("it moves {}", super::alternatives(legal.iter()))),
            SizeMistake::GatherIndices { count, limit } => words(
                format!(
                    "{op} with {count} indices for a GpSimd core; it takes 1 to {limit}, at most what `index` holds"
                ),
                format!("{count} indices"),
            ),
            SizeMistake::GatherCount { indices, size, dst } => words(
                format!(
                    "{op} moves {indices} times {} per partition; dst has {dst}",
                    plural(u64::from(size.unsigned_abs()), "element")
                ),
                format!("{} against {dst}", indices * i64::from(*size)),
            )
            .help("give dst one place for each element, or set num_valid_indices"),
            SizeMistake::Probability { dtype, data } => words(
                format!(
                    "`{name}` of {op} is {}; with {} data it is float32",
                    dtype.nki_name(),
                    data.nki_name()
                ),
                format!("`{name}` is {}", dtype.nki_name()),
            ),
        }
    }
}
