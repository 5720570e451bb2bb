//! Tokens in words.

use super::assignment::is_keyword;
use crate::lex::Tok;

/// More alternatives than this say nothing.
const MAX_PHRASES: usize = 4;

/// Every expression may begin with these; together they read "an expression".
const STARTS: &[&str] = &[
    "name",
    "integer",
    "float",
    "imaginary",
    "string",
    "bytes",
    "f-string",
    "None",
    "True",
    "False",
    "...",
    "(",
    "[",
    "{",
    "-",
    "+",
    "~",
    "not",
    "lambda",
    "await",
    "*",
    "yield",
];

/// Whatever may follow an expression; together they read "an operator".
const OPERATORS: &[&str] = &[
    "+", "-", "*", "/", "//", "%", "@", "**", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=",
    "in", "is", "not", "and", "or", "if", ".", "[", "(",
];

/// Together they read "an assignment".
const ASSIGNMENTS: &[&str] = &[
    "=", "+=", "-=", "*=", "/=", "//=", "%=", "@=", "**=", "&=", "|=", "^=", "<<=", ">>=", ":=",
];

/// What a token is called when it is in the way.
pub(super) fn found(tok: Tok, slice: &str) -> String {
    match tok {
        Tok::Name => format!("name `{slice}`"),
        Tok::Int | Tok::Float | Tok::Imaginary => format!("number `{slice}`"),
        Tok::Str | Tok::Bytes => "string".to_owned(),
        Tok::FStr => "f-string".to_owned(),
        Tok::Indent => "indented block".to_owned(),
        tok if is_keyword(tok) => format!("keyword `{slice}`"),
        _ => format!("`{slice}`"),
    }
}

/// What could have followed, if few words say it.
pub(super) fn expected(terminals: &[String]) -> Vec<String> {
    let mut rest: Vec<&str> = terminals.iter().map(|it| it.trim_matches('"')).collect();
    let mut phrases = Vec::new();
    for (group, phrase) in [
        (STARTS, "an expression"),
        (OPERATORS, "an operator"),
        (ASSIGNMENTS, "an assignment"),
    ] {
        // Half of a group is enough: a few members may be excluded by the place.
        if rest.iter().filter(|it| group.contains(it)).count() * 2 > group.len() {
            rest.retain(|it| !group.contains(it));
            phrases.push(phrase.to_owned());
        }
    }
    phrases.extend(rest.into_iter().map(|it| match it {
        "name" => "a name".to_owned(),
        "integer" => "a number".to_owned(),
        "string" => "a string".to_owned(),
        "newline" => "the end of the line".to_owned(),
        "indent" => "an indented block".to_owned(),
        "dedent" => "the end of the block".to_owned(),
        other => format!("`{other}`"),
    }));
    if phrases.len() > MAX_PHRASES {
        Vec::new()
    } else {
        phrases
    }
}
