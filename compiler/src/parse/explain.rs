//! Why the grammar stopped.
//!
//! Takes the tokens of a line and the place where no rule could go on, gives the mistake that was most likely made.
//! The rules stand in order: the first that recognises the line wins, and the last only says what was met.

mod assignment;
mod foreign;
mod phrase;
mod structure;

use super::{Error, Unexpected, lines};
use crate::lex::brackets::ends_operand;
use crate::lex::{Tok, Token};
use crate::source::{FileId, Span};

/// The line that stopped the grammar, and where.
struct Line<'a> {
    text: &'a str,
    file: FileId,
    tokens: &'a [Token],
    /// The token that could not follow; the number of tokens when the line ended too early.
    at: usize,
    /// The names of the terminals that could have followed.
    expected: &'a [String],
}

/// The mistake in a statement; none if the lexer has reported its line.
pub(super) fn explain_statement(
    text: &str,
    file: FileId,
    tokens: &[Token],
    unexpected: &Unexpected,
) -> Option<Error> {
    if let Some(error) = structure::around(text, file, tokens, unexpected.index) {
        return Some(error);
    }
    let range = lines::line_around(tokens, unexpected.index.min(tokens.len() - 1));
    let line = &tokens[range.clone()];
    if line.is_empty() || line.iter().any(|it| it.tok == Tok::Bad) {
        return None;
    }
    let at = unexpected.index.clamp(range.start, range.end) - range.start;
    Some(explain(Line {
        text,
        file,
        tokens: line,
        at,
        expected: &unexpected.expected,
    }))
}

/// The mistake in an expression that stands alone in `whole`.
pub(super) fn explain_expression(
    text: &str,
    whole: Span,
    tokens: &[Token],
    unexpected: &Unexpected,
) -> Error {
    if tokens.is_empty() {
        return Error::Nothing { span: whole };
    }
    explain(Line {
        text,
        file: whole.file,
        tokens,
        at: unexpected.index,
        expected: &unexpected.expected,
    })
}

fn explain(line: Line) -> Error {
    const RULES: &[fn(&Line) -> Option<Error>] = &[
        foreign::operator,
        foreign::words,
        foreign::braces,
        assignment::keyword_as_name,
        assignment::equals,
        assignment::walrus,
        structure::colon,
        structure::missing_else,
        structure::statement_inside,
        structure::side_by_side,
        structure::operand,
    ];
    RULES
        .iter()
        .find_map(|rule| rule(&line))
        .unwrap_or_else(|| line.unexpected())
}

impl Line<'_> {
    fn unexpected(&self) -> Error {
        let found = self
            .token(self.at)
            .map(|it| phrase::found(it.tok, self.slice(it)));
        Error::Unexpected {
            span: self.here(),
            found,
            expected: phrase::expected(self.expected),
        }
    }

    fn token(&self, index: usize) -> Option<Token> {
        self.tokens.get(index).copied()
    }

    /// The token that could not follow, if it is not the end of the line.
    fn tok(&self) -> Option<Tok> {
        self.tokens.get(self.at).map(|it| it.tok)
    }

    fn next(&self) -> Option<Tok> {
        self.tokens.get(self.at + 1).map(|it| it.tok)
    }

    /// The token `n` before the one that could not follow.
    fn before(&self, n: usize) -> Option<Token> {
        self.at.checked_sub(n).and_then(|it| self.token(it))
    }

    fn previous(&self) -> Option<Tok> {
        self.before(1).map(|it| it.tok)
    }

    fn first(&self) -> Tok {
        self.tokens[0].tok
    }

    fn expects(&self, terminal: &str) -> bool {
        self.expected.iter().any(|it| it.trim_matches('"') == terminal)
    }

    /// The place of the token that could not follow, or the end of the line.
    fn here(&self) -> Span {
        match self.token(self.at) {
            Some(token) => self.span(token),
            None => {
                let end = self.tokens[self.tokens.len() - 1].end;
                Span {
                    file: self.file,
                    start: end,
                    end,
                }
            }
        }
    }

    fn span(&self, token: Token) -> Span {
        Span {
            file: self.file,
            start: token.start,
            end: token.end,
        }
    }

    fn slice(&self, token: Token) -> &str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// The span of the previous token and this one, when nothing stands between them.
    fn joined(&self) -> Option<Span> {
        let (previous, token) = (self.before(1)?, self.token(self.at)?);
        (previous.end == token.start).then(|| self.span(previous).to(self.span(token)))
    }

    /// The innermost bracket that is open before the token that could not follow, and its place.
    fn open_bracket(&self) -> Option<(usize, Tok)> {
        let mut open = Vec::new();
        for (index, token) in self.tokens[..self.at].iter().enumerate() {
            match token.tok {
                Tok::LParen | Tok::LBracket | Tok::LBrace | Tok::WithOpen => open.push((index, token.tok)),
                Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::WithClose => drop(open.pop()),
                _ => {}
            }
        }
        open.pop()
    }

    /// Whether the token that could not follow is an argument's: inside the parentheses of a call.
    fn in_call(&self) -> bool {
        matches!(self.open_bracket(), Some((index, Tok::LParen)) if index > 0 && ends_operand(self.tokens[index - 1].tok))
    }
}
