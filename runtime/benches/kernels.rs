//! How fast instructions are emulated, beside what the CPU can do: measured in one run, so that ratios hold on a busy
//! machine too.
//!
//! `cargo bench -p nk-runtime --bench kernels` prints the ratios first, then criterion's times.

use criterion::{Criterion, criterion_group, criterion_main};
use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{
    Buffer, BufferId, FirstWrites, Inst, InstId, Name, Placement, Program, Region, Role, Shape, View,
};
use nk_compiler::isa::{ActFn, AluOp, Arg, Engine, MAX_ARGS, Memory, Op};
use nk_compiler::target::TARGETS;
use nk_runtime::{Emulator, Machine};
use std::hint::black_box;
use std::time::Instant;

/// A program of one instruction over whole tiles.
struct Bench {
    program: Program,
    placement: Placement,
    next_byte: u32,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            program: Program::new("bench", TARGETS[0].name),
            placement: Placement::default(),
            next_byte: 0,
        }
    }

    fn tile(&mut self, dtype: Dtype, dims: &[u32], memory: Memory) -> Arg {
        let bytes = dims[1] * dtype.size();
        self.placement.regions.push(Region::OnChip {
            partition: 0,
            partitions: dims[0] as u16,
            start: self.next_byte,
            end: self.next_byte + bytes,
        });
        self.next_byte += bytes;
        let buffer = Buffer {
            name: Name::plain(&format!("b{}", self.program.buffers.len())),
            dtype,
            shape: Shape::new(dims).expect("tiles have two dimensions"),
            memory,
            role: Role::Local,
            request: None,
            loc: None,
        };
        let view = View::whole(BufferId::new(self.program.buffers.len()), &buffer);
        self.program.add_buffer(buffer);
        Arg::View(self.program.add_view(view))
    }

    fn inst(&mut self, op: Op, engine: Engine, args: &[Arg]) {
        let mut all = [Arg::Absent; MAX_ARGS];
        for (arg, operand) in all.iter_mut().zip(op.row().operands) {
            *arg = operand.default.unwrap_or(Arg::Absent);
        }
        all[..args.len()].copy_from_slice(args);
        self.program.add_inst(Inst {
            op,
            engine,
            loc: None,
            args: all,
        });
    }

    /// The instruction on a machine whose tiles hold ones.
    fn load(mut self, op: Op, engine: Engine, args: &[Arg]) -> Machine {
        self.inst(op, engine, args);
        let first = FirstWrites::default();
        let mut machine = Machine::load(&self.program, &self.placement, &first, &TARGETS[0], Emulator::Jit);
        for (idx, buffer) in self.program.buffers.iter().enumerate() {
            let n = buffer.shape.count() as usize;
            let bytes = match buffer.dtype {
                Dtype::F32 => 1f32.to_le_bytes().repeat(n),
                Dtype::Bf16 => 0x3f80u16.to_le_bytes().repeat(n),
                _ => vec![1; n * buffer.dtype.size() as usize],
            };
            machine.write(BufferId::new(idx), &bytes);
        }
        machine
    }
}

fn tensor_tensor(dtype: Dtype) -> Machine {
    let mut bench = Bench::new();
    let [a, b, dst] = [0; 3].map(|_| bench.tile(dtype, &[128, 512], Memory::Sbuf));
    bench.load(
        Op::TensorTensor,
        Engine::Vector,
        &[dst, a, b, Arg::Alu(AluOp::Add)],
    )
}

fn activation(function: ActFn, dtype: Dtype) -> Machine {
    let mut bench = Bench::new();
    let [data, dst] = [0; 2].map(|_| bench.tile(dtype, &[128, 512], Memory::Sbuf));
    bench.load(Op::Activation, Engine::Scalar, &[dst, Arg::Act(function), data])
}

