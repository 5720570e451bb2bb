//! Every kernel file of the repository, run as a user would: examples, test kernels, broken kernels, and the command.
//!
//! A new case is a new file; no Rust is added. `# nk:` directives say what to run and what to expect, `# error: CODE` on
//! a line says what must be reported there.

mod setup;
mod workbench;

use nk_compiler::check::Results;
use nk_compiler::diagnostic::{Diagnostic, Severity, render};
use nk_compiler::ir::{BufferId, InstId};
use nk_compiler::isa::ROWS;
use nk_compiler::source::Sources;
use nk_compiler::specialize::Dialect;
use nk_compiler::text::Directive;
use nk_compiler::{Compiled, complete, lex, target, text};
use nk_runtime::session::{Outcome, RunOptions, RunOrder, Session, Settings};
use nk_runtime::tensor::Tensor;
use nk_runtime::{Emulator, Lookout, Machine, Trap};
use setup::{root, with_stack};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The files of a folder with an ending, sorted.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the folder exists");
    let paths = entries.map(|it| it.expect("the folder is readable").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|it| it.extension().is_some_and(|it| it == ending))
        .collect();
    paths.sort();
    paths
}

fn stem(path: &Path) -> &str {
    path.file_stem()
        .and_then(|it| it.to_str())
        .expect("test files have plain names")
}

fn open(sources: &mut Sources, path: &Path) -> Result<Session, Vec<Diagnostic>> {
    open_as(sources, path, Settings::default())
}

fn open_as(sources: &mut Sources, path: &Path, settings: Settings) -> Result<Session, Vec<Diagnostic>> {
    let shown = path.to_str().expect("test paths are UTF-8");
    Session::open(sources, shown, settings).map_err(|it| it.diagnostics)
}

fn options(emulator: Emulator, order: RunOrder) -> RunOptions {
    RunOptions {
        order,
        emulator,
        ..RunOptions::default()
    }
}

fn run(path: &Path, emulator: Emulator, order: RunOrder) -> Vec<Outcome> {
    run_with(path, emulator, order, Settings::default())
}

fn run_with(path: &Path, emulator: Emulator, order: RunOrder, settings: Settings) -> Vec<Outcome> {
    run_as(path, settings, &options(emulator, order))
}

fn run_as(path: &Path, settings: Settings, options: &RunOptions) -> Vec<Outcome> {
    let mut sources = Sources::new();
    let fail =
        |diagnostics: &[Diagnostic], sources: &Sources| -> ! { panic!("{}", render(diagnostics, sources)) };
    let settings = Settings {
        spill: path.parent().is_some_and(|it| it.ends_with("spill")),
        ..settings
    };
    let shown = path.to_str().expect("test paths are UTF-8");
    let session =
        Session::open(&mut sources, shown, settings).unwrap_or_else(|it| fail(&it.diagnostics, &sources));
    let jobs = session
        .jobs(None, &[])
        .unwrap_or_else(|it| fail(&it.diagnostics, &sources));
    let mut outcomes = Vec::new();
    for job in jobs {
        match session.run(&mut sources, &job, options) {
            Ok(outcome) => outcomes.push(outcome),
            Err(failure) => fail(&failure.diagnostics, &sources),
        }
    }
    outcomes
}

/// The bits of every result, for comparing emulators and orders.
fn bits(outcomes: &[Outcome]) -> Vec<(String, Vec<u8>)> {
    let results = outcomes
        .iter()
        .flat_map(|it| it.results.iter().chain(&it.mutated));
    results
        .map(|it| (it.name.clone(), it.tensor.bytes().to_vec()))
        .collect()
}

/// What the memory checks never say of a correct kernel. Some kernels make tiles only to ask for their types, so stores that
/// nothing reads are left out.
const ALARMS: &[&str] = &[
    "nan-in-result",
    "output-not-written",
    "psum-group-open",
    "uninitialized-read",
    "vacuous-result",
];

