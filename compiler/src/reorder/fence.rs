//! Where instructions may not pass each other.
//!
//! Takes a program, gives its pieces: ranges of instructions within which an order may change.

use crate::ir::{Inst, Program};
use crate::isa::{Arg, Engine, N_ENGINES, Op, ReduceCmd, Unit};
use std::ops::Range;

/// What an instruction changes or reads besides the bytes of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Nothing,
    /// The accumulators of its engine.
    Accumulator(Engine),
    /// The random generator of its engine.
    Random(Engine),
}

/// The engines on which some instruction goes on in a sum that another one began, by index. Elsewhere every sum is begun and
/// read by one instruction, and what is left in the accumulator is nobody's.
pub type Sums = [bool; N_ENGINES];

pub fn sums(program: &Program) -> Sums {
    let mut sums = Sums::default();
    for inst in &program.insts {
        let goes_on = match inst.accumulator() {
            None | Some(ReduceCmd::ResetReduce) => false,
            // What does not add to the sum may read it.
            Some(ReduceCmd::Idle) => {
                let reads_out = inst.op.row().position("reduce_res");
                reads_out.is_some_and(|it| inst.args[it] != Arg::Absent)
            }
            Some(ReduceCmd::Reset | ReduceCmd::Reduce | ReduceCmd::LoadReduce) => true,
        };
        sums[inst.engine as usize] |= goes_on;
    }
    sums
}

pub fn state(inst: &Inst, sums: &Sums) -> State {
    match inst.op {
        Op::Dropout | Op::Rng | Op::SetRngSeed => State::Random(inst.engine),
        _ if sums[inst.engine as usize] && inst.accumulator().is_some() => State::Accumulator(inst.engine),
        _ => State::Nothing,
    }
}

/// Whether nothing passes the instruction: its order was asked for, other cores see what was done before it, or it is about
/// registers.
pub fn is_fence(inst: &Inst) -> bool {
    inst.asked.is_fixed() || inst.op == Op::Collective || inst.op.row().unit == Unit::Sequencer
}

/// The ranges of instructions that may change places, together all instructions.
pub fn pieces(program: &Program) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    for segment in program.control().segments {
        let mut start = segment.start;
        for at in segment.clone() {
            if is_fence(&program.insts[at]) {
                pieces.extend([start..at, at..at + 1]);
                start = at + 1;
            }
        }
        pieces.push(start..segment.end);
    }
    pieces.retain(|it| !it.is_empty());
    pieces
}
