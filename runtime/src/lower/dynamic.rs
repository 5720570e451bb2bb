//! Instructions whose addresses or registers are known only at run time.
//!
//! Takes operands that indices move, gives calls that read the indices when they run. Operands that move as a whole need
//! no calls of their own: their addresses carry the number of the view, and [`super::Moved`] says what to add.

use super::{Call, Lowering, Moved, RegisterCall, StagedRows, nest, rounding};
use crate::access::{Access, Movement};
use crate::kernels::{RowMove, RowSum, RowTerm, Side};
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

    /// A sum whose rows have indices of their own. A row may be written twice, so no row is gathered ahead.
    pub(super) fn sum_rows(&mut self, inst: &Inst) {
        let mut terms = inst.views().map(|(_, id)| {
            let access = &self.accesses[id.index()];
            RowTerm {
                side: side(access),
                dtype: access.dtype,
                elements: row_elements(access),
            }
        });
        let dst = terms.next().expect("dst is required");
        let sources = terms.collect();
        let rows = self.access(&inst.args[0]).axes[0].count;
        let random = self.random.filter(|_| rounding::applies(dst.dtype));
        self.table.calls.push(Call::RowSum(Box::new(RowSum {
            rows,
            dst,
            sources,
            random,
        })));
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

fn side(access: &Access) -> Side {
    Side {
        start: access.start,
        pitch: access.axes[0].stride,
        movement: access.movement.clone(),
    }
}

/// Distances of the elements of a row from its start, in row-major order.
fn row_elements(access: &Access) -> Vec<i64> {
    let mut distances = vec![0];
    for axis in &access.axes[1..] {
        let steps = |at: i64| (0..i64::from(axis.count)).map(move |it| at + axis.stride * it);
        distances = distances.into_iter().flat_map(steps).collect();
    }
    distances
}
