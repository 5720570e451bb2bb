//! Finding, replacing and counting lines of tokens.
//!
//! Takes tokens and a place in them, gives the line around it or the tokens without it. Never looks at the text.

use super::{Error, Span};
use crate::lex::brackets::starts_block;
use crate::lex::{Tok, Token};
use std::collections::BTreeMap;
use std::ops::Range;

/// The end of the top-level statement that begins at `start`: decorators, and every clause, belong to it.
pub(super) fn statement_end(tokens: &[Token], start: usize) -> usize {
    let mut depth = 0u32;
    let mut line_start = start;
    for at in start..tokens.len() {
        match tokens[at].tok {
            Tok::Indent => depth += 1,
            Tok::Dedent => depth = depth.saturating_sub(1),
            Tok::Newline => {}
            _ => continue,
        }
        let is_decorator = tokens[line_start].tok == Tok::At;
        line_start = at + 1;
        let Some(next) = tokens.get(line_start) else { break };
        let continues = matches!(next.tok, Tok::Indent | Tok::Dedent) || is_clause(next.tok);
        if depth == 0 && !is_decorator && !continues {
            return line_start;
        }
    }
    tokens.len()
}

fn is_clause(tok: Tok) -> bool {
    matches!(tok, Tok::Elif | Tok::Else | Tok::Except | Tok::Finally)
}

/// The line around a token, without its newline.
pub(super) fn line_around(tokens: &[Token], index: usize) -> Range<usize> {
    let ends_line = |it: &Token| matches!(it.tok, Tok::Newline | Tok::Indent | Tok::Dedent);
    let start = tokens[..index].iter().rposition(ends_line).map_or(0, |it| it + 1);
    let end = tokens[index..]
        .iter()
        .position(ends_line)
        .map_or(tokens.len(), |it| index + it);
    start..end
}

/// The line before the blocks that end just before `index`, if one does: the header they belong to.
pub(super) fn header_before(tokens: &[Token], index: usize) -> Option<Range<usize>> {
    if index == 0 || tokens[index - 1].tok != Tok::Dedent {
        return None;
    }
    let mut depth = 0u32;
    for at in (0..index).rev() {
        match tokens[at].tok {
            Tok::Dedent => depth += 1,
            Tok::Indent => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            // An indent stands behind the header's newline.
            return (at >= 2).then(|| line_around(tokens, at - 2));
        }
    }
    None
}

/// The decorator line that ends just before `index`.
pub(super) fn decorator_before(tokens: &[Token], index: usize) -> Option<Range<usize>> {
    if index < 2 || tokens[index - 1].tok != Tok::Newline {
        return None;
    }
    let line = line_around(tokens, index - 2);
    (tokens[line.start].tok == Tok::At).then_some(line)
}

/// The tokens with the broken line at `index` replaced by something that means nothing and keeps the blocks around it.
/// None if that would change nothing.
pub(super) fn blank(tokens: &[Token], index: usize) -> Option<Vec<Token>> {
    if let Some(line) = decorator_before(tokens, index) {
        return Some(replace(tokens, line.start..line.end + 1, Vec::new()));
    }
    if let Some(line) = header_before(tokens, index).filter(|it| tokens[it.start].tok == Tok::Try) {
        let placeholder = placeholder(tokens, &line, Tok::If);
        return Some(replace(tokens, line, placeholder));
    }
    let line = line_around(tokens, index.min(tokens.len() - 1));
    if line.is_empty() {
        return None;
    }
    let first = tokens[line.start].tok;
    // A clause that nothing precedes becomes a header of its own.
    let keyword = if index == line.start && starts_block(first) {
        Tok::If
    } else {
        first
    };
    let placeholder = placeholder(tokens, &line, keyword);
    let same = placeholder.len() == line.len()
        && placeholder
            .iter()
            .zip(&tokens[line.clone()])
            .all(|(a, b)| a.tok == b.tok);
    (!same).then(|| replace(tokens, line, placeholder))
}

fn placeholder(tokens: &[Token], line: &Range<usize>, keyword: Tok) -> Vec<Token> {
    let first = tokens[line.start];
    let has_block = tokens.get(line.end + 1).is_some_and(|it| it.tok == Tok::Indent);
    let at = |tok| Token {
        tok,
        start: first.start,
        end: first.start,
    };
    // The name of a broken definition is worth keeping.
    let name = tokens[line.clone()]
        .get(1)
        .copied()
        .filter(|it| it.tok == Tok::Name)
        .unwrap_or(at(Tok::Name));
    let mut placeholder = match keyword {
        Tok::If | Tok::Elif | Tok::While | Tok::With | Tok::Match => {
            vec![at(keyword), at(Tok::Ellipsis), at(Tok::Colon)]
        }
        Tok::Else | Tok::Try | Tok::Except | Tok::Finally | Tok::Case => vec![at(keyword), at(Tok::Colon)],
        Tok::For => vec![
            at(Tok::For),
            at(Tok::Name),
            at(Tok::In),
            at(Tok::Ellipsis),
            at(Tok::Colon),
        ],
        Tok::Def => vec![
            at(Tok::Def),
            name,
            at(Tok::LParen),
            at(Tok::RParen),
            at(Tok::Colon),
        ],
        Tok::Class => vec![at(Tok::Class), name, at(Tok::Colon)],
        _ if has_block => vec![at(Tok::If), at(Tok::Ellipsis), at(Tok::Colon)],
        _ => return vec![at(Tok::Pass)],
    };
    if !has_block {
        placeholder.push(at(Tok::Pass));
    }
    placeholder
}

fn replace(tokens: &[Token], line: Range<usize>, with: Vec<Token>) -> Vec<Token> {
    let mut out = tokens.to_vec();
    out.splice(line, with);
    out
}

/// Sorts errors and keeps one for each line of tokens: the lexer's, or else the first.
pub(super) fn one_a_line(errors: Vec<Error>, tokens: &[Token]) -> Vec<Error> {
    if errors.is_empty() {
        return errors;
    }
    let ends: Vec<u32> = tokens
        .iter()
        .filter(|it| it.tok == Tok::Newline)
        .map(|it| it.start)
        .collect();
    let mut kept: BTreeMap<usize, Error> = BTreeMap::new();
    let rank = |it: &Error| (!matches!(it, Error::Lex(_)), start_of(it.span()));
    for error in errors {
        let line = ends.partition_point(|&it| it < start_of(error.span()));
        match kept.get(&line) {
            Some(known) if rank(known) <= rank(&error) => {}
            _ => drop(kept.insert(line, error)),
        }
    }
    kept.into_values().collect()
}

fn start_of(span: Span) -> u32 {
    span.start
}
