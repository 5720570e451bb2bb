//! Modelled time: held to published measurements, explained by advice that keeps its word, ordered by schedules in which
//! every wait counts.

mod setup;

use nk_compiler::Compiled;
use nk_compiler::diagnostic::render;
use nk_compiler::ir::{Schedule, Step};
use nk_compiler::isa::N_ENGINES;
use nk_compiler::launch::Grid;
use nk_compiler::schedule::verify_schedule;
use nk_compiler::source::Sources;
use nk_compiler::target::TARGETS;
use nk_runtime::profile::cores::Cores;
use nk_runtime::profile::{Profile, perfetto};
use nk_runtime::session::{Job, RunOptions, Session, Settings};
use nk_runtime::truth::{self, Measured, Tier};
use nk_runtime::tune::{self, Verdict};
use setup::{root, with_stack};
use std::path::{Path, PathBuf};

/// Compiles each `# nk: run` of a file, or one kernel with arguments, and hands it on.
fn each_job(
    path: &Path,
    kernel: Option<&str>,
    args: &[(&str, &str)],
    mut then: impl FnMut(&Job, &Compiled, &Sources),
) {
    let mut sources = Sources::new();
    let settings = Settings {
        spill: path.ends_with("advice/spilled.nk"),
        ..Settings::default()
    };
    let args: Vec<(String, String)> = args
        .iter()
        .map(|it| (it.0.to_string(), it.1.to_string()))
        .collect();
    let shown = path.to_str().expect("test paths are UTF-8");
    let opened = Session::open(&mut sources, shown, settings).and_then(|session| {
        let jobs = session.jobs(kernel, &args)?;
        Ok((session, jobs))
    });
    let (session, jobs) = opened.unwrap_or_else(|it| panic!("{}", render(&it.diagnostics, &sources)));
    for job in jobs {
        let compiled = session.compile(&mut sources, &job, &job.first_program());
        let compiled = compiled.unwrap_or_else(|it| panic!("{}", render(&it.diagnostics, &sources)));
        then(&job, &compiled, &sources);
    }
}

/// The modelled microseconds of a kernel below `tests/`, and what it is bound by.
fn timed(file: &str, kernel: &str, args: &[(&str, &str)]) -> (f64, &'static str) {
    let mut time = None;
    each_job(
        &root().join("tests").join(file),
        Some(kernel),
        args,
        |_, compiled, sources| {
            let profile = Profile::new(compiled, &TARGETS[0], sources);
            time = Some((profile.totals.total_ps as f64 / 1e6, profile.bottleneck().0));
        },
    );
    time.expect("there is a kernel")
}

fn latency(measured: &[Measured], id: &str) -> f64 {
    let case = measured.iter().find(|it| it.case.id == id);
    case.expect("the table has the row").ours[0]
}

/// Every figure within its own bound, every tier within its target, every fit still there without itself, and the variants
/// of the matmul in their order.
#[test]
fn the_model_stays_within_the_bounds_of_published_figures() {
    with_stack(|| {
        let measured = truth::measure_all(None).expect("our kernels compile");
        let scored = measured
            .iter()
            .flat_map(|it| it.figures().map(move |figure| (it.case, figure)));
        let beyond: Vec<String> = scored
            .filter(|(_, (figure, _, error))| figure.tier != Tier::Shown && !figure.holds(*error))
            .map(|(case, (figure, ours, error))| {
                format!("{}: {figure:?}: {ours} is {error:+.2} % off", case.what)
            })
            .collect();
        assert!(beyond.is_empty(), "{}", beyond.join("\n"));
        for it in truth::summarise(&measured) {
            let (median, worst) = match it.tier {
                Tier::Exact => (2.0, 10.0),
                Tier::Close => (8.0, 20.0),
                Tier::Spilled | Tier::Far => (15.0, 35.0),
                Tier::Limit | Tier::Shown => (50.0, 50.0),
            };
            assert!(it.count > 0 && it.median <= median && it.worst <= worst, "{it:?}");
        }
        let order = ["1", "2", "3", "4, 5, 9"].map(|it| latency(&measured, it));
        assert!(order.is_sorted_by(|slower, faster| slower > faster), "{order:?}");
        for it in truth::leave_one_out().expect("our kernels compile") {
            assert!(
                it.error.abs() <= 10.0,
                "row {} without its own fit: {:+.1} %",
                it.case.id,
                it.error
            );
        }
    });
}

