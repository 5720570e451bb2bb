//! Results against what they should be: reference functions of the file, and files.

use super::run::Values;
use super::{Failure, Job, Kind, Session, arguments, files::find_import};
use crate::tensor::{ArgSpec, Check, Source, Tensor, Tolerance, compare, parse_arg, part};
use nk_compiler::diagnostic::{Diagnostic, Report};
use nk_compiler::directive::Expect;
use nk_compiler::source::Sources;
use nk_compiler::specialize::{HostCall, HostValue, ImportRequest, evaluate, parameters};

/// `--expect NAME=PATH`.
#[derive(Clone, Debug)]
pub struct Expectation {
    pub result: String,
    pub path: String,
}

/// One comparison.
#[derive(Clone, Debug)]
pub struct NamedCheck {
    /// The result that was compared.
    pub result: String,
    /// The function or file that it was compared with.
    pub against: String,
    /// What was found, or why nothing could be compared.
    pub check: Result<Check, String>,
}

impl NamedCheck {
    pub fn ok(&self) -> bool {
        self.check.as_ref().is_ok_and(|it| it.ok)
    }
}

/// Values by name.
pub type Named = [(String, Tensor)];

impl Session {
    /// Checks results against a reference function, called with the kernel's arguments. Gives what it printed too.
    pub fn check_function(
        &self,
        sources: &mut Sources,
        job: &Job,
        expect: &Expect,
        tensors: &[Tensor],
        ranks: &[Values],
    ) -> Result<(Vec<NamedCheck>, String), Failure> {
        let Kind::Kernels(module) = &self.kind else {
            return Ok((Vec::new(), String::new()));
        };
        let mut args = arguments::host_values(&job.args, tensors);
        // A parameter that was set for the kernel is the reference's too, if it has one of the name.
        let known = parameters(module, Some(&expect.function), self.file);
        for (name, text) in &self.settings.params {
            args.retain(|it| it.0 != *name);
            if known.iter().any(|it| **it == **name) {
                args.push((name.clone(), HostValue::Literal(text.clone())));
            }
        }
        let loader = |request: &ImportRequest<'_>| find_import(&self.settings, request);
        let target = self.settings.target;
        let call = HostCall {
            function: &expect.function,
            args: &args,
            params: &self.settings.params,
        };
        let evaluated = evaluate(sources, self.file, module, &call, target, &loader);
        let evaluated = evaluated.map_err(Failure::kernel)?;
        let wanted = evaluated.arrays;
        // A reference may also give what becomes of the arguments that the kernel writes.
        let results = |it: &Values| it.results.len();
        let n_results = ranks.first().map_or(0, results);
        let takes_mutated = wanted.len() != n_results;
        let of_rank = |it: &'_ Values| -> Vec<(String, Tensor)> {
            let mutated = it.mutated.iter().filter(|_| takes_mutated);
            it.results.iter().chain(mutated).cloned().collect()
        };
        let got: Vec<Vec<(String, Tensor)>> = ranks.iter().map(of_rank).collect();
        if got.iter().any(|it| it.len() != wanted.len()) {
            let message = format!(
                "`{}` returns {} arrays, but the kernel {n_results}",
                expect.function,
                wanted.len(),
            );
            let diagnostic = Diagnostic::error("wrong-reference", message).at(expect.span, "");
            return Err(Failure::kernel(vec![diagnostic]));
        }
        let tolerance = Tolerance {
            rtol: expect.rtol,
            atol: expect.atol,
        };
        let checks = wanted.iter().enumerate().map(|(idx, want)| NamedCheck {
            result: got[0][idx].0.clone(),
            against: expect.function.clone(),
            check: {
                let tensors: Vec<&Tensor> = got.iter().map(|it| &it[idx].1).collect();
                check_ranks(&tensors, want.shape(), &want.to_vec(), tolerance)
            },
        });
        Ok((checks.collect(), evaluated.printed))
    }
}

/// Checks what the ranks have of one result: each has all of it, or its part along the one axis that is longer in the
/// reference. The first rank that is wrong speaks for all, else the one that is off most.
fn check_ranks(
    got: &[&Tensor],
    shape: &[usize],
    want: &[f64],
    tolerance: Tolerance,
) -> Result<Check, String> {
    let n = got.len();
    let mut worst: Option<Check> = None;
    for (rank, tensor) in got.iter().enumerate() {
        let has = tensor.shape();
        let mut longer = (0..shape.len()).filter(|&it| has.get(it) != Some(&shape[it]));
        let split = match (has.len() == shape.len(), longer.next(), longer.next()) {
            (true, Some(axis), None) if has[axis] * n == shape[axis] => Some(axis),
            _ => None,
        };
        let found = match split {
            Some(axis) => check(tensor, has, &part(want, shape, axis, rank, n), tolerance)?,
            None => check(tensor, shape, want, tolerance)?,
        };
        if !found.ok {
            return Ok(found);
        }
        if worst.as_ref().is_none_or(|it| it.max_abs_err < found.max_abs_err) {
            worst = Some(found);
        }
    }
    worst.ok_or_else(|| "no rank has it".to_string())
}

/// Checks a result against a file.
pub fn check_file(
    expectation: &Expectation,
    values: &[&Named],
    tolerance: Tolerance,
) -> Result<NamedCheck, Failure> {
    let usage = |message: String| Failure::usage(Diagnostic::error("bad-expectation", message));
    let named = |it: &&(String, Tensor)| it.0 == expectation.result;
    let Some((_, got)) = values.iter().copied().flatten().find(named) else {
        return Err(usage(format!(
            "the kernel has no result `{}`",
            expectation.result
        )));
    };
    let path = expectation.path.trim_start_matches('@');
    let source: Source = match parse_arg(&format!("@{path}")) {
        Ok(ArgSpec::Tensor(source)) => source,
        Ok(_) => return Err(usage(format!("`{path}` names no file"))),
        Err(error) => return Err(Failure::usage(error.report())),
    };
    let want = source.load().map_err(|it| Failure::usage(it.report()))?.tensor;
    Ok(NamedCheck {
        result: expectation.result.clone(),
        against: path.to_string(),
        check: check(got, want.shape(), &want.to_f64(), tolerance),
    })
}

fn check(got: &Tensor, shape: &[usize], want: &[f64], tolerance: Tolerance) -> Result<Check, String> {
    if got.shape() != shape {
        return Err(format!(
            "it has the shape {:?}, the reference {shape:?}",
            got.shape()
        ));
    }
    compare(got, want, tolerance).ok_or_else(|| "the reference has another number of elements".to_string())
}
