//! Inputs outside of the range that a function's tables cover on the hardware: one warning a line of the kernel.
//!
//! Takes what the emulator counted, gives warnings. Values are not changed: the emulator computes such inputs too.

use nk_compiler::diagnostic::Diagnostic;
use nk_compiler::ir::{InstId, Program};
use nk_compiler::isa::{ActFn, Arg};
use nk_compiler::source::Span;

/// What the programs of a run found.
#[derive(Debug, Default)]
pub struct OutOfRange {
    lines: Vec<Line>,
}

/// One function at one place of the kernel.
#[derive(Debug)]
struct Line {
    span: Option<Span>,
    function: ActFn,
    n_insts: u64,
    n_inputs: u64,
}

impl OutOfRange {
    /// Adds the counts of one program's instructions.
    pub fn add(&mut self, program: &Program, found: &[(InstId, u64)]) {
        for &(id, n_inputs) in found {
            let inst = &program[id];
            let span = program.span(inst.loc);
            let function = inst.args.iter().find_map(|it| match it {
                Arg::Act(function) => Some(*function),
                _ => None,
            });
            let function = function.expect("only instructions with a function count");
            let known = self
                .lines
                .iter_mut()
                .find(|it| it.span == span && it.function == function);
            match known {
                Some(line) => {
                    line.n_insts += 1;
                    line.n_inputs += n_inputs;
                }
                None => self.lines.push(Line {
                    span,
                    function,
                    n_insts: 1,
                    n_inputs,
                }),
            }
        }
    }

    /// The warnings, in the order in which the lines were found.
    pub fn reports(&self) -> Vec<Diagnostic> {
        self.lines.iter().map(report).collect()
    }
}

fn report(line: &Line) -> Diagnostic {
    let (function, inputs) = (line.function.name(), counted(line.n_inputs, "input"));
    let valid = &line.function.facts().valid;
    let lie = if line.n_inputs == 1 { "lies" } else { "lie" };
    let message = format!("{inputs} of `{function}` {lie} outside of {valid}");
    let diagnostic = Diagnostic::warning("input-out-of-range", message)
        .note("the Scalar engine's tables end there: the values here are exact, those of the hardware are not defined");
    let diagnostic = match line.span {
        Some(span) => diagnostic.at(span, format!("in {}", counted(line.n_insts, "instruction"))),
        None => diagnostic,
    };
    match line.function {
        ActFn::Sin => diagnostic.help("subtract multiples of 2 pi before"),
        ActFn::Reciprocal => {
            diagnostic.help("use nisa.reciprocal, which the Vector engine rounds correctly for every number")
        }
        ActFn::Rsqrt | ActFn::Sqrt => {
            diagnostic.help("add an epsilon, or use the power or rsqrt of nisa.tensor_scalar")
        }
        _ => diagnostic.help("clamp the input with nisa.tensor_scalar (op0=nl.maximum) before"),
    }
}

/// A number and its noun.
fn counted(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{plural}")
}
