//! What can be wrong with the data flow of a kernel, and how it is said.

use super::Reach;
use crate::diagnostic::{Diagnostic, Report};
use crate::dtype::Dtype;
use crate::ir::{BufferId, Program, Shape};
use crate::source::Span;

/// A mistake in what a kernel writes and reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// An instruction reads elements that nothing has written.
    UninitializedRead {
        by: Site,
        tensor: Tensor,
        missing: Missing,
        /// Where the value ends up; only a kernel in which it ends up nowhere is not wrong.
        reach: Reach,
        /// The instruction that writes the elements when it is too late, and its place.
        later: Option<(&'static str, Span)>,
        /// Loops that ran zero times, when nothing writes the elements at all.
        idle: Vec<Span>,
    },
    /// A result has elements that nothing writes.
    OutputNotWritten {
        tensor: Tensor,
        missing: Missing,
        /// Some writes of it go where only a run knows.
        by_dynamic: bool,
        /// The last instruction that writes something of it, and its place.
        last_write: Option<(&'static str, Span)>,
        /// Loops that ran zero times.
        idle: Vec<Span>,
    },
    /// A matmul adds onto PSUM words that no matmul has written.
    AccumulateUnset {
        by: Site,
        tensor: Tensor,
        missing: Missing,
        holds: Holds,
    },
    /// A tensor that no instruction touches.
    UnusedTensor { tensor: Tensor },
    /// A line whose values nothing reads.
    DeadStore {
        op: &'static str,
        tensor: Tensor,
        span: Span,
        /// How often it is executed.
        count: u64,
        /// The instruction that writes over it, and its place.
        again: Option<(&'static str, Span)>,
    },
    /// A read of PSUM between two matmuls of one sum.
    OpenGroup {
        op: &'static str,
        tensor: Tensor,
        reads: Span,
        goes_on: Span,
        count: u64,
    },
}

/// The instruction that a mistake is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    pub op: &'static str,
    pub operand: &'static str,
    /// The operand's view, as IR text.
    pub view: String,
    pub span: Option<Span>,
    /// Further iterations of a loop that make the same mistake, and the loop.
    pub repeats: u64,
    pub around: Option<Span>,
}

/// A tensor as messages show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub name: String,
    pub dtype: Dtype,
    pub shape: Shape,
    pub span: Option<Span>,
}

/// Elements without a value: how many of how many, and their indices in their tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    pub count: u64,
    pub of: u64,
    /// As text: `[0:128, 256:512], [127:128, 0:256]`.
    pub ranges: String,
}

/// What the words hold that a matmul adds onto.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    Nothing,
    /// Values that a memset or a copy has written.
    OtherValues,
    /// That depends on what happens at run time.
    Unknown,
}

impl Tensor {
    pub fn new(program: &Program, id: BufferId) -> Tensor {
        let buffer = &program[id];
        Tensor {
            name: buffer.name.to_string(),
            dtype: buffer.dtype,
            shape: buffer.shape,
            span: program.span(buffer.loc),
        }
    }

    fn described(&self) -> String {
        format!("{}: {}{:?}", self.name, self.dtype.name(), self.shape)
    }
}

impl Missing {
    /// What is missing of a view, as the object of a sentence.
    fn shown(&self, view: &str) -> String {
        match self.count == self.of {
            true => view.to_owned(),
            false => format!("{} of {} elements of {view}", self.count, self.of),
        }
    }

    fn where_of_some(&self, tensor: &Tensor) -> String {
        match self.count == self.of {
            true => String::new(),
            false => format!(": {}{}", tensor.name, self.ranges),
        }
    }
}

impl Error {
    /// The instruction, for mistakes that an unrolled loop can repeat.
    pub(super) fn site(&mut self) -> Option<&mut Site> {
        match self {
            Error::UninitializedRead { by, .. } | Error::AccumulateUnset { by, .. } => Some(by),
            Error::OutputNotWritten { .. }
            | Error::UnusedTensor { .. }
            | Error::DeadStore { .. }
            | Error::OpenGroup { .. } => None,
        }
    }

    /// Whether the kernel is wrong, and not only strange.
    pub fn is_wrong(&self) -> bool {
        match self {
            Error::UninitializedRead { reach, .. } => *reach != Reach::Nothing,
            Error::OutputNotWritten { by_dynamic, .. } => !by_dynamic,
            Error::AccumulateUnset { .. } => true,
            Error::UnusedTensor { .. } | Error::DeadStore { .. } | Error::OpenGroup { .. } => false,
        }
    }

