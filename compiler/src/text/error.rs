//! What can be wrong with IR text, and how it is said.

use super::order::Blocked;
use super::window::Misfit;
use crate::diagnostic::{Diagnostic, Report};
use crate::dtype::newer_generation;
use crate::ir::MAX_DIMS;
use crate::source::Span;

/// A mistake in IR text and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub span: Span,
    pub mistake: Mistake,
}

/// Everything that can be wrong with IR text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// No token starts with this character.
    Character,
    /// A number beyond what its place can hold.
    Number {
        what: &'static str,
        limit: String,
    },
    /// The line has another form.
    Unexpected {
        found: String,
        /// The terminals of the grammar that would have fitted.
        expected: Vec<String>,
    },
    Unknown {
        noun: Noun,
        word: String,
        near: Option<String>,
    },
    /// A buffer or a register of a name that another one has.
    DuplicateName {
        name: String,
        first: Span,
    },
    DuplicateMark {
        name: String,
        first: Span,
    },
    RepeatedOperand {
        name: &'static str,
    },
    TileAfterName,
    /// An instruction with a destination that has none, or the reverse.
    Destination {
        op: &'static str,
        takes: bool,
    },
    TileCount {
        op: &'static str,
        takes: Vec<&'static str>,
        found: usize,
    },
    Value {
        operand: &'static str,
        takes: &'static str,
    },
    View {
        misfit: Misfit,
    },
    Rank {
        rank: usize,
    },
    /// An on-chip buffer without dimensions has no partitions.
    NoPartitions,
    /// Strides of a buffer that do not fit in 32 bits, or more elements than later arithmetic can bear.
    ShapeTooLarge,
    RegionForm {
        on_chip: bool,
    },
    RegionSize {
        has: u64,
        needs: u64,
    },
    PartlyPlaced {
        placed: Span,
    },
    /// Contents of a constant that are not one value per element.
    Contents {
        has: u64,
        needs: u64,
    },
    Misplaced {
        line: &'static str,
        place: &'static str,
    },
    Unclosed,
    /// The queues do not all have the same barriers and loops.
    BarriersDiffer,
    NoKernel,
    /// Every queue is empty or stands at one of these waits.
    Deadlock {
        waits: Vec<(Span, Blocked)>,
    },
    Directive {
        form: &'static str,
    },
    TooMany {
        limit: usize,
    },
}

/// What a word was looked up as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noun {
    Target,
    Dtype,
    Memory,
    Engine,
    Instruction,
    Buffer,
    Register,
    Mark,
    /// An operand of the row of this name.
    Operand(&'static str),
    BufferOption,
}

impl Noun {
    fn code(self) -> &'static str {
        match self {
            Noun::Target => "unknown-target",
            Noun::Dtype => "unknown-dtype",
            Noun::Memory => "unknown-memory",
            Noun::Engine => "unknown-engine",
            Noun::Instruction => "unknown-instruction",
            Noun::Buffer => "unknown-buffer",
            Noun::Register => "unknown-register",
            Noun::Mark => "unknown-mark",
            Noun::Operand(_) | Noun::BufferOption => "unknown-operand",
        }
    }

    fn message(self, word: &str) -> String {
        match self {
            Noun::Target => format!("there is no target `{word}`"),
            Noun::Dtype => format!("there is no dtype `{word}`"),
            Noun::Memory => format!("there is no memory `{word}`"),
            Noun::Engine => format!("there is no engine `{word}`"),
            Noun::Instruction => format!("there is no instruction `{word}`"),
            Noun::Buffer => format!("there is no buffer `{word}`"),
            Noun::Register => format!("there is no register `{word}`"),
            Noun::Mark => format!("no instruction is marked `as {word}`"),
            Noun::Operand(op) => format!("{op} has no operand `{word}` that is given by name"),
            Noun::BufferOption => format!("a buffer has no option `{word}`"),
        }
    }
}

