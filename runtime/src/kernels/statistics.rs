//! Statistics of rows of f32 for batch normalisation, and reductions over the rows of a tile.

use super::Kernels;
use super::convert::NAN;
use super::field::{Field, TileKernel};
use super::lanes::Vector;
use nk_compiler::isa::AluOp;

/// Two triples for each row: count, mean and count times variance at even and at odd positions.
#[derive(Debug)]
pub struct Triples {
    pub to: Field,
    pub from: Field,
}

/// Mean and variance of each row of triples.
#[derive(Debug)]
pub struct Aggregate {
    pub to: Field,
    pub from: Field,
}

/// One row from all, in f32.
#[derive(Debug)]
pub struct FoldRows {
    pub to: Field,
    pub from: Field,
    pub op: AluOp,
}

/// One row from all, byte by byte: an `and`, or an `or`.
#[derive(Debug)]
pub struct FoldBytes {
    pub to: Field,
    pub from: Field,
    pub size: usize,
    pub is_and: bool,
}

/// The sum of a row in the shape of all reductions.
fn sum(kernels: &Kernels, row: &[f32]) -> f32 {
    let mut sum = 0.0f32;
    let reduce = kernels.reduce[AluOp::Add as usize];
    // SAFETY: the row holds as many values as it has, the sum is one.
    unsafe { reduce((&raw mut sum).cast(), row.as_ptr().cast(), 1, row.len()) };
    sum
}

fn triple(kernels: &Kernels, values: &mut [f32]) -> [f32; 3] {
    if values.is_empty() {
        return [0.0; 3];
    }
    let count = values.len() as f32;
    let mean = sum(kernels, values) / count;
    for it in &mut *values {
        let distance = *it - mean;
        *it = distance * distance;
    }
    [count, mean, sum(kernels, values)]
}

impl TileKernel for Triples {
    unsafe fn run(&self, kernels: &Kernels, base: *mut u8) {
        let mut values = Vec::with_capacity(self.from.n);
        for row in 0..self.from.rows {
            // SAFETY: the caller's promise.
            let (to, from): (&mut [f32], &[f32]) =
                unsafe { (self.to.row_mut(base, row), self.from.row(base, row)) };
            for (half, to) in to.chunks_mut(3).enumerate() {
                values.clear();
                values.extend(from.iter().skip(half).step_by(2));
                to.copy_from_slice(&triple(kernels, &mut values).map(|it| it.canonical(NAN)));
            }
        }
    }
}

impl TileKernel for Aggregate {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        for row in 0..self.from.rows {
            // SAFETY: the caller's promise.
            let (to, from): (&mut [f32], &[f32]) =
                unsafe { (self.to.row_mut(base, row), self.from.row(base, row)) };
            let (mut count, mut total) = (0.0, 0.0);
            for it in from.chunks_exact(3) {
                count += it[0];
                total += it[0] * it[1];
            }
            let mean = total / count;
            let mut squares = 0.0;
            for it in from.chunks_exact(3) {
                let distance = it[1] - mean;
                squares += it[2] + it[0] * (distance * distance);
            }
            to[0] = mean.canonical(NAN);
            to[1] = (squares / count).canonical(NAN);
        }
    }
}

impl TileKernel for FoldRows {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        // SAFETY: the caller's promise.
        let (to, first): (&mut [f32], &[f32]) = unsafe { (self.to.row_mut(base, 0), self.from.row(base, 0)) };
        to.copy_from_slice(first);
        for row in 1..self.from.rows {
            // SAFETY: the caller's promise.
            let from: &[f32] = unsafe { self.from.row(base, row) };
            let pairs = to.iter_mut().zip(from);
            match self.op {
                AluOp::Maximum => pairs.for_each(|(to, &it)| {
                    let equal = if it.is_sign_positive() { it } else { *to };
                    let larger = if it > *to { it } else { *to };
                    let number = if it == *to { equal } else { larger };
                    *to = if it.is_nan() || to.is_nan() { NAN } else { number };
                }),
                _ => pairs.for_each(|(to, &it)| *to += it),
            }
        }
        let divisor = if self.op == AluOp::Average {
            self.from.rows as f32
        } else {
            1.0
        };
        for to in to {
            *to = (*to / divisor).canonical(NAN);
        }
    }
}

impl TileKernel for FoldBytes {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        // SAFETY: the caller's promise.
        let (to, first) = unsafe {
            (
                self.to.bytes_mut(base, 0, self.size),
                self.from.bytes(base, 0, self.size),
            )
        };
        to.copy_from_slice(first);
        for row in 1..self.from.rows {
            // SAFETY: the caller's promise.
            let from = unsafe { self.from.bytes(base, row, self.size) };
            let pairs = to.iter_mut().zip(from);
            if self.is_and {
                pairs.for_each(|(to, it)| *to &= it);
            } else {
                pairs.for_each(|(to, it)| *to |= it);
            }
        }
    }
}
