//! The second pass of the lexer: brackets that always match.
//!
//! Takes raw tokens, gives them with every bracket closed by its partner and without the line ends inside brackets,
//! so that a line end left over ends a statement. A bracket that is never closed would swallow the rest of the file:
//! its statement is read a second time, and ends where the next line cannot belong to it.

use super::error::Error;
use super::{Lexed, MAX_BRACKETS, Tok, Token};
use crate::source::{FileId, Span};

/// How many operators one expression may have, between commas and inside one pair of brackets. The parser keeps
/// something for each until it knows how they nest.
const MAX_OPERATORS: u32 = 5000;

/// How many statements may be read to the end of the file in search of a bracket; later ones are suspected at once.
const MAX_SEARCHES: u32 = 20;

const PAIRS: &[(Tok, Tok)] = &[
    (Tok::LParen, Tok::RParen),
    (Tok::LBracket, Tok::RBracket),
    (Tok::LBrace, Tok::RBrace),
    (Tok::WithOpen, Tok::WithClose),
];

const CLOSERS: &[(char, Tok)] = &[(')', Tok::RParen), (']', Tok::RBracket), ('}', Tok::RBrace)];

/// Balances the brackets of every statement; `end` is where the text that was lexed ends.
pub(super) fn balance(text: &str, file: FileId, end: usize, raw: Lexed) -> Lexed {
    let tokens = Vec::with_capacity(raw.tokens.len() + 16);
    let lexed = Lexed {
        tokens,
        directives: raw.directives,
        errors: raw.errors,
    };
    let mut pass = Pass {
        text,
        file,
        end,
        raw: &raw.tokens,
        lexed,
        open: Vec::new(),
        n_operators: 0,
        suspicious: false,
    };
    let (mut at, mut n_searches) = (0, 0);
    while at < pass.raw.len() {
        let (n_tokens, n_errors) = (pass.lexed.tokens.len(), pass.lexed.errors.len());
        pass.suspicious = n_searches >= MAX_SEARCHES;
        at = match pass.statement(at) {
            Ok(end) => end,
            Err(NeverClosed) => {
                n_searches += 1;
                pass.lexed.tokens.truncate(n_tokens);
                pass.lexed.errors.truncate(n_errors);
                pass.suspicious = true;
                pass.statement(at)
                    .expect("a suspicious reading always ends the statement")
            }
        };
    }
    pass.lexed
}

/// A bracket of the statement is not closed where its closer is looked for.
#[derive(Debug)]
struct NeverClosed;

struct Open {
    tok: Tok,
    span: Span,
    /// Its place in the output.
    index: usize,
    behind_with: bool,
    /// `as` was seen directly inside.
    has_as: bool,
    /// The count of operators around it.
    outer_operators: u32,
}

struct Pass<'s> {
    text: &'s str,
    file: FileId,
    end: usize,
    raw: &'s [Token],
    lexed: Lexed,
    open: Vec<Open>,
    n_operators: u32,
    /// The statement holds a bracket that is never closed.
    suspicious: bool,
}

