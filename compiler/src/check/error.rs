//! What can be wrong with the data flow of a kernel, and how it is said.

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
    },
    /// A result has elements that nothing writes.
    OutputNotWritten { tensor: Tensor, missing: Missing },
    /// A matmul adds onto PSUM words that no matmul has written.
    AccumulateUnset {
        by: Site,
        tensor: Tensor,
        missing: Missing,
        holds: Holds,
    },
    /// A tensor that no instruction touches.
    UnusedTensor { tensor: Tensor },
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

/// Elements without a value: how many of how many, and the index of the first one in its tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    pub count: u64,
    pub of: u64,
    pub first: Vec<u64>,
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

    fn first_of_some(&self, tensor: &Tensor) -> String {
        match self.count == self.of {
            true => String::new(),
            false => format!("; the first is {}{:?}", tensor.name, self.first),
        }
    }
}

impl Error {
    /// The instruction, for mistakes that an unrolled loop can repeat.
    pub(super) fn site(&mut self) -> Option<&mut Site> {
        match self {
            Error::UninitializedRead { by, .. } | Error::AccumulateUnset { by, .. } => Some(by),
            Error::OutputNotWritten { .. } | Error::UnusedTensor { .. } => None,
        }
    }

    pub(super) fn code(&self) -> &'static str {
        match self {
            Error::UninitializedRead { .. } => "uninitialized-read",
            Error::OutputNotWritten { .. } => "output-not-written",
            Error::AccumulateUnset { .. } => "accumulate-unset",
            Error::UnusedTensor { .. } => "unused-tensor",
        }
    }
}

impl Report for Error {
    fn report(&self) -> Diagnostic {
        match self {
            Error::UninitializedRead { by, tensor, missing } => {
                let message = format!(
                    "{} reads {} before anything writes {}{}",
                    by.op,
                    missing.shown(&by.view),
                    if missing.count == missing.of { "it" } else { "them" },
                    missing.first_of_some(tensor)
                );
                let label = format!("operand {} has no value here", by.operand);
                by.labelled(Diagnostic::error(self.code(), message), &label)
                    .allocated(tensor)
                    .note("on-chip memory and fresh HBM hold whatever the last kernel left there")
                    .help(format!(
                        "write all of {} first: load it, compute it, or `memset` it",
                        tensor.name
                    ))
            }
            Error::OutputNotWritten { tensor, missing } => {
                let message = match missing.count == missing.of {
                    true => format!("{} is returned but never written", tensor.name),
                    false => format!(
                        "{} of {} elements of {} are returned but never written{}",
                        missing.count,
                        missing.of,
                        tensor.name,
                        missing.first_of_some(tensor)
                    ),
                };
                let diagnostic = Diagnostic::error(self.code(), message);
                match tensor.span {
                    Some(span) => diagnostic.at(span, tensor.described()),
                    None => diagnostic.note(tensor.described()),
                }
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
                        missing.first_of_some(tensor)
                    ),
                    Holds::Unknown => format!(
                        "whether {} starts or continues a sum in {what} depends on registers",
                        by.op
                    ),
                    Holds::OtherValues => format!(
                        "{} accumulates onto {what}, which another engine has written{}",
                        by.op,
                        missing.first_of_some(tensor)
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
        }
    }
}

impl Site {
    fn labelled(&self, diagnostic: Diagnostic, text: &str) -> Diagnostic {
        let diagnostic = match self.span {
            Some(span) => diagnostic.at(span, text),
            None => diagnostic.note(text),
        };
        match self.around {
            _ if self.repeats == 0 => diagnostic,
            Some(span) => diagnostic.because(
                span,
                format!("and in {} more iterations of this loop", self.repeats),
            ),
            None => diagnostic.note(format!("the same happens {} more times", self.repeats)),
        }
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
