//! Where instructions may not pass each other.
//!
//! Takes a program, gives its pieces: ranges of instructions within which an order may change.

use crate::ir::{Inst, Program};
use crate::isa::{Engine, Op, Unit};
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

pub fn state(inst: &Inst) -> State {
    match inst.op {
        Op::Dropout | Op::Rng | Op::SetRngSeed => State::Random(inst.engine),
        _ if inst.accumulator().is_some() => State::Accumulator(inst.engine),
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
