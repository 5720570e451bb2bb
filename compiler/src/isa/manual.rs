//! What `nk isa` prints: the list of instructions, and a page for each.
//!
//! Takes rows, gives text. All facts come from the table; only how they are put into words is here.

mod example;
mod words;

pub use example::{EXAMPLES, Example, example};

use super::newer::{NEWER, Newer};
use super::{Engine, Generation, Op, Operand, ROWS, Row, Unit};
use crate::diagnostic::nearest;
use std::fmt::Write;

/// One line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: &'static str,
    /// The engine that executes it by default; `dma` for a transfer.
    pub engine: &'static str,
    /// Whether NeuronCore-v2 has it.
    pub v2: bool,
    pub since: Generation,
}

/// Every instruction that is known by name, in alphabetical order.
pub fn entries() -> Vec<Entry> {
    let of_row = |it: &Row| Entry {
        name: it.name,
        engine: engine(it),
        v2: it.since == Generation::V2,
        since: it.since,
    };
    let of_newer = |it: &Newer| Entry {
        name: it.name,
        engine: it.engine,
        v2: false,
        since: it.since,
    };
    let mut entries: Vec<Entry> = ROWS
        .iter()
        .map(of_row)
        .chain(NEWER.iter().map(of_newer))
        .collect();
    entries.sort_by_key(|it| it.name);
    entries
}

fn engine(row: &Row) -> &'static str {
    match row.unit {
        Unit::Dma => "dma",
        Unit::Sequencer => "sequencer",
        Unit::Engine => row.engines[0].name(),
    }
}

/// The list as text.
pub fn list() -> String {
    let mut text = String::new();
    for entry in entries() {
        let engines = match Op::from_name(entry.name).map(Op::row) {
            Some(row) if row.unit == Unit::Engine => names(row.engines),
            _ => entry.engine.to_string(),
        };
        let v2 = if entry.v2 {
            "yes".to_string()
        } else {
            format!("no, {}", entry.since.name())
        };
        line(&mut text, &format!("{:<26}{engines:<18}{v2}", entry.name));
    }
    text
}

/// The whole manual: the list, and the page of every instruction that the chip has.
pub fn book() -> String {
    let rule = "-".repeat(80);
    let pages = ROWS.iter().filter_map(|row| page(row.name).ok());
    let pages: Vec<String> = pages.map(|it| format!("{rule}\n{it}")).collect();
    format!("{}\n{}", list(), pages.join("\n"))
}

/// The page of an instruction; or the nearest name, when there is none of this one.
pub fn page(name: &str) -> Result<String, Option<&'static str>> {
    if let Some(op) = Op::from_name(name) {
        return Ok(row_page(op.row()));
    }
    match NEWER.iter().find(|it| it.name == name) {
        Some(newer) => Ok(newer_page(newer)),
        None => Err(nearest(name, entries().into_iter().map(|it| it.name))),
    }
}

fn newer_page(newer: &Newer) -> String {
    format!(
        "{}\n\nengine    {}\nv2        no: it came with {}\ninstead   {}\n",
        newer.name,
        newer.engine,
        newer.since.name(),
        newer.instead
    )
}

fn row_page(row: &Row) -> String {
    let mut text = String::new();
    line(&mut text, &signature(row));
    line(&mut text, "");
    let engines = match row.unit {
        Unit::Dma => format!("dma, issued by {}", names(row.engines)),
        Unit::Sequencer => "the sequencers of all queues".to_string(),
        Unit::Engine => names(row.engines),
    };
    line(&mut text, &format!("engine    {engines}"));
    line(&mut text, "v2        yes");
    line(&mut text, "\noperands");
    for operand in row.operands {
        line(
            &mut text,
            &format!("  {:<24}{}", operand.name, words::operand(operand)),
        );
    }
    let rules: Vec<String> = row.rules.iter().filter_map(|it| words::rule(it, row)).collect();
    if !rules.is_empty() {
        line(&mut text, "\nlimits");
        for rule in rules {
            line(&mut text, &format!("  {rule}"));
        }
    }
    line(&mut text, "\nsemantics");
    for it in wrapped(row.doc, 100) {
        line(&mut text, &format!("  {it}"));
    }
    let example = example(row.op);
    line(&mut text, "\nexample");
    line(&mut text, &format!("  {}", example.inst));
    if !example.values.is_empty() {
        line(&mut text, &format!("  {}", example.values));
    }
    line(&mut text, "\ncost");
    line(&mut text, &format!("  {}", words::cost(row)));
    text
}

/// The call in Python.
fn signature(row: &Row) -> String {
    if row.op == Op::Collective {
        return format!("nki.collectives.*(…), which are `{}` in IR text", row.name);
    }
    let mut parts: Vec<String> = Vec::new();
    let is_listed = |it: &&Operand| row.op != Op::DmaCompute || it.name == "dst";
    for operand in row.operands.iter().filter(is_listed) {
        parts.push(match operand.default {
            None => operand.name.to_string(),
            Some(default) => format!("{}={}", operand.name, words::default(default, operand.kind)),
        });
    }
    for &name in row.call_only {
        let is_required = row.op == Op::DmaCompute && matches!(name, "srcs" | "reduce_op");
        parts.push(match name {
            _ if is_required => name.to_string(),
            "engine" => "engine=nisa.engine.unknown".to_string(),
            "oob_mode" => "oob_mode=nisa.oob_mode.error".to_string(),
            "dge_mode" => "dge_mode=nisa.dge_mode.unknown".to_string(),
            "perf_mode" => "perf_mode=nisa.matmul_perf_mode.none".to_string(),
            "keepdims" => "keepdims=False".to_string(),
            "unique_indices" => "unique_indices=True".to_string(),
            name => format!("{name}=None"),
        });
    }
    parts.push("name=None".to_string());
    format!("nisa.{}({})", row.name, parts.join(", "))
}

fn names(engines: &[Engine]) -> String {
    let names: Vec<&str> = engines.iter().map(|it| it.name()).collect();
    names.join(", ")
}

/// A paragraph in lines of a width.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is always a line");
        if !last.is_empty() && last.len() + word.len() >= width {
            lines.push(word.to_string());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_has_a_page_and_one_status() {
        let entries = entries();
        assert_eq!(entries.len(), ROWS.len() + NEWER.len());
        for pair in entries.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} is listed twice", pair[1].name);
        }
        for entry in entries {
            let page = page(entry.name).expect("a listed instruction has a page");
            assert!(page.contains(entry.name), "{page}");
            assert_eq!(entry.v2, page.contains("v2        yes"), "{page}");
        }
        assert_eq!(page("nc_matmull"), Err(Some("nc_matmul")));
        assert_eq!(page("zzzzzzzzzz"), Err(None));
    }
}
