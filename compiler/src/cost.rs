//! How long one instruction occupies its engine.
//!
//! Takes an instruction and the target, evaluates the row's [`Cost`] (`timing.md` §1.2, `isa.md` §1.5) and gives
//! cycles of the executing engine. Never says when an instruction starts, and nothing of DMA but that the transfer
//! occupies no compute: both belong to the event model of the runtime.

use crate::dtype::Dtype;
use crate::ir::{Dim, Index, Inst, Program, View};
use crate::isa::{AluOp, Arg, Basis, Cost, Engine, Kind, Memory, Op, ReduceCmd, Unit};
use crate::target::Target;

/// The occupancy of the executing engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// Cycles of the engine's clock until the next instruction may start. 0 for a DMA, whose queue spends only the trigger.
    pub cycles: u64,
    /// Cycles until the last element is in the pipeline. An instruction of a few elements holds its engine for the minimum
    /// interval, but is complete earlier: one of 1 element was measured to take no more than the latency of its engine.
    pub stream_cycles: u64,
    /// Weight loads of the PE array; each exposes [`crate::target::Timing::weight_load_ps`] beside the cycles.
    pub weight_loads: u64,
    /// The weakest figure that the duration rests on.
    pub basis: Basis,
}

impl Busy {
    /// The occupancy in picoseconds.
    pub fn ps(&self, engine: Engine, target: &Target) -> u64 {
        target.cycles_to_ps(engine, self.cycles) + self.weight_loads * target.timing.weight_load_ps
    }

    /// From the start to the last element in picoseconds.
    pub fn stream_ps(&self, engine: Engine, target: &Target) -> u64 {
        target.cycles_to_ps(engine, self.stream_cycles) + self.weight_loads * target.timing.weight_load_ps
    }
}

/// The occupancy of an instruction's engine.
pub fn busy(program: &Program, inst: &Inst, target: &Target) -> Busy {
    let timing = &target.timing;
    let row = inst.op.row();
    let interval = match is_dynamic(program, inst) {
        true => timing.min_ii_dynamic_cycles,
        false => timing.min_ii_cycles,
    };
    let mut idle = 0;
    let mut floor = |cycles: u64| {
        idle += timing.min_ii_cycles.saturating_sub(cycles);
        cycles.max(interval)
    };
    let mut weight_loads = 0;
    let emulated = emulated_cycles(program, inst, target);
    let cycles = match row.cost {
        Cost::Elementwise => floor(one_stream(program, inst, target) * operator_factor(inst, target)),
        Cost::Activation => floor(one_stream(program, inst, target)) + accumulator_read(inst, target),
        Cost::ActivationReduce => floor(one_stream(program, inst, target)) + timing.min_ii_cycles,
        Cost::TwoStreams(first, second) => {
            let cycles = two_streams(program, inst, [first, second], target);
            floor(cycles * operator_factor(inst, target))
        }
        Cost::Reciprocal => floor(timing.reciprocal_cycles * one_stream(program, inst, target)),
        Cost::Reduce => floor(one_stream(program, inst, target)),
        Cost::Gpsimd => timing.gpsimd_start_cycles + one_stream(program, inst, target),
        Cost::Memset => {
            let cycles = one_stream(program, inst, target);
            floor(if is_fast_fill(program, inst) {
                cycles.div_ceil(2)
            } else {
                cycles
            })
        }
        Cost::Matmul => {
            weight_loads = matmul_passes(program, inst, target);
            let moving = operand_view(program, inst, "moving").map_or(0, View::free_count);
            weight_loads * floor(moving)
        }
        Cost::Transpose if inst.engine == Engine::Tensor => {
            weight_loads = matmul_passes(program, inst, target);
            let rows = operand_view(program, inst, "data").map_or(0, |it| u64::from(it.partitions()));
            weight_loads * floor(rows)
        }
        Cost::Transpose => floor(one_stream(program, inst, target)),
        Cost::Cumulative => {
            let loads = inst.args.contains(&Arg::ReduceCmd(ReduceCmd::LoadReduce));
            floor(one_stream(program, inst, target)) + if loads { timing.min_ii_cycles } else { 0 }
        }
        Cost::Scan => floor(2 * one_stream(program, inst, target)),
        Cost::SelectReduce(first, second) => {
            floor(two_streams(program, inst, [first, second], target)) + accumulator_read(inst, target)
        }
        Cost::GpsimdTimes(cycles) => {
            let stream = operand_view(program, inst, "data").or(operand_view(program, inst, "segment_ids"));
            timing.gpsimd_start_cycles + cycles * stream.map_or(0, View::free_count)
        }
        Cost::Aggregate => {
            let triples = operand_view(program, inst, "data").map_or(0, View::free_count) / 3;
            floor(timing.aggregate_cycles * triples)
        }
        Cost::LocalGather => timing.gpsimd_start_cycles + local_gather(program, inst),
        Cost::Gather => {
            let n = operand_view(program, inst, "indices").map_or(0, View::free_count);
            n.div_ceil(timing.gather_group) * timing.gpsimd_start_cycles + timing.gather_cycles * n
        }
        Cost::Interval => timing.min_ii_cycles,
        Cost::Dma | Cost::DmaTranspose | Cost::DmaCompute | Cost::Collective => 0,
        Cost::Register => register_cycles(program, inst, target),
    };
    let cycles = cycles + emulated;
    let stream_cycles = cycles - idle.min(cycles);
    let assumed = timing.assumed_engines.contains(&inst.engine) && row.unit == Unit::Engine;
    Busy {
        cycles,
        stream_cycles,
        weight_loads,
        basis: match () {
            _ if assumed => Basis::Guess,
            _ if emulated > 0 => row.basis.max(Basis::Derived),
            _ => row.basis,
        },
    }
}

