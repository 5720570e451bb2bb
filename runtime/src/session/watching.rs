//! What `--trap` and `--sanitize` have to say besides the fault that stops a run.
//!
//! Takes arguments and the state of a watch, gives warnings.

use super::arguments::tensor_names;
use crate::tensor::{ArgSpec, Tensor};
use crate::watch::{Lookout, Trap, Watch};
use nk_compiler::diagnostic::Diagnostic;
use nk_compiler::ir::Program;

/// Arguments that already hold what a trap looks for: whatever they are copied to has it too, and no instruction makes it.
pub fn given(args: &[(String, ArgSpec)], tensors: &[Tensor], lookout: &Lookout) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for (name, tensor) in tensor_names(args).iter().zip(tensors) {
        let values = tensor.to_f64();
        for (trap, noun, is_one) in [
            (Trap::Nan, "NaN", f64::is_nan as fn(f64) -> bool),
            (Trap::Inf, "an infinity", f64::is_infinite),
        ] {
            let n = values.iter().filter(|it| is_one(**it)).count();
            if lookout.traps.contains(&trap) && n > 0 {
                let message = format!(
                    "{n} of {} elements of the argument `{name}` are {noun}",
                    values.len()
                );
                warnings.push(
                    Diagnostic::warning("not-finite-argument", message)
                        .note("what is only passed on is not trapped, and may hide what the kernel makes"),
                );
            }
        }
    }
    warnings
}

/// Results, by name, with elements that the run has not written through addresses that only the run knows.
pub fn unwritten_now(program: &Program, watch: &Watch) -> Vec<(String, Diagnostic)> {
    let unset = program
        .results
        .iter()
        .filter_map(|it| Some((it, watch.unset(it.buffer)?)));
    unset
        .map(|(result, unset)| {
            let name = &result.name;
            let message = format!(
                "{} of {} elements of the result `{name}` were not written in this run; the first is {name}{:?}",
                unset.count, unset.of, unset.first
            );
            let diagnostic = Diagnostic::warning("output-not-written", message)
                .help("write the rest first, for example zeros, or bound the indices so that they reach every row");
            let diagnostic = match program.span(program[result.buffer].loc) {
                Some(span) => diagnostic.at(span, "the result is made here"),
                None => diagnostic,
            };
            (name.clone(), diagnostic)
        })
        .collect()
}
