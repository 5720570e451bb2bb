//! Reductions along the trailing free axes.
//!
//! Takes the shape class of a `tensor_reduce`, gives its code: blocks of rows go to a row kernel that reduces each, then
//! the results of a partition are cast and written together.

use super::alu;
use super::copy;
use super::emit::Emitter;
use super::helper::Helper;
use super::nest::{Loop, contiguous};
use super::row;
use crate::reference::alu::{mask, width};
use crate::reference::is_bits;
use cranelift::prelude::types::F32X4;
use cranelift::prelude::*;
use nk_compiler::dtype::Dtype;
use nk_compiler::isa::AluOp;

/// Elements that are reduced by one call when they do not lie contiguously as f32.
const BLOCK: u64 = 1024;

/// The shape class of a reduction. Arguments: the offsets of dst and of data; the key of random rounding, if there is any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reduce {
    pub op: AluOp,
    pub negate: bool,
    pub partitions: u32,
    pub dst: Dtype,
    pub dst_pitch: i64,
    pub data: Dtype,
    pub data_pitch: i64,
    /// The axes of dst, as operand 0.
    pub results: Vec<Loop>,
    /// The axes of data that are kept and those that are reduced, as operand 1.
    pub kept: Vec<Loop>,
    pub reduced: Vec<Loop>,
    /// Results are rounded at random to dst's dtype.
    pub is_random: bool,
}

impl Reduce {
    pub fn emit(&self, emitter: &mut Emitter) {
        let (dst, data) = (emitter.operand(0), emitter.operand(1));
        let sums = emitter.scratch();
        let key = self.is_random.then(|| emitter.word(2));
        let count = |loops: &[Loop]| loops.iter().map(|it| it.count).product::<u32>();
        let n = count(&self.reduced);
        // As many results as a block has room for are made by one call.
        let all = [&self.kept[..], &self.reduced[..]].concat();
        let is_direct = self.data == Dtype::F32 || self.is_bits() && self.data.size() == 4;
        let free = is_direct && contiguous(&all, 1, 4).1 == count(&all);
        let mut elements = u64::from(n);
        let inner = self.kept.iter().rev().take_while(|it| {
            elements *= u64::from(it.count);
            free || elements <= BLOCK
        });
        let at = self.kept.len() - inner.count();
        let rows = count(&self.kept[at..]);
        let outer = indexed(&self.kept[..at], i64::from(rows) * 4);
        let block = [&self.kept[at..], &self.reduced[..]].concat();
        emitter.repeat(i64::from(self.partitions), 1, |emitter, p| {
            let (dst, data) = (
                emitter.advance(dst, p, self.dst_pitch),
                emitter.advance(data, p, self.data_pitch),
            );
            emitter.nest(&outer, &[0, 1], &[sums, data], &mut |emitter, at| {
                let mark = emitter.scratch_mark();
                let from = self.words(emitter, &block, at[1]);
                let (rows, n) = (emitter.number(rows.into()), emitter.number(n.into()));
                emitter.call(Helper::Reduce(self.op), &[at[0], from, rows, n]);
                emitter.scratch_release(mark);
            });
            let mark = emitter.scratch_mark();
            let random = key.map(|key| {
                let n_results = self.results.iter().map(|it| i64::from(it.count)).product::<i64>();
                let zero = emitter.number(0);
                (key, emitter.advance(zero, p, n_results))
            });
            self.store(emitter, sums, dst, random);
            emitter.scratch_release(mark);
        });
    }

    fn is_bits(&self) -> bool {
        is_bits(self.op)
    }

    /// The elements of a block as contiguous f32 values or words.
    fn words(&self, emitter: &mut Emitter, block: &[Loop], at: Value) -> Value {
        let size = self.data.size();
        let count: u32 = block.iter().map(|it| it.count).product();
        let mut from = at;
        if contiguous(block, 1, size).1 != count {
            from = emitter.scratch();
            copy::copy(emitter, size, &copy::linear(block, 1, size, 0), from, at);
        }
        let helper = match self.data {
            _ if self.is_bits() && size < 4 => Helper::Widen(size),
            _ if self.is_bits() => return from,
            Dtype::F32 => return from,
            dtype => Helper::Load(dtype),
        };
        let to = emitter.scratch();
        let n = emitter.number(count.into());
        emitter.call(helper, &[to, from, n]);
        to
    }

    /// Casts the results of a partition and writes them; `random` is the key of random rounding and the number of the first
    /// result.
    fn store(&self, emitter: &mut Emitter, sums: Value, dst: Value, random: Option<(Value, Value)>) {
        let count: u32 = self.results.iter().map(|it| it.count).product();
        let source = row::Source::Memory { at: sums, stride: 4 };
        let is_bits = self.is_bits();
        let (negate, to, is_wide) = (
            self.negate && !is_bits,
            self.dst,
            self.dst.size() == 4 && random.is_none(),
        );
        let scratch_sink = row::Sink {
            at: sums,
            stride: 4,
            has_slack: true,
            is_computed: to == Dtype::F32 && !is_bits,
        };
        let kept_bits = mask(width(self.data).min(width(to)));
        if negate || is_bits || is_wide {
            row::emit(emitter, count, &[source], scratch_sink, &mut |emitter, values| {
                if is_bits {
                    return alu::keep(emitter, values[0], kept_bits);
                }
                let value = emitter.cast(F32X4, values[0]);
                let value = if negate {
                    emitter.b.ins().fneg(value)
                } else {
                    value
                };
                if is_wide {
                    alu::encode(emitter, to, value)
                } else {
                    value
                }
            });
        }
        let size = to.size();
        let mut from = sums;
        if !is_wide {
            from = emitter.scratch();
            let helper = if is_bits {
                Helper::Narrow(size)
            } else {
                Helper::Store(to)
            };
            let n = emitter.number(count.into());
            match random {
                Some((key, index)) => emitter.call(Helper::StoreRandom(to), &[from, sums, n, key, index]),
                None => emitter.call(helper, &[from, sums, n]),
            };
        }
        copy::copy(emitter, size, &copy::linear(&self.results, 0, size, 1), dst, from);
    }
}

/// Loops over the kept axes in which operand 0 walks along a row of results.
fn indexed(loops: &[Loop], bytes: i64) -> Vec<Loop> {
    let mut stride = bytes;
    let mut result: Vec<Loop> = loops
        .iter()
        .rev()
        .map(|it| {
            let mut strides = it.strides;
            strides[0] = stride;
            stride *= i64::from(it.count);
            Loop {
                count: it.count,
                strides,
            }
        })
        .collect();
    result.reverse();
    result
}
