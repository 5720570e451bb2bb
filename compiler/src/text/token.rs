//! Tokens of IR text.
//!
//! Takes the text of a `.nir` file, gives tokens that borrow from it. Comments and blanks never reach the parser; a
//! newline does, because every line is parsed by itself.

use logos::Logos;

/// Why the lexer stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LexError {
    /// No token starts with this character.
    #[default]
    Character,
    /// An integer beyond 64 bits.
    Integer,
    /// A decimal number beyond f32.
    Float,
}

#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(error = LexError)]
#[logos(skip r"[ \t\r]+")]
#[logos(skip(r";[^\n]*", allow_greedy = true))]
pub enum Token<'t> {
    #[token("\n")]
    Newline,
    /// `%base.0.3'2`, or `%"any text".0.3'2` when the base is no word.
    #[regex(r#"%([A-Za-z_\u{80}-\u{10FFFF}][A-Za-z0-9_\u{80}-\u{10FFFF}]*|"([^"\\\n]|\\[^\n])*")(\.[0-9]+)*('[0-9]+)?"#)]
    Name(&'t str),
    #[regex(r"[A-Za-z_\u{80}-\u{10FFFF}][A-Za-z0-9_\u{80}-\u{10FFFF}]*")]
    Word(&'t str),
    /// With its quotation marks.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Quoted(&'t str),
    #[regex(r"-?[0-9]+", |it| it.slice().parse::<i64>().map_err(|_| LexError::Integer))]
    #[regex(r"0x[0-9a-fA-F]+", |it| i64::from_str_radix(&it.slice()[2..], 16).map_err(|_| LexError::Integer))]
    Int(i64),
    #[regex(r"-?[0-9]+(\.[0-9]+)?e-?[0-9]+", |it| read_float(it.slice()))]
    #[regex(r"-?[0-9]+\.[0-9]+", |it| read_float(it.slice()))]
    Float(f32),
    #[token("kernel")]
    Kernel,
    #[token("for")]
    For,
    #[token("in")]
    In,
    #[token("out")]
    Out,
    #[token("buf")]
    Buf,
    #[token("return")]
    Return,
    #[token("print")]
    Print,
    #[token("as")]
    As,
    #[token("body")]
    Body,
    #[token("queue")]
    Queue,
    #[token("wait")]
    Wait,
    #[token("signal")]
    Signal,
    #[token("barrier")]
    Barrier,
    #[token("while")]
    While,
    #[token("by")]
    By,
    #[token("reg")]
    Reg,
    #[token("of")]
    Of,
    #[token("rows")]
    Rows,
    #[token("on")]
    On,
    #[token("at")]
    At,
    #[token("after")]
    After,
    #[token("fixed")]
    Fixed,
    #[token("<-")]
    Arrow,
    #[token("@")]
    Place,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[token("..")]
    Dots,
    #[token("=")]
    Equals,
    #[token("+")]
    Plus,
    #[token("*")]
    Star,
    #[token("~")]
    Tilde,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
}

/// Whether the text is a word of nobody's: no keyword of the IR.
pub fn is_free_word(text: &str) -> bool {
    matches!(Token::lexer(text).next(), Some(Ok(Token::Word(word))) if word == text)
}

fn read_float(digits: &str) -> Result<f32, LexError> {
    let value: f32 = digits.parse().map_err(|_| LexError::Float)?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(LexError::Float)
    }
}
