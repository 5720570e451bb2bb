//! Random numbers of the Vector engine: a shift-register sequence of 32 bits for each lane.
//!
//! Takes the states of lanes in the reservation, gives words or decisions. A state of 0 has not been seeded.

use super::Kernels;
use super::field::{Field, Scalar, TileKernel, register};

/// The low bytes of random words, and of those the bits that a mask leaves.
#[derive(Debug)]
pub struct Words {
    pub to: Field,
    pub size: usize,
    pub mask: u32,
    /// Offset of the first lane's state, and its number.
    pub state: u64,
    pub lane: u32,
}

/// New states for all lanes, from the first word of a field.
#[derive(Debug)]
pub struct Seed {
    pub seed: Field,
    pub state: u64,
    pub lanes: u32,
}

/// Elements zeroed with a probability.
#[derive(Debug)]
pub struct Drop {
    pub to: Field,
    pub from: Field,
    pub size: usize,
    pub probability: Scalar,
    pub state: u64,
    pub lane: u32,
}

fn scrambled(mut word: u32) -> u32 {
    for (shift, factor) in [(16, 0x85eb_ca6b), (13, 0xc2b2_ae35)] {
        word ^= word >> shift;
        word = word.wrapping_mul(factor);
    }
    word ^ (word >> 16)
}

/// A lane's first state after a seed: never 0, where a shift register would stay.
fn first_state(seed: u32, lane: u32) -> u32 {
    let own = lane.wrapping_mul(0x9e37_79b9);
    scrambled(scrambled(seed).wrapping_add(own)).max(1)
}

/// A lane while it makes numbers.
struct Lane(u32);

impl Lane {
    fn new(state: u32, lane: u32) -> Lane {
        Lane(if state == 0 { first_state(0, lane) } else { state })
    }

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
}

impl TileKernel for Words {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        for row in 0..self.to.rows {
            // SAFETY: the caller's promise.
            let (to, state): (_, &mut u32) = unsafe {
                (
                    self.to.bytes_mut(base, row, self.size),
                    register(base, self.state, row),
                )
            };
            let mut lane = Lane::new(*state, self.lane + row as u32);
            for to in to.chunks_exact_mut(self.size) {
                let word = (lane.next() & self.mask).to_le_bytes();
                to.copy_from_slice(&word[..self.size]);
            }
            *state = lane.0;
        }
    }
}

impl TileKernel for Seed {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        // SAFETY: the caller's promise.
        let seed = unsafe { u32::from_le_bytes(self.seed.row::<[u8; 4]>(base, 0)[0]) };
        for lane in 0..self.lanes {
            // SAFETY: the caller's promise.
            unsafe { *register(base, self.state, lane as usize) = first_state(seed, lane) };
        }
    }
}

impl TileKernel for Drop {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        const UNIT: f32 = 1.0 / (1u32 << 24) as f32;
        for row in 0..self.to.rows {
            // SAFETY: the caller's promise.
            let (to, from, state, probability): (_, _, &mut u32, f32) = unsafe {
                (
                    self.to.bytes_mut(base, row, self.size),
                    self.from.bytes(base, row, self.size),
                    register(base, self.state, row),
                    self.probability.of(base, row),
                )
            };
            let mut lane = Lane::new(*state, self.lane + row as u32);
            let pairs = to.chunks_exact_mut(self.size).zip(from.chunks_exact(self.size));
            for (to, from) in pairs {
                let fraction = (lane.next() >> 8) as f32 * UNIT;
                if fraction >= probability {
                    to.copy_from_slice(from);
                } else {
                    to.fill(0);
                }
            }
            *state = lane.0;
        }
    }
}
