//! `nk check`: all stages of the compiler, no execution.

use crate::Exit;
use crate::console::{Console, Format};
use crate::options::SourceArgs;
use nk_compiler::source::Sources;
use nk_compiler::spill::Spilled;
use nk_runtime::session::{Failure, programs};
use serde_json::json;

#[derive(clap::Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub source: SourceArgs,
}

pub fn check(args: &CheckArgs, console: Console) -> Exit {
    let mut sources = Sources::new();
    match check_jobs(args, console, &mut sources) {
        Ok(exit) => exit,
        Err(failure) => console.failure(&failure, &sources),
    }
}

fn check_jobs(args: &CheckArgs, console: Console, sources: &mut Sources) -> Result<Exit, Failure> {
    let session = args.source.open(sources)?;
    let mut exit = Exit::Clean;
    let mut lines = String::new();
    let mut kernels = Vec::new();
    for job in args.source.jobs(&session)? {
        for program_id in programs(&job.grid) {
            let compiled = match session.compile(sources, &job, &program_id) {
                Ok(compiled) => compiled,
                Err(failure) => {
                    exit = console.failure(&failure, sources);
                    kernels.push(json!({"kernel": job.kernel, "ok": false}));
                    continue;
                }
            };
            console.printed(&compiled.printed);
            console.diagnostics(&compiled.warnings, sources);
            let name = &compiled.program.name;
            let n_insts = compiled.program.insts.len();
            let spilled = compiled.spilled;
            lines.push_str(&format!("{name}: ok, {n_insts} instructions"));
            if spilled != Spilled::default() {
                lines.push_str(&format!(", spilled: {spilled}"));
            }
            lines.push('\n');
            kernels.push(json!({
                "kernel": name,
                "ok": true,
                "instructions": n_insts,
                "spill_save_bytes": spilled.save_bytes,
                "spill_reload_bytes": spilled.reload_bytes,
                "spill_psum_bytes": spilled.psum_bytes,
            }));
        }
    }
    match console.format {
        Format::Text => console.product(&lines),
        Format::Json => console.product(&format!(
            "{}\n",
            json!({"ok": exit == Exit::Clean, "kernels": kernels})
        )),
    }
    Ok(exit)
}