fn matmul(dtype: Dtype) -> Machine {
    let mut bench = Bench::new();
    let stationary = bench.tile(dtype, &[128, 128], Memory::Sbuf);
    let moving = bench.tile(dtype, &[128, 512], Memory::Sbuf);
    bench.next_byte = 0;
    let dst = bench.tile(Dtype::F32, &[128, 512], Memory::Psum);
    bench.load(Op::NcMatmul, Engine::Tensor, &[dst, stationary, moving])
}

fn transpose(dtype: Dtype) -> Machine {
    let mut bench = Bench::new();
    let data = bench.tile(dtype, &[128, 128], Memory::Sbuf);
    bench.next_byte = 0;
    let dst = bench.tile(dtype, &[128, 128], Memory::Psum);
    bench.load(Op::NcTranspose, Engine::Tensor, &[dst, data])
}

fn reduce() -> Machine {
    let mut bench = Bench::new();
    let data = bench.tile(Dtype::F32, &[128, 512], Memory::Sbuf);
    let dst = bench.tile(Dtype::F32, &[128, 1], Memory::Sbuf);
    bench.load(
        Op::TensorReduce,
        Engine::Vector,
        &[dst, Arg::Alu(AluOp::Add), data, Arg::Axes(2)],
    )
}

fn columns() -> Machine {
    let mut bench = Bench::new();
    let [a, b, dst] = [0; 3].map(|_| bench.tile(Dtype::F32, &[128, 1], Memory::Sbuf));
    bench.load(
        Op::TensorTensor,
        Engine::Vector,
        &[dst, a, b, Arg::Alu(AluOp::Multiply)],
    )
}

/// Prints how long it takes to load programs of many classes, and of many instructions.
fn loading() {
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
        let program = &bench.program;
        let first = FirstWrites::default();
        let mut times: Vec<_> = (0..15)
            .map(|_| {
                let machine = Machine::load(program, &bench.placement, &first, &TARGETS[0], Emulator::Jit);
                machine.stats()
            })
            .collect();
        times.sort_by_key(|it| it.load_time);
        times[0]
    };
    let ops = [
        AluOp::Add,
        AluOp::Multiply,
        AluOp::Maximum,
        AluOp::Less,
        AluOp::Divide,
    ];
    let classes = add(60, &ops);
    println!(
        "{} classes of {:.0} bytes: {:.1} us each",
        classes.n_classes,
        classes.code_bytes as f64 / classes.n_classes as f64,
        classes.load_time.as_secs_f64() * 1e6 / classes.n_classes as f64
    );
    let more = add(100_000, &ops);
    let time = more.load_time - classes.load_time;
    println!(
        "100000 more instructions: {:.2} us each",
        time.as_secs_f64() * 10.0
    );
}

/// What the CPU can do, in hand-written code.
#[cfg(target_arch = "x86_64")]
mod host {
    use std::arch::x86_64::*;

    pub fn has_avx512() -> bool {
        is_x86_feature_detected!("avx512f")
    }

    /// Fused multiply-adds in 12 independent chains; gives the number of floating-point operations.
    #[target_feature(enable = "avx512f")]
    pub fn multiply_adds(rounds: usize) -> f64 {
        let factor = _mm512_set1_ps(std::hint::black_box(0.999));
        let mut sums = [_mm512_set1_ps(std::hint::black_box(1.0)); 12];
        for _ in 0..rounds {
            for sum in &mut sums {
                *sum = _mm512_fmadd_ps(*sum, factor, factor);
            }
        }
        std::hint::black_box(sums);
        (rounds * 12 * 16 * 2) as f64
    }

    /// Adds rows of `n` floats whose starts lie `pitch` floats apart.
    #[target_feature(enable = "avx512f")]
    pub fn add(memory: &mut [f32], pitch: usize, rows: usize, n: usize, [dst, a, b]: [usize; 3]) {
        for row in 0..rows {
            let start = memory[row * pitch..].as_mut_ptr();
            for idx in (0..n).step_by(16) {
                // SAFETY: the caller's rows hold all three tiles.
                unsafe {
                    let sum = _mm512_add_ps(
                        _mm512_loadu_ps(start.add(a + idx)),
                        _mm512_loadu_ps(start.add(b + idx)),
                    );
                    _mm512_storeu_ps(start.add(dst + idx), sum);
                }
            }
        }
    }
}

