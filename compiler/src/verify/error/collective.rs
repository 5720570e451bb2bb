//! Exchanges between ranks that cannot be.

use super::{About, Words, plural, words};
use crate::isa::Exchange;

/// An exchange whose operands do not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CollectiveMistake {
    /// The ranks do not divide into groups of this size.
    Group { n_ranks: usize, group: usize },
    /// An operand has an address that is known at run time only.
    Dynamic,
    /// An operand that this exchange does not have.
    Unused { kind: Exchange },
    /// One side lies in HBM, the other in SBUF.
    Memories { kind: Exchange },
    /// What the ranks make does not fill dst.
    Size {
        kind: Exchange,
        group: usize,
        count: u64,
        dst: u64,
    },
}

impl CollectiveMistake {
    pub(super) fn code(&self) -> &'static str {
        match self {
            CollectiveMistake::Group { .. } => "bad-replica-group",
            CollectiveMistake::Dynamic
            | CollectiveMistake::Unused { .. }
            | CollectiveMistake::Memories { .. } => "collective-operand",
            CollectiveMistake::Size { .. } => "collective-size",
        }
    }

    pub(super) fn words(&self, about: &About) -> Words {
        let name = about.name;
        match self {
            CollectiveMistake::Group { n_ranks, group } => words(
                format!("{} in groups of {group}", plural(*n_ranks as u64, "rank")),
                "",
            )
            .rule("every group of a collective has the same size, at least 1"),
            CollectiveMistake::Dynamic => words(
                format!("`{name}` of a collective has an address that is known at run time only"),
                "moved by an index",
            )
            .rule("the rings of the collective cores are written before the program starts")
            .help("copy it into a tensor of its own with nisa.dma_copy first"),
            CollectiveMistake::Unused { kind } => words(format!("{} has no `{name}`", kind.name()), ""),
            CollectiveMistake::Memories { kind } => words(
                format!("{} from one memory into the other", kind.name()),
                "the destination lies in another memory",
            )
            .rule("the tensors of a collective are all in HBM, or all in SBUF"),
            CollectiveMistake::Size {
                kind,
                group,
                count,
                dst,
            } => {
                let relation = match kind {
                    Exchange::AllGather => format!("dst holds {group} times src, one part of each rank"),
                    Exchange::ReduceScatter => format!("src holds {group} times dst, one part for each rank"),
                    Exchange::AllToAll => format!("src and dst hold {group} equal parts, one of each rank"),
                    _ => "src and dst have one size".to_string(),
                };
                words(
                    format!(
                        "{} over {} has {} of `{name}` and {dst} of dst",
                        kind.name(),
                        plural(*group as u64, "rank"),
                        plural(*count, "element")
                    ),
                    plural(*count, "element"),
                )
                .rule(relation)
            }
        }
    }
}
