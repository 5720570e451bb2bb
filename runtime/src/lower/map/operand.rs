//! The operands of a row: vectors from wide elements directly, from narrow ones through scratch rows, and the way back.

use super::super::emit::{Emitter, flags};
use super::super::helper::Helper;
use super::super::nest::contiguous;
use super::super::{alu, copy, row};
use super::{Body, Domain, Map, Row, Source, is_wide};
use cranelift::prelude::types::{F32, F32X4, I32, I32X4, I64};
use cranelift::prelude::*;
use nk_compiler::dtype::Dtype;

/// A source of a row that vectors can be read from.
#[derive(Clone, Copy)]
pub struct Operand {
    pub from: row::Source,
    pub form: Form,
}

/// What the 32-bit lanes of a source are.
#[derive(Clone, Copy)]
pub enum Form {
    /// What the body computes with.
    Ready,
    /// The bits of f32 values.
    Float,
    /// Elements of a wide dtype.
    Element(Dtype),
}

impl Map {
    /// The operand number of a tile or pattern.
    pub fn operand(&self, source: usize) -> usize {
        let moves = |it: &&Source| matches!(it, Source::Tile { .. } | Source::Pattern);
        self.sources[..source].iter().filter(moves).count() + 1
    }

    /// An immediate: a vector, or an f32 for a row kernel.
    pub fn immediate(&self, emitter: &mut Emitter, arg: usize) -> Value {
        let kind = if self.body.domain() == Domain::Float {
            F32
        } else {
            I32
        };
        let value = emitter.scalar(arg, kind);
        self.repeated(emitter, value)
    }

    /// The element of a column.
    pub fn column(&self, emitter: &mut Emitter, dtype: Dtype, at: Value) -> Value {
        let value = match self.body.domain() {
            Domain::Float => load_f32(emitter, dtype, at),
            Domain::Raw => copy::load_element(emitter, dtype.size(), at, 0),
        };
        self.repeated(emitter, value)
    }

    fn repeated(&self, emitter: &mut Emitter, value: Value) -> Value {
        match self.body {
            Body::Function { .. } => value,
            _ if self.body.domain() == Domain::Float => emitter.b.ins().splat(F32X4, value),
            _ => emitter.b.ins().splat(I32X4, value),
        }
    }

    /// A source as a row of vectors.
    pub(super) fn source(&self, emitter: &mut Emitter, row: &Row, idx: usize) -> Operand {
        if let Some(vector) = row.fixed[idx] {
            return Operand {
                from: row::Source::Vector(vector),
                form: Form::Ready,
            };
        }
        let operand = self.operand(idx);
        match self.sources[idx] {
            Source::Tile { dtype, .. } => self.tile(emitter, row, operand, dtype),
            _ => Operand {
                from: pattern(emitter, row, operand),
                form: Form::Ready,
            },
        }
    }

    fn tile(&self, emitter: &mut Emitter, row: &Row, operand: usize, dtype: Dtype) -> Operand {
        let domain = self.body.domain();
        if is_wide(dtype, domain) {
            let form = if domain == Domain::Float {
                Form::Element(dtype)
            } else {
                Form::Ready
            };
            let from = match row.loops {
                [it] => row::Source::Memory {
                    at: row.moving[operand],
                    stride: it.strides[operand],
                },
                _ => row::Source::Memory {
                    at: gathered(emitter, row, operand, 4),
                    stride: 4,
                },
            };
            return Operand { from, form };
        }
        let (helper, form) = match domain {
            Domain::Float => (Helper::Load(dtype), Form::Float),
            Domain::Raw => (Helper::Widen(dtype.size()), Form::Ready),
        };
        let at = gathered(emitter, row, operand, dtype.size());
        let words = emitter.scratch();
        let n = emitter.number(row.n.into());
        emitter.call(helper, &[words, at, n]);
        Operand {
            from: row::Source::Memory { at: words, stride: 4 },
            form,
        }
    }

    /// Writes the results of a row, which `compute` gives one vector at a time.
    pub(super) fn sink(
        &self,
        emitter: &mut Emitter,
        row: &Row,
        sources: &[row::Source],
        compute: &mut dyn FnMut(&mut Emitter, &[Value]) -> Value,
    ) {
        let domain = self.body.result_domain(self.dst);
        let dst = row.moving[0];
        if self.writes_wide() {
            let mut encoded = |emitter: &mut Emitter, values: &[Value]| {
                let value = compute(emitter, values);
                if domain == Domain::Float {
                    alu::encode(emitter, self.dst, value)
                } else {
                    value
                }
            };
            let is_computed = domain == Domain::Float && self.dst == Dtype::F32;
            if let Some(sink) = direct(row, dst) {
                let sink = row::Sink { is_computed, ..sink };
                return row::emit(emitter, row.n, sources, sink, &mut encoded);
            }
            let at = emitter.scratch();
            let sink = row::Sink {
                is_computed,
                ..slack(at)
            };
            row::emit(emitter, row.n, sources, sink, &mut encoded);
            return scatter(emitter, row, self.dst.size(), at);
        }
        let words = emitter.scratch();
        row::emit(emitter, row.n, sources, slack(words), compute);
        self.store(emitter, row, words);
    }