/// Each file holds a kernel with one cause of lost time and the kernel without it. The cause is named first, and what it is
/// said to gain is what the other kernel gains, within 15 %.
#[test]
fn advice_names_what_was_planted_and_what_it_costs() {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root().join("tests/advice"))
        .expect("the folder exists")
        .map(|it| it.expect("the folder is readable").path())
        .collect();
    paths.sort();
    assert!(paths.len() >= 10);
    let wrong: Vec<String> = paths
        .into_iter()
        .filter_map(|path| with_stack(move || broken_promise(&path)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn broken_promise(path: &Path) -> Option<String> {
    let name = path
        .file_stem()
        .expect("a file")
        .to_str()
        .expect("a plain name")
        .to_string();
    let mut profiles = Vec::new();
    each_job(path, None, &[], |_, compiled, sources| {
        profiles.push(Profile::advised(compiled, &TARGETS[0], sources));
    });
    let [planted, fixed] = &profiles[..] else {
        return Some(format!("{name} has not two runs"));
    };
    let (before, after) = (planted.totals.total_ps as f64, fixed.totals.total_ps as f64);
    let named: Vec<String> = planted
        .advice
        .iter()
        .map(|it| format!("{} {:.3} us", it.rule.name(), it.gain_ps as f64 / 1e6))
        .collect();
    let gain = planted.advice.first().map_or(0.0, |it| it.gain_ps as f64);
    let is_first = planted.advice.first().is_some_and(|it| it.rule.name() == name);
    let is_kept = (gain - (before - after)).abs() <= 0.15 * (before - after);
    (!is_first || !is_kept).then(|| {
        format!(
            "{name}: {:.3} us, fixed {:.3} us, advice {named:?}",
            before / 1e6,
            after / 1e6
        )
    })
}

/// What a course lets its students find out comes out in the same order here.
#[test]
fn course_experiments_have_their_shape() {
    with_stack(|| {
        let flat = |n: &'static str| [("a", n), ("b", n)];
        let small = flat("f32[25600]:zeros");
        let large = flat("f32[256000]:zeros");
        let tiled = |rows| timed("truth/stream.nk", "tiled", &[small[0], small[1], ("rows", rows)]).0;
        assert!(
            tiled("1") > 25.0 * tiled("128"),
            "a row a step is far slower than 128"
        );
        let stream = |args: [(&'static str, &'static str); 2], free| {
            timed("truth/stream.nk", "stream", &[args[0], args[1], ("free", free)]).0
        };
        assert!(
            stream(small, "2") > 2.0 * stream(small, "200"),
            "short rows are slower"
        );
        assert!(
            stream(large, "1000") < stream(large, "2000"),
            "two tiles overlap, one does not"
        );
        let x = [("x", "bf16[2048,2048]:zeros")];
        let (by_dma, dma) = timed("truth/transpose.nk", "by_dma", &x);
        let (by_matmul, _) = timed("truth/transpose.nk", "by_matmul", &x);
        assert!(
            dma == "dma" && by_dma > 10.0 * by_matmul,
            "{by_dma} us bound by {dma}, {by_matmul} us on the PE array"
        );
        let x = [("x", "f32[2048,1024]:zeros")];
        let single = timed("advice/single-buffered.nk", "planted", &x).0;
        let double = timed("advice/single-buffered.nk", "fixed", &x).0;
        assert!(
            single > 1.2 * double,
            "{single} us with one buffer, {double} with several"
        );
    });
}

/// The lines of a critical path are together the modelled time, and every instruction stands in a line as often as it runs,
/// in loops of the device too.
#[test]
fn profiles_add_up() {
    with_stack(|| {
        let loops = ["dynamic_control", "flags", "psum_zeros", "registers"];
        let loops = loops.map(|it| root().join(format!("tests/kernels/{it}.py")));
        let mut n_profiles = 0;
        for path in loops.into_iter().chain([root().join("examples/softmax.nk")]) {
            each_job(&path, None, &[], |_, compiled, sources| {
                let profile = Profile::new(compiled, &TARGETS[0], sources);
                let name = &profile.kernel;
                let path_ps: u64 = profile.critical.iter().map(|it| it.ps).sum();
                assert_eq!(path_ps, profile.totals.total_ps, "{name}");
                let counts: u64 = profile.lines.iter().map(|it| it.count).sum();
                let n_insts = profile.n_insts.iter().sum::<u64>() + profile.transfers.count;
                assert_eq!(counts, n_insts, "{name}");
                let trace = perfetto(&profile, &compiled.program, sources);
                let trace: serde_json::Value = serde_json::from_str(&trace).expect("it is JSON");
                let n_events = trace["traceEvents"].as_array().map_or(0, Vec::len);
                assert!(n_events > compiled.program.insts.len(), "{name}");
                n_profiles += 1;
            });
        }
        assert!(n_profiles >= 10, "{n_profiles} profiles");
    });
}

/// Two programs on a core each take as long as one, loops of the device included.
#[test]
fn cores_count_loops_as_often_as_they_run() {
    with_stack(|| {
        let mut sources = Sources::new();
        let path = root().join("tests/kernels/registers.py");
        let shown = path.to_str().expect("test paths are UTF-8");
        let session = Session::open(&mut sources, shown, Settings::default()).expect("it parses");
        let job = session.jobs(Some("counted"), &[]).expect("it announces a run");
        let job = Job {
            grid: Grid::parse("2").expect("it is a size"),
            cores: 2,
            ..job[0].clone()
        };
        let compiled = session.compile(&mut sources, &job, &[0]).expect("it compiles");
        let alone = Profile::new(&compiled, &TARGETS[0], &sources).totals.total_ps;
        let lanes = session.lanes(&mut sources, &job).expect("it compiles");
        let (lanes, kind) = lanes.expect("it runs on two cores");
        let together = Cores::new(&lanes, kind, &TARGETS[0], &sources).to_json();
        assert_eq!(together["modelled_ns"], alone as f64 / 1e3);
    });
}

/// A search and a session time a kernel on ranks as a run of it does.
#[test]
fn ranks_take_as_long_in_a_search() {
    with_stack(|| {
        let mut sources = Sources::new();
        let path = root().join("examples/tensor_parallel.nk");
        let shown = path.to_str().expect("test paths are UTF-8");
        let session = Session::open(&mut sources, shown, Settings::default()).expect("it parses");
        let job = session
            .jobs(None, &[])
            .expect("it announces a run")
            .swap_remove(0);
        let ran = session
            .run(&mut sources, &job, &RunOptions::default())
            .expect("it runs");
        let Verdict::Measured(summary) = tune::measure(&session, &mut sources, &job, &[]) else {
            panic!("it compiles");
        };
        assert_eq!(summary.time_ps, ran.modelled.total_ps);
    });
}

/// A schedule without one of its waits, and without the signal that it waits for.
fn without_wait(schedule: &Schedule, queue: usize, at: usize) -> Schedule {
    let mut mutant = schedule.clone();
    let Step::Wait { from, count } = mutant.queues[queue].remove(at) else {
        panic!("there is a wait");
    };
    let to = nk_compiler::isa::ENGINES[queue].0;
    mutant.queues[from as usize].retain(|it| *it != Step::Signal { to, count });
    for step in &mut mutant.queues[from as usize] {
        if let Step::Signal { to: other, count: n } = step
            && *other == to
            && *n > count
        {
            *n -= 1;
        }
    }
    for step in &mut mutant.queues[queue] {
        if let Step::Wait {
            from: other,
            count: n,
        } = step
            && *other == from
            && *n > count
        {
            *n -= 1;
        }
    }
    mutant
}

/// A schedule in which one wait is satisfied a signal too early.
fn weakened(schedule: &Schedule, queue: usize, at: usize) -> Schedule {
    let mut mutant = schedule.clone();
    if let Step::Wait { count, .. } = &mut mutant.queues[queue][at] {
        *count -= 1;
    }
    mutant
}

/// Mutants of one schedule: more would only take longer.
const MAX_WAITS: usize = 60;

/// No wait of the schedules of ten kernels can be deleted or weakened without the verifier naming what goes wrong.
#[test]
fn every_wait_of_the_examples_is_needed() {
    with_stack(|| {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(root().join("examples"))
            .expect("the folder exists")
            .map(|it| it.expect("the folder is readable").path())
            .filter(|it| it.extension().is_some_and(|it| it == "nk"))
            .collect();
        paths.push(root().join("tests/advice/loaded-again.nk"));
        paths.push(root().join("tests/advice/transposes.nk"));
        let (mut n_schedules, mut n_mutants) = (0, 0);
        for path in paths {
            let mut is_first = true;
            each_job(&path, None, &[], |_, compiled, _| {
                if !std::mem::take(&mut is_first) {
                    return;
                }
                n_schedules += 1;
                for queue in 0..N_ENGINES {
                    let steps = compiled.schedule.queues[queue].iter().enumerate();
                    let waits = steps
                        .filter(|it| matches!(it.1, Step::Wait { .. }))
                        .map(|it| it.0);
                    for at in waits.take(MAX_WAITS) {
                        for mutant in [
                            without_wait(&compiled.schedule, queue, at),
                            weakened(&compiled.schedule, queue, at),
                        ] {
                            let errors = verify_schedule(&compiled.program, &compiled.placement, &mutant);
                            assert!(
                                !errors.is_empty(),
                                "{}: wait {at} of queue {queue}",
                                path.display()
                            );
                            n_mutants += 1;
                        }
                    }
                }
            });
        }
        assert!(
            n_schedules >= 10 && n_mutants >= 200,
            "{n_schedules} schedules, {n_mutants} mutants"
        );
    });
}
