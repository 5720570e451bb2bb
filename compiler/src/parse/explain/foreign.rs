//! What other languages write.

use super::{Error, Line};
use crate::lex::brackets::starts_block;
use crate::lex::{Tok, Token};

/// Operators that Python spells differently: the two tokens they are lexed as, and the spelling.
const OPERATORS: &[(Tok, Tok, &str, &str)] = &[
    (Tok::Ampersand, Tok::Ampersand, "&&", "write `and`"),
    (Tok::Pipe, Tok::Pipe, "||", "write `or`"),
    (Tok::Less, Tok::Greater, "<>", "write `!=`"),
    (Tok::EqEq, Tok::Assign, "===", "write `==`"),
    (Tok::NotEq, Tok::Assign, "!==", "write `!=`"),
    (Tok::Assign, Tok::Less, "=<", "write `<=`"),
    (
        Tok::Assign,
        Tok::Greater,
        "=>",
        "write `>=`, or `lambda x: …` for a function",
    ),
    (
        Tok::Dot,
        Tok::Dot,
        "..",
        "write `range(a, b)`, or `a:b` in a subscript",
    ),
];

/// Words that begin a statement elsewhere, and what Python writes.
const WORDS: &[(&str, &str)] = &[
    ("print", "call it: `print(…)`"),
    ("exec", "kernels have no `exec`"),
    ("let", "assign without a keyword: `x = …`"),
    ("var", "assign without a keyword: `x = …`"),
    ("const", "assign without a keyword: `X = …`"),
    ("function", "write `def name(…):`"),
    ("func", "write `def name(…):`"),
    ("fn", "write `def name(…):`"),
    ("elseif", "write `elif`"),
    ("elsif", "write `elif`"),
    ("switch", "write `if` and `elif`"),
    ("until", "write `while not …:`"),
    ("foreach", "write `for x in …:`"),
    ("int", "assign without a type, or annotate: `x: int = …`"),
    ("float", "assign without a type, or annotate: `x: float = …`"),
    ("include", "write `import …`"),
];

pub(super) fn operator(line: &Line) -> Option<Error> {
    if let Some(error) = increment(line) {
        return Some(error);
    }
    if line.tok() == Some(Tok::Bang) {
        let help = if line.next() == Some(Tok::Assign) {
            "write `!=` without a space"
        } else {
            "write `not`"
        };
        return Some(Error::ForeignOperator {
            span: line.here(),
            found: "!",
            help,
        });
    }
    if line.tok() == Some(Tok::Arrow) {
        let help = "write `.` for an attribute; `->` only stands before the return type of a `def`";
        return Some(Error::ForeignOperator {
            span: line.here(),
            found: "->",
            help,
        });
    }
    let (previous, tok) = (line.previous()?, line.tok()?);
    let span = line.joined()?;
    let known = OPERATORS.iter().find(|it| (it.0, it.1) == (previous, tok))?;
    Some(Error::ForeignOperator {
        span,
        found: known.2,
        help: known.3,
    })
}

/// `x++` and `x--`: the grammar stops behind them, where an operand is missing.
fn increment(line: &Line) -> Option<Error> {
    let (one, two) = (line.before(2)?, line.before(1)?);
    if one.end != two.start || one.tok != two.tok {
        return None;
    }
    let (found, help) = match two.tok {
        Tok::Plus => ("++", "write `x += 1`"),
        Tok::Minus => ("--", "write `x -= 1`"),
        _ => return None,
    };
    Some(Error::ForeignOperator {
        span: line.span(one).to(line.span(two)),
        found,
        help,
    })
}

pub(super) fn words(line: &Line) -> Option<Error> {
    if line.first() == Tok::Else
        && line.at == 1
        && line.tok() != Some(Tok::Colon)
        && line.at < line.tokens.len()
    {
        let span = line.span(line.tokens[0]).to(line.here());
        if line.tok() == Some(Tok::If) {
            return Some(Error::ForeignWord {
                span,
                word: "else if".to_owned(),
                help: "write `elif`",
            });
        }
    }
    if starts_block(line.first()) {
        return trailing_word(line);
    }
    let token = line.token(line.at)?;
    let is_second = line.at == 1 && line.first() == Tok::Name && begins_operand(token);
    let word = line.slice(line.tokens[0]);
    let known = WORDS.iter().find(|it| is_second && it.0 == word)?;
    Some(Error::ForeignWord {
        span: line.span(line.tokens[0]),
        word: word.to_owned(),
        help: known.1,
    })
}

/// `if x then`, `while x do`.
fn trailing_word(line: &Line) -> Option<Error> {
    let token = line.token(line.at).filter(|it| it.tok == Tok::Name)?;
    let word = line.slice(token);
    let is_known = matches!(word, "then" | "do" | "begin") && line.expects(":");
    is_known.then(|| Error::ForeignBlock {
        span: line.span(token),
        mark: word.to_owned(),
        help: "write `:`, and indent the body",
    })
}

/// `if x {`.
pub(super) fn braces(line: &Line) -> Option<Error> {
    let opens = line.tok() == Some(Tok::LBrace) && starts_block(line.first()) && line.expects(":");
    opens.then(|| Error::ForeignBlock {
        span: line.here(),
        mark: "{".to_owned(),
        help: "end the line with `:` and indent the body; a block has no braces",
    })
}

fn begins_operand(token: Token) -> bool {
    matches!(
        token.tok,
        Tok::Name | Tok::Int | Tok::Float | Tok::Str | Tok::FStr | Tok::None | Tok::True | Tok::False
    )
}
