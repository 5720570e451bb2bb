//! Completion: what could stand at the end of a line.
//!
//! Takes a session and a line, gives the place where the word begins and the words that fit. Evaluates nothing: names
//! are those of the last statement, values those that the instruction table allows.

use super::Repl;
use super::command::{COMMANDS, Command, Verb, find};
use crate::stage::{STAGES, Stage};
use nk_compiler::dtype::DTYPES;
use nk_compiler::explain;
use nk_compiler::isa::{ACT_FNS, ALU_OPS, ENGINES, Kind, OOB_MODES, Op, REDUCE_CMDS, manual};
use nk_compiler::specialize::{language_names, parameters, tensor_names, tunables};
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
                let verb = find(word).map(|it| it.verb).ok();
                let words = match (verb, part.split_once('=')) {
                    (None, _) => Vec::new(),
                    (Some(Verb::Load | Verb::Save), _) => files(part),
                    (Some(Verb::Arg), Some((name, value))) => generators(name, value),
                    (Some(verb), _) => operands(repl, verb),
                };
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

/// The words that go on from a beginning. What follows a dot may be begun without what stands before it: `bf` is begun
/// like `nl.bfloat16`.
fn fitting(words: impl Iterator<Item = String>, beginning: &str) -> Vec<String> {
    let fits = |it: &String| {
        let last = it.rsplit('.').next().unwrap_or(it);
        it.starts_with(beginning) || !beginning.is_empty() && last.starts_with(beginning)
    };
    let mut words: Vec<String> = words.filter(fits).collect();
    words.sort();
    words.dedup();
    words
}

/// Folders and kernel files whose paths go on from a beginning.
fn files(beginning: &str) -> Vec<String> {
    let (folder, _) = beginning.split_at(beginning.rfind('/').map_or(0, |it| it + 1));
    let place = if folder.is_empty() { "." } else { folder };
    let Ok(entries) = std::fs::read_dir(place) else {
        return Vec::new();
    };
    let name = |it: std::fs::DirEntry| {
        let name = it.file_name().into_string().ok()?;
        if it.path().is_dir() {
            return Some(format!("{folder}{name}/"));
        }
        let is_kernel = [".nk", ".py", ".nir"].iter().any(|it| name.ends_with(it));
        is_kernel.then(|| format!("{folder}{name}"))
    };
    let hidden = |it: &String| it[folder.len()..].starts_with('.');
    let names = entries.filter_map(Result::ok).filter_map(name);
    names.filter(|it| !hidden(it)).collect()
}

/// How an argument is made: a type, then its values.
fn generators(name: &str, value: &str) -> Vec<String> {
    match value.split_once(':') {
        Some((shaped, _)) if !value.starts_with('@') => {
            let values = [
                "arange",
                "ones",
                "randint(0,10,0)",
                "randn(0)",
                "uniform(0,1,0)",
                "zeros",
            ];
            values.iter().map(|it| format!("{name}={shaped}:{it}")).collect()
        }
        _ => DTYPES.iter().map(|it| format!("{name}={}[", it.1)).collect(),
    }
}

/// What a command takes.
fn operands(repl: &Repl, verb: Verb) -> Vec<String> {
    let state = &repl.state;
    let session = &state.session;
    let owned = |it: &str| it.to_string();
    match verb {
        Verb::Kernel => session.kernels().into_iter().chain([owned("session")]).collect(),
        Verb::Explain => explain::entries().iter().map(|it| owned(it.code)).collect(),
        Verb::Isa => manual::entries().iter().map(|it| owned(it.name)).collect(),
        Verb::Ir => STAGES.iter().map(|it| owned(it.1)).collect(),
        Verb::Diff => {
            let stages = STAGES.iter().filter(|it| it.0 != Stage::Clif);
            stages.map(|it| owned(it.1)).collect()
        }
        Verb::Target => TARGETS.iter().map(|it| owned(it.name)).collect(),
        Verb::Set | Verb::Sweep => session.module().map_or(Vec::new(), |module| {
            let all = tunables(module, state.kernel.as_deref(), session.file());
            all.iter().map(|it| format!("{}=", it.name)).collect()
        }),
        Verb::Arg => {
            let all = session.parameters(state.kernel.as_deref());
            all.iter().map(|it| format!("{it}=")).collect()
        }
        _ => Vec::new(),
    }
}

/// What may follow the text before a word.
fn words(repl: &Repl, head: &str) -> Vec<String> {
    let owned = |it: &&str| it.to_string();
    if let Some(rest) = head.strip_suffix('.') {
        return match last_name(rest) {
            "nl" => language_names().iter().map(owned).collect(),
            "nisa" => manual::entries()
                .iter()
                .map(|it| it.name.to_string())
                .chain(["engine".to_string()])
                .collect(),
            "engine" => ENGINES.iter().map(|it| it.1.to_string()).collect(),
            "np" => nk_compiler::host::names().map(str::to_string).collect(),
            name if kind_of(repl, name) == Some("tensor") => tensor_names().iter().map(owned).collect(),
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
    let indexed = head.trim_end().strip_suffix('[');
    if indexed.is_some_and(|it| kind_of(repl, last_name(it)) == Some("tensor")) {
        return ["0:", "32:", "64:", "96:"].iter().map(owned).collect();
    }
    let keywords = call.map_or(Vec::new(), |it| keywords(repl, &it));
    names.into_iter().chain(keywords).collect()
}

/// The keywords of an instruction, of a function that makes tensors, or of a function of the file.
fn keywords(repl: &Repl, function: &str) -> Vec<String> {
    let session = &repl.state.session;
    let names: Vec<String> = match (Op::from_name(function), session.module()) {
        (Some(op), _) => {
            let row = op.row();
            let operands = row.operands.iter().map(|it| it.name);
            operands
                .chain(row.call_only.iter().copied())
                .map(str::to_string)
                .collect()
        }
        (None, _) if MAKERS.contains(&function) => ["shape", "dtype", "buffer", "name"]
            .iter()
            .map(|it| it.to_string())
            .collect(),
        (None, Some(module)) => {
            let names = parameters(module, Some(function), session.file());
            names.iter().map(|it| it.to_string()).collect()
        }
        (None, None) => Vec::new(),
    };
    names.iter().map(|it| format!("{it}=")).collect()
}

/// The functions of `nki.language` that make a tensor of a shape.
const MAKERS: &[&str] = &["ndarray", "zeros", "ones", "empty"];

/// What a name of the session is.
fn kind_of(repl: &Repl, name: &str) -> Option<&'static str> {
    let names = &repl.live.as_ref()?.names;
    names.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// The name that a text ends with.
fn last_name(text: &str) -> &str {
    text.rsplit(|it: char| !it.is_alphanumeric() && it != '_')
        .next()
        .unwrap_or("")
}

/// The function whose parenthesis is open at the end of a text, without what stands before its last dot.
fn open_call(head: &str) -> Option<String> {
    let mut depth = 0;
    for (at, c) in head.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth > 0 => depth -= 1,
            '(' => {
                let name = last_name(&head[..at]);
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
    Some(last_name(head)).filter(|it| !it.is_empty())
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
