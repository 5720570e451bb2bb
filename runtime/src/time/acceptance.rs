//! The model against published measurements (`timing.md` §4.5, tier 1).

use super::time;
use crate::trace::Trace;
use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{
    Buffer, BufferId, Dim, Inst, InstId, Name, Placement, Program, Region, Role, Schedule, Shape, Step, View,
    ViewId,
};
use nk_compiler::isa::{Accumulate, ActFn, AluOp, Arg, Engine, MAX_ARGS, Memory, Op};
use nk_compiler::target::{TARGETS, Target};

const TARGET: &Target = &TARGETS[0];

/// A program under construction; buffers on chip are placed one after the other.
struct Bench {
    program: Program,
    placement: Placement,
    schedule: Schedule,
    next_byte: [u32; 3],
}

impl Bench {
    fn new() -> Bench {
        Bench {
            program: Program::new("bench", TARGET.name),
            placement: Placement::default(),
            schedule: Schedule::default(),
            next_byte: [0; 3],
        }
    }

    fn buffer(&mut self, dtype: Dtype, shape: &[u32], memory: Memory) -> BufferId {
        let buffer = Buffer {
            name: Name::plain("b"),
            dtype,
            shape: Shape::new(shape).unwrap(),
            memory,
            role: Role::Local,
            request: None,
            loc: None,
        };
        let start = self.next_byte[memory as usize];
        let end = start + u32::try_from(buffer.bytes()).unwrap();
        self.next_byte[memory as usize] = end;
        self.placement.regions.push(match memory {
            Memory::Hbm => Region::Hbm {
                address: u64::from(start),
            },
            _ => Region::OnChip {
                partition: 0,
                partitions: u16::try_from(shape[0]).unwrap(),
                start,
                end,
            },
        });
        self.program.add_buffer(buffer)
    }

    fn whole(&mut self, buffer: BufferId) -> ViewId {
        let view = View::whole(buffer, &self.program[buffer]);
        self.program.add_view(view)
    }

    fn tile(&mut self, dtype: Dtype, shape: &[u32], memory: Memory) -> ViewId {
        let buffer = self.buffer(dtype, shape, memory);
        self.whole(buffer)
    }

    fn push(&mut self, engine: Engine, op: Op, args: &[Arg]) -> InstId {
        let mut all = [Arg::Absent; MAX_ARGS];
        for (idx, operand) in op.row().operands.iter().enumerate() {
            all[idx] = args.get(idx).copied().or(operand.default).unwrap();
        }
        let inst = self.program.add_inst(Inst {
            op,
            engine,
            loc: None,
            args: all,
        });
        self.schedule.queues[engine as usize].push(Step::Inst(inst));
        inst
    }

    fn copy(&mut self, queue: Engine, dst: ViewId, src: ViewId) -> InstId {
        self.push(queue, Op::DmaCopy, &[Arg::View(dst), Arg::View(src)])
    }

    fn add(&mut self, dst: ViewId, a: ViewId, b: ViewId) -> InstId {
        let args = [Arg::View(dst), Arg::View(a), Arg::View(b), Arg::Alu(AluOp::Add)];
        self.push(Engine::Vector, Op::TensorTensor, &args)
    }

    fn activation(&mut self, dst: ViewId, op: ActFn, data: ViewId) -> InstId {
        self.push(
            Engine::Scalar,
            Op::Activation,
            &[Arg::View(dst), Arg::Act(op), Arg::View(data)],
        )
    }

    /// One more signal of a pair, and the wait for it.
    fn sync(&mut self, from: Engine, to: Engine) {
        let sent = |it: &&Step| matches!(it, Step::Signal { to: known, .. } if *known == to);
        let count = self.schedule.queues[from as usize].iter().filter(sent).count() as u32 + 1;
        self.schedule.queues[from as usize].push(Step::Signal { to, count });
        self.schedule.queues[to as usize].push(Step::Wait { from, count });
    }

    fn time(&self) -> Trace {
        time(&self.program, &self.placement, &self.schedule, TARGET)
    }
}

#[track_caller]
fn assert_within(percent: f64, got_ps: u64, want_us: f64) {
    let got_us = got_ps as f64 / 1e6;
    let error = 100.0 * (got_us - want_us) / want_us;
    assert!(
        error.abs() <= percent,
        "{got_us} us is {error:+.1} % off {want_us} us"
    );
}

fn duration_ps(trace: &Trace, inst: InstId) -> u64 {
    trace.event(inst).end_ps - trace.event(inst).start_ps
}

