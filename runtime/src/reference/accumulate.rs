//! The Vector engine's accumulator: reductions beside an element-wise result, running reductions and recurrences.

use super::alu;
use super::cast::canonical;
use super::elementwise::fold;
use super::{Args, Core, alu_op, flag, rounding};
use nk_compiler::isa::{AluOp, Arg, ReduceCmd};

/// What an instruction finds in the accumulator.
enum Start<'a> {
    Keeps,
    Resets,
    Loads(&'a Arg),
}

fn start<'a>(cmd: &Arg, loaded: &'a Arg) -> Start<'a> {
    match cmd {
        Arg::ReduceCmd(ReduceCmd::ResetReduce | ReduceCmd::Reset) => Start::Resets,
        Arg::ReduceCmd(ReduceCmd::LoadReduce) => Start::Loads(loaded),
        _ => Start::Keeps,
    }
}

/// What a reset leaves in the accumulator.
fn reset_value(op: AluOp) -> f32 {
    match op {
        AluOp::Multiply => 1.0,
        AluOp::Maximum => f32::NEG_INFINITY,
        AluOp::Minimum => f32::INFINITY,
        _ => 0.0,
    }
}

impl Core<'_> {
    /// The offset of the accumulator of the lane that reads partition `p` of a tile.
    fn vector_register(&self, data: &Arg, p: usize) -> u64 {
        let partition = u64::from(self.access(data).partition) + p as u64;
        self.memory.layout.vector_accumulators + partition * 4
    }

    fn vector_accumulator(&self, data: &Arg, p: usize, start: &Start, op: AluOp) -> f32 {
        match start {
            Start::Keeps => f32::from_bits(self.memory.word(self.vector_register(data, p), 4)),
            Start::Resets => reset_value(op),
            Start::Loads(column) => self.operand(column, true, AluOp::Add).value(p, 0),
        }
    }

    fn set_vector_accumulator(&mut self, data: &Arg, p: usize, value: f32) {
        let register = self.vector_register(data, p);
        self.memory.set_word(register, 4, canonical(value).to_bits());
    }

    /// Writes the accumulators of the partitions of `data` to a column.
    fn write_accumulators(&mut self, result: &Arg, data: &Arg, rows: usize, negate: bool) {
        if *result == Arg::Absent {
            return;
        }
        let values: Vec<f32> = (0..rows)
            .map(|p| {
                let value = f32::from_bits(self.memory.word(self.vector_register(data, p), 4));
                if negate { -value } else { value }
            })
            .collect();
        // The result shares no random bits with the elements of dst.
        let random = self.random;
        self.random = random.map(rounding::mix);
        self.write_values(result, values);
        self.random = random;
    }
}

/// dst = data op0 operand0; every row's f32 results are folded, and the accumulator takes in the fold.
pub fn tensor_scalar_reduce(core: &mut Core, args: &Args) {
    let [
        dst,
        data,
        op0,
        operand0,
        reduce_op,
        result,
        _,
        cmd,
        init,
        negate,
        ..,
    ] = args;
    let (op0, reduce_op) = (alu_op(op0), alu_op(reduce_op));
    let (tile, operand) = (core.tile(data), core.operand(operand0, true, op0));
    let values: Vec<f32> = (0..tile.raw.len())
        .map(|idx| alu::arithmetic(op0, tile.value(idx), operand.value(idx / tile.row, idx)))
        .collect();
    let start = start(cmd, init);
    take_in(core, data, &values, tile.row, &start, reduce_op);
    core.write_values(dst, values);
    let rows = tile.raw.len() / tile.row;
    core.write_accumulators(result, data, rows, flag(negate));
}

fn take_in(core: &mut Core, data: &Arg, values: &[f32], row: usize, start: &Start, op: AluOp) {
    for (p, row) in values.chunks(row).enumerate() {
        let before = core.vector_accumulator(data, p, start, op);
        core.set_vector_accumulator(data, p, alu::arithmetic(op, before, fold(op, row)));
    }
}

/// V = (src[i] op0 imm0) op1 V; dst[i] = V.
pub fn tensor_scalar_cumulative(core: &mut Core, args: &Args) {
    let [dst, src, op0, op1, imm0, imm1, cmd, ..] = args;
    let (op0, op1) = (alu_op(op0), alu_op(op1));
    let (tile, operand) = (core.tile(src), core.operand(imm0, true, op0));
    let start = start(cmd, imm1);
    let mut values = Vec::with_capacity(tile.raw.len());
    let mut last = Vec::new();
    for p in 0..tile.raw.len() / tile.row {
        let mut state = core.vector_accumulator(src, p, &start, op1);
        for idx in p * tile.row..(p + 1) * tile.row {
            let term = alu::arithmetic(op0, tile.value(idx), operand.value(p, idx));
            state = alu::arithmetic(op1, term, state);
            values.push(state);
        }
        last.push(state);
    }
    for (p, state) in last.into_iter().enumerate() {
        core.set_vector_accumulator(src, p, state);
    }
    core.write_values(dst, values);
}

/// s = (data0[i] op0 s) op1 data1[i]; dst[i] = s.
pub fn tensor_tensor_scan(core: &mut Core, args: &Args) {
    let [dst, data0, data1, initial, op0, op1, reverse0, reverse1, ..] = args;
    let (op0, op1) = (alu_op(op0), alu_op(op1));
    let (a, b) = (core.tile(data0), core.tile(data1));
    let initial = core.operand(initial, true, AluOp::Add);
    let ordered = |op: AluOp, x: f32, y: f32, reverse: &Arg| {
        if flag(reverse) {
            alu::arithmetic(op, y, x)
        } else {
            alu::arithmetic(op, x, y)
        }
    };
    let mut values = Vec::with_capacity(a.raw.len());
    for p in 0..a.raw.len() / a.row {
        let mut state = initial.value(p, p);
        for idx in p * a.row..(p + 1) * a.row {
            let inner = ordered(op0, a.value(idx), state, reverse0);
            state = ordered(op1, inner, b.value(idx), reverse1);
            values.push(state);
        }
    }
    core.write_values(dst, values);
}

/// dst = predicate ? on_true : on_false; the accumulator keeps the largest value unless it is idle.
pub fn select_reduce(core: &mut Core, args: &Args) {
    let [
        dst,
        predicate,
        on_true,
        on_false,
        result,
        cmd,
        reduce_op,
        reverse,
        ..,
    ] = args;
    let (mask, tile) = (core.tile(predicate), core.tile(on_true));
    let other = core.operand(on_false, true, AluOp::Add);
    let values: Vec<f32> = (0..tile.raw.len())
        .map(|idx| {
            if (mask.raw[idx] != 0) != flag(reverse) {
                tile.value(idx)
            } else {
                other.value(idx / tile.row, idx)
            }
        })
        .collect();
    if *cmd != Arg::ReduceCmd(ReduceCmd::Idle) {
        let start = start(cmd, &Arg::Absent);
        take_in(core, on_true, &values, tile.row, &start, alu_op(reduce_op));
    }
    core.write_values(dst, values);
    core.write_accumulators(result, on_true, tile.raw.len() / tile.row, false);
}