    /// Casts a scratch row of results to dst's dtype and writes it.
    pub(super) fn store(&self, emitter: &mut Emitter, row: &Row, words: Value) {
        let size = self.dst.size();
        let helper = match self.body.result_domain(self.dst) {
            Domain::Float => Helper::Store(self.dst),
            Domain::Raw => Helper::Narrow(size),
        };
        let is_contiguous = contiguous(row.loops, 0, size).1 == row.n;
        let to = if is_contiguous {
            row.moving[0]
        } else {
            emitter.scratch()
        };
        let n = emitter.number(row.n.into());
        match &row.extras.random {
            Some(it) => {
                let index = row.moving[it.index];
                emitter.call(Helper::StoreRandom(self.dst), &[to, words, n, it.key, index])
            }
            None => emitter.call(helper, &[to, words, n]),
        };
        if !is_contiguous {
            scatter(emitter, row, size, to);
        }
    }
}

/// A scratch row as the sink of a loop.
pub fn slack(at: Value) -> row::Sink {
    row::Sink {
        at,
        stride: 4,
        has_slack: true,
        is_computed: false,
    }
}

/// The 32-bit elements of dst, if one loop reaches them.
fn direct(row: &Row, at: Value) -> Option<row::Sink> {
    let stride = match row.loops {
        [] => 4,
        [it] => it.strides[0],
        _ if contiguous(row.loops, 0, 4).1 == row.n => 4,
        _ => return None,
    };
    Some(row::Sink {
        at,
        stride,
        has_slack: false,
        is_computed: false,
    })
}

/// The address of the contiguous elements of an operand: its own, or a scratch row that they are copied to.
pub(super) fn gathered(emitter: &mut Emitter, row: &Row, operand: usize, size: u32) -> Value {
    let at = row.moving[operand];
    if contiguous(row.loops, operand, size).1 == row.n {
        return at;
    }
    let to = emitter.scratch();
    copy::copy(emitter, size, &copy::linear(row.loops, operand, size, 0), to, at);
    to
}

/// Moves a contiguous row to the elements of dst.
pub(super) fn scatter(emitter: &mut Emitter, row: &Row, size: u32, from: Value) {
    copy::copy(
        emitter,
        size,
        &copy::linear(row.loops, 0, size, 1),
        row.moving[0],
        from,
    );
}

/// The integers of a pattern; those of several loops are written to a scratch row first.
fn pattern(emitter: &mut Emitter, row: &Row, operand: usize) -> row::Source {
    let Some((last, outer)) = row.loops.split_last() else {
        return ramp(emitter, row.moving[operand], 0);
    };
    let step = last.strides[operand];
    if outer.is_empty() {
        return ramp(emitter, row.moving[operand], step);
    }
    let to = emitter.scratch();
    let loops = copy::linear(row.loops, operand, 4, 0);
    let (_, outer) = loops.split_last().expect("the row has several loops");
    emitter.nest(outer, &[0, 1], &[to, row.moving[operand]], &mut |emitter, at| {
        let values = ramp(emitter, at[1], step);
        let sink = row::Sink {
            at: at[0],
            stride: 4,
            has_slack: false,
            is_computed: false,
        };
        row::emit(emitter, last.count, &[values], sink, &mut |_, values| values[0]);
    });
    row::Source::Memory { at: to, stride: 4 }
}

/// Integers that grow by `step`, wrapping in 32 bits.
fn ramp(emitter: &mut Emitter, start: Value, step: i64) -> row::Source {
    let start = emitter.b.ins().ireduce(I32, start);
    let start = emitter.b.ins().splat(I32X4, start);
    let step = step as u32;
    let bytes: Vec<u8> = (0..4u32)
        .flat_map(|idx| step.wrapping_mul(idx).to_le_bytes())
        .collect();
    let constant = emitter.b.func.dfg.constants.insert(bytes.into());
    let lanes = emitter.b.ins().vconst(I32X4, constant);
    row::Source::Ramp {
        start: emitter.b.ins().iadd(start, lanes),
        step,
    }
}

/// One element as f32.
pub fn load_f32(emitter: &mut Emitter, dtype: Dtype, at: Value) -> Value {
    match dtype {
        Dtype::F32 => emitter.b.ins().load(F32, flags(), at, 0),
        Dtype::I32 => {
            let word = emitter.b.ins().load(I32, flags(), at, 0);
            emitter.b.ins().fcvt_from_sint(F32, word)
        }
        Dtype::U32 => {
            let word = emitter.b.ins().load(I32, flags(), at, 0);
            let word = emitter.b.ins().uextend(I64, word);
            emitter.b.ins().fcvt_from_sint(F32, word)
        }
        _ => {
            let to = emitter.scratch();
            let one = emitter.number(1);
            emitter.call(Helper::Load(dtype), &[to, at, one]);
            emitter.b.ins().load(F32, flags(), to, 0)
        }
    }
}
