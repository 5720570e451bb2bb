//! Random instructions of the rows that run along rows: accumulators, searches, gathers, statistics, random numbers.

use crate::generate::Generator;
use nk_compiler::dtype::{DTYPES, Dtype};
use nk_compiler::ir::Shuffle;
use nk_compiler::isa::{AluClass, AluOp, AluSet, Arg, DtypeSet, Engine, Memory, Op, ReduceCmd};

const ON_CHIP: &[Memory] = &[Memory::Sbuf, Memory::Psum];

impl Generator<'_> {
    fn dtype_of(&mut self, set: DtypeSet) -> Dtype {
        let all: Vec<Dtype> = DTYPES
            .iter()
            .map(|it| it.0)
            .filter(|&it| set.contains(it))
            .collect();
        self.pick(&all)
    }

    fn alu_of(&mut self, set: AluSet) -> AluOp {
        self.alu(|it| set.contains(it))
    }

    /// A reduce command, and the operand that it loads.
    fn reduce_cmd(&mut self, partitions: u32) -> (Arg, Arg) {
        match self.below(3) {
            0 => (Arg::ReduceCmd(ReduceCmd::ResetReduce), Arg::Absent),
            1 => (Arg::ReduceCmd(ReduceCmd::Reduce), Arg::Absent),
            _ => {
                let init = if self.below(2) == 0 {
                    Arg::Float(0.75)
                } else {
                    self.column(Dtype::F32, partitions)
                };
                (Arg::ReduceCmd(ReduceCmd::LoadReduce), init)
            }
        }
    }

    /// Where the accumulator is read out to, if it is; the result may lie in the destination.
    fn reduce_res(&mut self, dst: Arg, set: DtypeSet, partitions: u32) -> Arg {
        let dtype = self.dtype_of(set);
        match self.below(3) {
            0 => Arg::Absent,
            1 => self.column(dtype, partitions),
            _ => self.destination(&[dst], ON_CHIP, dtype, partitions, 1),
        }
    }

    pub fn tensor_scalar_reduce(&mut self, engine: Engine, partitions: u32, count: u32) {
        let (from, to, memory) = (self.dtype(), self.dtype(), self.on_chip());
        let data = self.tile(memory, from, partitions, count, true);
        let (op0, reduce) = (self.alu_of(AluSet::Numeric), self.alu_of(AluSet::Accumulator));
        let operand0 = self.column_or_immediate(partitions, AluClass::Arithmetic);
        let dst = self.destination(&[data], ON_CHIP, to, partitions, count);
        let result = self.reduce_res(dst, DtypeSet::Any, partitions);
        let (cmd, init) = self.reduce_cmd(partitions);
        let args = [
            dst,
            data,
            Arg::Alu(op0),
            operand0,
            Arg::Alu(reduce),
            result,
            Arg::Bool(false),
            cmd,
            init,
            self.bool(),
        ];
        self.case.inst(Op::TensorScalarReduce, engine, &args);
    }

    pub fn tensor_scalar_cumulative(&mut self, engine: Engine, partitions: u32, count: u32) {
        let (from, to) = (
            self.dtype_of(DtypeSet::Streamed),
            self.dtype_of(DtypeSet::Streamed),
        );
        let memory = self.on_chip();
        let src = self.tile(memory, from, partitions, count, true);
        let (op0, op1) = (self.alu_of(AluSet::Recurrence), self.alu_of(AluSet::Cumulative));
        let imm0 = self.column_or_immediate(partitions, AluClass::Arithmetic);
        let (cmd, imm1) = self.reduce_cmd(partitions);
        let dst = self.destination(&[src], ON_CHIP, to, partitions, count);
        let args = [dst, src, Arg::Alu(op0), Arg::Alu(op1), imm0, imm1, cmd];
        self.case.inst(Op::TensorScalarCumulative, engine, &args);
    }

    pub fn tensor_tensor_scan(&mut self, engine: Engine, partitions: u32, count: u32) {
        let (a, b, to) = (self.dtype(), self.dtype(), self.dtype());
        let data0 = self.tile(Memory::Sbuf, a, partitions, count, true);
        let data1 = self.tile(Memory::Psum, b, partitions, count, true);
        let initial = self.column_or_immediate(partitions, AluClass::Arithmetic);
        let (op0, op1) = (self.alu_of(AluSet::Recurrence), self.alu_of(AluSet::Recurrence));
        let dst = self.destination(&[data0], ON_CHIP, to, partitions, count);
        let args = [
            dst,
            data0,
            data1,
            initial,
            Arg::Alu(op0),
            Arg::Alu(op1),
            self.bool(),
            self.bool(),
        ];
        self.case.inst(Op::TensorTensorScan, engine, &args);
    }

    pub fn partition_reduce(&mut self, engine: Engine, partitions: u32, count: u32) {
        let op = self.alu_of(AluSet::Partitions);
        let class = op.facts().class;
        let (from, to) = (self.dtype_for(class), self.dtype_for(class));
        let data = self.tile(Memory::Sbuf, from, partitions, count, true);
        let dst = self.tile(Memory::Sbuf, to, 1, count, false);
        self.case
            .inst(Op::TensorPartitionReduce, engine, &[dst, Arg::Alu(op), data]);
    }

    pub fn select_reduce(&mut self, engine: Engine, partitions: u32, count: u32) {
        let mask = self.dtype_of(DtypeSet::Predicate);
        let (from, to) = (self.dtype_of(DtypeSet::Streamed), self.dtype());
        let predicate = self.tile(Memory::Sbuf, mask, partitions, count, true);
        let on_true = self.tile(Memory::Psum, from, partitions, count, true);
        let on_false = self.column_or_immediate(partitions, AluClass::Arithmetic);
        let dst = self.destination(&[on_true], ON_CHIP, to, partitions, count);
        let result = self.reduce_res(dst, DtypeSet::Float, partitions);
        let cmd = self.pick(&[ReduceCmd::Idle, ReduceCmd::ResetReduce, ReduceCmd::Reduce]);
        let args = [
            dst,
            predicate,
            on_true,
            on_false,
            result,
            Arg::ReduceCmd(cmd),
            Arg::Alu(AluOp::Maximum),
            self.bool(),
        ];
        self.case.inst(Op::SelectReduce, engine, &args);
    }

    pub fn sequence_bounds(&mut self, engine: Engine, count: u32) {
        let (from, to) = (self.dtype_of(DtypeSet::Segment), self.dtype_of(DtypeSet::Segment));
        let ids = self.tile(Memory::Sbuf, from, 1, count, true);
        let dst = self.tile_of(Memory::Sbuf, to, 1, &[2, count], false);
        self.case.inst(Op::SequenceBounds, engine, &[dst, ids]);
    }

    /// An instruction with one tile in and a few results per partition out.
    pub fn statistics(&mut self, op: Op, engine: Engine, partitions: u32, count: u32, results: u32) {
        let (from, to, memory) = (self.dtype(), self.dtype(), self.on_chip());
        let data = self.tile(memory, from, partitions, count, true);
        let dst = self.destination(&[data], ON_CHIP, to, partitions, results);
        self.case.inst(op, engine, &[dst, data]);
    }

    pub fn search(&mut self, op: Op, engine: Engine, partitions: u32, count: u32) {
        let dtype = self.dtype();
        let data = self.tile(Memory::Sbuf, dtype, partitions, count, true);
        // Values that are in the row, unless they lie elsewhere.
        let vals = if self.rarely(3) {
            let dtype = self.dtype();
            self.tile(Memory::Sbuf, dtype, partitions, 8, true)
        } else {
            self.destination(&[data], &[Memory::Sbuf], dtype, partitions, 8)
        };
        if op == Op::NcFindIndex8 {
            let to = self.dtype_of(DtypeSet::Position);
            let dst = self.destination(&[data], ON_CHIP, to, partitions, 8);
            self.case.inst(op, engine, &[dst, data, vals]);
        } else {
            let to = self.dtype();
            let dst = self.destination(&[data], ON_CHIP, to, partitions, count);
            let imm = self.immediate(Dtype::F32);
            self.case.inst(op, engine, &[dst, data, vals, imm]);
        }
    }

    pub fn stream_shuffle(&mut self, engine: Engine, count: u32) {
        let (dtype, memory) = (self.dtype(), self.on_chip());
        let partitions = self.pick(&[32, 64, 128]);
        let count = count.min(100);
        let src = self.tile(memory, dtype, partitions, count, true);
        let dst = self.destination(&[src], ON_CHIP, dtype, partitions, count);
        let mut mask = [0; Shuffle::LANES];
        for lane in &mut mask {
            *lane = match self.below(3) {
                0 => 0,
                1 => self.below(Shuffle::LANES) as u8,
                _ => Shuffle::KEEP,
            };
        }
        let mask = self.case.program.add_shuffle(Shuffle(mask));
        self.case.inst(Op::NcStreamShuffle, engine, &[dst, src, mask]);
    }

    pub fn local_gather(&mut self, engine: Engine) {
        let dtype = self.dtype();
        let partitions = self.pick(&[16, 32, 128]);
        let size = self.pick(&[1, 2, 4, 32]);
        let columns = self.pick(&[1, 2, 5]);
        let src = self.tile(Memory::Sbuf, dtype, partitions, 100, true);
        let index = self.tile(Memory::Sbuf, Dtype::U16, partitions, columns, true);
        let (count, valid) = if self.below(2) == 0 {
            (columns * 16, Arg::Absent)
        } else {
            let count = 1 + self.below(columns as usize * 16) as u32;
            (count, Arg::Int(count as i32))
        };
        let dst = self.tile(Memory::Sbuf, dtype, partitions, count * size, false);
        let args = [dst, src, index, Arg::Int(size as i32), valid];
        self.case.inst(Op::LocalGather, engine, &args);
    }

    pub fn n_gather(&mut self, engine: Engine, partitions: u32, count: u32) {
        let dtype = self.dtype();
        let size = self.pick(&[1, 7, 64]);
        let data = self.tile(Memory::Sbuf, dtype, partitions, size, true);
        let indices = self.tile(Memory::Sbuf, Dtype::U32, partitions, count, true);
        let dst = self.tile(Memory::Sbuf, dtype, partitions, count, false);
        self.case.inst(Op::NcNGather, engine, &[dst, data, indices]);
    }

    pub fn dropout(&mut self, engine: Engine, partitions: u32, count: u32) {
        let (dtype, memory) = (self.dtype(), self.on_chip());
        let data = self.tile(memory, dtype, partitions, count, true);
        let probability = match self.below(3) {
            0 => Arg::Float(0.5),
            1 => Arg::Float(1.0),
            _ => {
                let dtype = self.dtype_of(DtypeSet::Float);
                self.column(dtype, partitions)
            }
        };
        let dst = self.destination(&[data], ON_CHIP, dtype, partitions, count);
        self.case.inst(Op::Dropout, engine, &[dst, data, probability]);
    }

    pub fn dma_compute(&mut self, engine: Engine, partitions: u32, count: u32) {
        let n_sources = 1 + self.below(4);
        let mut args = vec![Arg::Absent];
        for _ in 0..n_sources {
            let dtype = self.dtype();
            args.push(if self.below(2) == 0 {
                self.hbm(dtype, partitions * count, true)
            } else {
                self.tile(Memory::Sbuf, dtype, partitions, count, true)
            });
        }
        let to = self.dtype();
        args[0] = match self.below(2) {
            0 => self.tile(Memory::Sbuf, to, partitions, count, false),
            _ => self.hbm(to, partitions * count, false),
        };
        self.case.inst(Op::DmaCompute, engine, &args);
    }
}