#[test]
fn tensor_tensor_of_two_f32_tiles_in_sbuf() {
    for (partitions, n, want_us) in [
        (128, 1000, 2.0165),
        (128, 2000, 3.820),
        (128, 8192, 14.987),
        (64, 8192, 14.968),
    ] {
        let mut bench = Bench::new();
        let tile = |it: &mut Bench| it.tile(Dtype::F32, &[partitions, n], Memory::Sbuf);
        let (a, b, c) = (tile(&mut bench), tile(&mut bench), tile(&mut bench));
        let inst = bench.add(c, a, b);
        assert_within(2.0, duration_ps(&bench.time(), inst), want_us);
    }
}

#[test]
fn independent_vector_instructions_run_at_the_initiation_interval() {
    let mut bench = Bench::new();
    let tiles: Vec<ViewId> = (0..12)
        .map(|_| bench.tile(Dtype::F32, &[128, 512], Memory::Sbuf))
        .collect();
    let insts: Vec<InstId> = tiles[4..]
        .iter()
        .map(|&dst| bench.add(dst, tiles[0], tiles[1]))
        .collect();
    let trace = bench.time();
    let interval_ps = trace.event(insts[1]).start_ps - trace.event(insts[0]).start_ps;
    assert_within(1.0, interval_ps, 1.010);
}

#[test]
fn a_chain_of_small_activations() {
    let mut bench = Bench::new();
    let x = bench.tile(Dtype::F32, &[128, 1], Memory::Sbuf);
    let insts: Vec<InstId> = (0..4).map(|_| bench.activation(x, ActFn::Square, x)).collect();
    let trace = bench.time();
    let interval_ps = trace.event(insts[2]).start_ps - trace.event(insts[1]).start_ps;
    assert_within(2.0, interval_ps, 0.189);
}

#[test]
fn a_change_of_function_set_loads_a_table() {
    let mut bench = Bench::new();
    let tiles: Vec<ViewId> = (0..5)
        .map(|_| bench.tile(Dtype::F32, &[128, 1], Memory::Sbuf))
        .collect();
    let functions = [ActFn::Exp, ActFn::Copy, ActFn::Log, ActFn::Gelu];
    let insts: Vec<InstId> = (0..4)
        .map(|it| bench.activation(tiles[it + 1], functions[it], tiles[0]))
        .collect();
    let trace = bench.time();
    let loads: Vec<InstId> = trace.table_loads.iter().map(|it| it.inst).collect();
    assert_eq!(loads, [insts[0], insts[3]]);
    assert_eq!(trace.event(insts[0]).start_ps, TARGET.timing.act_table_load_ps);
}

#[test]
fn a_stream_of_matmuls() {
    let mut bench = Bench::new();
    let weights = bench.tile(Dtype::Bf16, &[128, 128], Memory::Sbuf);
    let moving = bench.tile(Dtype::Bf16, &[128, 512], Memory::Sbuf);
    let acc = bench.tile(Dtype::F32, &[128, 512], Memory::Psum);
    let args = [Arg::View(acc), Arg::View(weights), Arg::View(moving)];
    let mut args: Vec<Arg> = args.into();
    args.extend([
        Arg::Bool(false),
        Arg::Bool(false),
        Arg::Bool(false),
        Arg::Accumulate(Accumulate::Add),
    ]);
    for _ in 0..1000 {
        bench.push(Engine::Tensor, Op::NcMatmul, &args);
    }
    assert_within(0.2, bench.time().total_ps, 0.2089 * 1000.0);
}

#[test]
fn triggers_follow_each_other_at_their_interval() {
    let mut bench = Bench::new();
    let hbm = bench.tile(Dtype::F32, &[128, 64], Memory::Hbm);
    let insts: Vec<InstId> = (0..3)
        .map(|_| {
            let dst = bench.tile(Dtype::F32, &[128, 64], Memory::Sbuf);
            bench.copy(Engine::Sync, dst, hbm)
        })
        .collect();
    let trace = bench.time();
    assert_within(
        5.0,
        trace.event(insts[1]).start_ps - trace.event(insts[0]).start_ps,
        0.082,
    );
}

/// The 128 x `width` tile at `row` of an HBM tensor.
fn hbm_tile(bench: &mut Bench, buffer: BufferId, row: u32, width: u32) -> ViewId {
    let dims = [
        Dim {
            stride: width as i32,
            count: 128,
        },
        Dim {
            stride: 1,
            count: width,
        },
    ];
    let view = View::new(buffer, Dtype::F32, 0, i64::from(row * width), &dims).unwrap();
    bench.program.add_view(view)
}

