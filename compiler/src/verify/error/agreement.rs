//! Operands against each other: counts, dtypes, memories, overlap.

use super::{About, Words, plural, words};
use crate::dtype::Dtype;

/// What a count of elements is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountOf {
    /// Each partition.
    Partition,
    /// The whole tile.
    Tile,
    /// Each partition, once the reduced axes are gone.
    Reduced,
}

/// Operands that do not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgreementMistake {
    Partitions {
        partitions: u32,
        dst: u32,
    },
    Elements {
        of: CountOf,
        count: u64,
        dst: u64,
    },
    BothInPsum {
        first: &'static str,
        second: &'static str,
    },
    Dtypes {
        dtype: Dtype,
        other: &'static str,
        other_dtype: Dtype,
    },
    /// What is read and what is written overlap partly.
    Overlap {
        other: &'static str,
    },
    /// Several results for one element.
    RepeatedDestination {
        times: u32,
    },
}

impl AgreementMistake {
    pub(super) fn code(&self) -> &'static str {
        match self {
            AgreementMistake::Partitions { .. } => "partition-mismatch",
            AgreementMistake::Elements { .. } => "element-count-mismatch",
            AgreementMistake::BothInPsum { .. } => "both-operands-in-psum",
            AgreementMistake::Dtypes { .. } => "dtype-mismatch",
            AgreementMistake::Overlap { .. } => "overlapping-operands",
            AgreementMistake::RepeatedDestination { .. } => "repeated-destination",
        }
    }

    pub(super) fn words(&self, about: &About) -> Words {
        let (op, name) = (about.op, about.name);
        match self {
            AgreementMistake::Partitions { partitions, dst } => words(
                format!(
                    "`{name}` of {op} has {}; dst has {dst}",
                    plural(*partitions, "partition")
                ),
                format!("{} against {dst}", plural(*partitions, "partition")),
            )
            .rule("the lanes of an engine map partitions one to one, without broadcasting")
            .help("slice the larger tile, or broadcast with a matmul or by DMA"),
            AgreementMistake::Elements { of, count, dst } => elements(about, *of, *count, *dst),
            AgreementMistake::BothInPsum { first, second } => words(
                format!("`{first}` and `{second}` of {op} are both in psum; one may be"),
                "both in psum",
            )
            .rule("the two streams of an instruction cannot both read PSUM")
            .help("copy one of them into sbuf first (tensor_copy)"),
            AgreementMistake::Dtypes {
                dtype,
                other,
                other_dtype,
            } => words(
                format!(
                    "`{name}` of {op} is {}; `{other}` is {}",
                    dtype.nki_name(),
                    other_dtype.nki_name()
                ),
                format!("`{name}` is {}", dtype.nki_name()),
            )
            .rule(format!("{op} moves bits without converting"))
            .help(format!("give both the dtype {}", other_dtype.nki_name())),
            AgreementMistake::Overlap { other } => words(
                format!("`{name}` of {op} overlaps `{other}` partly"),
                format!("read and overwritten by one {op}"),
            )
            .rule(format!("the order in which {op} moves elements is not fixed"))
            .help("go through another tile"),
            AgreementMistake::RepeatedDestination { times } => words(
                format!("`{name}` of {op} holds each element {times} times"),
                "a broadcast dimension",
            )
            .rule("which of the results stays is not fixed")
            .help("write to a tile without broadcast dimensions"),
        }
    }
}

fn elements(about: &About, of: CountOf, count: u64, dst: u64) -> Words {
    let (op, name) = (about.op, about.name);
    let elements = plural(count, "element");
    let label = format!("{count} against {dst}");
    match of {
        CountOf::Partition => words(
            format!("`{name}` of {op} has {elements} per partition; dst has {dst}"),
            label,
        )
        .rule("an engine pairs the elements of a partition in order, without broadcasting")
        .help("slice the larger tile; for one value per partition use tensor_scalar"),
        CountOf::Tile => words(format!("`{name}` of {op} has {elements}; dst has {dst}"), label)
            .rule("a transfer moves elements in flattened order")
            .help("make both slices the same size"),
        CountOf::Reduced => words(
            format!("{op} leaves {elements} per partition of `{name}`; dst has {dst}"),
            label,
        )
        .help("give dst the shape of the axes that stay"),
    }
}
