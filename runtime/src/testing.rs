//! Kernel files as tests: what `nk test` and this repository's own suite do with directives.
//!
//! Takes paths, gives a result for every `# nk: run` and every file that announces errors: values against their
//! references, faults and diagnostics at the lines that name them, IR against snapshots beside the file. Prints nothing.

use crate::output;
use crate::report::check_text;
use crate::session::{Failure, Job, RunOptions, RunOrder, Session, Settings};
use crate::tensor::Tolerance;
use crate::{Emulator, Rounding, clif};
use nk_compiler::Compiled;
use nk_compiler::diagnostic::{Diagnostic, Severity, render};
use nk_compiler::directive;
use nk_compiler::lex::expected_diagnostics;
use nk_compiler::source::Sources;
use nk_compiler::target::Target;
use nk_compiler::text::{self, PrintOptions};
use similar::TextDiff;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The result of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub name: String,
    pub verdict: Verdict,
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

/// The kernel files below paths, sorted: `.nk`, and `.py` with directives or announced errors.
pub fn find(paths: &[PathBuf]) -> std::io::Result<Vec<PathBuf>> {
    let mut found = BTreeSet::new();
    for path in paths {
        collect(path, true, &mut found)?;
    }
    Ok(found.into_iter().collect())
}

fn collect(path: &Path, is_named: bool, found: &mut BTreeSet<PathBuf>) -> std::io::Result<()> {
    if std::fs::metadata(path)?.is_dir() {
        for entry in std::fs::read_dir(path)? {
            let entry = entry?.path();
            let is_hidden = entry
                .file_name()
                .is_some_and(|it| it.to_string_lossy().starts_with('.') || it == "target");
            if !is_hidden {
                collect(&entry, false, found)?;
            }
        }
        return Ok(());
    }
    let is_test = match path.extension().and_then(|it| it.to_str()) {
        Some("nk") => true,
        Some("py") => is_named || has_directives(&std::fs::read_to_string(path).unwrap_or_default()),
        _ => is_named,
    };
    if is_test {
        found.insert(path.to_path_buf());
    }
    Ok(())
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
    let jobs = Session::open(&mut sources, &shown, settings.clone()).and_then(|it| it.jobs(None, &[], &[]));
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
    let kernel = |it: &Job| it.kernel.clone().unwrap_or_else(|| "kernel".to_string());
    let mut names = Vec::new();
    for (idx, job) in jobs.iter().enumerate() {
        let before = jobs[..idx].iter().filter(|it| it.kernel == job.kernel).count();
        let number = if before > 0 {
            format!(".{}", before + 1)
        } else {
            String::new()
        };
        names.push(format!("{path}::{}{number}", kernel(job)));
    }
    names
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
    let whole = |verdict| {
        vec![Case {
            name: shown.clone(),
            verdict,
        }]
    };
    let source = match std::fs::read_to_string(path) {
        Ok(it) => it,
        Err(error) => return whole(Verdict::Failed(format!("{shown}: {error}"))),
    };
    if announces_errors(&source) {
        return if wanted(&shown) {
            whole(announced(&shown, &source, settings, &mut sources))
        } else {
            Vec::new()
        };
    }
    let session = Session::open(&mut sources, &shown, settings.clone());
    let jobs = session.and_then(|session| {
        let jobs = session.jobs(None, &[], &[])?;
        Ok((session, jobs))
    });
    let (session, jobs) = match jobs {
        Ok(it) => it,
        Err(failure) => return whole(Verdict::Failed(render(&failure.diagnostics, &sources))),
    };
    let stages: Vec<Vec<String>> = session
        .module()
        .and_then(|module| directive::runs(module).ok())
        .map(|runs| runs.into_iter().map(|it| it.snapshots).collect())
        .unwrap_or_default();
    let store = Store::new(path);
    let mut cases = Vec::new();
    let mut used = BTreeSet::new();
    for ((idx, job), name) in jobs.iter().enumerate().zip(names(&shown, &jobs)) {
        let stages = stages.get(idx).map_or(&[][..], |it| it);
        let label = name.rsplit("::").next().unwrap_or(&name).to_string();
        used.extend(stages.iter().map(|stage| store.file(&label, stage)));
        if wanted(&name) {
            let verdict = run_job(
                &session,
                &mut sources,
                job,
                settings,
                stages,
                &store,
                &label,
                snapshots,
            );
            cases.push(Case { name, verdict });
        }
    }
    if snapshots == Snapshots::Strict {
        let unused = store.files().into_iter().filter(|it| !used.contains(it));
        cases.extend(unused.map(|it| Case {
            name: it.display().to_string(),
            verdict: Verdict::Failed("no directive names this snapshot".to_string()),
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
        writeln!(text, "{path}:{line}: `{code}` is announced and not reported")
            .expect("a string takes any text");
    }
    for (line, code) in errors.iter().filter(|it| !wanted.contains(it)) {
        writeln!(text, "{path}:{line}: `{code}` is reported and not announced")
            .expect("a string takes any text");
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
    let jobs = match session.jobs(None, &[], &[]) {
        Ok(it) => it,
        Err(failure) => return failure.diagnostics,
    };
    let mut all = Vec::new();
    for job in jobs {
        match session.run(sources, &job, &options()) {
            Ok(outcome) => all.extend(outcome.warnings),
            Err(failure) => all.extend(failure.diagnostics),
        }
    }
    all
}

fn options() -> RunOptions {
    RunOptions {
        order: RunOrder::Program,
        emulator: Emulator::Jit,
        rounding: Rounding::Nearest,
        lookout: crate::Lookout::default(),
        out: None,
        expectations: Vec::new(),
        tolerance: Tolerance {
            rtol: None,
            atol: None,
        },
    }
}

#[expect(clippy::too_many_arguments, reason = "one call, of what one test needs")]
fn run_job(
    session: &Session,
    sources: &mut Sources,
    job: &Job,
    settings: &Settings,
    stages: &[String],
    store: &Store,
    label: &str,
    snapshots: Snapshots,
) -> Verdict {
    let failed =
        |failure: &Failure, sources: &Sources| Verdict::Failed(render(&failure.diagnostics, sources));
    let outcome = match session.run(sources, job, &options()) {
        Ok(it) => it,
        Err(failure) => return failed(&failure, sources),
    };
    let mut text = String::new();
    for check in outcome.checks.iter().filter(|it| !it.ok()) {
        writeln!(text, "{}", check_text(check)).expect("a string takes any text");
    }
    let mut accepted = false;
    if !stages.is_empty() {
        let compiled = match session.compile(sources, job, &[]) {
            Ok(it) => it,
            Err(failure) => return failed(&failure, sources),
        };
        for stage in stages {
            let found = stage_text(&compiled, stage, settings.target);
            match store.compare(label, stage, &found, snapshots) {
                Ok(wrote) => accepted |= wrote,
                Err(it) => text.push_str(&it),
            }
        }
    }
    match (text.is_empty(), accepted) {
        (false, _) => Verdict::Failed(text),
        (true, true) => Verdict::Accepted,
        (true, false) => Verdict::Ok,
    }
}

/// A compiled kernel at a stage: `program`, `placement`, `schedule` or `clif`.
pub fn stage_text(compiled: &Compiled, stage: &str, target: &'static Target) -> String {
    let Compiled {
        program,
        placement,
        first_writes,
        schedule,
        ..
    } = compiled;
    match stage {
        "clif" => clif(program, placement, first_writes, target),
        "program" => text::print(program, None, None, PrintOptions::default()),
        "placement" => text::print(program, Some(placement), None, PrintOptions::default()),
        _ => text::print(program, Some(placement), Some(schedule), PrintOptions::default()),
    }
}

/// The snapshots of one file, in the folder `snapshots` beside it.
struct Store {
    folder: PathBuf,
    stem: String,
}

impl Store {
    fn new(path: &Path) -> Store {
        let stem = path
            .file_stem()
            .map_or(String::new(), |it| it.to_string_lossy().into_owned());
        Store {
            folder: path.parent().unwrap_or(Path::new("")).join("snapshots"),
            stem,
        }
    }

    fn file(&self, label: &str, stage: &str) -> PathBuf {
        // Cranelift's IR has an ending of its own; the other stages are `.nir` text.
        let ending = if stage == "clif" { "" } else { ".nir" };
        self.folder.join(format!("{}.{label}.{stage}{ending}", self.stem))
    }

    fn files(&self) -> Vec<PathBuf> {
        let prefix = format!("{}.", self.stem);
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries
            .filter(|it| it.file_name().to_string_lossy().starts_with(&prefix))
            .map(|it| it.path())
            .collect();
        files.sort();
        files
    }

    /// Compares a text with its snapshot; writes it when that is asked for, and says so.
    fn compare(&self, label: &str, stage: &str, found: &str, snapshots: Snapshots) -> Result<bool, String> {
        let path = self.file(label, stage);
        let known = std::fs::read_to_string(&path).ok();
        if known.as_deref() == Some(found) {
            return Ok(false);
        }
        if snapshots == Snapshots::Accept {
            let written = std::fs::create_dir_all(&self.folder).and_then(|()| output::write(&path, found));
            return match written {
                Ok(()) => Ok(true),
                Err(error) => Err(format!("{}: {error}\n", path.display())),
            };
        }
        let Some(known) = known else {
            return Err(format!(
                "{}: there is no such snapshot; `--accept` writes it\n",
                path.display()
            ));
        };
        let diff = TextDiff::from_lines(known.as_str(), found);
        let diff = diff
            .unified_diff()
            .header(&path.display().to_string(), "found")
            .to_string();
        Err(format!("{diff}`--accept` writes what was found\n"))
    }
}
