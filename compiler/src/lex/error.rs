//! What the lexer reports: characters, literals, brackets and indentation.
//!
//! Takes places, gives the wording. Never decides what is wrong.

use crate::diagnostic::{Applicability, Diagnostic, Edit, Report};
use crate::source::Span;

/// A mistake in the text below the grammar.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// A character that begins no token and is in no name.
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
        text: String,
    },
    NeverOpened {
        span: Span,
        bracket: char,
    },
    NeverClosed {
        open: Span,
        bracket: char,
        noticed: Span,
        at_end: bool,
    },
    Mismatched {
        open: Span,
        opener: char,
        close: Span,
        closer: char,
    },
    TooDeep {
        span: Span,
        limit: u32,
        what: &'static str,
    },
    TooLong {
        span: Span,
        limit: u32,
    },
    Tabs {
        span: Span,
    },
    Indent {
        span: Span,
    },
    /// `columns` are those of the blocks that are open.
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

/// What people type, or paste from a document, and what Python wants.
const LOOKALIKES: &[(&str, &str)] = &[
    ("‘’‚′", "write `'`"),
    ("“”„″«»", "write `\"`"),
    ("×∗·", "write `*`"),
    ("÷", "write `/`"),
    ("−–—‐", "write `-`"),
    ("≤", "write `<=`"),
    ("≥", "write `>=`"),
    ("≠", "write `!=`"),
    ("→", "write `->`"),
    ("…", "write `...`"),
    ("，、", "write `,`"),
    ("：", "write `:`"),
    ("；", "write `;`"),
    ("（）", "write `(` or `)`"),
    ("【】［］", "write `[` or `]`"),
    ("｛｝", "write `{` or `}`"),
    ("＝", "write `=`"),
    (
        "\u{a0}\u{2002}\u{2003}\u{2009}\u{202f}\u{3000}",
        "write a plain space",
    ),
    (
        "\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}",
        "remove this invisible character",
    ),
    ("?", "a conditional expression is `a if test else b`"),
    ("$", "names have no `$`"),
    ("`", "strings are quoted with `'` or `\"`"),
    ("²³", "write `**2` or `**3`"),
];

impl Error {
    /// Whether more text could mend it: what a prompt waits for.
    pub fn wants_more(&self) -> bool {
        match self {
            Error::NeverClosed { at_end, .. } => *at_end,
            Error::Quote { quote, .. } => is_triple(quote),
            Error::Block { next, .. } => next.is_none(),
            _ => false,
        }
    }
}

