//! The accumulator of the Vector engine: reductions of rows, running reductions and recurrences.
//!
//! Takes rows of f32, gives rows whose NaNs are canonical and the register of each partition.

use super::Kernels;
use super::convert::NAN;
use super::field::{Field, Scalar, TileKernel, register};
use super::lanes::Vector;
use nk_compiler::isa::AluOp;

/// What an instruction finds in the accumulator.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    Keeps,
    Loads(Scalar),
}

/// V = V op the fold of a row; result = V, or -V.
#[derive(Debug)]
pub struct TakeIn {
    pub op: AluOp,
    /// `None` leaves the accumulator alone.
    pub values: Option<Field>,
    pub start: Start,
    /// Offset of the accumulator of the first row.
    pub register: u64,
    pub result: Option<Field>,
    pub rows: usize,
    pub negate: bool,
}

/// V = row[i] op V; row[i] = V, in place.
#[derive(Debug)]
pub struct Cumulate {
    pub op: AluOp,
    pub values: Field,
    pub start: Start,
    pub register: u64,
}

/// s = (a[i] op0 s) op1 b[i]; to[i] = s.
#[derive(Debug)]
pub struct Scan {
    pub to: Field,
    pub a: Field,
    pub b: Field,
    pub initial: Scalar,
    /// The operators, and whether the sides are swapped.
    pub ops: [(AluOp, bool); 2],
}

/// NaN if any operand is NaN; +0 is larger than -0.
fn maximum(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        return NAN;
    }
    let takes_a = a > b || (a == b && a.is_sign_positive());
    if takes_a { a } else { b }
}

fn truth(condition: bool) -> f32 {
    if condition { 1.0 } else { 0.0 }
}

/// An operator of two operands.
fn operator(op: AluOp) -> fn(f32, f32) -> f32 {
    match op {
        AluOp::Add => |a, b| a + b,
        AluOp::Subtract => |a, b| a - b,
        AluOp::Multiply => |a, b| a * b,
        AluOp::Maximum => maximum,
        AluOp::Minimum => |a, b| -maximum(-a, -b),
        AluOp::Equal => |a, b| truth(a == b),
        AluOp::NotEqual => |a, b| truth(a != b),
        AluOp::GreaterEqual => |a, b| truth(a >= b),
        AluOp::Greater => |a, b| truth(a > b),
        AluOp::LessEqual => |a, b| truth(a <= b),
        AluOp::Less => |a, b| truth(a < b),
        AluOp::LogicalAnd => |a, b| truth(a != 0.0 && b != 0.0),
        AluOp::LogicalOr => |a, b| truth(a != 0.0 || b != 0.0),
        AluOp::LogicalXor => |a, b| truth((a != 0.0) != (b != 0.0)),
        _ => panic!("{} is no arithmetic operator of two operands", op.name()),
    }
}

impl Start {
    /// # Safety
    /// As for [`TileKernel::run`].
    unsafe fn of(&self, base: *mut u8, row: usize, current: f32) -> f32 {
        match self {
            Start::Keeps => current,
            // SAFETY: the caller's promise.
            Start::Loads(scalar) => unsafe { scalar.of(base, row) },
        }
    }
}

impl TileKernel for TakeIn {
    unsafe fn run(&self, kernels: &Kernels, base: *mut u8) {
        let combine = operator(self.op);
        for row in 0..self.rows {
            // SAFETY: the caller's promise; the fold of a row of f32 is one f32.
            unsafe {
                let accumulator: &mut f32 = register(base, self.register, row);
                if let Some(values) = self.values {
                    let values: &[f32] = values.row(base, row);
                    let mut fold = 0.0f32;
                    let reduce = kernels.reduce[self.op as usize];
                    reduce((&raw mut fold).cast(), values.as_ptr().cast(), 1, values.len());
                    let before = self.start.of(base, row, *accumulator);
                    *accumulator = combine(before, fold).canonical(NAN);
                }
                if let Some(result) = self.result {
                    let value = if self.negate { -*accumulator } else { *accumulator };
                    result.row_mut(base, row)[0] = value.canonical(NAN);
                }
            }
        }
    }
}

/// Runs a state along a row.
fn run_along(row: &mut [f32], mut state: f32, step: impl Fn(f32, f32) -> f32) -> f32 {
    for it in row {
        state = step(*it, state);
        *it = state.canonical(NAN);
    }
    state
}

impl TileKernel for Cumulate {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        for row in 0..self.values.rows {
            // SAFETY: the caller's promise.
            let (accumulator, values) = unsafe {
                (
                    register::<f32>(base, self.register, row),
                    self.values.row_mut(base, row),
                )
            };
            // SAFETY: the caller's promise.
            let first = unsafe { self.start.of(base, row, *accumulator) };
            let last = match self.op {
                AluOp::Add => run_along(values, first, |term, state| term + state),
                AluOp::Multiply => run_along(values, first, |term, state| term * state),
                AluOp::Maximum => run_along(values, first, maximum),
                op => run_along(values, first, operator(op)),
            };
            *accumulator = last.canonical(NAN);
        }
    }
}

/// The recurrence along one row.
fn scan(
    to: &mut [f32],
    a: &[f32],
    b: &[f32],
    mut state: f32,
    inner: impl Fn(f32, f32) -> f32,
    outer: impl Fn(f32, f32) -> f32,
) {
    for ((to, &a), &b) in to.iter_mut().zip(a).zip(b) {
        state = outer(inner(a, state), b);
        *to = state.canonical(NAN);
    }
}

impl TileKernel for Scan {
    unsafe fn run(&self, _kernels: &Kernels, base: *mut u8) {
        let [(op0, reverse0), (op1, reverse1)] = self.ops;
        let (f, g) = (operator(op0), operator(op1));
        for row in 0..self.to.rows {
            // SAFETY: the caller's promise.
            let (to, a, b, first): (&mut [f32], &[f32], &[f32], f32) = unsafe {
                (
                    self.to.row_mut(base, row),
                    self.a.row(base, row),
                    self.b.row(base, row),
                    self.initial.of(base, row),
                )
            };
            match (op0, op1, reverse0, reverse1) {
                // The recurrence of decays and prefix sums; products and sums do not ask which side is which.
                (AluOp::Multiply, AluOp::Add, _, _) => scan(to, a, b, first, |a, s| a * s, |t, b| t + b),
                (_, _, false, false) => scan(to, a, b, first, f, g),
                (_, _, true, false) => scan(to, a, b, first, |a, s| f(s, a), g),
                (_, _, false, true) => scan(to, a, b, first, f, |t, b| g(b, t)),
                (_, _, true, true) => scan(to, a, b, first, |a, s| f(s, a), |t, b| g(b, t)),
            }
        }
    }
}
