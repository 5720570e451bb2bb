//! Rows of the Scalar engine: a function's row kernel, and sums into the engine's accumulator.

use super::super::emit::{Emitter, flags};
use super::super::helper::Helper;
use super::super::nest::{Loop, contiguous};
use super::operand::{gathered, scatter};
use super::{Body, Map, Register, Row, Source};
use crate::reference::rounding::FIRST_SUM;
use cranelift::prelude::Value;
use cranelift::prelude::types::I32;
use cranelift::prelude::*;
use nk_compiler::dtype::Dtype;
use nk_compiler::isa::{ActFn, Range};

/// The accumulator of an instruction while its code is made.
pub struct Registers {
    facts: Register,
    /// The register of the first partition, and the result column.
    first: Value,
    result: Option<Value>,
    /// A scratch row for the sixteen lanes of a sum.
    lanes: Value,
    /// The operand that counts elements.
    index: usize,
    /// The key of random rounding of the result.
    key: Option<Value>,
}

/// Makes an operand of a nest count elements.
pub fn add_index(loops: &mut [Loop], operand: usize) {
    let mut count = 1;
    for it in loops.iter_mut().rev() {
        it.strides[operand] = count;
        count *= i64::from(it.count);
    }
}

impl Registers {
    /// The accumulator of a class, if it touches it; its arguments start at `arg`.
    pub fn new(map: &Map, emitter: &mut Emitter, arg: usize) -> Option<Registers> {
        let Body::Function { register, .. } = &map.body else {
            return None;
        };
        let facts = (*register)?;
        Some(Registers {
            facts,
            first: emitter.operand(arg),
            result: facts.result.map(|_| emitter.operand(arg + 1)),
            lanes: emitter.scratch(),
            index: map.operand(map.sources.len()),
            key: facts.is_random.then(|| emitter.word(map.key_arg())),
        })
    }

    pub fn begin(&self, emitter: &mut Emitter) {
        if self.facts.adds {
            emitter.call(Helper::ClearLanes, &[self.lanes]);
        }
    }

    /// Adds a piece of a partition's results.
    fn add(&self, emitter: &mut Emitter, row: &Row, results: Value) {
        if self.facts.adds {
            let n = emitter.number(row.n.into());
            emitter.call(Helper::Sum, &[self.lanes, results, n, row.moving[self.index]]);
        }
    }

    pub fn end(&self, emitter: &mut Emitter, p: Value) {
        let register = emitter.advance(self.first, p, 4);
        if self.facts.resets {
            let zero = emitter.b.ins().iconst(I32, 0);
            emitter.b.ins().store(flags(), zero, register, 0);
        }
        if self.facts.adds {
            emitter.call(Helper::AddLanes, &[register, self.lanes]);
        }
        if let (Some(at), Some((dtype, pitch))) = (self.result, self.facts.result) {
            let at = emitter.advance(at, p, pitch);
            let one = emitter.number(1);
            match self.key {
                Some(key) => {
                    let index = emitter.b.ins().iadd_imm_s(p, FIRST_SUM as i64);
                    emitter.call(Helper::StoreRandom(dtype), &[at, register, one, key, index])
                }
                None => emitter.call(Helper::Store(dtype), &[at, register, one]),
            };
        }
    }
}

impl Map {
    /// The address of the counter of inputs outside of the function's range, which is the next argument.
    pub(super) fn counter(&self, emitter: &mut Emitter, arg: &mut usize) -> Option<Value> {
        let Body::Function { function, .. } = &self.body else {
            return None;
        };
        if function.facts().valid == Range::ALL {
            return None;
        }
        *arg += 1;
        Some(emitter.operand(*arg - 1))
    }

    /// A row of a function's results. Source 0 is the data, 1 the scale and 2 the bias.
    pub(super) fn function_row(&self, emitter: &mut Emitter, function: ActFn, row: &Row) {
        let Source::Tile { dtype, .. } = self.sources[0] else {
            panic!("the data of a function is a tile")
        };
        let n = emitter.number(row.n.into());
        let mut data = gathered(emitter, row, 1, dtype.size());
        if dtype != Dtype::F32 {
            let values = emitter.scratch();
            emitter.call(Helper::Load(dtype), &[values, data, n]);
            data = values;
        }
        let is_direct = self.dst == Dtype::F32 && contiguous(row.loops, 0, 4).1 == row.n;
        let results = if is_direct {
            row.moving[0]
        } else {
            emitter.scratch()
        };
        let fixed = |idx: usize| row.fixed[idx].expect("scale and bias are columns or immediates");
        if let Some(counter) = row.extras.counter {
            emitter.call(Helper::Outside(function), &[counter, data, n, fixed(1), fixed(2)]);
        }
        emitter.call(
            Helper::Function(function),
            &[results, data, n, fixed(1), fixed(2)],
        );
        let registers = row.extras.registers.iter();
        registers.for_each(|it| it.add(emitter, row, results));
        match self.dst {
            _ if is_direct => {}
            Dtype::F32 => scatter(emitter, row, 4, results),
            _ => self.store(emitter, row, results),
        }
    }
}
