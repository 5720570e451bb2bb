//! Messages: each at the line that announces it, and as a text in a snapshot.
//!
//! `# error: CODE` and `# warning: CODE` in a file say what is reported at their line, and nothing else is.

use crate::case::{files, open, options, shown, snapshots, stem, with_stack};
use nk_compiler::diagnostic::{Diagnostic, Severity, render};
use nk_compiler::lex;
use nk_compiler::source::Sources;
use nk_compiler::specialize::Dialect;
use nk_runtime::session::{RunOptions, RunOrder, Settings};
use nk_runtime::{Emulator, Lookout, Trap};
use std::path::Path;

/// A line, how bad it is there, and the code.
type Mark = (usize, Severity, String);

/// What was said about a file: its marks, and the text.
type Said = (Vec<Mark>, String);

fn said(path: &Path, diagnostics: &[Diagnostic], sources: &Sources) -> Said {
    let mark = |it: &Diagnostic| {
        let span = it.primary_span().expect("every message has a place");
        let (line, _) = sources.line_column(span.file, span.start);
        (line, it.severity, it.code.to_string())
    };
    // Paths differ between machines; the name of the file does not.
    let text = render(diagnostics, sources).replace(shown(path), stem(path));
    (sorted(diagnostics.iter().map(mark).collect()), text)
}

fn sorted(mut marks: Vec<Mark>) -> Vec<Mark> {
    marks.sort_by(|a, b| (a.0, &a.2).cmp(&(b.0, &b.2)));
    marks
}

/// The marks of a file.
fn announced(path: &Path) -> Vec<Mark> {
    let source = std::fs::read_to_string(path).expect("the test file is readable");
    sorted(lex::expected_diagnostics(&source))
}

/// What is said while the runs of a file are compiled and executed.
fn said_of_run(path: &Path, options: RunOptions) -> Said {
    let path = path.to_path_buf();
    with_stack(move || {
        let mut sources = Sources::new();
        let mut all = Vec::new();
        match open(&mut sources, &path, Settings::default()) {
            Err(diagnostics) => all.extend(diagnostics),
            Ok((session, jobs)) => {
                for job in jobs {
                    match session.run(&mut sources, &job, &options) {
                        Ok(outcome) => all.extend(outcome.warnings),
                        Err(failure) => all.extend(failure.diagnostics),
                    }
                }
            }
        }
        said(&path, &all, &sources)
    })
}

/// Runs a file in several ways; each says what its marks announce, in the same words.
fn check_runs(path: &Path, prefix: &str, ways: impl IntoIterator<Item = RunOptions>) {
    let wanted = announced(path);
    let mut first: Option<String> = None;
    for options in ways {
        let way = format!("by {:?} in {:?}", options.emulator, options.order);
        let (found, text) = said_of_run(path, options);
        assert_eq!(found, wanted, "{path:?} {way}\n{text}");
        let first = first.get_or_insert_with(|| text.clone());
        assert_eq!(text, *first, "{path:?} has other words {way}");
    }
    let text = first.expect("a file is run at least once");
    snapshots().bind(|| insta::assert_snapshot!(format!("{prefix}_{}", stem(path)), text));
}

/// Both emulators, and an order that is not the program's.
fn ways() -> [RunOptions; 3] {
    [
        options(Emulator::Jit, RunOrder::Program),
        options(Emulator::Jit, RunOrder::Random { seed: 1 }),
        options(Emulator::Reference, RunOrder::Program),
    ]
}

/// Everything that is said about a file: while it is parsed, or while its runs are compiled.
fn diagnose(path: &Path, settings: Settings) -> (Vec<Diagnostic>, Sources) {
    let mut sources = Sources::new();
    let (session, jobs) = match open(&mut sources, path, settings) {
        Ok(it) => it,
        Err(diagnostics) => return (diagnostics, sources),
    };
    let mut all = Vec::new();
    for job in jobs {
        match session.compile(&mut sources, &job, &[]) {
            Ok(compiled) => all.extend(compiled.warnings),
            Err(failure) => all.extend(failure.diagnostics),
        }
    }
    (all, sources)
}

/// Broken kernels have all of their errors at their lines; what they are warned about besides is not announced.
#[test]
fn broken_kernels_are_reported_at_their_lines() {
    for path in files("tests/errors", "py", 80) {
        let case = path.clone();
        let (found, text) = with_stack(move || {
            let (diagnostics, sources) = diagnose(&case, Settings::default());
            said(&case, &diagnostics, &sources)
        });
        let errors = |marks: Vec<Mark>| -> Vec<Mark> {
            marks.into_iter().filter(|it| it.1 == Severity::Error).collect()
        };
        let (found, wanted) = (errors(found), errors(announced(&path)));
        assert!(!wanted.is_empty(), "{path:?} announces no error");
        assert_eq!(found, wanted, "{path:?}\n{text}");
        snapshots().bind(|| insta::assert_snapshot!(format!("error_{}", stem(&path)), text));
    }
}

/// What goes wrong when a program runs is reported at its line, by both emulators and in every order.
#[test]
fn faults_are_reported_at_their_lines() {
    for path in files("tests/faults", "py", 10) {
        let is_fault = announced(&path).iter().any(|it| it.1 == Severity::Error);
        assert!(is_fault, "{path:?} announces no error");
        check_runs(&path, "fault", ways());
    }
}

/// What `--trap` and `--sanitize` find, which the first word of a file's name asks for: at its line, by both emulators and in
/// every order. A file without marks runs to its end.
#[test]
fn watched_kernels_stop_where_they_go_wrong() {
    for path in files("tests/watched", "py", 10) {
        let word = stem(&path).split('_').next().unwrap_or_default();
        let lookout = Lookout {
            traps: Trap::from_name(word).into_iter().collect(),
            sanitize: word == "sanitize",
        };
        assert!(!lookout.is_idle(), "{path:?} does not say what to look for");
        let watched = ways().map(|it| RunOptions {
            lookout: lookout.clone(),
            ..it
        });
        check_runs(&path, "watched", watched);
    }
}

/// Kernels that run and are warned about, while they are compiled or by what the emulator saw.
#[test]
fn warnings_stand_at_their_lines() {
    for path in files("tests/warnings", "py", 10) {
        let emulators = [Emulator::Jit, Emulator::Reference];
        let ways = emulators.map(|it| options(it, RunOrder::Program));
        check_runs(&path, "warning", ways);
    }
}

/// What each version of NKI says about the files: the codes at their lines, warnings and errors apart.
#[test]
fn dialects_refuse_what_they_lack() {
    for path in files("tests/dialects", "py", 2) {
        let case = path.clone();
        let shown = with_stack(move || {
            let versions = ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6"].map(Some);
            let mut shown = String::new();
            for version in [None].into_iter().chain(versions) {
                let settings = Settings {
                    dialect: version.map(|it| Dialect::from_name(it).expect("it is a version")),
                    ..Settings::default()
                };
                let (diagnostics, sources) = diagnose(&case, settings);
                let said = diagnostics.iter().filter_map(|it| {
                    let (line, _) =
                        sources.line_column(it.labels.first()?.span.file, it.labels.first()?.span.start);
                    Some(format!("  {line}: {:?} {}: {}\n", it.severity, it.code, it.message).to_lowercase())
                });
                shown += &format!(
                    "{}\n{}",
                    version.unwrap_or("any version"),
                    said.collect::<String>()
                );
            }
            shown
        });
        snapshots().bind(|| insta::assert_snapshot!(format!("dialect_{}", stem(&path)), shown));
    }
}
