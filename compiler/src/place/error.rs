//! What can be wrong with the room that a kernel asks for, and how it is said.

use super::live::Life;
use super::tenant::RequestFault;
use crate::diagnostic::{Diagnostic, Report, Table};
use crate::dtype::Dtype;
use crate::ir::{Buffer, BufferId, LocId, Program, Shape};
use crate::isa::Memory;
use crate::source::Span;
use crate::target::Target;

/// A mistake that keeps a program from being placed.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// More bytes are live than a memory has, or the free ones are in pieces.
    NoRoom(Box<NoRoom>),
    HbmOverCapacity {
        needed: u64,
        capacity: u64,
        largest: Tensor,
    },
    TooManyPartitions {
        tensor: Tensor,
        partitions: u32,
        limit: u32,
    },
    /// A requested address that the memory does not have.
    Request {
        tensor: Tensor,
        fault: RequestFault,
        first_use: Option<Span>,
        /// Further tensors of the same line with a fault of this kind.
        repeats: u64,
    },
    /// Two tensors at the same bytes at the same time.
    Overlap {
        tensor: Tensor,
        other: Tensor,
        memory: Memory,
        /// Where the other one is touched for the last time, after the tensor came to live.
        last_use: Option<Span>,
        /// Further tensors of the same two lines that collide.
        repeats: u64,
    },
    /// The operand of a row-tiled matmul cannot start where the tile does.
    TilePosition {
        tensor: Tensor,
        start: i64,
        legal: &'static [u32],
    },
    /// Two row-tiled matmuls want the operand at two places.
    TilePositionsDiffer {
        tensor: Tensor,
        starts: [i64; 2],
        matmul: Option<Span>,
    },
}

/// A tensor as messages show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Shape,
    /// Per partition on chip, in all in HBM.
    pub bytes: u64,
    pub span: Option<Span>,
}

/// A tensor and the instructions between which it lives, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveTensor {
    pub tensor: Tensor,
    pub born: usize,
    pub dies: usize,
}

/// The state of a memory at the first instruction at which a tensor does not fit.
#[derive(Clone, Debug, PartialEq)]
pub struct NoRoom {
    pub memory: Memory,
    /// Per partition.
    pub capacity: u64,
    /// Bytes per partition of everything that lives there, the tensor included.
    pub needed: u64,
    pub tensor: LiveTensor,
    /// The most bytes per partition that a tensor of this height could have here.
    pub largest_fit: u64,
    /// What else lives there, the largest first.
    pub live: Vec<LiveTensor>,
    /// Further tensors of the same line that do not fit either.
    pub repeats: u64,
    pub n_insts: usize,
}

impl Tensor {
    pub fn new(program: &Program, id: BufferId) -> Tensor {
        let buffer: &Buffer = &program[id];
        Tensor {
            name: buffer.name.to_string(),
            dtype: buffer.dtype,
            shape: buffer.shape,
            bytes: buffer.bytes(),
            span: program.span(buffer.loc),
        }
    }

    fn described(&self) -> String {
        format!("{}: {}{:?}", self.name, self.dtype.name(), self.shape)
    }
}

impl Error {
    /// Whether a memory has no room for what lives in it.
    pub fn is_about(&self, memory: Memory) -> bool {
        matches!(self, Error::NoRoom(it) if it.memory == memory)
    }

    pub(super) fn too_many_partitions(program: &Program, id: BufferId, target: &Target) -> Error {
        Error::TooManyPartitions {
            tensor: Tensor::new(program, id),
            partitions: program[id].partitions(),
            limit: target.partitions,
        }
    }

    pub(super) fn request(program: &Program, id: BufferId, life: Life, fault: RequestFault) -> Error {
        Error::Request {
            tensor: Tensor::new(program, id),
            fault,
            first_use: program.span(program[life.first].loc),
            repeats: 0,
        }
    }

    pub(super) fn tile_position(program: &Program, id: BufferId, start: i64, target: &Target) -> Error {
        Error::TilePosition {
            tensor: Tensor::new(program, id),
            start,
            legal: target.legal_starts(program[id].partitions()),
        }
    }

    pub(super) fn tile_positions_differ(
        program: &Program,
        id: BufferId,
        loc: Option<LocId>,
        starts: [i64; 2],
    ) -> Error {
        Error::TilePositionsDiffer {
            tensor: Tensor::new(program, id),
            starts,
            matmul: program.span(loc),
        }
    }
}

