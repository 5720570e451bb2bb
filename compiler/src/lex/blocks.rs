//! The last pass of the lexer: lines and blocks.
//!
//! Takes tokens with balanced brackets, in which a line end ends a statement; gives the tokens of the grammar, with
//! `newline`, `indent` and `dedent` where Python's rules put them and the words `match`, `case` and `type` told from
//! names. A slip of indentation is reported once and repaired, so that the parser does not trip over it again.

use super::brackets::starts_block;
use super::error::Error;
use super::{Lexed, MAX_BLOCKS, Tok, Token};
use crate::source::{FileId, Span};

/// Resolves lines and indentation.
pub(super) fn blocks(text: &str, file: FileId, balanced: Lexed) -> Lexed {
    let tokens = Vec::with_capacity(balanced.tokens.len() + balanced.tokens.len() / 8);
    let lexed = Lexed {
        tokens,
        directives: balanced.directives,
        errors: balanced.errors,
    };
    let levels = vec![Level {
        column: 0,
        narrow: 0,
        kind: LevelKind::Block,
    }];
    let mut pass = Pass {
        text,
        file,
        lexed,
        levels,
        before: None,
        mixed_tabs: false,
    };
    let mut line = Vec::new();
    for token in balanced.tokens {
        if token.tok != Tok::LineEnd {
            line.push(token);
        } else if !line.is_empty() {
            pass.line(&line);
            line.clear();
        }
    }
    if !line.is_empty() {
        pass.line(&line);
    }
    pass.finish()
}

#[derive(Clone, Copy)]
struct Level {
    /// The column with tabs to multiples of eight and with tabs of one: both must agree about what is deeper.
    column: u32,
    narrow: u32,
    kind: LevelKind,
}

#[derive(Clone, Copy, PartialEq)]
enum LevelKind {
    Block,
    /// The block of a `match`.
    Cases,
    /// An indentation that was refused: it has no `indent` and no `dedent`.
    Refused,
}

/// The statement before the one being read.
#[derive(Clone, Copy)]
struct Before {
    /// Its first token, and that token's place in the output.
    first: Token,
    index: usize,
    last: Token,
    /// A `:` outside brackets was in it.
    has_colon: bool,
}

impl Before {
    fn opens_block(&self) -> bool {
        self.last.tok == Tok::Colon
    }
}

struct Pass<'s> {
    text: &'s str,
    file: FileId,
    lexed: Lexed,
    levels: Vec<Level>,
    before: Option<Before>,
    /// Tabs mixed with spaces are reported once a file.
    mixed_tabs: bool,
}

