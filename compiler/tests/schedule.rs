//! Placement, data-flow checks and schedules, tested from files: a program in, its regions, messages or queues out.

use nk_compiler::check;
use nk_compiler::diagnostic::{Report, render};
use nk_compiler::ir::{FirstWrite, InstId, Placement, Program, Step};
use nk_compiler::isa::{Engine, N_ENGINES};
use nk_compiler::place::place;
use nk_compiler::schedule::{schedule, verify_schedule};
use nk_compiler::source::Sources;
use nk_compiler::target::Target;
use nk_compiler::text::{self, Parsed, PrintOptions};
use std::path::Path;

fn read(path: &Path) -> (Sources, Parsed) {
    let mut sources = Sources::new();
    let text = std::fs::read_to_string(path).expect("the test can be read");
    let file = sources.add(path.file_name().expect("tests are files").to_string_lossy(), text);
    let parsed =
        text::parse(&sources, file).unwrap_or_else(|errors| panic!("{}", messages(&errors, &sources)));
    (sources, parsed)
}

fn messages<E: Report>(errors: &[E], sources: &Sources) -> String {
    let diagnostics: Vec<_> = errors.iter().map(Report::report).collect();
    render(&diagnostics, sources)
}

fn target(program: &Program) -> &'static Target {
    Target::from_name(program.target).expect("texts name a target that exists")
}

fn placed(sources: &Sources, program: &Program) -> Placement {
    place(program, target(program)).unwrap_or_else(|it| panic!("{}", messages(&it, sources)))
}

/// Compares what `shown` makes of every file of a folder with its snapshot.
fn compare(folder: &str, shown: impl Fn(&Sources, &Parsed) -> String) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let entries = std::fs::read_dir(tests.join(folder)).expect("the folder of tests exists");
    let mut paths: Vec<_> = entries
        .map(|it| it.expect("the folder can be listed").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder} holds no tests");
    for path in paths {
        let (sources, parsed) = read(&path);
        let name = path.file_stem().expect("tests are files").to_string_lossy();
        insta::with_settings!({
            snapshot_path => tests.join("snapshots"),
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(format!("{folder}__{name}"), shown(&sources, &parsed));
        });
    }
}

#[test]
fn placements() {
    compare("place", |sources, parsed| {
        let program = &parsed.program;
        match place(program, target(program)) {
            Ok(placement) => text::print(program, Some(&placement), None, PrintOptions::default()),
            Err(errors) => messages(&errors, sources),
        }
    });
}

#[test]
fn data_flow() {
    compare("check", |sources, parsed| {
        let program = &parsed.program;
        let placement = placed(sources, program);
        let shown = match check::check(program, &placement) {
            Ok(checked) => {
                let mut shown = messages(&checked.warnings, sources);
                for (id, ranges) in &checked.first_writes.ranges {
                    let inst = text::print_inst(program, &program[*id]);
                    let range = |it: &FirstWrite| {
                        let FirstWrite {
                            first_partition,
                            end_partition,
                            start,
                            end,
                        } = it;
                        format!("psum[{first_partition}:{end_partition}, {start:#x}:{end:#x}]")
                    };
                    let ranges: Vec<_> = ranges.iter().map(range).collect();
                    shown += &format!("{inst} overwrites {}\n", ranges.join(", "));
                }
                shown
            }
            Err(errors) => messages(&errors, sources),
        };
        format!(
            "{}{shown}",
            text::print(program, None, None, PrintOptions::default())
        )
    });
}

#[test]
fn schedules() {
    compare("schedule", |sources, parsed| {
        let program = &parsed.program;
        let placement =
            place(program, target(program)).unwrap_or_else(|it| panic!("{}", messages(&it, sources)));
        let schedule = schedule(program, &placement);
        let errors = verify_schedule(program, &placement, &schedule);
        assert!(errors.is_empty(), "{}", messages(&errors, sources));
        text::print(
            program,
            Some(&placement),
            Some(&schedule),
            PrintOptions::default(),
        )
    });
}

