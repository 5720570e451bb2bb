//! The engine of an instruction, and each operand for itself.

use super::{About, Words, alternatives, plural, words};
use crate::dtype::Dtype;
use crate::isa::{Access, AluSet, DtypeSet, Engine, Generation, Memory, Unit};

/// An operand that is not what its row says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperandMistake {
    /// The target is older than the instruction.
    Unsupported {
        since: Generation,
        target: &'static str,
    },
    WrongEngine {
        engine: Engine,
        takes: &'static [Engine],
    },
    Missing,
    WrongKind,
    /// A number where only a tile will do.
    NeedsTile,
    WrongMemory {
        memory: Memory,
        takes: &'static [Memory],
    },
    WrongDtype {
        dtype: Dtype,
        takes: DtypeSet,
    },
    WrongOperator {
        operator: &'static str,
        takes: AluSet,
    },
    NotColumn {
        free: u64,
    },
    GpsimdPsum,
}

impl OperandMistake {
    pub(super) fn code(&self) -> &'static str {
        match self {
            OperandMistake::Unsupported { .. } => "not-on-this-target",
            OperandMistake::WrongEngine { .. } => "wrong-engine",
            OperandMistake::Missing => "missing-operand",
            OperandMistake::WrongKind => "wrong-operand",
            OperandMistake::NeedsTile => "bias-needs-tile",
            OperandMistake::WrongMemory { .. } => "wrong-memory",
            OperandMistake::WrongDtype { .. } => "wrong-dtype",
            OperandMistake::WrongOperator { .. } => "wrong-operator",
            OperandMistake::NotColumn { .. } => "not-a-column",
            OperandMistake::GpsimdPsum => "gpsimd-psum",
        }
    }

    pub(super) fn words(&self, about: &About) -> Words {
        let (op, name) = (about.op, about.name);
        match self {
            OperandMistake::Unsupported { since, target } => {
                words(format!("{target} has no {op}"), "this instruction")
                    .rule(format!("{op} came with {}", since.name()))
            }
            OperandMistake::WrongEngine { engine, takes } => words(
                format!(
                    "{op} runs on {}, not on {}",
                    alternatives(takes.iter().map(|it| it.name())),
                    engine.name()
                ),
                "this instruction",
            )
            .help("leave the engine out, or name one that has the instruction"),
            OperandMistake::Missing => words(format!("{op} needs `{name}`"), format!("`{name}` is missing"))
                .help(format!("add `{name}=…`")),
            OperandMistake::WrongKind => words(
                format!("`{name}` of {op} is a value of another kind"),
                format!("this `{name}`"),
            )
            .help(format!("`nk isa {op}` shows what each operand takes")),
            OperandMistake::NeedsTile => words(
                format!("`{name}` of {op} is a number; it takes a tile of shape (P, 1)"),
                format!("this `{name}`"),
            )
            .rule(format!(
                "the engine reads `{name}` from memory, one element per partition"
            ))
            .help("fill a (P, 1) tile with memset and pass it"),
            OperandMistake::WrongMemory { memory, takes } => wrong_memory(about, *memory, takes),
            OperandMistake::WrongDtype { dtype, takes } => words(
                format!(
                    "`{name}` of {op} is {}; it takes {}",
                    dtype.nki_name(),
                    takes.words()
                ),
                format!("`{name}` is {}", dtype.nki_name()),
            )
            .help(format!(
                "convert it with a copy into another tile, or change the dtype of `{name}`"
            ))
            .rule(match (op, name) {
                ("nc_matmul", "dst") => {
                    "PSUM adds up in float32; a bfloat16 destination came with NeuronCore-v4"
                }
                _ => "each engine takes the dtypes that its instruction lists",
            }),
            OperandMistake::WrongOperator { operator, takes } => words(
                format!(
                    "`{name}` of {op} cannot be `{operator}`; it takes {}",
                    operators(*takes)
                ),
                format!("`{name}` is `{operator}`"),
            ),
            OperandMistake::NotColumn { free } => words(
                format!(
                    "`{name}` of {op} has {} per partition; it takes 1",
                    plural(*free, "element")
                ),
                format!("{} per partition", plural(*free, "element")),
            )
            .rule(format!(
                "`{name}` is one value for each partition, broadcast along the free axis"
            ))
            .help("pass a (P, 1) tile, or use an instruction that takes two tiles"),
            OperandMistake::GpsimdPsum => words(
                format!("`{name}` of {op} is in psum, which the gpsimd engine cannot reach"),
                format!("`{name}` is in psum"),
            )
            .rule("GpSimd reads and writes SBUF only")
            .help("run it on the vector engine, or copy the tile into sbuf first"),
        }
    }
}

fn wrong_memory(about: &About, memory: Memory, takes: &[Memory]) -> Words {
    let (op, name) = (about.op, about.name);
    let message = format!(
        "`{name}` of {op} is in {}; it takes {}",
        memory.name(),
        alternatives(takes.iter().map(|it| it.name()))
    );
    let unit = about.row.map(|it| (it.unit, it.engines));
    let rule = match unit {
        Some((Unit::Dma, _)) => "DMA reaches HBM and SBUF, not PSUM",
        _ if memory == Memory::Hbm => "engines reach HBM by DMA only",
        Some((_, [Engine::Gpsimd])) => "GpSimd reads and writes SBUF only",
        _ => "the PE array reads SBUF and writes PSUM",
    };
    let tile = about
        .row
        .and_then(|row| row.operands[row.position(name)?].kind.tile());
    let is_written = tile.is_some_and(|it| it.access != Access::Read);
    let help = match (memory, takes) {
        (Memory::Hbm, _) if is_written => {
            let near = if takes.contains(&Memory::Sbuf) {
                "sbuf"
            } else {
                takes[0].name()
            };
            format!("write a tile in {near}, and store that (dma_copy)")
        }
        _ if is_written => format!("allocate it in {}", takes[takes.len() - 1].name()),
        (Memory::Hbm, _) => "load it into sbuf first (dma_copy)".to_owned(),
        (_, _) => "copy it into sbuf first (tensor_copy)".to_owned(),
    };
    words(message, format!("`{name}` is in {}", memory.name()))
        .rule(rule)
        .help(help)
}

fn operators(set: AluSet) -> &'static str {
    match set {
        AluSet::Binary => "an operator of two inputs",
        AluSet::Arithmetic => "an arithmetic operator of two inputs",
        AluSet::Any => "any operator",
        AluSet::Reduction => {
            "add, subtract, multiply, maximum, minimum or a logical or bitwise operator of two inputs"
        }
        AluSet::Comparison => "a comparison",
        AluSet::Add => "`add` on NeuronCore-v2",
        AluSet::Recurrence => "an arithmetic operator of two inputs that the Vector engine has",
        AluSet::Numeric => "an arithmetic operator that the Vector engine has",
        AluSet::Collective => "add, maximum or minimum",
        AluSet::Accumulator => "add, multiply, maximum or minimum",
        AluSet::Cumulative => "add, subtract, multiply, maximum or minimum",
        AluSet::Maximum => "`maximum` on NeuronCore-v2",
        AluSet::Partitions => "add, average, maximum, bitwise_or or bitwise_and",
    }
}
