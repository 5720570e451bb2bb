//! Random operands: views of any shape, stride, place and dtype, columns and immediates.
//!
//! Everything is chosen by a list of numbers, so that a failing case shrinks by shrinking the numbers: 0 is the simplest
//! choice everywhere.

use crate::case::Case;
use nk_compiler::dtype::{DTYPES, Dtype};
use nk_compiler::ir::{BufferId, Dim, Pattern};
use nk_compiler::isa::{ALU_OPS, AluClass, AluOp, Arg, Memory};

pub struct Generator<'a> {
    choices: std::slice::Iter<'a, u32>,
    pub case: Case,
    /// The next free byte of each memory's partitions, indexed by `Memory`.
    next_byte: [u32; 3],
    /// The operands do not fit in SBUF, so the case is no test.
    pub is_too_large: bool,
}

pub const COUNTS: &[u32] = &[1, 4, 2, 3, 6, 5, 8, 12, 16, 30, 36, 64, 100, 520, 1100];
pub const PARTITIONS: &[u32] = &[1, 2, 3, 5, 32, 33, 128];
pub const INTS: &[Dtype] = &[
    Dtype::I32,
    Dtype::U32,
    Dtype::I16,
    Dtype::U16,
    Dtype::I8,
    Dtype::U8,
    Dtype::Bool,
];

