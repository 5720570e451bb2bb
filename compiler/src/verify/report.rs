//! The wording of the rules: the only place where a broken rule becomes a sentence.

use super::error::{Axis, CountOf, Error, Mistake, PeAxis, RegionAxis, Subject};
use crate::diagnostic::{Diagnostic, Report};
use crate::isa::{AluSet, Engine, Generation, Memory};

/// The stable word for a mistake.
pub fn code(mistake: &Mistake) -> &'static str {
    match mistake {
        Mistake::UnsupportedInstruction { .. } => "unsupported-instruction",
        Mistake::WrongEngine { .. } => "wrong-engine",
        Mistake::MissingOperand => "missing-operand",
        Mistake::WrongOperand => "wrong-operand",
        Mistake::NeedsTile => "bias-needs-tile",
        Mistake::WrongMemory { .. } => "wrong-memory",
        Mistake::WrongDtype { .. } => "wrong-dtype",
        Mistake::WrongOperator { .. } => "wrong-operator",
        Mistake::NotColumn { .. } => "not-a-column",
        Mistake::EmptyView => "empty-view",
        Mistake::OutOfBounds { .. } => "out-of-bounds",
        Mistake::TooManyPartitions { .. } => "too-many-partitions",
        Mistake::TooManyDims { .. } => "too-many-dimensions",
        Mistake::TooManyElements { .. } => "too-many-elements",
        Mistake::StrideTooLarge { .. } => "stride-too-large",
        Mistake::StartPartition { .. } => "start-partition",
        Mistake::PartitionMismatch { .. } => "partition-mismatch",
        Mistake::ElementCountMismatch { .. } => "element-count-mismatch",
        Mistake::BothInPsum { .. } => "both-operands-in-psum",
        Mistake::DtypeMismatch { .. } => "dtype-mismatch",
        Mistake::OverlappingOperands { .. } => "overlapping-operands",
        Mistake::RepeatedDestination { .. } => "repeated-destination",
        Mistake::TileTooLarge { .. } => "tile-too-large",
        Mistake::MatmulContraction { .. } => "matmul-contraction-mismatch",
        Mistake::MatmulDestination { .. } => "matmul-destination",
        Mistake::MatmulDtypes { .. } => "matmul-dtypes",
        Mistake::PsumBankCrossed { .. } => "psum-bank-crossed",
        Mistake::PeTileIncomplete { .. } => "pe-tile-incomplete",
        Mistake::PeTileSize { .. } => "pe-tile-size",
        Mistake::PeTilePosition { .. } => "pe-tile-position",
        Mistake::PeTileTooSmall { .. } => "pe-tile-too-small",
        Mistake::PeTileElsewhere { .. } => "pe-tile-elsewhere",
        Mistake::TransposeDestination { .. } | Mistake::TransposeShape { .. } => "transpose-destination",
        Mistake::TransposeRank { .. } => "transpose-rank",
        Mistake::ReduceAxes { .. } => "reduce-axes",
        Mistake::PatternCount { .. } => "pattern-count-mismatch",
        Mistake::OperatorClassesMixed { .. } => "operator-classes-mixed",
        Mistake::BitsNeedIntegers { .. } => "bits-need-integers",
        Mistake::OperatorEngine { .. } => "operator-engine",
        Mistake::UnaryTakesNoOperand { .. } => "unary-takes-no-operand",
        Mistake::OperandWithoutOperator { .. } => "operand-without-operator",
        Mistake::NegateNeedsArithmetic { .. } => "negate-needs-arithmetic",
        Mistake::BiasWithReciprocal => "bias-with-reciprocal",
        Mistake::ReduceNeedsOperator => "reduce-needs-operator",
        Mistake::ReduceCommand { .. } => "reduce-command",
        Mistake::MemsetValue { .. } => "memset-value",
        Mistake::GpsimdPsum => "gpsimd-psum",
        Mistake::RegionOutside { .. } => "region-outside-memory",
        Mistake::RegionSize { .. } => "region-size",
        Mistake::RegionMisaligned { .. } => "region-misaligned",
        Mistake::RegionKind { .. } => "wrong-region",
    }
}

