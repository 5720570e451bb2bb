//! Random programs: compiled code at every CPU level leaves the same bytes in memory as the reference.

use crate::case::Case;
use crate::dynamic::make_dynamic;
use crate::generate::Generator;
use nk_compiler::ir::BufferId;
use nk_runtime::{Emulator, Execution, LEVELS, Level, Machine, Rounding};
use proptest::prelude::*;

/// Random bytes: any pattern, or numbers of moderate size, by seed.
fn contents(seed: u32, len: usize) -> Vec<u8> {
    let mut state = u64::from(seed) << 32 | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        let word = next();
        match seed % 4 {
            0 => bytes.extend(word.to_le_bytes()),
            // The upper halves of numbers between 2^-8 and 2^8, which suit both f32 and 16-bit floats.
            1 => {
                for half in word.to_le_bytes().chunks(2) {
                    let half = u16::from_le_bytes([half[0], half[1]]);
                    bytes.extend(((half & 0x83ff) | (0x3c00 + (half & 0x0400))).to_le_bytes());
                }
            }
            2 => bytes.extend([(word % 3) as u8, 0, 0, 0]),
            // Special values of f32 and bf16 beside ordinary ones.
            _ => {
                let specials = [
                    0u32,
                    0x8000_0000,
                    0x7f80_0000,
                    0xff80_0000,
                    0x7fc0_1234,
                    0x3f80_0000,
                    1,
                    0x4b00_0001,
                ];
                bytes.extend(specials[(word % 8) as usize].to_le_bytes());
            }
        }
    }
    bytes.truncate(len);
    bytes
}

fn fill(machine: &mut Machine, case: &Case, seed: u32) {
    for (idx, buffer) in case.program.buffers.iter().enumerate() {
        let len = u64::from(buffer.partitions()) * buffer.bytes();
        machine.write(
            BufferId::new(idx),
            &contents(seed.wrapping_add(idx as u32 * 5), len as usize),
        );
    }
}

/// Everything in memory that the program can reach.
fn snapshot(machine: &Machine, case: &Case) -> Vec<Vec<u8>> {
    (0..case.program.buffers.len())
        .map(|idx| machine.read(BufferId::new(idx)))
        .collect()
}

fn check(choices: &[u32], n_insts: usize, seed: u32, rounding: Rounding) -> Result<(), TestCaseError> {
    let mut generator = Generator::new(choices);
    for _ in 0..n_insts {
        generator.inst();
    }
    prop_assume!(!generator.is_too_large);
    let mut case = generator.case;
    // In a third of the cases addresses depend on registers and tiles.
    let tiles = if seed.is_multiple_of(3) && case.first.ranges.is_empty() {
        make_dynamic(&mut case, choices)
    } else {
        Vec::new()
    };
    let run = |mut machine: Machine| {
        fill(&mut machine, &case, seed);
        for (tile, index) in &tiles {
            machine.write(*tile, &index.to_le_bytes());
        }
        machine.run(&case.order()).expect("all indices are in bounds");
        (snapshot(&machine, &case), machine.out_of_range())
    };
    let load = |emulator: Emulator, level: Level| {
        case.load_with(Execution {
            emulator,
            level,
            rounding,
        })
    };
    let (want, want_outside) = run(load(Emulator::Reference, Level::detect()));
    for (level, name) in LEVELS.iter().filter(|it| it.0.is_available()) {
        let (got, outside) = run(load(Emulator::Jit, *level));
        prop_assert_eq!(&outside, &want_outside, "{}: {:?}", name, case.program.insts);
        for (idx, (got, want)) in got.iter().zip(&want).enumerate() {
            let differs = got.iter().zip(want).position(|it| it.0 != it.1);
            prop_assert!(
                differs.is_none(),
                "{name}: byte {differs:?} of buffer {idx} is {:x?}, not {:x?}\n{:?}\n{:?}\n{:?}",
                differs.map(|it| &got[it / 4 * 4..got.len().min(it / 4 * 4 + 4)]),
                differs.map(|it| &want[it / 4 * 4..want.len().min(it / 4 * 4 + 4)]),
                case.program.insts,
                case.program.views(),
                case.placement.regions
            );
        }
    }
    Ok(())
}

/// `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|it| it.parse().ok());
    ProptestConfig {
        cases: cases.unwrap_or(1500),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn compiled_code_matches_the_reference(
        choices in prop::collection::vec(0u32..1 << 16, 0..120),
        n_insts in 1usize..3,
        seed in 0u32..1 << 20,
    ) {
        check(&choices, n_insts, seed, Rounding::Nearest)?;
    }

    #[test]
    fn stochastic_rounding_matches_the_reference(
        choices in prop::collection::vec(0u32..1 << 16, 0..120),
        n_insts in 1usize..3,
        seed in 0u32..1 << 20,
    ) {
        check(&choices, n_insts, seed, Rounding::Stochastic { seed: seed.into() })?;
    }
}
