//! IR: snapshots that kernels ask for, programs with values beside them, and that every instruction has both a kernel and
//! values.

use crate::case::{fail, files, kernels, opened, snapshots, stem, with_stack};
use nk_compiler::check::Results;
use nk_compiler::ir::{BufferId, InstId};
use nk_compiler::isa::ROWS;
use nk_compiler::source::Sources;
use nk_compiler::text::{Directive, PrintOptions};
use nk_compiler::{complete, target, text};
use nk_runtime::session::Settings;
use nk_runtime::stage::{Stage, stage_text};
use nk_runtime::tensor::Tensor;
use nk_runtime::{Emulator, Machine};
use std::collections::BTreeSet;

#[test]
fn ir_snapshots_of_examples() {
    let mut n_snapshots = 0;
    for path in kernels() {
        let case = path.clone();
        let texts = with_stack(move || {
            let mut sources = Sources::new();
            let (session, jobs) = opened(&mut sources, &case, Settings::default());
            let module = session.module().expect("kernel files have a syntax tree");
            let runs = nk_compiler::directive::runs(module).expect("the directives are well-formed");
            let mut texts = Vec::new();
            for (run, job) in runs.iter().zip(&jobs) {
                if run.snapshots.is_empty() {
                    continue;
                }
                let compiled = session.compile(&mut sources, job, &[]);
                let compiled = compiled.unwrap_or_else(|it| fail(&it.diagnostics, &sources));
                for name in &run.snapshots {
                    let stage = Stage::from_name(name).expect("directives name stages that there are");
                    let options = PrintOptions::default();
                    let text = stage_text(&compiled, stage, session.settings().target, options);
                    texts.push((format!("{}_{name}", run.kernel), text));
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

/// Like lines fold into blocks, and only like ones.
#[test]
fn like_lines_fold() {
    for path in files("tests/fold", "nir", 2) {
        let text = std::fs::read_to_string(&path).expect("the text is readable");
        snapshots().bind(|| insta::assert_snapshot!(format!("fold_{}", stem(&path)), text::fold(&text)));
    }
}

/// One instruction's meaning, written down by hand: `; run:` lines of IR text, on both emulators.
#[test]
fn ir_programs_give_the_values_beside_them() {
    for path in files("tests/run", "nir", 8) {
        let mut sources = Sources::new();
        let source = std::fs::read_to_string(&path).expect("the test file is readable");
        let file = sources.add(path.display().to_string(), source);
        let parsed = text::parse(&sources, file).unwrap_or_else(|it| panic!("{path:?}: {it:?}"));
        let directives = text::directives(&sources, file).unwrap_or_else(|it| panic!("{path:?}: {it:?}"));
        let target = &target::TARGETS[0];
        let stages = complete(&parsed.program, None, None, Results::Whole, target)
            .unwrap_or_else(|it| fail(&it, &sources));
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
        let mut used = BTreeSet::new();
        for path in kernels() {
            let mut sources = Sources::new();
            let (session, jobs) = opened(&mut sources, &path, Settings::default());
            for job in jobs {
                let compiled = session.compile(&mut sources, &job, &[]);
                let compiled = compiled.unwrap_or_else(|it| fail(&it.diagnostics, &sources));
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

/// A row also stands in IR text with values beside it: by hand in `tests/run`, or from NumPy in `tests/golden/data`.
#[test]
fn every_instruction_has_values_that_were_checked() {
    let mut used = BTreeSet::new();
    for path in files("tests/run", "nir", 8)
        .into_iter()
        .chain(files("tests/golden/data", "nir", 1))
    {
        let mut sources = Sources::new();
        let source = std::fs::read_to_string(&path).expect("the test file is readable");
        let file = sources.add(path.display().to_string(), source);
        let parsed = text::parse(&sources, file).unwrap_or_else(|it| panic!("{path:?}: {it:?}"));
        used.extend(parsed.program.insts.iter().map(|it| it.op));
    }
    let missing = ROWS.iter().filter(|it| !used.contains(&it.op));
    let missing: Vec<&str> = missing.map(|it| it.name).collect();
    assert!(missing.is_empty(), "{missing:?} have no values");
}
