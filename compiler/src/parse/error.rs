//! What the parser reports.
//!
//! Takes places and facts, gives the wording. Never decides what is wrong.

use crate::ast::Ident;
use crate::diagnostic::{Diagnostic, Report};
use crate::lex;
use crate::source::Span;

/// A syntax error.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    Lex(lex::Error),
    Unexpected {
        span: Span,
        expected: Vec<String>,
    },
    ExpressionTooDeep {
        span: Span,
        limit: u32,
    },
    StatementTooDeep {
        span: Span,
        limit: u32,
    },
    FStringTooDeep {
        span: Span,
        limit: u32,
    },
    FString {
        span: Span,
        flaw: FStringFlaw,
    },
    Escape {
        span: Span,
        n_digits: usize,
    },
    LeadingZero {
        span: Span,
        digits: String,
    },
    MixedBytes {
        span: Span,
    },
    Target {
        span: Span,
        what: &'static str,
    },
    TwoStars {
        span: Span,
        first: Span,
    },
    SingleTarget {
        span: Span,
        construct: &'static str,
    },
    ParameterOrder {
        span: Span,
        before: Span,
        rule: &'static str,
    },
    LoneMarker {
        span: Span,
        rule: &'static str,
    },
    DuplicateParameter {
        name: Ident,
        first: Span,
    },
    DefaultOrder {
        name: Ident,
        before: Span,
    },
    ArgumentOrder {
        span: Span,
        before: Span,
    },
    RepeatedArgument {
        name: Ident,
    },
    BareGenerator {
        span: Span,
    },
    ReturnOutside {
        span: Span,
    },
    JumpOutside {
        span: Span,
        word: &'static str,
    },
}

/// What is wrong with an f-string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FStringFlaw {
    EmptyHole,
    /// A `{` without its `}`.
    OpenHole,
    /// A `}` without its `{`.
    LoneBrace,
    Conversion,
    SpecTooDeep,
}

impl Error {
    /// The place the error is about.
    pub fn span(&self) -> Span {
        self.report()
            .primary_span()
            .expect("every syntax error has a place")
    }
}

impl Report for Error {
    fn report(&self) -> Diagnostic {
        match self {
            Error::Lex(error) => error.report(),
            Error::Unexpected { span, .. } => {
                Diagnostic::error("unexpected-token", "unexpected token").at(*span, "")
            }
            Error::ExpressionTooDeep { span, .. }
            | Error::StatementTooDeep { span, .. }
            | Error::FStringTooDeep { span, .. } => {
                Diagnostic::error("nested-too-deep", "nested too deep").at(*span, "")
            }
            Error::FString { span, .. } => Diagnostic::error("bad-fstring", "bad f-string").at(*span, ""),
            Error::Escape { span, .. } => Diagnostic::error("bad-escape", "bad escape").at(*span, ""),
            Error::LeadingZero { span, .. } => {
                Diagnostic::error("invalid-number", "leading zero").at(*span, "")
            }
            Error::MixedBytes { span } => Diagnostic::error("mixed-bytes", "mixed").at(*span, ""),
            Error::Target { span, .. } | Error::TwoStars { span, .. } | Error::SingleTarget { span, .. } => {
                Diagnostic::error("bad-target", "bad target").at(*span, "")
            }
            Error::ParameterOrder { span, .. } | Error::LoneMarker { span, .. } => {
                Diagnostic::error("parameter-order", "parameter order").at(*span, "")
            }
            Error::DuplicateParameter { name, .. } => {
                Diagnostic::error("duplicate-parameter", "duplicate").at(name.span, "")
            }
            Error::DefaultOrder { name, .. } => {
                Diagnostic::error("parameter-order", "default").at(name.span, "")
            }
            Error::ArgumentOrder { span, .. } => Diagnostic::error("argument-order", "order").at(*span, ""),
            Error::RepeatedArgument { name } => {
                Diagnostic::error("duplicate-argument", "repeated").at(name.span, "")
            }
            Error::BareGenerator { span } => Diagnostic::error("bare-generator", "generator").at(*span, ""),
            Error::ReturnOutside { span } => Diagnostic::error("outside-function", "return").at(*span, ""),
            Error::JumpOutside { span, word } => Diagnostic::error("outside-loop", *word).at(*span, ""),
        }
    }
}
