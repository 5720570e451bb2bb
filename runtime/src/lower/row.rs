//! One row of an element-wise instruction: a loop over vectors of four 32-bit elements.
//!
//! Takes where each operand's elements are, gives code that computes and writes them. Knows no instruction.

use super::alu;
use super::emit::{Emitter, LANES, VECTOR, flags};
use cranelift::prelude::types::{F32, F32X4, I32, I32X4};
use cranelift::prelude::*;

/// Where the elements of one operand of a row come from.
#[derive(Clone, Copy)]
pub enum Source {
    /// In memory, `stride` bytes apart.
    Memory { at: Value, stride: i64 },
    /// The same vector everywhere.
    Vector(Value),
    /// The integers `start`, `start + step`, …, `start` being a vector of the first four.
    Ramp { start: Value, step: u32 },
}

/// Where the results of a row go.
#[derive(Clone, Copy)]
pub struct Sink {
    pub at: Value,
    pub stride: i64,
    /// The elements from the count up to the next multiple of four may be overwritten.
    pub has_slack: bool,
    /// The results are computed f32 values, whose NaNs must become canonical.
    pub is_computed: bool,
}

/// Four elements of a row, or fewer at the end of a short one.
#[derive(Clone, Copy)]
struct Group {
    /// Index of the first element of this iteration times four, when there is a loop.
    at: Option<Value>,
    /// Elements behind it.
    offset: i64,
    lanes: u32,
}

/// Computes `n` elements. `compute` turns one vector per source into the vector of results.
///
/// Every source of an element is read before that element is written, so the sink may be one of the sources exactly.
pub fn emit(
    emitter: &mut Emitter,
    n: u32,
    sources: &[Source],
    sink: Sink,
    compute: &mut dyn FnMut(&mut Emitter, &[Value]) -> Value,
) {
    // Whoever reads past the end of a row stays in the slack behind it only if the elements are contiguous.
    let reads_ahead = sources
        .iter()
        .all(|it| !matches!(it, Source::Memory { stride, .. } if *stride != 4));
    let n = if sink.has_slack && reads_ahead {
        n.next_multiple_of(LANES)
    } else {
        n
    };
    let mut group = |emitter: &mut Emitter, group: Group| {
        let values: Vec<Value> = sources.iter().map(|it| load(emitter, it, group)).collect();
        compute(emitter, &values)
    };
    if n < LANES {
        let all = Group {
            at: None,
            offset: 0,
            lanes: n,
        };
        let value = group(emitter, all);
        return finish(emitter, sink, all, value);
    }
    // The last vector overlaps the one before it. It is computed first, from elements that nothing has overwritten.
    let last = Group {
        at: None,
        offset: i64::from(n - LANES),
        lanes: LANES,
    };
    let tail = (n % LANES != 0).then(|| group(emitter, last));
    let whole = i64::from(n - n % LANES) * 4;
    if whole % LINE == 0 {
        lines(emitter, whole, sink, &mut group);
    } else {
        emitter.repeat(whole, VECTOR, |emitter, at| {
            let here = Group {
                at: Some(at),
                offset: 0,
                lanes: LANES,
            };
            let value = group(emitter, here);
            finish(emitter, sink, here, value);
        });
    }
    if let Some(value) = tail {
        finish(emitter, sink, last, value);
    }
}

/// Bytes of the elements of one iteration of a long row.
const LINE: i64 = 2 * VECTOR;

/// The loop of a row of whole lines.
///
/// NaNs of a contiguous row are only looked for, which takes one operation a vector; a row that has any is gone over again.
fn lines(emitter: &mut Emitter, bytes: i64, sink: Sink, group: &mut dyn FnMut(&mut Emitter, Group) -> Value) {
    let is_checked = sink.is_computed && sink.stride == 4;
    let clean = emitter.integer(0);
    let found = emitter.accumulate(bytes, LINE, clean, |emitter, at, found| {
        let mut values = Vec::new();
        for idx in 0..LINE / VECTOR {
            let here = Group {
                at: Some(at),
                offset: idx * i64::from(LANES),
                lanes: LANES,
            };
            let value = group(emitter, here);
            if is_checked {
                store(emitter, sink, here, value);
            } else {
                finish(emitter, sink, here, value);
            }
            values.push(value);
        }
        if !is_checked {
            return found;
        }
        values.chunks(2).fold(found, |found, it| {
            let is_nan = emitter.b.ins().fcmp(FloatCC::Unordered, it[0], it[1]);
            emitter.b.ins().bor(found, is_nan)
        })
    });
    if is_checked {
        let any = emitter.b.ins().vany_true(found);
        emitter.rarely(any, |emitter| {
            emitter.repeat(bytes, VECTOR, |emitter, idx| {
                let at = emitter.b.ins().iadd(sink.at, idx);
                let value = emitter.b.ins().load(F32X4, flags(), at, 0);
                let value = alu::canonical(emitter, value);
                emitter.b.ins().store(flags(), value, at, 0);
            });
        });
    }
}

