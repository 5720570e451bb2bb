//! The table of speeds to reach: each line is a ratio, the target, and what was compared.
//!
//! Ours and the baseline run in turn, and of each the fastest of many runs counts, so that a busy machine changes little.

use crate::host;
use crate::program::{self, Bench};
use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{FirstWrites, InstId};
use nk_compiler::isa::{AluOp, Arg, Engine, Memory, Op};
use nk_compiler::target::TARGETS;
use nk_runtime::{Emulator, Machine};
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

/// What an instruction's target is a bound of.
enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

fn line(work: &str, ratio: f64, bound: Bound, unit: &str, how: &str) {
    let (met, word, target) = match bound {
        Bound::AtLeast(it) => (ratio >= it, "at least", it),
        Bound::AtMost(it) => (ratio <= it, "at most", it),
    };
    let met = if met { "met   " } else { "MISSED" };
    println!("{met} {work:<42} {ratio:>7.2}{unit} ({word} {target}{unit})  {how}");
}

/// Runs of a race.
const RUNS: usize = 300;

/// The fastest of many runs of two things done in turn, in nanoseconds.
fn race(mut first: impl FnMut(), mut second: impl FnMut()) -> [f64; 2] {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..RUNS {
        let start = Instant::now();
        first();
        best[0] = best[0].min(start.elapsed().as_nanos() as f64);
        let start = Instant::now();
        second();
        best[1] = best[1].min(start.elapsed().as_nanos() as f64);
    }
    best
}

/// How often an instruction runs between two looks at the clock.
const REPEATS: usize = 32;

/// Nanoseconds of a baseline and of an instruction.
fn against(mut baseline: impl FnMut(), mut machine: Machine) -> [f64; 2] {
    let order = [InstId::new(0); REPEATS];
    race(
        || (0..REPEATS).for_each(|_| baseline()),
        || machine.run(&order).expect("addresses are static"),
    )
    .map(|it| it / REPEATS as f64)
}

/// Floats from one partition of SBUF to the next.
const PITCH: usize = 197_696 / 4;

pub fn table() {
    println!("speed of emulated instructions on one thread, as measured:");
    if host::has_avx512() {
        matmuls();
        elementwise();
    } else {
        println!("       no AVX-512 here: matmul and element-wise lines are left out");
    }
    exp();
    transposes();
    columns();
    dma();
    compile();
}

fn matmuls() {
    for (dtype, target) in [(Dtype::F32, 95.0), (Dtype::Bf16, 90.0)] {
        let mut operations = 0.0;
        // SAFETY: the CPU has AVX-512.
        let peak = || operations = unsafe { host::multiply_adds(black_box(40_000)) };
        let [peak, ours] = against(peak, program::matmul(dtype));
        let (peak, ours) = (operations / peak, 2.0 * 128.0 * 128.0 * 512.0 / ours);
        let how = format!("{ours:.1} of {peak:.1} GFLOP/s, the peak of fused multiply-adds");
        let work = format!("nc_matmul {} 128x128x512", dtype.name());
        line(&work, ours / peak * 100.0, Bound::AtLeast(target), " %", &how);
    }
}

fn elementwise() {
    let mut memory = vec![1f32; PITCH * 128];
    // SAFETY: the CPU has AVX-512.
    let add = || unsafe { host::add(black_box(&mut memory), PITCH, 128, 512, [1024, 0, 512]) };
    let [theirs, ours] = against(add, program::tensor_tensor(Dtype::F32));
    let how = |theirs: f64, ours: f64| {
        format!(
            "{:.2} us, hand-written AVX-512 {:.2} us",
            ours / 1e3,
            theirs / 1e3
        )
    };
    let percent = theirs / ours * 100.0;
    line(
        "tensor_tensor add f32 128x512",
        percent,
        Bound::AtLeast(90.0),
        " %",
        &how(theirs, ours),
    );
    let mut memory = vec![0x3f80u16; PITCH * 2 * 128];
    // SAFETY: the CPU has AVX-512.
    let add = || unsafe { host::add_bf16(black_box(&mut memory), PITCH * 2, 128, 512, [1024, 0, 512]) };
    let [theirs, ours] = against(add, program::tensor_tensor(Dtype::Bf16));
    let percent = theirs / ours * 100.0;
    line(
        "tensor_tensor add bf16 128x512",
        percent,
        Bound::AtLeast(60.0),
        " %",
        &how(theirs, ours),
    );
}

/// The fastest of many runs of NumPy, in nanoseconds.
const NUMPY: &str = "
import time, numpy as np
x = np.ones((128, 512), np.float32); y = np.empty_like(x); s = np.empty(128, np.float32); best = 1e9
for _ in range(3000):
    t = time.perf_counter(); np.exp(x, out=y); y.sum(axis=1, out=s); best = min(best, time.perf_counter() - t)
print(best * 1e9, np.__version__)
";

