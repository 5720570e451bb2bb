//! Pairs of instructions that one instruction could do.
//!
//! Takes a program, gives the instructions that would fall away. A result counts when one instruction alone reads it, in
//! the same order, before it is written again.

use nk_compiler::ir::{BufferId, Inst, InstId, Program, ViewId};
use nk_compiler::isa::{Access, AluOp, Arg, Op};
use rustc_hash::{FxHashMap, FxHashSet};

/// The newest write of a tile and who has read it.
struct Version {
    by: InstId,
    view: ViewId,
    readers: Vec<InstId>,
}

/// Producers whose only reader is another instruction, with that reader.
pub fn links(program: &Program) -> Vec<(InstId, InstId)> {
    let mut versions: FxHashMap<BufferId, Version> = FxHashMap::default();
    let mut links = Vec::new();
    for (id, inst) in program.iter() {
        for (access, view) in program.touches(inst) {
            if access != Access::Write
                && let Some(version) = versions.get_mut(&program[view].buffer)
            {
                if version.view != view {
                    // Another view of the tile: not one stream into one instruction.
                    version.readers.push(version.by);
                }
                version.readers.push(id);
            }
        }
        for (access, view) in program.touches(inst) {
            if access != Access::Read && program.memory(&program[view]).is_on_chip() {
                let version = Version {
                    by: id,
                    view,
                    readers: Vec::new(),
                };
                links.extend(
                    versions
                        .insert(program[view].buffer, version)
                        .and_then(only_reader),
                );
            }
        }
    }
    let mut rest: Vec<(InstId, InstId)> = versions.into_values().filter_map(only_reader).collect();
    rest.sort_unstable();
    links.extend(rest);
    links
}

fn only_reader(version: Version) -> Option<(InstId, InstId)> {
    match version.readers[..] {
        [reader] if reader != version.by => Some((version.by, reader)),
        _ => None,
    }
}

/// The instructions that would fall away if pairs were combined.
pub fn combinable(program: &Program) -> Vec<InstId> {
    let mut dropped: FxHashSet<InstId> = FxHashSet::default();
    for (first, second) in links(program) {
        if !dropped.contains(&first) && !dropped.contains(&second) {
            dropped.extend(drop_of(program, first, second));
        }
    }
    let mut dropped: Vec<InstId> = dropped.into_iter().collect();
    dropped.sort_unstable();
    dropped
}

/// Which of a producer and its reader falls away, if one instruction can do both.
fn drop_of(program: &Program, first: InstId, second: InstId) -> Option<InstId> {
    let (a, b) = (&program[first], &program[second]);
    match (a.op, b.op) {
        // Two operators of one instruction.
        (Op::TensorScalar, Op::TensorScalar) if is_single(a) && is_single(b) && a.engine == b.engine => {
            Some(first)
        }
        // Scale and bias of an activation.
        (Op::TensorScalar, Op::Activation) if is_single(a) && is_linear(a) => Some(first),
        // scalar_tensor_tensor.
        (Op::TensorScalar, Op::TensorTensor) if is_single(a) => Some(first),
        // The accumulator of an activation, and that of tensor_scalar.
        (Op::Activation, Op::TensorReduce) if is_sum(b) => Some(second),
        _ => None,
    }
}

fn argument(inst: &Inst, name: &str) -> Option<Arg> {
    inst.op.row().position(name).map(|it| inst.args[it])
}

/// Whether an instruction has one operator.
pub fn is_single(inst: &Inst) -> bool {
    argument(inst, "op1").is_none_or(|it| it == Arg::Absent)
}

/// Whether its operator scales or shifts.
pub fn is_linear(inst: &Inst) -> bool {
    matches!(
        argument(inst, "op0"),
        Some(Arg::Alu(AluOp::Multiply | AluOp::Add | AluOp::Subtract))
    )
}

fn is_sum(inst: &Inst) -> bool {
    argument(inst, "op") == Some(Arg::Alu(AluOp::Add))
}
