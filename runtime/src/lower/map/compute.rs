//! What the body of an element-wise class computes from one vector per source.

use super::super::emit::Emitter;
use super::super::helper::Helper;
use super::super::{alu, row};
use super::operand::{Form, Operand, slack};
use super::{Body, Map, Row, Source, Step};
use crate::reference::alu::{mask, width};
use cranelift::prelude::types::F32X4;
use cranelift::prelude::*;
use nk_compiler::dtype::Dtype;
use nk_compiler::isa::AluOp;

impl Map {
    /// A row without row kernels between its operands and its results.
    pub(super) fn inline_row(&self, emitter: &mut Emitter, row: &Row) {
        let operands = self.operands(emitter, row);
        self.sink(emitter, row, &sources(&operands), &mut |emitter, vectors| {
            let values = decode(emitter, &operands, vectors);
            self.compute(emitter, &values)
        });
    }

    /// A row that goes through scratch; operators with a row kernel split it into several loops.
    pub(super) fn scratch_row(&self, emitter: &mut Emitter, row: &Row) {
        let Body::Arithmetic(steps) = &self.body else {
            return self.inline_row(emitter, row);
        };
        let mut operands = self.operands(emitter, row);
        if !self.writes_wide()
            && let Some(results) = rows_kernel(emitter, row, &operands, steps)
        {
            return self.store(emitter, row, results);
        }
        let mut rest = &steps[..];
        while let Some(at) = rest.iter().position(|it| alu::has_row_kernel(it.op)) {
            let value = materialise(emitter, row, &operands, &rest[..at]);
            row_kernel(emitter, row, &operands, &rest[at], value);
            operands[0] = Operand {
                from: row::Source::Memory { at: value, stride: 4 },
                form: Form::Float,
            };
            rest = &rest[at + 1..];
        }
        self.sink(emitter, row, &sources(&operands), &mut |emitter, vectors| {
            let values = decode(emitter, &operands, vectors);
            apply(emitter, rest, &values)
        });
    }

    fn operands(&self, emitter: &mut Emitter, row: &Row) -> Vec<Operand> {
        (0..self.sources.len())
            .map(|idx| self.source(emitter, row, idx))
            .collect()
    }

    fn compute(&self, emitter: &mut Emitter, values: &[Value]) -> Value {
        match &self.body {
            Body::Cast => values[0],
            Body::Arithmetic(steps) => apply(emitter, steps, values),
            Body::Bits { steps, width: data } => {
                let word = steps.iter().fold(values[0], |x, step| {
                    let y = step.source.map_or(x, |it| values[it]);
                    let (x, y) = if step.reverse { (y, x) } else { (x, y) };
                    alu::bits(emitter, step.op, x, y, *data)
                });
                alu::keep(emitter, word, mask(width(self.dst)))
            }
            Body::Integer(op) => {
                let form = [self.dtype(0), self.dtype(1)];
                let word = alu::integer(emitter, *op, form, values[0], values[1]);
                self.integer_result(emitter, form[0], word)
            }
            Body::Iota if self.dst == Dtype::U32 => {
                let zero = emitter.integer(0);
                emitter.b.ins().smax(values[0], zero)
            }
            Body::Iota => self.integer_result(emitter, Dtype::I32, values[0]),
            Body::Select { cmp, .. } => {
                let zero = emitter.integer(0);
                let word = alu::integer(emitter, *cmp, [Dtype::I32; 2], values[0], zero);
                let mask = emitter.b.ins().icmp(IntCC::NotEqual, word, zero);
                emitter.select(mask, values[1], values[2])
            }
            Body::Predicated { reverse } => {
                let zero = emitter.integer(0);
                let condition = if *reverse { IntCC::Equal } else { IntCC::NotEqual };
                let mask = emitter.b.ins().icmp(condition, values[0], zero);
                emitter.select(mask, values[1], values[2])
            }
            Body::Choose { reverse } => {
                let zero = emitter.float(0.0);
                // A predicate is an integer, so it is never NaN.
                let condition = if *reverse {
                    FloatCC::Equal
                } else {
                    FloatCC::NotEqual
                };
                let mask = emitter.b.ins().fcmp(condition, values[0], zero);
                emitter.select(mask, values[1], values[2])
            }
            Body::Function { .. } => panic!("functions have row kernels"),
        }
    }