impl Pass<'_> {
    /// Reads one statement from raw token `first` on; gives the place behind it.
    fn statement(&mut self, first: usize) -> Result<usize, NeverClosed> {
        self.open.clear();
        self.n_operators = 0;
        // Only a suspicious reading asks for it, and a long line may hold many statements.
        let indent = match self.suspicious {
            true => column(self.text, self.raw[first].start),
            false => 0,
        };
        let mut at = first;
        while let Some(&token) = self.raw.get(at) {
            at += 1;
            if token.tok != Tok::LineEnd {
                if !self.token(token)? {
                    return Ok(self.skip_line(at));
                }
                continue;
            }
            if self.open.is_empty() {
                self.lexed.tokens.push(token);
                return Ok(at);
            }
            let Some(next) = self.raw.get(at) else { continue };
            if self.suspicious && next.tok != Tok::LineEnd && self.must_end(first, next, indent) {
                self.close_all(Some(*next));
                self.lexed.tokens.push(token);
                return Ok(at);
            }
        }
        if self.open.is_empty() {
            return Ok(at);
        }
        if !self.suspicious {
            return Err(NeverClosed);
        }
        self.close_all(None);
        Ok(at)
    }

    /// Takes one token; false when the rest of its line is to be dropped.
    fn token(&mut self, token: Token) -> Result<bool, NeverClosed> {
        if is_operator(token.tok) {
            self.n_operators += 1;
            if self.n_operators > MAX_OPERATORS {
                let span = self.span(&token);
                self.give_up(
                    token,
                    Error::TooLong {
                        span,
                        limit: MAX_OPERATORS,
                    },
                );
                return Ok(false);
            }
        }
        if PAIRS.iter().any(|it| it.0 == token.tok) {
            return self.opener(token);
        }
        if PAIRS.iter().any(|it| it.1 == token.tok) {
            return self.closer(token).map(|()| true);
        }
        match token.tok {
            Tok::As => {
                if let Some(open) = self.open.last_mut() {
                    open.has_as = true;
                }
            }
            Tok::Comma => self.n_operators = 0,
            _ => {}
        }
        self.lexed.tokens.push(token);
        if token.tok == Tok::Bad {
            self.closers_of_bad(token);
        }
        Ok(true)
    }

    /// A string without its closing quote took the end of its line with it: the closers there, and the colon of a
    /// header, are still meant.
    fn closers_of_bad(&mut self, bad: Token) {
        let slice = self.text[self.span(&bad).range()].trim_end();
        let tail = slice.len() - slice.trim_end_matches([')', ']', '}', ',', ':']).len();
        for mark in slice[slice.len() - tail..].chars() {
            let partner = CLOSERS.iter().find(|it| it.0 == mark).map(|it| it.1);
            if self
                .open
                .last()
                .is_some_and(|it| Some(closer_of(it.tok)) == partner)
            {
                self.close(Token {
                    start: bad.end,
                    ..bad
                });
            }
        }
        if slice.ends_with(':') && self.open.is_empty() {
            self.lexed.tokens.push(Token {
                tok: Tok::Colon,
                start: bad.end,
                end: bad.end,
            });
        }
    }

    fn opener(&mut self, token: Token) -> Result<bool, NeverClosed> {
        if self.open.len() == MAX_BRACKETS {
            let outermost = self.open[0].span.end as usize;
            if !self.suspicious && self.text[outermost..token.start as usize].contains('\n') {
                return Err(NeverClosed);
            }
            let span = self.span(&token);
            self.give_up(
                token,
                Error::TooDeep {
                    span,
                    limit: MAX_BRACKETS as u32,
                    what: "brackets",
                },
            );
            return Ok(false);
        }
        let behind_with = self.open.is_empty() && self.last_is(|it| it == Tok::With);
        let index = self.lexed.tokens.len();
        let span = self.span(&token);
        self.open.push(Open {
            tok: token.tok,
            span,
            index,
            behind_with,
            has_as: false,
            outer_operators: self.n_operators,
        });
        self.n_operators = 0;
        self.lexed.tokens.push(token);
        Ok(true)
    }

    fn closer(&mut self, token: Token) -> Result<(), NeverClosed> {
        let span = self.span(&token);
        let Some(top) = self.open.last() else {
            self.lexed.report(Error::NeverOpened {
                span,
                bracket: self.character(span),
            });
            return Ok(());
        };
        if closer_of(top.tok) == token.tok {
            self.close(token);
            return Ok(());
        }
        let between = &self.text[top.span.end as usize..span.start as usize];
        if !self.suspicious && between.contains('\n') {
            return Err(NeverClosed);
        }
        self.lexed.report(Error::Mismatched {
            open: top.span,
            opener: self.character(top.span),
            close: span,
            closer: self.character(span),
        });
        // The closer belongs to an outer bracket if one has its shape, and otherwise was meant for the innermost.
        let partner = self
            .open
            .iter()
            .rposition(|it| closer_of(it.tok) == token.tok)
            .unwrap_or(self.open.len() - 1);
        while self.open.len() > partner {
            self.close(Token {
                tok: Tok::RParen,
                start: span.start,
                end: span.start,
            });
        }
        Ok(())
    }

    /// Closes the innermost bracket with a token at this place.
    fn close(&mut self, at: Token) {
        let open = self.open.pop().expect("callers check that a bracket is open");
        self.n_operators = open.outer_operators;
        let mut tok = closer_of(open.tok);
        if open.behind_with && open.has_as {
            self.lexed.tokens[open.index].tok = Tok::WithOpen;
            tok = Tok::WithClose;
        }
        self.lexed.tokens.push(Token { tok, ..at });
    }

    /// Ends the statement although brackets are open.
    fn close_all(&mut self, noticed: Option<Token>) {
        let (noticed, at_end) = match noticed {
            Some(token) => (self.span(&token), false),
            None => (Span::new(self.file, self.end, self.end), true),
        };
        let open = self
            .open
            .last()
            .expect("callers check that a bracket is open")
            .span;
        let bracket = self.character(open);
        self.lexed.report(Error::NeverClosed {
            open,
            bracket,
            noticed,
            at_end,
        });
        let colon = self.take_header_colon();
        let end = self.lexed.tokens.last().map_or(0, |it| it.end);
        while !self.open.is_empty() {
            self.close(Token {
                tok: Tok::RParen,
                start: end,
                end,
            });
        }
        self.lexed.tokens.extend(colon);
    }

    /// In `if f(x:` the colon ends the header, not the call.
    fn take_header_colon(&mut self) -> Option<Token> {
        let colon = self.last_is(|it| it == Tok::Colon);
        if colon { self.lexed.tokens.pop() } else { None }
    }

    /// Whether the line that begins with `next` cannot continue the statement that began at raw token `first`.
    fn must_end(&self, first: usize, next: &Token, indent: usize) -> bool {
        if PAIRS.iter().any(|it| it.1 == next.tok) {
            return false;
        }
        let is_header = starts_block(self.raw[first].tok) && self.last_is(|it| it == Tok::Colon);
        let cannot_follow = self.last_is(ends_operand) && starts_operand(next.tok);
        column(self.text, next.start) <= indent || is_header || cannot_follow || starts_statement(next.tok)
    }

    fn give_up(&mut self, token: Token, error: Error) {
        self.lexed.report(error);
        self.lexed.tokens.push(Token {
            tok: Tok::Bad,
            ..token
        });
    }

    /// Drops tokens to the end of the physical line.
    fn skip_line(&mut self, from: usize) -> usize {
        let rest = &self.raw[from..];
        let Some(end) = rest.iter().position(|it| it.tok == Tok::LineEnd) else {
            return self.raw.len();
        };
        self.lexed.tokens.push(rest[end]);
        from + end + 1
    }

    fn last_is(&self, is: impl Fn(Tok) -> bool) -> bool {
        self.lexed.tokens.last().is_some_and(|it| is(it.tok))
    }

    fn character(&self, bracket: Span) -> char {
        self.text[bracket.range()]
            .chars()
            .next()
            .expect("brackets are one character")
    }

    fn span(&self, token: &Token) -> Span {
        Span {
            file: self.file,
            start: token.start,
            end: token.end,
        }
    }
}

