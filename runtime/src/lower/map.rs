//! Element-wise instructions: each element of dst is computed from one element of every source.
//!
//! Takes the shape class of such an instruction, gives its code: loops over partitions and free axes around rows. A class
//! whose operands all have 32-bit elements computes in registers, straight from and to the operands. The others go
//! through scratch rows, which row kernels fill and empty.

mod compute;
mod function;
mod operand;

use super::emit::Emitter;
use super::nest::Loop;
use cranelift::prelude::{InstBuilder, Value};
use nk_compiler::dtype::Dtype;
use nk_compiler::isa::{ActFn, AluOp, Range};

/// Elements that go through scratch rows at once: few enough that several rows stay in the first-level cache.
const CHUNK: u32 = 512;

/// The shape class of an element-wise instruction.
///
/// Arguments: dst's offset; of every source its offset (a tile or column), its bits (a scalar) or its offset and partition
/// multiplier (a pattern); then what [`Body::Function`] says; last the key of random rounding, if there is any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Map {
    pub partitions: u32,
    /// The free axes. Operand 0 is dst, the others are the tiles and patterns among the sources, in their order.
    pub loops: Vec<Loop>,
    pub dst: Dtype,
    pub dst_pitch: i64,
    pub sources: Vec<Source>,
    pub body: Body,
    /// Results are rounded at random to dst's dtype.
    pub is_random: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    Tile {
        dtype: Dtype,
        pitch: i64,
    },
    /// An affine function of the indices; its strides are the steps.
    Pattern,
    /// One element per partition.
    Column {
        dtype: Dtype,
        pitch: i64,
    },
    /// An immediate: the bits of an f32, or raw.
    Scalar,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    /// dst = source 0.
    Cast,
    /// dst = source 0 after the steps, in f32.
    Arithmetic(Vec<Step>),
    /// The same on raw integers of some width.
    Bits { steps: Vec<Step>, width: u32 },
    /// dst = source 0 op source 1 on GpSimd's integer ALU.
    Integer(AluOp),
    /// dst = source 0, a pattern.
    Iota,
    /// dst = source 1 where the pattern in source 0 compares true with 0, else source 2.
    Select { cmp: AluOp, raw: bool },
    /// dst = source 1 where source 0 is not zero (or is zero, reversed), else source 2, which is dst.
    Predicated { reverse: bool },
    /// dst = source 1 where source 0 is not zero (or is zero, reversed), else source 2, all in f32.
    Choose { reverse: bool },
    /// dst = f(source 0 * source 1 + source 2).
    ///
    /// If the function has a bounded range, the next argument is the offset of the counter of inputs outside of it. With a
    /// register, the next argument is the offset of the first partition's; with a result, the one after that is
    /// the result's offset.
    Function {
        function: ActFn,
        register: Option<Register>,
    },
}

/// One operator; unary ones have no source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    pub op: AluOp,
    pub source: Option<usize>,
    pub reverse: bool,
}

/// What happens to the accumulator of the Scalar engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    pub resets: bool,
    pub adds: bool,
    /// The result is rounded at random.
    pub is_random: bool,
    /// The dtype of the result column and the distance between two partitions.
    pub result: Option<(Dtype, i64)>,
}

/// How elements are seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Domain {
    /// Converted to f32.
    Float,
    /// Zero-extended to words.
    Raw,
}

impl Body {
    fn domain(&self) -> Domain {
        match self {
            Body::Cast
            | Body::Arithmetic(_)
            | Body::Function { .. }
            | Body::Choose { .. }
            | Body::Select { raw: false, .. } => Domain::Float,
            Body::Bits { .. }
            | Body::Integer(_)
            | Body::Iota
            | Body::Select { raw: true, .. }
            | Body::Predicated { .. } => Domain::Raw,
        }
    }

    /// Whether results are f32 that a cast turns into dst's dtype.
    fn result_domain(&self, dst: Dtype) -> Domain {
        match self {
            // The integer ALU's words are 32-bit integers; for every other dtype they are converted.
            Body::Integer(_) | Body::Iota if !matches!(dst, Dtype::I32 | Dtype::U32) => Domain::Float,
            _ => self.domain(),
        }
    }

