//! `=`, `:=` and keywords in places that want a name.

use super::{Error, Line};
use crate::lex::Tok;

/// Keywords, and that a line could not go on at one of them, or behind one that was taken for a name.
pub(super) fn keyword_as_name(line: &Line) -> Option<Error> {
    let named = |span, word: &str| {
        Some(Error::KeywordAsName {
            span,
            word: word.to_owned(),
        })
    };
    // `class = 3`, `f(lambda=3)`.
    if let Some(previous) = line.before(1).filter(|_| line.tok() == Some(Tok::Assign)) {
        let begins =
            line.at == 1 || matches!(line.before(2).map(|it| it.tok), Some(Tok::Comma | Tok::LParen));
        if is_keyword(previous.tok) && begins {
            return named(line.span(previous), line.slice(previous));
        }
    }
    let token = line.token(line.at).filter(|it| is_keyword(it.tok))?;
    let wants_name = match line.previous() {
        Some(Tok::Def | Tok::Class | Tok::Dot | Tok::As | Tok::Global | Tok::Nonlocal | Tok::Import) => true,
        Some(Tok::For) => line.next() == Some(Tok::In),
        // `f(in=3)`, `def f(a, is):`, `in = 3`.
        Some(Tok::LParen | Tok::Comma) => {
            matches!(line.next(), Some(Tok::Assign)) || line.first() == Tok::Def
        }
        None => line.next() == Some(Tok::Assign),
        _ => false,
    };
    if wants_name && (line.at == 0 || line.expects("name")) {
        return named(line.span(token), line.slice(token));
    }
    None
}

pub(super) fn equals(line: &Line) -> Option<Error> {
    if line.tok() != Some(Tok::Assign) {
        return None;
    }
    let span = line.here();
    let previous = line.before(1)?;
    if let Some(operator) = compound(previous.tok) {
        return Some(Error::SplitOperator {
            span: line.span(previous).to(span),
            operator,
        });
    }
    let has_in = line.tokens[..line.at].iter().any(|it| it.tok == Tok::In);
    let is_condition = matches!(line.first(), Tok::If | Tok::Elif | Tok::While | Tok::Assert);
    Some(match line.open_bracket() {
        _ if line.first() == Tok::For && !has_in => Error::ForEquals { span },
        _ if line.in_call() => Error::ArgumentName {
            span: line.span(previous).to(span),
        },
        _ if is_condition => Error::EqualsInCondition { span },
        _ => Error::EqualsInExpression { span },
    })
}

pub(super) fn walrus(line: &Line) -> Option<Error> {
    let is_walrus = line.tok() == Some(Tok::Walrus);
    let statement = line.at == 1 && line.first() == Tok::Name;
    is_walrus.then(|| Error::BareWalrus {
        span: line.here(),
        statement,
    })
}

/// The assignment operator that this operator and a `=` behind it were meant to be.
fn compound(tok: Tok) -> Option<&'static str> {
    Some(match tok {
        Tok::Plus => "+=",
        Tok::Minus => "-=",
        Tok::Star => "*=",
        Tok::Slash => "/=",
        Tok::DoubleSlash => "//=",
        Tok::DoubleStar => "**=",
        Tok::Percent => "%=",
        Tok::Assign => "==",
        Tok::Less => "<=",
        Tok::Greater => ">=",
        Tok::Pipe => "|=",
        Tok::Ampersand => "&=",
        Tok::Caret => "^=",
        Tok::Colon => ":=",
        _ => return None,
    })
}

pub(super) fn is_keyword(tok: Tok) -> bool {
    use Tok::*;
    matches!(
        tok,
        False
            | None
            | True
            | And
            | As
            | Assert
            | Async
            | Await
            | Break
            | Class
            | Continue
            | Def
            | Del
            | Elif
            | Else
            | Except
            | Finally
            | For
            | From
            | Global
            | If
            | Import
            | In
            | Is
            | Lambda
            | Nonlocal
            | Not
            | Or
            | Pass
            | Raise
            | Return
            | Try
            | While
            | With
            | Yield
    )
}
