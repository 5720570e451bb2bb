//! What the lexer reports: characters, literals, brackets and indentation.
//!
//! Takes places, gives the wording. Never decides what is wrong.

use crate::diagnostic::{Diagnostic, Report};
use crate::source::Span;

/// A mistake in the text below the grammar.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    Character {
        span: Span,
        character: char,
    },
    /// A backslash that does not end its line.
    Backslash {
        span: Span,
    },
    /// A string that does not end; `quote` is how it begins.
    Quote {
        span: Span,
        quote: String,
    },
    Number {
        span: Span,
    },
    NeverOpened {
        span: Span,
    },
    NeverClosed {
        open: Span,
        noticed: Span,
    },
    Mismatched {
        open: Span,
        close: Span,
    },
    TooDeep {
        span: Span,
        limit: u32,
        what: &'static str,
    },
    Tabs {
        span: Span,
    },
    Indent {
        span: Span,
    },
    Dedent {
        span: Span,
        column: u32,
        columns: Vec<u32>,
    },
    Block {
        header: Span,
        keyword: String,
        next: Option<Span>,
    },
    Colon {
        header: Span,
        keyword: String,
    },
}

impl Report for Error {
    fn report(&self) -> Diagnostic {
        match self {
            Error::Character { span, character } => {
                Diagnostic::error("invalid-character", format!("`{character}` begins no token")).at(*span, "")
            }
            Error::Backslash { span } => Diagnostic::error("invalid-character", "backslash").at(*span, ""),
            Error::Quote { span, .. } => {
                Diagnostic::error("unterminated-string", "unterminated string").at(*span, "")
            }
            Error::Number { span } => Diagnostic::error("invalid-number", "not a number").at(*span, ""),
            Error::NeverOpened { span } => {
                Diagnostic::error("unmatched-bracket", "never opened").at(*span, "")
            }
            Error::NeverClosed { open, noticed } => Diagnostic::error("unclosed-bracket", "never closed")
                .at(*open, "")
                .because(*noticed, ""),
            Error::Mismatched { open, close } => Diagnostic::error("mismatched-bracket", "mismatch")
                .at(*close, "")
                .because(*open, ""),
            Error::TooDeep { span, limit, what } => {
                Diagnostic::error("nested-too-deep", format!("{what} more than {limit} deep")).at(*span, "")
            }
            Error::Tabs { span } => Diagnostic::error("tabs-and-spaces", "tabs").at(*span, ""),
            Error::Indent { span } => {
                Diagnostic::error("unexpected-indent", "unexpected indent").at(*span, "")
            }
            Error::Dedent { span, .. } => Diagnostic::error("bad-dedent", "dedent").at(*span, ""),
            Error::Block { header, .. } => Diagnostic::error("missing-block", "block").at(*header, ""),
            Error::Colon { header, .. } => Diagnostic::error("missing-colon", "colon").at(*header, ""),
        }
    }
}
