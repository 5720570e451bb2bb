//! The random numbers of the Vector engine.
//!
//! The hardware's generator is a shift register whose polynomial and seeding are not published (Q27). Ours: each lane has
//! 32 bits of state and steps by xor-shifts of 13, 17 and 5; a seed gives every lane a state of its own, never 0. Lanes
//! start as if seeded with 0.

use super::cast::encode;
use super::{Args, Core, alu};
use nk_compiler::isa::AluOp;

/// Spreads all bits of a word over all others.
fn mix(mut word: u32) -> u32 {
    word = (word ^ (word >> 16)).wrapping_mul(0x85eb_ca6b);
    word = (word ^ (word >> 13)).wrapping_mul(0xc2b2_ae35);
    word ^ (word >> 16)
}

/// The state in which a seed leaves a lane.
fn seeded(seed: u32, lane: u32) -> u32 {
    mix(mix(seed).wrapping_add(lane.wrapping_mul(0x9e37_79b9))).max(1)
}

impl Core<'_> {
    /// The next word of a lane.
    fn random(&mut self, lane: u64) -> u32 {
        let at = self.memory.layout.generators + lane * 4;
        let mut state = match self.memory.word(at, 4) {
            0 => seeded(0, lane as u32),
            state => state,
        };
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        self.memory.set_word(at, 4, state);
        state
    }
}

pub fn rng(core: &mut Core, args: &Args) {
    let [dst, ..] = args;
    let access = core.access(dst);
    let (first, partitions, free) = (
        u64::from(access.partition),
        access.partitions(),
        access.free_count(),
    );
    let mask = alu::mask(alu::width(access.dtype));
    let mut words = Vec::new();
    for p in 0..u64::from(partitions) {
        words.extend((0..free).map(|_| core.random(first + p) & mask));
    }
    core.write(dst, words);
}

pub fn set_seed(core: &mut Core, args: &Args) {
    let [seed, ..] = args;
    let seed = core.tile(seed).raw[0];
    for lane in 0..core.memory.layout.partitions {
        let at = core.memory.layout.generators + lane * 4;
        core.memory.set_word(at, 4, seeded(seed, lane as u32));
    }
}

/// Zeroes an element when the upper 24 bits of a random word, as a fraction of 1, lie below the probability.
pub fn dropout(core: &mut Core, args: &Args) {
    let [dst, data, probability, ..] = args;
    let first = u64::from(core.access(dst).partition);
    let tile = core.tile(data);
    let probability = core.operand(probability, true, AluOp::Add);
    let zero = encode(tile.dtype, 0.0);
    let mut results = Vec::new();
    for (idx, &raw) in tile.raw.iter().enumerate() {
        let p = idx / tile.row;
        let fraction = (core.random(first + p as u64) >> 8) as f32 * (1.0 / 16_777_216.0);
        let keeps = fraction >= probability.value(p, idx);
        results.push(if keeps { raw } else { zero });
    }
    core.write(dst, results);
}
