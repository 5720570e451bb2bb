//! Looking for values in rows of f32: the eight largest, positions, replacements, runs of equal numbers.

use super::Kernels;
use super::convert::NAN;
use super::field::{Field, TileKernel};
use super::lanes::Vector;

/// The eight largest values of each row.
#[derive(Debug)]
pub struct Largest {
    pub to: Field,
    pub from: Field,
}

/// The positions of eight values in each row.
#[derive(Debug)]
pub struct Find {
    pub to: Field,
    pub data: Field,
    pub vals: Field,
}

/// A row with eight values replaced.
#[derive(Debug)]
pub struct Replace {
    pub to: Field,
    pub data: Field,
    pub vals: Field,
    pub with: f32,
}

/// The bounds of runs of equal words, of f32 or of integers, as f32.
#[derive(Debug)]
pub struct Bounds {
    pub to: Field,
    pub ids: Field,
    pub is_float: bool,
}

/// An integer that orders like a value: NaN above all numbers, +0 above -0.
fn key(value: f32) -> i32 {
    let bits = value.canonical(NAN).to_bits() as i32;
    bits ^ ((bits >> 31) as u32 >> 1) as i32
}

/// The value of a key.
fn value(key: i32) -> f32 {
    f32::from_bits((key ^ ((key >> 31) as u32 >> 1) as i32) as u32)
}

impl TileKernel for Largest {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        for row in 0..self.from.rows {
            // SAFETY: the caller's promise.
            let (to, from): (&mut [f32], &[f32]) =
                unsafe { (self.to.row_mut(base, row), self.from.row(base, row)) };
            let mut best = [i32::MIN; 8];
            for &it in from {
                let key = key(it);
                if key <= best[7] {
                    continue;
                }
                let at = best.partition_point(|&it| it >= key);
                best.copy_within(at..7, at + 1);
                best[at] = key;
            }
            for (to, key) in to.iter_mut().zip(best) {
                *to = value(key);
            }
        }
    }
}

/// The position of each of eight values, taken in an order; equal values take successive positions.
fn positions(row: &[f32], vals: &[f32], order: impl Iterator<Item = usize>) -> [Option<usize>; 8] {
    let mut found = [None; 8];
    let mut done: Vec<usize> = Vec::with_capacity(8);
    for idx in order {
        let start = match done.iter().rev().find(|&&it| vals[it] == vals[idx]) {
            None => Some(0),
            Some(&it) => found[it].map(|it| it + 1),
        };
        found[idx] = start.and_then(|start| {
            let at = row[start..].iter().position(|&it| it == vals[idx])?;
            Some(start + at)
        });
        done.push(idx);
    }
    found
}

impl TileKernel for Find {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        for row in 0..self.data.rows {
            // SAFETY: the caller's promise.
            let (to, data, vals): (&mut [u32], &[f32], &[f32]) = unsafe {
                (
                    self.to.row_mut(base, row),
                    self.data.row(base, row),
                    self.vals.row(base, row),
                )
            };
            for (to, at) in to.iter_mut().zip(positions(data, vals, 0..8)) {
                *to = at.map_or(u32::MAX, |it| it as u32);
            }
        }
    }
}

impl TileKernel for Replace {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        for row in 0..self.data.rows {
            // SAFETY: the caller's promise.
            let (to, data, vals): (&mut [f32], &[f32], &[f32]) = unsafe {
                (
                    self.to.row_mut(base, row),
                    self.data.row(base, row),
                    self.vals.row(base, row),
                )
            };
            for (to, &it) in to.iter_mut().zip(data) {
                *to = it.canonical(NAN);
            }
            for at in positions(data, vals, (0..8).rev()).into_iter().flatten() {
                to[at] = self.with.canonical(NAN);
            }
        }
    }
}

/// The first halves hold starts, the second ones ends.
fn bounds<T: Copy + PartialEq>(to: &mut [f32], ids: &[T], zero: T) {
    let (starts, ends) = to.split_at_mut(ids.len());
    let n = ids.len();
    let mut start = 0;
    while start < n {
        let length = 1 + (start + 1..n).take_while(|&it| ids[it] == ids[it - 1]).count();
        let end = start + length;
        let bounds = if ids[start] == zero {
            (n as f32, -1.0)
        } else {
            (start as f32, end as f32)
        };
        starts[start..end].fill(bounds.0);
        ends[start..end].fill(bounds.1);
        start = end;
    }
}

impl TileKernel for Bounds {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        // SAFETY: the caller's promise; any word is an integer and an f32.
        unsafe {
            let to = self.to.row_mut(base, 0);
            if self.is_float {
                bounds::<f32>(to, self.ids.row(base, 0), 0.0);
            } else {
                bounds::<i32>(to, self.ids.row(base, 0), 0);
            }
        }
    }
}
