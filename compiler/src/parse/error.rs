//! What the parser reports.
//!
//! Takes places and facts, gives the wording. Never decides what is wrong.

use crate::ast::Ident;
use crate::diagnostic::Applicability::{MachineApplicable, MaybeIncorrect};
use crate::diagnostic::{Diagnostic, Report};
use crate::lex;
use crate::source::Span;

/// A syntax error.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    Lex(lex::Error),
    /// An empty text where an expression is wanted.
    Nothing {
        span: Span,
    },
    /// `found` is none at the end of the line; `expected` is empty where too much could follow.
    Unexpected {
        span: Span,
        found: Option<String>,
        expected: Vec<String>,
    },
    /// An operator of another language.
    ForeignOperator {
        span: Span,
        found: &'static str,
        help: &'static str,
    },
    /// A word that begins a statement in another language.
    ForeignWord {
        span: Span,
        word: String,
        help: &'static str,
    },
    /// `{`, `then`, `do`.
    ForeignBlock {
        span: Span,
        mark: String,
        help: &'static str,
    },
    KeywordAsName {
        span: Span,
        word: String,
    },
    EqualsInCondition {
        span: Span,
    },
    EqualsInExpression {
        span: Span,
    },
    ForEquals {
        span: Span,
    },
    /// `f(a.b=1)`.
    ArgumentName {
        span: Span,
    },
    /// `x + = 1`.
    SplitOperator {
        span: Span,
        operator: &'static str,
    },
    BareWalrus {
        span: Span,
        statement: bool,
    },
    MissingElse {
        span: Span,
        end: Span,
    },
    MissingComma {
        left: Span,
        right: Span,
    },
    SideBySide {
        left: Span,
        right: Span,
    },
    MissingOperand {
        span: Span,
        after: String,
        before: Span,
        at_end: bool,
    },
    StringPrefix {
        span: Span,
        prefix: String,
    },
    StatementInExpression {
        span: Span,
        word: String,
    },
    LoneDecorator {
        span: Span,
    },
    LoneTry {
        span: Span,
    },
    StrayClause {
        span: Span,
        word: String,
        owners: &'static str,
    },
    ExpressionTooDeep {
        span: Span,
        limit: u32,
    },
    StatementTooDeep {
        span: Span,
        limit: u32,
    },
    FStringTooDeep {
        span: Span,
        limit: u32,
    },
    TooMany {
        span: Span,
        limit: usize,
    },
    FString {
        span: Span,
        flaw: FStringFlaw,
    },
    Escape {
        span: Span,
        n_digits: usize,
    },
    LeadingZero {
        span: Span,
        digits: String,
    },
    MixedBytes {
        span: Span,
    },
    Target {
        span: Span,
        what: &'static str,
    },
    TwoStars {
        span: Span,
        first: Span,
    },
    SingleTarget {
        span: Span,
        construct: &'static str,
    },
    ParameterOrder {
        span: Span,
        before: Span,
        rule: &'static str,
    },
    LoneMarker {
        span: Span,
        rule: &'static str,
    },
    DuplicateParameter {
        name: Ident,
        first: Span,
    },
    DefaultOrder {
        name: Ident,
        before: Span,
    },
    ArgumentOrder {
        span: Span,
        before: Span,
    },
    RepeatedArgument {
        name: Ident,
        first: Span,
    },
    BareGenerator {
        span: Span,
    },
    ReturnOutside {
        span: Span,
    },
    JumpOutside {
        span: Span,
        word: &'static str,
    },
}

/// What is wrong with an f-string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FStringFlaw {
    EmptyHole,
    /// A `{` without its `}`.
    OpenHole,
    /// A `}` without its `{`.
    LoneBrace,
    Conversion,
    SpecTooDeep,
}

impl Error {
    /// Whether more text could mend it: what a prompt waits for.
    pub fn wants_more(&self) -> bool {
        matches!(self, Error::Lex(error) if error.wants_more())
    }