    /// A word of the integer ALU as dst wants it: 32-bit integers take it as it is.
    fn integer_result(&self, emitter: &mut Emitter, data: Dtype, word: Value) -> Value {
        let word = match self.dst {
            // The cast from f32 rounds, so the one to f32 must not.
            Dtype::Bf16 | Dtype::Tf32 => alu::fit_f32(emitter, data, word),
            _ => word,
        };
        match self.dst {
            Dtype::I32 | Dtype::U32 => word,
            _ if data == Dtype::I32 => emitter.b.ins().fcvt_from_sint(F32X4, word),
            _ => emitter.b.ins().fcvt_from_uint(F32X4, word),
        }
    }

    fn dtype(&self, source: usize) -> Dtype {
        match self.sources[source] {
            Source::Tile { dtype, .. } | Source::Column { dtype, .. } => dtype,
            Source::Pattern | Source::Scalar => Dtype::I32,
        }
    }
}

fn sources(operands: &[Operand]) -> Vec<row::Source> {
    operands.iter().map(|it| it.from).collect()
}

/// What the body computes with, of the vectors that were read.
fn decode(emitter: &mut Emitter, operands: &[Operand], vectors: &[Value]) -> Vec<Value> {
    let value = |(operand, &vector): (&Operand, &Value)| match operand.form {
        Form::Ready => vector,
        Form::Float => emitter.cast(F32X4, vector),
        Form::Element(dtype) => alu::decode(emitter, dtype, vector),
    };
    operands.iter().zip(vectors).map(value).collect()
}

/// Source 0 after some steps in f32.
fn apply(emitter: &mut Emitter, steps: &[Step], values: &[Value]) -> Value {
    steps.iter().fold(values[0], |x, step| {
        let y = step.source.map_or(x, |it| values[it]);
        let (x, y) = if step.reverse { (y, x) } else { (x, y) };
        alu::arithmetic(emitter, step.op, x, y)
    })
}

/// Source 0 after some steps, in a scratch row of f32.
fn materialise(emitter: &mut Emitter, row: &Row, operands: &[Operand], steps: &[Step]) -> Value {
    let to = emitter.scratch();
    row::emit(
        emitter,
        row.n,
        &sources(operands),
        slack(to),
        &mut |emitter, vectors| {
            let values = decode(emitter, operands, vectors);
            apply(emitter, steps, &values)
        },
    );
    to
}

/// Applies a single operator to two scratch rows in place, with the widest vectors of the CPU.
fn rows_kernel(emitter: &mut Emitter, row: &Row, operands: &[Operand], steps: &[Step]) -> Option<Value> {
    let [step] = steps else { return None };
    let scratch = |idx: usize| match operands[idx] {
        Operand {
            from: row::Source::Memory { at, stride: 4 },
            form: Form::Float,
        } => Some(at),
        _ => None,
    };
    let (x, y) = (scratch(0)?, scratch(step.source?)?);
    if !matches!(step.op, AluOp::Add | AluOp::Subtract | AluOp::Multiply) {
        return None;
    }
    let (a, b) = if step.reverse { (y, x) } else { (x, y) };
    let n = emitter.number(row.n.into());
    emitter.call(Helper::Binary(step.op), &[x, a, b, n]);
    Some(x)
}

/// Applies an operator's row kernel to a scratch row in place.
fn row_kernel(emitter: &mut Emitter, row: &Row, operands: &[Operand], step: &Step, value: Value) {
    let n = emitter.number(row.n.into());
    match (step.op, step.source) {
        (AluOp::Rsqrt, _) => {
            emitter.call(Helper::Rsqrt, &[value, value, n]);
        }
        (op, Some(source)) => {
            let other = materialise(emitter, row, &operands[source..=source], &[]);
            let (a, b) = if step.reverse {
                (other, value)
            } else {
                (value, other)
            };
            emitter.call(Helper::Binary(op), &[value, a, b, n]);
        }
        _ => panic!("only rsqrt is unary among the operators with row kernels"),
    }
}
