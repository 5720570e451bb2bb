//! The published figures and the kernels that stand for them.
//!
//! Numbers of cases are those of the rows of `timing.md` §2.1; sources are named there. A figure is a fit when a constant
//! of the model was read from it; all others are predictions. Bounds are percent, of shares of a peak points.

mod instructions;
mod tutorials;
mod nkibench;

use nk_compiler::isa::{Engine, Op};

/// Every case.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    [instructions::CASES, tutorials::CASES, nkibench::CASES]
        .into_iter()
        .flatten()
}

/// Rows of the collection that are no case: their number, what they are, and why.
pub const ABSENT: &[(&str, &str, &str)] = &[
    (
        "53",
        "flash_attn_bwd, 4 heads of 32 768 positions bf16: at most 117 000 us",
        "half a million instructions a head in an order that is not known, against an upper bound",
    ),
    (
        "54",
        "resize_nearest, 30 x 20 to 59 x 38, 1280 channels: at most 1722 us f32 in 10 programs, 659 us f16",
        "rows are gathered by run-time addresses, and what the device takes for a descriptor of these is not known; the \
         published text takes 181 us in the model",
    ),
    (
        "56",
        "adaptive_avg_pool2d, seven shapes: at most 14 to 343 us",
        "the published text loads each window by itself and divides by a constant, which the compiler of the time changed by \
         rules that nobody published; as written it takes twice as long as the limits",
    ),
];

/// A kernel and what was measured of it.
#[derive(Debug)]
pub struct Case {
    /// The row of the collection of measurements.
    pub id: &'static str,
    pub what: &'static str,
    /// Our kernel: file, function, arguments.
    pub file: &'static str,
    pub kernel: &'static str,
    pub args: &'static [(&'static str, &'static str)],
    pub spill: bool,
    /// Whether instructions may change places, as the compiler of the time let them.
    pub reorder: bool,
    /// Who published the figures.
    pub source: &'static str,
    /// How ours was written, where that is not plain, and why the model cannot reach a figure.
    pub note: &'static str,
    pub figures: &'static [Figure],
    pub fetched: Option<Fetched>,
}

/// The published text, modelled as it is written.
#[derive(Debug)]
pub struct Fetched {
    /// Below the folder that is named on the command line.
    pub path: &'static str,
    pub kernel: &'static str,
    pub args: &'static [(&'static str, &'static str)],
    /// Why it gives other figures.
    pub reason: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub struct Figure {
    pub quantity: Quantity,
    pub theirs: f64,
    pub tier: Tier,
    pub bound: f64,
    pub is_fit: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Instructions, transfers and counts.
    Exact,
    /// Kernels whose work is known.
    Close,
    /// The same, where the compiler of the time spilled by rules that nobody published.
    Spilled,
    /// Kernels whose compiler made choices that nobody published.
    Far,
    /// Limits of unit tests: upper bounds only.
    Limit,
    /// Shown, not scored.
    Shown,
}

/// What was measured: microseconds for a kernel, nanoseconds for an instruction, else bytes, operations, percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// With the overhead of a program.
    Latency,
    /// From the first instruction to the last.
    Timeline,
    /// Of the first instruction of an operation.
    Duration(Op),
    /// Between the starts of its first two.
    Interval(Op),
    /// The least between two instructions of a sequencer.
    Spacing(Engine),
    /// The end of the n-th transfer from HBM, and of the n-th to it.
    LoadEnd(usize),
    StoreEnd(usize),
    Active(Engine),
    DmaActive,
    HbmRead,
    HbmWrite,
    Flops,
    TransposeFlops,
    /// Shares of the peaks over the latency.
    Hfu,
    Mbu,
    /// The intensity at which the PE array and HBM are equally busy.
    Ridge,
}

const fn figure(tier: Tier, bound: f64, quantity: Quantity, theirs: f64) -> Figure {
    Figure {
        quantity,
        theirs,
        tier,
        bound,
        is_fit: false,
    }
}

const fn exact(bound: f64, quantity: Quantity, theirs: f64) -> Figure {
    figure(Tier::Exact, bound, quantity, theirs)
}

const fn close(bound: f64, quantity: Quantity, theirs: f64) -> Figure {
    figure(Tier::Close, bound, quantity, theirs)
}

const fn spilled(bound: f64, quantity: Quantity, theirs: f64) -> Figure {
    figure(Tier::Spilled, bound, quantity, theirs)
}

const fn far(bound: f64, quantity: Quantity, theirs: f64) -> Figure {
    figure(Tier::Far, bound, quantity, theirs)
}

const fn shown(quantity: Quantity, theirs: f64) -> Figure {
    figure(Tier::Shown, 0.0, quantity, theirs)
}

const fn limit(theirs: f64) -> Figure {
    figure(Tier::Limit, 0.0, Quantity::Latency, theirs)
}

const fn fit(figure: Figure) -> Figure {
    Figure {
        is_fit: true,
        ..figure
    }
}

const fn case(
    id: &'static str,
    what: &'static str,
    kernel: (&'static str, &'static str),
    args: &'static [(&'static str, &'static str)],
    source: &'static str,
    figures: &'static [Figure],
) -> Case {
    Case {
        id,
        what,
        file: kernel.0,
        kernel: kernel.1,
        args,
        spill: false,
        reorder: false,
        source,
        note: "",
        figures,
        fetched: None,
    }
}

impl Case {
    const fn note(self, note: &'static str) -> Case {
        Case { note, ..self }
    }

    const fn reordered(self) -> Case {
        Case {
            reorder: true,
            ..self
        }
    }

    const fn spilled(self) -> Case {
        Case { spill: true, ..self }
    }

    const fn fetched(
        self,
        path: &'static str,
        args: &'static [(&'static str, &'static str)],
        reason: &'static str,
    ) -> Case {
        let fetched = Some(Fetched {
            path,
            kernel: "kernel",
            args,
            reason,
        });
        Case { fetched, ..self }
    }
}