fn closer_of(open: Tok) -> Tok {
    PAIRS
        .iter()
        .find(|it| it.0 == open)
        .expect("only openers are put on the stack")
        .1
}

/// How many bytes stand before this place on its line.
fn column(text: &str, at: u32) -> usize {
    let before = &text[..at as usize];
    before.len() - before.rfind(['\n', '\r']).map_or(0, |it| it + 1)
}

/// Whether a statement that begins so opens a block.
pub(crate) fn starts_block(tok: Tok) -> bool {
    use Tok::*;
    matches!(
        tok,
        If | Elif | Else | For | While | With | Def | Class | Try | Except | Finally | Async | Match | Case
    )
}

/// Whether a line that begins so is a statement, even inside brackets.
fn starts_statement(tok: Tok) -> bool {
    use Tok::*;
    matches!(
        tok,
        Def | Class
            | While
            | Return
            | Import
            | With
            | Try
            | Raise
            | Assert
            | Pass
            | Break
            | Continue
            | Del
            | Global
            | Nonlocal
    )
}

/// Whether an expression may end with this token.
pub(crate) fn ends_operand(tok: Tok) -> bool {
    use Tok::*;
    matches!(
        tok,
        Name | Int
            | Float
            | Imaginary
            | Str
            | Bytes
            | FStr
            | False
            | None
            | True
            | Ellipsis
            | RParen
            | RBracket
            | RBrace
    )
}

/// Whether this token joins or changes operands.
pub(crate) fn is_operator(tok: Tok) -> bool {
    use Tok::*;
    matches!(
        tok,
        Plus | Minus
            | Star
            | DoubleStar
            | Slash
            | DoubleSlash
            | Percent
            | At
            | Ampersand
            | Pipe
            | Caret
            | Tilde
            | Shl
            | Shr
            | EqEq
            | NotEq
            | Less
            | LessEq
            | Greater
            | GreaterEq
            | And
            | Or
            | Not
            | Is
            | In
            | Await
            | Lambda
            | Else
    )
}

/// Whether this token can only begin an expression. Strings are left out, they may follow each other.
fn starts_operand(tok: Tok) -> bool {
    use Tok::*;
    matches!(
        tok,
        Name | Int | Float | Imaginary | False | None | True | Ellipsis | Lambda
    )
}
