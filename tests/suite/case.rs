//! The files of a folder, opened and run as every test here needs them.

pub use crate::setup::{root, with_stack};
use nk_compiler::diagnostic::{Diagnostic, render};
use nk_compiler::source::Sources;
use nk_runtime::Emulator;
use nk_runtime::session::{Job, RunOptions, RunOrder, Session, Settings};
use std::path::{Path, PathBuf};

/// The files of a folder with an ending, sorted. A folder that has lost its files is no test.
pub fn files(folder: &str, ending: &str, at_least: usize) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the folder exists");
    let paths = entries.map(|it| it.expect("the folder is readable").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|it| it.extension().is_some_and(|it| it == ending))
        .collect();
    paths.sort();
    assert!(
        paths.len() >= at_least,
        "{folder} holds only {} files",
        paths.len()
    );
    paths
}

/// The kernels that show and test what there is.
pub fn kernels() -> Vec<PathBuf> {
    let mut paths = files("examples", "nk", 9);
    paths.extend(files("tests/kernels", "py", 40));
    paths
}

pub fn stem(path: &Path) -> &str {
    path.file_stem()
        .and_then(|it| it.to_str())
        .expect("test files have plain names")
}

pub fn shown(path: &Path) -> &str {
    path.to_str().expect("test paths are UTF-8")
}

/// A file with its runs, or what is wrong with it.
pub fn open(
    sources: &mut Sources,
    path: &Path,
    settings: Settings,
) -> Result<(Session, Vec<Job>), Vec<Diagnostic>> {
    let opened = Session::open(sources, shown(path), settings).and_then(|session| {
        let jobs = session.jobs(None, &[])?;
        Ok((session, jobs))
    });
    opened.map_err(|it| it.diagnostics)
}

/// A file that is right, with its runs.
pub fn opened(sources: &mut Sources, path: &Path, settings: Settings) -> (Session, Vec<Job>) {
    open(sources, path, settings).unwrap_or_else(|it| fail(&it, sources))
}

pub fn fail(diagnostics: &[Diagnostic], sources: &Sources) -> ! {
    panic!("{}", render(diagnostics, sources))
}

pub fn options(emulator: Emulator, order: RunOrder) -> RunOptions {
    RunOptions {
        order,
        emulator,
        ..RunOptions::default()
    }
}

/// Snapshots lie in `tests/snapshots`.
pub fn snapshots() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}
