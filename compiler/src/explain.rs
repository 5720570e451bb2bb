//! What every code of a diagnostic means: the one place that knows them all.
//!
//! Takes the entries of `explain/*.txt`, gives them as values and as text. A test of the suite compares them with the
//! codes in the sources and compiles every example; nothing here decides whether a program is wrong.
//!
//! An entry is a line `= code`, the rule, and lines `aws:`, `source:`, `bad:` and `good:` in any order; an example is the
//! indented lines below its heading. `! default source: …` holds for the entries of a file that name none.

use crate::diagnostic::nearest;
use std::fmt::Write;
use std::sync::OnceLock;

/// What a code means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub code: &'static str,
    /// The part of the tool that reports it.
    pub topic: &'static str,
    pub rule: String,
    /// AWS's names for the condition.
    pub aws: Option<&'static str>,
    /// Where the rule comes from.
    pub source: &'static str,
    pub examples: Examples,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Examples {
    Pair {
        bad: Example,
        good: Example,
    },
    /// No input leads there by itself; the text says why.
    Internal(&'static str),
}

/// A kernel, a text of the IR or a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    pub form: Form,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines of a kernel, between [`HEAD`] and [`TAIL`].
    Body,
    /// A whole kernel file.
    File,
    /// A whole text of the IR.
    Ir,
    /// A command line; `kernel.nk` is `HEAD` and `TAIL`.
    Command,
}

const FORMS: &[(Form, &str)] = &[
    (Form::Body, ""),
    (Form::File, "file"),
    (Form::Ir, "ir"),
    (Form::Command, "command"),
];

/// What stands before the lines of a kernel.
pub const HEAD: &str = "\
# nk: run kernel(x=f32[128,512]:randn(0), a=bf16[128,64]:randn(1), b=bf16[128,512]:randn(2))
import numpy as np
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, a, b):
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=tile, src=x)
";

/// What stands behind them.
pub const TAIL: &str = "    nisa.dma_copy(dst=out, src=tile)\n    return out\n";

const BESIDE: &str = "In these lines x is f32[128, 512], a is bf16[128, 64] and b is bf16[128, 512] in HBM, tile holds x in SBUF, and out is \
                      the result in HBM, to which tile is copied at the end.";

const TEXTS: &[(&str, &str)] = &[
    ("syntax", include_str!("explain/syntax.txt")),
    ("language", include_str!("explain/language.txt")),
    ("host arrays", include_str!("explain/numpy.txt")),
    ("instructions", include_str!("explain/instruction.txt")),
    ("memory", include_str!("explain/memory.txt")),
    ("textual IR", include_str!("explain/ir.txt")),
    ("command line", include_str!("explain/command.txt")),
];

/// All codes, by topic in pipeline order.
pub fn entries() -> &'static [Entry] {
    static ENTRIES: OnceLock<Vec<Entry>> = OnceLock::new();
    ENTRIES.get_or_init(|| {
        let entries = TEXTS.iter().flat_map(|(topic, text)| read(topic, text));
        entries.collect()
    })
}

/// The entry of a code as a person writes it, with the brackets of a message or without; or the nearest code.
pub fn find(text: &str) -> Result<&'static Entry, Option<&'static str>> {
    let code = text.trim_matches(|it: char| !it.is_ascii_alphanumeric());
    entry(code).ok_or_else(|| nearest(code, entries().iter().map(|it| it.code)))
}

/// The entry of a code.
pub fn entry(code: &str) -> Option<&'static Entry> {
    entries().iter().find(|it| it.code == code)
}

fn read(topic: &'static str, text: &'static str) -> Vec<Entry> {
    let (head, rest) = text.split_once("\n= ").expect("a file of entries has one");
    let default = head.trim().strip_prefix("! default source: ");
    let default = default.expect("a file of entries names its default source");
    rest.split("\n= ")
        .map(|it| read_entry(topic, default, it))
        .collect()
}

