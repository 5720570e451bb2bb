//! Instructions that work element by element or along rows, as shape classes.

use super::map::{Body, Map, Register, Source, Step};
use super::nest::{self, Loop};
use super::reduce::Reduce;
use super::{Class, Lowering, StagedRows, copy};
use crate::access::{Access, Axis};
use crate::reference::alu::{Integers, width};
use crate::reference::cast::{encode, immediate, immediate_as, immediate_bits};
use crate::reference::{alu_op, flag, integer, is_bits, rounding};
use nk_compiler::isa::{AluOp, Arg, Engine, MAX_ARGS, Range, ReduceCmd};

type Args = [Arg; MAX_ARGS];

/// A source of an element-wise instruction.
#[derive(Clone)]
pub(super) enum Operand {
    Tile(Access),
    Column(Access),
    /// The bits of an f32, or raw.
    Scalar(u32),
    Pattern {
        axes: Vec<Axis>,
        offset: i32,
        multiplier: i32,
    },
}

fn scalar(value: f32) -> Operand {
    Operand::Scalar(value.to_bits())
}

impl Lowering<'_> {
    pub(super) fn tile(&self, arg: &Arg) -> Operand {
        Operand::Tile(self.access(arg).clone())
    }

    /// A column or an immediate beside an operator.
    pub(super) fn column(&self, arg: &Arg, op: AluOp) -> Operand {
        match arg {
            Arg::View(_) => Operand::Column(self.access(arg).clone()),
            _ if is_bits(op) => Operand::Scalar(immediate_bits(arg)),
            _ => scalar(immediate(arg)),
        }
    }

    fn pattern(&self, pattern: &Arg, offset: &Arg, multiplier: &Arg) -> Operand {
        let Arg::Pattern(id) = pattern else {
            panic!("a verified pattern is a pattern")
        };
        let axis = |it: &nk_compiler::ir::Dim| Axis {
            count: it.count,
            stride: it.stride.into(),
        };
        Operand::Pattern {
            axes: self.program[*id].0.iter().map(axis).collect(),
            offset: integer(offset),
            multiplier: integer(multiplier),
        }
    }

    pub(super) fn memset(&mut self, args: &Args) {
        let dst = self.access(&args[0]);
        let size = dst.dtype.size();
        let word = immediate_as(dst.dtype, &args[1]);
        let repeated = match size {
            1 => word * 0x0101_0101,
            2 => word * 0x0001_0001,
            _ => word,
        };
        let fill = copy::Fill {
            size,
            loops: nest::single(&dst.axes),
        };
        self.code(Class::Fill(fill), &[dst.address(), repeated.into()]);
    }

    pub(super) fn iota(&mut self, args: &Args) {
        let [dst, pattern, offset, multiplier, ..] = args;
        let sources = vec![self.pattern(pattern, offset, multiplier)];
        self.map(self.access(dst), sources, Body::Iota, &[]);
    }

    pub(super) fn tensor_tensor(&mut self, args: &Args, engine: Engine) {
        let [dst, data1, data2, op, ..] = args;
        let op = alu_op(op);
        let (a, b) = (self.access(data1).dtype, self.access(data2).dtype);
        let step = Step {
            op,
            source: Some(1),
            reverse: false,
        };
        let body = if is_bits(op) {
            Body::Bits {
                steps: vec![step],
                width: width(a),
            }
        } else if engine == Engine::Gpsimd && Integers::of(op, a, b).is_some() {
            Body::Integer(op)
        } else {
            Body::Arithmetic(vec![step])
        };
        let sources = vec![self.tile(data1), self.tile(data2)];
        self.map(self.access(dst), sources, body, &[]);
    }

    pub(super) fn tensor_scalar(&mut self, args: &Args) {
        let [dst, data, op0, operand0, reverse0, op1, operand1, reverse1, ..] = args;
        let mut steps = vec![(op0, operand0, reverse0)];
        if *op1 != Arg::Absent {
            steps.push((op1, operand1, reverse1));
        }
        let columns: Vec<Operand> = steps
            .iter()
            .filter(|it| !alu_op(it.0).facts().unary)
            .map(|it| self.column(it.1, alu_op(it.0)))
            .collect();
        let mut next = 0;
        let steps = steps.iter().map(|it| {
            let op = alu_op(it.0);
            next += usize::from(!op.facts().unary);
            Step {
                op,
                source: (!op.facts().unary).then_some(next),
                reverse: flag(it.2) && !op.facts().unary,
            }
        });
        let steps: Vec<Step> = steps.collect();
        let body = if is_bits(steps[0].op) {
            Body::Bits {
                steps,
                width: width(self.access(data).dtype),
            }
        } else {
            Body::Arithmetic(steps)
        };
        let mut sources = vec![self.tile(data)];
        sources.extend(columns);
        self.map(self.access(dst), sources, body, &[]);
    }

    pub(super) fn scalar_tensor_tensor(&mut self, args: &Args) {
        let [dst, data, op0, operand0, op1, operand1, reverse0, reverse1, ..] = args;
        let step = |op: &Arg, source: usize, reverse: &Arg| Step {
            op: alu_op(op),
            source: Some(source),
            reverse: flag(reverse),
        };
        let steps = vec![step(op0, 1, reverse0), step(op1, 2, reverse1)];
        let sources = vec![
            self.tile(data),
            self.column(operand0, alu_op(op0)),
            self.tile(operand1),
        ];
        self.map(self.access(dst), sources, Body::Arithmetic(steps), &[]);
    }

    pub(super) fn reciprocal(&mut self, args: &Args) {
        let step = Step {
            op: AluOp::Reciprocal,
            source: None,
            reverse: false,
        };
        self.map(
            self.access(&args[0]),
            vec![self.tile(&args[1])],
            Body::Arithmetic(vec![step]),
            &[],
        );
    }

    pub(super) fn affine_select(&mut self, args: &Args) {
        let [dst, pattern, multiplier, on_true, on_false, cmp, offset, ..] = args;
        let to = self.access(dst).dtype;
        let raw = self.access(on_true).dtype == to;
        let constant = immediate(on_false);
        let sources = vec![
            self.pattern(pattern, offset, multiplier),
            self.tile(on_true),
            if raw {
                Operand::Scalar(encode(to, constant))
            } else {
                scalar(constant)
            },
        ];
        let body = Body::Select {
            cmp: alu_op(cmp),
            raw,
        };
        self.map(self.access(dst), sources, body, &[]);
    }

    pub(super) fn copy_predicated(&mut self, args: &Args) {
        let [dst, src, predicate, reverse, ..] = args;
        let to = self.access(dst);
        let new = match src {
            Arg::View(_) => self.tile(src),
            constant => Operand::Scalar(immediate_as(to.dtype, constant)),
        };
        let sources = vec![self.tile(predicate), new, self.tile(dst)];
        let body = Body::Predicated {
            reverse: flag(reverse),
        };
        self.map(to, sources, body, &[]);
    }

    pub(super) fn activation(
        &mut self,
        [dst, function, data, bias, scale, result]: [&Arg; 6],
        cmd: ReduceCmd,
    ) {
        let Arg::Act(function) = function else {
            panic!("a verified function is a function")
        };
        let (to, from) = (self.access(dst), self.access(data));
        let bias = match bias {
            Arg::Absent => scalar(-0.0),
            _ => self.column(bias, AluOp::Add),
        };
        let sources = vec![self.tile(data), self.column(scale, AluOp::Multiply), bias];
        // The result of a partition is written right after its row of dst. A result that shares bytes with another operand
        // is written when all rows are done.
        let column = (*result != Arg::Absent).then(|| self.access(result));
        let detour = column.filter(|it| it.overlaps(to) || it.overlaps(from));
        let staged = detour.map(|it| self.stage(it.dtype, [it.partitions()].into_iter(), StagedRows::Padded));
        let result_dtype = staged.as_ref().or(column).map(|it| it.dtype);
        let register = Register {
            is_random: self.random.is_some() && result_dtype.is_some_and(rounding::applies),
            resets: matches!(cmd, ReduceCmd::Reset | ReduceCmd::ResetReduce),
            adds: matches!(cmd, ReduceCmd::Reduce | ReduceCmd::ResetReduce),
            result: staged.as_ref().or(column).map(|it| (it.dtype, it.axes[0].stride)),
        };
        let is_used = register.resets || register.adds || register.result.is_some();
        let mut extra = Vec::new();
        if function.facts().valid != Range::ALL {
            extra.push(self.layout.counters + self.n_counting * 8);
        }
        if is_used {
            extra.push(self.layout.accumulators + u64::from(from.partition) * 4);
            extra.extend(staged.as_ref().or(column).map(|it| it.address()));
        }
        let body = Body::Function {
            function: *function,
            register: is_used.then_some(register),
        };
        self.map(to, sources, body, &extra);
        if let (Some(staged), Some(column)) = (staged, detour) {
            self.move_elements(column, &staged);
        }
    }

    /// Adds a call of an element-wise class.
    pub(super) fn map(&mut self, dst: &Access, mut sources: Vec<Operand>, body: Body, extra: &[u64]) {
        for source in &mut sources {
            let copied = match source {
                Operand::Tile(it) => it.overlaps(dst) && !it.same_elements(dst),
                // A partition's column is read before the partition is written.
                Operand::Column(it) => it.overlaps(dst) && it.partition != dst.partition,
                Operand::Scalar(_) | Operand::Pattern { .. } => false,
            };
            if let (true, Operand::Tile(it) | Operand::Column(it)) = (copied, &mut *source) {
                *it = self.staged_copy(it, StagedRows::Padded);
            }
        }
        let Some(loops) = shared_loops(dst, &sources) else {
            // Contiguous tiles share loops with any shape.
            for source in &mut sources {
                if let Operand::Tile(it) = source {
                    *it = self.staged_copy(it, StagedRows::Padded);
                }
            }
            let middle = self.stage(dst.dtype, dst.axes.iter().map(|it| it.count), StagedRows::Padded);
            self.map(&middle, sources, body, extra);
            return self.move_elements(dst, &middle);
        };
        let mut args = vec![dst.address()];
        let mut kinds = Vec::new();
        for source in &sources {
            match source {
                Operand::Tile(it) => {
                    args.push(it.address());
                    kinds.push(Source::Tile {
                        dtype: it.dtype,
                        pitch: it.axes[0].stride,
                    });
                }
                Operand::Column(it) => {
                    args.push(it.address());
                    kinds.push(Source::Column {
                        dtype: it.dtype,
                        pitch: it.axes[0].stride,
                    });
                }
                Operand::Scalar(bits) => {
                    args.push((*bits).into());
                    kinds.push(Source::Scalar);
                }
                Operand::Pattern {
                    offset, multiplier, ..
                } => {
                    args.extend([i64::from(*offset) as u64, i64::from(*multiplier) as u64]);
                    kinds.push(Source::Pattern);
                }
            }
        }
        args.extend_from_slice(extra);
        let is_random = self.random.is_some() && rounding::applies(dst.dtype) && body.rounds();
        args.extend(self.random.filter(|_| is_random || body.has_random_result()));
        let map = Map {
            is_random,
            partitions: dst.partitions(),
            loops,
            dst: dst.dtype,
            dst_pitch: dst.axes[0].stride,
            sources: kinds,
            body,
        };
        self.code(Class::Map(map), &args);
    }

    pub(super) fn tensor_reduce(&mut self, args: &Args) {
        let [dst, op, data, axes, negate, ..] = args;
        let Arg::Axes(reduced) = axes else {
            panic!("a verified axis operand holds axes")
        };
        let (dst, mut data) = (self.access(dst), self.access(data).clone());
        if data.overlaps(dst) && data.partition != dst.partition {
            data = self.staged_copy(&data, StagedRows::Padded);
        }
        let n_kept = (0..data.axes.len())
            .take_while(|&it| reduced >> it & 1 == 0)
            .count();
        let mut kept = nest::single(&data.axes[1..n_kept]);
        let mut reduced = nest::single(&data.axes[n_kept..]);
        for it in kept.iter_mut().chain(&mut reduced) {
            it.strides.swap(0, 1);
        }
        let key = self.random.filter(|_| rounding::applies(dst.dtype));
        let class = Reduce {
            is_random: key.is_some(),
            op: alu_op(op),
            negate: flag(negate),
            partitions: dst.partitions(),
            dst: dst.dtype,
            dst_pitch: dst.axes[0].stride,
            data: data.dtype,
            data_pitch: data.axes[0].stride,
            results: nest::single(dst.free_axes()),
            kept,
            reduced,
        };
        let mut args = vec![dst.address(), data.address()];
        args.extend(key);
        self.code(Class::Reduce(class), &args);
    }
}

/// The loops of dst, tiles and patterns, if they have common ones.
fn shared_loops(dst: &Access, sources: &[Operand]) -> Option<Vec<Loop>> {
    let mut axes = vec![dst.free_axes()];
    axes.extend(sources.iter().filter_map(|it| match it {
        Operand::Tile(it) => Some(it.free_axes()),
        Operand::Pattern { axes, .. } => Some(&axes[..]),
        Operand::Column(_) | Operand::Scalar(_) => None,
    }));
    nest::refine(&axes)
}
