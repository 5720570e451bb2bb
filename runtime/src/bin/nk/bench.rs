//! `nk bench`: the model against measurements.

use crate::Exit;
use crate::console::{Console, Format};
use crate::options::usage;
use nk_compiler::source::Sources;
use nk_runtime::session::Failure;
use nk_runtime::truth;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Every published figure that the model is held to, ours beside theirs.
    Truth {
        /// A folder with the published NKIBench kernels, to be modelled as they are written.
        #[arg(long, value_name = "DIR")]
        fetched: Option<PathBuf>,
    },
}

pub fn bench(args: &BenchArgs, console: Console) -> Exit {
    let What::Truth { fetched } = &args.what;
    let shown = || -> Result<String, Failure> {
        let measured = truth::measure_all(fetched.as_deref())?;
        if let Some(folder) = fetched
            .as_ref()
            .filter(|_| measured.iter().all(|it| it.fetched.is_none()))
        {
            let message = format!(
                "{} holds none of the kernels; they are NKIBench/kernels of github.com/zhang677/AccelOpt",
                folder.display()
            );
            return Err(usage("file-unreadable", message));
        }
        let left_out = truth::leave_one_out()?;
        Ok(match console.format {
            Format::Text => truth::text(&measured, &left_out),
            Format::Json => format!("{}\n", truth::to_json(&measured, &left_out)),
        })
    };
    match shown() {
        Ok(text) => {
            console.product(&text);
            Exit::Clean
        }
        Err(failure) => console.failure(&failure, &Sources::new()),
    }
}
