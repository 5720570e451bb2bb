//! Addresses that are known at run time: compiled code and the reference move the same bytes, and stop at the same index.

use crate::case::Case;
use nk_compiler::dtype::{DTYPES, Dtype};
use nk_compiler::ir::{BufferId, Dim, Dynamic, Index, Name, Register, View};
use nk_compiler::isa::{Arg, Engine, Memory, OobMode, Op};
use nk_runtime::{Emulator, LEVELS, Machine};
use proptest::prelude::*;

/// Makes the operands of a static case dynamic where they can be: the view starts earlier, and an index brings it back.
/// Gives the tiles of indices with their values.
pub fn make_dynamic(case: &mut Case, choices: &[u32]) -> Vec<(BufferId, u32)> {
    let mut choices = choices.iter().copied();
    let mut tiles = Vec::new();
    let mut moves = Vec::new();
    let mut next_byte = 180_000;
    for idx in 0..case.program.insts.len() {
        let inst = case.program.insts[idx];
        for (position, arg) in inst.args.into_iter().enumerate() {
            let (Arg::View(id), Some(choice)) = (arg, choices.next()) else {
                continue;
            };
            let view = case.program[id];
            let (kind, stride, wanted) = (choice % 3, 1 + choice / 3 % 7, 1 + choice / 21 % 5);
            let low: i64 = view.dims()[usize::from(case.program.memory(&view).is_on_chip())..]
                .iter()
                .map(|it| i64::from(it.stride).min(0) * (i64::from(it.count) - 1))
                .sum();
            let index = wanted.min(((view.offset + low) / i64::from(stride)) as u32);
            if kind == 0 || index == 0 {
                continue;
            }
            let source = if kind == 1 {
                let name = Name::plain(&format!("r{}", case.program.registers.len()));
                let register = case.program.add_register(Register { name, loc: None });
                moves.push((register, index));
                Index::Register(register)
            } else {
                let tile = case.on_chip(Dtype::I32, &[1, 1], Memory::Sbuf, 0, next_byte);
                next_byte += 4;
                tiles.push((tile, index));
                let whole = View::whole(tile, &case.program[tile]);
                Index::Element(case.program.add_view(whole))
            };
            let dynamic = Dynamic {
                index: source,
                stride,
                count: index + 1,
            };
            let offset = view.offset - i64::from(index * stride);
            let moved = View::new(view.buffer, view.dtype, view.partition, offset, view.dims());
            let moved = moved.expect("as many pairs as before").moved_by(Some(dynamic));
            case.program.insts[idx].args[position] = Arg::View(case.program.add_view(moved));
        }
    }
    let n_insts = case.program.insts.len();
    for (register, index) in moves {
        case.inst(
            Op::RegisterMove,
            Engine::Sync,
            &[Arg::Register(register), Arg::Int(index as i32)],
        );
    }
    case.program.insts.rotate_left(n_insts);
    tiles
}

/// Rows of a gather or scatter.
#[derive(Clone, Debug)]
struct Rows {
    indices: Vec<u32>,
    table: u32,
    row: (u32, u32),
    dtypes: (usize, usize),
    scatters: bool,
    /// Adds to the destination, where an index may come twice.
    adds: bool,
    skips: bool,
    strided: bool,
}

fn rows() -> impl Strategy<Value = Rows> {
    let indices = prop::collection::vec(0u32..40, 1..20);
    let dtypes = (0..DTYPES.len(), 0..DTYPES.len(), any::<bool>());
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (indices, 1u32..41, (1u32..4, 1u32..40), dtypes, flags).prop_map(
        |(mut indices, table, row, (first, second, same), (scatters, adds, skips, strided))| {
            if scatters && !adds {
                // Which of two rows stays is nobody's promise.
                indices.sort_unstable();
                indices.dedup();
            }
            Rows {
                indices,
                table,
                row,
                dtypes: (first, if same { first } else { second }),
                scatters,
                adds,
                skips: skips && !adds,
                strided,
            }
        },
    )
}

impl Rows {
    /// The program, with the tile of indices, the table and the other tile.
    fn case(&self) -> (Case, [BufferId; 3]) {
        let mut case = Case::new();
        let n = self.indices.len() as u32;
        let (outer, inner) = self.row;
        let gap = if self.strided { 3 } else { 0 };
        let width = outer * (inner + gap);
        let (table_dtype, tile_dtype) = (DTYPES[self.dtypes.0].0, DTYPES[self.dtypes.1].0);
        let index = case.on_chip(Dtype::I32, &[n, 1], Memory::Sbuf, 0, 0);
        let table = case.hbm(table_dtype, &[self.table, width]);
        let tile = case.on_chip(tile_dtype, &[n, outer * inner], Memory::Sbuf, 0, 64);
        let index_view = View::whole(index, &case.program[index]);
        let index_view = case.program.add_view(index_view);
        let dims = [(0, n), (inner + gap, outer), (1, inner)].map(|(stride, count)| Dim {
            stride: stride as i32,
            count,
        });
        let view = View::new(table, table_dtype, 0, 0, &dims).expect("three pairs");
        let dynamic = Dynamic {
            index: Index::Rows(index_view),
            stride: width,
            count: self.table,
        };
        let moved = Arg::View(case.program.add_view(view.moved_by(Some(dynamic))));
        let whole = case.whole(tile);
        let mode = Arg::OobMode(if self.skips { OobMode::Skip } else { OobMode::Error });
        let (dst, src) = if self.scatters {
            (moved, whole)
        } else {
            (whole, moved)
        };
        if self.adds {
            case.inst(Op::DmaCompute, Engine::Gpsimd, &[dst, dst, src]);
        } else {
            case.inst(Op::DmaCopy, Engine::Gpsimd, &[dst, src, mode]);
        }
        (case, [index, table, tile])
    }
}

/// A machine's buffers after a run, and how it ended.
fn outcome(mut machine: Machine, case: &Case, rows: &Rows, ids: [BufferId; 3]) -> (Vec<Vec<u8>>, String) {
    let indices: Vec<u8> = rows.indices.iter().flat_map(|it| it.to_le_bytes()).collect();
    machine.write(ids[0], &indices);
    for id in &ids[1..] {
        let len = case.program[*id].shape.count() as usize * case.program[*id].dtype.size() as usize;
        let bytes: Vec<u8> = (0..len).map(|it| (it * 37 + id.index() * 11) as u8).collect();
        machine.write(*id, &bytes);
    }
    let ended = format!("{:?}", machine.run(&case.order()));
    (ids.iter().map(|it| machine.read(*it)).collect(), ended)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn gathers_and_scatters_match_the_reference(rows in rows()) {
        let (case, ids) = rows.case();
        let want = outcome(case.load(Emulator::Reference), &case, &rows, ids);
        for (level, name) in LEVELS.iter().filter(|it| it.0.is_available()) {
            let got = outcome(case.load_at(*level), &case, &rows, ids);
            prop_assert!(got == want, "{name}: {got:?} is not {want:?}");
        }
        let is_out = rows.indices.iter().any(|it| *it >= rows.table);
        prop_assert_eq!(want.1.starts_with("Err"), is_out && !rows.skips);
    }
}
