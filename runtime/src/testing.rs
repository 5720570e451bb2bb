//! Kernel files as tests: what `nk test` and this repository's own suite do with directives.
//!
//! Takes paths, gives a result for every `# nk: run` and every file that announces errors: values against their
//! references, faults and diagnostics at the lines that name them, IR against snapshots beside the file. Prints nothing.

use crate::append::line;
use crate::report::check_text;
use crate::session::{Failure, Job, RunOptions, Session, Settings, labels};
use crate::stage::{Stage, stage_text};
use nk_compiler::diagnostic::{Diagnostic, Severity, render};
use nk_compiler::directive::{self, Run};
use nk_compiler::lex::expected_diagnostics;
use nk_compiler::source::Sources;
use nk_compiler::text::PrintOptions;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

mod snapshot;

pub use snapshot::{Pending, diff_text, orphans};

use snapshot::{Store, header, redacted};

/// The result of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub name: String,
    pub verdict: Verdict,
    /// Snapshots that differ from what was found, or are missing.
    pub pending: Vec<Pending>,
    /// Whether nothing but snapshots can be wrong.
    pub is_value_right: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ok,
    /// A snapshot was written because it was asked for.
    Accepted,
    Failed(String),
}

/// What to do with snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snapshots {
    /// Differences and missing snapshots fail.
    Compare,
    /// And so do snapshots that no directive names.
    Strict,
    /// Differences are written.
    Accept,
}

/// The kernel files below paths, sorted: `.nk`, and `.py` with directives or announced errors. Links below a path that lead
/// to folders, or nowhere, are not followed.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut found = BTreeSet::new();
    for path in paths {
        let metadata = std::fs::metadata(path).map_err(|it| format!("{}: {it}", path.display()))?;
        if metadata.is_dir() {
            collect(path, &mut found)?;
        } else {
            found.insert(path.clone());
        }
    }
    Ok(found.into_iter().collect())
}

fn collect(folder: &Path, found: &mut BTreeSet<PathBuf>) -> Result<(), String> {
    let unreadable = |it: std::io::Error| format!("{}: {it}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, name) = (entry.path(), entry.file_name());
        if name.to_string_lossy().starts_with('.') || name == "target" {
            continue;
        }
        if entry.file_type().map_err(unreadable)?.is_dir() {
            collect(&path, found)?;
        } else if path.is_file() && is_test(&path) {
            found.insert(path);
        }
    }
    Ok(())
}

fn is_test(path: &Path) -> bool {
    match path.extension().and_then(|it| it.to_str()) {
        Some("nk") => true,
        Some("py") => has_directives(&std::fs::read_to_string(path).unwrap_or_default()),
        _ => false,
    }
}

fn has_directives(source: &str) -> bool {
    source.contains("# nk:") || !expected_diagnostics(source).is_empty()
}

/// The names of a file's tests, without running them.
pub fn list(path: &Path, settings: &Settings) -> Vec<String> {
    let mut sources = Sources::new();
    let shown = path.display().to_string();
    let source = std::fs::read_to_string(path).unwrap_or_default();
    if announces_errors(&source) {
        return vec![shown];
    }
    let jobs = Session::open(&mut sources, &shown, settings.clone()).and_then(|it| it.jobs(None, &[]));
    match jobs {
        Ok(jobs) => names(&shown, &jobs),
        Err(_) => vec![shown],
    }
}

fn announces_errors(source: &str) -> bool {
    expected_diagnostics(source)
        .iter()
        .any(|it| it.1 == Severity::Error)
}

/// `path::kernel`, with a number when a kernel runs several times.
fn names(path: &str, jobs: &[Job]) -> Vec<String> {
    let labels = labels(jobs).into_iter();
    labels.map(|it| format!("{path}::{it}")).collect()
}

/// Runs the tests of a file.
pub fn run(
    path: &Path,
    settings: &Settings,
    snapshots: Snapshots,
    wanted: impl Fn(&str) -> bool,
) -> Vec<Case> {
    let mut sources = Sources::new();
    let shown = path.display().to_string();
    // The whole file as one test, under its name.
    let whole = |verdict: Verdict| {
        let case = Case {
            name: shown.clone(),
            verdict,
            pending: Vec::new(),
            is_value_right: false,
        };
        Some(case).filter(|it| wanted(&it.name)).into_iter().collect()
    };
    let source = match std::fs::read_to_string(path) {
        Ok(it) => it,
        Err(error) => return whole(Verdict::Failed(format!("{shown}: {error}\n"))),
    };
    if announces_errors(&source) {
        if !wanted(&shown) {
            return Vec::new();
        }
        return whole(announced(&shown, &source, settings, &mut sources));
    }
    let session = Session::open(&mut sources, &shown, settings.clone());
    let jobs = session.and_then(|session| {
        let jobs = session.jobs(None, &[])?;
        Ok((session, jobs))
    });
    let (session, jobs) = match jobs {
        Ok(it) => it,
        Err(failure) => return whole(Verdict::Failed(render(&failure.diagnostics, &sources))),
    };
    let runs = session
        .module()
        .and_then(|module| directive::runs(module).ok())
        .unwrap_or_default();
    let store = Store::new(path);
    let mut cases = Vec::new();
    let mut used = BTreeSet::new();
    for ((idx, job), name) in jobs.iter().enumerate().zip(names(&shown, &jobs)) {
        let run = runs.get(idx);
        let label = name.rsplit("::").next().unwrap_or(&name).to_string();
        let stages = run.map_or(&[][..], |it| &it.snapshots);
        used.extend(stages.iter().map(|stage| store.file(&label, stage)));
        if wanted(&name) {
            let (text, pending) = match run_job(&session, &mut sources, job, run, &store, &label) {
                Ok(it) => it,
                Err(failure) => (render(&failure.diagnostics, &sources), Vec::new()),
            };
            let is_value_right = text.is_empty();
            let (verdict, pending) = settled(text, pending, snapshots);
            cases.push(Case {
                name,
                verdict,
                pending,
                is_value_right,
            });
        }
    }
    if snapshots == Snapshots::Strict {
        let unused = store.files().into_iter().filter(|it| !used.contains(it));
        cases.extend(unused.map(|it| Case {
            name: it.display().to_string(),
            verdict: Verdict::Failed("no directive names this snapshot\n".to_string()),
            pending: Vec::new(),
            is_value_right: false,
        }));
    }
    cases
}

