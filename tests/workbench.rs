//! The workbench: sessions of the REPL, searches of parameters, differences of IR. A new session is a new `.repl` file.

use crate::case::{files, root, stem};
use crate::command::nk;
use nk_compiler::source::Sources;
use nk_runtime::difference::{Side, difference};
use nk_runtime::repl::{Repl, complete, transcript};
use nk_runtime::session::{Session, Settings};
use nk_runtime::stage::Stage;
use nk_runtime::tune::{self, Candidate, Strategy};

fn check_scripts(folder: &str, prefix: &str) {
    for path in files(folder, "repl", 1) {
        let script = std::fs::read_to_string(&path).expect("the script is readable");
        let (stdout, stderr, code) = nk(&["repl"], &script);
        assert_eq!(stderr, "", "a session says everything on stdout");
        assert_eq!(code, Some(0), "a script ends well, whatever happened in it");
        let name = stem(&path);
        insta::with_settings!({ prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("{prefix}__{name}"), stdout);
        });
    }
}

#[test]
fn sessions() {
    check_scripts("tests/repl", "repl");
}

#[test]
fn tour() {
    check_scripts("examples/tour", "tour");
}

/// What a script prints is what the library answers to the same lines.
#[test]
fn script_and_library_agree() {
    let script = std::fs::read_to_string(root().join("tests/repl/statements.repl")).expect("it is readable");
    let (stdout, _, _) = nk(&["repl"], &script);
    assert_eq!(transcript(&mut Repl::new(Settings::default()), &script), stdout);
}

#[test]
fn completion() {
    let mut repl = Repl::new(Settings::default());
    let path = root().join("examples/matmul.nk");
    repl.enter(&format!(":load {}", path.display()));
    repl.enter("tile = nl.ndarray((128, 4), nl.float32, nl.sbuf)");
    let mut out = String::new();
    for line in [
        ":ro",
        ":isa tensor_s",
        ":ir p",
        "ti",
        "nl.bf",
        "nisa.tensor_co",
        "tile[",
        "nisa.memset(tile, va",
        "nisa.tensor_tensor(tile, tile, tile, op=nl.mi",
        "nl.ndarray((1, 1), dtype=nl.f",
        "nl.ndarray((1, 1), buffer=",
        "nl.ndarray((1, 1), b",
        "nl.ndarray((1, 1), dtype=bf",
        "tile.re",
        "np.arg",
        ":explain start",
        ":load no_folder/x",
        ":set ",
        ":arg lhs",
        ":arg lhsT=bf",
        ":arg lhsT=bf16[128,64]:r",
        "matmul_tiled(rh",
    ] {
        let (at, words) = complete(&repl, line, line.len());
        out.push_str(&format!("{line}|\n  from {at}: {}\n", words.join(" ")));
    }
    insta::assert_snapshot!(out);
}

/// What was typed, saved as a kernel, has the same values.
#[test]
fn saved_session_runs() {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let path = folder.path().join("saved.nk");
    let shown = path.to_str().expect("the path is UTF-8");
    let script = format!(
        ":arg x=f32[128,8]:randn(0)\nt = nl.ndarray((128, 8), nl.float32, nl.sbuf)\nnisa.dma_copy(t, x)\n\
         nisa.tensor_scalar(t, t, nl.add, 1.0)\nt\n:save {shown}\n"
    );
    nk(&["repl"], &script);
    let (stdout, stderr, code) = nk(&["run", shown], "");
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("t_out"), "{stdout}");
    // A value that was set stands in the saved file.
    nk(
        &["repl"],
        &format!(":load examples/tour/1_tiles.nk\n:set ROWS=128\n:save {shown}\n"),
    );
    let text = std::fs::read_to_string(&path).expect("the file was written");
    assert!(text.contains("\nROWS = 128\n"), "{text}");
}