impl Report for Error {
    fn report(&self) -> Diagnostic {
        match self {
            Error::NoRoom(it) => it.report(),
            Error::HbmOverCapacity {
                needed,
                capacity,
                largest,
            } => {
                let message = format!("tensors in HBM take {needed} bytes; a core's window has {capacity}");
                let text = format!(
                    "the largest: {} takes {} bytes",
                    largest.described(),
                    largest.bytes
                );
                labelled(
                    Diagnostic::error("hbm-over-capacity", message),
                    largest.span,
                    &text,
                )
            }
            Error::TooManyPartitions {
                tensor,
                partitions,
                limit,
            } => {
                let message = format!(
                    "{} has {partitions} partitions; the memory has {limit}",
                    tensor.name
                );
                labelled(
                    Diagnostic::error("too-many-partitions", message),
                    tensor.span,
                    &tensor.described(),
                )
                .note("the first dimension of a tensor on chip is its partition count")
                .help(format!(
                    "split the first dimension into blocks of at most {limit}"
                ))
            }
            Error::Request {
                tensor,
                fault,
                first_use,
                repeats,
            } => {
                let diagnostic = because(fault.report(tensor), *first_use, "it is first used here");
                also(diagnostic, *repeats)
            }
            Error::Overlap {
                tensor,
                other,
                memory,
                last_use,
                repeats,
            } => {
                let message = format!(
                    "{} and {} are placed at the same bytes of {} while both live",
                    other.name,
                    tensor.name,
                    shown(*memory)
                );
                let diagnostic = Diagnostic::error("address-overlap", message);
                let diagnostic = labelled(
                    diagnostic,
                    tensor.span,
                    &format!("{} is placed here", tensor.described()),
                );
                let diagnostic = because(
                    diagnostic,
                    other.span,
                    &format!("{} still lives", other.described()),
                );
                let diagnostic = because(
                    diagnostic,
                    *last_use,
                    &format!("{} is used here, later", other.name),
                );
                also(diagnostic, *repeats)
                    .note("a tensor lives from the first to the last instruction that touches it")
                    .help(format!(
                        "move one of the two, or use {} for the last time earlier",
                        other.name
                    ))
            }
            Error::TilePosition { tensor, start, legal } => {
                let message = format!(
                    "{} would have to start at partition {start} to match tile_position; it may start at {legal:?}",
                    tensor.name
                );
                labelled(
                    Diagnostic::error("tile-position-start", message),
                    tensor.span,
                    &tensor.described(),
                )
                .note("the partitions of a tiled matmul's operands are the rows and columns of its PE tile")
                .help("slice a tensor of 128 partitions, so that the slice starts where the tile does")
            }
            Error::TilePositionsDiffer {
                tensor,
                starts,
                matmul,
            } => {
                let message = format!(
                    "{} would have to start at partition {} and at partition {}",
                    tensor.name, starts[0], starts[1]
                );
                let diagnostic = Diagnostic::error("tile-positions-differ", message);
                let diagnostic = labelled(
                    diagnostic,
                    *matmul,
                    "tile_position does not match the earlier use",
                );
                because(diagnostic, tensor.span, &tensor.described())
                    .note(
                        "the partitions of a tiled matmul's operands are the rows and columns of its PE tile",
                    )
                    .help("copy the tensor, so that each tile position reads its own")
            }
        }
    }
}

impl RequestFault {
    fn report(&self, tensor: &Tensor) -> Diagnostic {
        let diagnostic = match self {
            RequestFault::Partition {
                partition,
                partitions,
                legal,
            } => Diagnostic::error(
                "address-start-partition",
                format!(
                    "{} starts at partition {partition}; it may start at {legal:?}",
                    tensor.name
                ),
            )
            .note(format!(
                "an access of {partitions} partitions starts at one of {legal:?}"
            ))
            .help(format!("write `address=({}, …)`", legal[0])),
            RequestFault::Align { byte, align } => Diagnostic::error(
                "address-misaligned",
                format!(
                    "{} starts at byte {byte}, which is not a multiple of {align}",
                    tensor.name
                ),
            )
            .help(format!("use byte {}", byte.next_multiple_of(*align))),
            RequestFault::Bank { byte, bank } => Diagnostic::error(
                "address-off-bank",
                format!(
                    "{} starts at byte {byte} of PSUM; a bank starts every {bank} bytes",
                    tensor.name
                ),
            )
            .note("a tensor placed in PSUM by hand starts at a bank")
            .help(format!(
                "use byte {} or {}",
                byte / bank * bank,
                byte.next_multiple_of(*bank)
            )),
            RequestFault::Range { end, limit, memory } => Diagnostic::error(
                "address-out-of-range",
                format!(
                    "{} ends at byte {end} of a partition; {} has {limit}",
                    tensor.name,
                    shown(*memory)
                ),
            )
            .help(format!(
                "start at byte {} or below",
                u64::from(*limit).saturating_sub(tensor.bytes)
            )),
        };
        labelled(diagnostic, tensor.span, &tensor.described())
    }
}

/// So many other tensors are listed, and so many of them are pointed at.
const MAX_ROWS: usize = 16;
const MAX_LABELS: usize = 4;

