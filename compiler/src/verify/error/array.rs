//! Matmuls and transposes: the shapes of the PE array, its tiles and its banks.

use super::view::Axis;
use super::{About, Words, alternatives, plural, tuple, words};
use crate::dtype::Dtype;

/// A side of the PE array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeSide {
    Rows,
    Columns,
}

/// A matmul or a transpose that the hardware cannot do in one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrayMistake {
    TileTooLarge {
        axis: Axis,
        size: u64,
        limit: u64,
    },
    Contraction {
        stationary: u32,
        moving: u32,
        /// The operand that would fit with its dimensions exchanged.
        turned: Option<&'static str>,
    },
    MatmulDestination {
        partitions: u32,
        free: u64,
        m: u64,
        n: u64,
    },
    MatmulDtypes {
        stationary: Dtype,
        moving: Dtype,
    },
    BankCrossed {
        first: u64,
        end: u64,
        bank_bytes: u32,
    },
    PeTileIncomplete {
        given: &'static str,
        missing: &'static str,
    },
    PeTileSize {
        size: u8,
        legal: &'static [u8],
    },
    PeTilePosition {
        position: u8,
        size: u8,
        limit: u32,
    },
    PeTileTooSmall {
        side: PeSide,
        needs: u64,
        size: u8,
    },
    /// After placing: an operand lies on other partitions than its part of the PE array.
    PeTileElsewhere {
        start: u32,
        position: u8,
    },
    TransposeDestination {
        partitions: u32,
        free: u64,
        needs_partitions: u64,
        needs_free: u64,
    },
    /// On the Tensor engine the result is f32 or of the data's dtype.
    TransposeDtype {
        dtype: Dtype,
        data: Dtype,
    },
    TransposeRank {
        rank: usize,
    },
    TransposeShape {
        dst: Vec<u32>,
        needs: Vec<u32>,
    },
}

