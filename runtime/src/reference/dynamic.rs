//! Registers, and operands that are moved at run time, in plain loops.

use super::cast::decode;
use super::{Core, execute_static};
use crate::access::Access;
use crate::fault::{Index, read_index, read_register};
use nk_compiler::ir::{FirstWrite, Inst};
use nk_compiler::isa::{Arg, OobMode, Op};

/// Executes an instruction after its addresses have been computed.
pub fn execute(core: &mut Core, inst: &Inst, first: &[FirstWrite]) -> Result<(), Index> {
    let views: Vec<usize> = inst
        .args
        .iter()
        .filter_map(|it| match it {
            Arg::View(id) => Some(id.index()),
            _ => None,
        })
        .collect();
    let skips = inst.args.contains(&Arg::OobMode(OobMode::Skip));
    if views.iter().any(|&it| core.accesses[it].has_row_indices()) {
        if inst.op == Op::DmaCompute {
            return sum_rows(core, &views);
        }
        return rows(core, [views[0], views[1]], skips);
    }
    if views.iter().all(|&it| core.accesses[it].movement.is_none()) {
        execute_static(core, inst, first);
        return Ok(());
    }
    let mut moved = Vec::new();
    for view in views {
        let access = &core.accesses[view];
        let Some(movement) = &access.movement else {
            continue;
        };
        match read_index(movement, 0, core.memory, core.registers) {
            Ok(index) => moved.push((view, access.moved(index))),
            Err(_) if skips => return Ok(()),
            Err(index) => return Err(index),
        }
    }
    core.moved = moved;
    execute_static(core, inst, first);
    core.moved.clear();
    Ok(())
}

/// A copy whose rows have indices of their own: all rows are read, then all are written.
fn rows(core: &mut Core, [dst, src]: [usize; 2], skips: bool) -> Result<(), Index> {
    let (dst, src) = (&core.accesses[dst], &core.accesses[src]);
    let mut moves = Vec::new();
    for row in 0..dst.axes[0].count {
        match (row_offsets(core, dst, row), row_offsets(core, src, row)) {
            (Ok(to), Ok(from)) => {
                let first = u64::from(row) * to.len() as u64;
                moves.extend((first..).zip(to.into_iter().zip(from)));
            }
            _ if skips => {}
            (Err(index), _) | (_, Err(index)) => return Err(index),
        }
    }
    let converted = |&(index, (_, from)): &(u64, (u64, u64))| {
        let word = core.memory.word(from, src.dtype.size());
        if src.dtype == dst.dtype {
            word
        } else {
            core.encoded(dst.dtype, decode(src.dtype, word), index)
        }
    };
    let words: Vec<u32> = moves.iter().map(converted).collect();
    for ((_, (to, _)), word) in moves.into_iter().zip(words) {
        core.memory.set_word(to, dst.dtype.size(), word);
    }
    Ok(())
}

/// A sum whose rows have indices of their own: all indices are read, then each row is read, added up and written before
/// the next, so that an index that comes twice adds twice.
fn sum_rows(core: &mut Core, views: &[usize]) -> Result<(), Index> {
    let dst = &core.accesses[views[0]];
    let mut rows = Vec::new();
    for row in 0..dst.axes[0].count {
        let operands = views.iter().map(|&it| row_offsets(core, &core.accesses[it], row));
        rows.push(operands.collect::<Result<Vec<_>, Index>>()?);
    }
    let mut index = 0;
    for operands in rows {
        let (to, sources) = operands.split_first().expect("dst is required");
        let mut words = Vec::with_capacity(to.len());
        for element in 0..to.len() {
            let value = |number: usize| {
                let dtype = core.accesses[views[number + 1]].dtype;
                decode(dtype, core.memory.word(sources[number][element], dtype.size()))
            };
            let sum = (1..sources.len()).fold(value(0), |sum, it| sum + value(it));
            words.push(core.encoded(dst.dtype, sum, index));
            index += 1;
        }
        for (at, word) in to.iter().zip(words) {
            core.memory.set_word(*at, dst.dtype.size(), word);
        }
    }
    Ok(())
}

/// The offsets of the elements of a row.
fn row_offsets(core: &Core, access: &Access, row: u32) -> Result<Vec<u64>, Index> {
    let mut access = match &access.movement {
        Some(it) => access.moved(read_index(it, row, core.memory, core.registers)?),
        None => access.clone(),
    };
    let rows = access.axes.remove(0);
    access.start = access.start.wrapping_add_signed(rows.stride * i64::from(row));
    Ok(access.offsets())
}

/// An instruction of the sequencers.
pub fn register(core: &mut Core, inst: &Inst) {
    let number = |arg: &Arg| match arg {
        Arg::Register(id) => id.index(),
        _ => panic!("a verified operand is a register"),
    };
    let [first, second, ..] = &inst.args;
    match (inst.op, second) {
        (Op::RegisterMove, Arg::Int(value)) => core.registers[number(first)] = *value,
        (Op::RegisterMove, _) => core.registers[number(first)] = core.registers[number(second)],
        (Op::RegisterLoad, _) => {
            let src = core.access(second);
            let value = read_register(core.memory, src.start, src.dtype);
            core.registers[number(first)] = value;
        }
        _ => {
            let dst = core.access(first);
            let (at, size) = (dst.start, dst.dtype.size());
            core.memory
                .set_word(at, size, core.registers[number(second)] as u32);
        }
    }
}
