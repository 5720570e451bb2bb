//! The parser: a file to its syntax tree.
//!
//! Takes a file of [`Sources`], gives a [`Module`] with what was understood and every mistake found, in the order of
//! the file. Where the grammar stops, the line is reported, replaced by a placeholder, and its top-level statement
//! parsed again, so that one mistake makes one message.

mod error;
mod explain;
mod lines;
mod unsupported;
mod build;
mod context;

// Only the generated parser unwraps, its stacks are never empty, and it has tuples of what a rule is made of.
lalrpop_util::lalrpop_mod!(
    #[expect(clippy::unwrap_used, clippy::type_complexity, reason = "generated code")]
    grammar,
    "/kernel.rs"
);

pub use error::{Error, FStringFlaw};

use crate::ast::{Expr, Module, Stmt};
use crate::lex::{self, Tok, Token};
use crate::limits::ERRORS;
use crate::source::{FileId, Sources, Span};
use build::{Builder, Parsed};
use lalrpop_util::ParseError;
use std::cell::Cell;

/// Parses a file. What could not be understood is in the errors and missing in the module.
pub fn parse(sources: &Sources, file: FileId) -> (Module, Vec<Error>) {
    let text = sources.text_of(file);
    let lexed = lex::lex(text, file);
    let mut builder = Builder::new(text, file);
    let mut errors: Vec<Error> = lexed.errors.into_iter().map(Error::Lex).collect();
    let body = match run(Tok::StartBlock, &lexed.tokens, &mut builder) {
        Ok(Parsed::Block(body)) => {
            errors.append(&mut builder.errors);
            body
        }
        _ => {
            builder.errors.clear();
            statements(&lexed.tokens, &mut builder, &mut errors)
        }
    };
    context::check(&body, &mut errors);
    let mut errors = lines::one_a_line(errors, &lexed.tokens);
    if errors.len() > ERRORS {
        let span = errors[ERRORS].span();
        errors.truncate(ERRORS);
        errors.push(Error::TooMany { span, limit: ERRORS });
    }
    (
        Module {
            body,
            directives: lexed.directives,
        },
        errors,
    )
}

/// Parses a file that is a single expression.
pub fn parse_expr(sources: &Sources, file: FileId) -> Result<Expr, Vec<Error>> {
    let text = sources.text_of(file);
    let lexed = lex::lex_expression(text, file, 0, text.len());
    let mut builder = Builder::new(text, file);
    let mut errors: Vec<Error> = lexed.errors.into_iter().map(Error::Lex).collect();
    let parsed = run(Tok::StartExpr, &lexed.tokens, &mut builder);
    errors.append(&mut builder.errors);
    match parsed {
        Ok(Parsed::Expr(node)) if errors.is_empty() => return Ok(node.tree),
        Err(unexpected) if errors.is_empty() => {
            let whole = Span::new(file, 0, text.len());
            errors.push(explain::explain_expression(
                text,
                whole,
                &lexed.tokens,
                &unexpected,
            ));
        }
        _ => {}
    }
    Err(errors)
}

/// Parses top-level statements one by one: a broken one is parsed again for each mistake in it.
fn statements(tokens: &[Token], builder: &mut Builder, errors: &mut Vec<Error>) -> Vec<Stmt> {
    let mut body = Vec::new();
    // A file that is broken all over is given up.
    let mut budget = 4 * tokens.len() + 100_000;
    let mut at = 0;
    while at < tokens.len() && errors.len() <= ERRORS {
        let end = lines::statement_end(tokens, at);
        body.extend(statement(&tokens[at..end], builder, &mut budget, errors));
        at = end;
    }
    body
}

/// Parses one top-level statement, however many lines of it are broken.
fn statement(
    tokens: &[Token],
    builder: &mut Builder,
    budget: &mut usize,
    errors: &mut Vec<Error>,
) -> Vec<Stmt> {
    let mut repaired;
    let mut tokens = tokens;
    // A lone decorator leaves nothing behind.
    while !tokens.is_empty() {
        let n_errors = builder.errors.len();
        let unexpected = match run(Tok::StartBlock, tokens, builder) {
            Ok(Parsed::Block(body)) => {
                errors.append(&mut builder.errors);
                return body;
            }
            Ok(Parsed::Expr(_)) => return Vec::new(),
            Err(unexpected) => unexpected,
        };
        builder.errors.truncate(n_errors);
        errors.extend(explain::explain_statement(
            builder.text,
            builder.file,
            tokens,
            &unexpected,
        ));
        if errors.len() > ERRORS || tokens.len() > *budget {
            return Vec::new();
        }
        *budget -= tokens.len();
        let Some(next) = lines::blank(tokens, unexpected.index) else {
            return Vec::new();
        };
        repaired = next;
        tokens = &repaired;
    }
    Vec::new()
}

/// Where the grammar stopped.
struct Unexpected {
    /// The token that could not follow; at the end of the tokens, their number.
    index: usize,
    /// The names of the terminals that could.
    expected: Vec<String>,
}

/// Runs the generated parser over tokens.
fn run(entry: Tok, tokens: &[Token], builder: &mut Builder) -> Result<Parsed, Unexpected> {
    let n_read = Cell::new(0);
    let input = tokens.iter().map(|it| {
        n_read.set(n_read.get() + 1);
        (it.start, it.tok, it.end)
    });
    let start = tokens.first().map_or(0, |it| it.start);
    let input = std::iter::once((start, entry, start)).chain(input).map(Ok);
    grammar::StartParser::new()
        .parse(builder, input)
        .map_err(|error| match error {
            ParseError::UnrecognizedToken { expected, .. } => Unexpected {
                index: n_read.get() - 1,
                expected,
            },
            ParseError::UnrecognizedEof { expected, .. } => Unexpected {
                index: tokens.len(),
                expected,
            },
            ParseError::InvalidToken { .. } | ParseError::ExtraToken { .. } | ParseError::User { .. } => {
                unreachable!("tokens are lexed, every rule ends the input, and no rule fails by itself")
            }
        })
}