impl Report for Error {
    fn report(&self) -> Diagnostic {
        let words = match &self.subject {
            Subject::Inst { op, operand } => inst_words(&self.mistake, op, operand.unwrap_or(op)),
            Subject::Buffer(name) => buffer_words(&self.mistake, name),
        };
        let mut diagnostic = Diagnostic::error(code(&self.mistake), words.message);
        match self.place.span {
            Some(span) => diagnostic = diagnostic.at(span, words.label),
            None => diagnostic = diagnostic.note(format!("in `{}`", self.place.text)),
        }
        for &caller in &self.place.callers {
            diagnostic = diagnostic.because(caller, "called from here");
        }
        if !words.rule.is_empty() {
            diagnostic = diagnostic.note(words.rule);
        }
        if self.place.more > 0 {
            let (more, s) = (self.place.more, if self.place.more == 1 { "" } else { "s" });
            let what = if self.place.is_loop {
                "iteration"
            } else {
                "instruction"
            };
            let of = if self.place.is_loop {
                "of the loop"
            } else {
                "made here"
            };
            diagnostic = diagnostic.note(format!("and {more} more {what}{s} {of}"));
        }
        match words.help.as_str() {
            "" => diagnostic,
            _ => diagnostic.help(words.help),
        }
    }
}

/// A message in parts; empty parts are not shown.
struct Words {
    message: String,
    label: String,
    rule: String,
    help: String,
}

fn words(
    message: impl Into<String>,
    label: impl Into<String>,
    rule: impl Into<String>,
    help: impl Into<String>,
) -> Words {
    Words {
        message: message.into(),
        label: label.into(),
        rule: rule.into(),
        help: help.into(),
    }
}