    /// Whether results are computed in f32 and rounded to dst's dtype.
    pub fn rounds(&self) -> bool {
        matches!(
            self,
            Body::Cast
                | Body::Arithmetic(_)
                | Body::Function { .. }
                | Body::Choose { .. }
                | Body::Select { raw: false, .. }
        )
    }

    pub fn has_random_result(&self) -> bool {
        matches!(self, Body::Function { register: Some(it), .. } if it.is_random)
    }

    fn has_row_kernel(&self) -> bool {
        match self {
            Body::Function { .. } => true,
            Body::Arithmetic(steps) => steps.iter().any(|it| super::alu::has_row_kernel(it.op)),
            _ => false,
        }
    }
}

/// Whether elements are loaded into and stored from vectors of 32-bit lanes without a row kernel.
fn is_wide(dtype: Dtype, domain: Domain) -> bool {
    match domain {
        Domain::Float => super::alu::converts_inline(dtype),
        Domain::Raw => dtype.size() == 4,
    }
}

/// The operands of one row: the elements of the innermost loops.
struct Row<'a> {
    loops: &'a [Loop],
    /// Elements.
    n: u32,
    /// Per operand: the address of its first element, or the first value of a pattern.
    moving: &'a [Value],
    /// Per source: the vector or scalar that a column or immediate repeats.
    fixed: &'a [Option<Value>],
    extras: &'a Extras,
}

/// What a class does beside computing elements.
struct Extras {
    /// The address of the counter of inputs outside of a function's range.
    counter: Option<Value>,
    random: Option<Random>,
    registers: Option<function::Registers>,
}

/// Random rounding of results.
struct Random {
    key: Value,
    /// The operand that counts elements.
    index: usize,
}

impl Map {
    pub fn emit(&self, emitter: &mut Emitter) {
        let mut moving = vec![emitter.operand(0)];
        let mut pitches = vec![self.dst_pitch];
        let mut multipliers = Vec::new();
        let mut columns = Vec::new();
        let mut arg = 1;
        for source in &self.sources {
            let mut fixed = None;
            match source {
                Source::Tile { pitch, .. } => {
                    moving.push(emitter.operand(arg));
                    pitches.push(*pitch);
                }
                Source::Pattern => {
                    moving.push(emitter.word(arg));
                    pitches.push(0);
                    arg += 1;
                    multipliers.push((moving.len() - 1, emitter.word(arg)));
                }
                Source::Column { .. } => fixed = Some(emitter.operand(arg)),
                Source::Scalar => fixed = Some(self.immediate(emitter, arg)),
            }
            columns.push(fixed);
            arg += 1;
        }
        let counter = self.counter(emitter, &mut arg);
        let registers = function::Registers::new(self, emitter, arg);
        let mut loops = self.loops.clone();
        if registers.is_some() {
            // One more operand counts elements, as the shape of a sum depends on their indices.
            function::add_index(&mut loops, moving.len());
            moving.push(emitter.number(0));
            pitches.push(0);
        }
        if self.is_random {
            // Here they are counted through all partitions.
            let per_partition = loops.iter().map(|it| i64::from(it.count)).product();
            function::add_index(&mut loops, moving.len());
            moving.push(emitter.number(0));
            pitches.push(per_partition);
        }
        let random = self.is_random.then(|| Random {
            key: emitter.word(self.key_arg()),
            index: moving.len() - 1,
        });
        let extras = Extras {
            counter,
            random,
            registers,
        };
        emitter.repeat(i64::from(self.partitions), 1, |emitter, p| {
            let mut distances = Vec::new();
            let mut moved: Vec<Value> = moving
                .iter()
                .zip(&pitches)
                .map(|(&at, &pitch)| emitter.advance_shared(&mut distances, at, p, pitch))
                .collect();
            for &(operand, multiplier) in &multipliers {
                let distance = emitter.b.ins().imul(p, multiplier);
                moved[operand] = emitter.b.ins().iadd(moved[operand], distance);
            }
            let mut fixed = columns.clone();
            for (source, value) in self.sources.iter().zip(&mut fixed) {
                if let (Source::Column { dtype, pitch }, Some(at)) = (source, *value) {
                    let at = emitter.advance_shared(&mut distances, at, p, *pitch);
                    *value = Some(self.column(emitter, *dtype, at));
                }
            }
            extras.registers.iter().for_each(|it| it.begin(emitter));
            self.partition(emitter, &loops, &moved, &fixed, &extras);
            extras.registers.iter().for_each(|it| it.end(emitter, p));
        });
    }

