//! The Tensor engine, and the transposes of both engines.

use super::cast::canonical;
use super::{Args, Core, Tile};
use nk_compiler::ir::FirstWrite;
use nk_compiler::isa::{Accumulate, Arg, Engine, Memory as Space};

/// dst[m, n] = or += the sum over k of stationary[k, m] * moving[k, n]: one fused multiply-add per k, ascending, from +0.
pub fn matmul(core: &mut Core, args: &Args, first: &[FirstWrite]) {
    let [dst, stationary, moving, _, _, _, accumulate, ..] = args;
    let (st, mv) = (core.tile(stationary), core.tile(moving));
    let Arg::Accumulate(accumulate) = accumulate else {
        panic!("accumulate has a default")
    };
    if *accumulate == Accumulate::Auto {
        // Adding onto -0 is the same as overwriting, whatever the sum.
        for range in first {
            for partition in range.first_partition..range.end_partition {
                for byte in (range.start..range.end).step_by(4) {
                    let at = core
                        .memory
                        .layout
                        .offset(Space::Psum, partition.into(), byte.into());
                    core.memory.set_word(at, 4, (-0.0f32).to_bits());
                }
            }
        }
    }
    let old = core.tile(dst);
    let k_count = st.raw.len() / st.row;
    let mut result = Vec::with_capacity(old.raw.len());
    for m in 0..st.row {
        for n in 0..mv.row {
            let product =
                |sum: f32, k: usize| st.value(k * st.row + m).mul_add(mv.value(k * mv.row + n), sum);
            let sum = (0..k_count).fold(0.0, product);
            let sum = if *accumulate == Accumulate::Overwrite {
                sum
            } else {
                old.value(result.len()) + sum
            };
            result.push(canonical(sum).to_bits());
        }
    }
    core.write(dst, result);
}

/// dst[f, p] = data[p, f].
///
/// On the Tensor engine it is a matmul with the identity, whose f32 result is then cast (Q2): -0 becomes +0, and a NaN or
/// an infinity in column f makes all of dst[f, ..] NaN, except that a lone infinity stays where it lands.
pub fn transpose(core: &mut Core, args: &Args, engine: Engine) {
    let [dst, data, ..] = args;
    let data = core.tile(data);
    let to = core.access(dst).dtype;
    let rows = data.raw.len() / data.row;
    let places = (0..data.row).flat_map(|f| (0..rows).map(move |p| (f, p)));
    if engine == Engine::Tensor {
        let result = places.map(|(f, p)| super::encode(to, times_identity(&data, rows, f, p)));
        core.write(dst, result.collect::<Vec<u32>>());
    } else if data.dtype == to {
        core.write(dst, places.map(|(f, p)| data.raw[p * data.row + f]));
    } else {
        core.write_values(dst, places.map(|(f, p)| data.value(p * data.row + f)));
    }
}

fn times_identity(data: &Tile, rows: usize, f: usize, p: usize) -> f32 {
    let one_at = |k: usize| if k == p { 1.0 } else { 0.0 };
    (0..rows).fold(0.0, |sum, k| data.value(k * data.row + f).mul_add(one_at(k), sum))
}