impl Pass<'_> {
    /// Takes the tokens of one line (more than one statement if there are semicolons).
    fn line(&mut self, line: &[Token]) {
        let (first, last) = (line[0], line[line.len() - 1]);
        self.indent_to(first);
        let index = self.lexed.tokens.len();
        if self.is_word(&first, "case") && self.level().kind == LevelKind::Cases {
            self.case(line);
        } else {
            self.lexed.tokens.extend_from_slice(line);
        }
        if line.len() > 1 && line[1].tok == Tok::Name && self.is_word(&first, "type") {
            self.lexed.tokens[index].tok = Tok::Type;
        }
        self.push(Tok::Newline, last.end);
        self.before = Some(Before {
            first,
            index,
            last,
            has_colon: colon_of(line).is_some(),
        });
    }

    /// `case PATTERN:` without its pattern, which nothing reads.
    fn case(&mut self, line: &[Token]) {
        self.lexed.tokens.push(Token {
            tok: Tok::Case,
            ..line[0]
        });
        let colon = colon_of(line).unwrap_or(line.len());
        self.lexed.tokens.extend_from_slice(&line[colon..]);
    }

    fn finish(mut self) -> Lexed {
        self.missing_block(None);
        let end = self.lexed.tokens.last().map_or(0, |it| it.end);
        while self.levels.len() > 1 {
            self.leave_level(end);
        }
        self.lexed
    }

    /// Opens or closes blocks for a line that begins with this token.
    fn indent_to(&mut self, first: Token) {
        let (column, narrow) = self.columns(first);
        let level = self.level();
        let is_mixed = column.cmp(&level.column) != narrow.cmp(&level.narrow);
        if is_mixed && !self.mixed_tabs {
            self.mixed_tabs = true;
            self.lexed.report(Error::Tabs {
                span: self.line_indentation(first),
            });
        }
        if column > level.column {
            return self.deeper(
                first,
                Level {
                    column,
                    narrow,
                    kind: LevelKind::Block,
                },
            );
        }
        self.missing_block(Some(first));
        let end = self.lexed.tokens.last().map_or(first.start, |it| it.end);
        while self.level().column > column {
            self.leave_level(end);
        }
        if self.level().column < column {
            let columns = self
                .levels
                .iter()
                .filter(|it| it.kind != LevelKind::Refused)
                .map(|it| it.column)
                .collect();
            self.lexed.report(Error::Dedent {
                span: self.span(first),
                column,
                columns,
            });
            self.levels.push(Level {
                column,
                narrow,
                kind: LevelKind::Refused,
            });
        }
    }

    fn deeper(&mut self, first: Token, mut level: Level) {
        match self.before {
            Some(before) if before.opens_block() => {
                if self.is_word(&before.first, "match") && self.is_word(&first, "case") {
                    self.lexed.tokens[before.index].tok = Tok::Match;
                    level.kind = LevelKind::Cases;
                }
            }
            Some(before) if starts_block(before.first.tok) && !before.has_colon => {
                let newline = self.lexed.tokens.pop().expect("a statement ends in a newline");
                let header = self.span(before.first).to(self.span(before.last));
                self.lexed.report(Error::Colon {
                    header,
                    keyword: self.slice(before.first).to_owned(),
                });
                self.push(Tok::Colon, newline.end);
                self.push(Tok::Newline, newline.end);
            }
            _ => {
                self.lexed.report(Error::Indent {
                    span: self.line_indentation(first),
                });
                level.kind = LevelKind::Refused;
            }
        }
        if level.kind != LevelKind::Refused && self.levels.len() > MAX_BLOCKS {
            self.lexed.report(Error::TooDeep {
                span: self.span(first),
                limit: MAX_BLOCKS as u32,
                what: "blocks",
            });
            // Without its block the header is no statement, so it gets an empty one.
            self.empty_block(first.start);
            level.kind = LevelKind::Refused;
        }
        if level.kind != LevelKind::Refused {
            self.push(Tok::Indent, first.start);
        }
        self.levels.push(level);
    }

    fn leave_level(&mut self, end: u32) {
        let level = self.levels.pop().expect("the outermost level is never left");
        if level.kind != LevelKind::Refused {
            self.push(Tok::Dedent, end);
        }
    }

    /// Reports the last statement if it opens a block and none follows.
    fn missing_block(&mut self, next: Option<Token>) {
        let Some(before) = self.before else { return };
        if !before.opens_block() || !starts_block(before.first.tok) {
            return;
        }
        let header = self.span(before.first).to(self.span(before.last));
        let keyword = self.slice(before.first).to_owned();
        self.lexed.report(Error::Block {
            header,
            keyword,
            next: next.map(|it| self.span(it)),
        });
        self.empty_block(before.last.end);
    }

    fn empty_block(&mut self, at: u32) {
        for tok in [Tok::Indent, Tok::Pass, Tok::Newline, Tok::Dedent] {
            self.push(tok, at);
        }
    }

    fn level(&self) -> Level {
        *self.levels.last().expect("the outermost level is never left")
    }

    fn push(&mut self, tok: Tok, at: u32) {
        self.lexed.tokens.push(Token {
            tok,
            start: at,
            end: at,
        });
    }

    fn is_word(&self, token: &Token, word: &str) -> bool {
        token.tok == Tok::Name && self.slice(*token) == word
    }

    fn slice(&self, token: Token) -> &str {
        &self.text[token.start as usize..token.end as usize]
    }

    fn span(&self, token: Token) -> Span {
        Span {
            file: self.file,
            start: token.start,
            end: token.end,
        }
    }

    /// The white space before the first token of a line.
    fn line_indentation(&self, first: Token) -> Span {
        let start = self.text[..first.start as usize]
            .rfind(['\n', '\r'])
            .map_or(0, |it| it + 1);
        Span::new(self.file, start, first.start as usize)
    }

    fn columns(&self, first: Token) -> (u32, u32) {
        let (mut column, mut narrow) = (0, 0);
        for byte in self.text[self.line_indentation(first).range()].bytes() {
            match byte {
                b' ' => (column, narrow) = (column + 1, narrow + 1),
                b'\t' => (column, narrow) = ((column / 8 + 1) * 8, narrow + 1),
                // A form feed starts the line afresh; what follows is a continued or repaired line.
                b'\x0c' => (column, narrow) = (0, 0),
                _ => {}
            }
        }
        (column, narrow)
    }
}

/// The place of the first `:` outside brackets.
fn colon_of(line: &[Token]) -> Option<usize> {
    let mut depth = 0u32;
    line.iter().position(|it| {
        match it.tok {
            Tok::LParen | Tok::LBracket | Tok::LBrace | Tok::WithOpen => depth += 1,
            Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::WithClose => depth = depth.saturating_sub(1),
            _ => {}
        }
        it.tok == Tok::Colon && depth == 0
    })
}
