//! `nk diff`: what a change of a kernel did to its IR.

use crate::Exit;
use crate::console::{Console, Format};
use crate::options::{SourceArgs, usage};
use nk_compiler::source::Sources;
use nk_runtime::difference::{Side, difference};
use nk_runtime::session::Failure;
use nk_runtime::stage::Stage;
use serde_json::json;

#[derive(clap::Args)]
pub struct DiffArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// The kernel to compare it with; arguments and options are for both.
    #[arg(value_name = "FILE[::KERNEL]")]
    other: String,
    /// The stage that is compared.
    #[arg(long, value_enum, default_value = "program")]
    emit: Emit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Emit {
    Program,
    Placement,
    Schedule,
}

pub fn diff(args: &DiffArgs, console: Console) -> Exit {
    let mut sources = Sources::new();
    match show(args, console, &mut sources) {
        Ok(exit) => exit,
        Err(failure) => console.failure(&failure, &sources),
    }
}

/// Like diff's, the exit code says whether there is a difference.
fn show(args: &DiffArgs, console: Console, sources: &mut Sources) -> Result<Exit, Failure> {
    let before = sides(&args.source, args.emit, sources)?;
    let other = args.source.of_file(&args.other);
    let after = sides(&other, args.emit, sources)?;
    if before.len() != after.len() {
        let message = format!(
            "{} runs are announced in one file and {} in the other",
            before.len(),
            after.len()
        );
        let failure = usage("different-runs", message);
        return Err(failure);
    }
    let texts: Vec<String> = before.iter().zip(&after).map(|(a, b)| difference(a, b)).collect();
    let texts: Vec<String> = texts.into_iter().filter(|it| !it.is_empty()).collect();
    match console.format {
        Format::Text => console.product(&texts.join("\n")),
        Format::Json => console.product(&format!(
            "{}\n",
            json!({"same": texts.is_empty(), "text": texts.join("\n")})
        )),
    }
    Ok(if texts.is_empty() {
        Exit::Clean
    } else {
        Exit::Wrong
    })
}

fn sides(source: &SourceArgs, emit: Emit, sources: &mut Sources) -> Result<Vec<Side>, Failure> {
    let stage = match emit {
        Emit::Program => Stage::Program,
        Emit::Placement => Stage::Placement,
        Emit::Schedule => Stage::Schedule,
    };
    let session = source.open(sources)?;
    let mut sides = Vec::new();
    for job in source.jobs(&session)? {
        let compiled = session.compile(sources, &job, &job.first_program())?;
        sides.push(Side::new(&compiled, stage, sources, session.file()));
    }
    Ok(sides)
}
