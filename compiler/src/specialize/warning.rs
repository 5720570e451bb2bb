//! What is accepted with a warning, and the words for it.

use super::history::{Dialect, Removed};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Things that are accepted, but that newer NKI or the hardware would have otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Warning {
    /// `.ap(offset=N)` on a view with an offset of its own.
    OffsetOnView,
    /// `mask=None` or `dtype=` left from older NKI.
    OldKeyword(&'static str),
    /// `dtype=` beside a destination of another dtype, in the classic style.
    DtypeIgnored { dtype: &'static str, dst: &'static str },
    /// `/`, `nl.divide`, `nl.mod`.
    NoDivider,
    /// Tiles of different shapes, with or without partitions to be repeated.
    Broadcast { across: bool },
    /// Integers beyond 2^24 lose bits on this engine.
    IntThroughF32,
    /// A kernel argument is written that is declared there.
    WritesArgument { declared: Option<Span> },
    /// `np.float64` and the like for a device tensor.
    Narrowed,
    /// An assignment to partitions at which no engine's access starts.
    StartPartition,
    /// A float without a fraction stands where a size is meant.
    FloatSize,
    /// A 16-bit result of a Tensor-engine transpose.
    SixteenBitTranspose,
    /// Something that NKI has removed.
    Removed(Removed),
}

impl Warning {
    /// The version of NKI that refuses it; `None`: it is about the hardware.
    pub fn since(self) -> Option<Dialect> {
        match self {
            Warning::OldKeyword(_) | Warning::DtypeIgnored { .. } => Some(Dialect::V0_2),
            Warning::Removed(what) => Some(what.since()),
            Warning::NoDivider | Warning::Broadcast { .. } | Warning::WritesArgument { .. } => {
                Some(Dialect::V0_6)
            }
            Warning::OffsetOnView
            | Warning::IntThroughF32
            | Warning::Narrowed
            | Warning::StartPartition
            | Warning::FloatSize
            | Warning::SixteenBitTranspose => None,
        }
    }

    pub fn report(self, span: Span) -> Diagnostic {
        match self {
            Warning::Removed(what) => what.report(span),
            Warning::OffsetOnView => Diagnostic::warning(
                "offset-on-view",
                "`offset` counts from the start of the tensor, not of this view",
            )
            .at(span, "the view has an offset of its own")
            .note("NKI's documents disagree; an access pattern replaces the view, so its offset is absolute")
            .help("take the access pattern of the whole tensor"),
            Warning::OldKeyword(name) => {
                let diagnostic =
                    Diagnostic::warning("old-keyword", format!("`{name}=` is from an older NKI"));
                match name {
                    "dtype" => diagnostic
                        .at(span, "it agrees with the destination and is ignored")
                        .dropping(name, "drop it: the destination's dtype decides", span),
                    _ => diagnostic.at(span, "None is ignored").dropping(
                        name,
                        "drop it: slice the operands to the part that is meant",
                        span,
                    ),
                }
            }
            Warning::NoDivider => {
                Diagnostic::warning("no-divider", "NeuronCore-v2 has no divide instruction")
                    .at(
                        span,
                        "runs as IEEE division; the cost is that of a reciprocal and a multiply",
                    )
                    .note("a remainder costs the instructions that round the quotient down as well")
                    .help("multiply by nisa.reciprocal")
            }
            Warning::Broadcast { across } => {
                let label = match across {
                    true => "one partition is copied to all by a matmul with a row of ones",
                    false => "the smaller tile is repeated by a stride of 0, at no cost",
                };
                Diagnostic::warning("broadcast", "the tiles have different shapes")
                    .at(span, label)
                    .note("newer NKI takes tiles of one shape, (P, 1) tiles and numbers only")
                    .help("repeat the smaller tile with nl.broadcast_to")
            }
            Warning::FloatSize => Diagnostic::warning("float-size", "a size of this shape is a float")
                .at(span, "it has no fraction and is taken as an int")
                .help("divide with `//`: `/` makes a float, which Python refuses as a size"),
            Warning::IntThroughF32 => Diagnostic::warning(
                "int-through-fp32",
                "this engine computes integers in float32, exactly only up to 2^24",
            )
            .at(span, "")
            .help("use nisa.tensor_tensor with engine=nisa.engine.gpsimd on int32 tiles in SBUF"),
            Warning::WritesArgument { declared } => {
                let diagnostic =
                    Diagnostic::warning("writes-argument", "the kernel writes one of its arguments")
                        .at(span, "this writes it");
                let diagnostic = match declared {
                    Some(it) => diagnostic.because(it, "the argument"),
                    None => diagnostic,
                };
                diagnostic.note("newer NKI refuses this; the changed argument is reported beside the results")
            }
            Warning::DtypeIgnored { dtype, dst } => Diagnostic::warning(
                "old-keyword",
                format!("`dtype={dtype}` is ignored: the destination is {dst}"),
            )
            .at(span, "the result is written in the destination's dtype")
            .dropping("dtype", "drop it: the destination's dtype decides", span),
            Warning::Narrowed => {
                Diagnostic::warning("narrowed", "64-bit types are narrowed to 32 bits on the device")
                    .at(span, "")
            }
            Warning::StartPartition => Diagnostic::warning(
                "assigned-by-dma",
                "no engine can start at this partition, so the assignment is a DMA transfer",
            )
            .at(span, "two microseconds where an instruction takes a tenth of one")
            .note("accesses of up to 32 partitions start at 0, 32, 64 or 96, wider ones at 0 or 64, or at 0")
            .help("assign whole columns, or keep the row in a tile of its own"),
            Warning::SixteenBitTranspose => Diagnostic::warning(
                "transpose-dtype",
                "NeuronCore-v2 writes the result of a Tensor-engine transpose as float32",
            )
            .at(span, "the float32 result is converted to the destination's dtype")
            .help("make the PSUM destination float32 and convert it in the copy out of PSUM"),
        }
    }
}