/// Streams an element of the sequence that rounds a quotient down: cast, compare, correct, and keep what is too large.
const FLOOR_STREAMS: [u64; 5] = [1, 2, 2, 1, 2];

/// Streams an element of `x - floor(x / y) * y` after the floor: a multiply and a subtract of two tiles.
const REST_STREAMS: [u64; 2] = [2, 2];

/// Cycles of an operator that no engine has, beyond those of one instruction: a division is a reciprocal of the divisor
/// and a multiply, a remainder has the floor sequence behind it. The reciprocal of an immediate costs nothing.
fn emulated_cycles(program: &Program, inst: &Inst, target: &Target) -> u64 {
    let timing = &target.timing;
    let floor = |cycles: u64| cycles.max(timing.min_ii_cycles);
    let free = |arg: Arg| match arg {
        Arg::View(id) => program[id].free_count(),
        _ => 0,
    };
    let mut cycles = 0;
    for (operand, arg) in inst.op.row().operands.iter().zip(&inst.args) {
        let Arg::Alu(op) = arg else { continue };
        if !op.facts().emulated {
            continue;
        }
        let (left, right, reverse) = match operand.name {
            "op0" => ("data", "operand0", "reverse0"),
            "op1" => ("data", "operand1", "reverse1"),
            _ => ("data1", "data2", ""),
        };
        let is_reversed = self::operand(inst, reverse) == Some(Arg::Bool(true));
        let divisor = self::operand(inst, if is_reversed { left } else { right }).map_or(0, free);
        if divisor > 0 {
            cycles += floor(timing.reciprocal_cycles * divisor);
        }
        if *op != AluOp::Divide {
            let n = one_stream(program, inst, target);
            cycles += FLOOR_STREAMS
                .iter()
                .chain(&REST_STREAMS)
                .map(|it| floor(it * n))
                .sum::<u64>();
        }
    }
    cycles
}

/// Cycles that a queue spends on the addresses of a transfer before it triggers it, beyond those of a static one.
pub fn address_cycles(program: &Program, inst: &Inst, target: &Target) -> u64 {
    let timing = &target.timing;
    if program.is_static() {
        return 0;
    }
    let views = inst.views().map(|(_, id)| &program[id]);
    let cycles = views.filter_map(|view| match view.dynamic?.index {
        Index::Rows(_) => {
            let rows = view.dims().first().map_or(1, |it| u64::from(it.count));
            Some(timing.descriptor_start_cycles + timing.descriptor_row_cycles * rows)
        }
        Index::Register(_) | Index::Element(_) => Some(timing.index_read_cycles),
    });
    cycles.sum()
}

fn is_dynamic(program: &Program, inst: &Inst) -> bool {
    !program.is_static() && inst.views().any(|(_, id)| program[id].dynamic.is_some())
}

/// Cycles of a sequencer that moves, loads or stores a register.
fn register_cycles(program: &Program, inst: &Inst, target: &Target) -> u64 {
    let mut memories = program.accesses(inst).map(|it| program.memory(it.1));
    match memories.next() {
        None => 1,
        Some(Memory::Hbm) => target.timing.register_hbm_cycles,
        Some(Memory::Sbuf | Memory::Psum) => target.timing.register_sbuf_cycles,
    }
}

/// What reading the engine's accumulator out adds.
fn accumulator_read(inst: &Inst, target: &Target) -> u64 {
    let is_read = operand(inst, "reduce_res").is_some_and(|it| it != Arg::Absent);
    if is_read { target.timing.min_ii_cycles } else { 0 }
}

/// Cycles of `local_gather` after its start (`isa.md` §3.25, Q5): an index moves `size` elements at
/// `((28 + 4 size) / (4 size)) / min(4 / element bytes, size)` cycles each.
fn local_gather(program: &Program, inst: &Inst) -> u64 {
    let (Some(Arg::Int(size)), Some(dst)) = (
        operand(inst, "num_elem_per_idx"),
        operand_view(program, inst, "dst"),
    ) else {
        return 0;
    };
    let size = u64::try_from(size).unwrap_or(1).max(1);
    let at_once = (4 / u64::from(dst.dtype.size())).min(size);
    (dst.free_count() * (28 + 4 * size)).div_ceil(4 * size * at_once)
}