/// Constants, what is made from them, and keyword parameters, for the kernel and its reference.
#[test]
fn params_need_no_edit() {
    let file = "tests/tune/params.nk";
    let printed = |params: &[&str]| {
        let args: Vec<&str> = ["run", file].into_iter().chain(params.iter().copied()).collect();
        let (stdout, stderr, code) = nk(&args, "");
        assert_eq!(code, Some(0), "{stdout}{stderr}");
        stdout.lines().next().unwrap_or_default().to_string()
    };
    assert_eq!(printed(&[]), "16.0 2.0");
    assert_eq!(printed(&["--param", "WIDTH=4"]), "8.0 2.0");
    assert_eq!(printed(&["--param", "FACTOR=3.0"]), "3.0 2.0");
    let (_, stderr, code) = nk(&["run", file, "--param", "WIDHT=4"], "");
    assert_eq!(code, Some(1));
    assert!(
        stderr.contains("unknown-param") && stderr.contains("`WIDTH`"),
        "{stderr}"
    );
    assert_eq!(printed(&["--param", "offset=5.0"]), "16.0 5.0");
}

fn searched(file: &str, axes: &[&str], strategy: Strategy) -> (Vec<tune::Axis>, Vec<Candidate>) {
    let (path, kernel) = file.split_once("::").expect("a kernel is named");
    let mut sources = Sources::new();
    let path = root().join(path);
    let session = Session::open(
        &mut sources,
        path.to_str().expect("test paths are UTF-8"),
        Settings::default(),
    );
    let session = session.expect("the file is a kernel file");
    let job = session
        .jobs(Some(kernel), &[])
        .expect("it announces a run")
        .swap_remove(0);
    let axes: Vec<tune::Axis> = axes
        .iter()
        .map(|it| tune::axis(it).expect("it is a range"))
        .collect();
    let found = tune::search(&axes, strategy, Vec::new(), &mut |points| {
        let measure = |point: Vec<usize>| {
            let verdict = tune::measure(&session, &mut sources, &job, &tune::params(&axes, &point));
            Candidate { point, verdict }
        };
        points.into_iter().map(measure).collect()
    });
    (axes, found)
}

/// The best of a grid whose every point is known: all searches find it, and what does not fit is counted.
#[test]
fn tune_finds_the_best_of_a_grid() {
    let axes = ["TILE_N=128,256,512,1024", "TILE_K=64,128"];
    let kernel = "examples/matmul.nk::matmul_tiled";
    let (axes_read, found) = searched(kernel, &axes, Strategy::Grid);
    insta::assert_snapshot!(tune::text(&axes_read, &found));
    let best = tune::ranked(&found)[0].0.point.clone();
    for strategy in [
        Strategy::Climb { samples: 8, seed: 1 },
        Strategy::Random { samples: 8, seed: 1 },
    ] {
        let (_, found) = searched(kernel, &axes, strategy);
        assert_eq!(tune::ranked(&found)[0].0.point, best, "{strategy:?}");
    }
}

/// The course's lesson: two tiles overlap their transfers, one does not, and many tiny ones pay for their number.
#[test]
fn tune_finds_a_middle_size() {
    let (axes, found) = searched(
        "tests/tune/stream.nk::add",
        &["FREE_DIM=40,125,250,500,1000,2000"],
        Strategy::Grid,
    );
    let best = tune::params(&axes, &tune::ranked(&found)[0].0.point);
    insta::assert_snapshot!(tune::text(&axes, &found));
    assert!(
        ["125", "250", "500", "1000"].contains(&best[0].1.as_str()),
        "{best:?}"
    );
}

/// A second run of a search measures only what the first has left.
#[test]
fn tune_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let results = folder.path().join("results.jsonl");
    let svg = folder.path().join("plot.svg");
    let (results, svg) = (results.to_str().expect("UTF-8"), svg.to_str().expect("UTF-8"));
    let run = |values: &str| {
        let args = [
            "tune",
            "tests/tune/stream.nk",
            "--param",
            values,
            "--results",
            results,
            "--svg",
            svg,
            "--jobs",
            "1",
        ];
        nk(&args, "")
    };
    let (first, stderr, code) = run("FREE_DIM=1000,2000");
    assert_eq!(code, Some(0), "{first}{stderr}");
    let lines = || {
        std::fs::read_to_string(results)
            .expect("results were written")
            .lines()
            .count()
    };
    assert_eq!(lines(), 3);
    assert_eq!(run("FREE_DIM=1000,2000").0, first);
    assert_eq!(lines(), 3);
    run("FREE_DIM=1000,2000,500");
    assert_eq!(lines(), 4);
    let text = std::fs::read_to_string(svg).expect("a picture was drawn");
    assert!(text.starts_with("<svg") && text.contains("FREE_DIM"));
    let (_, stderr, code) = nk(&["tune", "tests/tune/stream.nk", "--param", "FREE_DIMS=1,2"], "");
    assert_eq!(code, Some(2), "{stderr}");
}

