//! `nk profile`: the modelled time of a kernel, and why it is what it is.

use crate::Exit;
use crate::console::{Console, Format};
use crate::options::{SourceArgs, write_file};
use nk_compiler::Compiled;
use nk_compiler::source::Sources;
use nk_runtime::draw;
use nk_runtime::profile::cores::{self, Cores, Lane};
use nk_runtime::profile::{self, Profile};
use nk_runtime::session::Failure;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(clap::Args)]
pub struct ProfileArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// Write the timeline of the first kernel in Chrome's trace format, which Perfetto opens.
    #[arg(long, value_name = "FILE.json")]
    trace: Option<PathBuf>,
    /// Write a picture of the timeline of the first kernel.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Compare with another kernel, or another file, compiled with the same options: where they part, and each engine's share.
    #[arg(long, value_name = "FILE[::KERNEL]", conflicts_with_all = ["trace", "svg"])]
    diff: Option<String>,
}

pub fn profile(args: &ProfileArgs, console: Console) -> Exit {
    let mut sources = Sources::new();
    match show(args, console, &mut sources) {
        Ok(()) => Exit::Clean,
        Err(failure) => console.failure(&failure, &sources),
    }
}

fn show(args: &ProfileArgs, console: Console, sources: &mut Sources) -> Result<(), Failure> {
    if let Some(other) = &args.diff {
        return compare(args, other, console, sources);
    }
    let session = args.source.open(sources)?;
    let target = session.settings().target;
    let (mut texts, mut values): (Vec<String>, Vec<Value>) = Default::default();
    for (number, job) in args.source.jobs(&session)?.iter().enumerate() {
        if let Some((lanes, kind)) = session.lanes(sources, job)? {
            let cores = Cores::new(&lanes, kind, target, sources);
            let Lane { compiled, .. } = &lanes[0];
            console.printed(&compiled.printed);
            console.diagnostics(&compiled.warnings, sources);
            let fleet = session.fleet(job, lanes.len() as u32);
            let profile = Profile::first_advised(&lanes, &fleet, target, sources);
            if number == 0 {
                if let Some(path) = &args.trace {
                    write_file(path, &cores::perfetto(&lanes, kind, target, sources))?;
                }
                if let Some(path) = &args.svg {
                    write_file(path, &draw::timeline_svg(&profile, &compiled.program))?;
                }
            }
            match console.format {
                Format::Text => {
                    let first = profile::text(&profile, &compiled.program);
                    texts.push(format!("{}\nthe first of them: {first}", cores.text()));
                }
                Format::Json => {
                    let mut value = profile::to_json(&profile);
                    value["together"] = cores.to_json();
                    // The launch takes as long as its last core.
                    value["modelled_ns"] = value["together"]["modelled_ns"].clone();
                    values.push(value);
                }
            }
            continue;
        }
        let compiled = session.compile(sources, job, &job.first_program())?;
        console.printed(&compiled.printed);
        console.diagnostics(&compiled.warnings, sources);
        let profile = Profile::advised(&compiled, target, sources);
        if number == 0 {
            if let Some(path) = &args.trace {
                write_file(path, &profile::perfetto(&profile, &compiled.program, sources))?;
            }
            if let Some(path) = &args.svg {
                write_file(path, &draw::timeline_svg(&profile, &compiled.program))?;
            }
        }
        match console.format {
            Format::Text => texts.push(profile::text(&profile, &compiled.program)),
            Format::Json => values.push(profile::to_json(&profile)),
        }
    }
    match console.format {
        Format::Text => console.product(&texts.join("\n")),
        Format::Json if values.len() == 1 => console.product(&format!("{}\n", values[0])),
        Format::Json => console.product(&format!("{}\n", json!({ "kernels": values }))),
    }
    Ok(())
}

/// Compares the first kernels of two files.
fn compare(args: &ProfileArgs, other: &str, console: Console, sources: &mut Sources) -> Result<(), Failure> {
    let (a, first) = first_profile(&args.source, console, sources)?;
    let (b, second) = first_profile(&args.source.of_file(other), console, sources)?;
    let difference = profile::difference((&a, &first.program, sources), (&b, &second.program, sources));
    match console.format {
        Format::Text => console.product(&difference.text()),
        Format::Json => console.product(&format!("{}\n", difference.to_json())),
    }
    Ok(())
}

fn first_profile(
    source: &SourceArgs,
    console: Console,
    sources: &mut Sources,
) -> Result<(Profile, Arc<Compiled>), Failure> {
    let session = source.open(sources)?;
    let job = source.jobs(&session)?.swap_remove(0);
    let (compiled, trace) = session.first_timed(sources, &job)?;
    console.printed(&compiled.printed);
    console.diagnostics(&compiled.warnings, sources);
    let profile = Profile::of_trace(&compiled, trace, session.settings().target, sources);
    Ok((profile, compiled))
}