/// `vector_add_stream` of 256 000 elements: per tile two loads, an add and a store.
fn vector_add_stream(width: u32) -> (Trace, Vec<InstId>, Vec<InstId>) {
    let n_tiles = 256_000 / (128 * width);
    let mut bench = Bench::new();
    let [a, b, c] = [0; 3].map(|_| bench.buffer(Dtype::F32, &[n_tiles * 128, width], Memory::Hbm));
    let mut loads = Vec::new();
    let mut tiles = Vec::new();
    for tile in 0..n_tiles {
        let sources = [a, b].map(|it| hbm_tile(&mut bench, it, tile * 128, width));
        let pair = sources.map(|src| {
            let dst = bench.tile(Dtype::F32, &[128, width], Memory::Sbuf);
            loads.push(bench.copy(Engine::Sync, dst, src));
            dst
        });
        bench.sync(Engine::Sync, Engine::Vector);
        let sum = bench.tile(Dtype::F32, &[128, width], Memory::Sbuf);
        bench.add(sum, pair[0], pair[1]);
        bench.sync(Engine::Vector, Engine::Gpsimd);
        tiles.push(sum);
    }
    // The stores stand behind the waits that `sync` has put into their queue, one each.
    let waits = std::mem::take(&mut bench.schedule.queues[Engine::Gpsimd as usize]);
    let mut stores = Vec::new();
    for (tile, wait) in waits.into_iter().enumerate() {
        bench.schedule.queues[Engine::Gpsimd as usize].push(wait);
        let dst = hbm_tile(&mut bench, c, tile as u32 * 128, width);
        stores.push(bench.copy(Engine::Gpsimd, dst, tiles[tile]));
    }
    (bench.time(), loads, stores)
}

#[test]
fn vector_add_stream_in_two_tiles() {
    let (trace, loads, stores) = vector_add_stream(1000);
    for (inst, want_us) in loads.iter().zip([3.53, 5.57, 7.60, 9.07]) {
        assert_within(10.0, trace.event(*inst).end_ps, want_us);
    }
    assert_within(10.0, trace.event(stores[0]).end_ps, 10.93);
    assert_within(5.0, trace.total_ps, 13.88);
    assert_within(15.0, trace.total_ps + TARGET.timing.program_overhead_ps, 29.0);
}

#[test]
fn vector_add_stream_in_one_tile() {
    let (trace, loads, _) = vector_add_stream(2000);
    for (inst, want_us) in loads.iter().zip([5.64, 9.24]) {
        assert_within(10.0, trace.event(*inst).end_ps, want_us);
    }
    assert_within(5.0, trace.total_ps, 17.8);
    assert_within(15.0, trace.total_ps + TARGET.timing.program_overhead_ps, 34.0);
    assert_eq!(trace.traffic(Memory::Hbm).read, 2 * 4 * 256_000);
    assert_eq!(trace.traffic(Memory::Hbm).written, 4 * 256_000);
}

#[test]
fn isolated_stores() {
    for (width, want_us) in [(1000, 2.855), (2000, 4.7)] {
        let mut bench = Bench::new();
        let src = bench.tile(Dtype::F32, &[128, width], Memory::Sbuf);
        let dst = bench.tile(Dtype::F32, &[128, width], Memory::Hbm);
        bench.copy(Engine::Sync, dst, src);
        assert_within(4.0, bench.time().total_ps, want_us);
    }
}

#[test]
fn the_vector_engine_and_gpsimd_take_turns_at_sbuf() {
    let mut bench = Bench::new();
    let tiles: Vec<ViewId> = (0..4)
        .map(|_| bench.tile(Dtype::F32, &[128, 512], Memory::Sbuf))
        .collect();
    let acc = bench.tile(Dtype::F32, &[128, 512], Memory::Psum);
    let copy = |dst: ViewId, src: ViewId| [Arg::View(dst), Arg::View(src)];
    let on_vector = bench.push(Engine::Vector, Op::TensorCopy, &copy(tiles[1], tiles[0]));
    let on_gpsimd = bench.push(Engine::Gpsimd, Op::TensorCopy, &copy(tiles[3], tiles[2]));
    let in_psum = bench.push(
        Engine::Scalar,
        Op::Activation,
        &[Arg::View(acc), Arg::Act(ActFn::Copy), Arg::View(tiles[0])],
    );
    let trace = bench.time();
    assert_eq!(trace.event(on_vector).start_ps, 0);
    assert!(trace.event(on_gpsimd).start_ps >= TARGET.cycles_to_ps(Engine::Vector, 512));
    assert_eq!(trace.event(in_psum).start_ps, 0);
    assert_eq!(trace.stalls.len(), 1);
    assert!(trace.guessed_share() > 0.0);
}

#[test]
fn the_order_of_events_holds_every_instruction_once() {
    let (trace, ..) = vector_add_stream(1000);
    let mut order = trace.order.clone();
    order.sort();
    order.dedup();
    assert_eq!(order.len(), trace.events.len());
    let starts: Vec<u64> = trace.order.iter().map(|it| trace.event(*it).start_ps).collect();
    assert!(starts.is_sorted());
}
