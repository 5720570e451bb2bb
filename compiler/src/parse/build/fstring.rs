//! F-strings: text, and holes that are parsed as expressions.

use super::deep::leaf;
use super::literal::{Body, Literal};
use super::{Builder, Deep, Node, Parsed};
use crate::ast::{Expr, ExprKind, FPart};
use crate::lex::{self, Tok};
use crate::parse::error::{Error, FStringFlaw};
use crate::parse::explain::explain_expression;
use crate::parse::run;

/// How deep f-strings may nest in holes of f-strings: each level is a parse within a parse.
const MAX_FSTRINGS: u32 = 8;

/// How deep holes may nest in the format specifications of holes; CPython allows one.
const MAX_SPECS: u32 = 2;

/// The parts of an f-string so far.
#[derive(Default)]
pub(super) struct Parts {
    parts: Vec<FPart>,
    depth: u32,
    /// Text behind the last hole.
    pub(super) pending: String,
}

impl Parts {
    fn hole(&mut self, hole: Deep<FPart>) {
        self.flush();
        self.parts.push(hole.tree);
        self.depth = self.depth.max(hole.depth);
    }

    fn flush(&mut self) {
        if !self.pending.is_empty() {
            self.parts
                .push(FPart::Text(std::mem::take(&mut self.pending).into()));
        }
    }

    pub(super) fn finish(mut self) -> Deep<Vec<FPart>> {
        self.flush();
        Deep {
            tree: self.parts,
            depth: self.depth,
        }
    }
}

impl Builder<'_> {
    /// Appends the parts of one f-string.
    pub(super) fn fstring(&mut self, literal: Literal, body: Body, parts: &mut Parts) {
        if self.fstring_depth == MAX_FSTRINGS {
            let span = self.span(literal.start, literal.end);
            self.errors.push(Error::FStringTooDeep {
                span,
                limit: MAX_FSTRINGS,
            });
            return;
        }
        let end = self.pieces(body, 0, parts);
        if end < body.end {
            self.flaw(FStringFlaw::LoneBrace, end, end + 1);
        }
    }

    /// Appends text and holes up to the end of the body, or to a `}` that closes no hole of it; gives that place.
    fn pieces(&mut self, body: Body, spec_depth: u32, parts: &mut Parts) -> u32 {
        let bytes = self.text.as_bytes();
        let mut at = body.start;
        let mut text_start = at;
        while at < body.end {
            let next = bytes.get(at as usize + 1).copied().filter(|_| at + 1 < body.end);
            match (bytes[at as usize], next) {
                (b'\\', Some(b'N')) if !body.raw && bytes.get(at as usize + 2) == Some(&b'{') => {
                    let name = self.source(at, body.end);
                    at += name.find('}').map_or(name.len(), |it| it + 1) as u32;
                }
                (b'\\', Some(b'{' | b'}')) => at += 1,
                (b'\\', Some(_)) => at += 2,
                (brace @ (b'{' | b'}'), next) if next == Some(brace) && spec_depth == 0 => {
                    self.text(
                        Body {
                            start: text_start,
                            end: at + 1,
                            ..body
                        },
                        &mut parts.pending,
                    );
                    at += 2;
                    text_start = at;
                }
                (b'{', _) => {
                    self.text(
                        Body {
                            start: text_start,
                            end: at,
                            ..body
                        },
                        &mut parts.pending,
                    );
                    at = self.hole(Body { start: at, ..body }, spec_depth, parts);
                    text_start = at;
                }
                (b'}', _) => break,
                _ => at += 1,
            }
        }
        let at = at.min(body.end);
        self.text(
            Body {
                start: text_start,
                end: at,
                ..body
            },
            &mut parts.pending,
        );
        at
    }

    /// Appends the hole that the body begins with; gives the place behind it.
    fn hole(&mut self, body: Body, spec_depth: u32, parts: &mut Parts) -> u32 {
        let open = body.start;
        let Some(value_end) = lex::end_of_hole_value(&self.text[..body.end as usize], open as usize + 1)
        else {
            self.flaw(FStringFlaw::OpenHole, open, open + 1);
            return body.end;
        };
        let value_end = value_end as u32;
        let bytes = self.text.as_bytes();
        let is_space = |at: u32| at < body.end && bytes[at as usize].is_ascii_whitespace();
        let mut at = value_end;
        let mut debug = None;
        if bytes[at as usize] == b'=' {
            at += 1;
            while is_space(at) {
                at += 1;
            }
            debug = Some(self.source(open + 1, at).into());
        }
        let mut conversion = None;
        if self.source(at, body.end).starts_with('!') {
            let letter = self
                .source(at + 1, body.end)
                .chars()
                .next()
                .filter(|it| "rsa".contains(*it));
            if letter.is_none() {
                self.flaw(FStringFlaw::Conversion, at, at + 1);
                return self.behind_hole(at, body);
            }
            conversion = letter;
            at += 2;
            while is_space(at) {
                at += 1;
            }
        }
        let mut spec = leaf(Vec::new());
        if self.source(at, body.end).starts_with(':') {
            if spec_depth == MAX_SPECS {
                self.flaw(FStringFlaw::SpecTooDeep, at, at + 1);
                return self.behind_hole(at, body);
            }
            let mut spec_parts = Parts::default();
            at = self.pieces(
                Body {
                    start: at + 1,
                    ..body
                },
                spec_depth + 1,
                &mut spec_parts,
            );
            spec = spec_parts.finish();
        }
        if !self.source(at, body.end).starts_with('}') {
            self.flaw(FStringFlaw::OpenHole, open, open + 1);
            return self.behind_hole(at, body);
        }
        let value = self.hole_value(open, value_end);
        parts.hole(value.and(spec).map(|(value, spec)| FPart::Hole {
            value,
            debug,
            conversion,
            spec,
        }));
        at + 1
    }

    /// Where to go on after a hole that was refused.
    fn behind_hole(&self, at: u32, body: Body) -> u32 {
        self.source(at, body.end)
            .find('}')
            .map_or(body.end, |it| at + it as u32 + 1)
    }

    /// Parses the expression between the brace at `open` and `end`.
    fn hole_value(&mut self, open: u32, end: u32) -> Node {
        let (start, span) = (open + 1, self.span(open, end + 1));
        let nothing = leaf(Expr {
            kind: ExprKind::Ellipsis,
            span,
        });
        if self.source(start, end).trim().is_empty() {
            self.flaw(FStringFlaw::EmptyHole, open, end + 1);
            return nothing;
        }
        let lexed = lex::lex_expression(self.text, self.file, start as usize, end as usize);
        if !lexed.errors.is_empty() {
            self.errors.extend(lexed.errors.into_iter().map(Error::Lex));
            return nothing;
        }
        self.fstring_depth += 1;
        let parsed = run(Tok::StartExpr, &lexed.tokens, self);
        self.fstring_depth -= 1;
        match parsed {
            Ok(Parsed::Expr(node)) => node,
            Ok(Parsed::Block(_)) => nothing,
            Err(unexpected) => {
                let error = explain_expression(self.text, span, &lexed.tokens, &unexpected);
                self.errors.push(error);
                nothing
            }
        }
    }

    fn flaw(&mut self, flaw: FStringFlaw, start: u32, end: u32) {
        self.errors.push(Error::FString {
            span: self.span(start, end),
            flaw,
        });
    }
}