impl Report for Error {
    fn report(&self) -> Diagnostic {
        let span = self.span;
        match &self.mistake {
            Mistake::Character => {
                Diagnostic::error("unexpected-character", "no word of the IR starts like this")
                    .at(span, "here")
            }
            Mistake::Number { what, limit } => Diagnostic::error(
                "number-out-of-range",
                format!("{what} does not fit: the limit is {limit}"),
            )
            .at(span, "this number"),
            Mistake::Unexpected { found, expected } => unexpected(span, found, expected),
            Mistake::Unknown { noun, word, near } => {
                let diagnostic = Diagnostic::error(noun.code(), noun.message(word)).at(span, "not known");
                match (near, newer_generation(word)) {
                    (_, Some(since)) if *noun == Noun::Dtype => {
                        diagnostic.note(format!("`{word}` needs {since}; the targets are NeuronCore-v2"))
                    }
                    (near, _) => diagnostic.did_you_mean(span, word, near.as_deref()),
                }
            }
            Mistake::DuplicateName { name, first } => {
                Diagnostic::error("duplicate-buffer", format!("{name} is declared twice"))
                    .at(span, "declared again")
                    .because(*first, "first declared here")
                    .help(format!("call the second one {name}'2"))
            }
            Mistake::DuplicateMark { name, first } => Diagnostic::error(
                "duplicate-mark",
                format!("two instructions are marked `as {name}`"),
            )
            .at(span, "marked again")
            .because(*first, "first marked here")
            .help(format!("mark the second one {name}'2")),
            Mistake::RepeatedOperand { name } => {
                Diagnostic::error("repeated-operand", format!("`{name}` is given twice"))
                    .at(span, "given again")
            }
            Mistake::TileAfterName => Diagnostic::error(
                "misplaced-operand",
                "a tile without a name stands after a named operand",
            )
            .at(span, "this tile")
            .help("write the tiles first, in the order of the instruction's row"),
            Mistake::Destination { op, takes: true } => Diagnostic::error(
                "missing-operand",
                format!("`{op}` writes a tile, and none stands before it"),
            )
            .at(span, "no destination")
            .help("write `%dst <- ` first"),
            Mistake::Destination { op, takes: false } => {
                Diagnostic::error("misplaced-operand", format!("`{op}` writes no tile"))
                    .at(span, "a destination")
                    .help("write the tile it reads behind it, without the arrow")
            }
            Mistake::TileCount { op, takes, found } => {
                let takes = match takes.as_slice() {
                    [] => "none".to_owned(),
                    names => format!("{}: {}", names.len(), names.join(", ")),
                };
                Diagnostic::error(
                    "wrong-tile-count",
                    format!("{op} has {found} tiles without a name; it takes {takes}"),
                )
                .at(span, "this instruction")
            }
            Mistake::Value { operand, takes } => {
                Diagnostic::error("wrong-operand", format!("`{operand}` takes {takes}"))
                    .at(span, "something else")
            }
            Mistake::View { misfit } => Diagnostic::error("bad-view", view_message(*misfit))
                .at(span, "this view")
                .help(view_help(*misfit)),
            Mistake::Rank { rank } => Diagnostic::error(
                "too-many-dimensions",
                format!("a buffer has {rank} dimensions; the most is {MAX_DIMS}"),
            )
            .at(span, "this shape"),
            Mistake::NoPartitions => {
                Diagnostic::error("no-partition-dimension", "a buffer on chip has no dimensions")
                    .at(span, "this shape")
                    .note("the first dimension of a buffer in sbuf or psum is its partitions")
            }
            Mistake::ShapeTooLarge => Diagnostic::error(
                "shape-too-large",
                "the strides of this shape do not fit in 32 bits, or its elements in 60",
            )
            .at(span, "this shape"),
            Mistake::RegionForm { on_chip } => {
                let form = if *on_chip {
                    "on chip it is partitions and bytes: [0:128, 0x0:0x80]"
                } else {
                    "in hbm it is bytes: [0x0:0x1000]"
                };
                Diagnostic::error("wrong-region", "a region has another form in this memory")
                    .at(span, "this region")
                    .help(form)
            }
            Mistake::RegionSize { has, needs } => Diagnostic::error(
                "region-size",
                format!("the region is {has} bytes long; the buffer has {needs}"),
            )
            .at(span, "this region"),
            Mistake::Contents { has, needs } => Diagnostic::error(
                "contents-size",
                format!("the contents are {has} values; the buffer has {needs} elements"),
            )
            .at(span, "these values")
            .help("write a value for each element; `127*0, 1` is 127 zeros and a one"),
            Mistake::PartlyPlaced { placed } => Diagnostic::error(
                "partly-placed",
                "this buffer has no region although another one has",
            )
            .at(span, "no region")
            .because(*placed, "this one has")
            .help("give every buffer a region, or none"),
            Mistake::Misplaced { line, place } => {
                Diagnostic::error("misplaced-line", format!("{line} may not stand here"))
                    .at(span, place.to_string())
            }
            Mistake::Unclosed => Diagnostic::error("unclosed-block", "the block is never closed")
                .at(span, "opened here")
                .help("add a line `}`"),
            Mistake::BarriersDiffer => Diagnostic::error(
                "barriers-differ",
                "the queues do not have the same barriers and loops",
            )
            .at(span, "another queue differs here")
            .help("write every `barrier`, `for`, `while` and `}` in all five queues"),
            Mistake::NoKernel => Diagnostic::error("no-kernel", "the text does not start with a kernel")
                .at(span, "expected here")
                .help("start with a line like `kernel %name for trainium1`"),
            Mistake::Deadlock { waits } => {
                let diagnostic = Diagnostic::error(
                    "deadlock",
                    "the queues block each other: no instruction can start",
                );
                waits.iter().fold(diagnostic, |diagnostic, (at, it)| {
                    let label = format!(
                        "{} waits for signal {} of {}, which has sent {}",
                        it.queue.name(),
                        it.count,
                        it.from.name(),
                        it.signalled
                    );
                    if *at == span {
                        diagnostic.at(*at, label)
                    } else {
                        diagnostic.because(*at, label)
                    }
                })
            }
            Mistake::Directive { form } => {
                Diagnostic::error("bad-directive", "this directive cannot be read")
                    .at(span, "here")
                    .help(format!("write it like `{form}`"))
            }
            Mistake::TooMany { limit } => Diagnostic::error(
                "too-many-errors",
                format!("more than {limit} mistakes; the rest is not read"),
            )
            .at(span, "stopped here"),
        }
    }
}

