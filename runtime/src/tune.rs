//! Searching the parameters of a kernel for the least modelled time.
//!
//! Takes a kernel, its arguments and values for some parameters; gives every combination that was tried with its time,
//! SRAM and bottleneck, or why it was skipped. A combination that does not fit is refused by the stage that sees it, and
//! the stages behind are not run. Only `verify` executes anything.

mod axis;
mod plot;
mod record;
mod report;
mod search;

pub use axis::{Axis, axis};
pub use plot::svg;
pub use record::{Record, open};
pub use report::{csv, json, ranked, text};
pub use search::{Strategy, search};

use crate::profile::Profile;
use crate::session::{Failure, Job, RunOptions, Session, Settings};
use crate::summary::Summary;
use nk_compiler::source::Sources;

/// A combination that was tried: for each axis the number of its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub point: Vec<usize>,
    pub verdict: Verdict,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Measured(Summary),
    /// The code and the message of the first error.
    Skipped {
        code: String,
        message: String,
    },
}

/// Every combination of some axes, the last axis fastest.
pub fn grid(axes: &[Axis]) -> Vec<Vec<usize>> {
    let mut points = vec![Vec::new()];
    for axis in axes {
        let longer = points.iter().flat_map(|it: &Vec<usize>| {
            (0..axis.values.len()).map(|value| it.iter().copied().chain([value]).collect())
        });
        points = longer.collect();
    }
    points
}

/// How many combinations there are, as far as a number counts.
pub fn n_points(axes: &[Axis]) -> usize {
    let sizes = axes.iter().map(|it| it.values.len());
    sizes.fold(1, usize::saturating_mul)
}

/// The names and values of a combination.
pub fn params(axes: &[Axis], point: &[usize]) -> Vec<(String, String)> {
    let values = axes.iter().zip(point);
    values
        .map(|(axis, &it)| (axis.name.clone(), axis.values[it].clone()))
        .collect()
}

/// Compiles a job with other parameters and models its time.
pub fn measure(session: &Session, sources: &mut Sources, job: &Job, params: &[(String, String)]) -> Verdict {
    let session = with_params(session, params);
    match session.first_timed(sources, job) {
        Ok((compiled, trace)) => {
            let profile = Profile::of_trace(&compiled, trace, session.settings().target, sources);
            Verdict::Measured(Summary::new(&compiled, &profile))
        }
        Err(failure) => skipped(&failure),
    }
}

/// Runs a job with other parameters; says what is wrong with its values.
pub fn verify(
    session: &Session,
    sources: &mut Sources,
    job: &Job,
    params: &[(String, String)],
) -> Result<(), String> {
    let outcome = with_params(session, params).run(sources, job, &RunOptions::default());
    let outcome = outcome.map_err(|it| match skipped(&it) {
        Verdict::Skipped { code, message } => format!("{code}: {message}"),
        Verdict::Measured(_) => String::new(),
    })?;
    match outcome.checks.iter().find(|it| !it.ok()) {
        Some(check) => Err(crate::report::check_text(check)),
        None if outcome.checks.is_empty() => Err("the kernel has no reference to compare with".to_string()),
        None => Ok(()),
    }
}

fn with_params(session: &Session, params: &[(String, String)]) -> Session {
    let mut all = session.settings().params.clone();
    all.retain(|it| !params.iter().any(|param| param.0 == it.0));
    all.extend_from_slice(params);
    session.with_settings(Settings {
        params: all,
        ..session.settings().clone()
    })
}

fn skipped(failure: &Failure) -> Verdict {
    let error = failure.diagnostics.iter().find(|it| it.is_error());
    Verdict::Skipped {
        code: error.map_or("error", |it| it.code).to_string(),
        message: error.map_or(String::new(), |it| it.message.clone()),
    }
}
