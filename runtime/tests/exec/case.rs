//! Small placed programs for tests, built by hand.

use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{
    Asked, Buffer, BufferId, Dim, FirstWrites, Inst, InstId, Name, Placement, Program, Region, Role, Shape,
    View,
};
use nk_compiler::isa::{Arg, Engine, MAX_ARGS, Memory, Op};
use nk_compiler::target::{TARGETS, Target};
use nk_runtime::{Emulator, Execution, Level, Machine};

/// A program with its placement.
#[derive(Clone, Debug)]
pub struct Case {
    pub program: Program,
    pub placement: Placement,
    pub first: FirstWrites,
    hbm_end: u64,
}

pub fn target() -> &'static Target {
    &TARGETS[0]
}

impl Case {
    pub fn new() -> Case {
        Case {
            program: Program::new("case", target().name),
            placement: Placement::default(),
            first: FirstWrites::default(),
            hbm_end: 0,
        }
    }

    fn add(&mut self, dtype: Dtype, dims: &[u32], memory: Memory, region: Region) -> BufferId {
        self.placement.regions.push(region);
        self.program.add_buffer(Buffer {
            name: Name::plain(&format!("b{}", self.program.buffers.len())),
            dtype,
            shape: Shape::new(dims).expect("tests use few dimensions"),
            memory,
            role: Role::Local,
            request: None,
            loc: None,
        })
    }

    /// A buffer in HBM.
    pub fn hbm(&mut self, dtype: Dtype, dims: &[u32]) -> BufferId {
        let address = self.hbm_end;
        let bytes = dims.iter().map(|&it| u64::from(it)).product::<u64>() * u64::from(dtype.size());
        self.hbm_end = (address + bytes).next_multiple_of(64) + 64;
        self.add(dtype, dims, Memory::Hbm, Region::Hbm { address })
    }

    /// A buffer on chip at a partition and byte.
    pub fn on_chip(
        &mut self,
        dtype: Dtype,
        dims: &[u32],
        memory: Memory,
        partition: u16,
        start: u32,
    ) -> BufferId {
        let bytes = dims[1..].iter().product::<u32>() * dtype.size();
        let region = Region::OnChip {
            partition,
            partitions: dims[0] as u16,
            start,
            end: start + bytes,
        };
        self.add(dtype, dims, memory, region)
    }

    pub fn whole(&mut self, id: BufferId) -> Arg {
        let view = View::whole(id, &self.program[id]);
        Arg::View(self.program.add_view(view))
    }

    pub fn view(&mut self, id: BufferId, dtype: Dtype, partition: u16, offset: i64, dims: &[Dim]) -> Arg {
        let view = View::new(id, dtype, partition, offset, dims).expect("tests use few dimensions");
        Arg::View(self.program.add_view(view))
    }

    /// Adds an instruction; operands that are not given take their defaults.
    pub fn inst(&mut self, op: Op, engine: Engine, args: &[Arg]) -> InstId {
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
        })
    }

    pub fn load(&self, emulator: Emulator) -> Machine {
        Machine::load(&self.program, &self.placement, &self.first, target(), emulator)
    }

    pub fn load_at(&self, level: Level) -> Machine {
        self.load_with(Execution {
            level,
            ..Execution::new(Emulator::Jit)
        })
    }

    pub fn load_with(&self, execution: Execution) -> Machine {
        Machine::load_with(&self.program, &self.placement, &self.first, target(), execution)
    }

    /// Every instruction in program order.
    pub fn order(&self) -> Vec<InstId> {
        (0..self.program.insts.len()).map(InstId::new).collect()
    }
}