fn read_entry(topic: &'static str, default: &'static str, text: &'static str) -> Entry {
    let (code, rest) = text.split_once('\n').expect("an entry has a rule");
    let mut lines = rest.lines().filter(|it| !it.trim().is_empty()).peekable();
    let (mut rule, mut aws, mut source, mut internal) = (Vec::new(), None, default, None);
    let (mut bad, mut good) = (None, None);
    while let Some(line) = lines.next() {
        let mut example = |form: &str| {
            let mut text = String::new();
            while let Some(line) = lines.next_if(|it| it.starts_with("    ")) {
                text.push_str(&line[4..]);
                text.push('\n');
            }
            let form = FORMS.iter().find(|it| it.1 == form.trim_end_matches(':').trim());
            let form = form.expect("an example has one of the known forms").0;
            Some(Example { form, text })
        };
        match line.split_once(':') {
            Some(("aws", rest)) => aws = Some(rest.trim()),
            Some(("source", rest)) => source = rest.trim(),
            Some(("internal", rest)) => internal = Some(rest.trim()),
            Some((head, "")) if head.starts_with("bad") => bad = example(&head[3..]),
            Some((head, "")) if head.starts_with("good") => good = example(&head[4..]),
            _ => rule.push(line),
        }
    }
    let examples = match (bad, good, internal) {
        (Some(bad), Some(good), None) => Examples::Pair { bad, good },
        (None, None, Some(why)) => Examples::Internal(why),
        _ => panic!("the entry {code} has a bad and a good example, or says why not"),
    };
    Entry {
        code,
        topic,
        rule: rule.join(" "),
        aws,
        source,
        examples,
    }
}

impl Form {
    pub fn name(self) -> &'static str {
        match self {
            Form::Body => "lines",
            Form::File => "file",
            Form::Ir => "ir",
            Form::Command => "command",
        }
    }
}

impl Example {
    /// The whole file, unless the example is a command.
    pub fn file(&self) -> Option<String> {
        match self.form {
            Form::Body => {
                let lines = self.text.lines().map(|it| format!("    {it}\n"));
                Some(format!("{HEAD}{}{TAIL}", lines.collect::<String>()))
            }
            Form::File | Form::Ir => Some(self.text.clone()),
            Form::Command => None,
        }
    }
}

/// An entry as a page of text.
pub fn page(entry: &Entry) -> String {
    let mut out = format!("{}  ({})\n\n{}\n", entry.code, entry.topic, entry.rule);
    match &entry.examples {
        Examples::Internal(why) => out += &format!("\n{why}\n"),
        Examples::Pair { bad, good } => {
            for (word, example) in [("wrong", bad), ("right", good)] {
                out += &format!("\n{word}:\n\n");
                for line in example.text.lines() {
                    writeln!(out, "    {line}").expect("a string takes any text");
                }
            }
            if bad.form == Form::Body || good.form == Form::Body {
                out += &format!("\n{BESIDE}\n");
            }
        }
    }
    if let Some(aws) = entry.aws {
        out += &format!("\nAWS calls it: {aws}\n");
    }
    out += &format!("\nsource of the rule: {}\n", entry.source);
    out
}

/// The list of all codes, each with the first sentence of its rule.
pub fn list() -> String {
    let mut out = String::new();
    let width = entries().iter().map(|it| it.code.len()).max().unwrap_or(0);
    let mut topic = "";
    for entry in entries() {
        if entry.topic != topic {
            let gap = if topic.is_empty() { "" } else { "\n" };
            topic = entry.topic;
            out += &format!("{gap}{topic}\n");
        }
        let sentence = entry.rule.split_once(". ").map_or(&*entry.rule, |it| it.0);
        let sentence = sentence.trim_end_matches('.');
        out += &format!("  {:<width$}  {sentence}\n", entry.code);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_kebab_case_and_unique() {
        let mut codes: Vec<&str> = entries().iter().map(|it| it.code).collect();
        let n_codes = codes.len();
        let is_kebab = |code: &&str| {
            code.bytes()
                .all(|it| it.is_ascii_lowercase() || it == b'-' || it.is_ascii_digit())
        };
        assert!(codes.iter().all(is_kebab), "{codes:?}");
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), n_codes);
        assert!(
            entries()
                .iter()
                .all(|it| !it.rule.is_empty() && !it.source.is_empty())
        );
    }
}
