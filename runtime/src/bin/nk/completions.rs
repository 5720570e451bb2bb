//! `nk completions`: what a shell reads to complete this command's words.

use crate::console::Console;
use crate::{Cli, Exit};
use clap::CommandFactory;
use clap_complete::{Shell, generate};

#[derive(clap::Args)]
pub struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

pub fn completions(args: &CompletionsArgs, console: Console) -> Exit {
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "nk", &mut script);
    console.product(&String::from_utf8_lossy(&script));
    Exit::Clean
}
