//! Edits that messages are sure of, the shapes that programs read, and outputs that are whole or not there.

use crate::work::nk;
use nk_compiler::explain::{HEAD, TAIL};
use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn kernel(folder: &Path, lines: &str) {
    let lines: String = lines.lines().map(|it| format!("    {it}\n")).collect();
    std::fs::write(folder.join("kernel.nk"), format!("{HEAD}{lines}{TAIL}")).expect("the folder is writable");
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn check_fix_makes_sure_edits_and_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    kernel(
        folder.path(),
        "for i in range(2)\n    nisa.memst(dst=tlie, vlaue=0.0)\nnisa.activation(dst=tile, op=nl.exp, data=tile, mask=None)",
    );
    let output = nk(folder.path(), &["check", "kernel.nk", "--fix"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).starts_with("5 mistakes fixed\n"),
        "{}",
        text(&output.stdout)
    );
    let fixed = std::fs::read_to_string(folder.path().join("kernel.nk")).expect("the file is there");
    for line in [
        "    for i in range(2):\n",
        "        nisa.memset(dst=tile, value=0.0)\n",
        "    nisa.activation(dst=tile, op=nl.exp, data=tile)\n",
    ] {
        assert!(fixed.contains(line), "{fixed}");
    }
    // What is not known to the letter stays.
    kernel(
        folder.path(),
        "nisa.memset(dst=tile, value=0.0, engine=3)\nif tile = 3:\n    pass",
    );
    let before = std::fs::read_to_string(folder.path().join("kernel.nk")).expect("the file is there");
    let output = nk(folder.path(), &["check", "kernel.nk", "--fix"]);
    assert_eq!(output.status.code(), Some(1));
    let after = std::fs::read_to_string(folder.path().join("kernel.nk")).expect("the file is there");
    assert_eq!(before, after);
    let names = std::fs::read_dir(folder.path())
        .expect("the folder is readable")
        .count();
    assert_eq!(names, 1, "a temporary file is left");
}

#[test]
fn suggestions_stand_in_json_as_rustc_writes_them() {
    let folder = tempfile::tempdir().expect("a folder");
    kernel(folder.path(), "nisa.memset(dst=tile, vlaue=0.0)");
    let output = nk(folder.path(), &["check", "kernel.nk", "--format", "json"]);
    let said = text(&output.stderr);
    let object: Value =
        serde_json::from_str(said.lines().next().expect("one message")).expect("one object a line");
    assert_eq!(object["code"]["code"], "unexpected-keyword");
    assert!(object["code"]["explanation"].is_string());
    let span = &object["children"][0]["spans"][0];
    assert_eq!(span["suggested_replacement"], "value", "{said}");
    assert_eq!(span["suggestion_applicability"], "MachineApplicable");
    assert_eq!(object["spans"][0]["suggested_replacement"], Value::Null);
}

#[test]
fn sarif_and_github_name_the_line() {
    let folder = tempfile::tempdir().expect("a folder");
    kernel(folder.path(), "nisa.memset(dst=tile, vlaue=0.0)");
    let line = HEAD.lines().count() + 1;
    for verb in ["check", "compile", "run", "profile", "memory"] {
        let output = nk(folder.path(), &[verb, "kernel.nk", "--format", "sarif"]);
        assert_eq!(output.status.code(), Some(1), "{verb}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
        assert_eq!(document["version"], "2.1.0");
        let run = &document["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "unexpected-keyword");
        let region = &run["results"][0]["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region["startLine"], line);
        let output = nk(folder.path(), &[verb, "kernel.nk", "--format", "github"]);
        let said = text(&output.stderr);
        let start = format!("::error file=kernel.nk,line={line},");
        assert!(said.starts_with(&start) && said.lines().count() == 1, "{said}");
        let output = nk(folder.path(), &[verb, "kernel.nk", "--format", "json"]);
        let said = text(&output.stderr);
        let message: Value = serde_json::from_str(said.lines().next().unwrap_or("")).expect("an object");
        assert_eq!(message["code"]["code"], "unexpected-keyword", "{verb}");
    }
    // A kernel without mistakes has a document without results.
    kernel(folder.path(), "pass");
    let output = nk(folder.path(), &["run", "kernel.nk", "--format", "sarif"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(document["runs"][0]["results"], Value::Array(Vec::new()));
}

#[test]
fn completions_and_version_are_there() {
    let folder = tempfile::tempdir().expect("a folder");
    for shell in ["bash", "zsh", "fish"] {
        let output = nk(folder.path(), &["completions", shell]);
        assert!(text(&output.stdout).contains("explain"), "{shell}");
    }
    let output = nk(folder.path(), &["--version"]);
    assert!(
        text(&output.stdout).contains("timing model"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn outputs_replace_what_was_there_as_a_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file.txt");
    std::fs::write(&path, "before").expect("the folder is writable");
    let broken = nk_runtime::output::write_with(&path, |file| {
        file.write_all(b"half")?;
        Err(std::io::Error::other("the disk is full"))
    });
    assert!(broken.is_err());
    assert_eq!(
        std::fs::read_to_string(&path).expect("the file is there"),
        "before"
    );
    nk_runtime::output::write(&path, "after").expect("the folder is writable");
    assert_eq!(
        std::fs::read_to_string(&path).expect("the file is there"),
        "after"
    );
    assert_eq!(
        std::fs::read_dir(folder.path())
            .expect("the folder is readable")
            .count(),
        1
    );
    nk_runtime::output::write(Path::new("/dev/null"), "nothing").expect("a device is written through");
    // Who may use a file stays as it was, and a file that nobody may write is not replaced.
    let set_mode =
        |mode| std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("the file is ours");
    set_mode(0o750);
    nk_runtime::output::write(&path, "again").expect("the folder is writable");
    let mode = std::fs::metadata(&path)
        .expect("the file is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o750);
    set_mode(0o440);
    nk_runtime::output::write(&path, "never").expect_err("nobody may write it");
    assert_eq!(
        std::fs::read_to_string(&path).expect("the file is there"),
        "again"
    );
}
