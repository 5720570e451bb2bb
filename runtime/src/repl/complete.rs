//! Completion: what could stand at the end of a line.
//!
//! Takes a session and a line, gives the place where the word begins and the words that fit. Evaluates nothing: names
//! are those of the last statement, values those that the instruction table allows.

use super::command::{COMMANDS, Command, Verb, find};
use super::{Repl, kernel};
use crate::testing::STAGES;
use nk_compiler::dtype::DTYPES;
use nk_compiler::isa::{ACT_FNS, ALU_OPS, ENGINES, Kind, OOB_MODES, Op, REDUCE_CMDS, manual};
use nk_compiler::specialize::{language_names, parameters, tunables};
use nk_compiler::target::TARGETS;

/// The byte at which the word under the cursor begins, and what it may become, sorted.
pub fn complete(repl: &Repl, line: &str, at: usize) -> (usize, Vec<String>) {
    let before = &line[..at.min(line.len())];
    let trimmed = before.trim_start();
    if let Some(command) = trimmed.strip_prefix(':') {
        return match command.split_once(' ') {
            None => {
                let space = |it: &Command| if it.takes.is_empty() { "" } else { " " };
                let words = COMMANDS.iter().map(|it| format!("{}{}", it.name, space(it)));
                (before.len() - command.len(), fitting(words, command))
            }
            Some((word, rest)) => {
                let word_at = rest.rfind(' ').map_or(0, |it| it + 1);
                let part = &rest[word_at..];
                let words = find(word).map_or(Vec::new(), |it| operands(repl, it.verb));
                (before.len() - part.len(), fitting(words.into_iter(), part))
            }
        };
    }
    let start = before
        .rfind(|it: char| !it.is_alphanumeric() && it != '_')
        .map_or(0, |it| it + before[it..].chars().next().map_or(1, char::len_utf8));
    let (head, word) = before.split_at(start);
    (start, fitting(words(repl, head).into_iter(), word))
}

fn fitting(words: impl Iterator<Item = String>, beginning: &str) -> Vec<String> {
    let mut words: Vec<String> = words.filter(|it| it.starts_with(beginning)).collect();
    words.sort();
    words.dedup();
    words
}

/// What a command takes.
fn operands(repl: &Repl, verb: Verb) -> Vec<String> {
    let state = &repl.state;
    let session = &state.session;
    let owned = |it: &str| it.to_string();
    match verb {
        Verb::Kernel => kernel::names(session)
            .into_iter()
            .chain([owned("session")])
            .collect(),
        Verb::Isa => manual::entries().iter().map(|it| owned(it.name)).collect(),
        Verb::Ir | Verb::Diff => STAGES.iter().map(|it| owned(it.1)).collect(),
        Verb::Target => TARGETS.iter().map(|it| owned(it.name)).collect(),
        Verb::Set | Verb::Sweep => session.module().map_or(Vec::new(), |module| {
            let all = tunables(module, state.kernel.as_deref(), session.file());
            all.iter().map(|it| format!("{}=", it.name)).collect()
        }),
        Verb::Arg => session.module().map_or(Vec::new(), |module| {
            let all = parameters(module, state.kernel.as_deref(), session.file());
            all.iter().map(|it| format!("{it}=")).collect()
        }),
        _ => Vec::new(),
    }
}

/// What may follow the text before a word.
fn words(repl: &Repl, head: &str) -> Vec<String> {
    let owned = |it: &&str| it.to_string();
    if let Some(rest) = head.strip_suffix('.') {
        return match rest.rsplit(|it: char| !it.is_alphanumeric() && it != '_').next() {
            Some("nl") => language_names().iter().map(owned).collect(),
            Some("nisa") => manual::entries()
                .iter()
                .map(|it| it.name.to_string())
                .chain(["engine".to_string()])
                .collect(),
            Some("engine") => ENGINES.iter().map(|it| it.1.to_string()).collect(),
            _ => Vec::new(),
        };
    }
    let call = open_call(head);
    let names: Vec<String> = match &repl.live {
        Some(live) => live.names.iter().map(|it| it.0.clone()).collect(),
        None => ["nl", "nisa", "np", "nki"].iter().map(owned).collect(),
    };
    if let (Some(keyword), Some(function)) = (keyword_before(head), &call) {
        return values(function, keyword).into_iter().chain(names).collect();
    }
    // In brackets after a tensor: partitions at which an access may start.
    if head.trim_end().ends_with('[') {
        return ["0:", "32:", "64:", "96:"].iter().map(owned).collect();
    }
    let keywords = call.and_then(|it| Op::from_name(&it)).map_or(Vec::new(), |op| {
        let row = op.row();
        let operands = row
            .operands
            .iter()
            .map(|it| it.name)
            .chain(row.call_only.iter().copied());
        operands.map(|it| format!("{it}=")).collect()
    });
    names.into_iter().chain(keywords).collect()
}

/// The function whose parenthesis is open at the end of a text, without what stands before its last dot.
fn open_call(head: &str) -> Option<String> {
    let mut depth = 0;
    for (at, c) in head.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth > 0 => depth -= 1,
            '(' => {
                let name = head[..at]
                    .rsplit(|it: char| !it.is_alphanumeric() && it != '_')
                    .next()?;
                return (!name.is_empty()).then(|| name.to_string());
            }
            _ => {}
        }
    }
    None
}

/// The keyword right before the word: `dtype` in `dtype=`.
fn keyword_before(head: &str) -> Option<&str> {
    let head = head.trim_end().strip_suffix('=')?;
    head.rsplit(|it: char| !it.is_alphanumeric() && it != '_')
        .next()
        .filter(|it| !it.is_empty())
}

/// What a keyword takes, by the instruction table when it is one of an instruction.
fn values(function: &str, keyword: &str) -> Vec<String> {
    let owned = |it: &&str| it.to_string();
    let operands = Op::from_name(function).map_or(&[][..], |it| it.row().operands);
    match operands.iter().find(|it| it.name == keyword).map(|it| it.kind) {
        Some(Kind::Alu(set)) => {
            let operators = ALU_OPS.iter().filter(|it| set.contains(it.op));
            return operators.map(|it| format!("nl.{}", it.name)).collect();
        }
        Some(Kind::Act) => return ACT_FNS.iter().map(|it| format!("nl.{}", it.name)).collect(),
        Some(Kind::Bool) => return ["True", "False"].iter().map(owned).collect(),
        Some(Kind::Accumulate) => return ["True", "False", "None"].iter().map(owned).collect(),
        Some(Kind::ReduceCmd) => {
            return REDUCE_CMDS
                .iter()
                .map(|it| format!("nisa.reduce_cmd.{}", it.1))
                .collect();
        }
        Some(Kind::OobMode) => {
            return OOB_MODES
                .iter()
                .map(|it| format!("nisa.oob_mode.{}", it.1))
                .collect();
        }
        _ => {}
    }
    match keyword {
        "dtype" => DTYPES.iter().map(|it| format!("nl.{}", it.2)).collect(),
        "buffer" => ["nl.sbuf", "nl.psum", "nl.hbm", "nl.shared_hbm"]
            .iter()
            .map(owned)
            .collect(),
        "engine" => ENGINES.iter().map(|it| format!("nisa.engine.{}", it.1)).collect(),
        _ => Vec::new(),
    }
}
