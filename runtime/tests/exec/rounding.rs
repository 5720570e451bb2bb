//! Stochastic rounding: unbiased, the same bits whatever executes it, and different bits for different seeds,
//! instructions and elements.

use crate::case::Case;
use nk_compiler::dtype::Dtype;
use nk_compiler::isa::{AluOp, Arg, Engine, Memory, Op};
use nk_runtime::{Emulator, Execution, Rounding};

const NARROW: &[Dtype] = &[
    Dtype::Tf32,
    Dtype::Bf16,
    Dtype::F16,
    Dtype::F8e4m3,
    Dtype::F8e5m2,
    Dtype::F8e3m4,
];
/// Elements of a partition.
const ROW: u32 = 8192;
const PARTITIONS: u32 = 16;

fn execution(emulator: Emulator, seed: u64) -> Execution {
    Execution {
        rounding: Rounding::Stochastic { seed },
        ..Execution::new(emulator)
    }
}

/// What two instructions make of the same value in every element of a tile, read back as f32.
fn rounded(value: f32, dtype: Dtype, execution: Execution) -> [Vec<f32>; 2] {
    let mut case = Case::new();
    let mut tile = |dtype: Dtype, byte: u32| {
        let id = case.on_chip(dtype, &[PARTITIONS, ROW], Memory::Sbuf, 0, byte);
        (id, case.whole(id))
    };
    let (data, data_view) = tile(Dtype::F32, 0);
    let narrow = [tile(dtype, ROW * 4).1, tile(dtype, ROW * 8).1];
    let wide = [tile(Dtype::F32, ROW * 12), tile(Dtype::F32, ROW * 16)];
    case.inst(Op::TensorCopy, Engine::Vector, &[narrow[0], data_view]);
    let add = [narrow[1], data_view, Arg::Alu(AluOp::Add), Arg::Float(0.0)];
    case.inst(Op::TensorScalar, Engine::Vector, &add);
    for ((_, to), from) in wide.iter().zip(narrow) {
        case.inst(Op::TensorCopy, Engine::Vector, &[*to, from]);
    }
    let mut machine = case.load_with(execution);
    let n = (PARTITIONS * ROW) as usize;
    machine.write(data, &value.to_le_bytes().repeat(n));
    machine.run(&case.order()).expect("addresses are static");
    wide.map(|(id, _)| {
        let bytes = machine.read(id);
        let (words, _) = bytes.as_chunks::<4>();
        words.iter().map(|it| f32::from_le_bytes(*it)).collect()
    })
}

/// Values between two neighbours of every dtype, subnormal ones of the narrow dtypes too.
const VALUES: &[f32] = &[
    1.000_123,
    -2.718_281_7,
    0.3,
    11.13,
    -7.77,
    3e-3,
    1.9e-5,
    -0.011,
    0.247,
];

#[test]
fn the_mean_is_the_value() {
    for &dtype in NARROW {
        for &value in VALUES {
            let [first, second] = rounded(value, dtype, execution(Emulator::Jit, 7));
            for results in [&first, &second] {
                let (low, high) = results.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |it, &x| {
                    (it.0.min(x), it.1.max(x))
                });
                let name = dtype.name();
                if low == high {
                    assert_eq!(low, value, "{name}: only representable values have one result");
                    continue;
                }
                assert!(low < value && value < high, "{name} of {value}: {low} and {high}");
                assert!(
                    results.iter().all(|&it| it == low || it == high),
                    "{name} of {value}"
                );
                let n = results.len() as f64;
                let gap = f64::from(high) - f64::from(low);
                let up = (f64::from(value) - f64::from(low)) / gap;
                let mean = results.iter().map(|&it| f64::from(it)).sum::<f64>() / n;
                let deviation = gap * (up * (1.0 - up) / n).sqrt();
                let error = (mean - f64::from(value)).abs() / deviation;
                // Five deviations come by chance once in two million.
                assert!(
                    error < 5.0,
                    "{name} of {value}: the mean is {error} deviations off"
                );
                // Neighbours are independent: equal pairs are as frequent as their probability says.
                let equal = results.windows(2).filter(|it| it[0] == it[1]).count() as f64 / n;
                let expected = up * up + (1.0 - up) * (1.0 - up);
                assert!(
                    (equal - expected).abs() < 0.01,
                    "{name} of {value}: {equal}, not {expected}"
                );
            }
            if first.iter().any(|&it| it != first[0]) {
                assert_ne!(first, second, "{}: two instructions round alike", dtype.name());
            }
        }
    }
}

#[test]
fn a_seed_decides_all_bits() {
    for &dtype in NARROW {
        let of = |emulator, seed| rounded(0.3, dtype, execution(emulator, seed));
        assert_eq!(of(Emulator::Jit, 1), of(Emulator::Jit, 1));
        assert_eq!(
            of(Emulator::Jit, 1),
            of(Emulator::Reference, 1),
            "{}",
            dtype.name()
        );
        assert_ne!(of(Emulator::Jit, 1), of(Emulator::Jit, 2), "{}", dtype.name());
        for special in [f32::INFINITY, f32::NEG_INFINITY, 0.0, 1.0, -0.5] {
            let [results, _] = rounded(special, dtype, execution(Emulator::Jit, 3));
            assert!(
                results.iter().all(|&it| it == special),
                "{} of {special}",
                dtype.name()
            );
        }
        let [results, _] = rounded(f32::NAN, dtype, execution(Emulator::Jit, 3));
        assert!(results.iter().all(|it| it.is_nan()));
    }
}
