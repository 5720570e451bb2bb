//! Casts and functions against data from NumPy, ml_dtypes and mpmath (`tests/golden/make.py`), and against `half`.

use crate::case::Case;
use nk_compiler::dtype::{DTYPES, Dtype};
use nk_compiler::isa::{ACT_FNS, Arg, Engine, Memory, Op};
use nk_runtime::Emulator;

const CASTS: &[u8] = include_bytes!("../../../tests/golden/data/casts_of_16_bits.bin");
const FUNCTIONS: &[u8] = include_bytes!("../../../tests/golden/data/functions.bin");

/// A position in a golden file.
struct Reader {
    rest: &'static [u8],
}

impl Reader {
    fn bytes(&mut self, len: usize) -> &'static [u8] {
        let (head, rest) = self.rest.split_at(len);
        self.rest = rest;
        head
    }

    fn count(&mut self) -> usize {
        u32::from_le_bytes(self.bytes(4).try_into().expect("four bytes were asked for")) as usize
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes
        .chunks(4)
        .map(|it| f32::from_le_bytes(it.try_into().expect("chunks have four bytes")))
        .collect()
}

/// Moves bytes of one dtype through a DMA into another dtype.
fn cast(from: Dtype, to: Dtype, bytes: &[u8], emulator: Emulator) -> Vec<u8> {
    let n = bytes.len() as u32 / from.size();
    let mut case = Case::new();
    let (src, dst) = (case.hbm(from, &[n]), case.hbm(to, &[n]));
    let args = [case.whole(dst), case.whole(src)];
    case.inst(Op::DmaCopy, Engine::Sync, &args);
    let mut machine = case.load(emulator);
    machine.write(src, bytes);
    machine.run(&case.order()).expect("no index is out of bounds");
    machine.read(dst)
}

const EMULATORS: [Emulator; 2] = [Emulator::Reference, Emulator::Jit];

/// Elements that share a checksum.
const BLOCK: usize = 4096;

/// `casts.py` writes the same sum.
fn checksum(dtype: Dtype, block: &[u8]) -> u64 {
    let element = |it: &[u8]| {
        it.iter()
            .rev()
            .fold(0u64, |word, byte| word << 8 | u64::from(*byte))
    };
    block.chunks(dtype.size() as usize).fold(0u64, |sum, it| {
        sum.wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(element(it))
            .wrapping_add(1)
    })
}

#[test]
fn casts_of_all_16_bit_codes_match_numpy() {
    let codes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    let pairs = || {
        let all = DTYPES.iter().map(|it| it.0);
        all.clone().filter(|it| it.size() == 2).flat_map(move |from| {
            all.clone()
                .filter(move |it| *it != from)
                .map(move |to| (from, to))
        })
    };
    for emulator in EMULATORS {
        let mut file = Reader { rest: CASTS };
        for (from, to) in pairs() {
            let got = cast(from, to, &codes, emulator);
            for (idx, block) in got.chunks(BLOCK * to.size() as usize).enumerate() {
                let want = u64::from_le_bytes(file.bytes(8).try_into().expect("eight bytes were asked for"));
                let (start, from, to_name) = (idx * BLOCK, from.name(), to.name());
                assert_eq!(
                    checksum(to, block),
                    want,
                    "codes from {start} on of {from} to {to_name} by {emulator:?}"
                );
            }
        }
        assert!(file.rest.is_empty());
    }
}

#[test]
fn sixteen_bit_floats_match_half() {
    let codes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    let canonical = |x: f32| {
        if x.is_nan() {
            f32::from_bits(0x7fc0_0000)
        } else {
            x
        }
    };
    for emulator in EMULATORS {
        for (dtype, decode) in [
            (
                Dtype::Bf16,
                (|it| half::bf16::from_bits(it).to_f32()) as fn(u16) -> f32,
            ),
            (Dtype::F16, |it| half::f16::from_bits(it).to_f32()),
        ] {
            let got = floats(&cast(dtype, Dtype::F32, &codes, emulator));
            for code in 0..=u16::MAX {
                let want = canonical(decode(code)).to_bits();
                assert_eq!(
                    got[usize::from(code)].to_bits(),
                    want,
                    "{} {code:04x}",
                    dtype.name()
                );
            }
        }
        let words: Vec<u32> = (0..200_000u32).map(|it| it.wrapping_mul(0x9e37_79b1)).collect();
        let bytes: Vec<u8> = words.iter().flat_map(|it| it.to_le_bytes()).collect();
        for (dtype, nan, encode) in [
            (
                Dtype::Bf16,
                0x7fc0,
                (|it| half::bf16::from_f32(it).to_bits()) as fn(f32) -> u16,
            ),
            (Dtype::F16, 0x7e00, |it| half::f16::from_f32(it).to_bits()),
        ] {
            let got = cast(Dtype::F32, dtype, &bytes, emulator);
            for (got, &word) in got.chunks(2).zip(&words) {
                let x = f32::from_bits(word);
                let want = if x.is_nan() { nan } else { encode(x) };
                assert_eq!(got, want.to_le_bytes(), "{x:e} to {}", dtype.name());
            }
        }
    }
}

/// Distance from a result to the exact value, in units in the last place of f32 around it.
pub fn ulps(got: f32, want: f64) -> f64 {
    if want.is_nan() {
        return if got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let rounded = want as f32;
    if rounded == got || got.is_nan() || rounded.is_infinite() {
        return if rounded == got { 0.0 } else { f64::INFINITY };
    }
    let exponent = (want.abs().to_bits() >> 52) as i32 - 1023;
    let ulp = 2f64.powi((exponent - 23).max(-149));
    ((f64::from(got) - want) / ulp).abs()
}

#[test]
fn functions_are_within_two_ulps() {
    for emulator in EMULATORS {
        let mut file = Reader { rest: FUNCTIONS };
        for facts in ACT_FNS {
            let n = file.count();
            let x = file.bytes(n * 4);
            let want = file
                .bytes(n * 8)
                .chunks(8)
                .map(|it| f64::from_le_bytes(it.try_into().unwrap()));
            let mut case = Case::new();
            let (src, dst) = (
                case.hbm(Dtype::F32, &[1, n as u32]),
                case.hbm(Dtype::F32, &[1, n as u32]),
            );
            let tile = case.on_chip(Dtype::F32, &[1, n as u32], Memory::Sbuf, 0, 0);
            let (src_view, dst_view, view) = (case.whole(src), case.whole(dst), case.whole(tile));
            case.inst(Op::DmaCopy, Engine::Sync, &[view, src_view]);
            case.inst(Op::Activation, Engine::Scalar, &[view, Arg::Act(facts.op), view]);
            case.inst(Op::DmaCopy, Engine::Sync, &[dst_view, view]);
            let mut machine = case.load(emulator);
            machine.write(src, x);
            machine.run(&case.order()).expect("no index is out of bounds");
            let mut worst = (0.0, 0.0, 0.0, 0.0);
            for ((got, x), want) in floats(&machine.read(dst)).into_iter().zip(floats(x)).zip(want) {
                let distance = ulps(got, want);
                if distance > worst.0 {
                    worst = (distance, x, got, want as f32);
                }
            }
            let (distance, x, got, want) = worst;
            assert!(
                distance <= 2.0,
                "{} of {x:e}: {got:e}, exact {want:e}, {distance} ulps",
                facts.name
            );
        }
        assert!(file.rest.is_empty());
    }
}
