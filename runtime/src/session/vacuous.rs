//! Results that say nothing: all zero, all the same, or NaN.
//!
//! Takes the inputs and results of a run, gives warnings. A result that was compared with what it should be, and is right, is
//! never suspected; nor is a constant result of constant inputs, a NaN that an input already had, or one in a result that holds
//! bytes of another dtype.

use super::NamedCheck;
use super::run::Place;
use crate::tensor::Tensor;
use nk_compiler::diagnostic::Diagnostic;

/// A result with the place where its tensor is made.
pub struct Suspect<'a> {
    pub name: &'a str,
    pub tensor: &'a Tensor,
    pub place: &'a Place,
}

/// The warnings about some results.
pub fn vacuous(inputs: &[Tensor], suspects: &[Suspect], checks: &[NamedCheck]) -> Vec<Diagnostic> {
    let unproven = suspects.iter().filter(|it| {
        let is_right = checks.iter().any(|check| check.result == it.name && check.ok());
        !is_right && it.tensor.dtype().is_float() && it.tensor.count() > 1
    });
    let unproven: Vec<&Suspect> = unproven.collect();
    if unproven.is_empty() {
        return Vec::new();
    }
    let inputs: Vec<Vec<f64>> = inputs.iter().map(Tensor::to_f64).collect();
    let has_nan = inputs.iter().flatten().any(|it| it.is_nan());
    let varies = |values: &Vec<f64>| values.windows(2).any(|it| it[0] != it[1]);
    let vary = inputs.iter().any(varies);
    let warning = |it: &&Suspect| {
        let values = it.tensor.to_f64();
        let n_nan = values.iter().filter(|it| it.is_nan()).count();
        let (code, message, help) = if n_nan > 0 && !has_nan && !it.place.is_mixed {
            let n = values.len();
            (
                "nan-in-result",
                format!(
                    "{n_nan} of {n} elements of the result `{}` are NaN, and no input has one",
                    it.name
                ),
                match it.place.has_dynamic_writes {
                    true => {
                        "some of its writes go where only a run knows: nk run --sanitize tells what was never written, \
                         --trap nan stops at the instruction that makes the first NaN"
                    }
                    false => "nk run --trap nan stops at the instruction that makes the first one",
                },
            )
        } else if n_nan == 0 && vary && !varies(&values) {
            (
                "vacuous-result",
                format!(
                    "every element of the result `{}` is {}, though the inputs vary",
                    it.name, values[0]
                ),
                "a mask, a multiplication by zero, or an input that is never read does this; compare with a reference through \
                 `# nk: expect`",
            )
        } else {
            return None;
        };
        let diagnostic = Diagnostic::warning(code, message).help(help);
        Some(match it.place.span {
            Some(span) => diagnostic.at(span, format!("`{}` is made here", it.name)),
            None => diagnostic,
        })
    };
    unproven.iter().filter_map(warning).collect()
}
