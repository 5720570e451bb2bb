//! Kernels with the mistakes that people make: each message is found at its line, and its whole text stands in a snapshot
//! that was read as a beginner reads it.

use crate::work::{root, said_about, snapshots};
use nk_compiler::diagnostic::Severity;
use nk_compiler::lex::expected_diagnostics;

#[test]
fn messages_teach() {
    let entries = std::fs::read_dir(root().join("tests/broken")).expect("the folder exists");
    let paths = entries.map(|it| it.expect("the folder is readable").path());
    let mut paths: Vec<_> = paths
        .filter(|it| it.extension().is_some_and(|it| it == "py"))
        .collect();
    paths.sort();
    assert!(
        paths.len() >= 30,
        "only {} broken kernels were found",
        paths.len()
    );
    for path in paths {
        let name = path
            .file_stem()
            .and_then(|it| it.to_str())
            .expect("test files have plain names");
        let (said, text) = said_about(&path, &format!("{name}.py"));
        let source = std::fs::read_to_string(&path).expect("the test file is readable");
        let mut expected: Vec<String> = expected_diagnostics(&source).into_iter().map(|it| it.2).collect();
        let errors = said.iter().filter(|it| it.severity == Severity::Error);
        let mut found: Vec<String> = errors.map(|it| it.code.to_string()).collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{path:?}\n{text}");
        snapshots().bind(|| insta::assert_snapshot!(format!("broken_{name}"), text));
    }
}