impl Report for Error {
    fn report(&self) -> Diagnostic {
        match self {
            Error::Character { span, character } => invalid_character(*span, *character),
            Error::Backslash { span } => {
                Diagnostic::error("invalid-character", "a backslash continues a line only at its end")
                    .at(*span, "something follows on this line")
                    .help("remove the backslash or what follows it; inside brackets no backslash is needed")
            }
            Error::Quote { span, quote } if is_triple(quote) => {
                Diagnostic::error("unterminated-string", "string is never closed")
                    .at(*span, "opened here")
                    .help(format!("close it with `{}`", quote.trim_start_matches(char::is_alphabetic)))
            }
            Error::Quote { span, quote } => {
                Diagnostic::error("unterminated-string", "string is not closed before its line ends")
                    .at(*span, "opened here")
                    .help(format!(
                        "close it with `{}`; text over several lines stands between `\"\"\"`",
                        quote.trim_start_matches(char::is_alphabetic)
                    ))
            }
            Error::Number { span, text } => Diagnostic::error("invalid-number", format!("`{text}` is not a number"))
                .at(*span, "")
                .note("a name does not begin with a digit; `_` stands single between digits; `0x`, `0o` and `0b` begin numbers of base 16, 8 and 2"),
            Error::NeverOpened { span, bracket } => {
                Diagnostic::error("unmatched-bracket", format!("`{bracket}` closes nothing"))
                    .at(*span, "no bracket is open here")
                    .help("remove it, or open its partner before")
            }
            Error::NeverClosed { open, bracket, noticed, at_end } => {
                let why = if *at_end { "the text ends here" } else { "this cannot go on inside it" };
                Diagnostic::error("unclosed-bracket", format!("`{bracket}` is never closed"))
                    .at(*open, "opened here")
                    .because(*noticed, why)
                    .help(format!("add `{}`", partner(*bracket)))
            }
            Error::Mismatched { open, opener, close, closer } => {
                Diagnostic::error("mismatched-bracket", format!("`{closer}` does not close `{opener}`"))
                    .at(*close, format!("`{}` is wanted here", partner(*opener)))
                    .because(*open, "opened here")
                    .replacing(
                        *close,
                        &closer.to_string(),
                        &partner(*opener).to_string(),
                        format!("write `{}`, or close `{opener}` before", partner(*opener)),
                        Applicability::MaybeIncorrect,
                    )
            }
            Error::TooDeep { span, limit, what } => {
                Diagnostic::error("nested-too-deep", format!("{what} nest more than {limit} deep"))
                    .at(*span, "")
                    .help("split it into parts with names of their own")
            }
            Error::TooLong { span, limit } => {
                Diagnostic::error("nested-too-deep", format!("expression has more than {limit} operators"))
                    .at(*span, "")
                    .help("split it over several assignments, or loop")
            }
            Error::Tabs { span } => {
                Diagnostic::error("tabs-and-spaces", "tabs and spaces are mixed, so that the indentation is unclear")
                    .at(*span, "")
                    .help("indent with spaces only")
            }
            Error::Indent { span } => Diagnostic::error("unexpected-indent", "unexpected indentation")
                .at(*span, "deeper than the statement before, which opens no block")
                .help("begin the line in the same column as the statement before"),
            Error::Dedent { span, column, columns } => {
                Diagnostic::error("bad-dedent", format!("indentation of {} belongs to no open block", columns_of(*column)))
                    .at(*span, "")
                    .note(format!("blocks are open at {}", open_columns(columns)))
            }
            Error::Block { header, keyword, next } => {
                let diagnostic = Diagnostic::error("missing-block", format!("`{keyword}` needs an indented block"))
                    .at(*header, "no block follows");
                let diagnostic = match next {
                    Some(next) => diagnostic.because(*next, "this line is not indented deeper"),
                    None => diagnostic,
                };
                diagnostic.help("indent the lines that belong to it, or write `pass`")
            }
            Error::Colon { header, keyword } => {
                Diagnostic::error("missing-colon", format!("`:` is missing at the end of the `{keyword}` line"))
                    .at(Span { start: header.end, ..*header }, "")
                    .suggest(
                        Span { start: header.end, ..*header },
                        Edit::Insert(":".to_string()),
                        "add `:`",
                        Applicability::MachineApplicable,
                    )
            }
        }
    }
}

fn is_triple(quote: &str) -> bool {
    quote.ends_with("\"\"\"") || quote.ends_with("'''")
}

fn invalid_character(span: Span, character: char) -> Diagnostic {
    let is_invisible =
        character.is_control() || character.is_whitespace() || !character.is_ascii() && is_format(character);
    let shown = match is_invisible {
        true => format!("U+{:04X}", u32::from(character)),
        false => character.to_string(),
    };
    let diagnostic = Diagnostic::error(
        "invalid-character",
        format!("character `{shown}` has no meaning outside strings and comments"),
    )
    .at(span, "");
    match LOOKALIKES.iter().find(|it| it.0.contains(character)) {
        Some((_, help)) => diagnostic.help(*help),
        None => diagnostic,
    }
}

/// Characters that show as nothing.
fn is_format(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

fn partner(opener: char) -> char {
    match opener {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

fn columns_of(column: u32) -> String {
    if column == 1 {
        "1 column".to_owned()
    } else {
        format!("{column} columns")
    }
}

fn open_columns(columns: &[u32]) -> String {
    let columns: Vec<String> = columns.iter().map(u32::to_string).collect();
    match columns.as_slice() {
        [one] => format!("column {one}"),
        [init @ .., last] => format!("columns {} and {last}", init.join(", ")),
        [] => "no column".to_owned(),
    }
}