fn kernels_agree(paths: Vec<PathBuf>, at_least: usize) {
    let mut n_kernels = 0;
    for path in paths {
        n_kernels += with_stack(move || {
            let outcomes = run(&path, Emulator::Jit, RunOrder::Program);
            for outcome in &outcomes {
                assert!(
                    !outcome.checks.is_empty(),
                    "{path:?}: {} checks nothing",
                    outcome.kernel
                );
                let is_sram = stem(&path).starts_with("sram");
                let alarms = |it: &&Diagnostic| is_sram || ALARMS.contains(&it.code);
                let alarm = outcome.warnings.iter().find(alarms);
                assert!(alarm.is_none(), "{path:?}: {}: {alarm:?}", outcome.kernel);
                for check in &outcome.checks {
                    let found = &check.check;
                    assert!(
                        check.ok(),
                        "{path:?}: {} of {}: {found:?}",
                        check.result,
                        outcome.kernel
                    );
                }
            }
            let want = bits(&outcomes);
            let others = [
                (Emulator::Reference, RunOrder::Program),
                (Emulator::Jit, RunOrder::Engines),
                (Emulator::Jit, RunOrder::Random { seed: 1 }),
                (Emulator::Jit, RunOrder::Random { seed: 2 }),
            ];
            for (emulator, order) in others {
                let got = bits(&run(&path, emulator, order));
                assert!(
                    got == want,
                    "{path:?}: {emulator:?} in order {order:?} gives other bits"
                );
            }
            outcomes.len()
        });
    }
    assert!(n_kernels >= at_least, "only {n_kernels} kernels were found");
}

#[test]
fn examples_match_their_references_in_every_order() {
    kernels_agree(files("examples", "nk"), 9);
}

#[test]
fn test_kernels_match_their_references_in_every_order() {
    kernels_agree(files("tests/kernels", "py"), 100);
}

/// What kernels print while they run is the same text in every order, and stands in a snapshot.
#[test]
fn prints_are_those_of_program_order() {
    let paths = files("tests/printed", "py");
    assert!(!paths.is_empty(), "no kernels that print were found");
    for path in paths {
        let case = path.clone();
        let texts = with_stack(move || {
            let runs = [
                (Emulator::Jit, RunOrder::Program),
                (Emulator::Reference, RunOrder::Program),
                (Emulator::Jit, RunOrder::Engines),
                (Emulator::Jit, RunOrder::Random { seed: 3 }),
            ];
            let printed =
                |outcomes: Vec<Outcome>| outcomes.into_iter().map(|it| it.printed).collect::<String>();
            runs.map(|(emulator, order)| printed(run(&case, emulator, order)))
        });
        assert!(
            texts.iter().all(|it| *it == texts[0]),
            "{path:?} prints {texts:?}"
        );
        snapshots().bind(|| insta::assert_snapshot!(format!("printed_{}", stem(&path)), texts[0]));
    }
}

/// Addresses are nobody's business: results are the same wherever buffers lie.
#[test]
fn placement_seeds_change_addresses_and_no_values() {
    let mut n_moved = 0;
    for path in files("examples", "nk") {
        let want = bits(&run(&path, Emulator::Jit, RunOrder::Program));
        for seed in 1..=20 {
            let settings = Settings {
                place_seed: Some(seed),
                ..Settings::default()
            };
            let path = path.clone();
            let outcomes = with_stack(move || run_with(&path, Emulator::Jit, RunOrder::Engines, settings));
            n_moved += usize::from(outcomes.iter().any(|it| it.modelled.sbuf_peak_bytes > 0));
            assert!(bits(&outcomes) == want, "seed {seed} changes values");
        }
    }
    assert!(n_moved > 100, "only {n_moved} placements were made");
}

