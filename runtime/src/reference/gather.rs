//! Moves of raw elements by positions that data or a mask gives.

use super::{Args, Core, Tile, integer};
use nk_compiler::ir::Shuffle;
use nk_compiler::isa::Arg;

/// What an index that leaves its row reads.
const OUTSIDE: u32 = u32::MAX;
/// Partitions of a GpSimd core.
const CORE: usize = 16;

/// Rows move between the lanes of each quadrant; all are read before one is written.
pub fn stream_shuffle(core: &mut Core, args: &Args) {
    let [dst, src, mask, ..] = args;
    let Arg::Shuffle(mask, _) = mask else {
        panic!("a verified mask is a mask")
    };
    let mask = core.program[*mask].0;
    let (mut rows, src) = (core.tile(dst).raw, core.tile(src));
    let row = src.row;
    for (partition, to) in rows.chunks_mut(row).enumerate() {
        let entry = mask[partition % Shuffle::LANES];
        if entry != Shuffle::KEEP {
            let from = partition / Shuffle::LANES * Shuffle::LANES + usize::from(entry);
            to.copy_from_slice(&src.raw[from * row..(from + 1) * row]);
        }
    }
    core.write(dst, rows);
}

/// Element `position` of partition `p`.
fn element(tile: &Tile, p: usize, position: usize) -> u32 {
    if position < tile.row {
        tile.raw[p * tile.row + position]
    } else {
        OUTSIDE
    }
}

/// The 16 partitions of a GpSimd core share their indices, partition fastest.
pub fn local_gather(core: &mut Core, args: &Args) {
    let [dst, src, index, size, count, ..] = args;
    let (src, index) = (core.tile(src), core.tile(index));
    let size = integer(size) as usize;
    let count = match count {
        Arg::Absent => index.row * CORE,
        count => integer(count) as usize,
    };
    let partitions = index.raw.len() / index.row;
    let mut results = Vec::new();
    for p in 0..partitions {
        let first = p / CORE * CORE;
        for k in 0..count {
            let at = index.raw[(first + k % CORE) * index.row + k / CORE] as usize;
            results.extend((at..at + size).map(|it| element(&src, p, it)));
        }
    }
    core.write(dst, results);
}

/// Each partition has its own indices.
pub fn n_gather(core: &mut Core, args: &Args) {
    let [dst, data, indices, ..] = args;
    let (data, indices) = (core.tile(data), core.tile(indices));
    let at = |(idx, &position): (usize, &u32)| element(&data, idx / indices.row, position as usize);
    let results: Vec<u32> = indices.raw.iter().enumerate().map(at).collect();
    core.write(dst, results);
}
