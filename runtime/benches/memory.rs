//! The peak of resident memory for each instruction of programs of a million, in both styles, from the syntax tree to a
//! verified schedule, in a process that gives freed tables back as `nk` does.
//!
//! `cargo bench -p nk-runtime --bench memory` prints the table. It reads the peak from Linux's `/proc/self`, and resets it
//! before each stage; what the process holds before it compiles is subtracted.

use nk_compiler::dtype::Dtype;
use nk_compiler::source::Sources;
use nk_compiler::specialize::{ArgValue, Request, specialize};
use nk_compiler::{check, parse, place, schedule, target, verify};
use std::fs;
use std::rc::Rc;

/// Four instructions and two tiles in each iteration.
const CURRENT: &str = "
import nki
import nki.isa as nisa
import nki.language as nl

@nki.jit
def current(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(250000):
        a = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
        b = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=a, src=x)
        nisa.tensor_scalar(dst=b, data=a, op0=nl.multiply, operand0=2.0)
        nisa.tensor_tensor(dst=b, data1=a, data2=b, op=nl.add)
        nisa.dma_copy(dst=out, src=b)
    return out
";

/// The same in functional calls, each of which makes its tile.
const CLASSIC: &str = "
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

@nki.jit
def classic(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.sequential_range(250000):
        a = nl.load(x)
        b = nisa.tensor_scalar(a, nl.multiply, 2.0)
        nl.store(out, a + b)
    return out
";

/// A line of the process's status, in bytes.
fn status(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux shows a process its status");
    let line = status.lines().find_map(|it| it.strip_prefix(field));
    let kib = line.and_then(|it| it.trim_start_matches(':').trim().strip_suffix(" kB"));
    1024 * kib
        .and_then(|it| it.parse::<u64>().ok())
        .expect("memory is given in kB")
}

/// Runs a stage and prints what it peaked at and what stays.
fn stage<T>(name: &str, base: u64, f: impl FnOnce() -> T) -> (T, u64) {
    fs::write("/proc/self/clear_refs", "5").expect("a process may reset its own peak");
    let result = f();
    let peak = status("VmHWM").saturating_sub(base);
    println!(
        "  {name:<16} peak {:>5} MiB, then {:>5} MiB",
        peak >> 20,
        status("VmRSS").saturating_sub(base) >> 20
    );
    (result, peak)
}

fn measure(style: &str, kernel: &str) {
    println!("{style}");
    let mut sources = Sources::new();
    let file = sources.add("million.nk", kernel);
    let (ast, errors) = parse::parse(&sources, file);
    assert!(errors.is_empty());
    let ast = Rc::new(ast);
    let shape = vec![128, 512];
    let dtype = Dtype::F32;
    let args = vec![("x".to_string(), ArgValue::Tensor { dtype, shape })];
    let target = &target::TARGETS[0];
    let request = Request {
        place: Default::default(),
        kernel: None,
        args: &args,
        params: &[],
        grid: &[],
        program_id: &[],
        spill: false,
        place_seed: None,
        target,
        dialect: None,
        loader: &|_| None,
        arrays: &|_, _| Err("no files".to_string()),
    };
    let base = status("VmRSS");
    let specialized = || specialize(&mut sources, file, &ast, &request).map(|it| it.program);
    let (program, mut peak) = stage("specialize", base, specialized);
    let program = program.unwrap_or_else(|_| panic!("the kernel of the benchmark specialises"));
    let (wrong, at) = stage("verify", base, || verify::verify(&program, target));
    assert!(wrong.is_empty());
    peak = peak.max(at);
    let (placement, at) = stage("place", base, || place::place(&program, target));
    let placement = placement.expect("the kernel of the benchmark fits");
    peak = peak.max(at);
    let (wrong, at) = stage("verify placed", base, || {
        let wrong = verify::verify_placed(&program, &placement, target);
        (wrong, place::verify_placement(&program, &placement, target))
    });
    assert!(wrong.0.is_empty() && wrong.1.is_empty());
    peak = peak.max(at);
    let (checked, at) = stage("check", base, || check::check(&program, &placement));
    let _checked = checked.expect("the kernel of the benchmark is right");
    peak = peak.max(at);
    let (queues, at) = stage("schedule", base, || {
        schedule::verified_schedule(&program, &placement)
    });
    let _queues = queues.expect("the scheduler's work is right");
    peak = peak.max(at);
    let n_insts = program.insts.len() as u64;
    println!("  {n_insts} instructions, peak {} bytes each\n", peak / n_insts);
}

fn main() {
    nk_runtime::heap::give_back_tables();
    // Each style in a process of its own: what an allocator keeps of one is not counted for the other.
    match std::env::args().nth(1).as_deref() {
        Some("current") => measure("current style", CURRENT),
        Some("classic") => measure("classic style", CLASSIC),
        _ => {
            let program = std::env::current_exe().expect("the benchmark has a path");
            for style in ["current", "classic"] {
                let status = std::process::Command::new(&program).arg(style).status();
                assert!(
                    status.is_ok_and(|it| it.success()),
                    "{style} could not be measured"
                );
            }
        }
    }
}