/// Instructions that change places compute the same, and are taken only where the model finds them faster.
#[test]
fn reordered_programs_compute_the_same_bits_no_slower() {
    let (mut n_faster, mut n_kept) = (0, 0);
    for path in files("examples", "nk")
        .into_iter()
        .chain(files("tests/kernels", "py"))
        .chain(files("tests/spill", "py"))
    {
        let (faster, kept) = with_stack(move || {
            let settings = Settings {
                reorder: true,
                ..Settings::default()
            };
            let before = run(&path, Emulator::Jit, RunOrder::Program);
            let (mut n_faster, mut n_kept) = (0, 0);
            for order in [
                RunOrder::Program,
                RunOrder::Engines,
                RunOrder::Random { seed: 11 },
            ] {
                let after = run_with(&path, Emulator::Jit, order, settings.clone());
                assert!(
                    bits(&after) == bits(&before),
                    "{path:?} has other values in {order:?}"
                );
                for (before, after) in before.iter().zip(&after) {
                    let Some(reordered) = after.modelled.reordered else {
                        panic!("{path:?} says nothing of its order");
                    };
                    n_faster += usize::from(reordered.is_taken());
                    n_kept += usize::from(!reordered.is_taken());
                    let (before, after) = (before.modelled.total_ps, after.modelled.total_ps);
                    assert!(after <= before, "{path:?}: {before} ps become {after} ps");
                }
            }
            (n_faster, n_kept)
        });
        n_faster += faster;
        n_kept += kept;
    }
    assert!(n_faster > 40 && n_kept > 40, "{n_faster} faster, {n_kept} kept");
}

/// What is poisoned where storage is reused is never seen, and no read of correct kernels is suspected.
#[test]
fn poison_between_lives_changes_no_values() {
    let mut n_poisoned = 0;
    for path in files("examples", "nk")
        .into_iter()
        .chain(files("tests/kernels", "py"))
    {
        n_poisoned += with_stack(move || {
            let plain = options(Emulator::Jit, RunOrder::Program);
            let watched = RunOptions {
                lookout: Lookout {
                    traps: Vec::new(),
                    sanitize: true,
                },
                ..options(Emulator::Jit, RunOrder::Program)
            };
            let outcomes = run_as(&path, Settings::default(), &watched);
            let want = bits(&run_as(&path, Settings::default(), &plain));
            assert!(
                bits(&outcomes) == want,
                "{path:?} sees what an earlier tenant left"
            );
            outcomes.iter().map(|it| it.sanitized.n_poisoned).sum::<u64>()
        });
    }
    assert!(n_poisoned > 1000, "only {n_poisoned} lives were poisoned");
}

/// Bytes that were freed longest ago are reused first, so a few buffers are enough to load ahead of the engines.
#[test]
fn reuse_of_sram_keeps_loads_ahead() {
    let path = root().join("tests/memory/tiled_matmul.py");
    let modelled_ps = |n_buffers: Option<u32>| {
        let target = &target::TARGETS[0];
        let bytes = n_buffers.map_or(target.sbuf_partition_bytes, |it| it * 1280);
        let smaller = target::Target {
            sbuf_partition_bytes: bytes,
            ..target.clone()
        };
        let settings = Settings {
            target: Box::leak(Box::new(smaller)),
            ..Settings::default()
        };
        run_as(&path, settings, &options(Emulator::Jit, RunOrder::Program))[0]
            .modelled
            .total_ps
    };
    let times: Vec<u64> = (1..=4).map(|it| modelled_ps(Some(it))).collect();
    let best = modelled_ps(None);
    assert!(
        times[0] > times[1] && times[1] > times[2] && times[2] >= times[3],
        "{times:?}"
    );
    assert!(
        times[3] <= best + best / 50,
        "four buffers take {} ps, all of SBUF {best} ps",
        times[3]
    );
}

#[test]
fn spilled_kernels_match_their_references_in_every_order() {
    let paths = files("tests/spill", "py");
    for path in &paths {
        for outcome in run(path, Emulator::Jit, RunOrder::Program) {
            let spilled = outcome.modelled.spilled;
            assert!(
                spilled.reload_bytes + spilled.psum_bytes > 0,
                "{} fits without spilling",
                outcome.kernel
            );
        }
    }
    kernels_agree(paths, 1);
}

/// Everything that is said about a file: while it is parsed, or while its runs are compiled.
fn diagnose(path: &Path, settings: Settings) -> (Vec<Diagnostic>, Sources) {
    let mut sources = Sources::new();
    let session = match open_as(&mut sources, path, settings) {
        Ok(it) => it,
        Err(diagnostics) => return (diagnostics, sources),
    };
    let mut all = Vec::new();
    match session.jobs(None, &[]) {
        Err(failure) => all.extend(failure.diagnostics),
        Ok(jobs) => {
            for job in jobs {
                match session.compile(&mut sources, &job, &[]) {
                    Ok(compiled) => all.extend(compiled.warnings),
                    Err(failure) => all.extend(failure.diagnostics),
                }
            }
        }
    }
    (all, sources)
}

