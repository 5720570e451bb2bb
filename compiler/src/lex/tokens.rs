//! The first pass of the lexer: raw tokens without comments.
//!
//! Takes the text, gives tokens with line ends still among them, and the directives that stood in comments. Whatever
//! is no token is reported and becomes [`Tok::Bad`].

use super::error::Error;
use super::{Flaw, Lexed, Raw, Tok, Token, comment};
use crate::source::{FileId, Span};

/// The raw tokens of `text[start..end]`.
pub(super) fn tokens(text: &str, file: FileId, start: usize, end: usize) -> Lexed {
    let mut lexed = Lexed::default();
    lexed.tokens.reserve((end - start) / 4);
    for (tok, start, end) in Raw::new(&text[start..end], start as u32) {
        let span = Span { file, start, end };
        let slice = &text[span.range()];
        match tok {
            Ok(Tok::Comment) => lexed.directives.extend(comment::directive(slice, file, start)),
            Ok(Tok::Name) => name(&mut lexed, span, text),
            Ok(tok @ (Tok::Int | Tok::Float | Tok::Imaginary)) => number(&mut lexed, span, tok, text),
            Ok(tok) => lexed.tokens.push(Token { tok, start, end }),
            Err(flaw) => {
                lexed.report(flawed(flaw, span, text, slice));
                lexed.tokens.push(Token {
                    tok: Tok::Bad,
                    start,
                    end,
                });
            }
        }
    }
    lexed
}

/// A name, unless it holds a character that is no letter or it is the tail of a number such as `12abc`.
fn name(lexed: &mut Lexed, span: Span, text: &str) {
    let mut tok = Tok::Name;
    if let Some(error) = wrong_character(span, &text[span.range()]) {
        lexed.report(error);
        tok = Tok::Bad;
    }
    if !joins_number(lexed, span, text) {
        lexed.tokens.push(Token {
            tok,
            start: span.start,
            end: span.end,
        });
    }
}

fn number(lexed: &mut Lexed, span: Span, tok: Tok, text: &str) {
    if !joins_number(lexed, span, text) {
        lexed.tokens.push(Token {
            tok,
            start: span.start,
            end: span.end,
        });
    }
}

/// Reports a token that touches the number before it: `12abc`, `0b12`, `1__0`, `1.2.3`.
fn joins_number(lexed: &mut Lexed, span: Span, text: &str) -> bool {
    let Some(last) = lexed.tokens.last_mut() else {
        return false;
    };
    if last.end != span.start || !matches!(last.tok, Tok::Int | Tok::Float | Tok::Imaginary) {
        return false;
    }
    let whole = Span {
        start: last.start,
        ..span
    };
    *last = Token {
        tok: Tok::Bad,
        start: whole.start,
        end: whole.end,
    };
    lexed.report(Error::Number {
        span: whole,
        text: text[whole.range()].to_owned(),
    });
    true
}

fn wrong_character(span: Span, slice: &str) -> Option<Error> {
    if slice.is_ascii() {
        return None;
    }
    let (at, character) = slice.char_indices().find(|&(_, it)| !may_name(it))?;
    let start = span.start as usize + at;
    Some(Error::Character {
        span: Span::new(span.file, start, start + character.len_utf8()),
        character,
    })
}

/// Letters of any script, combining marks that follow Latin letters, and variation selectors.
fn may_name(character: char) -> bool {
    character.is_alphabetic()
        || character.is_ascii_digit()
        || character == '_'
        || matches!(character, '\u{300}'..='\u{36f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn flawed(flaw: Flaw, span: Span, text: &str, slice: &str) -> Error {
    match flaw {
        Flaw::Quote => Error::Quote {
            span,
            quote: opening(slice),
        },
        Flaw::TripleQuote => {
            // The label would cover the rest of the file; the opening is what matters.
            let quote = opening(slice);
            Error::Quote {
                span: Span::new(span.file, span.start as usize, span.start as usize + quote.len()),
                quote,
            }
        }
        Flaw::Character if slice == "\\" => Error::Backslash { span },
        Flaw::Character => {
            let character = text[span.start as usize..]
                .chars()
                .next()
                .unwrap_or(char::REPLACEMENT_CHARACTER);
            let end = span.start as usize + character.len_utf8();
            Error::Character {
                span: Span::new(span.file, span.start as usize, end),
                character,
            }
        }
    }
}

/// The prefix and the opening quotes of a literal.
fn opening(literal: &str) -> String {
    let prefix = literal.find(['"', '\'']).unwrap_or(0);
    let quote = literal[prefix..].chars().next().unwrap_or('"');
    let n_quotes = if literal[prefix..].starts_with(&String::from(quote).repeat(3)) {
        3
    } else {
        1
    };
    literal[..prefix + n_quotes].to_owned()
}
