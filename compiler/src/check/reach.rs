//! Where a value without meaning can end up.
//!
//! Takes the instruction that reads it, follows results through tensors in program order, gives the first of the places that
//! make a kernel wrong: HBM, an address, or a register. A tensor that is written anew as a whole is clean again. Also finds who
//! writes the elements when it is too late.

use super::error::Error;
use super::window;
use crate::ir::{InstId, Program, View, ViewId};
use crate::isa::{Access, Unit};
use crate::source::Span;

/// What a value reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// A tensor in HBM, by name, and the place that writes it.
    Hbm { name: String, span: Option<Span> },
    /// An address that is read from a tile.
    Address,
    /// A register, on which loops and addresses depend.
    Register,
    /// Nothing but tiles that are not used any further.
    Nothing,
}

/// Adds to an uninitialised read where its value goes, and who writes the elements when it is too late.
pub fn explained(program: &Program, mut error: Error, by: InstId, read: ViewId) -> Error {
    if let Error::UninitializedRead {
        reach, later, idle, ..
    } = &mut error
    {
        *reach = reached(program, by, read);
        let wanted = window(program, &program[read]);
        let writes = |id: &InstId| {
            let mut written = program[*id].views().filter(|it| it.0 != Access::Read);
            written.any(|(_, it)| {
                let meets = wanted
                    .zip(window(program, &program[it]))
                    .is_some_and(|(a, b)| a.meets(&b));
                program[it].buffer == program[read].buffer && meets
            })
        };
        let after = (by.index() + 1..program.insts.len())
            .map(InstId::new)
            .find(writes);
        *later = after.and_then(|it| Some((program[it].op.name(), program.span(program[it].loc)?)));
        if later.is_none() {
            *idle = program.idle_loops.clone();
        }
    }
    error
}

/// What the results of an instruction that reads a value reach; `operand` is the view it is read through.
fn reached(program: &Program, by: InstId, operand: ViewId) -> Reach {
    let mut is_tainted = vec![false; program.buffers.len()];
    let around = program.outer_loops().find(|it| it.contains(&by.index()));
    // Another iteration may read what this one leaves.
    let rounds = [
        by.index()..program.insts.len(),
        around.map_or(0..0, |it| it.start..program.insts.len()),
    ];
    for (number, range) in rounds.into_iter().enumerate() {
        for id in range.map(InstId::new) {
            let inst = &program[id];
            let is_first = number == 0 && id == by;
            let taints =
                |view: ViewId| is_tainted[program[view].buffer.index()] || is_first && view == operand;
            let n_operands = inst.views().count();
            let mut reads = false;
            for (at, (access, view)) in program.touches(inst).enumerate() {
                if access == Access::Write || !taints(view) {
                    continue;
                }
                if at >= n_operands {
                    return Reach::Address;
                }
                reads = true;
            }
            if reads && inst.op.row().unit == Unit::Sequencer {
                return Reach::Register;
            }
            for (access, view) in inst.views().filter(|it| it.0 != Access::Read) {
                let view = &program[view];
                let buffer = &program[view.buffer];
                if reads && !buffer.memory.is_on_chip() {
                    return Reach::Hbm {
                        name: buffer.name.to_string(),
                        span: program.span(inst.loc),
                    };
                }
                let is_whole = access == Access::Write && *view == View::whole(view.buffer, buffer);
                let tainted = &mut is_tainted[view.buffer.index()];
                *tainted = reads || *tainted && !is_whole;
            }
        }
    }
    Reach::Nothing
}
