//! `nk explain` knows every code that the sources can report, and its examples do what they say.

use crate::work::{nk, root, said_about};
use nk_compiler::diagnostic::Diagnostic;
use nk_compiler::explain::{Entry, Example, Examples, Form, HEAD, TAIL, entries};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Rust files below a folder.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("the folder is readable").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
}

/// The codes in a source: string literals that stand where a code stands.
fn codes_in(source: &str, is_code_list: bool) -> BTreeSet<String> {
    let production = source.split("#[cfg(test)]").next().unwrap_or(source);
    let pieces: Vec<&str> = production.split('"').collect();
    let mut codes = BTreeSet::new();
    for pair in pieces.windows(2) {
        let (before, word) = (pair[0].trim_end(), pair[1]);
        let is_kebab = word.len() > 2
            && word
                .bytes()
                .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-')
            && word.starts_with(|it: char| it.is_ascii_lowercase());
        let has_call = ["error(", "warning(", "usage(", "wrong_use(", "wrong(code, "]
            .iter()
            .any(|it| before.ends_with(it));
        let is_arm = is_code_list && (before.ends_with("=>") || before.ends_with("=> {"));
        if is_kebab && (has_call || is_arm && word.contains('-')) {
            codes.insert(word.to_string());
        }
    }
    codes
}

#[test]
fn every_code_of_the_sources_has_an_entry() {
    let mut paths = Vec::new();
    for folder in ["compiler/src", "runtime/src"] {
        rust_files(&root().join(folder), &mut paths);
    }
    let mut reported = BTreeSet::new();
    for path in paths {
        let source = std::fs::read_to_string(&path).expect("sources are readable");
        // The functions that give a mistake its code stand beside the mistakes.
        let is_code_list = source.contains("fn code(")
            || source.contains("let code = match")
            || source.contains("let (code, ");
        reported.extend(codes_in(&source, is_code_list));
    }
    assert!(
        reported.len() > 150,
        "the scan found only {} codes",
        reported.len()
    );
    let explained: BTreeSet<String> = entries().iter().map(|it| it.code.to_string()).collect();
    let missing: Vec<&String> = reported.difference(&explained).collect();
    assert!(
        missing.is_empty(),
        "these codes are reported and have no entry in compiler/src/explain/*.txt: {missing:?}"
    );
    let stale: Vec<&String> = explained.difference(&reported).collect();
    assert!(
        stale.is_empty(),
        "these codes are explained and never reported: {stale:?}"
    );
}

/// Every code is checked by a test: its example is compiled below, or a test of the repository names it. What only this
/// machine or a key can bring about is left out.
#[test]
fn every_code_is_produced_by_a_test() {
    const OF_THE_MACHINE: &[&str] = &["interrupted", "no-terminal", "no-thread"];
    let mut texts = Vec::new();
    for folder in [
        "tests",
        "compiler/tests",
        "compiler/src",
        "runtime/src",
        "runtime/tests",
    ] {
        test_texts(&root().join(folder), &mut texts);
    }
    assert!(texts.len() > 500, "only {} texts were read", texts.len());
    let is_tested = |code: &str| {
        let forms = [
            format!("[{code}]"),
            format!("error: {code}"),
            format!("\"{code}\""),
        ];
        texts.iter().any(|text| forms.iter().any(|it| text.contains(it)))
    };
    let shown = |it: &&Entry| matches!(it.examples, Examples::Internal(_));
    let untested: Vec<&str> = entries().iter().filter(shown).map(|it| it.code).collect();
    let untested: Vec<&&str> = untested
        .iter()
        .filter(|it| !OF_THE_MACHINE.contains(it) && !is_tested(it))
        .collect();
    assert!(untested.is_empty(), "no test produces {untested:?}");
}

/// The kernels, snapshots and Rust tests below a folder; of other Rust files the part that is a test.
fn test_texts(folder: &Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("the folder is readable").path();
        if path.is_dir() {
            test_texts(&path, texts);
            continue;
        }
        let ending = path.extension().and_then(|it| it.to_str()).unwrap_or("");
        if !["rs", "nk", "py", "nir", "snap"].contains(&ending) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let is_source = path.components().any(|it| it.as_os_str() == "src");
        texts.extend(match text.split_once("#[cfg(test)]") {
            Some((_, tests)) if is_source => Some(tests.to_string()),
            _ if is_source => None,
            _ => Some(text),
        });
    }
}