impl ArrayMistake {
    pub(super) fn code(&self) -> &'static str {
        match self {
            ArrayMistake::TileTooLarge { .. } => "tile-too-large",
            ArrayMistake::Contraction { .. } => "matmul-contraction-mismatch",
            ArrayMistake::MatmulDestination { .. } => "matmul-destination",
            ArrayMistake::MatmulDtypes { .. } => "matmul-dtypes",
            ArrayMistake::BankCrossed { .. } => "psum-bank-crossed",
            ArrayMistake::PeTileIncomplete { .. } => "pe-tile-incomplete",
            ArrayMistake::PeTileSize { .. } => "pe-tile-size",
            ArrayMistake::PeTilePosition { .. } => "pe-tile-position",
            ArrayMistake::PeTileTooSmall { .. } => "pe-tile-too-small",
            ArrayMistake::PeTileElsewhere { .. } => "pe-tile-elsewhere",
            ArrayMistake::TransposeDestination { .. } | ArrayMistake::TransposeShape { .. } => {
                "transpose-destination"
            }
            ArrayMistake::TransposeDtype { .. } => "dtype-mismatch",
            ArrayMistake::TransposeRank { .. } => "transpose-rank",
        }
    }

    pub(super) fn words(&self, about: &About) -> Words {
        let (op, name) = (about.op, about.name);
        match self {
            ArrayMistake::TileTooLarge { axis, size, limit } => tile_too_large(about, *axis, *size, *limit),
            ArrayMistake::Contraction { stationary, moving, turned } => words(
                format!("stationary has {} and moving has {moving}", plural(*stationary, "partition")),
                format!("{} against {moving}", plural(*stationary, "partition")),
            )
            .rule("a matmul sums over partitions, so both operands have the summed dimension first: [K, M] and [K, N]")
            .help(match turned {
                Some(operand) => format!("load {operand} transposed, or transpose it with nc_transpose: it would fit"),
                None => "slice both operands to the same rows".to_owned(),
            }),
            ArrayMistake::MatmulDestination { partitions, free, m, n } => words(
                format!("dst of {op} is {partitions} x {free}; stationary [K, {m}] and moving [K, {n}] make {m} x {n}"),
                format!("{partitions} x {free} against {m} x {n}"),
            )
            .rule("the free size of stationary gives the partitions of dst, that of moving its free size")
            .help(format!("use a destination of shape ({m}, {n})")),
            ArrayMistake::MatmulDtypes { stationary, moving } => words(
                format!("stationary is {} and moving is {}", stationary.nki_name(), moving.nki_name()),
                "one of 32 bits, one of fewer",
            )
            .rule("the PE array multiplies float32 and tfloat32 only with each other")
            .help("copy one operand into a tile of the other's dtype"),
            ArrayMistake::BankCrossed { first, end, bank_bytes } => words(
                format!("dst of {op} takes bytes {first} to {end} of its partitions; a PSUM bank has {bank_bytes}"),
                format!("{} bytes across the end of a bank", end - first),
            )
            .rule(format!(
                "the PE array writes into one bank: {bank_bytes} bytes, {} f32 values per partition",
                bank_bytes / 4
            ))
            .help("split the instruction at the end of the bank"),
            ArrayMistake::TransposeDestination {
                partitions,
                free,
                needs_partitions,
                needs_free,
            } => words(
                format!("dst of {op} is {partitions} x {free}; the transpose is {needs_partitions} x {needs_free}"),
                format!("{partitions} x {free} against {needs_partitions} x {needs_free}"),
            )
            .help(format!("use a destination of shape ({needs_partitions}, {needs_free})")),
            ArrayMistake::TransposeDtype { dtype, data } => words(
                format!("dst of {op} is {}; data is {}", dtype.nki_name(), data.nki_name()),
                format!("dst is {}", dtype.nki_name()),
            )
            .rule("a transpose on the Tensor engine writes float32, or the dtype of its data")
            .help(format!("give dst the dtype {}", data.nki_name())),
            ArrayMistake::TransposeRank { rank } => words(
                format!("`{name}` of {op} has {}; it takes 2, 3 or 4", plural(*rank as u64, "dimension")),
                plural(*rank as u64, "dimension"),
            )
            .rule("the permutations are (1, 0), (2, 1, 0) and (3, 1, 2, 0)")
            .help("reshape the tensor"),
            ArrayMistake::TransposeShape { dst, needs } => words(
                format!("dst of {op} has shape {}; the transpose has shape {}", tuple(dst), tuple(needs)),
                format!("shape {}", tuple(dst)),
            )
            .rule("the permutations are (1, 0), (2, 1, 0) and (3, 1, 2, 0)")
            .help(format!("use a destination of shape {}", tuple(needs))),
            ArrayMistake::PeTileIncomplete { given, missing } => {
                words(format!("{op} has `{given}` but no `{missing}`"), format!("`{missing}` is missing"))
                    .rule("a tile of the PE array is a position and a size")
                    .help(format!("add `{missing}`, or leave `{given}` out"))
            }
            ArrayMistake::PeTileSize { size, legal } => {
                words(format!("a side of the PE tile is {size}"), format!("a side of {size}"))
                    .rule(format!(
                        "a side is {}; sides of 32 came with NeuronCore-v3",
                        alternatives(legal.iter())
                    ))
            }
            ArrayMistake::PeTilePosition { position, size, limit } => words(
                format!("the PE tile starts at {position} with a side of {size}"),
                format!("starts at {position}"),
            )
            .rule(format!("a tile starts at a multiple of its side and ends by {limit}")),
            ArrayMistake::PeTileTooSmall { side, needs, size } => {
                let (side, what) = match side {
                    PeSide::Rows => ("rows", "K, the partitions of stationary and moving,"),
                    PeSide::Columns => ("columns", "M, the free size of stationary,"),
                };
                words(
                    format!("the PE tile has {size} {side}; {what} is {needs}"),
                    format!("{needs} do not fit in {size} {side}"),
                )
                .help("use a larger tile, or split the operands")
            }
            ArrayMistake::PeTileElsewhere { start, position } => words(
                format!("`{name}` of {op} starts at partition {start}; its PE tile starts at {position}"),
                format!("starts at partition {start}"),
            )
            .rule("partition k feeds row k of the PE array, and column m writes partition m")
            .help(format!("place the tile at partition {position}, or move the PE tile")),
        }
    }
}

fn tile_too_large(about: &About, axis: Axis, size: u64, limit: u64) -> Words {
    let (op, name) = (about.op, about.name);
    let (dimension, pieces) = match axis {
        Axis::Partitions => ("partitions high", "partitions"),
        Axis::Elements => ("elements wide", "columns"),
    };
    let rule = match (op, name) {
        ("nc_matmul", "moving") => format!("one PSUM bank holds {limit} f32 values per partition"),
        ("nc_matmul", _) => format!("the PE array has {limit} columns"),
        (_, _) if limit <= 32 => format!("the Vector engine transposes squares of {limit} x {limit}"),
        (_, _) => format!("the PE array has {limit} rows and {limit} columns"),
    };
    words(
        format!("{name} tile is {size} {dimension}; {op} takes at most {limit}"),
        format!("{size} {dimension}"),
    )
    .rule(rule)
    .help(match (op, name, axis) {
        ("nc_matmul", "stationary", Axis::Elements) => format!(
            "split the stationary operand into tiles of {limit} columns; the wider operand is the moving one, which comes last: \
             nc_matmul(dst, stationary, moving)"
        ),
        _ => format!("split the {name} operand into tiles of {limit} {pieces}"),
    })
}
