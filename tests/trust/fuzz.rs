//! Random inputs: whatever comes in, the tool answers with values or messages and never with a panic.
//!
//! Each target runs for `NK_FUZZ_SECONDS` (8 by default) from the seed `NK_FUZZ_SEED` (1 by default), after the inputs in
//! `tests/fuzz/TARGET/`, which are findings of longer runs. An input that fails is written to the target folder of the build
//! and named; move it to `tests/fuzz` when the fault is mended.

mod generate;
mod language;
mod mutate;

use crate::work::{bound, nk, options, root, with_stack};
use generate::Kernel;
use mutate::{Dice, Pool};
use nk_compiler::ast::dump_ast;
use nk_compiler::check::Results;
use nk_compiler::diagnostic::{Report, render};
use nk_compiler::source::Sources;
use nk_compiler::target::TARGETS;
use nk_compiler::{complete, parse, text};
use nk_runtime::Emulator;
use nk_runtime::session::{RunOrder, Session, Settings};
use nk_runtime::tensor::{ArgSpec, parse_arg};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|it| it.parse().ok())
        .unwrap_or(default)
}

/// The files of folders with some ending, sorted, up to a size.
fn pool(folders: &[&str], endings: &[&str], max_bytes: usize) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(root().join(folder)).expect("the folder exists");
        paths.extend(entries.map(|it| it.expect("the folder is readable").path()));
    }
    let has_ending = |it: &PathBuf| {
        it.extension()
            .is_some_and(|it| endings.iter().any(|ending| it == *ending))
    };
    paths.retain(has_ending);
    paths.sort();
    let texts = paths
        .iter()
        .map(|it| std::fs::read(it).expect("test files are readable"));
    texts.filter(|it| it.len() <= max_bytes).collect()
}

/// Runs a target on its known findings and on mutations of a pool, and names the first input that makes it panic.
fn fuzz(target: &'static str, pool: Vec<Vec<u8>>, try_input: fn(&[u8], &Path)) {
    let mutations = Pool::new(pool);
    fuzz_with(target, move |dice| mutations.mutation(dice), try_input);
}

/// [`fuzz`] with inputs that are made in another way.
fn fuzz_with(
    target: &'static str,
    make: impl Fn(&mut Dice) -> Vec<u8> + Send + 'static,
    try_input: fn(&[u8], &Path),
) {
    bound();
    let folder = tempfile::tempdir().expect("a folder for the inputs");
    let check = move |input: &[u8], folder: &Path| {
        let path = folder.to_path_buf();
        let bytes = input.to_vec();
        let outcome = std::panic::catch_unwind(move || try_input(&bytes, &path));
        if outcome.is_err() {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz_{target}"));
            std::fs::write(&path, input).expect("the target folder is writable");
            panic!("{target} panics on {}", path.display());
        }
    };
    with_stack(move || {
        let known = std::fs::read_dir(root().join("tests/fuzz").join(target)).expect("the folder exists");
        for entry in known {
            let path = entry.expect("the folder is readable").path();
            check(
                &std::fs::read(path).expect("findings are readable"),
                folder.path(),
            );
        }
        let mut dice = Dice::new(setting("NK_FUZZ_SEED", 1));
        let end = Instant::now() + Duration::from_secs(setting("NK_FUZZ_SECONDS", 8));
        let mut n_inputs = 0u64;
        while Instant::now() < end {
            let input = make(&mut dice);
            let start = Instant::now();
            check(&input, folder.path());
            let took = start.elapsed();
            if took > Duration::from_secs(60) {
                let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("slow_{target}"));
                std::fs::write(&path, &input).expect("the target folder is writable");
                panic!("{target} takes {took:?} on {}", path.display());
            }
            n_inputs += 1;
        }
        println!("{target}: {n_inputs} inputs");
        assert!(n_inputs > 0, "no input was tried");
    });
}

#[test]
fn lexer_and_parser() {
    let pool = pool(
        &["examples", "tests/syntax", "tests/kernels", "tests/language"],
        &["nk", "py"],
        20_000,
    );
    fuzz("front", pool, |input, _| {
        let mut sources = Sources::new();
        let file = sources.add("input.nk", String::from_utf8_lossy(input).into_owned());
        let (module, errors) = parse::parse(&sources, file);
        dump_ast(&module);
        let messages: Vec<_> = errors.iter().map(Report::report).collect();
        render(&messages, &sources);
        messages.iter().for_each(|it| {
            it.to_json(&sources);
        });
    });
}

#[test]
fn ir_parser_and_later_stages() {
    let pool = pool(
        &[
            "tests/text",
            "tests/verify",
            "tests/run",
            "tests/check",
            "examples/snapshots",
        ],
        &["nir"],
        8_000,
    );
    fuzz("ir", pool, |input, _| {
        let mut sources = Sources::new();
        let file = sources.add("input.nir", String::from_utf8_lossy(input).into_owned());
        let messages = match text::parse(&sources, file) {
            Err(errors) => errors.iter().map(Report::report).collect(),
            Ok(parsed) => {
                let program = &parsed.program;
                let stages = complete(
                    program,
                    parsed.placement,
                    parsed.schedule,
                    Results::Whole,
                    &TARGETS[0],
                );
                stages.err().unwrap_or_default()
            }
        };
        render(&messages, &sources);
    });
}

