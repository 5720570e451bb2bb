//! Versions of tiles: each time that all of a tile is written anew, a tile of its own.
//!
//! Takes a program without loops of the device, gives one in which no instruction waits for another merely because a tile
//! is used again.

use nk_compiler::ir::{BufferId, InstId, Program, View, ViewId};
use nk_compiler::isa::{Access, Arg, Memory};
use rustc_hash::FxHashMap;

/// The program with a tile for each version, and the tile that each buffer was at first.
pub fn renamed(program: &Program, memory: Memory) -> Option<(Program, Vec<BufferId>)> {
    if !program.is_static() || !program.loops.is_empty() {
        return None;
    }
    let mut renamed = program.clone();
    let mut origins: Vec<BufferId> = (0..program.buffers.len()).map(BufferId::new).collect();
    let mut current: FxHashMap<BufferId, BufferId> = FxHashMap::default();
    for idx in 0..program.insts.len() {
        let id = InstId::new(idx);
        let inst = &program[id];
        let accesses: Vec<(Access, ViewId)> = inst.views().collect();
        let mut written: FxHashMap<BufferId, BufferId> = FxHashMap::default();
        for &(access, view) in &accesses {
            let view = &program[view];
            if access == Access::Write && program.memory(view) == memory && is_whole(program, view) {
                let version = match current.get(&view.buffer) {
                    // The first version keeps its tile.
                    None => view.buffer,
                    Some(_) => {
                        let copy = renamed[view.buffer].clone();
                        origins.push(view.buffer);
                        renamed.add_buffer(copy)
                    }
                };
                written.insert(view.buffer, version);
            }
        }
        let mut next = accesses.iter();
        for position in 0..inst.args.len() {
            let Arg::View(old) = inst.args[position] else {
                continue;
            };
            let Some(&(access, _)) = next.next() else { break };
            let view = program[old];
            let versions = if access == Access::Write {
                &written
            } else {
                &current
            };
            let version = versions.get(&view.buffer).or(current.get(&view.buffer)).copied();
            if let Some(version) = version.filter(|it| *it != view.buffer) {
                let mut moved = view;
                moved.buffer = version;
                renamed.insts[idx].args[position] = Arg::View(renamed.add_view(moved));
            }
        }
        current.extend(written);
    }
    Some((renamed, origins))
}

/// Whether a view is all of a tile.
fn is_whole(program: &Program, view: &View) -> bool {
    let buffer = &program[view.buffer];
    let count = u64::from(buffer.partitions()) * buffer.free_count();
    view.dtype.size() == buffer.dtype.size()
        && view.offset == 0
        && view.partition == 0
        && view.count() == count
}