fn unexpected(span: Span, found: &str, expected: &[String]) -> Diagnostic {
    let message = match found {
        "" => "the line ends too early".to_owned(),
        found => format!("`{found}` does not fit here"),
    };
    let label = match expected_words(expected).as_slice() {
        [] => "here".to_owned(),
        [only] => format!("expected {only}"),
        [rest @ .., last] => format!("expected {} or {last}", rest.join(", ")),
    };
    Diagnostic::error("unexpected-token", message).at(span, label)
}

/// The terminals of the grammar in words; none when they are too many to help.
fn expected_words(terminals: &[String]) -> Vec<&'static str> {
    const MOST: usize = 4;
    const WORDS: &[(&str, &str)] = &[
        ("\"name\"", "a buffer's name"),
        ("\"word\"", "a word"),
        ("\"text\"", "quoted text"),
        ("\"integer\"", "an integer"),
        ("\"number\"", "a number"),
        ("\"for\"", "`for`"),
        ("\"as\"", "`as`"),
        ("\"on\"", "`on`"),
        ("\"at\"", "`at`"),
        ("\"<-\"", "`<-`"),
        ("\"@\"", "`@`"),
        ("\":\"", "`:`"),
        ("\",\"", "`,`"),
        ("\"..\"", "`..`"),
        ("\"=\"", "`=`"),
        ("\"+\"", "`+`"),
        ("\"*\"", "`*`"),
        ("\"~\"", "`~`"),
        ("\"(\"", "`(`"),
        ("\")\"", "`)`"),
        ("\"[\"", "`[`"),
        ("\"]\"", "`]`"),
        ("\"{\"", "`{`"),
    ];
    let known = |terminal: &String| WORDS.iter().find(|it| it.0 == terminal).map(|it| it.1);
    let words: Vec<&str> = terminals.iter().filter_map(known).collect();
    if words.len() <= MOST && words.len() == terminals.len() {
        words
    } else {
        Vec::new()
    }
}

fn view_message(misfit: Misfit) -> String {
    match misfit {
        Misfit::ItemCount { rank, .. } => {
            format!("the items fit neither the buffer's {rank} dimensions nor a pattern")
        }
        Misfit::FirstItem => "a view on chip starts with its range of partitions".to_owned(),
        Misfit::Backwards => "a range ends before it starts".to_owned(),
        Misfit::Dtype => {
            "the buffer's last dimension is no whole number of elements of this dtype".to_owned()
        }
        Misfit::Rank => format!("a view has more than {MAX_DIMS} pairs of count and step"),
        Misfit::Size => "a count, step or partition of this view does not fit".to_owned(),
    }
}

fn view_help(misfit: Misfit) -> &'static str {
    match misfit {
        Misfit::ItemCount { on_chip: true, .. } => {
            "write a range for each dimension, [0:128, 0:64], or partitions and a pattern, [0:128, 0 + 64*1]"
        }
        Misfit::ItemCount { on_chip: false, .. } => {
            "write a range for each dimension, [0:128, 0:64], or one pattern, [0 + 128*64 + 64*1]"
        }
        Misfit::FirstItem => "write it like [0:128, 0:64]",
        Misfit::Backwards => {
            "write the smaller number first; for a reversed order use a pattern with a negative step"
        }
        Misfit::Dtype => "name the elements with a pattern, in elements of this dtype: [0:128, 0 + 3*1]",
        Misfit::Rank => "merge neighbouring pairs that are contiguous",
        Misfit::Size => "partitions are below 65536, counts below 2^32, steps within 32 bits",
    }
}