/// A folder with the files that the commands of the examples name.
fn folder_of_files() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for the files");
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, bytes: &[u8]| std::fs::write(at(name), bytes).expect("the folder is writable");
    write("kernel.nk", format!("{HEAD}{TAIL}").as_bytes());
    write(
        "kernel.nir",
        b"kernel %k for trainium1\nbuf %x: f32[128, 64] @ sbuf\nbody {\n  %x <- memset value=0.0\n}\n",
    );
    write("latin1.nk", b"name = \"\xe9\"\n");
    let descr = "{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }";
    let header = format!("{descr:<117}\n");
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
    npy.extend(header.as_bytes());
    npy.extend([0; 16]);
    write("complex.npy", &npy);
    let n_bytes = 128 * 512 * 4;
    let header = format!(
        "{{\"x\":{{\"dtype\":\"F32\",\"shape\":[128,512],\"data_offsets\":[0,{n_bytes}]}},\"y\":{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[{n_bytes},{}]}}}}",
        n_bytes + 4
    );
    let mut safetensors = u64::try_from(header.len())
        .expect("a short header")
        .to_le_bytes()
        .to_vec();
    safetensors.extend(header.as_bytes());
    safetensors.extend(vec![0; n_bytes + 4]);
    write("two.safetensors", &safetensors);
    let tuned = "    for at in range(0, 512, COLUMNS):\n        part = tile[:, at : at + COLUMNS]\n        nisa.tensor_scalar(dst=part, data=part, op0=nl.multiply, operand0=FACTOR, op1=nl.add, operand1=OFFSET)\n";
    let constants = "COLUMNS = 512\nFACTOR = 1.0\nOFFSET = 0.0\n\n\n@nki.jit";
    let head = HEAD.replacen("@nki.jit", constants, 1);
    write("tuned.nk", format!("{head}{tuned}{TAIL}").as_bytes());
    let first = HEAD.lines().next().expect("the head announces a run");
    write("twice.nk", format!("{first}\n{HEAD}{TAIL}").as_bytes());
    write("other.jsonl", b"{}\n");
    let descr = "{'descr': '<f4', 'fortran_order': False, 'shape': (128, 512), }";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    let header = format!("{descr:<117}\n");
    npy.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
    npy.extend(header.as_bytes());
    npy.extend((0..128 * 512).flat_map(|_| f32::NAN.to_le_bytes()));
    write("nan.npy", &npy);
    std::fs::create_dir(at("empty")).expect("the folder is writable");
    folder
}

/// The codes that an example leads to, those of errors first, and all that is said.
struct Said {
    errors: Vec<String>,
    warnings: Vec<String>,
    text: String,
}

fn said(entry: &Entry, example: &Example) -> Said {
    if example.form == Form::Command {
        return said_by_command(entry, example);
    }
    let folder = tempfile::tempdir().expect("a folder for the file");
    let ending = if example.form == Form::Ir { "nir" } else { "nk" };
    let path = folder.path().join(format!("kernel.{ending}"));
    let file = example.file().expect("an example that is no command");
    std::fs::write(&path, file).expect("the folder is writable");
    let (said, text) = said_about(&path, "kernel");
    let (errors, warnings): (Vec<_>, Vec<_>) = said.into_iter().partition(|it| it.is_error());
    let codes = |list: Vec<Diagnostic>| list.iter().map(|it| it.code.to_string()).collect();
    Said {
        errors: codes(errors),
        warnings: codes(warnings),
        text,
    }
}

fn said_by_command(entry: &Entry, example: &Example) -> Said {
    let folder = folder_of_files();
    let words: Vec<&str> = example.text.split_whitespace().skip(1).collect();
    let output = nk(folder.path(), &words);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(101), "{}: {text}", entry.code);
    let codes = |severity: &str| -> Vec<String> {
        let code = |line: &str| Some(line.strip_prefix(severity)?.split_once(']')?.0.to_string());
        text.lines().filter_map(code).collect()
    };
    let mut said = Said {
        errors: codes("error["),
        warnings: codes("warning["),
        text: String::new(),
    };
    if output.status.code() != Some(0) && said.errors.is_empty() {
        said.errors.push("no message".to_string());
    }
    said.text = text;
    said
}

#[test]
fn bad_examples_give_their_code_and_good_ones_give_none() {
    let mut wrong = Vec::new();
    for entry in entries() {
        let Examples::Pair { bad, good } = &entry.examples else {
            continue;
        };
        let found = said(entry, bad);
        let has_code = found
            .errors
            .iter()
            .chain(&found.warnings)
            .any(|it| it == entry.code);
        if !has_code || found.errors.iter().any(|it| it != entry.code) {
            wrong.push(format!(
                "the bad example of {} gives {:?}\n{}",
                entry.code, found.errors, found.text
            ));
        }
        let found = said(entry, good);
        // A file that is only parsed has arguments that nobody gave; a short example leaves things unused.
        let is_clean = found.errors.iter().all(|it| it == "missing-argument");
        if !is_clean || found.warnings.iter().any(|it| it == entry.code) {
            wrong.push(format!(
                "the good example of {} gives {:?}\n{}",
                entry.code, found.errors, found.text
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
