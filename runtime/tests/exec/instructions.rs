//! Random instructions: one method per row of the instruction table.

use crate::generate::{COUNTS, Generator, INTS, PARTITIONS};
use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{FirstWrite, InstId, Name, Ranks, Register};
use nk_compiler::isa::{
    ACT_FNS, Accumulate, AluClass, AluOp, AluSet, Arg, Engine, Exchange, Memory, Op, ROWS, ReduceCmd,
};

impl Generator<'_> {
    /// A number that goes from memory through two registers to memory.
    fn registers(&mut self) {
        let register = |case: &mut crate::case::Case| {
            let name = Name::plain(&format!("g{}", case.program.registers.len()));
            Arg::Register(case.program.add_register(Register { name, loc: None }))
        };
        let (first, second) = (register(&mut self.case), register(&mut self.case));
        let (from, to) = (self.dtype(), self.dtype());
        let memory = Memory::Sbuf;
        let src = self.tile(memory, from, 1, 1, true);
        let dst = self.tile(memory, to, 1, 1, false);
        self.case.inst(Op::RegisterLoad, Engine::Sync, &[first, src]);
        self.case.inst(Op::RegisterMove, Engine::Sync, &[second, first]);
        self.case.inst(Op::RegisterStore, Engine::Sync, &[dst, second]);
    }

    /// Adds a random instruction.
    pub fn inst(&mut self) {
        let op = ROWS[self.below(ROWS.len())].op;
        let engine = self.pick(op.row().engines);
        let partitions = self.pick(PARTITIONS);
        let mut count = self.pick(COUNTS);
        if partitions > 64 {
            count = count.min(100);
        }
        match op {
            // Straight programs have no registers; `dynamic` makes some.
            Op::RegisterMove | Op::RegisterLoad | Op::RegisterStore => self.registers(),
            Op::DmaCopy => self.dma_copy(engine, partitions, count),
            Op::DmaTranspose => self.dma_transpose(engine),
            Op::TensorCopy => {
                let (from, to) = (self.dtype(), self.dtype());
                let to = if self.rarely(2) { from } else { to };
                let memory = self.on_chip();
                let src = self.tile(memory, from, partitions, count, true);
                let dst = self.destination(&[src], &[Memory::Sbuf, Memory::Psum], to, partitions, count);
                self.case.inst(op, engine, &[dst, src]);
            }
            Op::Memset => {
                let dtype = self.dtype();
                let memory = self.on_chip();
                let dst = self.tile(memory, dtype, partitions, count, false);
                let value = self.immediate(dtype);
                self.case.inst(op, engine, &[dst, value]);
            }
            Op::Iota => {
                let dtype = self.dtype();
                let dst = self.tile(Memory::Sbuf, dtype, partitions, count, false);
                let pattern = self.pattern(count);
                let (offset, multiplier) = (self.step(), self.step());
                self.case.inst(op, engine, &[dst, pattern, offset, multiplier]);
            }
            Op::NcMatmul => self.matmul(engine),
            Op::NcTranspose => self.transpose(engine),
            Op::TensorTensor => {
                let alu = self.alu(|it| AluSet::Binary.contains(it));
                let class = alu.facts().class;
                let exact = engine == Engine::Gpsimd && self.below(2) == 1;
                let memories: &[Memory] = if engine == Engine::Gpsimd {
                    &[Memory::Sbuf]
                } else {
                    &[Memory::Sbuf, Memory::Psum]
                };
                let operand = |it: &mut Self| {
                    let dtype = if exact {
                        it.pick(&INTS[..2])
                    } else {
                        it.dtype_for(class)
                    };
                    let memory = it.pick(memories);
                    it.tile(memory, dtype, partitions, count, true)
                };
                let (a, b) = (operand(self), operand(self));
                let to = self.dtype_for(class);
                let dst = self.destination(&[a], memories, to, partitions, count);
                self.case.inst(op, engine, &[dst, a, b, Arg::Alu(alu)]);
            }
            Op::TensorScalar => self.tensor_scalar(engine, partitions, count),
            Op::ScalarTensorTensor => {
                let binary = |it: AluOp| AluSet::Arithmetic.contains(it);
                let (op0, op1) = (self.alu(binary), self.alu(binary));
                let (from, other, to) = (self.dtype(), self.dtype(), self.dtype());
                let data = self.tile(Memory::Sbuf, from, partitions, count, true);
                let operand0 = self.column_or_immediate(partitions, AluClass::Arithmetic);
                let operand1 = self.tile(Memory::Psum, other, partitions, count, true);
                let dst = self.destination(&[data], &[Memory::Sbuf], to, partitions, count);
                let args = [
                    dst,
                    data,
                    Arg::Alu(op0),
                    operand0,
                    Arg::Alu(op1),
                    operand1,
                    self.bool(),
                    self.bool(),
                ];
                self.case.inst(op, engine, &args);
            }
            // A rank that is alone: what several make of their tensors is tested by kernels.
            Op::Collective => {
                let dtype = self.dtype();
                let src = self.tile(Memory::Sbuf, dtype, partitions, count, true);
                let dst = self.tile(Memory::Sbuf, dtype, partitions, count, false);
                let ranks = self.case.program.add_ranks(Ranks(vec![0]));
                let add = Arg::Alu(AluOp::Add);
                let kind = Arg::Exchange(Exchange::AllReduce);
                let args = [dst, src, Arg::Absent, kind, add, Arg::Int(0), ranks, Arg::Int(1)];
                self.case.inst(op, engine, &args);
            }
            Op::TensorReduce => self.tensor_reduce(engine, partitions),
            Op::Activation | Op::ActivationReduce => self.activation(op, engine, partitions, count),
            Op::Reciprocal => {
                let (from, to) = (self.dtype(), self.dtype());
                let data = self.tile(Memory::Psum, from, partitions, count, true);
                let dst = self.destination(&[data], &[Memory::Psum, Memory::Sbuf], to, partitions, count);
                self.case.inst(op, engine, &[dst, data]);
            }
            Op::AffineSelect => {
                let (from, to) = (self.dtype(), self.dtype());
                let to = if self.rarely(2) { from } else { to };
                let data = self.tile(Memory::Sbuf, from, partitions, count, true);
                let dst = self.destination(&[data], &[Memory::Sbuf], to, partitions, count);
                let pattern = self.pattern(count);
                let value = self.immediate(Dtype::F32);
                let compare = Arg::Alu(self.alu(|it| AluSet::Comparison.contains(it)));
                let (multiplier, offset) = (self.step(), self.step());
                self.case.inst(
                    op,
                    engine,
                    &[dst, pattern, multiplier, data, value, compare, offset],
                );
            }
            Op::TensorCopyPredicated => {
                let dtype = self.dtype();
                let mask = self.pick(&[Dtype::U8, Dtype::U16, Dtype::U32]);
                let predicate = self.tile(Memory::Sbuf, mask, partitions, count, true);
                let src = if self.rarely(3) {
                    self.immediate(dtype)
                } else {
                    self.tile(Memory::Sbuf, dtype, partitions, count, true)
                };
                let dst = self.destination(&[src], &[Memory::Sbuf, Memory::Psum], dtype, partitions, count);
                let reverse = self.bool();
                self.case.inst(op, engine, &[dst, src, predicate, reverse]);
            }
            Op::TensorScalarReduce => self.tensor_scalar_reduce(engine, partitions, count),
            Op::TensorScalarCumulative => self.tensor_scalar_cumulative(engine, partitions, count),
            Op::TensorTensorScan => self.tensor_tensor_scan(engine, partitions, count),
            Op::TensorPartitionReduce => self.partition_reduce(engine, partitions, count),
            Op::SelectReduce => self.select_reduce(engine, partitions, count),
            Op::SequenceBounds => self.sequence_bounds(engine, count),
            Op::BnStats => self.statistics(op, engine, partitions, count.min(512), 6),
            Op::BnAggr => self.statistics(op, engine, partitions, count.div_ceil(3) * 3, 2),
            Op::Max8 => self.statistics(op, engine, partitions, count.max(8), 8),
            Op::NcFindIndex8 | Op::NcMatchReplace8 => self.search(op, engine, partitions, count.max(8)),
            Op::NcStreamShuffle => self.stream_shuffle(engine, count),
            Op::LocalGather => self.local_gather(engine),
            Op::NcNGather => self.n_gather(engine, partitions, count),
            Op::Dropout => self.dropout(engine, partitions, count),
            Op::Rng => {
                let (dtype, memory) = (self.pick(INTS), self.on_chip());
                let dst = self.tile(memory, dtype, partitions, count, false);
                self.case.inst(op, engine, &[dst]);
            }
            Op::SetRngSeed => {
                let dtype = self.pick(&[Dtype::I32, Dtype::U32, Dtype::F32]);
                let seed = self.column(dtype, 1);
                self.case.inst(op, engine, &[seed]);
            }
            Op::DmaCompute => self.dma_compute(engine, partitions, count),
        }
    }

    fn dma_copy(&mut self, engine: Engine, partitions: u32, count: u32) {
        let (from, to) = (self.dtype(), self.dtype());
        let to = if self.rarely(2) { from } else { to };
        let src = if self.below(2) == 0 {
            self.hbm(from, partitions * count, true)
        } else {
            self.tile(Memory::Sbuf, from, partitions, count, true)
        };
        let dst = match self.below(3) {
            0 => self.tile(Memory::Sbuf, to, partitions, count, false),
            1 => self.hbm(to, partitions * count, false),
            _ => self.destination(&[src], &[Memory::Sbuf], to, partitions, count),
        };
        self.case.inst(Op::DmaCopy, engine, &[dst, src]);
    }

    fn dma_transpose(&mut self, engine: Engine) {
        let rank = 2 + self.below(3);
        let sizes: Vec<u32> = (0..rank).map(|_| self.pick(&[1, 2, 5, 9, 32])).collect();
        let dtype = self.dtype();
        let src = if self.below(2) == 0 {
            let (dims, first, span) = self.strides(&sizes, true);
            let id = self.case.hbm(dtype, &[span]);
            self.case.view(id, dtype, 0, first, &dims)
        } else {
            self.tile_of(Memory::Sbuf, dtype, sizes[0], &sizes[1..], true)
        };
        let permuted: Vec<u32> = match sizes[..] {
            [a, b] => vec![b, a],
            [a, b, c] => vec![c, b, a],
            _ => vec![sizes[3], sizes[1], sizes[2], sizes[0]],
        };
        let dst = self.tile_of(Memory::Sbuf, dtype, permuted[0], &permuted[1..], false);
        self.case.inst(Op::DmaTranspose, engine, &[dst, src]);
    }

    fn matmul(&mut self, engine: Engine) {
        let k = self.pick(&[1, 2, 5, 32, 128]);
        let m = self.pick(&[1, 2, 3, 7, 16, 33, 64]);
        let n = self.pick(&[1, 4, 5, 16, 40, 70, 200]);
        const NARROW: &[Dtype] = &[Dtype::Bf16, Dtype::F16, Dtype::F8e4m3, Dtype::F8e5m2];
        const WIDE: &[Dtype] = &[Dtype::F32, Dtype::Tf32];
        let dtypes = if self.below(2) == 0 { WIDE } else { NARROW };
        let (a, b) = (self.pick(dtypes), self.pick(dtypes));
        let stationary = self.tile(Memory::Sbuf, a, k, m, true);
        let moving = self.tile(Memory::Sbuf, b, k, n, true);
        let dst = self.tile(Memory::Psum, Dtype::F32, m, n, false);
        let accumulate = self.pick(&[Accumulate::Overwrite, Accumulate::Add, Accumulate::Auto]);
        let flags = [Arg::Bool(false); 3];
        let args = [
            dst,
            stationary,
            moving,
            flags[0],
            flags[1],
            flags[2],
            Arg::Accumulate(accumulate),
        ];
        let inst = self.case.inst(Op::NcMatmul, engine, &args);
        if accumulate == Accumulate::Auto {
            self.first_write(inst, dst);
        }
    }

    /// Says that a matmul is the first to write some of the partitions of its destination.
    fn first_write(&mut self, inst: InstId, dst: Arg) {
        let Arg::View(id) = dst else {
            unreachable!("a destination is a view")
        };
        let view = self.case.program[id];
        let nk_compiler::ir::Region::OnChip {
            partition,
            start,
            end,
            ..
        } = self.case.placement.region(view.buffer)
        else {
            unreachable!("PSUM is on chip")
        };
        let first = partition + view.partition;
        let rows = self.below(view.partitions() as usize + 1) as u16;
        let words = FirstWrite {
            first_partition: first,
            end_partition: first + rows,
            start,
            end: start + (end - start) / 4 * 4,
        };
        self.case.first.ranges.push((inst, vec![words]));
    }

    fn transpose(&mut self, engine: Engine) {
        let most = if engine == Engine::Tensor { 128 } else { 32 };
        let (p, f) = (
            self.pick(&[1, 2, 5, 32, 128]).min(most),
            self.pick(&[1, 3, 16, 31, 100]).min(most),
        );
        let (from, to) = (self.dtype(), self.dtype());
        let to = if self.rarely(2) { to } else { from };
        let data = self.tile(Memory::Sbuf, from, p, f, true);
        let memory = if engine == Engine::Tensor {
            Memory::Psum
        } else {
            self.on_chip()
        };
        let dst = if engine == Engine::Vector && p == f && self.rarely(2) {
            self.destination(&[data], &[Memory::Sbuf], to, f, p)
        } else {
            self.tile(memory, to, f, p, false)
        };
        self.case.inst(Op::NcTranspose, engine, &[dst, data]);
    }

    fn tensor_scalar(&mut self, engine: Engine, partitions: u32, count: u32) {
        let op0 = self.alu(|it| AluSet::Any.contains(it));
        let class = op0.facts().class;
        let second = self.below(2) == 1;
        let op1 = self.alu(|it| AluSet::Any.contains(it) && it.facts().class == class);
        let (from, to) = (self.dtype_for(class), self.dtype_for(class));
        let data = self.tile(Memory::Sbuf, from, partitions, count, true);
        let operand0 = self.column_or_immediate(partitions, class);
        let operand1 = self.column_or_immediate(partitions, class);
        let dst = self.destination(&[data], &[Memory::Sbuf, Memory::Psum], to, partitions, count);
        let mut args = vec![dst, data, Arg::Alu(op0), operand0, self.bool()];
        if second {
            args.extend([Arg::Alu(op1), operand1, self.bool()]);
        }
        self.case.inst(Op::TensorScalar, engine, &args);
    }

    fn tensor_reduce(&mut self, engine: Engine, partitions: u32) {
        let op = self.alu(|it| AluSet::Reduction.contains(it));
        let class = op.facts().class;
        let rank = 1 + self.below(3);
        let sizes: Vec<u32> = (0..rank).map(|_| self.pick(&[1, 2, 3, 8, 17])).collect();
        let mut sizes = sizes;
        if self.rarely(3) {
            *sizes.last_mut().expect("shapes are not empty") = self.pick(&[16, 40, 515, 1100]);
        }
        let n_reduced = 1 + self.below(rank);
        let (from, to) = (self.dtype_for(class), self.dtype_for(class));
        let memory = self.on_chip();
        let data = self.tile_of(memory, from, partitions, &sizes, true);
        let results = sizes[..rank - n_reduced].iter().product();
        let dst = self.destination(&[data], &[Memory::Sbuf, Memory::Psum], to, partitions, results);
        let axes = (rank - n_reduced + 1..=rank).fold(0, |axes, it| axes | 1 << it);
        let negate = if class == AluClass::Bits {
            Arg::Bool(false)
        } else {
            self.bool()
        };
        self.case.inst(
            Op::TensorReduce,
            engine,
            &[dst, Arg::Alu(op), data, Arg::Axes(axes), negate],
        );
    }

    fn activation(&mut self, op: Op, engine: Engine, partitions: u32, count: u32) {
        let function = Arg::Act(ACT_FNS[self.below(ACT_FNS.len())].op);
        let (from, to) = (self.dtype(), self.dtype());
        let memory = self.on_chip();
        let data = self.tile(memory, from, partitions, count, true);
        let dst = self.destination(&[data], &[Memory::Sbuf, Memory::Psum], to, partitions, count);
        let bias = if self.rarely(2) {
            let dtype = self.pick(&[Dtype::F32, Dtype::Bf16, Dtype::F16]);
            self.column(dtype, partitions)
        } else {
            Arg::Absent
        };
        let scale = match self.below(3) {
            0 => Arg::Float(1.0),
            1 => Arg::Float(-0.3),
            _ => self.column(Dtype::F32, partitions),
        };
        let result = match self.below(3) {
            0 => Arg::Absent,
            1 => {
                let dtype = self.dtype();
                self.column(dtype, partitions)
            }
            _ => {
                let dtype = self.dtype();
                self.destination(&[dst], &[Memory::Sbuf, Memory::Psum], dtype, partitions, 1)
            }
        };
        let add = Arg::Alu(AluOp::Add);
        let cmd = self.pick(&[
            ReduceCmd::Idle,
            ReduceCmd::Reset,
            ReduceCmd::Reduce,
            ReduceCmd::ResetReduce,
        ]);
        if op == Op::Activation {
            self.case.inst(
                op,
                engine,
                &[dst, function, data, bias, scale, add, result, Arg::ReduceCmd(cmd)],
            );
        } else {
            self.case
                .inst(op, engine, &[dst, function, data, add, result, bias, scale]);
        }
    }
}
