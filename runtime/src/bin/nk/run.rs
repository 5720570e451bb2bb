//! `nk run`: emulated values, checks, modelled time.

use crate::Exit;
use crate::console::{Console, Format};
use crate::options::{SourceArgs, amount, pair};
use nk_compiler::source::Sources;
use nk_runtime::report::{run_json, run_text};
use nk_runtime::session::{Expectation, Failure, RunOptions, RunOrder, labels};
use nk_runtime::tensor::Tolerance;
use nk_runtime::{Emulator, Lookout, Rounding, Trap};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// Write each result and each written argument to a file here; of several runs, each to a folder of its own.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Compare a result with a file.
    #[arg(long = "expect", value_name = "NAME=PATH", value_parser = pair)]
    expects: Vec<(String, String)>,
    /// Relative tolerance of --expect; by default that of the result's dtype.
    #[arg(long, value_name = "X", value_parser = amount)]
    rtol: Option<f64>,
    /// Absolute tolerance of --expect; by default rtol times the largest expected value.
    #[arg(long, value_name = "X", value_parser = amount)]
    atol: Option<f64>,
    /// The order of instructions: program, engines (the modelled one) or random:SEED.
    #[arg(long, default_value = "program", value_parser = order)]
    order: RunOrder,
    /// What executes instructions.
    #[arg(long, value_enum, default_value = "jit")]
    emulator: Executor,
    /// Round results to tf32, bf16, f16 and fp8 up or down at random, in proportion to the distance, instead of to nearest.
    #[arg(long, value_name = "SEED")]
    stochastic_rounding: Option<u64>,
    /// Stop at the first instruction that makes a NaN, an infinity, or a number out of range, and say what it is made from.
    #[arg(long = "trap", value_name = "nan|inf|range", value_delimiter = ',', value_parser = trap)]
    traps: Vec<Trap>,
    /// Check reads at run-time addresses against what has been written, and poison SRAM where it is reused.
    #[arg(long)]
    sanitize: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Executor {
    Jit,
    Reference,
}

fn trap(text: &str) -> Result<Trap, String> {
    Trap::from_name(text).ok_or_else(|| "write nan, inf or range".to_string())
}

fn order(text: &str) -> Result<RunOrder, String> {
    match text.split_once(':') {
        None if text == "program" => Ok(RunOrder::Program),
        None if text == "engines" => Ok(RunOrder::Engines),
        Some(("random", seed)) => {
            let seed = seed.parse().map_err(|it| format!("`{seed}` is no seed: {it}"))?;
            Ok(RunOrder::Random { seed })
        }
        _ => Err("write program, engines or random:SEED".to_string()),
    }
}

pub fn run(args: &RunArgs, console: Console) -> Exit {
    let mut sources = Sources::new();
    match run_jobs(args, console, &mut sources) {
        Ok(exit) => exit,
        Err(failure) => console.failure(&failure, &sources),
    }
}

fn run_jobs(args: &RunArgs, console: Console, sources: &mut Sources) -> Result<Exit, Failure> {
    let session = args.source.open(sources)?;
    let target = session.settings().target;
    let expectations = args.expects.iter().cloned();
    let options = RunOptions {
        order: args.order,
        emulator: match args.emulator {
            Executor::Jit => Emulator::Jit,
            Executor::Reference => Emulator::Reference,
        },
        rounding: match args.stochastic_rounding {
            None => Rounding::Nearest,
            Some(seed) => Rounding::Stochastic { seed },
        },
        lookout: Lookout {
            traps: args.traps.clone(),
            sanitize: args.sanitize,
        },
        out: None,
        expectations: expectations
            .map(|(result, path)| Expectation { result, path })
            .collect(),
        tolerance: Tolerance {
            rtol: args.rtol,
            atol: args.atol,
        },
    };
    let mut exit = Exit::Clean;
    let mut objects: Vec<Value> = Vec::new();
    let jobs = args.source.jobs(&session)?;
    for (job, label) in jobs.iter().zip(labels(&jobs)) {
        // Several runs would write over each other's results.
        let folder = |it: &PathBuf| {
            if jobs.len() > 1 {
                it.join(&label)
            } else {
                it.clone()
            }
        };
        let options = RunOptions {
            out: args.out.as_ref().map(folder),
            ..options.clone()
        };
        let outcome = match session.run(sources, job, &options) {
            Ok(outcome) => outcome,
            Err(failure) => {
                exit = console.failure(&failure, sources);
                objects.push(json!({"kernel": job.kernel, "ok": false}));
                continue;
            }
        };
        console.printed(&outcome.printed);
        console.diagnostics(&outcome.warnings, sources);
        match console.format {
            Format::Text => console.product(&run_text(&outcome, target)),
            Format::Json => objects.push(run_json(&outcome)),
        }
        if !outcome.ok() && exit == Exit::Clean {
            exit = Exit::Wrong;
        }
    }
    if console.format == Format::Json {
        // One kernel is one object; the runs of a file with several directives stand in a list.
        let object = match <[Value; 1]>::try_from(objects) {
            Ok([object]) => object,
            Err(objects) => json!({"ok": exit == Exit::Clean, "runs": objects}),
        };
        console.product(&format!("{object}\n"));
    }
    Ok(exit)
}
