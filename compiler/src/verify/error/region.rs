//! Places of buffers that their memories do not have.

use super::{About, Words, plural, words};
use crate::isa::Memory;

/// What a region is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionAxis {
    Partitions,
    Bytes,
}

impl RegionAxis {
    fn unit(self) -> &'static str {
        match self {
            RegionAxis::Partitions => "partition",
            RegionAxis::Bytes => "byte",
        }
    }
}

/// A region that cannot hold its buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegionMistake {
    Outside {
        memory: Memory,
        axis: RegionAxis,
        end: u64,
        limit: u64,
    },
    Size {
        axis: RegionAxis,
        has: u64,
        needs: u64,
    },
    Misaligned {
        start: u32,
        align: u32,
    },
    /// An address in HBM for a buffer on chip, or the other way round.
    WrongMemory {
        memory: Memory,
    },
}

impl RegionMistake {
    pub(super) fn code(&self) -> &'static str {
        match self {
            RegionMistake::Outside { .. } => "region-outside-memory",
            RegionMistake::Size { .. } => "region-size",
            RegionMistake::Misaligned { .. } => "region-misaligned",
            RegionMistake::WrongMemory { .. } => "wrong-region",
        }
    }

    pub(super) fn words(&self, about: &About) -> Words {
        let name = about.name;
        match self {
            RegionMistake::Outside {
                memory,
                axis,
                end,
                limit,
            } => words(
                format!(
                    "the region of {name} ends at {} {end}; {} has {limit}",
                    axis.unit(),
                    memory.name()
                ),
                format!("ends at {} {end}", axis.unit()),
            ),
            RegionMistake::Size { axis, has, needs } => words(
                format!(
                    "the region of {name} has {}; the buffer has {needs}",
                    plural(*has, axis.unit())
                ),
                format!("{} against {needs}", plural(*has, axis.unit())),
            ),
            RegionMistake::Misaligned { start, align } => words(
                format!("the region of {name} starts at byte {start}, which is no multiple of {align}"),
                format!("starts at byte {start}"),
            ),
            RegionMistake::WrongMemory { memory } => words(
                format!(
                    "the region of {name} is in another memory; the buffer is in {}",
                    memory.name()
                ),
                "this region",
            ),
        }
    }
}
