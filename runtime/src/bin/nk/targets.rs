//! `nk targets`: the chips and instances that are known, and a datasheet for each.

use crate::Exit;
use crate::console::{Console, Format};
use nk_compiler::diagnostic::{Diagnostic, nearest};
use nk_compiler::source::Sources;
use nk_compiler::target::datasheet::{self, Datasheet, Fact, Figure, Support};
use serde_json::{Value, json};

#[derive(clap::Args)]
pub struct TargetsArgs {
    /// The chip or instance to describe; all of them are listed without it.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

pub fn targets(args: &TargetsArgs, console: Console) -> Exit {
    let text = match (&args.name, console.format) {
        (None, Format::Text) => datasheet::list(),
        (None, Format::Json) => {
            let objects: Vec<Value> = datasheet::datasheets().iter().map(object).collect();
            format!("{}\n", Value::from(objects))
        }
        (Some(name), format) => {
            let Some(sheet) = datasheet::datasheet(name) else {
                let mut error = Diagnostic::error("unknown-target", format!("`{name}` is no target"));
                let sheets = datasheet::datasheets();
                error = match nearest(name, sheets.iter().map(|it| it.name)) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help("`nk targets` lists all of them"),
                };
                console.diagnostics(&[error], &Sources::new());
                return Exit::Usage;
            };
            match format {
                Format::Text => datasheet::page(&sheet),
                Format::Json => format!("{}\n", object(&sheet)),
            }
        }
    };
    console.product(&text);
    Exit::Clean
}

fn object(sheet: &Datasheet) -> Value {
    let facts: Vec<Value> = sheet.facts.iter().map(fact).collect();
    json!({
        "name": sheet.name,
        "kind": sheet.kind,
        "modelled": sheet.support == Support::Modelled,
        "summary": sheet.summary,
        "facts": facts,
    })
}

fn fact(fact: &Fact) -> Value {
    let (value, unit) = match &fact.value {
        Figure::Number { value, unit } => (json!(value), Some(*unit).filter(|it| !it.is_empty())),
        Figure::Words(text) => (json!(text), None),
        Figure::NotPublished => (Value::Null, None),
    };
    let source = Some(fact.source).filter(|it| !it.is_empty());
    json!({"topic": fact.topic, "name": fact.name, "value": value, "unit": unit, "source": source})
}
