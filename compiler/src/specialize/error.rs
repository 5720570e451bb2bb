//! What can be wrong with a kernel while it is evaluated. The words for it are in `wording.rs`.

mod wording;

use super::value::Value;
use crate::ast::CmpOp;
use crate::diagnostic::nearest;
use crate::interrupt::Interrupt;
use crate::place;
use crate::source::Span;
use std::rc::Rc;

/// Results of evaluation; the error is boxed since it is rare and large.
pub type Result<T> = std::result::Result<T, Box<Error>>;

/// A mistake, where it is, and the calls and loops it happened in, innermost first.
#[derive(Debug, Clone)]
pub struct Error {
    pub mistake: Mistake,
    pub span: Span,
    /// Where the tensor is allocated that the mistake is about.
    pub allocated: Option<Span>,
    pub trace: Vec<TraceEntry>,
}

#[derive(Debug, Clone)]
pub struct TraceEntry {
    pub span: Span,
    /// The function that was called there.
    pub function: Rc<str>,
}

/// One variant per mistake a user can make.
#[derive(Debug, Clone)]
pub enum Mistake {
    UndefinedName {
        name: Rc<str>,
        suggestion: Option<String>,
    },
    Unbound {
        name: Rc<str>,
    },
    UnresolvedImport {
        module: Rc<str>,
        name: Rc<str>,
    },
    ImportCycle {
        name: Rc<str>,
    },
    NoAttribute {
        of: String,
        name: Rc<str>,
        suggestion: Option<String>,
    },
    NotCallable {
        kind: String,
    },
    UnexpectedKeyword {
        function: String,
        name: Rc<str>,
        suggestion: Option<String>,
    },
    RepeatedArgument {
        name: Rc<str>,
    },
    MissingArgument {
        function: String,
        name: Rc<str>,
    },
    TooManyArguments {
        function: String,
        takes: usize,
        given: usize,
    },
    /// An operand, argument or element of a kind that does not fit.
    Type {
        message: String,
    },
    /// A value that does not fit.
    Value {
        message: String,
    },
    Operands {
        op: &'static str,
        left: String,
        right: String,
    },
    DivisionByZero {
        op: &'static str,
    },
    IntegerOverflow {
        op: &'static str,
    },
    IndexOutOfRange {
        index: i64,
        length: i64,
        what: String,
    },
    MissingKey {
        key: String,
    },
    Unpack {
        targets: usize,
        values: usize,
    },
    /// `tile: nt.tensor[…] = …` with another shape.
    Annotation {
        shape: Vec<u32>,
        wanted: Vec<i64>,
    },
    Assertion {
        message: Option<String>,
        sides: Option<(String, CmpOp, String)>,
    },
    Raised {
        kind: String,
        message: String,
        /// The classes of a user's exception, its own first.
        bases: Vec<Rc<str>>,
    },
    Unsupported {
        what: String,
        help: String,
    },
    TooDeep {
        limit: usize,
    },
    CallsTooDeep {
        function: String,
        limit: u64,
    },
    EndlessLoop {
        limit: u64,
    },
    /// A register where Python needs a value now.
    RegisterTruth,
    /// A tile where Python needs a value now.
    TileTruth,
    /// A matmul onto a tensor from outside the loop, which may start or continue a sum.
    AccumulateInDeviceLoop,
    /// A variable that the body of a device loop changes at compile time.
    ChangedInDeviceLoop {
        name: Rc<str>,
        old: String,
        new: String,
    },
    TooManySteps {
        limit: u64,
    },
    Interrupted {
        why: Interrupt,
    },
    /// What lives at the same time is more than a memory has.
    NoRoom(Rc<place::Error>),
    TooManyInstructions {
        limit: u64,
    },
    // Tensors.
    TooManyPartitions {
        name: String,
        partitions: i64,
        limit: u32,
    },
    OnChipRank {
        rank: usize,
    },
    /// Ranks that cannot meet in a collective.
    ReplicaGroup {
        message: String,
        help: String,
    },
    BadShape {
        message: String,
    },
    /// A tile that its allocation gives no address.
    Allocation {
        message: String,
        help: String,
    },
    OutOfBounds {
        dim: usize,
        start: i64,
        stop: i64,
        size: i64,
    },
    ReshapeCount {
        from: Vec<u32>,
        to: Vec<i64>,
    },
    ReshapeLayout {
        message: String,
    },
    PatternPartitionStride {
        given: i64,
        expected: i64,
    },
    PatternOutside {
        last: i64,
        size: i64,
    },
    View {
        message: String,
        help: String,
    },
    // Instructions.
    WrongOperand {
        op: &'static str,
        operand: &'static str,
        expected: String,
        given: String,
        help: Option<String>,
    },
    BiasImmediate,
    DtypeKeyword {
        dtype: &'static str,
        dst: &'static str,
    },
    NewerOnly {
        what: String,
        since: &'static str,
        help: String,
    },
    NlShapes {
        function: String,
        left: Vec<u32>,
        right: Vec<u32>,
    },
    Host {
        code: &'static str,
        message: String,
        help: Option<String>,
    },
    // The kernel as a whole.
    NoKernel {
        names: Vec<String>,
    },
    UnknownKernel {
        name: String,
        suggestion: Option<String>,
    },
    SeveralKernels {
        names: Vec<String>,
    },
    BadArgument {
        name: String,
        message: String,
    },
    /// A value for a constant or parameter that the file does not have.
    UnknownParam {
        name: String,
        suggestion: Option<String>,
    },
    ResultNotTensor {
        kind: String,
    },
    NoResult,
}

impl Error {
    pub fn new(mistake: Mistake, span: Span) -> Box<Error> {
        Box::new(Error {
            mistake,
            span,
            allocated: None,
            trace: Vec::new(),
        })
    }

    pub fn type_error(message: impl Into<String>, span: Span) -> Box<Error> {
        Error::new(
            Mistake::Type {
                message: message.into(),
            },
            span,
        )
    }

    pub fn value_error(message: impl Into<String>, span: Span) -> Box<Error> {
        Error::new(
            Mistake::Value {
                message: message.into(),
            },
            span,
        )
    }

    pub fn unsupported(what: &str, help: &str, span: Span) -> Box<Error> {
        Error::new(
            Mistake::Unsupported {
                what: what.to_string(),
                help: help.to_string(),
            },
            span,
        )
    }

    pub fn unhashable(value: &Value, span: Span) -> Box<Error> {
        Error::type_error(
            format!("{} cannot be a key", super::eval::with_article(value.kind())),
            span,
        )
    }
}

/// The known name that a misspelt one is closest to, if one is close.
pub fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    nearest(name, known.filter(|it| *it != name)).map(str::to_string)
}
