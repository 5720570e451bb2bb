//! Where a value without meaning can end up.
//!
//! Takes the instruction that reads it, follows results through tensors in program order, gives the first of the places that
//! make a kernel wrong: HBM, an address, or a register. What is written anew is clean again. Also finds who writes the
//! elements when it is too late.

use super::error::Error;
use super::taint::Taint;
use super::{Gap, window};
use crate::ir::{InstId, Program, ViewId};
use crate::isa::{Access, Unit};
use crate::source::Span;
use std::ops::Range;

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

/// An operand that reads too early, and what of it has no value.
pub struct EarlyRead {
    pub by: InstId,
    pub view: ViewId,
    pub gaps: Vec<Gap>,
}

/// Adds to an uninitialised read where its values go, and who writes the elements when it is too late. The same mistake may
/// have been made in several iterations; the first that matters counts.
pub fn explained(program: &Program, mut error: Error, reads: &[EarlyRead]) -> Error {
    if let Error::UninitializedRead {
        reach, later, idle, ..
    } = &mut error
        && let Some(first) = reads.first()
    {
        *reach = first_reach(program, reads);
        let wanted = window(program, &program[first.view]);
        let writes = |id: &InstId| {
            let mut written = program[*id].views().filter(|it| it.0 != Access::Read);
            written.any(|(_, it)| {
                program[it].buffer == program[first.view].buffer
                    && wanted
                        .zip(window(program, &program[it]))
                        .is_some_and(|(a, b)| a.meets(&b))
            })
        };
        let after = (first.by.index() + 1..program.insts.len())
            .map(InstId::new)
            .find(writes);
        *later = after.and_then(|it| Some((program[it].op.name(), program.span(program[it].loc)?)));
        if later.is_none() {
            *idle = program.idle_loops.clone();
        }
    }
    error
}

/// The first thing that matters and that one of the reads reaches; they are in program order.
fn first_reach(program: &Program, reads: &[EarlyRead]) -> Reach {
    let around = |it: &EarlyRead| {
        let by = it.by.index();
        program.outer_loops().find(|it| it.contains(&by))
    };
    // What one loop leaves must not be taken for what another begins with.
    let mut reaches = reads
        .chunk_by(|a, b| around(a) == around(b))
        .map(|alike| reached(program, alike, around(&alike[0])));
    reaches.find(|it| *it != Reach::Nothing).unwrap_or(Reach::Nothing)
}

/// What elements without a value reach from the instructions on that read them, inside of one outermost loop or of none.
fn reached(program: &Program, reads: &[EarlyRead], around: Option<Range<usize>>) -> Reach {
    let mut taint = Taint::new(program);
    let mut to_come = reads.iter().peekable();
    // Another iteration may read what this one leaves.
    let rounds = [
        reads[0].by.index()..program.insts.len(),
        around.map_or(0..0, |it| it.start..program.insts.len()),
    ];
    for id in rounds.into_iter().flatten().map(InstId::new) {
        while let Some(read) = to_come.next_if(|it| it.by == id) {
            taint.add(read.view, &read.gaps);
        }
        if taint.is_empty() {
            match to_come.peek() {
                Some(_) => continue,
                None => break,
            }
        }
        let inst = &program[id];
        let n_operands = inst.views().count();
        let mut is_address = false;
        let mut reads = false;
        for (at, (access, view)) in program.touches(inst).enumerate() {
            if access != Access::Write && taint.meets(view) {
                reads = true;
                is_address |= at >= n_operands;
            }
        }
        if is_address {
            return Reach::Address;
        }
        if reads && inst.op.row().unit == Unit::Sequencer {
            return Reach::Register;
        }
        if taint.follow(inst) {
            let mut written = inst.views().filter(|it| it.0 != Access::Read);
            let in_hbm = written.find(|it| !program.memory(&program[it.1]).is_on_chip());
            return Reach::Hbm {
                name: in_hbm.map_or(String::new(), |it| program[program[it.1].buffer].name.to_string()),
                span: program.span(inst.loc),
            };
        }
    }
    Reach::Nothing
}
