//! Why the grammar stopped.
//!
//! Takes the tokens and the place where no rule could go on, gives the mistake that was most likely made.

use super::build::Builder;
use super::{Error, Unexpected, lines};
use crate::lex::{Tok, Token};
use crate::source::Span;

/// The mistake on the line where a statement stopped; none if the lexer has reported the line.
pub(super) fn explain_line(builder: &Builder, tokens: &[Token], unexpected: &Unexpected) -> Option<Error> {
    let line = lines::line_around(tokens, unexpected.index.min(tokens.len() - 1));
    if tokens[line].iter().any(|it| it.tok == Tok::Bad) {
        return None;
    }
    let place = tokens
        .get(unexpected.index)
        .or(tokens.last())
        .expect("a statement has tokens");
    Some(Error::Unexpected {
        span: builder.span(place.start, place.end),
        expected: unexpected.expected.clone(),
    })
}

/// The mistake in an expression that stands alone.
pub(super) fn explain(_text: &str, whole: Span, tokens: &[Token], unexpected: &Unexpected) -> Error {
    let span = tokens.get(unexpected.index).map_or(whole, |it| Span {
        file: whole.file,
        start: it.start,
        end: it.end,
    });
    Error::Unexpected {
        span,
        expected: unexpected.expected.clone(),
    }
}