/// `name` is the operand's, or the instruction's when the mistake is of the whole.
fn inst_words(mistake: &Mistake, op: &str, name: &str) -> Words {
    match mistake {
        Mistake::UnsupportedInstruction { since, target } => words(
            format!("{target} has no {op}"),
            "this instruction",
            format!("{op} came with {}", generation(*since)),
            "",
        ),
        Mistake::WrongEngine { engine, takes } => words(
            format!(
                "{op} runs on {}, not on {}",
                list(takes.iter().map(|it| it.name()), "or"),
                engine.name()
            ),
            "this instruction",
            "",
            "leave the engine out, or name one of these",
        ),
        Mistake::MissingOperand => words(
            format!("{op} needs `{name}`"),
            format!("`{name}` is missing"),
            "",
            format!("add `{name}=…`"),
        ),
        Mistake::WrongOperand => words(
            format!("`{name}` of {op} is a value of another kind"),
            format!("this `{name}`"),
            "",
            format!("`nk isa {op}` shows what each operand takes"),
        ),
        Mistake::NeedsTile => words(
            format!("`{name}` of {op} is a number; it takes a tile of shape (P, 1)"),
            format!("this `{name}`"),
            format!("the engine reads `{name}` from memory, one element per partition"),
            "fill a (P, 1) tile with memset and pass it",
        ),
        Mistake::WrongMemory { memory, takes } => wrong_memory(op, name, *memory, takes),
        Mistake::WrongDtype { dtype, takes } => words(
            format!(
                "`{name}` of {op} is {}; it takes {}",
                dtype.nki_name(),
                takes.words()
            ),
            format!("`{name}` is {}", dtype.nki_name()),
            "",
            format!("copy it into a tile of another dtype, or change the dtype of `{name}`"),
        ),
        Mistake::WrongOperator { operator, takes } => words(
            format!(
                "`{name}` of {op} cannot be `{operator}`; it takes {}",
                operators(*takes)
            ),
            format!("`{name}` is `{operator}`"),
            "",
            "",
        ),
        Mistake::NotColumn { free } => words(
            format!("`{name}` of {op} has {free} elements per partition; it takes 1"),
            format!("{free} elements per partition"),
            format!("`{name}` is one value for each partition, broadcast along the free axis"),
            "pass a (P, 1) tile, or use an instruction that takes two tiles",
        ),
        Mistake::EmptyView => words(
            format!("`{name}` of {op} has no elements"),
            "an empty tile",
            "",
            "leave the instruction out when there is nothing to do",
        ),
        Mistake::OutOfBounds {
            axis,
            first,
            last,
            size,
            buffer,
        } => {
            let unit = match axis {
                Axis::Partitions => "partition",
                Axis::Elements => "element",
            };
            let reached = if *first < 0 { first } else { last };
            words(
                format!("`{name}` of {op} reaches {unit} {reached}; {buffer} has {size}"),
                format!("{unit}s {first} to {last}"),
                "",
                "shorten the slice, or make the tensor larger",
            )
        }
        Mistake::TooManyPartitions { partitions, limit } => too_many_partitions(name, *partitions, *limit),
        Mistake::TooManyDims { dims, limit } => words(
            format!("`{name}` of {op} has {dims} free dimensions; an instruction takes at most {limit}"),
            format!("{dims} dimensions that are not contiguous"),
            "an engine walks a partition with four nested counters",
            "split the instruction, or copy into a tile whose dimensions merge",
        ),
        Mistake::TooManyElements { free, limit, memory } => words(
            format!(
                "`{name}` of {op} has {free} elements per partition; an instruction takes at most {limit} in {}",
                memory.name()
            ),
            format!("{free} elements per partition"),
            "",
            format!("split the instruction into pieces of {limit} elements"),
        ),
        Mistake::StrideTooLarge { stride, limit } => words(
            format!("`{name}` of {op} steps over {stride} elements; the most is {limit}"),
            format!("a step of {stride} elements"),
            "the step of an access pattern is a signed 16-bit number of elements",
            "split the instruction along this dimension",
        ),
        Mistake::StartPartition {
            start,
            partitions,
            legal,
        } => words(
            format!("`{name}` of {op} starts at partition {start} with {partitions} partitions"),
            format!("partitions {start} to {}", start + partitions - 1),
            format!(
                "an access of {partitions} partitions starts at partition {}",
                list(legal.iter().map(u32::to_string), "or")
            ),
            "move the data by DMA, or lay the tile out so that it starts there",
        ),
        Mistake::PartitionMismatch { partitions, dst } => words(
            format!("`{name}` of {op} has {partitions} partitions; dst has {dst}"),
            format!("{partitions} partitions against {dst}"),
            "an engine's lanes map partitions one to one, without broadcasting",
            "slice the larger tile, or broadcast with a matmul or DMA",
        ),
        Mistake::ElementCountMismatch { axis, count, dst } => count_mismatch(op, name, *axis, *count, *dst),
        Mistake::BothInPsum { first, second } => words(
            format!("`{first}` and `{second}` of {op} are both in psum; one may be"),
            "both in psum",
            "the two streams of an instruction cannot both read PSUM",
            "copy one of them into sbuf first (tensor_copy)",
        ),
        Mistake::DtypeMismatch {
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
            format!("{op} moves bits without converting"),
            format!("give both the dtype {}", other_dtype.nki_name()),
        ),
        Mistake::OverlappingOperands { other } => words(
            format!("`{name}` of {op} overlaps `{other}` partly"),
            format!("read and overwritten by one {op}"),
            format!("the order in which {op} moves elements is not fixed"),
            "copy through another tile",
        ),
        Mistake::RepeatedDestination { times } => words(
            format!("`{name}` of {op} holds each element {times} times"),
            "a broadcast dimension",
            "which of the results stays is not fixed",
            "write to a tile without broadcast dimensions",
        ),
        Mistake::TileTooLarge { axis, size, limit } => tile_too_large(op, name, *axis, *size, *limit),
        Mistake::MatmulContraction { stationary, moving } => words(
            format!("stationary has {stationary} partitions and moving has {moving}"),
            format!("{stationary} partitions against {moving}"),
            "a matmul sums over partitions, so both operands have the same number of them",
            "slice the operands to the same rows",
        ),
        Mistake::MatmulDestination {
            partitions,
            free,
            m,
            n,
        } => words(
            format!(
                "dst of {op} is {partitions} x {free}; stationary [K, {m}] and moving [K, {n}] make {m} x {n}"
            ),
            format!("{partitions} x {free} against {m} x {n}"),
            "stationary's free size gives dst's partitions, moving's gives dst's free size",
            format!("use a destination of shape ({m}, {n})"),
        ),
        Mistake::MatmulDtypes { stationary, moving } => words(
            format!(
                "stationary is {} and moving is {}",
                stationary.nki_name(),
                moving.nki_name()
            ),
            "one of 32 bits, one of fewer",
            "the PE array multiplies float32 and tfloat32 only with each other",
            "copy one operand into a tile of the other's dtype",
        ),
        Mistake::PsumBankCrossed {
            first,
            end,
            bank_bytes,
        } => words(
            format!(
                "dst of {op} takes bytes {first} to {end} of its partitions; a PSUM bank has {bank_bytes}"
            ),
            format!("{} bytes across a bank's end", end - first),
            format!(
                "a matmul writes into one bank: {bank_bytes} bytes, {} f32 values per partition",
                bank_bytes / 4
            ),
            "split the matmul at the bank's end",
        ),
        Mistake::PeTileIncomplete { given, missing } => words(
            format!("{op} has `{given}` but no `{missing}`"),
            format!("`{missing}` is missing"),
            "a tile of the PE array is a position and a size",
            format!("add `{missing}`, or leave `{given}` out"),
        ),
        Mistake::PeTileSize { size, legal } => words(
            format!("a side of the PE tile is {size}"),
            format!("a side of {size}"),
            format!("a side is {}", list(legal.iter().map(u8::to_string), "or")),
            "",
        ),
        Mistake::PeTilePosition {
            position,
            size,
            limit,
        } => words(
            format!("the PE tile starts at {position} with a side of {size}"),
            format!("starts at {position}"),
            format!("a tile starts at a multiple of its side and ends by {limit}"),
            "",
        ),
        Mistake::PeTileTooSmall { axis, needs, size } => {
            let (side, what) = match axis {
                PeAxis::Rows => ("rows", "K, the partitions of stationary and moving,"),
                PeAxis::Columns => ("columns", "M, the free size of stationary,"),
            };
            words(
                format!("the PE tile has {size} {side}; {what} is {needs}"),
                format!("{needs} do not fit in {size} {side}"),
                "",
                "use a larger tile, or split the operands",
            )
        }
        Mistake::PeTileElsewhere { start, position } => words(
            format!("`{name}` of {op} starts at partition {start}; its PE tile starts at {position}"),
            format!("starts at partition {start}"),
            "partition k feeds row k of the PE array, and column m writes partition m",
            format!("place the tile at partition {position}, or move the PE tile"),
        ),
        Mistake::TransposeDestination {
            partitions,
            free,
            needs_partitions,
            needs_free,
        } => words(
            format!(
                "dst of {op} is {partitions} x {free}; the transpose is {needs_partitions} x {needs_free}"
            ),
            format!("{partitions} x {free} against {needs_partitions} x {needs_free}"),
            "",
            format!("use a destination of shape ({needs_partitions}, {needs_free})"),
        ),
        Mistake::TransposeRank { rank } => words(
            format!("`{name}` of {op} has {rank} dimensions; it takes 2, 3 or 4"),
            format!("{rank} dimensions"),
            "the permutations are (1, 0), (2, 1, 0) and (3, 1, 2, 0)",
            "reshape the tensor",
        ),
        Mistake::TransposeShape { dst, needs } => words(
            format!(
                "dst of {op} has shape {}; the transpose has shape {}",
                shape(dst),
                shape(needs)
            ),
            format!("shape {}", shape(dst)),
            "the permutations are (1, 0), (2, 1, 0) and (3, 1, 2, 0)",
            format!("use a destination of shape {}", shape(needs)),
        ),
        Mistake::ReduceAxes { axes, rank } => words(
            format!(
                "{op} cannot reduce axes {} of a tile of {rank} dimensions",
                shape(axes)
            ),
            format!("axes {}", shape(axes)),
            "the Vector engine reduces the last free axes, the innermost included, and never the partitions",
            format!(
                "reduce axes up to {}, or permute the view first",
                rank.saturating_sub(1)
            ),
        ),
        Mistake::PatternCount { product, free } => words(
            format!("`{name}` of {op} counts {product} elements; dst has {free} per partition"),
            format!("{product} against {free}"),
            "the counts of the pairs multiply to the elements of a partition",
            "",
        ),
        Mistake::OperatorClassesMixed { bits, arithmetic } => words(
            format!("{op} mixes `{bits}` on bits with `{arithmetic}` on numbers"),
            "two classes of operators",
            "bit operators keep raw integers, arithmetic ones go through float32",
            "use two instructions",
        ),
        Mistake::BitsNeedIntegers { operator, found } => words(
            format!("`{operator}` works on integers; `{name}` of {op} is {found}"),
            format!("`{name}` is {found}"),
            "bit operators do not convert",
            "view the tile as an integer dtype of the same size",
        ),
        Mistake::OperatorEngine {
            operator,
            engine,
            needs,
        } => words(
            format!(
                "`{operator}` runs on {} only, not on {}",
                needs.name(),
                engine.name()
            ),
            format!("`{operator}` on {}", engine.name()),
            match needs {
                Engine::Vector => "bit operators exist on the Vector engine only",
                _ => "the Vector engine has no such operator",
            },
            format!("run {op} on the {} engine", needs.name()),
        ),
        Mistake::UnaryTakesNoOperand { operator } => words(
            format!("`{operator}` takes one input, and `{name}` of {op} gives a second"),
            format!("`{name}` has no use"),
            "",
            format!("pass None or 0 as `{name}`"),
        ),
        Mistake::OperandWithoutOperator { operator } => words(
            format!("{op} has `{name}` but no `{operator}`"),
            format!("`{name}` has no use"),
            "",
            format!("add `{operator}`, or leave `{name}` out"),
        ),
        Mistake::NegateNeedsArithmetic { operator } => words(
            format!("{op} cannot negate the result of `{operator}`"),
            "negated here",
            "negation is arithmetic, and bit operators keep raw integers",
            format!("leave `{name}` out"),
        ),
        Mistake::BiasWithReciprocal => words(
            format!("{op} takes no `{name}` with `reciprocal`"),
            format!("`{name}` with `reciprocal`"),
            "the Scalar engine of this generation computes reciprocal without a bias",
            "add the bias with tensor_scalar first",
        ),
        Mistake::ReduceNeedsOperator => words(
            format!("{op} has `{name}` but no `reduce_op`"),
            format!("`{name}` without an operator"),
            "",
            "add `reduce_op=nl.add`",
        ),
        Mistake::ReduceCommand { command } => words(
            format!("{op} has no reduce command `{command}`"),
            format!("`{command}`"),
            "the Scalar engine's accumulator starts from zero or from its last value",
            "use reset, reduce or reset_reduce",
        ),
        Mistake::MemsetValue { dtype } => words(
            format!("`{name}` of {op} is a float; dst is {}", dtype.nki_name()),
            format!("a float into {}", dtype.nki_name()),
            "memset writes a constant of the tile's own kind, without converting",
            "write the value as an integer",
        ),
        Mistake::GpsimdPsum => words(
            format!("`{name}` of {op} is in psum, which the gpsimd engine cannot reach"),
            format!("`{name}` is in psum"),
            "GpSimd reads and writes SBUF only",
            "run it on the vector engine, or copy the tile into sbuf first",
        ),
        Mistake::RegionOutside { .. }
        | Mistake::RegionSize { .. }
        | Mistake::RegionMisaligned { .. }
        | Mistake::RegionKind { .. } => buffer_words(mistake, name),
    }
}