impl NoRoom {
    fn report(&self) -> Diagnostic {
        let memory = shown(self.memory);
        let tensor = &self.tensor.tensor;
        let (code, message) = if self.needed > self.capacity {
            let code = match self.memory {
                Memory::Psum => "psum-over-capacity",
                _ => "sbuf-over-capacity",
            };
            let over = self.needed - self.capacity;
            let message = format!(
                "{} does not fit: {memory} would hold {} bytes per partition here, {over} more than its {}",
                tensor.name, self.needed, self.capacity
            );
            (code, message)
        } else {
            let code = match self.memory {
                Memory::Psum => "psum-fragmented",
                _ => "sbuf-fragmented",
            };
            let free = self.capacity - self.needed + tensor.bytes;
            let message = format!(
                "{} does not fit: it needs {} bytes per partition in one piece; {free} are free in {memory}, but the \
                 largest piece that can be used has {}",
                tensor.name, tensor.bytes, self.largest_fit
            );
            (code, message)
        };
        let mut diagnostic = labelled(
            Diagnostic::error(code, message),
            tensor.span,
            &format!(
                "{} bytes per partition; at most {} would fit, which is {}",
                tensor.bytes,
                self.largest_fit,
                self.largest_tensor()
            ),
        );
        for it in self.live.iter().take(MAX_LABELS) {
            let text = format!("{} takes {} bytes per partition", it.tensor.name, it.tensor.bytes);
            diagnostic = because(diagnostic, it.tensor.span, &text);
        }
        if self.repeats > 0 {
            diagnostic = diagnostic.note(format!("nor do {} more tensors of this line", self.repeats));
        }
        diagnostic
            .table(self.table())
            .note(match self.memory {
                Memory::Psum => "PSUM has 8 banks of 2048 bytes in each partition; a tensor of at most 2048 bytes lies in \
                                 one bank, a larger one starts at a bank",
                _ => "SBUF has 192 KiB in each of 128 partitions; a tensor takes the same bytes of all its partitions",
            })
            .help(self.advice())
    }

    /// The largest tensor of this height and type that would fit, as text.
    fn largest_tensor(&self) -> String {
        let tensor = &self.tensor.tensor;
        let count = self.largest_fit / u64::from(tensor.dtype.size());
        let partitions = tensor.shape.first().copied().unwrap_or(1);
        format!("{}[{partitions}, {count}]", tensor.dtype.name())
    }

    /// What lives at that instruction, as a table.
    fn table(&self) -> Table {
        let mut shown = vec![&self.tensor];
        shown.extend(self.live.iter().take(MAX_ROWS));
        let row = |it: &&LiveTensor| {
            let (bytes, tensor) = (it.tensor.bytes, it.tensor.described());
            let text = format!("{bytes:>9}  {:>8}  {:>8}  {tensor}", it.born, it.dies);
            (it.tensor.span, text)
        };
        let mut rows: Vec<(Option<Span>, String)> = shown.iter().map(row).collect();
        let n_more = self.live.len().saturating_sub(MAX_ROWS);
        if n_more > 0 {
            let bytes: u64 = self.live[MAX_ROWS..].iter().map(|it| it.tensor.bytes).sum();
            rows.push((None, format!("{bytes:>9}  {:>8}  {:>8}  {n_more} more", "", "")));
        }
        Table {
            title: format!("live there (instructions of {}):", self.n_insts),
            header: format!("{:>9}  {:>8}  {:>8}  tensor", "bytes", "born", "dies"),
            rows,
        }
    }

    /// The one change that frees most.
    fn advice(&self) -> String {
        let largest = self
            .live
            .first()
            .filter(|it| it.tensor.bytes > self.tensor.tensor.bytes);
        let largest = largest.unwrap_or(&self.tensor);
        let (name, bytes) = (&largest.tensor.name, largest.tensor.bytes);
        let over = self.needed.saturating_sub(self.capacity);
        if over == 0 {
            return format!(
                "make {} at most {} bytes per partition, or allocate it before the smaller tensors around it",
                self.tensor.tensor.name, self.largest_fit
            );
        }
        if bytes / 2 >= over {
            return format!(
                "halve the free size of {name} (it takes {bytes} bytes per partition): that frees enough; or load it \
                 piece by piece where it is used"
            );
        }
        format!(
            "{name} takes most, {bytes} bytes per partition: split its free dimension and load the pieces where they are \
             used; {over} bytes must go in all"
        )
    }
}

fn shown(memory: Memory) -> &'static str {
    match memory {
        Memory::Hbm => "HBM",
        Memory::Sbuf => "SBUF",
        Memory::Psum => "PSUM",
    }
}

fn also(diagnostic: Diagnostic, repeats: u64) -> Diagnostic {
    match repeats {
        0 => diagnostic,
        1 => diagnostic.note("and so does one more tensor of this line"),
        n => diagnostic.note(format!("and so do {n} more tensors of this line")),
    }
}

fn labelled(diagnostic: Diagnostic, span: Option<Span>, text: &str) -> Diagnostic {
    match span {
        Some(span) => diagnostic.at(span, text),
        None => diagnostic.note(text),
    }
}

fn because(diagnostic: Diagnostic, span: Option<Span>, text: &str) -> Diagnostic {
    match span {
        Some(span) => diagnostic.because(span, text),
        None => diagnostic,
    }
}
