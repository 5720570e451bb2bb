//! Finds the end of a string literal.
//!
//! Takes the raw lexer standing behind the opening quote, moves it behind the closing one. Never looks at escapes
//! beyond skipping them: raw strings, too, let a backslash keep the next quote.

use super::{Flaw, MAX_SEARCHED, Tok};
use logos::Lexer;

/// How deep f-strings may nest in f-strings while their end is searched; the parser refuses them earlier.
const MAX_FSTRING_NESTING: u32 = 32;

pub(super) fn scan_string(lexer: &mut Lexer<'_, Tok>) -> Result<(), Flaw> {
    let quote = Quote::of(lexer.slice());
    let rest = lexer.remainder().as_bytes();
    finish(lexer, quote, quote.end_of_plain(rest, 0))
}

/// A hole may hold the quote of the string around it (Python 3.12). Where that reading finds no end, the first
/// closing quote is the end and the hole is what is broken.
pub(super) fn scan_fstring(lexer: &mut Lexer<'_, Tok>) -> Result<(), Flaw> {
    let quote = Quote::of(lexer.slice());
    let rest = lexer.remainder().as_bytes();
    if lexer.extras.0 < MAX_SEARCHED {
        if let Some(end) = quote.end_of_fstring(rest, 0, MAX_FSTRING_NESTING) {
            return finish(lexer, quote, Some(end));
        }
        let line = rest.iter().position(|it| *it == b'\n');
        lexer.extras.0 += line.filter(|_| !quote.triple).unwrap_or(rest.len());
    }
    finish(lexer, quote, quote.end_of_plain(rest, 0))
}

fn finish(lexer: &mut Lexer<'_, Tok>, quote: Quote, end: Option<usize>) -> Result<(), Flaw> {
    match end {
        Some(end) => {
            lexer.bump(end);
            Ok(())
        }
        None if quote.triple => {
            lexer.bump(lexer.remainder().len());
            Err(Flaw::TripleQuote)
        }
        None => {
            let rest = lexer.remainder();
            lexer.bump(rest.find(['\n', '\r']).unwrap_or(rest.len()));
            Err(Flaw::Quote)
        }
    }
}

#[derive(Clone, Copy)]
struct Quote {
    byte: u8,
    triple: bool,
}

impl Quote {
    /// From the opening of a literal: prefix letters, then one or three quotes.
    fn of(opening: &str) -> Quote {
        let bytes = opening.as_bytes();
        let byte = bytes[bytes.len() - 1];
        Quote {
            byte,
            triple: bytes.iter().filter(|&&it| it == byte).count() == 3,
        }
    }

    fn len(self) -> usize {
        if self.triple { 3 } else { 1 }
    }

    fn closes_at(self, text: &[u8], at: usize) -> bool {
        text[at] == self.byte && (!self.triple || text[at..].starts_with(&[self.byte; 3]))
    }

    fn breaks_at(self, text: &[u8], at: usize) -> bool {
        !self.triple && (text[at] == b'\n' || text[at] == b'\r')
    }

    /// The offset behind the closing quote, for a string whose body starts at `at`.
    fn end_of_plain(self, text: &[u8], mut at: usize) -> Option<usize> {
        while at < text.len() {
            if text[at] == b'\\' {
                at += escape_len(text, at);
            } else if self.closes_at(text, at) {
                return Some(at + self.len());
            } else if self.breaks_at(text, at) {
                return None;
            } else {
                at += 1;
            }
        }
        None
    }

    fn end_of_fstring(self, text: &[u8], mut at: usize, nesting: u32) -> Option<usize> {
        while at < text.len() {
            if text[at] == b'\\' {
                at += escape_len(text, at);
            } else if self.closes_at(text, at) {
                return Some(at + self.len());
            } else if self.breaks_at(text, at) {
                return None;
            } else if text[at..].starts_with(b"{{") {
                at += 2;
            } else if text[at] == b'{' {
                at = self.end_of_hole(text, at + 1, nesting)?;
            } else {
                at += 1;
            }
        }
        None
    }

    /// The offset behind the `}` of a hole whose text starts at `at`; strings in it are skipped whole. The format
    /// specification is scanned as code, which only matters for quotes in it.
    fn end_of_hole(self, text: &[u8], mut at: usize, nesting: u32) -> Option<usize> {
        let mut depth = 0u32;
        while at < text.len() {
            match text[at] {
                b'}' if depth == 0 => return Some(at + 1),
                b'{' | b'(' | b'[' => depth += 1,
                b'}' | b')' | b']' => depth = depth.saturating_sub(1),
                b'\\' => at += escape_len(text, at) - 1,
                b'"' | b'\'' => {
                    at = end_of_nested(text, at, nesting)?;
                    continue;
                }
                _ if self.breaks_at(text, at) => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }
}

/// The offset behind a string literal that opens at `at` inside a hole. Its prefix is read backwards.
fn end_of_nested(text: &[u8], at: usize, nesting: u32) -> Option<usize> {
    let byte = text[at];
    let quote = Quote {
        byte,
        triple: text[at..].starts_with(&[byte; 3]),
    };
    let body = at + quote.len();
    let is_letter = |it: &u8| it.is_ascii_alphanumeric() || *it == b'_';
    let prefix = text[..at].iter().rev().take_while(|it| is_letter(it)).take(3);
    let is_fstring = prefix.clone().count() <= 2 && prefix.clone().any(|it| it.eq_ignore_ascii_case(&b'f'));
    match is_fstring {
        true if nesting == 0 => None,
        true => quote.end_of_fstring(text, body, nesting - 1),
        false => quote.end_of_plain(text, body),
    }
}

/// How many bytes a backslash at `at` takes with it: a line end of two bytes counts as one.
fn escape_len(text: &[u8], at: usize) -> usize {
    if text[at + 1..].starts_with(b"\r\n") { 3 } else { 2 }
}

/// Where the expression of an f-string hole ends: at a `}`, a `:`, a `!` or the `=` of the debug form, outside brackets
/// and strings. `text` ends where the f-string does, `at` is behind the `{`.
pub(crate) fn end_of_hole_value(text: &str, mut at: usize) -> Option<usize> {
    let text = text.as_bytes();
    let mut depth = 0u32;
    while at < text.len() {
        let next = text.get(at + 1);
        match text[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b'}' | b':' if depth == 0 => return Some(at),
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' | b'\'' => {
                at = end_of_nested(text, at, MAX_FSTRING_NESTING)?;
                continue;
            }
            b'!' if depth == 0 && next != Some(&b'=') => return Some(at),
            b'=' if depth == 0 && is_debug(text, at) => return Some(at),
            // Both characters of `==`, `!=`, `<=`, `>=`.
            b'=' | b'!' | b'<' | b'>' if next == Some(&b'=') => at += 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Whether the `=` at `at` ends the expression: only space, a conversion, a specification or `}` follow.
fn is_debug(text: &[u8], at: usize) -> bool {
    let behind = text[at + 1..].iter().find(|it| !it.is_ascii_whitespace());
    matches!(behind, Some(b'}' | b'!' | b':'))
}