fn wrong_memory(op: &str, name: &str, memory: Memory, takes: &[Memory]) -> Words {
    let rule = match (memory, takes) {
        (Memory::Psum, [Memory::Sbuf]) => "the PE array reads SBUF",
        (Memory::Sbuf, [Memory::Psum]) => "the PE array writes PSUM",
        (Memory::Hbm, _) => "engines reach HBM only by DMA",
        (Memory::Psum, _) => "DMA reaches HBM and SBUF, not PSUM",
        _ => "",
    };
    let help = match (memory, takes) {
        (Memory::Hbm, _) => "load it into sbuf first (dma_copy)",
        (Memory::Psum, _) => "copy it into sbuf first (tensor_copy)",
        (Memory::Sbuf, [Memory::Psum]) => "allocate it in psum",
        _ => "allocate it in another memory",
    };
    words(
        format!(
            "`{name}` of {op} is in {}; it takes {}",
            memory.name(),
            list(takes.iter().map(|it| it.name()), "or")
        ),
        format!("`{name}` is in {}", memory.name()),
        rule,
        help,
    )
}

fn too_many_partitions(name: &str, partitions: u32, limit: u32) -> Words {
    words(
        format!("{name} has {partitions} partitions; the most is {limit}"),
        format!("{partitions} partitions"),
        format!("SBUF and PSUM have {limit} partitions, and the first dimension of a tile is the partition"),
        format!("split it into tiles of {limit} partitions"),
    )
}