    pub(super) fn code(&self) -> &'static str {
        match self {
            Error::UninitializedRead { .. } => "uninitialized-read",
            Error::OutputNotWritten { .. } => "output-not-written",
            Error::AccumulateUnset { .. } => "accumulate-unset",
            Error::UnusedTensor { .. } => "unused-tensor",
            Error::DeadStore { .. } => "dead-store",
            Error::OpenGroup { .. } => "psum-group-open",
        }
    }
}

impl Report for Error {
    fn report(&self) -> Diagnostic {
        match self {
            Error::UninitializedRead {
                by,
                tensor,
                missing,
                reach,
                later,
                idle,
            } => {
                let message = format!(
                    "{} reads {} before anything writes {}{}",
                    by.op,
                    missing.shown(&by.view),
                    if missing.count == missing.of { "it" } else { "them" },
                    missing.where_of_some(tensor)
                );
                let label = format!("operand {} has no value here", by.operand);
                let diagnostic = by.labelled(self.diagnostic(message), &label).allocated(tensor);
                let diagnostic = match later {
                    Some((op, span)) if Some(*span) != by.span => {
                        diagnostic.because(*span, format!("this {op} writes it, too late"))
                    }
                    Some((op, _)) => diagnostic.note(format!("the {op} itself writes it, too late")),
                    None => diagnostic.note("nothing writes it later either"),
                };
                let diagnostic = idle_loops(diagnostic, idle);
                reached(diagnostic, reach, by.span)
                    .note("on-chip memory and fresh HBM hold whatever the last kernel left there")
                    .help(format!(
                        "write all of {} first: load it, compute it, or `memset` it",
                        tensor.name
                    ))
            }
            Error::OutputNotWritten {
                tensor,
                missing,
                by_dynamic,
                last_write,
                idle,
            } => {
                let message = match missing.count == missing.of {
                    true => format!("{} is returned but never written", tensor.name),
                    false => format!(
                        "{} of {} elements of {} are returned but never written{}",
                        missing.count,
                        missing.of,
                        tensor.name,
                        missing.where_of_some(tensor)
                    ),
                };
                let diagnostic = self.diagnostic(message);
                let diagnostic = match tensor.span {
                    Some(span) => diagnostic.at(span, tensor.described()),
                    None => diagnostic.note(tensor.described()),
                };
                let diagnostic = match by_dynamic {
                    true => diagnostic.note(
                        "some of its writes go to addresses that only a run knows; even those cannot reach these elements",
                    ),
                    false => diagnostic,
                };
                let diagnostic = match last_write {
                    Some((op, span)) => {
                        diagnostic.because(*span, format!("this {op} is the last to write to it"))
                    }
                    None => diagnostic,
                };
                idle_loops(diagnostic, idle)
                    .help("store a tile to every part of the result, the last, shorter tiles included")
            }
            Error::AccumulateUnset {
                by,
                tensor,
                missing,
                holds,
            } => {
                let what = missing.shown(&by.view);
                let message = match holds {
                    Holds::Nothing => format!(
                        "{} accumulates onto {what}, where no matmul has written since the allocation{}",
                        by.op,
                        missing.where_of_some(tensor)
                    ),
                    Holds::Unknown => format!(
                        "whether {} starts or continues a sum in {what} depends on registers",
                        by.op
                    ),
                    Holds::OtherValues => format!(
                        "{} accumulates onto {what}, which another engine has written{}",
                        by.op,
                        missing.where_of_some(tensor)
                    ),
                };
                let label = match holds {
                    Holds::Nothing => "accumulate=True has nothing to add to here",
                    Holds::OtherValues => "accumulate=True adds to a value that no matmul wrote",
                    Holds::Unknown => "`accumulate` must be given here",
                };
                let diagnostic = by.labelled(Diagnostic::error(self.code(), message), label);
                let diagnostic = diagnostic.allocated(tensor);
                match holds {
                    Holds::Nothing => diagnostic
                        .note("PSUM adds to the word it holds; before the first matmul that word is not defined")
                        .help("pass accumulate=False to the first matmul of the group, or leave accumulate out"),
                    Holds::Unknown => diagnostic
                        .note("the first matmul on a word overwrites it; in a loop, or at a dynamic address, no compiler knows which \
                               one that is")
                        .help("pass accumulate=True after a first matmul outside the loop, or accumulate=False"),
                    Holds::OtherValues => diagnostic
                        .note("on NeuronCore-v2 only a word that a matmul has written can be accumulated onto; what a \
                               memset or a copy leaves in PSUM is not defined as a start value")
                        .help("start the group with accumulate=False and add the other value with tensor_tensor"),
                }
            }
            Error::UnusedTensor { tensor } => {
                let message = format!("{} is allocated but never used", tensor.name);
                let diagnostic = Diagnostic::warning(self.code(), message);
                match tensor.span {
                    Some(span) => diagnostic.at(span, tensor.described()),
                    None => diagnostic,
                }
                .help("remove the allocation")
            }
            Error::DeadStore {
                op,
                tensor,
                span,
                count,
                again,
            } => {
                let name = &tensor.name;
                let times = match count {
                    1 => String::new(),
                    n => format!(", in all {n} executions of this line"),
                };
                let message = match again {
                    Some(_) => {
                        format!("what {op} writes to {name} is overwritten before anything reads it{times}")
                    }
                    None => format!("what {op} writes to {name} is never read{times}"),
                };
                let diagnostic = self.diagnostic(message).at(*span, "this work is lost");
                let diagnostic = match again {
                    Some((op, other)) if other != span => {
                        diagnostic.because(*other, format!("{op} writes it again"))
                    }
                    _ => diagnostic,
                };
                let diagnostic = match tensor.span {
                    Some(it) if it != *span => diagnostic.allocated(tensor),
                    _ => diagnostic,
                };
                diagnostic.help("remove it, or use the value before it is gone")
            }
            Error::OpenGroup {
                op,
                tensor,
                reads,
                goes_on,
                count,
            } => {
                let message = format!("{op} reads {} while matmuls still add to it", tensor.name);
                let times = match count {
                    1 => String::new(),
                    n => format!(", {n} times"),
                };
                self.diagnostic(message)
                    .at(*reads, format!("the sum is not complete here{times}"))
                    .because(*goes_on, "this matmul adds to what was read")
                    .allocated(tensor)
                    .note("between the first and the last matmul of a sum PSUM holds a part of it")
                    .help("read after the last matmul, or begin another sum with accumulate=False")
            }
        }
    }
}