/// Results of other parameters, or of another order of instructions, are not those that were asked for.
#[test]
fn results_of_other_searches_are_left() {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let results = folder.path().join("results.jsonl");
    let results = results.to_str().expect("UTF-8");
    let run = |more: &[&str]| {
        let args = [
            "tune",
            "examples/matmul.nk::matmul_tiled",
            "--param",
            "TILE_N=128,512",
        ];
        nk(&[&args[..], more].concat(), "")
    };
    let (fresh, stderr, code) = run(&[]);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(run(&["--param", "TILE_K=64", "--results", results]).2, Some(0));
    assert_eq!(run(&["--results", results]).0, fresh);
    let (_, stderr, code) = run(&["--results", results, "--schedule", "reorder"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("bad-results"), "{stderr}");
}

#[test]
fn differences_stand_at_their_lines() {
    let mut sources = Sources::new();
    let mut side = |params: &[(&str, &str)], stage| {
        let path = root().join("examples/tour/1_tiles.nk");
        let params = params
            .iter()
            .map(|it| (it.0.to_string(), it.1.to_string()))
            .collect();
        let settings = Settings {
            params,
            ..Settings::default()
        };
        let session =
            Session::open(&mut sources, path.to_str().expect("UTF-8"), settings).expect("it parses");
        let job = session
            .jobs(None, &[])
            .expect("it announces a run")
            .swap_remove(0);
        let compiled = session.compile(&mut sources, &job, &[]).expect("it compiles");
        Side::new(&compiled, stage, &sources, session.file())
    };
    let same = difference(&side(&[], Stage::Program), &side(&[], Stage::Program));
    assert_eq!(same, "");
    let text = difference(
        &side(&[("ROWS", "64")], Stage::Schedule),
        &side(&[("ROWS", "128")], Stage::Schedule),
    );
    insta::assert_snapshot!(text);
}

/// Snapshots of a user's repository: missing, accepted, changed, reviewed, left over.
#[test]
fn snapshots_are_reviewed() {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let file = folder.path().join("scale.v1.nk");
    // A link to a folder is not followed, or this one would never end.
    std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).expect("links can be made");
    let kernel = std::fs::read_to_string(root().join("examples/tour/1_tiles.nk")).expect("it is readable");
    let directives = "# nk: expect double_reference\n# nk: snapshot placement\n# nk: redact addresses\n";
    let kernel = kernel.replace("# nk: expect double_reference\n", directives);
    std::fs::write(&file, &kernel).expect("the file is written");
    let shown = folder.path().to_str().expect("UTF-8");
    let snapshot = folder.path().join("snapshots/scale.v1.double.placement.nir");
    let read = || std::fs::read_to_string(&snapshot).expect("the snapshot is there");
    assert_eq!(
        nk(&["test", shown, "--ci"], "").2,
        Some(1),
        "a missing snapshot fails"
    );
    assert_eq!(nk(&["test", shown, "--review"], "r\n").2, Some(1));
    assert!(!snapshot.exists());
    let (stdout, _, code) = nk(&["test", shown, "--review"], "a\n");
    assert_eq!(code, Some(0), "{stdout}");
    assert!(read().starts_with("; nk: run double("), "{}", read());
    assert!(read().contains("@ sbuf[…]"), "{}", read());
    assert_eq!(nk(&["test", shown, "--ci"], "").2, Some(0));
    let accepted = read();
    std::fs::write(&file, kernel.replace("ROWS = 32", "ROWS = 64")).expect("the file is written");
    let (stdout, _, code) = nk(&["test", shown], "");
    assert_eq!(code, Some(1));
    assert!(stdout.contains("\n-buf %tile.0: f32[32, 1024]"), "{stdout}");
    assert_eq!(nk(&["test", shown, "--review"], "s\n").2, Some(1));
    assert_eq!(read(), accepted);
    assert_eq!(nk(&["test", shown, "--accept"], "").2, Some(0));
    assert_ne!(read(), accepted);
    std::fs::write(folder.path().join("snapshots/gone.double.program.nir"), "").expect("the file is written");
    let (stdout, _, code) = nk(&["test", shown, "--ci"], "");
    assert_eq!(code, Some(1));
    assert!(stdout.contains("gone.double.program.nir"), "{stdout}");
}
