//! Instructions with the Vector engine's accumulator, and recurrences.
//!
//! The element-wise part is a compiled class whose f32 results go to the stage window, or straight to dst where that is
//! what it holds; a kernel folds them or runs along them; dst and the result column are written last.

use super::elementwise::Operand;
use super::map::{Body, Step};
use super::tile::{field, is_plain};
use super::{Lowering, StagedRows};
use crate::access::Access;
use crate::kernels::{Cumulate, Scalar, Scan, Start, TakeIn};
use crate::reference::{alu_op, flag, rounding};
use nk_compiler::dtype::Dtype;
use nk_compiler::isa::{AluOp, Arg, MAX_ARGS, ReduceCmd};

type Args = [Arg; MAX_ARGS];

/// What a reset leaves in the accumulator.
fn identity(op: AluOp) -> f32 {
    match op {
        AluOp::Multiply => 1.0,
        AluOp::Maximum => f32::NEG_INFINITY,
        AluOp::Minimum => f32::INFINITY,
        _ => 0.0,
    }
}

impl Lowering<'_> {
    fn start(&mut self, cmd: &Arg, loaded: &Arg, op: AluOp) -> Start {
        match cmd {
            Arg::ReduceCmd(ReduceCmd::ResetReduce | ReduceCmd::Reset) => {
                Start::Loads(Scalar::Value(identity(op)))
            }
            Arg::ReduceCmd(ReduceCmd::LoadReduce) => Start::Loads(self.scalar(loaded)),
            _ => Start::Keeps,
        }
    }

    fn vector_register(&self, data: &Access) -> u64 {
        self.layout.vector_accumulators + u64::from(data.partition) * 4
    }

    /// Where f32 results are computed that end in dst: in dst, when nothing else is needed of what it overlaps.
    fn values(&mut self, dst: &Access, needed: &[&Access]) -> Access {
        if dst.dtype == Dtype::F32 && is_plain(dst) && !needed.iter().any(|it| it.overlaps(dst)) {
            return dst.clone();
        }
        self.stage(Dtype::F32, dst.axes.iter().map(|it| it.count), StagedRows::Padded)
    }

    /// The views among some operands.
    fn accesses_of(&self, args: &[&Arg]) -> Vec<Access> {
        let views = args.iter().filter(|it| matches!(it, Arg::View(_)));
        views.map(|it| self.access(it).clone()).collect()
    }

    fn deliver_values(&mut self, dst: &Access, values: &Access) {
        if !values.same_elements(dst) {
            self.convert_apart(dst, values);
        }
    }

    /// A staged column for what is read out of the accumulator.
    fn staged_result(&mut self, result: &Arg) -> Option<Access> {
        let Arg::View(_) = result else { return None };
        let rows = self.access(result).partitions();
        Some(self.stage(Dtype::F32, [rows, 1].into_iter(), StagedRows::Padded))
    }

    fn deliver_result(&mut self, result: &Arg, staged: Option<&Access>) {
        if let Some(staged) = staged {
            let (column, random) = (self.access(result), self.random);
            // The result shares no random bits with the elements of dst.
            self.random = random.map(rounding::mix);
            self.convert_apart(column, staged);
            self.random = random;
        }
    }

    /// Source 0 with one operator whose other side is a column or an immediate.
    fn scaled(&mut self, to: &Access, data: &Arg, op: AluOp, operand: &Arg) {
        let is_unary = op.facts().unary;
        let mut sources = vec![self.tile(data)];
        if !is_unary {
            sources.push(self.column(operand, op));
        }
        let step = Step {
            op,
            source: (!is_unary).then_some(1),
            reverse: false,
        };
        self.map(to, sources, Body::Arithmetic(vec![step]), &[]);
    }

    pub(super) fn tensor_scalar_reduce(&mut self, args: &Args) {
        let [
            dst_arg,
            data,
            op0,
            operand0,
            reduce_op,
            result,
            _,
            cmd,
            init,
            negate,
            ..,
        ] = args;
        let (dst, op) = (self.access(dst_arg), alu_op(reduce_op));
        let needed = self.accesses_of(&[init]);
        let values = self.values(dst, &needed.iter().collect::<Vec<_>>());
        self.scaled(&values, data, alu_op(op0), operand0);
        let start = self.start(cmd, init, op);
        let staged = self.staged_result(result);
        let rows = field(&values);
        self.call(TakeIn {
            op,
            values: Some(rows),
            start,
            register: self.vector_register(self.access(data)),
            result: staged.as_ref().map(field),
            rows: rows.rows,
            negate: flag(negate),
        });
        self.deliver_values(dst, &values);
        self.deliver_result(result, staged.as_ref());
    }

    pub(super) fn tensor_scalar_cumulative(&mut self, args: &Args) {
        let [dst_arg, src, op0, op1, imm0, imm1, cmd, ..] = args;
        let (dst, op) = (self.access(dst_arg), alu_op(op1));
        let needed = self.accesses_of(&[imm1]);
        let values = self.values(dst, &needed.iter().collect::<Vec<_>>());
        self.scaled(&values, src, alu_op(op0), imm0);
        let start = self.start(cmd, imm1, op);
        self.call(Cumulate {
            op,
            values: field(&values),
            start,
            register: self.vector_register(self.access(src)),
        });
        self.deliver_values(dst, &values);
    }

    pub(super) fn tensor_tensor_scan(&mut self, args: &Args) {
        let [dst_arg, data0, data1, initial, op0, op1, reverse0, reverse1, ..] = args;
        let (dst, data0, data1) = (self.access(dst_arg), self.access(data0), self.access(data1));
        let (a, b) = (self.floats(data0), self.floats(data1));
        let mut inputs = self.accesses_of(&[initial]);
        inputs.extend([data0.clone(), data1.clone()]);
        let initial = self.scalar(initial);
        let output = self.output(dst, Dtype::F32, &inputs.iter().collect::<Vec<_>>());
        self.call(Scan {
            to: output.field,
            a,
            b,
            initial,
            ops: [(alu_op(op0), flag(reverse0)), (alu_op(op1), flag(reverse1))],
        });
        self.deliver(dst, &output);
    }

    pub(super) fn select_reduce(&mut self, args: &Args) {
        let [
            dst_arg,
            predicate,
            on_true,
            on_false,
            result,
            cmd,
            reduce_op,
            reverse,
            ..,
        ] = args;
        let (dst, op) = (self.access(dst_arg), alu_op(reduce_op));
        let is_idle = *cmd == Arg::ReduceCmd(ReduceCmd::Idle);
        let values = if is_idle {
            dst.clone()
        } else {
            self.values(dst, &[])
        };
        let sources: Vec<Operand> = vec![
            self.tile(predicate),
            self.tile(on_true),
            self.column(on_false, AluOp::Add),
        ];
        let body = Body::Choose {
            reverse: flag(reverse),
        };
        self.map(&values, sources, body, &[]);
        let staged = self.staged_result(result);
        if !is_idle || staged.is_some() {
            let start = self.start(cmd, &Arg::Absent, op);
            self.call(TakeIn {
                op,
                values: (!is_idle).then(|| field(&values)),
                start,
                register: self.vector_register(self.access(on_true)),
                result: staged.as_ref().map(field),
                rows: dst.partitions() as usize,
                negate: false,
            });
        }
        self.deliver_values(dst, &values);
        self.deliver_result(result, staged.as_ref());
    }
}
