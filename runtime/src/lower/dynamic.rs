//! Instructions whose addresses or registers are known only at run time.
//!
//! Takes operands that indices move, gives calls that read the indices when they run. Operands that move as a whole need
//! no calls of their own: their addresses carry the number of the view, and [`super::Moved`] says what to add.

use super::{Call, Lowering, Moved, RegisterCall, StagedRows, nest};
use crate::access::{Access, Movement};
use crate::kernels::{RowMove, Side};
use nk_compiler::ir::{Inst, InstId};
use nk_compiler::isa::{Arg, MAX_ARGS, OobMode, Op};

impl Lowering<'_> {
    /// Notes what moves the operands of an instruction.
    pub(super) fn note_movements(&mut self, id: InstId, inst: &Inst) {
        let views = inst.args.iter().filter_map(|it| match it {
            Arg::View(view) => Some(&self.accesses[view.index()]),
            _ => None,
        });
        let moved = views.filter(|it| !it.has_row_indices());
        let movements: Vec<Movement> = moved.filter_map(|it| it.movement.clone()).collect();
        if !movements.is_empty() {
            let skips = inst.args.contains(&Arg::OobMode(OobMode::Skip));
            self.table.moved.insert(id, Moved { movements, skips });
        }
    }

    pub(super) fn register(&mut self, inst: &Inst) {
        let register = |arg: &Arg| match arg {
            Arg::Register(id) => id.index(),
            _ => panic!("a verified operand is a register"),
        };
        let [first, second, ..] = &inst.args;
        let call = match (inst.op, second) {
            (Op::RegisterMove, Arg::Int(value)) => RegisterCall::Set {
                register: register(first),
                value: *value,
            },
            (Op::RegisterMove, _) => RegisterCall::Move {
                register: register(first),
                from: register(second),
            },
            (Op::RegisterLoad, _) => {
                let src = self.access(second);
                RegisterCall::Load {
                    register: register(first),
                    at: src.address(),
                    dtype: src.dtype,
                }
            }
            _ => {
                let dst = self.access(first);
                RegisterCall::Store {
                    at: dst.address(),
                    dtype: dst.dtype,
                    register: register(second),
                }
            }
        };
        self.table.calls.push(Call::Register(call));
    }

    /// A copy whose rows have indices of their own.
    pub(super) fn move_rows(&mut self, args: &[Arg; MAX_ARGS]) {
        let (dst, src) = (self.access(&args[0]), self.access(&args[1]));
        let skips = args.contains(&Arg::OobMode(OobMode::Skip));
        if dst.dtype == src.dtype && !dst.overlaps(src) {
            return self.rows(dst, src, Vec::new(), skips);
        }
        let rows = |it: &Access| it.axes.iter().map(|it| it.count).collect::<Vec<_>>();
        let gathered = self.stage(src.dtype, rows(src).into_iter(), StagedRows::Packed);
        self.rows(&gathered, src, Vec::new(), skips);
        let converted = if dst.dtype == src.dtype {
            gathered
        } else {
            let converted = self.stage(dst.dtype, rows(dst).into_iter(), StagedRows::Packed);
            self.convert_apart(&converted, &gathered);
            converted
        };
        let masks = src.movement.clone().into_iter().collect();
        self.rows(dst, &converted, masks, skips);
    }

    /// Moves rows of one dtype between tiles that share no byte.
    fn rows(&mut self, dst: &Access, src: &Access, masks: Vec<Movement>, skips: bool) {
        let size = i64::from(dst.dtype.size());
        let Some(mut loops) = nest::refine(&[&dst.axes[1..], &src.axes[1..]]) else {
            let middle = self.stage(dst.dtype, dst.axes.iter().map(|it| it.count), StagedRows::Packed);
            self.rows(&middle, src, Vec::new(), skips);
            let masks = src.movement.clone().into_iter().chain(masks).collect();
            return self.rows(dst, &middle, masks, skips);
        };
        let mut run = size;
        if let Some(last) = loops.last()
            && last.strides[..2] == [size, size]
        {
            run = size * i64::from(last.count);
            loops.pop();
        }
        let side = |it: &Access| Side {
            start: it.start,
            pitch: it.axes[0].stride,
            movement: it.movement.clone(),
        };
        self.table.calls.push(Call::Rows(Box::new(RowMove {
            rows: dst.axes[0].count,
            dst: side(dst),
            src: side(src),
            run: run as u64,
            loops: loops
                .iter()
                .map(|it| (it.count, it.strides[0], it.strides[1]))
                .collect(),
            masks,
            skips,
        })));
    }
}