fn numpy() -> Option<(f64, String)> {
    let output = Command::new("python3").args(["-c", NUMPY]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (time, version) = text.trim().split_once(' ')?;
    Some((time.parse().ok()?, version.to_string()))
}

fn exp() {
    let before = numpy();
    let [_, ours] = against(|| {}, program::exp_and_sums());
    let after = numpy();
    let (Some((before, version)), Some((after, _))) = (before, after) else {
        return println!(
            "       no python3 with NumPy here: exp with row sums takes {:.2} us",
            ours / 1e3
        );
    };
    let theirs = before.min(after);
    let how = format!(
        "{:.2} us, NumPy {version} by python3 {:.2} us",
        ours / 1e3,
        theirs / 1e3
    );
    line(
        "activation exp f32 with row sums 128x512",
        theirs / ours,
        Bound::AtLeast(2.0),
        "x",
        &how,
    );
}

fn transposes() {
    if !is_x86_feature_detected!("avx2") {
        return println!("       no AVX2 here: transposes are left out");
    }
    let mut memory = vec![1f32; PITCH * 128 * 2];
    let padded = 17_472 / 4;
    let how = |theirs: f64, ours: f64| format!("{:.2} us, AVX 8x8 blocks {:.2} us", ours / 1e3, theirs / 1e3);
    // SAFETY: the CPU has AVX2.
    let blocks = || unsafe {
        host::transpose(black_box(&mut memory), 128, [PITCH * 128, padded], [0, PITCH]);
    };
    let [theirs, ours] = against(blocks, program::transpose(Dtype::F32));
    line(
        "nc_transpose f32 128x128",
        ours / theirs,
        Bound::AtMost(1.3),
        "x",
        &how(theirs, ours),
    );
    // SAFETY: the CPU has AVX2.
    let blocks = || unsafe { host::transpose(black_box(&mut memory), 128, [0, PITCH], [PITCH * 128, 128]) };
    let [theirs, ours] = against(blocks, program::dma_transpose(Dtype::F32));
    line(
        "dma_transpose f32 128x128",
        ours / theirs,
        Bound::AtMost(1.3),
        "x",
        &how(theirs, ours),
    );
}

fn columns() {
    let mut memory = vec![1f32; PITCH * 128];
    let inline = || host::multiply_columns(black_box(&mut memory), PITCH, 128, [2, 0, 1]);
    let [theirs, ours] = against(inline, program::columns());
    let how = format!("{ours:.0} ns, inline code {theirs:.0} ns");
    line(
        "tensor_tensor multiply f32 128x1",
        ours / theirs,
        Bound::AtMost(1.5),
        "x",
        &how,
    );
}

fn dma() {
    let (from, mut to) = (vec![1u8; 4 << 20], vec![0u8; 4 << 20]);
    let copy = || black_box(&mut to).copy_from_slice(black_box(&from));
    let [theirs, ours] = against(copy, program::load_4_mib());
    let how = format!("{:.0} us, memcpy {:.0} us", ours / 1e3, theirs / 1e3);
    line(
        "dma_copy 4 MiB",
        theirs / ours * 100.0,
        Bound::AtLeast(80.0),
        " %",
        &how,
    );
}

/// The CPU time of this thread, which other processes do not stretch.
fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes the time it is given.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert!(done == 0, "every Unix counts the CPU time of threads");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Programs of many classes, and of many instructions.
fn compile() {
    let mut bench = Bench::new();
    let tiles: Vec<Arg> = [Dtype::F32, Dtype::Bf16, Dtype::F16, Dtype::I32]
        .iter()
        .flat_map(|&it| [0; 3].map(|_| bench.tile(it, &[128, 512], Memory::Sbuf)))
        .collect();
    let mut add = |count: usize, ops: &[AluOp]| {
        for idx in 0..count {
            let operand = |skip: usize| tiles[(idx / ops.len() + skip * 5) % tiles.len()];
            let args = [operand(0), operand(1), operand(2), Arg::Alu(ops[idx % ops.len()])];
            bench.inst(Op::TensorTensor, Engine::Vector, &args);
        }
        let (program, first) = (&bench.program, FirstWrites::default());
        let load = |_| {
            let start = cpu_time();
            let machine = Machine::load(program, &bench.placement, &first, &TARGETS[0], Emulator::Jit);
            (cpu_time() - start, machine.stats())
        };
        (0..15).map(load).min_by_key(|it| it.0).expect("there were runs")
    };
    let ops = [
        AluOp::Add,
        AluOp::Multiply,
        AluOp::Maximum,
        AluOp::Less,
        AluOp::Divide,
    ];
    // The tiles' memory, the helpers' names and the first class are paid once a program.
    let (one, _) = add(1, &ops);
    let (first, classes) = add(59, &ops);
    let n = classes.n_classes as f64;
    let each = (first - one).as_secs_f64() * 1e6 / (n - 1.0);
    let how = format!(
        "CPU time; {n} classes of {:.0} bytes, loading a program of one: {:.0} us",
        classes.code_bytes as f64 / n,
        one.as_secs_f64() * 1e6
    );
    line(
        "compile of one shape class",
        each,
        Bound::AtMost(120.0),
        " us",
        &how,
    );
    let time = add(100_000, &ops).0 - first;
    println!(
        "       100000 more instructions of these classes: {:.2} us each",
        time.as_secs_f64() * 10.0
    );
}
