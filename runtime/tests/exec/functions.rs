//! The functions of the Scalar engine at more than a million points each, beside f64 formulas over the `libm` crate.
//!
//! `golden.rs` compares a few hundred points with mpmath's values, which nobody here wrote; the formulas below, which share
//! no code and no polynomial with the kernels, carry that over to every exponent of the valid range. Their own error is
//! some units of f64, except beside the roots of the derivatives, where it is still far below half a unit of f32.

use crate::case::{Case, target};
use crate::golden::ulps;
use nk_compiler::dtype::Dtype;
use nk_compiler::isa::{ACT_FNS, ActFn, Arg, Engine, Memory, Op, Range};
use nk_runtime::{Emulator, LEVELS};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI};

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

fn silu_dx(x: f64) -> f64 {
    sigmoid(x) * (1.0 + x * sigmoid(-x))
}

/// The distribution function of the standard normal.
fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// The mathematical function of `isa.md` §5.1 in f64.
fn exact(function: ActFn, x: f64) -> f64 {
    match function {
        ActFn::Copy => x,
        ActFn::Square => x * x,
        ActFn::Abs => x.abs(),
        ActFn::Sign if x == 0.0 => 0.0,
        ActFn::Sign => x.signum(),
        ActFn::Relu => x.max(0.0),
        ActFn::Exp => libm::exp(x),
        ActFn::Log => libm::log(x),
        ActFn::Softplus => x.max(0.0) + libm::log1p(libm::exp(-x.abs())),
        ActFn::Sigmoid => sigmoid(x),
        ActFn::Silu => x * sigmoid(x),
        ActFn::SiluDx if x < -700.0 => 0.0,
        ActFn::SiluDx => silu_dx(x),
        ActFn::Tanh => libm::tanh(x),
        ActFn::Mish => x * libm::tanh(libm::log1p(libm::exp(x))),
        ActFn::Gelu => x * normal(x),
        ActFn::GeluDx => normal(x) + x * libm::exp(-x * x / 2.0) / (2.0 * PI).sqrt(),
        ActFn::GeluApprxTanh => x * sigmoid(2.0 * (2.0 / PI).sqrt() * (x + 0.044_715 * x * x * x)),
        ActFn::GeluApprxSigmoid => x * sigmoid(1.702 * x),
        ActFn::GeluApprxSigmoidDx if x < -400.0 => 0.0,
        ActFn::GeluApprxSigmoidDx => silu_dx(1.702 * x),
        ActFn::Erf => libm::erf(x),
        ActFn::ErfDx => FRAC_2_SQRT_PI * libm::exp(-x * x),
        ActFn::Sin => libm::sin(x),
        ActFn::Arctan => libm::atan(x),
        ActFn::Sqrt => libm::sqrt(x),
        ActFn::Rsqrt => 1.0 / libm::sqrt(x),
        ActFn::Reciprocal => 1.0 / x,
    }
}

/// Elements of a partition, and points in all.
const ROW: u32 = 10_240;
const POINTS: u32 = 128 * ROW;

/// An integer that grows with the number, one for each f32.
fn rank(x: f32) -> i64 {
    let bits = i64::from(x.to_bits() & 0x7fff_ffff);
    if x.is_sign_negative() { -bits } else { bits }
}

fn of_rank(rank: i64) -> f32 {
    let magnitude = f32::from_bits(rank.unsigned_abs() as u32);
    if rank < 0 { -magnitude } else { magnitude }
}

/// Points of the valid range: four in five evenly over all its floats, so over all its exponents; the others evenly from
/// -12 to 12, where functions bend.
fn points(valid: &Range) -> Vec<f32> {
    let (low, high) = (rank(valid.low.max(-f32::MAX)), rank(valid.high.min(f32::MAX)));
    let n_ranks = POINTS / 5 * 4;
    let ranks = (0..n_ranks).map(|it| of_rank(low + (high - low) * i64::from(it) / i64::from(n_ranks - 1)));
    let rest = POINTS - n_ranks;
    let even = (0..rest).map(|it| (24.0 * f64::from(it) / f64::from(rest) - 12.0) as f32);
    let mut points: Vec<f32> = ranks.chain(even).collect();
    // Inside of every range: what lies outside is replaced.
    let n_points = points.len() as f32;
    for (idx, it) in points.iter_mut().enumerate() {
        if valid.excludes(*it) {
            *it = 0.5 + idx as f32 / n_points;
        }
    }
    points
}

