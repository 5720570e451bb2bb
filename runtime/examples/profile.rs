//! Runs a kernel on arrays and reads what came out: values, checks and the modelled time.
//!
//! ```text
//! cargo run -p nk-runtime --example profile
//! ```

use nk_compiler::diagnostic::render;
use nk_compiler::isa::ENGINES;
use nk_compiler::source::Sources;
use nk_compiler::target::TARGETS;
use nk_runtime::Lookout;
use nk_runtime::profile::Profile;
use nk_runtime::session::{Failure, RunOptions, RunOrder, Session, Settings};
use nk_runtime::tensor::Tolerance;
use nk_runtime::{Emulator, Rounding};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut sources = Sources::new();
    match run(&mut sources) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprint!("{}", render(&failure.diagnostics, &sources));
            ExitCode::FAILURE
        }
    }
}

fn run(sources: &mut Sources) -> Result<(), Failure> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/vector_add.nk");
    let settings = Settings {
        target: &TARGETS[0],
        dialect: None,
        params: Vec::new(),
        spill: false,
        reorder: false,
        place_seed: None,
        root: None,
    };
    let session = Session::open(sources, path, settings)?;
    // Arguments as on the command line: generators here, `@x.npy` for a file.
    let args = [
        ("a".to_string(), "f32[256,1024]:arange".to_string()),
        ("b".to_string(), "f32[256,1024]:ones".to_string()),
    ];
    let options = RunOptions {
        lookout: Lookout::default(),
        order: RunOrder::Program,
        emulator: Emulator::Jit,
        rounding: Rounding::Nearest,
        out: None,
        expectations: Vec::new(),
        tolerance: Tolerance {
            rtol: None,
            atol: None,
        },
    };
    for job in session.jobs(Some("vector_add"), &args, &[])? {
        let outcome = session.run(sources, &job, &options)?;
        for result in &outcome.results {
            let first = &result.tensor.to_f64()[..4];
            println!(
                "{} {:?} begins with {first:?}",
                result.name,
                result.tensor.shape()
            );
        }
        let compiled = session.compile(sources, &job, &[])?;
        let profile = Profile::new(&compiled, &TARGETS[0], sources);
        println!("modelled: {} ns", profile.totals.total_ps / 1000);
        for (engine, name) in ENGINES {
            println!(
                "  {name} busy {} ns",
                outcome.modelled.busy_ps[*engine as usize] / 1000
            );
        }
    }
    Ok(())
}