/// Writes a group's results as they must be.
fn finish(emitter: &mut Emitter, sink: Sink, group: Group, value: Value) {
    let value = if sink.is_computed {
        alu::canonical(emitter, value)
    } else {
        value
    };
    store(emitter, sink, group, value);
}

/// The address of a group's first element and the distance to add, for elements `stride` bytes apart.
fn locate(emitter: &mut Emitter, at: Value, stride: i64, group: Group) -> (Value, i64) {
    let address = match group.at {
        // The index counts elements times four, which is bytes when they are contiguous.
        Some(idx) if stride == 4 => emitter.b.ins().iadd(at, idx),
        Some(idx) => emitter.advance(at, idx, stride / 4),
        None => at,
    };
    (address, group.offset * stride)
}

fn load(emitter: &mut Emitter, source: &Source, group: Group) -> Value {
    match *source {
        Source::Vector(value) => value,
        Source::Ramp { start, step } => ramp(emitter, start, step, group),
        Source::Memory { at, stride } => {
            let (at, distance) = locate(emitter, at, stride, group);
            if stride == 4 && group.lanes == LANES {
                let (at, offset) = emitter.displace(at, distance);
                return emitter.b.ins().load(I32X4, flags(), at, offset);
            }
            if stride == 0 {
                let word = emitter.b.ins().load(I32, flags(), at, 0);
                return emitter.b.ins().splat(I32X4, word);
            }
            let mut vector = None;
            for idx in 0..group.lanes {
                let (at, offset) = emitter.displace(at, distance + i64::from(idx) * stride);
                vector = Some(match vector {
                    // The first element of a vector register is also a scalar register of its own.
                    None => {
                        let word = emitter.b.ins().load(F32, flags(), at, offset);
                        let first = emitter.b.ins().scalar_to_vector(F32X4, word);
                        emitter.cast(I32X4, first)
                    }
                    Some(vector) => {
                        let word = emitter.b.ins().load(I32, flags(), at, offset);
                        emitter.b.ins().insertlane(vector, word, idx as u8)
                    }
                });
            }
            vector.expect("a group has a lane")
        }
    }
}

fn ramp(emitter: &mut Emitter, start: Value, step: u32, group: Group) -> Value {
    let mut value = start;
    if group.offset != 0 {
        let distance = emitter.integer(step.wrapping_mul(group.offset as u32));
        value = emitter.b.ins().iadd(value, distance);
    }
    if let Some(at) = group.at {
        let b = &mut emitter.b;
        let idx = b.ins().ushr_imm_u(at, 2);
        let idx = b.ins().ireduce(I32, idx);
        let distance = b.ins().imul_imm_s(idx, i64::from(step as i32));
        let distance = b.ins().splat(I32X4, distance);
        value = b.ins().iadd(value, distance);
    }
    value
}

fn store(emitter: &mut Emitter, sink: Sink, group: Group, value: Value) {
    let (at, distance) = locate(emitter, sink.at, sink.stride, group);
    if sink.stride == 4 && group.lanes == LANES {
        let (at, offset) = emitter.displace(at, distance);
        emitter.b.ins().store(flags(), value, at, offset);
        return;
    }
    for idx in 0..group.lanes {
        let (at, offset) = emitter.displace(at, distance + i64::from(idx) * sink.stride);
        let (ty, lane) = match idx {
            0 => (F32X4, 0),
            _ => (I32X4, idx as u8),
        };
        let lanes = emitter.cast(ty, value);
        let word = emitter.b.ins().extractlane(lanes, lane);
        emitter.b.ins().store(flags(), word, at, offset);
    }
}