/// What the verifier of schedules says of schedules that our scheduler never makes, and that no text can hold.
#[test]
fn broken_schedules_are_named() {
    let text = "kernel %k for trainium1\nin %h: f32[128, 4] @ hbm\nout %o: f32[128, 4] @ hbm\nbuf %x: f32[128, 4] @ sbuf\nbody {\n  %x <- dma_copy %h\n  %x <- tensor_copy %x\n  %o <- dma_copy %x\n}\n";
    let mut sources = Sources::new();
    let file = sources.add("text.nir", text);
    let program = text::parse(&sources, file).expect("a correct text").program;
    let placement = placed(&sources, &program);
    let correct = schedule(&program, &placement);
    let copy = InstId::new(1);
    let engine = program[copy].engine as usize;
    let codes_of = |change: &dyn Fn(&mut [Vec<Step>; N_ENGINES])| -> Vec<&str> {
        let mut broken = correct.clone();
        change(&mut broken.queues);
        let errors = verify_schedule(&program, &placement, &broken);
        errors.iter().map(|it| it.report().code).collect()
    };
    assert!(codes_of(&|_| {}).is_empty());
    let codes = codes_of(&|queues| queues[engine].retain(|it| *it != Step::Inst(copy)));
    assert!(codes.contains(&"schedule-incomplete"), "{codes:?}");
    let codes = codes_of(&|queues| queues[engine].push(Step::Inst(copy)));
    assert!(codes.contains(&"schedule-repeats"), "{codes:?}");
    let codes = codes_of(&|queues| queues[engine].push(Step::Inst(InstId::new(99))));
    assert!(codes.contains(&"schedule-unknown-instruction"), "{codes:?}");
    let codes = codes_of(&|queues| queues[engine].push(Step::Barrier));
    assert!(codes.contains(&"schedule-barriers"), "{codes:?}");
    let wait = Step::Wait {
        from: Engine::Gpsimd,
        count: 9,
    };
    let codes = codes_of(&|queues| queues[engine].push(wait));
    assert!(codes.contains(&"schedule-wait-without-signal"), "{codes:?}");
    // Two queues, each of which waits for the other one's signal before it sends its own.
    let codes = codes_of(&|queues| {
        for (queue, other) in [(Engine::Tensor, Engine::Gpsimd), (Engine::Gpsimd, Engine::Tensor)] {
            let (from, to, count) = (other, other, 1);
            queues[queue as usize].insert(0, Step::Wait { from, count });
            queues[queue as usize].push(Step::Signal { to, count });
        }
    });
    assert!(codes.contains(&"schedule-deadlock"), "{codes:?}");
}

/// An instruction that has left its loop.
#[test]
fn instructions_stay_between_their_barriers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/run/registers.nir");
    let (sources, parsed) = read(&path);
    let program = &parsed.program;
    let placement = placed(&sources, program);
    let mut broken = schedule(program, &placement);
    let barrier_of = |queue: &[Step]| queue.iter().position(|it| it.is_barrier());
    let (queue, at) = (0..N_ENGINES)
        .filter_map(|it| Some((it, barrier_of(&broken.queues[it])?)))
        .find(|&(queue, at)| {
            at > 0 && matches!(broken.queues[queue][at - 1], Step::Inst(_))
                || matches!(broken.queues[queue].get(at + 1), Some(Step::Inst(_)))
        })
        .expect("an instruction stands beside a barrier");
    if at > 0 && matches!(broken.queues[queue][at - 1], Step::Inst(_)) {
        broken.queues[queue].swap(at - 1, at);
    } else {
        broken.queues[queue].swap(at, at + 1);
    }
    let errors = verify_schedule(program, &placement, &broken);
    let codes: Vec<&str> = errors.iter().map(|it| it.report().code).collect();
    assert!(codes.contains(&"schedule-wrong-segment"), "{codes:?}");
}

/// An instruction that passed one whose order the kernel has fixed.
#[test]
fn fixed_instructions_are_not_passed() {
    let text = "kernel %k for trainium1\nout %o: f32[128, 4] @ hbm\nbuf %x: f32[128, 4] @ sbuf\nbuf %y: f32[128, 4] @ sbuf\nbody {\n  %x <- memset value=0.0 fixed\n  %y <- memset value=1.0\n  %o <- dma_copy %x\n}\n";
    let mut sources = Sources::new();
    let file = sources.add("text.nir", text);
    let program = text::parse(&sources, file).expect("a correct text").program;
    let placement = placed(&sources, &program);
    let mut broken = schedule(&program, &placement);
    let engine = program[InstId::new(0)].engine as usize;
    let queue = &mut broken.queues[engine];
    let [first, second] = [0, 1].map(|it| {
        let is_it = |step: &Step| *step == Step::Inst(InstId::new(it));
        queue.iter().position(is_it).expect("both stand in one queue")
    });
    queue.swap(first, second);
    let errors = verify_schedule(&program, &placement, &broken);
    let codes: Vec<&str> = errors.iter().map(|it| it.report().code).collect();
    assert!(codes.contains(&"schedule-fixed"), "{codes:?}");
}