/// The function of all points at every CPU level.
fn computed(function: ActFn, points: &[f32]) -> Vec<Vec<f32>> {
    let mut case = Case::new();
    let tile = case.on_chip(Dtype::F32, &[128, ROW], Memory::Sbuf, 0, 0);
    let view = case.whole(tile);
    case.inst(Op::Activation, Engine::Scalar, &[view, Arg::Act(function), view]);
    let bytes: Vec<u8> = points.iter().flat_map(|it| it.to_le_bytes()).collect();
    let levels = LEVELS.iter().filter(|it| it.0.is_available());
    let machines = levels.map(|it| case.load_at(it.0));
    machines
        .map(|mut machine| {
            machine.write(tile, &bytes);
            machine.run(&case.order()).expect("addresses are static");
            let bytes = machine.read(tile);
            let (words, _) = bytes.as_chunks::<4>();
            words.iter().map(|it| f32::from_le_bytes(*it)).collect()
        })
        .collect()
}

#[test]
fn functions_are_within_two_ulps_at_a_million_points() {
    assert_eq!(target().partitions, 128);
    for facts in ACT_FNS {
        let points = points(&facts.valid);
        let n_valid = points.iter().filter(|it| !facts.valid.excludes(**it)).count();
        assert!(n_valid >= 1_000_000, "{}: {n_valid} points", facts.name);
        let results = computed(facts.op, &points);
        for other in &results[1..] {
            let differs = results[0]
                .iter()
                .zip(other)
                .position(|it| it.0.to_bits() != it.1.to_bits());
            assert_eq!(differs, None, "{}: levels differ", facts.name);
        }
        let mut worst = (0.0, 0.0);
        for (&x, &got) in points.iter().zip(&results[0]) {
            let distance = ulps(got, exact(facts.op, f64::from(x)));
            if distance > worst.0 {
                worst = (distance, x);
            }
        }
        println!(
            "{}: {:.3} ulps at {:e}, {n_valid} points",
            facts.name, worst.0, worst.1
        );
        assert!(
            worst.0 <= 2.0,
            "{} of {:e}: {} ulps",
            facts.name,
            worst.1,
            worst.0
        );
    }
}

#[test]
fn inputs_outside_of_the_range_are_counted() {
    let inputs = [1.0, 0.0, -1.0, f32::NAN, f32::INFINITY, 1e-30, 3.2, 2e29];
    let cases = [
        (ActFn::Log, Some(5)),
        (ActFn::Sin, Some(3)),
        (ActFn::Arctan, Some(3)),
        (ActFn::Sqrt, Some(3)),
        (ActFn::Rsqrt, Some(5)),
        (ActFn::Reciprocal, Some(4)),
        (ActFn::Exp, None),
    ];
    for (function, n_outside) in cases {
        let mut case = Case::new();
        let tile = case.on_chip(Dtype::F32, &[1, 8], Memory::Sbuf, 0, 0);
        let other = case.on_chip(Dtype::Bf16, &[1, 8], Memory::Sbuf, 0, 64);
        let (view, to) = (case.whole(tile), case.whole(other));
        case.inst(Op::TensorCopy, Engine::Vector, &[to, view]);
        let inst = case.inst(Op::Activation, Engine::Scalar, &[to, Arg::Act(function), view]);
        for emulator in [Emulator::Jit, Emulator::Reference] {
            let mut machine = case.load(emulator);
            machine.write(tile, &inputs.map(f32::to_le_bytes).concat());
            machine.run(&case.order()).expect("addresses are static");
            let want: Vec<_> = n_outside.iter().map(|&it| (inst, it)).collect();
            assert_eq!(
                machine.out_of_range(),
                want,
                "{} by {emulator:?}",
                function.name()
            );
        }
    }
}