#[test]
fn specialiser() {
    let pool = pool(
        &[
            "examples",
            "tests/kernels",
            "tests/errors",
            "tests/broken",
            "tests/warnings",
        ],
        &["nk", "py"],
        6_000,
    );
    let mutations = Pool::new(pool);
    // Half of the inputs are kernels with changes, the other half programs that the grammar makes.
    let make = move |dice: &mut Dice| match dice.one_in(2) {
        true => mutations.mutation(dice),
        false => language::program(dice).into_bytes(),
    };
    fuzz_with("kernel", make, |input, folder| {
        let path = folder.join("input.nk");
        std::fs::write(&path, input).expect("the folder is writable");
        let mut sources = Sources::new();
        let name = path.to_str().expect("the path is UTF-8");
        let Ok(session) = Session::open(&mut sources, name, Settings::default()) else {
            return;
        };
        for job in session.jobs(None, &[]).unwrap_or_default() {
            let said = match session.compile(&mut sources, &job, &[]) {
                Ok(compiled) => compiled.warnings,
                Err(failure) => failure.diagnostics,
            };
            render(&said, &sources);
        }
    });
}

#[test]
fn readers_of_tensor_files() {
    let pool = pool(&["tests/data"], &["npy", "npz", "safetensors"], 20_000);
    fuzz("tensor", pool, |input, folder| {
        for ending in ["npy", "npz", "safetensors"] {
            let path = folder.join(format!("input.{ending}"));
            std::fs::write(&path, input).expect("the folder is writable");
            let Ok(ArgSpec::Tensor(source)) = parse_arg(&format!("@{}", path.display())) else {
                continue;
            };
            if let Err(error) = source.load() {
                error.report();
            }
        }
    });
}

/// The bits of every result of a kernel, or what is said about it.
fn bits(path: &Path, emulator: Emulator, order: RunOrder) -> Result<Vec<Vec<u8>>, String> {
    let mut sources = Sources::new();
    let name = path.to_str().expect("the path is UTF-8");
    let outcome = Session::open(&mut sources, name, Settings::default()).and_then(|session| {
        let jobs = session.jobs(None, &[])?;
        session.run(&mut sources, &jobs[0], &options(emulator, order))
    });
    match outcome {
        Ok(outcome) => Ok(outcome
            .results
            .iter()
            .map(|it| it.tensor.bytes().to_vec())
            .collect()),
        Err(failure) => Err(render(&failure.diagnostics, &sources)),
    }
}

/// How emulators, orders and processors disagree about a kernel; `Ok(None)` when it does not compile.
fn disagreement(kernel: &str, folder: &Path, with_levels: bool) -> Result<Option<()>, String> {
    let path = folder.join("kernel.nk");
    std::fs::write(&path, kernel).expect("the folder is writable");
    let Ok(want) = bits(&path, Emulator::Reference, RunOrder::Program) else {
        return Ok(None);
    };
    let others = [
        (Emulator::Jit, RunOrder::Program),
        (Emulator::Jit, RunOrder::Engines),
        (Emulator::Jit, RunOrder::Random { seed: 1 }),
    ];
    for (emulator, order) in others {
        let got = bits(&path, emulator, order)?;
        if got != want {
            return Err(format!("{emulator:?} in order {order:?} gives other bits"));
        }
    }
    if with_levels {
        for level in ["portable", "avx2"] {
            let got = of_level(folder, level)?;
            if got != of_level(folder, "")? {
                return Err(format!("NK_CPU={level} gives other bits"));
            }
        }
    }
    Ok(Some(()))
}

/// The files that the command writes when it is held to a level of the processor.
fn of_level(folder: &Path, level: &str) -> Result<Vec<Vec<u8>>, String> {
    let out = format!("out_{level}");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_nk"))
        .args(["run", "kernel.nk", "--out", &out])
        .current_dir(folder)
        .env("NK_CPU", level)
        .output()
        .expect("the command starts");
    if output.status.code() != Some(0) {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let entries = std::fs::read_dir(folder.join(out)).expect("the folder was made");
    let mut paths: Vec<PathBuf> = entries
        .map(|it| it.expect("the folder is readable").path())
        .collect();
    paths.sort();
    Ok(paths
        .iter()
        .map(|it| std::fs::read(it).expect("results are readable"))
        .collect())
}

/// Legal kernels that no person wrote: both emulators, all orders and all levels give the same bits.
#[test]
fn emulators_orders_and_processors_agree() {
    bound();
    with_stack(|| {
        let folder = tempfile::tempdir().expect("a folder for the kernels");
        let mut dice = Dice::new(setting("NK_FUZZ_SEED", 1));
        let end = Instant::now() + Duration::from_secs(setting("NK_FUZZ_SECONDS", 8));
        let (mut n_kernels, mut n_legal) = (0u32, 0u32);
        while Instant::now() < end || n_kernels == 0 {
            let kernel = Kernel::random(&mut dice);
            let with_levels = n_kernels % 16 == 0;
            match disagreement(&kernel.text(), folder.path(), with_levels) {
                Ok(found) => n_legal += u32::from(found.is_some()),
                Err(_) => {
                    let fails = |it: &Kernel| disagreement(&it.text(), folder.path(), with_levels).is_err();
                    let smallest = kernel.shrunk(fails);
                    let why =
                        disagreement(&smallest.text(), folder.path(), with_levels).expect_err("it fails");
                    panic!("{why}\n{}", smallest.text());
                }
            }
            n_kernels += 1;
        }
        println!("differential: {n_kernels} kernels, {n_legal} legal");
        assert!(
            2 * n_legal >= n_kernels,
            "only {n_legal} of {n_kernels} kernels compile"
        );
    });
    // The command of the levels is the one that users run.
    assert_eq!(nk(Path::new("."), &["--version"]).status.code(), Some(0));
}
