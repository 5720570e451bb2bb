//! `nk explain`: what a code means, or the list of all codes.

use crate::Exit;
use crate::console::{Console, Format};
use nk_compiler::diagnostic::Diagnostic;
use nk_compiler::explain::{Entry, Examples, entries, find, list, page};
use nk_compiler::source::Sources;
use serde_json::{Value, json};

#[derive(clap::Args)]
pub struct ExplainArgs {
    /// The code between the brackets of a message, e.g. tile-too-large.
    code: Option<String>,
}

pub fn explain(args: &ExplainArgs, console: Console) -> Exit {
    let Some(code) = &args.code else {
        match console.format {
            Format::Json => {
                let all: Vec<Value> = entries().iter().map(entry_json).collect();
                console.product(&format!("{}\n", Value::from(all)));
            }
            Format::Text => console.product(&list()),
        }
        return Exit::Clean;
    };
    let found = match find(code) {
        Ok(found) => found,
        Err(near) => {
            let diagnostic = Diagnostic::error("unknown-code", format!("`{code}` is no code of a message"));
            let diagnostic = match near {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic.help("`nk explain` lists all codes"),
            };
            console.diagnostics(&[diagnostic], &Sources::new());
            return Exit::Usage;
        }
    };
    match console.format {
        Format::Json => console.product(&format!("{}\n", entry_json(found))),
        Format::Text => console.product(&page(found)),
    }
    Exit::Clean
}

fn entry_json(entry: &Entry) -> Value {
    let (bad, good) = match &entry.examples {
        Examples::Pair { bad, good } => (Some(bad), Some(good)),
        Examples::Internal(_) => (None, None),
    };
    json!({
        "code": entry.code,
        "topic": entry.topic,
        "rule": entry.rule,
        "aws": entry.aws,
        "source": entry.source,
        "form": bad.map(|it| it.form.name()),
        "bad": bad.map(|it| &it.text),
        "good": good.map(|it| &it.text),
    })
}
