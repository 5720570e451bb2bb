//! Broken rules: what is wrong, where, and how it is said.
//!
//! The mistakes stand in groups, one file each, with the numbers that a message needs and the words beside them. This file
//! puts the words into a diagnostic: the label at the instruction, or its IR text when it has no place in a source.

mod agreement;
mod array;
mod collective;
mod operand;
mod operator;
mod region;
mod size;
mod view;

pub use agreement::{AgreementMistake, CountOf};
pub use array::{ArrayMistake, PeSide};
pub use collective::CollectiveMistake;
pub use operand::OperandMistake;
pub use operator::OperatorMistake;
pub use region::{RegionAxis, RegionMistake};
pub use size::SizeMistake;
pub use view::{Axis, IndexMistake, ViewMistake};

use crate::diagnostic::{Diagnostic, Report};
use crate::isa::{Op, Row};
use crate::source::Span;

/// A broken rule, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub subject: Subject,
    pub place: Place,
    pub mistake: Mistake,
}

/// What the message is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An instruction and, unless the mistake is of the whole instruction, one of its operands.
    Inst { op: Op, operand: Option<&'static str> },
    /// A buffer by name.
    Buffer(String),
}

/// Where a mistake is. A loop that makes one mistake in each iteration makes one error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub span: Option<Span>,
    /// The calls around it, innermost first.
    pub callers: Vec<Span>,
    /// IR text of the first instruction that makes the mistake, or the name of the buffer.
    pub text: String,
    /// How many more instructions of the same source place make the mistake.
    pub more: u64,
    /// The innermost loop whose iterations they are, if it is one.
    pub around: Option<Span>,
    /// The operand's tensor, and where it is allocated.
    pub tensor: Option<(String, Span)>,
}

macro_rules! groups {
    ($( $(#[$doc:meta])* $group:ident $mistake:ident; )*) => {
        /// Every rule that can be broken, in groups.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Mistake { $( $(#[$doc])* $group($mistake) ),* }

        $( impl From<$mistake> for Mistake {
            fn from(mistake: $mistake) -> Mistake {
                Mistake::$group(mistake)
            }
        } )*

        impl Mistake {
            /// The stable word for it.
            pub fn code(&self) -> &'static str {
                match self { $( Mistake::$group(it) => it.code() ),* }
            }

            fn words(&self, about: &About) -> Words {
                match self { $( Mistake::$group(it) => it.words(about) ),* }
            }
        }
    };
}

groups! {
    /// The engine, and each operand for itself.
    Operand OperandMistake;
    /// A view, whatever it is used for.
    View ViewMistake;
    /// Operands against each other.
    Agreement AgreementMistake;
    /// Matmuls and transposes.
    Array ArrayMistake;
    /// Operators, patterns and immediates.
    Operator OperatorMistake;
    /// Sizes that one instruction asks for.
    Size SizeMistake;
    /// Exchanges between ranks.
    Collective CollectiveMistake;
    /// Places of buffers.
    Region RegionMistake;
}

/// What the words of a mistake need to know of its subject.
struct About<'e> {
    /// The instruction's row; `None` for a buffer.
    row: Option<&'static Row>,
    /// The instruction's name, or the buffer's.
    op: &'e str,
    /// The operand's name, or `op` when the mistake is of the whole.
    name: &'e str,
}

/// A message in parts.
struct Words {
    message: String,
    label: String,
    rule: Option<String>,
    help: Option<String>,
}

fn words(message: impl Into<String>, label: impl Into<String>) -> Words {
    Words {
        message: message.into(),
        label: label.into(),
        rule: None,
        help: None,
    }
}

impl Words {
    /// Adds the hardware rule.
    fn rule(mut self, rule: impl Into<String>) -> Words {
        self.rule = Some(rule.into());
        self
    }

    /// Adds the edit.
    fn help(mut self, help: impl Into<String>) -> Words {
        self.help = Some(help.into());
        self
    }
}

impl Report for Error {
    fn report(&self) -> Diagnostic {
        let about = match &self.subject {
            Subject::Inst { op, operand } => About {
                row: Some(op.row()),
                op: op.name(),
                name: operand.unwrap_or(op.name()),
            },
            Subject::Buffer(name) => About {
                row: None,
                op: name,
                name,
            },
        };
        let words = self.mistake.words(&about);
        let mut diagnostic = Diagnostic::error(self.mistake.code(), words.message);
        match self.place.span {
            Some(span) => diagnostic = diagnostic.at(span, words.label),
            None => diagnostic = diagnostic.note(format!("in `{}`", self.place.text)),
        }
        if let Some((tensor, span)) = &self.place.tensor
            && Some(*span) != self.place.span
        {
            diagnostic = diagnostic.because(*span, format!("{tensor} is allocated here"));
        }
        for &caller in &self.place.callers {
            diagnostic = diagnostic.because(caller, "called from here");
        }
        if let Some(rule) = words.rule {
            diagnostic = diagnostic.note(rule);
        }
        diagnostic = diagnostic.repeated(self.place.more, self.place.around);
        match words.help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }
}

/// `1 element`, `2 elements`.
fn plural(count: impl Into<u64>, noun: &str) -> String {
    match count.into() {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

/// `a`, `a or b`, `a, b or c`.
fn alternatives(items: impl Iterator<Item = impl ToString>) -> String {
    let mut items: Vec<String> = items.map(|it| it.to_string()).collect();
    match items.pop() {
        Some(last) if !items.is_empty() => format!("{} or {last}", items.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// `(2, 3)`
fn tuple(items: &[u32]) -> String {
    let items: Vec<String> = items.iter().map(u32::to_string).collect();
    format!("({})", items.join(", "))
}
