//! The command: its exit codes, and what it prints where.

use crate::case::root;
use std::process::{Command, Stdio};

/// The command at the root of the repository, so that scripts name files as a user there would.
pub fn nk(args: &[&str], input: &str) -> (String, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nk"));
    command.current_dir(root()).args(args).env("NO_COLOR", "1");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    std::io::Write::write_all(
        &mut child.stdin.take().expect("stdin is a pipe"),
        input.as_bytes(),
    )
    .expect("the command reads its input");
    let output = child.wait_with_output().expect("the command ends");
    let text = |it: Vec<u8>| String::from_utf8(it).expect("the command prints UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code())
}

/// Exit codes and streams are a contract: 1 for a wrong kernel, 2 for usage, the product on stdout.
#[test]
fn the_command_answers_bad_input_with_its_exit_code() {
    let bytes = std::env::temp_dir().join(format!("nk-suite-{}.nk", std::process::id()));
    let noise: Vec<u8> = (0..4096u32)
        .map(|it| (it.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    std::fs::write(&bytes, noise).expect("the temporary folder is writable");
    let bytes = bytes.to_str().expect("temporary paths are UTF-8");
    let cases: &[(&[&str], i32)] = &[
        (
            &[
                "run",
                "tests/kernels/arguments.py::nested",
                "--args-json",
                "tests/data/arguments.json",
            ],
            0,
        ),
        (&["check", "tests/errors/assertion.py"], 1),
        (&["check", "tests/errors/while_true.py"], 1),
        (&["check", "tests/errors/infinite_recursion.py"], 1),
        (&["check", "tests/errors/deep_expression.py"], 1),
        (&["run", bytes], 1),
        (&["run", "no/such/file.nk"], 2),
        (&["check", "tests/data/large_grid.nk"], 1),
        (&["run", "examples/softmax.nk", "--arg", "x=@no/such/file.npy"], 2),
        (&["run", "examples/softmax.nk", "--cores", "3"], 2),
        (&["run", "examples/softmax.nk", "--grid", "nl.nc(3)"], 2),
        (&["run", "examples/two_cores.nk", "--cores", "2"], 0),
        (&["run", "examples/softmax.nk", "--ranks", "65"], 2),
        (&["check", "examples/matmul.nk", "--target", "trainium2"], 2),
        (&["check", "examples/softmax.nk", "--spill"], 0),
        (&["check", "tests/errors/over_capacity.py", "--spill"], 1),
        (&["check", "tests/spill/late_uses.py"], 1),
        (&["run", "examples/softmax.nk", "--no-such-flag"], 2),
        (
            &[
                "check",
                "examples/softmax.nk::softmax",
                "--arg",
                "x=bf16[256,512]",
            ],
            0,
        ),
        (
            &["run", "examples/softmax.nk::softmax", "--arg", "x=bf16[256,512]"],
            2,
        ),
        (&["check", "examples/softmax.nk", "--sbuf-reserve", "196608"], 2),
        (&["run", "examples/softmax.nk", "--rtol", "inf"], 2),
        (
            &[
                "profile",
                "examples/softmax.nk",
                "--diff",
                "examples/softmax.nk",
                "--trace",
                "x.json",
            ],
            2,
        ),
        (
            &[
                "tune",
                "examples/matmul.nk::matmul_tiled",
                "--param",
                "TILE_N=128",
                "--param",
                "TILE_N=256",
            ],
            2,
        ),
        (
            &["tune", "examples/matmul.nk::nothing", "--param", "TILE_N=128"],
            2,
        ),
        (&["test", "no/such/folder"], 2),
        (
            &[
                "test",
                "examples/softmax.nk",
                "--target",
                "trn1.32xlarge",
                "--limit",
                "steps=1000000",
            ],
            0,
        ),
        (&["test", "examples/softmax.nk", "--limit", "steps=10"], 1),
        (
            &[
                "check",
                "examples/snapshots/attention.attention_one_tile.schedule.nir",
                "--param",
                "X=1",
            ],
            2,
        ),
        (&["repl", "--limit", "no-such-limit=1"], 2),
        (&["repl", "--format", "json"], 2),
        (
            &[
                "run",
                "examples/softmax.nk::softmax",
                "--arg",
                "x=f32[256,512]:ones",
                "--arg",
                "x=f32[256,512]:zeros",
            ],
            2,
        ),
        (
            &[
                "run",
                "examples/matmul.nk::matmul_tiled",
                "--param",
                "TILE_N=128",
                "--param",
                "TILE_N=256",
            ],
            2,
        ),
        (&["fly"], 2),
        (&["check", "examples/softmax.nk"], 0),
        (&["test", "--ci", "examples"], 0),
    ];
    for (args, code) in cases {
        let (stdout, stderr, found) = nk(args, "");
        assert_eq!(found, Some(*code), "nk {args:?}\n{stdout}\n{stderr}");
        if *code != 0 {
            assert!(
                stderr.contains("error") || stdout.contains("error"),
                "nk {args:?} says nothing on stderr: {stderr}"
            );
        }
    }
    std::fs::remove_file(bytes).expect("the temporary file is there");
}

#[test]
fn run_prints_one_json_object_and_writes_results() {
    let out = std::env::temp_dir().join(format!("nk-suite-{}-out", std::process::id()));
    let folder = out.to_str().expect("temporary paths are UTF-8");
    let args = [
        "run",
        "examples/vector_add.nk",
        "--format",
        "json",
        "--out",
        folder,
    ];
    let (stdout, stderr, code) = nk(&args, "");
    assert_eq!(code, Some(0), "{stderr}");
    let last = stdout.lines().last().expect("something is printed");
    let object: serde_json::Value = serde_json::from_str(last).expect("the last line is JSON");
    let run = object.get("runs").map_or(&object, |it| &it[0]);
    for field in [
        "results",
        "mutated",
        "checks",
        "modelled_ns",
        "compile_ms",
        "emulate_ms",
        "io_ms",
        "seed",
    ] {
        assert!(run.get(field).is_some(), "no field {field} in {last}");
    }
    let written = std::fs::read_dir(&out).expect("the folder was made").count();
    // Several runs of a file have a folder each.
    let n_runs = object["runs"].as_array().map_or(0, Vec::len);
    assert!(
        n_runs > 1 && written == n_runs,
        "{n_runs} runs wrote {written} folders"
    );
    std::fs::remove_dir_all(&out).expect("the folder is ours");
}

/// A level that the processor lacks is refused, not replaced by another one.
#[test]
fn an_unknown_level_of_the_processor_is_wrong_use() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nk"));
    command
        .args(["targets"])
        .env("NK_CPU", "avx1")
        .env("NO_COLOR", "1");
    let output = command.output().expect("the command runs");
    let said = String::from_utf8(output.stderr).expect("the command prints UTF-8");
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("NK_CPU is `avx1`; this processor has "), "{said}");
}
