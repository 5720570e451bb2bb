//! Values: right by the references of the files, and the same bits by every emulator, in every order and at all addresses.

use crate::case::{fail, files, kernels, opened, options, root, snapshots, stem, with_stack};
use nk_compiler::diagnostic::Diagnostic;
use nk_compiler::source::Sources;
use nk_compiler::target;
use nk_runtime::session::{Outcome, RunOptions, RunOrder, Settings};
use nk_runtime::{Emulator, Lookout};
use std::path::{Path, PathBuf};

fn run(path: &Path, emulator: Emulator, order: RunOrder) -> Vec<Outcome> {
    run_with(path, emulator, order, Settings::default())
}

fn run_with(path: &Path, emulator: Emulator, order: RunOrder, settings: Settings) -> Vec<Outcome> {
    run_as(path, settings, &options(emulator, order))
}

fn run_as(path: &Path, settings: Settings, options: &RunOptions) -> Vec<Outcome> {
    let mut sources = Sources::new();
    let settings = Settings {
        spill: path.parent().is_some_and(|it| it.ends_with("spill")),
        ..settings
    };
    let (session, jobs) = opened(&mut sources, path, settings);
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
    kernels_agree(files("examples", "nk", 9), 9);
}

#[test]
fn test_kernels_match_their_references_in_every_order() {
    kernels_agree(files("tests/kernels", "py", 40), 100);
}

/// What kernels print while they run is the same text in every order, and stands in a snapshot.
#[test]
fn prints_are_those_of_program_order() {
    for path in files("tests/printed", "py", 1) {
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
    for path in files("examples", "nk", 9) {
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
    for path in kernels().into_iter().chain(files("tests/spill", "py", 1)) {
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
    for path in kernels() {
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
    let paths = files("tests/spill", "py", 1);
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