#[test]
fn broken_kernels_are_reported_at_their_lines() {
    let paths = files("tests/errors", "py");
    assert!(
        paths.len() >= 80,
        "only {} broken kernels were found",
        paths.len()
    );
    for path in paths {
        let case = path.clone();
        let (found, shown) = with_stack(move || {
            let (diagnostics, sources) = diagnose(&case, Settings::default());
            let place = |it: &Diagnostic| {
                let span = it.primary_span().expect("every message has a place");
                (
                    sources.line_column(span.file, span.start).0,
                    it.severity,
                    it.code.to_string(),
                )
            };
            let found: Vec<(usize, Severity, String)> = diagnostics.iter().map(place).collect();
            // Paths differ between machines; the name of the file does not.
            let shown = render(&diagnostics, &sources).replace(case.to_str().unwrap(), stem(&case));
            (found, shown)
        });
        let source = std::fs::read_to_string(&path).expect("the test file is readable");
        let mut expected = lex::expected_diagnostics(&source);
        let mut errors: Vec<_> = found.into_iter().filter(|it| it.1 == Severity::Error).collect();
        expected.retain(|it| it.1 == Severity::Error);
        expected.sort_by_key(|it| it.0);
        errors.sort_by_key(|it| it.0);
        assert_eq!(errors, expected, "{path:?}\n{shown}");
        snapshots().bind(|| insta::assert_snapshot!(format!("error_{}", stem(&path)), shown));
    }
}

/// What goes wrong when a program runs is reported at its line, by both emulators and in every order.
#[test]
fn faults_are_reported_at_their_lines() {
    let paths = files("tests/faults", "py");
    assert!(paths.len() >= 2, "only {} faulty kernels were found", paths.len());
    for path in paths {
        let source = std::fs::read_to_string(&path).expect("the test file is readable");
        let expected = lex::expected_diagnostics(&source);
        let runs = [
            (Emulator::Jit, RunOrder::Program),
            (Emulator::Jit, RunOrder::Random { seed: 1 }),
            (Emulator::Reference, RunOrder::Program),
        ];
        for (emulator, order) in runs {
            let case = path.clone();
            let (found, shown) = with_stack(move || {
                let mut sources = Sources::new();
                let session =
                    open(&mut sources, &case).unwrap_or_else(|it| panic!("{}", render(&it, &sources)));
                let jobs = session.jobs(None, &[]).expect("the arguments are well-formed");
                let failure = session.run(&mut sources, &jobs[0], &options(emulator, order));
                let Err(failure) = failure else {
                    panic!("{case:?} runs to its end");
                };
                let place = |it: &Diagnostic| {
                    let span = it.primary_span().expect("every fault has a place");
                    (
                        sources.line_column(span.file, span.start).0,
                        it.severity,
                        it.code.to_string(),
                    )
                };
                let found: Vec<_> = failure.diagnostics.iter().map(place).collect();
                let shown =
                    render(&failure.diagnostics, &sources).replace(case.to_str().unwrap(), stem(&case));
                (found, shown)
            });
            assert_eq!(found, expected, "{path:?} by {emulator:?}\n{shown}");
            snapshots().bind(|| insta::assert_snapshot!(format!("fault_{}", stem(&path)), shown));
        }
    }
}

