//! Results that may take the bytes of an operand.
//!
//! An instruction of an engine streams: element by element it reads, then writes. So when an operand is used for the last
//! time, a result of the same size whose first write walks through its bytes like the read does may lie in its place.

use super::live::Life;
use super::tenant::Tenant;
use crate::ir::{BufferId, InstId, Program, View};
use crate::isa::{Access, Arg, Kind, Rule, Unit};

/// Whether `new` may be born in the bytes of `old` at an instruction.
pub fn replaces(program: &Program, at: InstId, new: BufferId, old: BufferId) -> bool {
    let inst = &program[at];
    let row = inst.op.row();
    let (a, b) = (&program[new], &program[old]);
    let same_size = a.memory == b.memory && a.partitions() == b.partitions() && a.bytes() == b.bytes();
    let is_free = a.request.is_none() && b.request.is_none();
    if !same_size || !is_free || row.unit != Unit::Engine || !row.rules.contains(&Rule::Elementwise) {
        return false;
    }
    let Arg::View(dst) = inst.args[0] else {
        return false;
    };
    let dst = &program[dst];
    if dst.buffer != new || dst.dynamic.is_some() {
        return false;
    }
    let mut is_read = false;
    for (operand, arg) in row.operands.iter().zip(&inst.args).skip(1) {
        let Arg::View(id) = *arg else { continue };
        let view = &program[id];
        if view.buffer == new {
            return false;
        }
        if view.buffer == old {
            let streams = matches!(
                operand.kind,
                Kind::Tile(tile) | Kind::TileOrScalar(tile) if tile.access == Access::Read
            );
            if !streams || !walks_alike(dst, view) {
                return false;
            }
            is_read = true;
        }
    }
    let touches = program.touches(inst);
    let n_old = touches.filter(|it| program[it.1].buffer == old).count();
    let n_operands = inst.views().filter(|it| program[it.1].buffer == old).count();
    is_read && n_old == n_operands
}

fn walks_alike(dst: &View, src: &View) -> bool {
    dst.dims() == src.dims()
        && dst.partition == src.partition
        && dst.offset == src.offset
        && dst.dtype.size() == src.dtype.size()
        && src.dynamic.is_none()
}

/// For each tenant, another one that dies where it is born and whose place it may take.
pub fn successions(program: &Program, tenants: &[Tenant], lives: &[Option<Life>]) -> Vec<Option<usize>> {
    let mut number = vec![None; program.buffers.len()];
    for (idx, tenant) in tenants.iter().enumerate() {
        number[tenant.buffer.index()] = Some(idx);
    }
    let mut taken = vec![false; tenants.len()];
    let predecessor = |tenant: &Tenant| {
        let at = tenant.life.first;
        let inst = &program[at];
        let dying = inst.views().map(|(_, id)| program[id].buffer).find(|&old| {
            let dies = lives[old.index()].is_some_and(|it| it.last == at && it.first < at);
            let is_taken = number[old.index()].is_none_or(|it| taken[it]);
            old != tenant.buffer && dies && !is_taken && replaces(program, at, tenant.buffer, old)
        });
        let idx = dying.and_then(|it| number[it.index()])?;
        taken[idx] = true;
        Some(idx)
    };
    tenants.iter().map(predecessor).collect()
}