/// Whether a file reports exactly the errors that its lines announce: when it is parsed, compiled or run.
fn announced(path: &str, source: &str, settings: &Settings, sources: &mut Sources) -> Verdict {
    let found = diagnostics(path, settings, sources);
    let line = |it: &Diagnostic| {
        let span = it.primary_span();
        span.map_or(0, |span| sources.line_column(span.file, span.start).0)
    };
    let mut errors: Vec<(usize, String)> = found
        .iter()
        .filter(|it| it.severity == Severity::Error)
        .map(|it| (line(it), it.code.to_string()))
        .collect();
    let mut wanted: Vec<(usize, String)> = expected_diagnostics(source)
        .into_iter()
        .filter(|it| it.1 == Severity::Error)
        .map(|it| (it.0, it.2))
        .collect();
    errors.sort();
    wanted.sort();
    if errors == wanted {
        return Verdict::Ok;
    }
    let mut text = String::new();
    for (line, code) in wanted.iter().filter(|it| !errors.contains(it)) {
        line!(text, "{path}:{line}: `{code}` is announced and not reported");
    }
    for (line, code) in errors.iter().filter(|it| !wanted.contains(it)) {
        line!(text, "{path}:{line}: `{code}` is reported and not announced");
    }
    text.push_str(&render(&found, sources));
    Verdict::Failed(text)
}

/// Everything that is said about a file.
fn diagnostics(path: &str, settings: &Settings, sources: &mut Sources) -> Vec<Diagnostic> {
    let session = match Session::open(sources, path, settings.clone()) {
        Ok(it) => it,
        Err(failure) => return failure.diagnostics,
    };
    let jobs = match session.jobs(None, &[]) {
        Ok(it) => it,
        Err(failure) => return failure.diagnostics,
    };
    let mut all = Vec::new();
    for job in jobs {
        match session.run(sources, &job, &RunOptions::default()) {
            Ok(outcome) => all.extend(outcome.warnings),
            Err(failure) => all.extend(failure.diagnostics),
        }
    }
    all
}

/// Runs a job: what is wrong with its values, and the snapshots that are not as they should be.
fn run_job(
    session: &Session,
    sources: &mut Sources,
    job: &Job,
    run: Option<&Run>,
    store: &Store,
    label: &str,
) -> Result<(String, Vec<Pending>), Failure> {
    let outcome = session.run(sources, job, &RunOptions::default())?;
    let wrong = outcome.checks.iter().filter(|it| !it.ok());
    let text: String = wrong.map(|it| check_text(it) + "\n").collect();
    let Some(run) = run.filter(|it| !it.snapshots.is_empty()) else {
        return Ok((text, Vec::new()));
    };
    let compiled = session.compile(sources, job, &[])?;
    let head = header(sources.slice(run.span));
    let found = run.snapshots.iter().map(|name| {
        let stage = Stage::from_name(name).expect("directives name stages that there are");
        let ir = stage_text(
            &compiled,
            stage,
            session.settings().target,
            PrintOptions::default(),
        );
        store.compare(label, name, format!("{head}{}", redacted(&ir, &run.redactions)))
    });
    Ok((text, found.flatten().collect()))
}

/// What becomes of snapshots that are not as they should be.
fn settled(mut text: String, pending: Vec<Pending>, snapshots: Snapshots) -> (Verdict, Vec<Pending>) {
    if pending.is_empty() {
        return (
            if text.is_empty() {
                Verdict::Ok
            } else {
                Verdict::Failed(text)
            },
            pending,
        );
    }
    if snapshots != Snapshots::Accept {
        pending.iter().for_each(|it| text.push_str(&diff_text(it)));
        return (Verdict::Failed(text), pending);
    }
    for it in &pending {
        if let Err(error) = it.accept() {
            text.push_str(&format!("{}: {error}\n", it.path.display()));
        }
    }
    (
        if text.is_empty() {
            Verdict::Accepted
        } else {
            Verdict::Failed(text)
        },
        Vec::new(),
    )
}
