//! What an instruction reads, and which of it an element of its result is computed from.
//!
//! Takes an instruction and the memory before it runs, gives numbers and positions. Where an instruction is not element by
//! element it names more than what is used, never less.

use super::Watched;
use super::parts::{Part, for_each_run, parts};
use crate::memory::Memory;
use crate::reference::cast::decode;
use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{Inst, InstId, View, ViewId};
use nk_compiler::isa::{Access as Does, Arg, Op, Rule};

/// An operand's elements before the instruction ran.
pub struct Operand {
    pub number: usize,
    pub view: ViewId,
    pub values: Vec<f32>,
}

/// Elements `start + k * step` of an operand, for `count` values of k.
#[derive(Clone, Copy)]
pub struct Stretch {
    pub start: u64,
    pub step: u64,
    pub count: u64,
}

impl Stretch {
    pub fn positions(self) -> impl Iterator<Item = u64> {
        (0..self.count).map(move |it| self.start + it * self.step)
    }
}

impl Operand {
    pub fn at(&self, position: u64) -> Option<f32> {
        self.values.get(position as usize).copied()
    }
}

/// The elements of a view as numbers, in its order.
pub fn values(memory: &Memory, dtype: Dtype, parts: &[Part]) -> Vec<f32> {
    let size = dtype.size();
    let mut values = Vec::new();
    for_each_run(parts, |run| {
        let bytes = memory.bytes(run.at, run.count * u64::from(size));
        let word = |it: &[u8]| {
            let mut word = [0; 4];
            word[..it.len()].copy_from_slice(it);
            u32::from_le_bytes(word)
        };
        values.extend(
            bytes
                .chunks_exact(size as usize)
                .map(|it| decode(dtype, word(it))),
        );
    });
    values
}

/// What an instruction reads, in the order of its operands.
pub fn operands(watched: &Watched, id: InstId, memory: &Memory, registers: &[i32]) -> Vec<Operand> {
    let program = watched.program;
    let inst = &program[id];
    // An automatic matmul that starts a sum does not read its destination.
    let starts = inst.op == Op::NcMatmul && watched.first.ranges.binary_search_by_key(&id, |it| it.0).is_ok();
    let numbers = inst
        .args
        .iter()
        .enumerate()
        .filter(|it| matches!(it.1, Arg::View(_)))
        .map(|it| it.0);
    let read = numbers.zip(inst.views()).filter(|(_, (does, _))| match does {
        Does::Read => true,
        Does::ReadWrite => !starts,
        Does::Write => false,
    });
    let operand = |(number, (_, view)): (usize, (Does, ViewId))| Operand {
        number,
        view,
        values: values(
            memory,
            program[view].dtype,
            &parts(&watched.accesses[view.index()], memory, registers),
        ),
    };
    read.map(operand).collect()
}

/// The elements of an operand from which an element of a result is computed; more than those where an instruction is not
/// element by element.
pub fn stretch(
    watched: &Watched,
    inst: &Inst,
    number: usize,
    dst: &View,
    operand: &Operand,
    at: u64,
) -> Stretch {
    let src = &watched.program[operand.view];
    let row = inst.op.row();
    let one = |start| Stretch {
        start,
        step: 1,
        count: 1,
    };
    let all = Stretch {
        start: 0,
        step: 1,
        count: src.count(),
    };
    let is_on_chip = |it: &View| watched.program.memory(it).is_on_chip();
    if operand.view == self_view(inst) {
        return one(at);
    }
    let name = row.operands[operand.number].name;
    let (p, column) = match is_on_chip(dst) {
        true => (at / dst.free_count().max(1), at % dst.free_count().max(1)),
        false => (0, at),
    };
    let down = |start: u64| Stretch {
        start,
        step: src.free_count(),
        count: u64::from(src.partitions()),
    };
    match inst.op {
        Op::NcMatmul if name == "stationary" => return down(p),
        Op::NcMatmul if name == "moving" => return down(column),
        Op::NcTranspose => return down(p),
        _ => {}
    }
    let is_scan = matches!(inst.op, Op::TensorTensorScan | Op::TensorScalarCumulative);
    let is_even = row
        .rules
        .iter()
        .any(|it| matches!(it, Rule::Elementwise | Rule::SameCount));
    if is_even && !is_scan && number == 0 && src.count() == dst.count() {
        return one(at);
    }
    if !is_on_chip(src) || !is_on_chip(dst) || src.partitions() != dst.partitions() {
        return all;
    }
    Stretch {
        start: p * src.free_count(),
        step: 1,
        count: src.free_count(),
    }
}

/// The view of an instruction's destination.
fn self_view(inst: &Inst) -> ViewId {
    let written = inst.views().find(|it| it.0 != Does::Read);
    written.expect("only instructions with a result are trapped").1
}