    /// The code of one partition.
    fn partition(
        &self,
        emitter: &mut Emitter,
        loops: &[Loop],
        moving: &[Value],
        fixed: &[Option<Value>],
        extras: &Extras,
    ) {
        let operands: Vec<usize> = (0..moving.len()).collect();
        let needs_scratch = self.needs_scratch();
        let (outer, inner) = loops.split_at(if needs_scratch {
            first_of_row(loops)
        } else {
            loops.len().max(1) - 1
        });
        let count = inner.iter().map(|it| it.count).product();
        emitter.nest(outer, &operands, moving, &mut |emitter, moving| {
            let row = Row {
                loops: inner,
                n: count,
                moving,
                fixed,
                extras,
            };
            if !needs_scratch {
                return self.inline_row(emitter, &row);
            }
            for_chunks(emitter, &row, &mut |emitter, row| {
                let mark = emitter.scratch_mark();
                match &self.body {
                    Body::Function { function, .. } => self.function_row(emitter, *function, row),
                    _ => self.scratch_row(emitter, row),
                }
                emitter.scratch_release(mark);
            });
        });
    }

    fn needs_scratch(&self) -> bool {
        let domain = self.body.domain();
        let is_narrow = |it: &Source| matches!(it, Source::Tile { dtype, .. } if !is_wide(*dtype, domain));
        self.body.has_row_kernel() || self.sources.iter().any(is_narrow) || !self.writes_wide()
    }

    /// Whether results are written without a row kernel.
    fn writes_wide(&self) -> bool {
        !self.is_random && is_wide(self.dst, self.body.result_domain(self.dst))
    }

    /// The position of the key of random rounding among the arguments.
    fn key_arg(&self) -> usize {
        let pairs = self.sources.iter().filter(|it| matches!(it, Source::Pattern));
        let extras = match &self.body {
            Body::Function { function, register } => {
                let counter = usize::from(function.facts().valid != Range::ALL);
                counter + register.map_or(0, |it| 1 + usize::from(it.result.is_some()))
            }
            _ => 0,
        };
        1 + self.sources.len() + pairs.count() + extras
    }
}

/// The outermost loop of a row that goes through scratch: as many loops as fit in a chunk, at least one.
fn first_of_row(loops: &[Loop]) -> usize {
    let Some((last, outer)) = loops.split_last() else {
        return 0;
    };
    let mut count = last.count;
    let fits = outer.iter().rev().take_while(|it| {
        count = count.saturating_mul(it.count);
        count <= CHUNK
    });
    outer.len() - fits.count()
}

/// Runs `body` for pieces of a long row of one loop; a row of several loops is one piece.
fn for_chunks(emitter: &mut Emitter, row: &Row, body: &mut dyn FnMut(&mut Emitter, &Row)) {
    let [it] = row.loops else {
        return body(emitter, row);
    };
    if it.count <= CHUNK {
        return body(emitter, row);
    }
    let mut piece = |emitter: &mut Emitter, idx: Value, n: u32| {
        let distance = |operand: usize| it.strides[operand] * i64::from(CHUNK);
        let moving: Vec<Value> = row
            .moving
            .iter()
            .enumerate()
            .map(|(k, &at)| emitter.advance(at, idx, distance(k)))
            .collect();
        let loops = [Loop { count: n, ..*it }];
        let row = Row {
            loops: &loops,
            n,
            moving: &moving,
            fixed: row.fixed,
            extras: row.extras,
        };
        body(emitter, &row);
    };
    let whole = it.count / CHUNK;
    emitter.repeat(i64::from(whole), 1, |emitter, idx| piece(emitter, idx, CHUNK));
    if it.count % CHUNK > 0 {
        let idx = emitter.number(i64::from(whole));
        piece(emitter, idx, it.count % CHUNK);
    }
}
