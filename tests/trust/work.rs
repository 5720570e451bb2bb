//! Runs of the library and of the command, as every test of this folder needs them.

pub use crate::setup::{root, with_stack};
use nk_compiler::diagnostic::{Diagnostic, render};
use nk_compiler::limits;
use nk_compiler::source::Sources;
use nk_runtime::Emulator;
use nk_runtime::session::{RunOptions, RunOrder, Session, Settings};
use std::path::Path;
use std::process::{Command, Output};

/// Small bounds for the whole process: what would take minutes is a message.
pub fn bound() {
    let small = [
        ("steps", 300_000),
        ("iterations", 20_000),
        ("instructions", 20_000),
        ("array-elements", 1 << 22),
        ("list-items", 200_000),
    ];
    let limits = small
        .iter()
        .try_fold(limits::DEFAULT, |limits, (name, value)| limits.with(name, *value));
    limits::set(limits.expect("the names are known"));
}

pub fn options(emulator: Emulator, order: RunOrder) -> RunOptions {
    RunOptions {
        order,
        emulator,
        ..RunOptions::default()
    }
}

/// What is said about a file when it is opened, compiled and run, and the same as text.
pub fn said_about(path: &Path, shown: &str) -> (Vec<Diagnostic>, String) {
    bound();
    let (path, shown) = (path.to_path_buf(), shown.to_string());
    with_stack(move || {
        let mut sources = Sources::new();
        let name = path.to_str().expect("test paths are UTF-8");
        let mut said = Vec::new();
        let session = Session::open(&mut sources, name, Settings::default());
        let jobs = session.and_then(|session| Ok((session.jobs(None, &[])?, session)));
        match jobs {
            Err(failure) => said.extend(failure.diagnostics),
            Ok((jobs, session)) => {
                for job in jobs {
                    match session.run(&mut sources, &job, &options(Emulator::Jit, RunOrder::Program)) {
                        Ok(outcome) => said.extend(outcome.warnings),
                        Err(failure) => said.extend(failure.diagnostics),
                    }
                }
            }
        }
        let text = render(&said, &sources).replace(name, &shown);
        (said, text)
    })
}

/// The command in a folder.
pub fn nk(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nk"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the command starts")
}

/// Snapshots lie in `tests/snapshots`.
pub fn snapshots() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}
