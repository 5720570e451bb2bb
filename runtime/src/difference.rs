//! What a change of a kernel did to its IR, line of the source by line of the source.
//!
//! Takes two compiled kernels with their sources, gives text. Lines of the sources are aligned first; below each pair
//! stand the instructions and buffers that only one side has. Never executes anything.

use crate::append::line;
use crate::stage::Stage;
use nk_compiler::Compiled;
use nk_compiler::ir::Program;
use nk_compiler::source::{FileId, Sources, Span};
use nk_compiler::text::{PrintOptions, print};
use rustc_hash::FxHashMap;
use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices};
use std::collections::BTreeMap;

/// One of the two kernels.
pub struct Side {
    name: String,
    lines: Vec<String>,
    /// IR by the source line (from 1) that it comes from; under 0 what has none.
    items: BTreeMap<usize, Vec<String>>,
}

impl Side {
    /// A kernel at a stage. Registers of the IR that are no instructions and no buffers are left out.
    pub fn new(compiled: &Compiled, stage: Stage, sources: &Sources, file: FileId) -> Side {
        let program = &compiled.program;
        let options = PrintOptions {
            spans: Some(sources),
            ..PrintOptions::default()
        };
        let placement = (stage != Stage::Program).then_some(&compiled.placement);
        let schedule = (stage == Stage::Schedule).then_some(&compiled.schedule);
        let text = print(program, placement, schedule, options);
        Side {
            name: sources.name_of(file).to_string(),
            lines: sources.text_of(file).lines().map(str::to_string).collect(),
            items: items(&text, program, sources, file),
        }
    }
}

/// The lines of IR text under the source lines they come from. Waits belong to the instruction behind them, signals to
/// the one above.
fn items(text: &str, program: &Program, sources: &Sources, file: FileId) -> BTreeMap<usize, Vec<String>> {
    let mut items: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let line_of = |span: Option<Span>| {
        let span = span.filter(|it| it.file == file);
        span.map_or(0, |it| sources.line_column(it.file, it.start).0)
    };
    let mut buffers = program.buffers.iter();
    let (mut queue, mut waits) = (String::new(), String::new());
    let mut last: Option<usize> = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("queue ") {
            queue = format!("{}: ", name.trim_end_matches(" {"));
            last = None;
        } else if ["in ", "out ", "buf "].iter().any(|it| line.starts_with(it)) {
            let at = buffers.next().map_or(0, |it| line_of(program.span(it.loc)));
            items.entry(at).or_default().push(line.to_string());
        } else if line.starts_with("wait ") {
            waits.push_str(&format!("{line}, "));
        } else if line.starts_with("signal ") {
            let above = last
                .and_then(|it| items.get_mut(&it))
                .and_then(|it| it.last_mut());
            if let Some(above) = above {
                above.push_str(&format!(", {line}"));
            }
        } else if let Some((inst, place)) = line.rsplit_once(" at ") {
            let number = place.split(':').next().and_then(|it| it.parse::<usize>().ok());
            let at = number.unwrap_or(0);
            let waits = std::mem::take(&mut waits);
            items.entry(at).or_default().push(format!("{queue}{waits}{inst}"));
            last = Some(at);
        }
    }
    items
}

/// Lines of IR of each side that are shown below one line of the source.
const MAX_SHOWN: usize = 4;

/// The difference in lines; empty when there is none.
pub fn difference(a: &Side, b: &Side) -> String {
    let mut out = String::new();
    let pairs = aligned(&a.lines, &b.lines);
    let (mut n_removed, mut n_added) = (0, 0);
    let nothing = Vec::new();
    for (left, right) in std::iter::once((Some(0), Some(0))).chain(pairs) {
        let of = |side: &Side, line: Option<usize>| {
            let items = line.and_then(|it| side.items.get(&it));
            items.unwrap_or(&nothing).clone()
        };
        let (old, new) = (of(a, left), of(b, right));
        if old == new {
            continue;
        }
        out.push_str(&heading(a, b, left, right));
        let (removed, added) = push_changes(&mut out, &old, &new);
        (n_removed, n_added) = (n_removed + removed, n_added + added);
    }
    if out.is_empty() {
        return out;
    }
    let totals = format!("{n_removed} lines of IR gone, {n_added} came\n");
    if a.name == b.name {
        format!("{out}\n{totals}")
    } else {
        format!("--- {}\n+++ {}\n{out}\n{totals}", a.name, b.name)
    }
}

