//! Missing and misplaced parts: colons, clauses, commas, operands.

use super::assignment::is_keyword;
use super::{Error, Line};
use crate::lex::brackets::{ends_operand, is_operator, starts_block};
use crate::lex::{self, Tok, Token};
use crate::parse::lines;
use crate::source::{FileId, Span};
use std::ops::Range;

/// Mistakes that lie in how lines follow each other, not in the line where the grammar stopped.
pub(super) fn around(text: &str, file: FileId, tokens: &[Token], index: usize) -> Option<Error> {
    let span = |line: &Range<usize>| Span {
        file,
        start: tokens[line.start].start,
        end: tokens[line.end - 1].end,
    };
    if let Some(line) = lines::decorator_before(tokens, index) {
        return Some(Error::LoneDecorator { span: span(&line) });
    }
    if let Some(line) = lines::header_before(tokens, index).filter(|it| tokens[it.start].tok == Tok::Try) {
        return Some(Error::LoneTry { span: span(&line) });
    }
    let token = tokens.get(index)?;
    let begins_line = lines::line_around(tokens, index).start == index;
    let owners = match token.tok {
        Tok::Elif => "`if`",
        Tok::Else => "`if`, `for`, `while` or `try`",
        Tok::Except | Tok::Finally => "`try`",
        _ => return None,
    };
    begins_line.then(|| Error::StrayClause {
        span: Span {
            file,
            start: token.start,
            end: token.end,
        },
        word: text[token.start as usize..token.end as usize].to_owned(),
        owners,
    })
}

/// A header without its colon.
pub(super) fn colon(line: &Line) -> Option<Error> {
    let is_header = starts_block(line.first()) && line.open_bracket().is_none();
    let token = line.token(line.at);
    // Where the expression could go on, only the end of the line or a statement shows that the header was over.
    let is_over = token.is_none_or(|it| is_keyword(it.tok) || line.previous().is_some_and(ends_operand));
    let has_colon = line.tokens.iter().any(|it| it.tok == Tok::Colon);
    if !is_header || has_colon || !line.expects(":") || !is_over || line.at == 0 {
        return None;
    }
    let header = line.span(line.tokens[0]).to(line.span(line.tokens[line.at - 1]));
    let keyword = line.slice(line.tokens[0]).to_owned();
    Some(Error::Lex(lex::Error::Colon { header, keyword }))
}

/// `a if b` without `else`.
pub(super) fn missing_else(line: &Line) -> Option<Error> {
    if !line.expects("else") {
        return None;
    }
    let index = line.tokens[..line.at].iter().rposition(|it| it.tok == Tok::If)?;
    Some(Error::MissingElse {
        span: line.span(line.tokens[index]),
        end: line.here(),
    })
}

/// A statement where an expression is wanted: `x = return y`.
pub(super) fn statement_inside(line: &Line) -> Option<Error> {
    let token = line.token(line.at)?;
    let is_statement = matches!(
        token.tok,
        Tok::Assert
            | Tok::Break
            | Tok::Class
            | Tok::Continue
            | Tok::Def
            | Tok::Del
            | Tok::Global
            | Tok::Import
            | Tok::Nonlocal
            | Tok::Pass
            | Tok::Raise
            | Tok::Return
            | Tok::Try
            | Tok::While
            | Tok::With
    );
    let wants_value = line.expects("name") && line.expects("integer");
    (is_statement && wants_value && line.at > 0).then(|| Error::StatementInExpression {
        span: line.span(token),
        word: line.slice(token).to_owned(),
    })
}

/// Two expressions with nothing between them.
pub(super) fn side_by_side(line: &Line) -> Option<Error> {
    let (previous, token) = (line.before(1)?, line.token(line.at)?);
    if !ends_operand(previous.tok) || !begins_operand(token.tok) {
        return None;
    }
    let (left, right) = (line.span(previous), line.span(token));
    if matches!(token.tok, Tok::Str | Tok::FStr | Tok::Bytes)
        && previous.tok == Tok::Name
        && left.end == right.start
    {
        return Some(Error::StringPrefix {
            span: left,
            prefix: line.slice(previous).to_owned(),
        });
    }
    if line.open_bracket().is_some() && line.expects(",") {
        return Some(Error::MissingComma { left, right });
    }
    Some(Error::SideBySide { left, right })
}

/// An operator, a comma or a `=` that lacks what follows it.
pub(super) fn operand(line: &Line) -> Option<Error> {
    if !line.expects("name") || !line.expects("integer") {
        return None;
    }
    let token = line.token(line.at);
    let previous = line.before(1)?;
    let ends = token.is_none_or(|it| {
        matches!(
            it.tok,
            Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::Comma | Tok::Colon | Tok::Semicolon
        ) || is_operator(it.tok)
    });
    let lacks = is_operator(previous.tok)
        || matches!(
            previous.tok,
            Tok::Assign | Tok::Comma | Tok::LParen | Tok::LBracket | Tok::LBrace
        )
        || is_keyword(previous.tok);
    if !ends || !lacks {
        return None;
    }
    let after = line.slice(previous).to_owned();
    Some(Error::MissingOperand {
        span: line.span(previous),
        after,
        before: line.here(),
        at_end: token.is_none(),
    })
}

fn begins_operand(tok: Tok) -> bool {
    use Tok::*;
    matches!(
        tok,
        Name | Int | Float | Imaginary | Str | Bytes | FStr | False | None | True | Ellipsis | Lambda
    )
}