    /// The place the error is about.
    pub fn span(&self) -> Span {
        self.report()
            .primary_span()
            .expect("every syntax error has a place")
    }
}

impl Report for Error {
    fn report(&self) -> Diagnostic {
        match self {
            Error::Lex(error) => error.report(),
            Error::Nothing { span } => {
                Diagnostic::error("unexpected-token", "an expression is missing").at(*span, "nothing stands here")
            }
            Error::Unexpected { span, found, expected } => unexpected(*span, found.as_deref(), expected),
            Error::ForeignOperator { span, found, help } => {
                let it = Diagnostic::error("not-python", format!("`{found}` is no operator of Python")).at(*span, "");
                // A help that is one operator is an edit; the others offer a choice.
                let new = help.strip_prefix("write `").and_then(|it| it.strip_suffix('`'));
                match new.filter(|it| !it.contains('`')) {
                    Some(new) => it.replacing(*span, found, new, *help, MachineApplicable),
                    None => it.help(*help),
                }
            }
            Error::ForeignWord { span, word, help } => {
                Diagnostic::error("not-python", format!("`{word}` begins no statement of Python")).at(*span, "").help(*help)
            }
            Error::ForeignBlock { span, mark, help } => {
                Diagnostic::error("not-python", format!("a block does not begin with `{mark}`")).at(*span, "").help(*help)
            }
            Error::KeywordAsName { span, word } => {
                Diagnostic::error("keyword-as-name", format!("`{word}` is a keyword and cannot be a name"))
                    .at(*span, "a name is wanted here")
                    .replacing(*span, word, &format!("{word}_"), format!("write `{word}_`, or another name"), MaybeIncorrect)
            }
            Error::EqualsInCondition { span } => {
                Diagnostic::error("assignment-in-expression", "`=` assigns and cannot stand in a condition")
                    .at(*span, "assignment")
                    .replacing(*span, "=", "==", "write `==` to compare, or `(name := value)` to assign and test", MaybeIncorrect)
            }
            Error::EqualsInExpression { span } => {
                Diagnostic::error("assignment-in-expression", "`=` assigns and cannot stand in an expression")
                    .at(*span, "assignment")
                    .replacing(*span, "=", "==", "write `==` to compare, or `:=` to assign inside parentheses", MaybeIncorrect)
            }
            Error::ForEquals { span } => {
                Diagnostic::error("not-python", "`for` counts over values, not by assignment")
                    .at(*span, "`in` is wanted here")
                    .help("write `for i in range(start, stop, step):`")
            }
            Error::ArgumentName { span } => {
                Diagnostic::error("argument-name", "the name of a keyword argument is a plain name")
                    .at(*span, "not a plain name")
                    .help("write `name=value`, or `==` to compare")
            }
            Error::SplitOperator { span, operator } => {
                Diagnostic::error("unexpected-token", format!("`{operator}` is one operator"))
                    .at(*span, "")
                    .help(format!("write `{operator}` without a space"))
            }
            Error::BareWalrus { span, statement } => {
                let help = if *statement { "write `=`" } else { "put parentheses around `name := value`" };
                Diagnostic::error("assignment-in-expression", "`:=` needs parentheses here").at(*span, "").help(help)
            }
            Error::MissingElse { span, end } => {
                Diagnostic::error("missing-else", "a conditional expression needs `else`")
                    .at(*span, "this `if` has none")
                    .because(*end, "`else` is missing here")
                    .help("write `a if test else b`")
            }
            Error::MissingComma { left, right } => Diagnostic::error("missing-comma", "a comma or an operator is missing")
                .at(left.to(*right), "between these two")
                .help("put a `,` between them"),
            Error::SideBySide { left, right } => {
                Diagnostic::error("unexpected-token", "two expressions stand side by side")
                    .at(left.to(*right), "nothing joins these two")
                    .help("put an operator or a `,` between them, or begin a new line")
            }
            Error::MissingOperand { span, after, before, at_end } => {
                let diagnostic =
                    Diagnostic::error("missing-operand", format!("an expression is missing after `{after}`"));
                match at_end {
                    true => diagnostic
                        .at(*span, "nothing follows this")
                        .help("finish the expression; inside parentheses it may go on in the next line"),
                    false => diagnostic.at(span.to(*before), "nothing stands between these"),
                }
            }
            Error::StringPrefix { span, prefix } => {
                Diagnostic::error("unexpected-token", format!("`{prefix}` is no string prefix"))
                    .at(*span, "")
                    .note("strings may begin with `r`, `b`, `u`, `f`, `rb` or `rf`, in either case")
                    .help("remove the prefix, or put an operator before the string")
            }
            Error::StatementInExpression { span, word } => {
                Diagnostic::error("unexpected-token", format!("`{word}` begins a statement and has no value"))
                    .at(*span, "an expression is wanted here")
                    .help(format!("put `{word}` on a line of its own"))
            }
            Error::LoneDecorator { span } => {
                Diagnostic::error("lone-decorator", "a decorator needs a `def` or `class` on the next line")
                    .at(*span, "decorates nothing")
            }
            Error::LoneTry { span } => {
                Diagnostic::error("lone-try", "`try` needs `except` or `finally`").at(*span, "has neither").help(
                    "kernels raise nothing that can be caught: remove `try`, and check conditions with `if` or `assert`",
                )
            }
            Error::StrayClause { span, word, owners } => {
                Diagnostic::error("stray-clause", format!("`{word}` has no {owners} before it"))
                    .at(*span, "nothing at this indentation to belong to")
                    .help(format!("indent `{word}` like the statement it belongs to"))
            }
            Error::ExpressionTooDeep { span, limit } => {
                Diagnostic::error("nested-too-deep", format!("expression nests more than {limit} levels deep"))
                    .at(*span, "")
                    .note("a chain such as `a + b + c` has one level for each operator")
                    .help("split it over several assignments, or loop")
            }
            Error::StatementTooDeep { span, limit } => {
                Diagnostic::error("nested-too-deep", format!("statement nests more than {limit} levels deep"))
                    .at(*span, "")
                    .note("every `elif` is one level")
                    .help("move inner blocks to functions, or look the value up in a dictionary")
            }
            Error::TooMany { span, limit } => Diagnostic::error(
                "too-many-errors",
                format!("more than {limit} mistakes; the rest is not told"),
            )
            .at(*span, "the next one is here")
            .help("mend the first ones: a file that is no kernel, or an open bracket, makes all of the others"),
            Error::FStringTooDeep { span, limit } => {
                Diagnostic::error("nested-too-deep", format!("f-string lies in more than {limit} f-strings"))
                    .at(*span, "")
                    .help("build the inner text in a variable of its own")
            }
            Error::FString { span, flaw } => fstring(*span, *flaw),
            Error::Escape { span, n_digits } => {
                Diagnostic::error("bad-escape", format!("this escape takes {n_digits} hexadecimal digits of a character"))
                    .at(*span, "")
                    .help("write `\\\\` for a backslash, or begin the string with `r`")
            }
            Error::LeadingZero { span, digits } => {
                Diagnostic::error("invalid-number", "a decimal number has no leading zeros")
                    .at(*span, "")
                    .replacing(
                        *span,
                        &format!("0{digits}"),
                        digits,
                        format!("write `{digits}`, or `0o{digits}` for an octal number"),
                        MaybeIncorrect,
                    )
            }
            Error::MixedBytes { span } => {
                Diagnostic::error("bad-string", "bytes and strings cannot be joined").at(*span, "").help("remove the prefix `b`")
            }
            Error::Target { span, what } => Diagnostic::error("bad-target", format!("{what} cannot be assigned to"))
                .at(*span, "not a place for a value")
                .help("assign to a name, an attribute or a subscript; `==` compares"),
            Error::TwoStars { span, first } => {
                Diagnostic::error("bad-target", "only one target of an assignment is starred")
                    .at(*span, "second star")
                    .because(*first, "first star")
            }
            Error::SingleTarget { span, construct } => {
                Diagnostic::error("bad-target", format!("{construct} takes a single target")).at(*span, "several targets")
            }
            Error::ParameterOrder { span, before, rule } => Diagnostic::error("parameter-order", "parameters are out of order")
                .at(*span, *rule)
                .because(*before, "stands before it"),
            Error::LoneMarker { span, rule } => Diagnostic::error("parameter-order", *rule).at(*span, ""),
            Error::DuplicateParameter { name, first } => {
                Diagnostic::error("duplicate-parameter", format!("two parameters are named `{}`", name.name))
                    .at(name.span, "second")
                    .because(*first, "first")
            }
            Error::DefaultOrder { name, before } => {
                let message = format!("parameter `{}` has no default, but one before it has", name.name);
                Diagnostic::error("parameter-order", message)
                    .at(name.span, "needs a default")
                    .because(*before, "has a default")
                    .help("give it a default, move it forward, or put `*` before it to make it keyword-only")
            }
            Error::ArgumentOrder { span, before } => {
                Diagnostic::error("argument-order", "positional argument after a keyword argument")
                    .at(*span, "positional")
                    .because(*before, "keyword")
                    .help("move it before the keyword arguments, or name it")
            }
            Error::RepeatedArgument { name, first } => {
                Diagnostic::error("duplicate-argument", format!("argument `{}` is given twice", name.name))
                    .at(name.span, "second")
                    .because(*first, "first")
            }
            Error::BareGenerator { span } => {
                Diagnostic::error("bare-generator", "a generator needs parentheses beside other arguments")
                    .at(*span, "")
                    .help("put parentheses around it")
            }
            Error::ReturnOutside { span } => {
                Diagnostic::error("outside-function", "`return` outside a function").at(*span, "no `def` around this")
            }
            Error::JumpOutside { span, word } => {
                Diagnostic::error("outside-loop", format!("`{word}` outside a loop"))
                    .at(*span, "no `for` or `while` around this, in this function")
            }
        }
    }
}