fn count_mismatch(op: &str, name: &str, axis: CountOf, count: u64, dst: u64) -> Words {
    let (what, rule, help) = match axis {
        CountOf::Partition => (
            "elements per partition",
            "an engine pairs the elements of a partition in order, without broadcasting",
            "slice the larger tile; for one value per partition use tensor_scalar",
        ),
        CountOf::Tile => (
            "elements",
            "a transfer moves elements in flattened order",
            "make both slices the same size",
        ),
        CountOf::Reduced => (
            "elements per partition left after reducing",
            "",
            "give dst the shape of the axes that stay",
        ),
    };
    words(
        format!("`{name}` of {op} has {count} {what}; dst has {dst}"),
        format!("{count} against {dst}"),
        rule,
        help,
    )
}

fn tile_too_large(op: &str, name: &str, axis: Axis, size: u64, limit: u64) -> Words {
    let (dimension, help) = match axis {
        Axis::Partitions => (
            "partitions high",
            format!("split `{name}` into tiles of {limit} partitions"),
        ),
        Axis::Elements => (
            "elements wide",
            format!("split the {name} operand into tiles of {limit} columns"),
        ),
    };
    let rule = match (op, name) {
        ("nc_matmul", "moving") => format!("one PSUM bank holds {limit} f32 values per partition"),
        ("nc_matmul", _) => format!("the PE array has {limit} columns of weights"),
        (_, _) if limit <= 32 => format!("the Vector engine transposes squares of {limit} x {limit}"),
        _ => format!("the PE array has {limit} x {limit} elements"),
    };
    words(
        format!("{name} tile is {size} {dimension}; {op} takes at most {limit}"),
        format!("{size} {dimension}"),
        rule,
        help,
    )
}