impl Error {
    /// An error or a warning with this mistake's code.
    fn diagnostic(&self, message: String) -> Diagnostic {
        match self.is_wrong() {
            true => Diagnostic::error(self.code(), message),
            false => Diagnostic::warning(self.code(), message),
        }
    }
}

/// So many loops that ran zero times are pointed at.
const MAX_IDLE: usize = 2;

fn idle_loops(diagnostic: Diagnostic, idle: &[Span]) -> Diagnostic {
    idle.iter().take(MAX_IDLE).fold(diagnostic, |diagnostic, it| {
        diagnostic.because(*it, "this loop ran zero times")
    })
}

fn reached(diagnostic: Diagnostic, reach: &Reach, by: Option<Span>) -> Diagnostic {
    match reach {
        Reach::Hbm {
            name,
            span: Some(span),
        } if Some(*span) != by => diagnostic.because(*span, format!("and it reaches {name} in HBM here")),
        Reach::Hbm { name, .. } => diagnostic.note(format!("it reaches {name} in HBM")),
        Reach::Address => diagnostic.note("an address is computed from it"),
        Reach::Register => {
            diagnostic.note("a register is loaded from it, on which the control flow can depend")
        }
        Reach::Nothing => diagnostic.note("it ends up nowhere that can be seen, so this is no error"),
    }
}

impl Site {
    fn labelled(&self, diagnostic: Diagnostic, text: &str) -> Diagnostic {
        let diagnostic = match self.span {
            Some(span) => diagnostic.at(span, text),
            None => diagnostic.note(text),
        };
        diagnostic.repeated(self.repeats, self.around)
    }
}

impl Diagnostic {
    fn allocated(self, tensor: &Tensor) -> Diagnostic {
        match tensor.span {
            Some(span) => self.because(span, format!("{} is allocated here", tensor.described())),
            None => self,
        }
    }
}
