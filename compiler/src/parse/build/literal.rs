//! Numbers and strings.

use super::fstring::Parts;
use super::{Builder, Node};
use crate::ast::ExprKind;
use crate::parse::error::Error;
use crate::parse::unsupported as no;
use std::borrow::Cow;

#[derive(Clone, Copy, PartialEq)]
pub enum LiteralKind {
    Str,
    Bytes,
    FStr,
}

/// One of the string literals that stand side by side and are joined.
#[derive(Clone, Copy)]
pub struct Literal {
    pub kind: LiteralKind,
    pub start: u32,
    pub end: u32,
}

/// What stands between the quotes of a literal.
#[derive(Clone, Copy)]
pub(super) struct Body {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Backslashes mean themselves.
    pub(super) raw: bool,
}

impl Builder<'_> {
    pub fn integer(&mut self, start: u32, end: u32) -> Node {
        let digits = without_underscores(self.source(start, end));
        let radix = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => 16,
            [b'0', b'o' | b'O', ..] => 8,
            [b'0', b'b' | b'B', ..] => 2,
            _ => 10,
        };
        if radix == 10 && digits.starts_with('0') && digits.bytes().any(|it| it != b'0') {
            let digits = digits.trim_start_matches('0').to_owned();
            self.errors.push(Error::LeadingZero {
                span: self.span(start, end),
                digits,
            });
        }
        let magnitude = if radix == 10 { &*digits } else { &digits[2..] };
        match i64::from_str_radix(magnitude, radix) {
            Ok(value) => self.node(start, ExprKind::Int(value), 0, end),
            Err(_) => self.unsupported(start, no::WIDE_INTEGER, end),
        }
    }

    pub fn float(&mut self, start: u32, end: u32) -> Node {
        let digits = without_underscores(self.source(start, end));
        let value = digits
            .parse()
            .expect("the lexer's floats are the standard library's");
        self.node(start, ExprKind::Float(value), 0, end)
    }

    /// Joins adjacent literals. With an f-string among them the whole is one.
    pub fn strings(&mut self, start: u32, literals: Vec<Literal>, end: u32) -> Node {
        let has = |kind| literals.iter().any(|it| it.kind == kind);
        if has(LiteralKind::Bytes) {
            if literals.iter().any(|it| it.kind != LiteralKind::Bytes) {
                self.errors.push(Error::MixedBytes {
                    span: self.span(start, end),
                });
            }
            return self.unsupported(start, no::BYTES, end);
        }
        let is_fstring = has(LiteralKind::FStr);
        let mut parts = Parts::default();
        for literal in literals {
            let body = self.body(literal);
            match literal.kind {
                LiteralKind::FStr => self.fstring(literal, body, &mut parts),
                _ => self.text(body, &mut parts.pending),
            }
        }
        if is_fstring {
            let parts = parts.finish();
            return self.node(start, ExprKind::FString(parts.tree), parts.depth, end);
        }
        self.node(start, ExprKind::Str(parts.pending.into()), 0, end)
    }

    fn body(&self, literal: Literal) -> Body {
        let slice = self.source(literal.start, literal.end).as_bytes();
        let n_letters = slice.iter().take_while(|it| it.is_ascii_alphabetic()).count();
        let (prefix, quoted) = slice.split_at(n_letters);
        let is_triple = quoted.len() >= 6 && quoted[..3] == [quoted[0]; 3];
        let n_quotes = if is_triple { 3 } else { 1 };
        Body {
            start: literal.start + n_letters as u32 + n_quotes,
            end: literal.end - n_quotes,
            raw: prefix.iter().any(|it| it.eq_ignore_ascii_case(&b'r')),
        }
    }

    /// Appends the text of a literal, or of a piece of one, with its escapes resolved. Every line end is `\n`.
    pub(super) fn text(&mut self, body: Body, out: &mut String) {
        let mut rest = self.source(body.start, body.end);
        let marks: &[char] = if body.raw { &['\r'] } else { &['\\', '\r'] };
        while let Some(at) = rest.find(marks) {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            rest = match rest.strip_prefix('\r') {
                Some(behind) => {
                    out.push('\n');
                    behind.strip_prefix('\n').unwrap_or(behind)
                }
                None => self.escape(rest, body.end - rest.len() as u32, out),
            };
        }
        out.push_str(rest);
    }

    /// Resolves the escape that `rest`, which stands at byte `at` of the file, begins with; gives what follows it.
    fn escape<'t>(&mut self, rest: &'t str, at: u32, out: &mut String) -> &'t str {
        let Some(letter) = rest[1..].chars().next() else {
            // Only a literal that was cut at a broken hole ends in a backslash.
            out.push('\\');
            return "";
        };
        let behind = &rest[1 + letter.len_utf8()..];
        let simple = |value: char, out: &mut String| {
            out.push(value);
            behind
        };
        match letter {
            '\n' => behind,
            '\r' => behind.strip_prefix('\n').unwrap_or(behind),
            'a' => simple('\x07', out),
            'b' => simple('\x08', out),
            'f' => simple('\x0c', out),
            'n' => simple('\n', out),
            'r' => simple('\r', out),
            't' => simple('\t', out),
            'v' => simple('\x0b', out),
            '\\' | '\'' | '"' => simple(letter, out),
            'x' => self.code_escape(rest, at, 2, out),
            'u' => self.code_escape(rest, at, 4, out),
            'U' => self.code_escape(rest, at, 8, out),
            '0'..='7' => {
                let n_digits = rest[1..]
                    .bytes()
                    .take(3)
                    .take_while(|it| (b'0'..=b'7').contains(it))
                    .count();
                let code = u32::from_str_radix(&rest[1..=n_digits], 8).expect("octal digits were counted");
                out.push(char::from_u32(code).expect("three octal digits are below the surrogates"));
                &rest[1 + n_digits..]
            }
            // Python keeps the backslash of an escape it does not know. Names (`\N{…}`) stay as they are written.
            _ => {
                out.push('\\');
                out.push(letter);
                behind
            }
        }
    }

    /// `\xNN`, `\uNNNN`, `\UNNNNNNNN`.
    fn code_escape<'t>(&mut self, rest: &'t str, at: u32, n_digits: usize, out: &mut String) -> &'t str {
        let found = rest[2..]
            .bytes()
            .take(n_digits)
            .take_while(|it| it.is_ascii_hexdigit())
            .count();
        let (digits, behind) = rest[2..].split_at(found);
        let code = u32::from_str_radix(digits, 16).ok().filter(|_| found == n_digits);
        // Half of a surrogate pair is no character of ours; Python keeps it, we show that it is one.
        let character = code.and_then(|it| match it {
            0xd800..=0xdfff => Some(char::REPLACEMENT_CHARACTER),
            _ => char::from_u32(it),
        });
        match character {
            Some(character) => out.push(character),
            None => {
                let span = self.span(at, at + 2 + found as u32);
                self.errors.push(Error::Escape { span, n_digits });
            }
        }
        behind
    }
}

fn without_underscores(digits: &str) -> Cow<'_, str> {
    if digits.contains('_') {
        digits.replace('_', "").into()
    } else {
        digits.into()
    }
}