/// What `--trap` and `--sanitize` find, which the first word of a file's name asks for: at its line, by both emulators and in
/// every order. A file without marks runs to its end.
#[test]
fn watched_kernels_stop_where_they_go_wrong() {
    let paths = files("tests/watched", "py");
    assert!(
        paths.len() >= 10,
        "only {} watched kernels were found",
        paths.len()
    );
    for path in paths {
        let source = std::fs::read_to_string(&path).expect("the test file is readable");
        let expected = lex::expected_diagnostics(&source);
        let word = stem(&path).split('_').next().unwrap_or_default();
        let lookout = Lookout {
            traps: Trap::from_name(word).into_iter().collect(),
            sanitize: word == "sanitize",
        };
        assert!(!lookout.is_idle(), "{path:?} does not say what to look for");
        let runs = [
            (Emulator::Jit, RunOrder::Program),
            (Emulator::Jit, RunOrder::Random { seed: 1 }),
            (Emulator::Reference, RunOrder::Program),
        ];
        for (emulator, order) in runs {
            let (case, lookout) = (path.clone(), lookout.clone());
            let (found, shown) = with_stack(move || {
                let mut sources = Sources::new();
                let session =
                    open(&mut sources, &case).unwrap_or_else(|it| panic!("{}", render(&it, &sources)));
                let jobs = session.jobs(None, &[]).expect("the arguments are well-formed");
                let options = RunOptions {
                    lookout,
                    ..options(emulator, order)
                };
                let diagnostics = match session.run(&mut sources, &jobs[0], &options) {
                    Ok(outcome) => outcome.warnings,
                    Err(failure) => failure.diagnostics,
                };
                let place = |it: &Diagnostic| {
                    let span = it.primary_span().expect("every message has a place");
                    (
                        sources.line_column(span.file, span.start).0,
                        it.severity,
                        it.code.to_string(),
                    )
                };
                let found: Vec<_> = diagnostics.iter().map(place).collect();
                let shown = render(&diagnostics, &sources).replace(case.to_str().unwrap(), stem(&case));
                (found, shown)
            });
            assert_eq!(found, expected, "{path:?} by {emulator:?} in {order:?}\n{shown}");
            snapshots().bind(|| insta::assert_snapshot!(format!("watched_{}", stem(&path)), shown));
        }
    }
}

fn snapshots() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

#[test]
fn ir_snapshots_of_examples() {
    let mut n_snapshots = 0;
    for path in files("examples", "nk")
        .into_iter()
        .chain(files("tests/kernels", "py"))
    {
        let case = path.clone();
        let texts = with_stack(move || {
            let mut sources = Sources::new();
            let session = open(&mut sources, &case).unwrap_or_else(|it| panic!("{}", render(&it, &sources)));
            let module = session.module().expect("kernel files have a syntax tree");
            let runs = nk_compiler::directive::runs(module).expect("the directives are well-formed");
            let jobs = session.jobs(None, &[]).expect("the arguments are well-formed");
            let mut texts = Vec::new();
            for (run, job) in runs.iter().zip(&jobs) {
                if run.snapshots.is_empty() {
                    continue;
                }
                let compiled = session.compile(&mut sources, job, &[]);
                let compiled = compiled.unwrap_or_else(|it| panic!("{}", render(&it.diagnostics, &sources)));
                for stage in &run.snapshots {
                    texts.push((format!("{}_{}", run.kernel, stage), stage_text(&compiled, stage)));
                }
            }
            texts
        });
        for (name, text) in texts {
            n_snapshots += 1;
            snapshots().bind(|| insta::assert_snapshot!(format!("ir_{}_{name}", stem(&path)), text));
        }
    }
    assert!(
        n_snapshots >= 6,
        "only {n_snapshots} snapshot directives were found"
    );
}

fn stage_text(compiled: &Compiled, stage: &str) -> String {
    if stage == "clif" {
        let target = &target::TARGETS[0];
        return nk_runtime::clif(
            &compiled.program,
            &compiled.placement,
            &compiled.first_writes,
            target,
        );
    }
    let placement = (stage != "program").then_some(&compiled.placement);
    let schedule = (stage == "schedule").then_some(&compiled.schedule);
    text::print(
        &compiled.program,
        placement,
        schedule,
        text::PrintOptions::default(),
    )
}

