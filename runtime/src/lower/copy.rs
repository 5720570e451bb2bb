//! Moves of raw elements: copies, gathers into scratch rows, scatters out of them, and fills.
//!
//! Takes loops over elements of one to four bytes, gives code that moves or writes them. Never interprets a value.

use super::emit::{Emitter, VECTOR, flags};
use super::nest::{Loop, MAX_OPERANDS};
use cranelift::prelude::types::{I8, I8X16, I16, I32, I32X4, I64};
use cranelift::prelude::*;

/// A copy of elements: operand 0 is the destination, operand 1 the source.
///
/// Arguments: the offsets of both.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Copy {
    pub size: u32,
    pub loops: Vec<Loop>,
}

/// A constant written to every element of operand 0.
///
/// Arguments: the offset, and the element's bits repeated over 32 bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fill {
    pub size: u32,
    pub loops: Vec<Loop>,
}

impl Copy {
    pub fn emit(&self, emitter: &mut Emitter) {
        let (dst, src) = (emitter.operand(0), emitter.operand(1));
        copy(emitter, self.size, &self.loops, dst, src);
    }
}

impl Fill {
    pub fn emit(&self, emitter: &mut Emitter) {
        let dst = emitter.operand(0);
        let word = emitter.scalar(1, I32);
        let vector = emitter.b.ins().splat(I32X4, word);
        let size = self.size;
        let (outer, run) = split_run(&self.loops, size, &[0]);
        emitter.nest(outer, &[0], &[dst], &mut |emitter, at| match run {
            Run::Bytes(bytes) if bytes >= VECTOR => {
                let b = &mut emitter.b;
                if bytes % VECTOR != 0 {
                    b.ins().store(flags(), vector, at[0], (bytes - VECTOR) as i32);
                }
                emitter.repeat(bytes - bytes % VECTOR, VECTOR, |emitter, idx| {
                    let to = emitter.b.ins().iadd(at[0], idx);
                    emitter.b.ins().store(flags(), vector, to, 0);
                });
            }
            Run::Bytes(bytes) => {
                for idx in 0..bytes / i64::from(size) {
                    store_element(emitter, size, word, at[0], idx as i32 * size as i32);
                }
            }
            Run::Element => store_element(emitter, size, word, at[0], 0),
        });
    }
}

/// What the innermost iteration handles.
#[derive(Clone, Copy)]
enum Run {
    Element,
    /// A contiguous run of all operands.
    Bytes(i64),
}

/// Takes the innermost loop off a nest when every operand is contiguous in it.
fn split_run<'a>(loops: &'a [Loop], size: u32, operands: &[usize]) -> (&'a [Loop], Run) {
    match loops.split_last() {
        Some((last, outer)) if operands.iter().all(|&it| last.strides[it] == i64::from(size)) => {
            (outer, Run::Bytes(i64::from(last.count) * i64::from(size)))
        }
        _ => (loops, Run::Element),
    }
}

/// Copies the elements of a nest from operand 1 to operand 0.
pub fn copy(emitter: &mut Emitter, size: u32, loops: &[Loop], dst: Value, src: Value) {
    let (outer, run) = split_run(loops, size, &[0, 1]);
    match run {
        Run::Bytes(bytes) => {
            emitter.nest(outer, &[0, 1], &[dst, src], &mut |emitter, at| {
                copy_run(emitter, bytes, at[0], at[1])
            });
        }
        Run::Element => {
            let Some((last, outer)) = loops.split_last() else {
                return copy_run(emitter, i64::from(size), dst, src);
            };
            emitter.nest(outer, &[0, 1], &[dst, src], &mut |emitter, at| {
                copy_strided(emitter, size, last, at[0], at[1]);
            });
        }
    }
}

/// Copies the elements of one loop, four an iteration.
fn copy_strided(emitter: &mut Emitter, size: u32, it: &Loop, dst: Value, src: Value) {
    let [to, from, ..] = it.strides;
    let whole = it.count - it.count % 4;
    let group = |emitter: &mut Emitter, n: u32, dst: Value, src: Value| {
        let mut values = Vec::new();
        for idx in 0..i64::from(n) {
            let (at, offset) = emitter.displace(src, from * idx);
            values.push(load_element(emitter, size, at, offset));
        }
        for (idx, value) in values.into_iter().enumerate() {
            let (at, offset) = emitter.displace(dst, to * idx as i64);
            store_element(emitter, size, value, at, offset);
        }
    };
    if whole > 0 {
        emitter.repeat(i64::from(whole / 4), 1, |emitter, idx| {
            let (dst, src) = (
                emitter.advance(dst, idx, to * 4),
                emitter.advance(src, idx, from * 4),
            );
            group(emitter, 4, dst, src);
        });
    }
    if whole < it.count {
        let idx = emitter.number(i64::from(whole));
        let (dst, src) = (emitter.advance(dst, idx, to), emitter.advance(src, idx, from));
        group(emitter, it.count - whole, dst, src);
    }
}

/// Copies contiguous bytes. The last piece is read before anything is written and may overlap the others, so there is no
/// loop over single bytes.
fn copy_run(emitter: &mut Emitter, bytes: i64, dst: Value, src: Value) {
    let (kind, piece) = match bytes {
        16.. => (I8X16, VECTOR),
        8.. => (I64, 8),
        4.. => (I32, 4),
        2.. => (I16, 2),
        _ => (I8, 1),
    };
    let rest = (bytes - piece) as i32;
    let tail = (bytes % piece != 0).then(|| emitter.b.ins().load(kind, flags(), src, rest));
    emitter.repeat(bytes - bytes % piece, piece, |emitter, idx| {
        let (to, from) = (emitter.b.ins().iadd(dst, idx), emitter.b.ins().iadd(src, idx));
        let value = emitter.b.ins().load(kind, flags(), from, 0);
        emitter.b.ins().store(flags(), value, to, 0);
    });
    if let Some(value) = tail {
        emitter.b.ins().store(flags(), value, dst, rest);
    }
}

/// Reads an element as a zero-extended word.
pub fn load_element(emitter: &mut Emitter, size: u32, at: Value, offset: i32) -> Value {
    let ins = emitter.b.ins();
    match size {
        1 => ins.uload8(I32, flags(), at, offset),
        2 => ins.uload16(I32, flags(), at, offset),
        _ => ins.load(I32, flags(), at, offset),
    }
}

/// Writes the low bytes of a word.
pub fn store_element(emitter: &mut Emitter, size: u32, word: Value, at: Value, offset: i32) {
    let ins = emitter.b.ins();
    match size {
        1 => ins.istore8(flags(), word, at, offset),
        2 => ins.istore16(flags(), word, at, offset),
        _ => ins.store(flags(), word, at, offset),
    };
}

/// The loops that move an operand of a nest to or from a contiguous row: the row becomes operand `row` of the result, 0 or
/// 1, and the nest's operand the other.
pub fn linear(loops: &[Loop], operand: usize, size: u32, row: usize) -> Vec<Loop> {
    let mut stride = i64::from(size);
    let mut result: Vec<Loop> = loops
        .iter()
        .rev()
        .map(|it| {
            let mut strides = [0; MAX_OPERANDS];
            strides[row] = stride;
            strides[1 - row] = it.strides[operand];
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
