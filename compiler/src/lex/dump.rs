//! Tokens as text: what `nk compile --emit tokens` prints and snapshots hold.
//!
//! Takes a file, gives one token a line, indented by block, without positions. Never reports what is wrong.

use super::{Tok, lex};
use crate::source::{FileId, Sources};
use std::fmt::Write;

/// The tokens of a file as the parser gets them.
pub fn dump_tokens(sources: &Sources, file: FileId) -> String {
    let text = sources.text_of(file);
    let mut dump = String::new();
    let mut depth = 0;
    for token in lex(text, file).tokens {
        if token.tok == Tok::Dedent {
            depth -= 1;
        }
        let width = 2 * depth;
        let slice = &text[token.start as usize..token.end as usize];
        let line = match kind(token.tok) {
            Some(kind) if slice.is_empty() => writeln!(dump, "{:width$}{kind}", ""),
            Some(kind) => writeln!(dump, "{:width$}{kind} {}", "", slice.replace('\n', "\\n")),
            // A token that a repair put in has no text.
            None if slice.is_empty() => writeln!(dump, "{:width$}{:?}", "", token.tok),
            None => writeln!(dump, "{:width$}{slice}", ""),
        };
        line.expect("writing to a string does not fail");
        if token.tok == Tok::Indent {
            depth += 1;
        }
    }
    dump
}

/// What kind of token this is, where its text alone does not say so.
fn kind(tok: Tok) -> Option<&'static str> {
    Some(match tok {
        Tok::Name => "name",
        Tok::Int => "integer",
        Tok::Float => "float",
        Tok::Imaginary => "imaginary",
        Tok::Str => "string",
        Tok::Bytes => "bytes",
        Tok::FStr => "f-string",
        Tok::Newline => "newline",
        Tok::Indent => "indent",
        Tok::Dedent => "dedent",
        Tok::Match | Tok::Case | Tok::Type => "soft keyword",
        Tok::Bad => "bad",
        _ => return None,
    })
}