/// Kernels that run and are warned about, while they are compiled or by what the emulator saw.
#[test]
fn warnings_stand_at_their_lines() {
    let paths = files("tests/warnings", "py");
    assert!(paths.len() >= 10, "only {} kernels were found", paths.len());
    for path in paths {
        let source = std::fs::read_to_string(&path).expect("the test file is readable");
        let mut expected = lex::expected_diagnostics(&source);
        expected.sort_by(|a, b| (a.0, &a.2).cmp(&(b.0, &b.2)));
        let case = path.clone();
        let shown = with_stack(move || {
            let shown = [Emulator::Jit, Emulator::Reference].map(|emulator| {
                let mut sources = Sources::new();
                let session =
                    open(&mut sources, &case).unwrap_or_else(|it| panic!("{}", render(&it, &sources)));
                let jobs = session.jobs(None, &[]).expect("the arguments are well-formed");
                let mut warnings = Vec::new();
                for job in jobs {
                    let outcome = session.run(&mut sources, &job, &options(emulator, RunOrder::Program));
                    let outcome =
                        outcome.unwrap_or_else(|it| panic!("{}", render(&it.diagnostics, &sources)));
                    warnings.extend(outcome.warnings);
                }
                let place = |it: &Diagnostic| {
                    let span = it.primary_span().expect("every message has a place");
                    let line = sources.line_column(span.file, span.start).0;
                    (line, it.severity, it.code.to_string())
                };
                let mut found: Vec<_> = warnings.iter().map(place).collect();
                found.sort_by(|a, b| (a.0, &a.2).cmp(&(b.0, &b.2)));
                let shown = render(&warnings, &sources);
                assert_eq!(found, expected, "{case:?}\n{shown}");
                shown.replace(case.to_str().unwrap(), stem(&case))
            });
            assert_eq!(shown[0], shown[1], "{case:?}: the emulators warn alike");
            shown[0].clone()
        });
        snapshots().bind(|| insta::assert_snapshot!(format!("warning_{}", stem(&path)), shown));
    }
}

/// What each version of NKI says about the files: the codes at their lines, warnings and errors apart.
#[test]
fn dialects_refuse_what_they_lack() {
    let paths = files("tests/dialects", "py");
    assert!(paths.len() >= 2, "only {} files were found", paths.len());
    for path in paths {
        let case = path.clone();
        let shown = with_stack(move || {
            let versions = ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6"].map(Some);
            let mut shown = String::new();
            for version in [None].into_iter().chain(versions) {
                let settings = Settings {
                    dialect: version.map(|it| Dialect::from_name(it).expect("it is a version")),
                    ..Settings::default()
                };
                let (diagnostics, sources) = diagnose(&case, settings);
                let said = diagnostics.iter().filter_map(|it| {
                    let (line, _) =
                        sources.line_column(it.labels.first()?.span.file, it.labels.first()?.span.start);
                    Some(format!("  {line}: {:?} {}: {}\n", it.severity, it.code, it.message).to_lowercase())
                });
                shown += &format!(
                    "{}\n{}",
                    version.unwrap_or("any version"),
                    said.collect::<String>()
                );
            }
            shown
        });
        snapshots().bind(|| insta::assert_snapshot!(format!("dialect_{}", stem(&path)), shown));
    }
}

/// Like lines fold into blocks, and only like ones.
#[test]
fn like_lines_fold() {
    let paths = files("tests/fold", "nir");
    assert!(paths.len() >= 2, "only {} texts were found", paths.len());
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("the text is readable");
        snapshots().bind(|| insta::assert_snapshot!(format!("fold_{}", stem(&path)), text::fold(&text)));
    }
}

/// One instruction's meaning, written down by hand: `; run:` lines of IR text, on both emulators.
#[test]
fn ir_programs_give_the_values_beside_them() {
    let paths = files("tests/run", "nir");
    assert!(paths.len() >= 8, "only {} programs were found", paths.len());
    for path in paths {
        let mut sources = Sources::new();
        let source = std::fs::read_to_string(&path).expect("the test file is readable");
        let file = sources.add(path.display().to_string(), source);
        let parsed = text::parse(&sources, file).unwrap_or_else(|it| panic!("{path:?}: {it:?}"));
        let directives = text::directives(&sources, file).unwrap_or_else(|it| panic!("{path:?}: {it:?}"));
        let target = &target::TARGETS[0];
        let stages = complete(&parsed.program, None, None, Results::Whole, target)
            .unwrap_or_else(|it| panic!("{}", render(&it, &sources)));
        let mut n_runs = 0;
        for directive in directives {
            let Directive::Run {
                line,
                inputs,
                outputs,
            } = directive
            else {
                continue;
            };
            n_runs += 1;
            for emulator in [Emulator::Jit, Emulator::Reference] {
                let program = &parsed.program;
                let mut machine =
                    Machine::load(program, &stages.placement, &stages.first_writes, target, emulator);
                let buffer = |name: &str| {
                    let at = program.buffers.iter().position(|it| it.name.to_string() == name);
                    BufferId::new(at.unwrap_or_else(|| panic!("{path:?}:{line}: no buffer {name}")))
                };
                for (name, literal) in &inputs {
                    let dtype = program[buffer(name)].dtype;
                    let tensor = Tensor::from_f64(dtype, literal.shape.clone(), &literal.values);
                    machine.write(buffer(name), tensor.expect("literals are rectangular").bytes());
                }
                let order: Vec<InstId> = (0..program.insts.len()).map(InstId::new).collect();
                machine.run(&order).expect("no index is out of bounds");
                for (name, literal) in &outputs {
                    let bytes = machine.read(buffer(name));
                    let got = Tensor::new(program[buffer(name)].dtype, literal.shape.clone(), bytes);
                    let got = got.expect("the literal has the buffer's shape").to_f64();
                    let same = got
                        .iter()
                        .zip(&literal.values)
                        .all(|(a, b)| a == b || (a.is_nan() && b.is_nan()));
                    assert!(
                        same,
                        "{path:?}:{line}: {name} is {got:?} by {emulator:?}, not {:?}",
                        literal.values
                    );
                }
            }
        }
        assert!(n_runs > 0, "{path:?} runs nothing");
    }
}

