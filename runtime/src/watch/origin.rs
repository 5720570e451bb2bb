//! Where a NaN, an infinity or a number out of range comes from, and how it is said.

use super::trap::Trap;
use nk_compiler::diagnostic::Diagnostic;
use nk_compiler::dtype::Dtype;
use nk_compiler::ir::InstId;
use nk_compiler::isa::ActFn;
use nk_compiler::source::Span;

/// The element that was made, by whom and from what.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    pub inst: InstId,
    /// Instructions that ran before.
    pub number: usize,
    pub trap: Trap,
    pub dtype: Dtype,
    /// The result's view as IR text, the index of the element in it, and its value.
    pub dst: String,
    pub index: Vec<u64>,
    pub value: f32,
    pub made: Made,
    pub sources: Vec<Source>,
}

/// What kind of instruction made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    Function(ActFn),
    Copy,
    Arithmetic,
}

/// What an operand held.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    pub operand: &'static str,
    pub view: String,
    /// The element that stands out of the `of` that were used.
    pub index: Vec<u64>,
    pub value: Option<f32>,
    pub of: u64,
    pub producer: Producer,
}

/// Who wrote an element last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Producer {
    Inst { op: &'static str, span: Option<Span> },
    Argument,
    Constant,
    Nothing,
}

impl Origin {
    /// The message; `text` is the instruction as IR text, `op` its name, `span` its place.
    pub fn report(&self, op: &str, text: &str, span: Option<Span>) -> Diagnostic {
        let Origin { dst, index, .. } = self;
        let value = shown(self.value);
        let (code, message) = match (self.trap, self.made) {
            (Trap::Nan, _) => (
                "trapped-nan",
                format!("{op} makes NaN out of numbers: element {index:?} of {dst}"),
            ),
            (Trap::Inf, _) => (
                "trapped-infinity",
                format!("{op} makes {value} out of finite numbers: element {index:?} of {dst}"),
            ),
            (Trap::Range, Made::Function(function)) => (
                "trapped-range",
                format!(
                    "an input of `{}` lies outside of {}: element {index:?} of {dst}",
                    function.name(),
                    function.facts().valid
                ),
            ),
            (Trap::Range, Made::Copy | Made::Arithmetic) => (
                "trapped-range",
                format!(
                    "{op} copies a number that {} does not hold: element {index:?} of {dst}",
                    self.dtype.name()
                ),
            ),
        };
        let mut diagnostic = Diagnostic::error(code, message);
        if let Some(span) = span {
            diagnostic = diagnostic.at(span, format!("element {index:?} becomes {value}"));
        }
        for source in &self.sources {
            diagnostic = source.describe(diagnostic, span);
        }
        diagnostic
            .note(format!("in `{text}`, the {} of this run", ordinal(self.number)))
            .help(self.advice())
    }

    fn advice(&self) -> &'static str {
        match (self.trap, self.made) {
            (Trap::Nan, Made::Function(ActFn::Sqrt | ActFn::Rsqrt)) => {
                "a root of a negative number is NaN: clamp the input at 0, or check the sum above it"
            }
            (Trap::Nan, _) => {
                "inf - inf, 0 * inf, 0 / 0 and inf / inf are NaN: find with --trap inf where the infinity comes from, or keep the \
                 divisor from 0"
            }
            (Trap::Inf, Made::Function(ActFn::Exp)) => "subtract the maximum of the row before exp",
            (Trap::Inf, Made::Function(ActFn::Reciprocal | ActFn::Rsqrt)) => "add an epsilon before it",
            (Trap::Inf, Made::Copy) => "scale before narrowing, or keep a wider type",
            (Trap::Inf, _) => "keep the divisor from 0, or scale before the sum or product overflows",
            (Trap::Range, Made::Copy | Made::Arithmetic) => "clamp or scale before narrowing",
            (Trap::Range, Made::Function(_)) => {
                "clamp the input before the function, or scale it into the range"
            }
        }
    }
}

/// The place of an instruction in a run, in words.
fn ordinal(n_before: usize) -> String {
    match n_before {
        0 => "first instruction".to_string(),
        1 => "instruction after one other".to_string(),
        n => format!("instruction after {n} others"),
    }
}

/// A number with all digits: the shortest text of a large f32 has zeros in place of its last ones.
fn shown(value: f32) -> String {
    const EXACT: f32 = 1e15;
    match value.fract() == 0.0 && value != 0.0 && value.abs() < EXACT {
        true => f64::from(value).to_string(),
        false => value.to_string(),
    }
}

impl Source {
    fn describe(&self, diagnostic: Diagnostic, by: Option<Span>) -> Diagnostic {
        let what = match (self.value, self.of) {
            (None, _) => format!("{} = {}", self.operand, self.view),
            (Some(value), 1) => format!(
                "{} = {}, whose element {:?} is {}",
                self.operand,
                self.view,
                self.index,
                shown(value)
            ),
            (Some(value), of) => format!(
                "{} = {}, of which {of} elements are used; {:?} is {}",
                self.operand,
                self.view,
                self.index,
                shown(value)
            ),
        };
        match self.producer {
            Producer::Inst { op, span: Some(span) } if Some(span) != by => diagnostic
                .note(what)
                .because(span, format!("{} comes from this {op}", self.operand)),
            Producer::Inst { op, .. } => {
                diagnostic.note(format!("{what}; an earlier {op} at this place wrote it"))
            }
            Producer::Argument => diagnostic.note(format!("{what}; it is as the argument has it")),
            Producer::Constant => diagnostic.note(format!("{what}; it is a constant")),
            Producer::Nothing => diagnostic.note(format!("{what}; nothing has written it")),
        }
    }
}