impl<'a> Generator<'a> {
    pub fn new(choices: &'a [u32]) -> Generator<'a> {
        Generator {
            choices: choices.iter(),
            case: Case::new(),
            next_byte: [0; 3],
            is_too_large: false,
        }
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.choices.next().map_or(0, |it| *it as usize % n)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// True in one of `n` cases, and never for the simplest choice.
    pub fn rarely(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    pub fn dtype(&mut self) -> Dtype {
        DTYPES[self.below(DTYPES.len())].0
    }

    pub fn on_chip(&mut self) -> Memory {
        self.pick(&[Memory::Sbuf, Memory::Psum])
    }

    pub fn start(&mut self, partitions: u32) -> u16 {
        let starts = crate::case::target().legal_starts(partitions);
        self.pick(starts) as u16
    }

    /// Sizes whose product is `count`.
    pub fn factors(&mut self, count: u32, at_most: usize) -> Vec<u32> {
        let mut factors = vec![count];
        while factors.len() < at_most && self.below(2) == 1 {
            let last = factors.pop().expect("there is always a factor");
            let divisors: Vec<u32> = (1..=last).filter(|it| last % it == 0).collect();
            let it = self.pick(&divisors);
            factors.extend([last / it, it]);
        }
        factors
    }

    /// Strides in elements that give every index its own place, with gaps and in any order; sources may repeat and turn, and
    /// destinations may come to an element again.
    /// Also how far the first element lies behind the lowest one, and the elements spanned.
    pub fn strides(&mut self, sizes: &[u32], is_source: bool) -> (Vec<Dim>, i64, u32) {
        let mut order: Vec<usize> = (0..sizes.len()).rev().collect();
        if order.len() > 1 && self.rarely(3) {
            let (a, b) = (self.below(order.len()), self.below(order.len()));
            order.swap(a, b);
        }
        let mut dims = vec![Dim { stride: 0, count: 1 }; sizes.len()];
        let (mut unit, mut first, mut span) = (1, 0, 1);
        if self.rarely(3) {
            unit = 2 + self.below(2) as i32;
        }
        for idx in order {
            let count = sizes[idx];
            dims[idx] = Dim { stride: unit, count };
            if is_source && self.rarely(8) {
                dims[idx].stride = 0;
                continue;
            }
            let reach = unit * (count as i32 - 1);
            span += reach as u32;
            if is_source && self.rarely(10) {
                dims[idx].stride = -unit;
                first += i64::from(reach);
            }
            if is_source || !self.rarely(12) {
                unit *= count as i32;
            }
            if self.rarely(4) {
                unit += 1 + self.below(3) as i32;
            }
        }
        (dims, first, span)
    }

    /// A new tile of `count` elements per partition.
    pub fn tile(
        &mut self,
        memory: Memory,
        dtype: Dtype,
        partitions: u32,
        count: u32,
        is_source: bool,
    ) -> Arg {
        let sizes = self.factors(count, 3);
        self.tile_of(memory, dtype, partitions, &sizes, is_source)
    }

    pub fn tile_of(
        &mut self,
        memory: Memory,
        dtype: Dtype,
        partitions: u32,
        sizes: &[u32],
        is_source: bool,
    ) -> Arg {
        let (dims, first, span) = self.strides(sizes, is_source);
        let offset = self.below(4) as u32;
        let (id, partition) = self.storage(memory, dtype, partitions, span + offset);
        let mut all = vec![Dim {
            stride: 1,
            count: partitions,
        }];
        all.extend(dims);
        self.case
            .view(id, dtype, partition, i64::from(offset) + first, &all)
    }

    /// A buffer with room for `count` elements in each of `partitions`, and the first of those relative to the buffer's.
    pub fn storage(&mut self, memory: Memory, dtype: Dtype, partitions: u32, count: u32) -> (BufferId, u16) {
        let start = self.start(partitions);
        let target = crate::case::target();
        let bytes = count * dtype.size();
        let in_psum = memory == Memory::Psum && self.next_byte[2] + bytes <= target.psum_partition_bytes;
        let memory = if in_psum { Memory::Psum } else { Memory::Sbuf };
        let at = &mut self.next_byte[memory as usize];
        let byte = *at;
        *at = (byte + bytes).next_multiple_of(4);
        self.is_too_large |= self.next_byte[1] > target.sbuf_partition_bytes;
        // Half of the buffers begin above the view.
        let above = if self.rarely(2) { start } else { 0 };
        let dims = [partitions + u32::from(above), count];
        (
            self.case.on_chip(dtype, &dims, memory, start - above, byte),
            above,
        )
    }

    /// A destination for sources that exist: usually new, sometimes one of them or something that overlaps it.
    pub fn destination(
        &mut self,
        sources: &[Arg],
        memories: &[Memory],
        dtype: Dtype,
        partitions: u32,
        count: u32,
    ) -> Arg {
        let view = match sources.first() {
            Some(Arg::View(id)) if self.rarely(3) => self.case.program[*id],
            _ => {
                let memory = self.pick(memories);
                return self.tile(memory, dtype, partitions, count, false);
            }
        };
        let buffer = &self.case.program[view.buffer];
        if !memories.contains(&buffer.memory) {
            return self.tile(memories[0], dtype, partitions, count, false);
        }
        let room = buffer.bytes() as u32 / dtype.size();
        let repeats = view.free_dims().iter().any(|it| it.stride == 0 && it.count > 1);
        let fits = view.free_count() == u64::from(count) && view.dtype.size() == dtype.size();
        if fits && !repeats && self.rarely(2) {
            return self
                .case
                .view(view.buffer, dtype, view.partition, view.offset, view.dims());
        }
        if room < count {
            return self.tile(memories[0], dtype, partitions, count, false);
        }
        let offset = self.below((room - count) as usize + 1) as i64;
        let dims = [
            Dim {
                stride: 1,
                count: partitions,
            },
            Dim { stride: 1, count },
        ];
        self.case.view(view.buffer, dtype, view.partition, offset, &dims)
    }

    pub fn column(&mut self, dtype: Dtype, partitions: u32) -> Arg {
        let memory = self.on_chip();
        self.tile(memory, dtype, partitions, 1, true)
    }

    pub fn immediate(&mut self, dtype: Dtype) -> Arg {
        if dtype.is_int() {
            self.pick(&[
                Arg::Int(0),
                Arg::Int(1),
                Arg::Int(3),
                Arg::Int(-1),
                Arg::Int(70_000),
                Arg::Uint(0x8000_0005),
            ])
        } else {
            self.pick(&[
                Arg::Float(1.0),
                Arg::Float(-0.0),
                Arg::Int(3),
                Arg::Float(0.7),
                Arg::Float(f32::NAN),
                Arg::Float(f32::NEG_INFINITY),
                Arg::Float(-1e30),
            ])
        }
    }

    pub fn alu(&mut self, accepts: impl Fn(AluOp) -> bool) -> AluOp {
        let all: Vec<AluOp> = ALU_OPS.iter().map(|it| it.op).filter(|&it| accepts(it)).collect();
        self.pick(&all)
    }

    /// A dtype that a class of operators takes.
    pub fn dtype_for(&mut self, class: AluClass) -> Dtype {
        match class {
            AluClass::Bits => self.pick(INTS),
            AluClass::Arithmetic => self.dtype(),
        }
    }

    pub fn bool(&mut self) -> Arg {
        Arg::Bool(self.rarely(3))
    }

    pub fn step(&mut self) -> Arg {
        Arg::Int(self.pick(&[0, 1, -1, 3, -100, 40_000, i32::MAX, i32::MIN]))
    }

    pub fn pattern(&mut self, count: u32) -> Arg {
        let sizes = self.factors(count, 4);
        let dims = sizes
            .into_iter()
            .map(|count| Dim {
                stride: self.pick(&[1, -1, 0, 3, -7, 1000, 1 << 20, i32::MIN]),
                count,
            })
            .collect();
        Arg::Pattern(self.case.program.add_pattern(Pattern(dims)))
    }

    pub fn column_or_immediate(&mut self, partitions: u32, class: AluClass) -> Arg {
        let dtype = self.dtype_for(class);
        if self.below(2) == 0 {
            self.column(dtype, partitions)
        } else {
            let dtype = if class == AluClass::Bits {
                Dtype::I32
            } else {
                Dtype::F32
            };
            self.immediate(dtype)
        }
    }

    pub fn hbm(&mut self, dtype: Dtype, count: u32, is_source: bool) -> Arg {
        let sizes = self.factors(count, 4);
        let (dims, first, span) = self.strides(&sizes, is_source);
        let offset = self.below(4) as u32;
        let id = self.case.hbm(dtype, &[span + offset]);
        self.case.view(id, dtype, 0, i64::from(offset) + first, &dims)
    }
}