/// A row that no kernel of the repository uses is a row that nobody has seen work.
#[test]
fn every_instruction_is_used_by_an_example_or_a_test_kernel() {
    let used = with_stack(|| {
        let mut used = std::collections::BTreeSet::new();
        for path in files("examples", "nk")
            .into_iter()
            .chain(files("tests/kernels", "py"))
        {
            let mut sources = Sources::new();
            let session = open(&mut sources, &path).unwrap_or_else(|it| panic!("{}", render(&it, &sources)));
            for job in session.jobs(None, &[]).expect("the directives are well-formed") {
                let compiled = session.compile(&mut sources, &job, &[]);
                let compiled = compiled.unwrap_or_else(|it| panic!("{}", render(&it.diagnostics, &sources)));
                used.extend(compiled.program.insts.iter().map(|it| it.op));
            }
        }
        used
    });
    let missing: Vec<&str> = ROWS
        .iter()
        .filter(|it| !used.contains(&it.op))
        .map(|it| it.name)
        .collect();
    assert!(missing.is_empty(), "no kernel uses {missing:?}");
}

/// Rows whose values are the emulator's own choice, with the reason.
const WITHOUT_VALUES: &[(&str, &str)] = &[];

/// A row also stands in IR text with values beside it: by hand in `tests/run`, or from NumPy in `tests/golden/data`.
#[test]
fn every_instruction_has_values_that_were_checked() {
    let mut used = std::collections::BTreeSet::new();
    for path in files("tests/run", "nir")
        .into_iter()
        .chain(files("tests/golden/data", "nir"))
    {
        let mut sources = Sources::new();
        let source = std::fs::read_to_string(&path).expect("the test file is readable");
        let file = sources.add(path.display().to_string(), source);
        let parsed = text::parse(&sources, file).unwrap_or_else(|it| panic!("{path:?}: {it:?}"));
        used.extend(parsed.program.insts.iter().map(|it| it.op));
    }
    for row in ROWS {
        let exemption = WITHOUT_VALUES.iter().find(|it| it.0 == row.name);
        assert!(
            used.contains(&row.op) != exemption.is_some(),
            "{} has no values, or needs no exemption: {exemption:?}",
            row.name
        );
    }
}

fn nk(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nk"))
        .args(args)
        .current_dir(root())
        .output()
        .expect("the command starts")
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
        (&["fly"], 2),
        (&["check", "examples/softmax.nk"], 0),
        (&["test", "--ci", "examples"], 0),
    ];
    for (args, code) in cases {
        let output = nk(args);
        let (stdout, stderr) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert_eq!(
            output.status.code(),
            Some(*code),
            "nk {args:?}\n{stdout}\n{stderr}"
        );
        if *code != 0 {
            assert!(
                stderr.contains("error"),
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
    let output = nk(&args);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
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
    assert!(written > 0, "no result was written");
    std::fs::remove_dir_all(&out).expect("the folder is ours");
}
