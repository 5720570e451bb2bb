//! IR text and the verifier, tested from files: `tests/ir` holds canonical texts, `tests/verify` wrong instructions.

use nk_compiler::diagnostic::{Report, render};
use nk_compiler::source::Sources;
use nk_compiler::text::{self, PrintOptions};
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests")
        .join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder of tests exists");
    let mut files: Vec<PathBuf> = entries
        .map(|it| it.expect("the folder can be listed").path())
        .filter(|it| it.extension().is_some_and(|it| it == "nir"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no tests", folder.display());
    files
}

/// The text without comments, which no table keeps.
fn without_comments(text: &str) -> String {
    text.lines()
        .filter(|it| !it.trim_start().starts_with(';'))
        .flat_map(|it| [it, "\n"])
        .collect()
}

#[test]
fn canonical_texts_print_as_they_were_read() {
    for path in files("ir") {
        let mut sources = Sources::new();
        let text = std::fs::read_to_string(&path).unwrap();
        let file = sources.add(path.file_name().unwrap().to_string_lossy(), text.as_str());
        let parsed = text::parse(&sources, file).unwrap_or_else(|errors| {
            let diagnostics: Vec<_> = errors.iter().map(Report::report).collect();
            panic!("{}", render(&diagnostics, &sources));
        });
        let printed = text::print(
            &parsed.program,
            parsed.placement.as_ref(),
            parsed.schedule.as_ref(),
            PrintOptions::default(),
        );
        assert_eq!(printed, without_comments(&text), "{}", path.display());
    }
}
