//! Programs of one instruction, made ready to run.

use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{
    Asked, Buffer, BufferId, FirstWrites, Inst, Name, Placement, Program, Region, Role, Shape, View,
};
use nk_compiler::isa::{ActFn, AluOp, Arg, Engine, MAX_ARGS, Memory, Op};
use nk_compiler::target::TARGETS;
use nk_runtime::{Emulator, Machine};

/// A program of one instruction over whole tiles.
pub struct Bench {
    pub program: Program,
    pub placement: Placement,
    pub next_byte: u32,
}

impl Bench {
    pub fn new() -> Bench {
        Bench {
            program: Program::new("bench", TARGETS[0].name),
            placement: Placement::default(),
            next_byte: 0,
        }
    }

    pub fn tile(&mut self, dtype: Dtype, dims: &[u32], memory: Memory) -> Arg {
        let bytes = dims[1] * dtype.size();
        self.placement.regions.push(Region::OnChip {
            partition: 0,
            partitions: dims[0] as u16,
            start: self.next_byte,
            end: self.next_byte + bytes,
        });
        self.next_byte += bytes;
        self.buffer(dtype, dims, memory)
    }

    fn buffer(&mut self, dtype: Dtype, dims: &[u32], memory: Memory) -> Arg {
        let buffer = Buffer {
            name: Name::plain(&format!("b{}", self.program.buffers.len())),
            dtype,
            shape: Shape::new(dims).expect("tiles have two dimensions"),
            memory,
            role: Role::Local,
            request: None,
            loc: None,
        };
        let view = View::whole(BufferId::new(self.program.buffers.len()), &buffer);
        self.program.add_buffer(buffer);
        Arg::View(self.program.add_view(view))
    }

    /// A tensor in HBM.
    pub fn tensor(&mut self, dtype: Dtype, dims: &[u32], address: u64) -> Arg {
        self.placement.regions.push(Region::Hbm { address });
        self.buffer(dtype, dims, Memory::Hbm)
    }

    pub fn inst(&mut self, op: Op, engine: Engine, args: &[Arg]) {
        let mut all = [Arg::Absent; MAX_ARGS];
        for (arg, operand) in all.iter_mut().zip(op.row().operands) {
            *arg = operand.default.unwrap_or(Arg::Absent);
        }
        all[..args.len()].copy_from_slice(args);
        self.program.add_inst(Inst {
            op,
            engine,
            loc: None,
            args: all,
            asked: Asked::default(),
        });
    }

    /// The instruction on a machine whose tiles hold ones.
    pub fn load(mut self, op: Op, engine: Engine, args: &[Arg]) -> Machine {
        self.inst(op, engine, args);
        let first = FirstWrites::default();
        let mut machine = Machine::load(&self.program, &self.placement, &first, &TARGETS[0], Emulator::Jit);
        for (idx, buffer) in self.program.buffers.iter().enumerate() {
            let n = buffer.shape.count() as usize;
            let bytes = match buffer.dtype {
                Dtype::F32 => 1f32.to_le_bytes().repeat(n),
                Dtype::Bf16 => 0x3f80u16.to_le_bytes().repeat(n),
                _ => vec![1; n * buffer.dtype.size() as usize],
            };
            machine.write(BufferId::new(idx), &bytes);
        }
        machine
    }
}

pub fn tensor_tensor(dtype: Dtype) -> Machine {
    let mut bench = Bench::new();
    let [a, b, dst] = [0; 3].map(|_| bench.tile(dtype, &[128, 512], Memory::Sbuf));
    bench.load(
        Op::TensorTensor,
        Engine::Vector,
        &[dst, a, b, Arg::Alu(AluOp::Add)],
    )
}

pub fn activation(function: ActFn, dtype: Dtype) -> Machine {
    let mut bench = Bench::new();
    let [data, dst] = [0; 2].map(|_| bench.tile(dtype, &[128, 512], Memory::Sbuf));
    bench.load(Op::Activation, Engine::Scalar, &[dst, Arg::Act(function), data])
}

pub fn matmul(dtype: Dtype) -> Machine {
    let mut bench = Bench::new();
    let stationary = bench.tile(dtype, &[128, 128], Memory::Sbuf);
    let moving = bench.tile(dtype, &[128, 512], Memory::Sbuf);
    bench.next_byte = 0;
    let dst = bench.tile(Dtype::F32, &[128, 512], Memory::Psum);
    bench.load(Op::NcMatmul, Engine::Tensor, &[dst, stationary, moving])
}

/// exp with the sums of rows.
pub fn exp_and_sums() -> Machine {
    let mut bench = Bench::new();
    let [data, dst] = [0; 2].map(|_| bench.tile(Dtype::F32, &[128, 512], Memory::Sbuf));
    let sums = bench.tile(Dtype::F32, &[128, 1], Memory::Sbuf);
    let args = [dst, Arg::Act(ActFn::Exp), data, Arg::Alu(AluOp::Add), sums];
    bench.load(Op::ActivationReduce, Engine::Scalar, &args)
}

/// 4 MiB from HBM.
pub fn load_4_mib() -> Machine {
    let mut bench = Bench::new();
    let src = bench.tensor(Dtype::F32, &[128, 8192], 0);
    let dst = bench.tile(Dtype::F32, &[128, 8192], Memory::Sbuf);
    bench.load(Op::DmaCopy, Engine::Sync, &[dst, src])
}

pub fn dma_transpose(dtype: Dtype) -> Machine {
    let mut bench = Bench::new();
    let src = bench.tensor(dtype, &[128, 128], 0);
    let dst = bench.tile(dtype, &[128, 128], Memory::Sbuf);
    bench.load(Op::DmaTranspose, Engine::Sync, &[dst, src])
}

pub fn transpose(dtype: Dtype) -> Machine {
    let mut bench = Bench::new();
    let data = bench.tile(dtype, &[128, 128], Memory::Sbuf);
    bench.next_byte = 0;
    let dst = bench.tile(dtype, &[128, 128], Memory::Psum);
    bench.load(Op::NcTranspose, Engine::Tensor, &[dst, data])
}

pub fn reduce() -> Machine {
    let mut bench = Bench::new();
    let data = bench.tile(Dtype::F32, &[128, 512], Memory::Sbuf);
    let dst = bench.tile(Dtype::F32, &[128, 1], Memory::Sbuf);
    bench.load(
        Op::TensorReduce,
        Engine::Vector,
        &[dst, Arg::Alu(AluOp::Add), data, Arg::Axes(2)],
    )
}

pub fn columns() -> Machine {
    let mut bench = Bench::new();
    let [a, b, dst] = [0; 3].map(|_| bench.tile(Dtype::F32, &[128, 1], Memory::Sbuf));
    bench.load(
        Op::TensorTensor,
        Engine::Vector,
        &[dst, a, b, Arg::Alu(AluOp::Multiply)],
    )
}
