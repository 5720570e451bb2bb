//! Looking for values in rows: the eight largest, positions, replacements, runs of equal numbers.

use super::alu;
use super::cast::{self, canonical, encode_integer};
use super::{Args, Core, Tile};
use nk_compiler::dtype::Dtype;

/// All values of a tile, row by row.
fn rows(tile: &Tile) -> Vec<Vec<f32>> {
    let values: Vec<f32> = (0..tile.raw.len()).map(|idx| tile.value(idx)).collect();
    values.chunks(tile.row).map(<[f32]>::to_vec).collect()
}

/// The eight largest values, descending: NaN first, and +0 before -0.
pub fn max8(core: &mut Core, args: &Args) {
    let [dst, src, ..] = args;
    let mut results = Vec::new();
    for row in rows(&core.tile(src)) {
        let mut sorted: Vec<f32> = row.into_iter().map(canonical).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        results.extend_from_slice(&sorted[..8]);
    }
    core.write_values(dst, results);
}

/// The first position that has a value and is not used yet.
fn first_unused(row: &[f32], value: f32, used: &mut [bool]) -> Option<usize> {
    let at = (0..row.len()).find(|&it| !used[it] && row[it] == value)?;
    used[at] = true;
    Some(at)
}

pub fn find_index8(core: &mut Core, args: &Args) {
    let [dst, data, vals, ..] = args;
    let (data, vals) = (rows(&core.tile(data)), rows(&core.tile(vals)));
    let mut results = Vec::new();
    for (row, vals) in data.iter().zip(&vals) {
        let mut used = vec![false; row.len()];
        for &value in vals {
            results.push(first_unused(row, value, &mut used).map_or(u32::MAX, |it| it as u32));
        }
    }
    let mask = alu::mask(alu::width(core.access(dst).dtype));
    core.write(dst, results.into_iter().map(|it| it & mask));
}

/// The last of the eight values takes its match first.
pub fn match_replace8(core: &mut Core, args: &Args) {
    let [dst, data, vals, imm, ..] = args;
    let (data, vals) = (rows(&core.tile(data)), rows(&core.tile(vals)));
    let imm = cast::immediate(imm);
    let mut results = Vec::new();
    for (row, vals) in data.iter().zip(&vals) {
        let mut used = vec![false; row.len()];
        for &value in vals.iter().rev() {
            first_unused(row, value, &mut used);
        }
        let replaced = row.iter().zip(&used);
        results.extend(replaced.map(|(&it, &used)| if used { imm } else { it }));
    }
    core.write_values(dst, results);
}

/// The first position of the run of equal numbers around each one, and one past the last.
pub fn sequence_bounds(core: &mut Core, args: &Args) {
    let [dst, ids, ..] = args;
    let ids = core.tile(ids);
    let n = ids.raw.len();
    // Integers are compared exactly; -0 is equal to 0.
    let same = |a: usize, b: usize| match ids.dtype {
        Dtype::F32 => ids.value(a) == ids.value(b),
        _ => ids.raw[a] == ids.raw[b],
    };
    let is_padding = |it: usize| match ids.dtype {
        Dtype::F32 => ids.value(it) == 0.0,
        _ => ids.raw[it] == 0,
    };
    let mut first = Vec::new();
    let mut past = Vec::new();
    for at in 0..n {
        if is_padding(at) {
            first.push(n as i64);
            past.push(-1);
            continue;
        }
        let start = (0..at).rev().take_while(|&it| same(it, it + 1)).last();
        let end = (at + 1..n).take_while(|&it| same(it - 1, it)).last();
        first.push(start.unwrap_or(at) as i64);
        past.push(end.unwrap_or(at) as i64 + 1);
    }
    let dtype = core.access(dst).dtype;
    let bounds = first.into_iter().chain(past);
    core.write(dst, bounds.map(|it| encode_integer(dtype, it)));
}