fn unexpected(span: Span, found: Option<&str>, expected: &[String]) -> Diagnostic {
    let message = match found {
        Some(found) => format!("unexpected {found}"),
        None => "the line ends too early".to_owned(),
    };
    let label = match expected {
        [] => String::new(),
        [one] => format!("expected {one}"),
        [init @ .., last] => format!("expected {} or {last}", init.join(", ")),
    };
    Diagnostic::error("unexpected-token", message).at(span, label)
}

fn fstring(span: Span, flaw: FStringFlaw) -> Diagnostic {
    let diagnostic = |message: &str| Diagnostic::error("bad-fstring", message);
    match flaw {
        FStringFlaw::EmptyHole => diagnostic("`{}` of an f-string is empty")
            .at(span, "an expression is wanted here")
            .help("write `{{}}` for braces"),
        FStringFlaw::OpenHole => diagnostic("`{` of an f-string is not closed")
            .at(span, "opened here")
            .help("close it with `}`, or write `{{` for a brace"),
        FStringFlaw::LoneBrace => diagnostic("single `}` in an f-string")
            .at(span, "closes nothing")
            .help("write `}}` for a brace"),
        FStringFlaw::Conversion => diagnostic("`!` of an f-string wants a conversion")
            .at(span, "")
            .help("write `!r`, `!s` or `!a`, or `!=` to compare"),
        FStringFlaw::SpecTooDeep => diagnostic("format specifications nest too deep")
            .at(span, "")
            .help("compute the format in a variable first"),
    }
}