/// Median nanoseconds of two things done in turn.
fn race(mut first: impl FnMut(), mut second: impl FnMut()) -> [f64; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..61 {
        let start = Instant::now();
        first();
        times[0].push(start.elapsed().as_nanos() as f64);
        let start = Instant::now();
        second();
        times[1].push(start.elapsed().as_nanos() as f64);
    }
    times.map(|mut it| {
        it.sort_by(f64::total_cmp);
        it[it.len() / 2]
    })
}

#[cfg(target_arch = "x86_64")]
fn ratios(_: &mut Criterion) {
    loading();
    if !host::has_avx512() {
        return println!("no AVX-512: no ratios");
    }
    let order = [InstId::new(0); 8];
    for dtype in [Dtype::F32, Dtype::Bf16] {
        let mut machine = matmul(dtype);
        let mut operations = 0.0;
        let [peak, ours] = race(
            // SAFETY: the CPU has AVX-512.
            || operations = unsafe { host::multiply_adds(black_box(300_000)) },
            || machine.run(&order).expect("addresses are static"),
        );
        let done = 8.0 * 2.0 * 128.0 * 128.0 * 512.0;
        let (peak, ours) = (operations / peak, done / ours);
        println!(
            "{} matmul 128x128x512: {ours:.1} GFLOP/s, {:.1} % of the peak of {peak:.1}",
            dtype.name(),
            ours / peak * 100.0
        );
    }
    let pitch = 197_696 / 4;
    let mut memory = vec![1f32; pitch * 128];
    let mut machine = tensor_tensor(Dtype::F32);
    let [theirs, ours] = race(
        // SAFETY: the CPU has AVX-512.
        || (0..8).for_each(|_| unsafe { host::add(black_box(&mut memory), pitch, 128, 512, [1024, 0, 512]) }),
        || machine.run(&order).expect("addresses are static"),
    );
    println!(
        "f32 add 128x512: {:.2} us, hand-written {:.2} us: {:.1} % of its speed",
        ours / 8e3,
        theirs / 8e3,
        theirs / ours * 100.0
    );
}

#[cfg(not(target_arch = "x86_64"))]
fn ratios(_: &mut Criterion) {
    loading();
}

fn times(criterion: &mut Criterion) {
    let order = [InstId::new(0)];
    let cases = [
        ("matmul f32", matmul(Dtype::F32)),
        ("matmul bf16", matmul(Dtype::Bf16)),
        ("add f32", tensor_tensor(Dtype::F32)),
        ("add bf16", tensor_tensor(Dtype::Bf16)),
        ("exp f32", activation(ActFn::Exp, Dtype::F32)),
        ("exp bf16", activation(ActFn::Exp, Dtype::Bf16)),
        ("gelu f32", activation(ActFn::Gelu, Dtype::F32)),
        ("silu f32", activation(ActFn::Silu, Dtype::F32)),
        ("sigmoid f32", activation(ActFn::Sigmoid, Dtype::F32)),
        ("tanh f32", activation(ActFn::Tanh, Dtype::F32)),
        ("log f32", activation(ActFn::Log, Dtype::F32)),
        ("sin f32", activation(ActFn::Sin, Dtype::F32)),
        ("row sums f32", reduce()),
        ("transpose f32", transpose(Dtype::F32)),
        ("transpose bf16", transpose(Dtype::Bf16)),
        ("multiply columns f32", columns()),
    ];
    for (name, mut machine) in cases {
        criterion.bench_function(name, |it| {
            it.iter(|| machine.run(&order).expect("addresses are static"))
        });
    }
}

criterion_group!(benches, ratios, times);
criterion_main!(benches);
