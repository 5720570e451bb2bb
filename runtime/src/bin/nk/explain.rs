//! `nk explain`: what a code means, or the list of all codes.

use crate::Exit;
use crate::console::{Console, Format};
use nk_compiler::diagnostic::{Diagnostic, nearest};
use nk_compiler::explain::{Entry, Examples, entries, entry, list, page};
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
    // Messages show codes as `error[code]`; what is copied with the brackets is meant too.
    let code = code.trim_matches(|it: char| !it.is_ascii_alphanumeric());
    let Some(found) = entry(code) else {
        let mut diagnostic = Diagnostic::error("unknown-code", format!("`{code}` is no code of a message"));
        diagnostic = match nearest(code, entries().iter().map(|it| it.code)) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.help("`nk explain` lists all codes"),
        };
        console.diagnostics(&[diagnostic], &Sources::new());
        return Exit::Usage;
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
