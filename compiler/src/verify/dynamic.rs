//! The rules of addresses that are known only at run time.
//!
//! Whether an index leaves its tensor is found when the program runs; here it is checked that there is an index.

use super::error::{IndexMistake, ViewMistake};
use super::{Case, facts};
use crate::ir::Index;
use crate::isa::{Arg, Memory, Op};

/// Checks an operand whose view is dynamic.
pub fn check(case: &mut Case, position: usize) {
    let Arg::View(id) = case.inst.args[position] else {
        return;
    };
    let view = case.program[id];
    let Some(dynamic) = view.dynamic else { return };
    let room = view.room(&case.program[view.buffer], dynamic.stride.into());
    if u64::from(dynamic.count) > room || dynamic.count == 0 {
        let count = dynamic.count;
        report(case, position, IndexMistake::Room { count, room });
        return;
    }
    let rows = view.dims().first().map_or(1, |it| it.count);
    if let Index::Rows(_) = dynamic.index {
        let moves_rows = matches!(case.inst.op, Op::DmaCopy | Op::DmaCompute);
        let is_free = moves_rows && case.program.memory(&view) == Memory::Hbm;
        if !is_free {
            report(case, position, IndexMistake::RowsElsewhere);
            return;
        }
        let views = case.inst.views().map(|(_, id)| &case.program[id]);
        let mut counts = views.map(|it| it.dims().first().map_or(1, |it| it.count));
        if let Some(other) = counts.find(|it| *it != rows) {
            report(case, position, IndexMistake::OtherRows { rows, other });
        }
    }
    let Some(id) = dynamic.index.tile() else { return };
    let tile = case.program[id];
    let facts = case.facts[id.index()];
    if facts.is_bad {
        for mistake in facts::mistakes(&tile, &facts, case.program) {
            case.report(position, mistake);
        }
        return;
    }
    let memory = case.program.memory(&tile);
    if tile.dynamic.is_some() {
        report(case, position, IndexMistake::Nested);
    }
    if !tile.dtype.is_int() {
        report(case, position, IndexMistake::Dtype(tile.dtype));
    }
    if memory != Memory::Sbuf {
        report(case, position, IndexMistake::Memory(memory));
        return;
    }
    let needs = match dynamic.index {
        Index::Rows(_) => u64::from(rows),
        _ => 1,
    };
    let is_column = tile.free_count() == 1 || needs == 1;
    if tile.count() != needs || !is_column {
        let has = tile.count();
        report(case, position, IndexMistake::Count { has, needs });
    }
}

fn report(case: &mut Case, position: usize, mistake: IndexMistake) {
    case.report(position, ViewMistake::Index(mistake));
}