fn buffer_words(mistake: &Mistake, name: &str) -> Words {
    match mistake {
        Mistake::TooManyPartitions { partitions, limit } => too_many_partitions(name, *partitions, *limit),
        Mistake::RegionOutside {
            memory,
            axis,
            end,
            limit,
        } => words(
            format!(
                "the region of {name} ends at {} {end}; {} has {limit}",
                region_unit(*axis),
                memory.name()
            ),
            "this region",
            "",
            "",
        ),
        Mistake::RegionSize { axis, has, needs } => words(
            format!(
                "the region of {name} has {has} {}s; the buffer has {needs}",
                region_unit(*axis)
            ),
            "this region",
            "",
            "",
        ),
        Mistake::RegionMisaligned { start, align } => words(
            format!("the region of {name} starts at byte {start}, which is no multiple of {align}"),
            "this region",
            "",
            "",
        ),
        Mistake::RegionKind { memory } => words(
            format!(
                "the region of {name} is in another memory; the buffer is in {}",
                memory.name()
            ),
            "this region",
            "",
            "",
        ),
        other => inst_words(other, name, name),
    }
}

fn region_unit(axis: RegionAxis) -> &'static str {
    match axis {
        RegionAxis::Partitions => "partition",
        RegionAxis::Bytes => "byte",
    }
}

fn generation(generation: Generation) -> &'static str {
    match generation {
        Generation::V2 => "NeuronCore-v2",
        Generation::V3 => "NeuronCore-v3",
        Generation::V4 => "NeuronCore-v4",
    }
}

fn operators(set: AluSet) -> &'static str {
    match set {
        AluSet::Binary => "an operator of two operands",
        AluSet::Arithmetic => "an arithmetic operator of two operands",
        AluSet::Any => "any operator",
        AluSet::Reduction => "an operator that reduces: add, multiply, maximum, …",
        AluSet::Comparison => "a comparison",
        AluSet::Add => "`add` on this generation",
    }
}

/// `a`, `a or b`, `a, b or c`.
fn list<T: AsRef<str>>(items: impl Iterator<Item = T>, word: &str) -> String {
    let items: Vec<T> = items.collect();
    let mut text = String::new();
    for (idx, item) in items.iter().enumerate() {
        if idx > 0 {
            text.push_str(if idx + 1 == items.len() { " " } else { ", " });
            if idx + 1 == items.len() {
                text.push_str(word);
                text.push(' ');
            }
        }
        text.push_str(item.as_ref());
    }
    text
}

fn shape(sizes: &[u32]) -> String {
    let sizes: Vec<String> = sizes.iter().map(u32::to_string).collect();
    format!("({})", sizes.join(", "))
}
