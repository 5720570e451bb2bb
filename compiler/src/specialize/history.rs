//! What NKI has removed or renamed, with the version that did and the newer spelling.
//!
//! Everything here still works. It is a warning, once, in a file of the current style; files that import
//! `neuronxcc.nki` mean the old language and get none. `--dialect V` makes an error of what V no longer has.

use super::{Evaluator, Warning};
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::Span;

/// A version of the language, 0.1 to 0.6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dialect(u8);

impl Dialect {
    pub const V0_2: Dialect = Dialect(2);
    pub const V0_3: Dialect = Dialect(3);
    pub const V0_4: Dialect = Dialect(4);
    pub const V0_6: Dialect = Dialect(6);

    /// Reads `0.1` … `0.6`.
    pub fn from_name(name: &str) -> Option<Dialect> {
        let minor = name.strip_prefix("0.")?.parse().ok()?;
        (1..=6).contains(&minor).then_some(Dialect(minor))
    }

    pub fn name(self) -> String {
        format!("0.{}", self.0)
    }
}

/// One thing that NKI no longer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Removed {
    OldNamespace,
    FunctionalCall,
    Mask,
    IndexTensor,
    BlockDimension,
    SubscriptStore,
    Accumulation,
    LoopReduce,
    AddingCopy,
    AtomicRmw,
    Decorator,
    StringBuffer,
}

/// What it is, the version that removed it, and what stands for it now.
const HISTORY: &[(Removed, &str, Dialect, &str)] = &[
    (
        Removed::OldNamespace,
        "the namespace neuronxcc.nki",
        Dialect::V0_4,
        "import nki, nki.language and nki.isa",
    ),
    (
        Removed::FunctionalCall,
        "an instruction that returns its result",
        Dialect::V0_2,
        "make a tile with nl.ndarray and give it as dst",
    ),
    (
        Removed::Mask,
        "`mask=`",
        Dialect::V0_2,
        "slice the operands to the part that is meant",
    ),
    (
        Removed::IndexTensor,
        "an index tensor (nl.arange, nl.mgrid)",
        Dialect::V0_2,
        "use slices, nl.ds(start, size) or .ap(pattern)",
    ),
    (
        Removed::BlockDimension,
        "nl.par_dim",
        Dialect::V0_2,
        "give the partition dimension first, and use a list of tiles for blocks",
    ),
    (
        Removed::SubscriptStore,
        "an assignment into a tile",
        Dialect::V0_2,
        "use nisa.tensor_copy(dst=tile[…], src=…) or give the view as dst",
    ),
    (
        Removed::Accumulation,
        "`+=` on a tile",
        Dialect::V0_2,
        "use nisa.nc_matmul(dst=…) again for PSUM, nisa.tensor_tensor(dst=…) for the rest",
    ),
    (
        Removed::LoopReduce,
        "nl.loop_reduce",
        Dialect::V0_2,
        "keep a tile and use nisa.tensor_tensor(dst=total, data1=total, data2=…)",
    ),
    (
        Removed::AddingCopy,
        "`dst_rmw_op=`",
        Dialect::V0_3,
        "use nisa.dma_compute(dst, [dst, src], nl.add)",
    ),
    (
        Removed::AtomicRmw,
        "nl.atomic_rmw",
        Dialect::V0_2,
        "use nisa.dma_compute(dst, [dst, src], nl.add)",
    ),
    (
        Removed::Decorator,
        "this way to mark a kernel",
        Dialect::V0_3,
        "use @nki.jit",
    ),
    (
        Removed::StringBuffer,
        "a memory region named by a string",
        Dialect::V0_2,
        "use nl.sbuf, nl.psum or nl.shared_hbm",
    ),
];

impl Removed {
    fn row(self) -> &'static (Removed, &'static str, Dialect, &'static str) {
        HISTORY
            .iter()
            .find(|it| it.0 == self)
            .expect("HISTORY lists everything removed")
    }

    pub fn since(self) -> Dialect {
        self.row().2
    }

    pub fn report(self, span: Span) -> Diagnostic {
        let (_, what, since, newer) = self.row();
        Diagnostic::warning("removed", format!("{what} was removed in NKI {}", since.name()))
            .at(span, "")
            .help(*newer)
    }
}

impl Evaluator<'_> {
    /// Notes the use of something that NKI has removed.
    pub fn removed(&mut self, what: Removed, span: Span) {
        match self.dialect {
            Some(dialect) if dialect >= what.since() => self.warn(Warning::Removed(what), span),
            None if !self.is_classic && !self.noted.contains(&what) => {
                self.noted.push(what);
                self.warn(Warning::Removed(what), span);
            }
            _ => {}
        }
    }

    /// Reports a warning once a place; an error where the dialect asked for no longer has the thing.
    pub fn warn(&mut self, warning: Warning, span: Span) {
        if !self.warned.insert((warning, span)) {
            return;
        }
        let mut diagnostic = warning.report(span);
        if self.dialect.is_some() && self.dialect >= warning.since() && warning.since().is_some() {
            diagnostic.severity = Severity::Error;
            self.import_errors.push(diagnostic);
        } else {
            self.warnings.push(diagnostic);
        }
    }
}