/// The source lines of both sides (from 1), those that stayed side by side.
fn aligned(a: &[String], b: &[String]) -> Vec<(Option<usize>, Option<usize>)> {
    let ops = capture_diff_slices(Algorithm::Myers, a, b);
    let mut pairs = Vec::new();
    for op in ops {
        let (old, new) = (op.old_range(), op.new_range());
        // Lines that were replaced stand side by side as far as they go.
        let n_paired = if matches!(op, DiffOp::Equal { .. } | DiffOp::Replace { .. }) {
            old.len().min(new.len())
        } else {
            0
        };
        let both = old.clone().zip(new.clone()).take(n_paired);
        pairs.extend(both.map(|(left, right)| (Some(left + 1), Some(right + 1))));
        pairs.extend(old.skip(n_paired).map(|it| (Some(it + 1), None)));
        pairs.extend(new.skip(n_paired).map(|it| (None, Some(it + 1))));
    }
    pairs
}

fn heading(a: &Side, b: &Side, left: Option<usize>, right: Option<usize>) -> String {
    let text = |side: &Side, line: Option<usize>| {
        let line = line.and_then(|it| it.checked_sub(1))?;
        side.lines.get(line).map(|it| it.trim().to_string())
    };
    let (old, new) = (text(a, left), text(b, right));
    match (left, right) {
        (Some(0), _) | (None, None) => "\n@@ no line of this file\n".to_string(),
        (Some(line), None) => format!("\n@@ {line} -> gone\n| {}\n", old.unwrap_or_default()),
        (None, Some(line)) => format!("\n@@ new -> {line}\n| {}\n", new.unwrap_or_default()),
        (Some(x), Some(y)) => {
            let numbers = if x == y {
                format!("{x}")
            } else {
                format!("{x} -> {y}")
            };
            let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
            if old == new {
                format!("\n@@ {numbers}\n| {new}\n")
            } else {
                format!("\n@@ {numbers}\n|-{old}\n|+{new}\n")
            }
        }
    }
}

/// Lines of IR below one line of the source up to which the two sides are aligned; what is longer is compared as a bag of
/// lines, since aligning takes the square of the time.
const MAX_ALIGNED: usize = 2000;

/// Adds the lines that one side only has; gives how many on each.
fn push_changes(out: &mut String, old: &[String], new: &[String]) -> (usize, usize) {
    let changes = if old.len().max(new.len()) <= MAX_ALIGNED {
        aligned_changes(old, new)
    } else {
        bag_changes(old, new)
    };
    let (mut counts, mut n_same) = ((0, 0), 0);
    for (tag, line) in changes {
        let (mark, count) = match tag {
            ChangeTag::Equal => {
                n_same += 1;
                continue;
            }
            ChangeTag::Delete => ('-', &mut counts.0),
            ChangeTag::Insert => ('+', &mut counts.1),
        };
        *count += 1;
        if *count <= MAX_SHOWN {
            line!(out, "{mark} {line}");
        }
    }
    for (mark, count) in [('-', counts.0), ('+', counts.1)] {
        if count > MAX_SHOWN {
            line!(out, "{mark} and {} more", count - MAX_SHOWN);
        }
    }
    if n_same > 0 {
        let order = if counts == (0, 0) {
            ", in another order"
        } else {
            ""
        };
        line!(out, "  {n_same} unchanged{order}");
    }
    counts
}

fn aligned_changes<'a>(old: &'a [String], new: &'a [String]) -> Vec<(ChangeTag, &'a str)> {
    let [old, new] = [old, new].map(|it| it.iter().map(String::as_str).collect::<Vec<&str>>());
    let ops = capture_diff_slices(Algorithm::Myers, &old, &new);
    let changes = ops.iter().flat_map(|it| it.iter_changes(&old, &new));
    changes.map(|it| (it.tag(), it.value())).collect()
}

fn bag_changes<'a>(old: &'a [String], new: &'a [String]) -> Vec<(ChangeTag, &'a str)> {
    let mut left: FxHashMap<&str, usize> = FxHashMap::default();
    for it in new {
        *left.entry(it).or_default() += 1;
    }
    let mut take = |it: &str| match left.get_mut(it) {
        Some(n) if *n > 0 => {
            *n -= 1;
            true
        }
        _ => false,
    };
    let mut changes = Vec::new();
    for it in old {
        let tag = if take(it) {
            ChangeTag::Equal
        } else {
            ChangeTag::Delete
        };
        changes.push((tag, it.as_str()));
    }
    // What old lines have not taken is new.
    let added = new.iter().filter(|it| take(it));
    changes.extend(added.map(|it| (ChangeTag::Insert, it.as_str())));
    changes
}
