//! The lexer: text to the tokens of the grammar.
//!
//! Takes the text, gives [`Token`]s that carry only a kind and a byte range; the text under a range is read by whoever
//! needs it. Three passes over the raw tokens drop comments, balance brackets and resolve indentation. Never judges
//! grammar, and what it reports it also repairs.

mod scan;
mod comment;
mod tokens;
pub(crate) mod brackets;
mod blocks;
mod dump;
mod error;

pub use comment::expected_diagnostics;
pub use dump::dump_tokens;
pub use error::Error;
pub(crate) use scan::end_of_hole_value;

use crate::ast::Directive;
use crate::source::FileId;
use logos::Logos;
use scan::{scan_fstring, scan_string};

/// How deep brackets and blocks may nest; CPython has the same limits.
const MAX_BRACKETS: usize = 200;
const MAX_BLOCKS: usize = 100;

/// How many bytes of a file may be read in vain in search of the ends of f-strings whose holes hold quotes; later ones end
/// at their first closing quote.
const MAX_SEARCHED: usize = 1 << 20;

/// How many errors of one file are kept.
const MAX_ERRORS: usize = 1000;

/// The tokens of a file, the directives in its comments and what was wrong with it.
#[derive(Debug, Default)]
pub struct Lexed {
    pub tokens: Vec<Token>,
    pub directives: Vec<Directive>,
    pub errors: Vec<Error>,
}

impl Lexed {
    /// Keeps an error, unless the file is broken all over: one error for each byte would fill the memory.
    fn report(&mut self, error: Error) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
    }
}

/// The tokens of a whole file.
pub fn lex(text: &str, file: FileId) -> Lexed {
    // A byte order mark is no token.
    let start = if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    let raw = tokens::tokens(text, file, start, text.len());
    blocks::blocks(text, file, brackets::balance(text, file, text.len(), raw))
}

/// The tokens of one expression, `text[start..end]`: line ends mean nothing in it.
pub(crate) fn lex_expression(text: &str, file: FileId, start: usize, end: usize) -> Lexed {
    let mut raw = tokens::tokens(text, file, start, end);
    raw.tokens.retain(|it| it.tok != Tok::LineEnd);
    brackets::balance(text, file, end, raw)
}

/// A token and where it is, in bytes of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub tok: Tok,
    pub start: u32,
    pub end: u32,
}

/// Why the raw lexer could not make a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flaw {
    /// A character that starts no token.
    #[default]
    Character,
    /// A one-line string without its closing quote.
    Quote,
    /// A triple-quoted string without its closing quotes.
    TripleQuote,
}

/// How many bytes were read in search of ends that were not found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Searched(usize);

/// The kind of a token. The last group is not lexed but made by the passes.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(error = Flaw, extras = Searched, skip r"[ \t\f]+", skip r"\\(\r\n|\n|\r)")]
#[rustfmt::skip]
pub enum Tok {
    #[regex(r"\r\n|\n|\r")] LineEnd,
    #[regex(r"#[^\r\n]*", allow_greedy = true)] Comment,

    // Everything outside ASCII counts as a letter here; the first pass refuses those that are none.
    #[regex(r"[A-Za-z_\u{80}-\u{10ffff}][A-Za-z0-9_\u{80}-\u{10ffff}]*")] Name,
    #[regex(r"[0-9](_?[0-9])*|0[xX](_?[0-9a-fA-F])+|0[oO](_?[0-7])+|0[bB](_?[01])+")] Int,
    #[regex(r"([0-9](_?[0-9])*)?\.[0-9](_?[0-9])*([eE][+-]?[0-9](_?[0-9])*)?")]
    #[regex(r"[0-9](_?[0-9])*\.([eE][+-]?[0-9](_?[0-9])*)?")]
    #[regex(r"[0-9](_?[0-9])*[eE][+-]?[0-9](_?[0-9])*")] Float,
    #[regex(r"([0-9](_?[0-9])*)?\.[0-9](_?[0-9])*([eE][+-]?[0-9](_?[0-9])*)?[jJ]")]
    #[regex(r"[0-9](_?[0-9])*\.([eE][+-]?[0-9](_?[0-9])*)?[jJ]")]
    #[regex(r"[0-9](_?[0-9])*([eE][+-]?[0-9](_?[0-9])*)?[jJ]")] Imaginary,
    #[regex(r#"[rRuU]?("|'|"""|''')"#, scan_string)] Str,
    #[regex(r#"([bB][rR]?|[rR][bB])("|'|"""|''')"#, scan_string)] Bytes,
    #[regex(r#"([fF][rR]?|[rR][fF])("|'|"""|''')"#, scan_fstring)] FStr,

