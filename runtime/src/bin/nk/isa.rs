//! `nk isa`: the instruction set, and a page for each instruction.

use crate::Exit;
use crate::console::{Console, Format};
use nk_compiler::diagnostic::Diagnostic;
use nk_compiler::isa::manual;
use nk_compiler::source::Sources;
use serde_json::{Value, json};

#[derive(clap::Args)]
pub struct IsaArgs {
    /// The instruction to describe; all of them are listed without it.
    #[arg(value_name = "OP")]
    pub op: Option<String>,
    /// The whole manual: the list, and the page of every instruction that the chip has.
    #[arg(long, conflicts_with = "op")]
    all: bool,
}

pub fn isa(args: &IsaArgs, console: Console) -> Exit {
    let wanted = args
        .op
        .as_deref()
        .map(|it| it.strip_prefix("nisa.").unwrap_or(it));
    if let Some(name) = wanted
        && let Err(near) = manual::page(name)
    {
        let mut error = Diagnostic::error("unknown-instruction", format!("`{name}` is no instruction"));
        error = match near {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("`nk isa` lists all of them"),
        };
        console.diagnostics(&[error], &Sources::new());
        return Exit::Usage;
    }
    let text = match (console.format, wanted) {
        (Format::Text, None) if args.all => manual::book(),
        (Format::Text, None) => manual::list(),
        (Format::Text, Some(name)) => manual::page(name).unwrap_or_default(),
        (Format::Json, wanted) => {
            let entries = manual::entries();
            let is_wanted = |it: &&manual::Entry| wanted.is_none_or(|name| name == it.name);
            let objects: Vec<Value> = entries.iter().filter(is_wanted).map(object).collect();
            format!("{}\n", Value::from(objects))
        }
    };
    console.product(&text);
    Exit::Clean
}

fn object(entry: &manual::Entry) -> Value {
    json!({
        "name": entry.name,
        "engine": entry.engine,
        "v2": entry.v2,
        "since": entry.since.name(),
    })
}
