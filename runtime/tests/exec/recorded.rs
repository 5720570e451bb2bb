//! Golden programs: IR text with inputs and results that NumPy computed (`tests/golden/make.py`), on both emulators and at
//! every CPU level.
//!
//! A new program is two new files; no Rust is added.

use crate::case::target;
use nk_compiler::check::Results;
use nk_compiler::diagnostic::render;
use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{BufferId, InstId, Program, Role};
use nk_compiler::isa::ROWS;
use nk_compiler::source::Sources;
use nk_compiler::{complete, text};
use nk_runtime::{Emulator, Execution, LEVELS, Machine};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/data");

/// Instructions whose values nobody else defines: random words are a sequence of our own, registers compute nothing, and a
/// collective needs other ranks: kernels that launch them are compared with their NumPy references.
const OURS: &[&str] = &[
    "collective",
    "register_move",
    "register_load",
    "register_store",
    "rng",
    "set_rng_seed",
];

fn programs() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(DATA).expect("the folder exists");
    let paths = entries.map(|it| it.expect("the folder is readable").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|it| it.extension().is_some_and(|it| it == "nir"))
        .collect();
    paths.sort();
    paths
}

/// How far results of f32 may be off, in units in the last place: what `; golden: ulps=N` says, else nothing.
fn ulps(text: &str) -> u32 {
    let line = text.lines().find_map(|it| it.strip_prefix("; golden: ulps="));
    line.map_or(0, |it| it.parse().expect("the tolerance is a number"))
}

/// The buffers of a role with their part of the file.
fn parts<'a>(program: &Program, role: Role, rest: &mut &'a [u8]) -> Vec<(BufferId, &'a [u8])> {
    let mut parts = Vec::new();
    for (idx, buffer) in program.buffers.iter().enumerate() {
        if buffer.role == role {
            let (head, tail) = rest.split_at(buffer.bytes() as usize);
            parts.push((BufferId::new(idx), head));
            *rest = tail;
        }
    }
    parts
}

/// Where two lists of elements differ first; f32 may differ by `ulps` while both are numbers of one sign.
fn difference(dtype: Dtype, ulps: u32, got: &[u8], want: &[u8]) -> Option<String> {
    let size = dtype.size() as usize;
    let word = |it: &[u8]| {
        it.iter()
            .rev()
            .fold(0u32, |word, byte| word << 8 | u32::from(*byte))
    };
    let words = got
        .chunks(size)
        .zip(want.chunks(size))
        .map(|it| (word(it.0), word(it.1)));
    let is_close =
        |(got, want): (u32, u32)| got == want || (dtype == Dtype::F32 && got.abs_diff(want) <= ulps);
    let (idx, (got, want)) = words.enumerate().find(|it| !is_close(it.1))?;
    let name = dtype.name();
    Some(format!(
        "element {idx} of {name} is {got:#x} ({:e}), not {want:#x} ({:e})",
        f32::from_bits(got),
        f32::from_bits(want)
    ))
}

fn check(path: &Path) -> BTreeSet<&'static str> {
    let mut sources = Sources::new();
    let source = std::fs::read_to_string(path).expect("the program is readable");
    let ulps = ulps(&source);
    let file = sources.add(path.display().to_string(), source);
    let parsed = text::parse(&sources, file).unwrap_or_else(|it| panic!("{path:?}: {it:?}"));
    let program = &parsed.program;
    let stages = complete(program, None, None, Results::Whole, target())
        .unwrap_or_else(|it| panic!("{}", render(&it, &sources)));
    let bytes = std::fs::read(path.with_extension("bin")).expect("every program has its values");
    let mut rest = &bytes[..];
    let (inputs, outputs) = (
        parts(program, Role::In, &mut rest),
        parts(program, Role::Out, &mut rest),
    );
    assert!(
        rest.is_empty() && !outputs.is_empty(),
        "{path:?}: the values fill the buffers"
    );
    let order: Vec<InstId> = (0..program.insts.len()).map(InstId::new).collect();
    let (placement, first) = (&stages.placement, &stages.first_writes);
    let mut machines = vec![(
        "reference",
        Machine::load(program, placement, first, target(), Emulator::Reference),
    )];
    for (level, name) in LEVELS.iter().filter(|it| it.0.is_available()) {
        machines.push((
            name,
            Machine::load_with(
                program,
                placement,
                first,
                target(),
                Execution {
                    level: *level,
                    ..Execution::new(Emulator::Jit)
                },
            ),
        ));
    }
    for (emulator, machine) in &mut machines {
        for (buffer, bytes) in &inputs {
            machine.write(*buffer, bytes);
        }
        machine.run(&order).expect("addresses are static");
        for (buffer, want) in &outputs {
            let facts = &program[*buffer];
            if let Some(text) = difference(facts.dtype, ulps, &machine.read(*buffer), want) {
                panic!("{path:?}: {} by {emulator}: {text}", facts.name);
            }
        }
    }
    program.insts.iter().map(|it| it.op.name()).collect()
}

#[test]
fn programs_give_the_values_of_numpy() {
    let paths = programs();
    let mut used = BTreeSet::new();
    for path in &paths {
        used.extend(check(path));
    }
    let missing: Vec<&str> = ROWS
        .iter()
        .map(|it| it.name)
        .filter(|it| !used.contains(it) && !OURS.contains(it))
        .collect();
    assert!(missing.is_empty(), "no golden program uses {missing:?}");
    println!(
        "{} golden programs use {} instructions; {OURS:?} have no values of others",
        paths.len(),
        used.len()
    );
}
