//! `nk memory`: SBUF and PSUM over the program.

use crate::Exit;
use crate::console::{Console, Format};
use crate::options::{SourceArgs, write_file};
use nk_compiler::source::Sources;
use nk_runtime::draw;
use nk_runtime::occupancy::{self, Occupancy};
use nk_runtime::session::Failure;
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct MemoryArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// Write the picture of the first kernel here.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

pub fn memory(args: &MemoryArgs, console: Console) -> Exit {
    let mut sources = Sources::new();
    match show(args, console, &mut sources) {
        Ok(()) => Exit::Clean,
        Err(failure) => console.failure(&failure, &sources),
    }
}

fn show(args: &MemoryArgs, console: Console, sources: &mut Sources) -> Result<(), Failure> {
    let session = args.source.open(sources)?;
    let target = session.settings().target;
    let mut all = Vec::new();
    for job in args.source.jobs(&session)? {
        let compiled = session.compile(sources, &job, &job.first_program())?;
        console.printed(&compiled.printed);
        console.diagnostics(&compiled.warnings, sources);
        let occupancy = Occupancy::new(&compiled.program, &compiled.placement, target, sources);
        all.push((occupancy, compiled.spilled));
    }
    if let (Some(path), Some((first, _))) = (&args.svg, all.first()) {
        write_file(path, &draw::memory_svg(first))?;
    }
    match console.format {
        Format::Text => {
            let texts: Vec<String> = all.iter().map(|it| occupancy::text(&it.0)).collect();
            console.product(&texts.join("\n"));
            for (occupancy, spilled) in &all {
                console.product(&format!("\n{}: spilled: {spilled}\n", occupancy.kernel));
            }
        }
        Format::Json => {
            let kernels: Vec<_> = all
                .iter()
                .map(|(occupancy, spilled)| {
                    let mut value = occupancy::to_json(occupancy);
                    value["spill_save_bytes"] = json!(spilled.save_bytes);
                    value["spill_reload_bytes"] = json!(spilled.reload_bytes);
                    value["spill_psum_bytes"] = json!(spilled.psum_bytes);
                    value
                })
                .collect();
            console.product(&format!("{}\n", json!({ "kernels": kernels })));
        }
    }
    Ok(())
}