/// Cycles of an instruction whose reads do not compete: the slowest of its tiles.
fn one_stream(program: &Program, inst: &Inst, target: &Target) -> u64 {
    let row = inst.op.row();
    let tiles = row
        .operands
        .iter()
        .zip(&inst.args)
        .filter_map(|(operand, arg)| match (operand.kind, arg) {
            (Kind::Tile(_) | Kind::TileOrScalar(_), Arg::View(id)) => Some(&program[*id]),
            _ => None,
        });
    tiles.map(|it| stream_cycles(it, target)).max().unwrap_or(0)
}

/// Cycles of an instruction with two input tiles: they take turns at a port unless one is in PSUM and one in SBUF.
fn two_streams(program: &Program, inst: &Inst, inputs: [usize; 2], target: &Target) -> u64 {
    let cycles = |memory: Memory| -> u64 {
        let views = inputs.iter().filter_map(|&idx| match inst.args[idx] {
            Arg::View(id) => Some(&program[id]),
            _ => None,
        });
        let here = views.filter(|it| program.memory(it) == memory);
        let (n_streams, cycles) = here.fold((0, 0), |(n, sum), it| (n + 1, sum + stream_cycles(it, target)));
        if n_streams < 2 {
            return cycles;
        }
        (cycles * target.timing.two_stream_millicycles).div_ceil(2 * 1000)
    };
    let write = match inst.args[0] {
        Arg::View(id) => stream_cycles(&program[id], target),
        _ => 0,
    };
    cycles(Memory::Sbuf).max(cycles(Memory::Psum)).max(write)
}

/// Cycles of one tile at its port: an element per partition a cycle, half of that when the elements lie far apart.
fn stream_cycles(view: &View, target: &Target) -> u64 {
    let innermost = view.free_dims().iter().rev().find(|it| it.count > 1);
    let stride = innermost.map_or(0, |it: &Dim| u64::from(it.stride.unsigned_abs()));
    let is_slow = stride * u64::from(view.dtype.size()) > target.timing.full_rate_stride_bytes;
    view.free_count() * if is_slow { 2 } else { 1 }
}

/// The slowdown of operators that GpSimd computes in software.
fn operator_factor(inst: &Inst, target: &Target) -> u64 {
    let is_function = |arg: &Arg| matches!(arg, Arg::Alu(op) if op.facts().gpsimd_only);
    if inst.engine == Engine::Gpsimd && inst.args.iter().any(is_function) {
        target.timing.gpsimd_function_factor
    } else {
        1
    }
}

/// The Vector engine fills 16-bit floats with zero at twice the rate.
fn is_fast_fill(program: &Program, inst: &Inst) -> bool {
    let is_half = |view: &View| matches!(view.dtype, Dtype::Bf16 | Dtype::F16);
    let is_zero = match operand(inst, "value") {
        Some(Arg::Float(value)) => value == 0.0,
        Some(Arg::Int(value)) => value == 0,
        _ => false,
    };
    inst.engine == Engine::Vector && is_zero && operand_view(program, inst, "dst").is_some_and(is_half)
}

/// Passes through the PE array, each with a weight load. Hints that an f32 operand holds only 0 and 1 halve them.
fn matmul_passes(program: &Program, inst: &Inst, target: &Target) -> u64 {
    let is_f32 = |name: &str| operand_view(program, inst, name).is_some_and(|it| it.dtype == Dtype::F32);
    let is_hinted = |name: &str| operand(inst, name) == Some(Arg::Bool(true));
    if inst.op == Op::NcTranspose {
        return if is_f32("data") {
            target.timing.fp32_passes
        } else {
            1
        };
    }
    if !is_f32("stationary") && !is_f32("moving") {
        return 1;
    }
    let helps = (is_f32("stationary") && is_hinted("is_stationary_onezero"))
        || (is_f32("moving") && is_hinted("is_moving_onezero"));
    if helps {
        target.timing.fp32_passes / 2
    } else {
        target.timing.fp32_passes
    }
}

fn operand(inst: &Inst, name: &str) -> Option<Arg> {
    inst.op.row().position(name).map(|idx| inst.args[idx])
}

fn operand_view<'a>(program: &'a Program, inst: &Inst, name: &str) -> Option<&'a View> {
    match operand(inst, name)? {
        Arg::View(id) => Some(&program[id]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;
    use crate::text;

    #[test]
    fn a_quotient_costs_the_reciprocal_of_its_divisor() {
        let cycles = |operator: &str| {
            let text = format!(
                "kernel %k for trainium1\nbuf %x: f32[128, 512] @ sbuf\nbody {{\n  \
                 %x <- scalar_tensor_tensor %x, %x, operand0=2.0, {operator}\n}}\n"
            );
            let mut sources = Sources::new();
            let file = sources.add("text.nir", text);
            let program = text::parse(&sources, file).expect("a correct text").program;
            busy(&program, &program.insts[0], &crate::target::TARGETS[0]).cycles
        };
        let plain = cycles("op0=add, op1=add");
        assert_eq!(cycles("op0=divide, op1=add"), plain);
        let by_tile = cycles("op0=divide, op1=add, reverse0=true");
        assert_eq!(by_tile, plain + 8 * 512);
        assert_eq!(cycles("op0=add, op1=divide"), by_tile);
        assert_eq!(cycles("op0=add, op1=divide, reverse1=true"), by_tile);
    }
}
