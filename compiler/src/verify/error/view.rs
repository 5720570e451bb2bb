//! Views: bounds, and what the access patterns of engines can express.

use super::{About, Words, alternatives, plural, words};
use crate::dtype::Dtype;
use crate::isa::Memory;

/// What a size counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    Partitions,
    /// Elements in each partition; all elements in HBM.
    Elements,
}

/// A view that its buffer does not hold, or that no engine can walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewMistake {
    Empty,
    OutOfBounds {
        axis: Axis,
        first: i64,
        last: i64,
        size: u64,
        memory: Memory,
        buffer: String,
    },
    TooManyPartitions {
        partitions: u32,
        limit: u32,
    },
    TooManyDims {
        dims: usize,
        limit: usize,
    },
    TooManyElements {
        free: u64,
        limit: u64,
        memory: Memory,
    },
    StrideTooLarge {
        stride: u64,
        limit: u32,
    },
    StartPartition {
        start: u32,
        partitions: u32,
        legal: &'static [u32],
    },
    /// The tile that a dynamic address is taken from.
    Index(IndexMistake),
}

/// What is wrong with a dynamic address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexMistake {
    /// The index is no integer.
    Dtype(Dtype),
    Memory(Memory),
    /// The index has another number of elements.
    Count {
        has: u64,
        needs: u64,
    },
    /// Its own address is dynamic.
    Nested,
    /// Some indices that are allowed leave the tensor.
    Room {
        count: u32,
        room: u64,
    },
    /// An index for each row, where only `dma_copy` to or from HBM can use it.
    RowsElsewhere,
    /// The other operand has another number of rows.
    OtherRows {
        rows: u32,
        other: u32,
    },
}

impl IndexMistake {
    fn words(&self, op: &str, name: &str) -> Words {
        match self {
            IndexMistake::Dtype(dtype) => words(
                format!("the index of `{name}` of {op} is {}", dtype.nki_name()),
                "indexed by something else than integers",
            )
            .help("make the index an int32 or uint32 tile"),
            IndexMistake::Memory(memory) => words(
                format!("the index of `{name}` of {op} is in {}", memory.name()),
                format!("an index in {}", memory.name()),
            )
            .rule("addresses are computed from registers and SBUF")
            .help("copy the index into sbuf first"),
            IndexMistake::Count { has, needs } => words(
                format!(
                    "the index of `{name}` of {op} has {}; {needs} are needed",
                    plural(*has, "element")
                ),
                format!("{has} against {needs}"),
            )
            .help("give one element, or for rows a column with one element in each partition"),
            IndexMistake::Room { count, room } => words(
                format!(
                    "the index of `{name}` of {op} may be below {count}; below {room} it stays in the tensor"
                ),
                format!("indices below {count}"),
            )
            .help("allow fewer indices, or shorten the view"),
            IndexMistake::Nested => words(
                format!("the index of `{name}` of {op} has a dynamic address itself"),
                "an index of an index",
            )
            .help("copy the index into a tile of its own first"),
            IndexMistake::RowsElsewhere => words(
                format!("`{name}` of {op} has an index for each row"),
                "rows at addresses of their own",
            )
            .rule("on NeuronCore-v2 only dma_copy and dma_compute gather and scatter rows, on their HBM side")
            .help("gather into a tile with nisa.dma_copy first"),
            IndexMistake::OtherRows { rows, other } => words(
                format!(
                    "`{name}` of {op} has {}, the other side {other}",
                    plural(*rows, "indexed row")
                ),
                format!("{rows} rows against {other}"),
            )
            .help("give both sides one row for each index"),
        }
    }
}

impl ViewMistake {
    pub(super) fn code(&self) -> &'static str {
        match self {
            ViewMistake::Empty => "empty-view",
            ViewMistake::OutOfBounds { .. } => "out-of-bounds",
            ViewMistake::TooManyPartitions { .. } => "too-many-partitions",
            ViewMistake::TooManyDims { .. } => "too-many-dimensions",
            ViewMistake::TooManyElements { .. } => "too-many-elements",
            ViewMistake::StrideTooLarge { .. } => "stride-too-large",
            ViewMistake::StartPartition { .. } => "start-partition",
            ViewMistake::Index(_) => "dynamic-index",
        }
    }

    pub(super) fn words(&self, about: &About) -> Words {
        let (op, name) = (about.op, about.name);
        match self {
            ViewMistake::Index(mistake) => mistake.words(op, name),
            ViewMistake::Empty => words(format!("`{name}` of {op} has no elements"), "an empty tile")
                .help("leave the instruction out when there is nothing to do"),
            ViewMistake::OutOfBounds {
                axis,
                first,
                last,
                size,
                memory,
                buffer,
            } => {
                let unit = match axis {
                    Axis::Partitions => "partition",
                    Axis::Elements => "element",
                };
                let of_each = match axis {
                    Axis::Elements if memory.is_on_chip() => " per partition",
                    _ => "",
                };
                let reached = if *first < 0 { first } else { last };
                words(
                    format!("`{name}` of {op} reaches {unit} {reached}; {buffer} has {}{of_each}", plural(*size, unit)),
                    format!("{unit}s {first} to {last}"),
                )
                .help(format!("{unit}s count from 0: shorten the slice, or make the tensor larger"))
            }
            ViewMistake::TooManyPartitions { partitions, limit } => words(
                format!("{name} has {partitions} partitions; the most is {limit}"),
                format!("{partitions} partitions"),
            )
            .rule(format!("SBUF and PSUM have {limit} partitions, and the first dimension of a tile is the partition"))
            .help(format!("split it into tiles of {limit} partitions")),
            ViewMistake::TooManyDims { dims, limit } => words(
                format!("`{name}` of {op} has {dims} free dimensions; an instruction takes at most {limit}"),
                format!("{dims} dimensions that do not merge"),
            )
            .rule(format!("an engine walks a partition with {limit} nested counters"))
            .help("split the instruction, or copy into a tile whose dimensions are contiguous"),
            ViewMistake::TooManyElements { free, limit, memory } => words(
                format!(
                    "`{name}` of {op} has {free} elements per partition; an instruction takes at most {limit} in {}",
                    memory.name()
                ),
                format!("{free} elements per partition"),
            )
            .help(format!("split the instruction into pieces of {limit} elements")),
            ViewMistake::StrideTooLarge { stride, limit } => words(
                format!("`{name}` of {op} steps over {stride} elements; the most is {limit}"),
                format!("a step of {stride} elements"),
            )
            .rule("the step of an access pattern is a signed 16-bit number of elements")
            .help("split the instruction along this dimension"),
            ViewMistake::StartPartition {
                start,
                partitions,
                legal,
            } => words(
                format!("`{name}` of {op} starts at partition {start} and has {}", plural(*partitions, "partition")),
                format!("partitions {start} to {}", u64::from(*start) + u64::from(*partitions) - 1),
            )
            .rule(format!(
                "an access of {} starts at partition {}",
                plural(*partitions, "partition"),
                alternatives(legal.iter())
            ))
            .help("lay the tile out so that the access starts there, or move the data by DMA"),
        }
    }
}