    #[token("False")] False, #[token("None")] None, #[token("True")] True,
    #[token("and")] And, #[token("as")] As, #[token("assert")] Assert, #[token("async")] Async,
    #[token("await")] Await, #[token("break")] Break, #[token("class")] Class, #[token("continue")] Continue,
    #[token("def")] Def, #[token("del")] Del, #[token("elif")] Elif, #[token("else")] Else,
    #[token("except")] Except, #[token("finally")] Finally, #[token("for")] For, #[token("from")] From,
    #[token("global")] Global, #[token("if")] If, #[token("import")] Import, #[token("in")] In,
    #[token("is")] Is, #[token("lambda")] Lambda, #[token("nonlocal")] Nonlocal, #[token("not")] Not,
    #[token("or")] Or, #[token("pass")] Pass, #[token("raise")] Raise, #[token("return")] Return,
    #[token("try")] Try, #[token("while")] While, #[token("with")] With, #[token("yield")] Yield,

    #[token("(")] LParen, #[token(")")] RParen, #[token("[")] LBracket, #[token("]")] RBracket,
    #[token("{")] LBrace, #[token("}")] RBrace,
    #[token(",")] Comma, #[token(":")] Colon, #[token(";")] Semicolon, #[token(".")] Dot,
    #[token("...")] Ellipsis, #[token("->")] Arrow, #[token("@")] At, #[token("!")] Bang,
    #[token("=")] Assign, #[token(":=")] Walrus,
    #[token("+")] Plus, #[token("-")] Minus, #[token("*")] Star, #[token("**")] DoubleStar,
    #[token("/")] Slash, #[token("//")] DoubleSlash, #[token("%")] Percent, #[token("&")] Ampersand,
    #[token("|")] Pipe, #[token("^")] Caret, #[token("~")] Tilde, #[token("<<")] Shl, #[token(">>")] Shr,
    #[token("==")] EqEq, #[token("!=")] NotEq, #[token("<")] Less, #[token("<=")] LessEq,
    #[token(">")] Greater, #[token(">=")] GreaterEq,
    #[token("+=")] PlusEq, #[token("-=")] MinusEq, #[token("*=")] StarEq, #[token("**=")] DoubleStarEq,
    #[token("/=")] SlashEq, #[token("//=")] DoubleSlashEq, #[token("%=")] PercentEq, #[token("@=")] AtEq,
    #[token("&=")] AmpersandEq, #[token("|=")] PipeEq, #[token("^=")] CaretEq,
    #[token("<<=")] ShlEq, #[token(">>=")] ShrEq,

    Newline, Indent, Dedent,
    /// `match`, `case` and `type` where they are statements; the pattern after `case` is dropped.
    Match, Case, Type,
    /// The parentheses around the items of a `with` statement.
    WithOpen, WithClose,
    /// Stands for what could not be lexed and has been reported.
    Bad,
    /// Tells the parser which of its two entries to take.
    StartBlock, StartExpr,
}

/// The raw tokens of a text, from a byte offset on: no indentation, comments and line ends included.
pub(crate) struct Raw<'s> {
    lexer: logos::Lexer<'s, Tok>,
    base: u32,
}

impl<'s> Raw<'s> {
    /// `base` is where `text` starts in its file.
    pub(crate) fn new(text: &'s str, base: u32) -> Raw<'s> {
        Raw {
            lexer: Tok::lexer(text),
            base,
        }
    }
}

impl Iterator for Raw<'_> {
    type Item = (Result<Tok, Flaw>, u32, u32);

    fn next(&mut self) -> Option<Self::Item> {
        let tok = self.lexer.next()?;
        let span = self.lexer.span();
        Some((tok, self.base + span.start as u32, self.base + span.end as u32))
    }
}
