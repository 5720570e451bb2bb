//! One emulated core: its memory, and a placed program made ready to run on it.
//!
//! Takes a program, its placement and an order of its instructions, gives the contents of buffers. Knows nothing of time.

use crate::access::Access;
use crate::jit::{self, Compiled};
use crate::kernels::Level;
use crate::lower;
use crate::memory::{Layout, Memory, counts};
use crate::reference::rounding::{self, Rounding};
use crate::reference::{self, Core};
use crate::tensor::Tensor;
use nk_compiler::ir::{BufferId, FirstWrite, FirstWrites, InstId, Placement, Program, Region, View};
use nk_compiler::isa::Memory as Space;
use nk_compiler::target::Target;
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// What executes instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emulator {
    /// Compiled code.
    Jit,
    /// The plain loops that compiled code is measured against.
    Reference,
}

/// How a program is executed.
#[derive(Clone, Copy, Debug)]
pub struct Execution {
    pub emulator: Emulator,
    /// Whose row kernels are used; the CPU must have its instructions.
    pub level: Level,
    pub rounding: Rounding,
}

impl Execution {
    /// An emulator with the CPU's best row kernels, rounding to nearest.
    pub fn new(emulator: Emulator) -> Execution {
        Execution {
            emulator,
            level: Level::detect(),
            rounding: Rounding::Nearest,
        }
    }
}

/// One core with a loaded program.
#[derive(Debug)]
pub struct Machine {
    memory: Memory,
    /// The instructions that count inputs outside of their function's range, ascending.
    counting: Vec<InstId>,
    /// The elements of each buffer in row-major order.
    buffers: Vec<Access>,
    code: Code,
    stats: Stats,
}

/// What loading a program took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// Shape classes, which are compiled functions, and the bytes of their code.
    pub n_classes: usize,
    pub code_bytes: usize,
    pub load_time: Duration,
}

#[derive(Debug)]
enum Code {
    Jit(Box<Compiled>),
    Reference(Box<Plain>),
}

/// A program as the reference executor wants it.
#[derive(Debug)]
struct Plain {
    program: Program,
    accesses: Vec<Access>,
    first: FxHashMap<InstId, Vec<FirstWrite>>,
    rounding: Rounding,
}

impl Machine {
    /// Makes a core whose on-chip buffers hold bytes that read as NaN or -1, and whose HBM holds zeros.
    ///
    /// The program must be verified, placed and checked; a violation of what those stages prove is a panic.
    pub fn load(
        program: &Program,
        placement: &Placement,
        first: &FirstWrites,
        target: &'static Target,
        emulator: Emulator,
    ) -> Machine {
        Machine::load_with(program, placement, first, target, Execution::new(emulator))
    }

    /// [`Machine::load`] with everything that can be chosen.
    pub fn load_with(
        program: &Program,
        placement: &Placement,
        first: &FirstWrites,
        target: &'static Target,
        execution: Execution,
    ) -> Machine {
        let started = Instant::now();
        let layout = Layout::new(program, placement, target);
        let resolve = |view: &View| Access::new(program, placement, &layout, view);
        let buffers: Vec<Access> = program
            .buffers
            .iter()
            .enumerate()
            .map(|(idx, it)| resolve(&View::whole(BufferId::new(idx), it)))
            .collect();
        let accesses: Vec<Access> = program.views().iter().map(resolve).collect();
        let mut stats = Stats::default();
        let mut stage_bytes = 0;
        let counting = program.iter().filter(|it| counts(it.1)).map(|it| it.0);
        let code = match execution.emulator {
            Emulator::Jit => {
                let table = lower::lower(program, &accesses, first, &layout, execution.rounding);
                stage_bytes = table.stage_bytes;
                let compiled = jit::compile(table, &layout, execution.level);
                stats.n_classes = compiled.n_classes();
                stats.code_bytes = compiled.code_bytes;
                Code::Jit(Box::new(compiled))
            }
            Emulator::Reference => Code::Reference(Box::new(Plain {
                program: program.clone(),
                accesses,
                first: first.ranges.iter().cloned().collect(),
                rounding: execution.rounding,
            })),
        };
        stats.load_time = started.elapsed();
        let mut memory = Memory::reserve(layout, stage_bytes);
        poison(&mut memory, program, placement, Space::Sbuf);
        poison(&mut memory, program, placement, Space::Psum);
        let mut machine = Machine {
            memory,
            counting: counting.collect(),
            buffers,
            code,
            stats,
        };
        for constant in &program.constants {
            let dtype = program[constant.buffer].dtype;
            let tensor = Tensor::from_f64(dtype, vec![constant.values.len()], &constant.values);
            let tensor = tensor.expect("the shape counts the values");
            machine.write(constant.buffer, tensor.bytes());
        }
        machine
    }

    /// What loading the program took.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Fills a buffer with elements in row-major order.
    pub fn write(&mut self, buffer: BufferId, bytes: &[u8]) {
        let access = &self.buffers[buffer.index()];
        let (rows, row_bytes) = rows(access);
        assert!(
            bytes.len() as u64 == rows.len() as u64 * row_bytes,
            "the bytes fill the buffer"
        );
        for (at, row) in rows.into_iter().zip(bytes.chunks(row_bytes.max(1) as usize)) {
            self.memory.bytes_mut(at, row_bytes).copy_from_slice(row);
        }
    }

    /// The elements of a buffer in row-major order.
    pub fn read(&self, buffer: BufferId) -> Vec<u8> {
        let (rows, row_bytes) = rows(&self.buffers[buffer.index()]);
        rows.into_iter()
            .flat_map(|at| self.memory.bytes(at, row_bytes))
            .copied()
            .collect()
    }

    /// The instructions that were given inputs outside of their function's range, with how many in all runs.
    pub fn out_of_range(&self) -> Vec<(InstId, u64)> {
        let counts = self.counting.iter().enumerate();
        let counts = counts.map(|(number, id)| (*id, self.memory.counter(number as u64)));
        counts.filter(|it| it.1 > 0).collect()
    }

    /// Executes instructions in the order given, which must be a legal one: program order, or any that respects the
    /// schedule's semaphores.
    pub fn run(&mut self, order: &[InstId]) {
        match &mut self.code {
            Code::Jit(compiled) => compiled.run(&mut self.memory, order),
            Code::Reference(plain) => {
                let counters = self.memory.layout.counters;
                let mut core = Core {
                    memory: &mut self.memory,
                    program: &plain.program,
                    accesses: &plain.accesses,
                    random: None,
                    counter: None,
                };
                for id in order {
                    if let Rounding::Stochastic { seed } = plain.rounding {
                        core.random = Some(rounding::key(seed, *id));
                    }
                    let number = self.counting.binary_search(id).ok();
                    core.counter = number.map(|it| counters + it as u64 * 8);
                    let first = plain.first.get(id).map_or(&[][..], |it| it);
                    reference::execute(&mut core, &plain.program[*id], first);
                }
            }
        }
    }
}

/// The code of every shape class of a program as CLIF text, in order of first use.
pub fn clif(
    program: &Program,
    placement: &Placement,
    first: &FirstWrites,
    target: &'static Target,
) -> String {
    let layout = Layout::new(program, placement, target);
    let resolve = |view: &View| Access::new(program, placement, &layout, view);
    let accesses: Vec<Access> = program.views().iter().map(resolve).collect();
    let table = lower::lower(program, &accesses, first, &layout, Rounding::Nearest);
    jit::text(&table, &layout)
}

/// The start of each row of a whole buffer, and the bytes of a row: a partition on chip, everything in HBM.
fn rows(access: &Access) -> (Vec<u64>, u64) {
    let size = u64::from(access.dtype.size());
    if !access.space.is_on_chip() {
        return (vec![access.start], access.count() * size);
    }
    let pitch = access.axes[0].stride as u64;
    let starts = (0..u64::from(access.partitions())).map(|p| access.start + p * pitch);
    (starts.collect(), access.free_count() * size)
}

/// Fills the part of an on-chip memory that has buffers, so that reading what was never written shows.
fn poison(memory: &mut Memory, program: &Program, placement: &Placement, space: Space) {
    let (mut n_partitions, mut n_bytes) = (0, 0);
    for (buffer, region) in program.buffers.iter().zip(&placement.regions) {
        if let Region::OnChip {
            partition,
            partitions,
            end,
            ..
        } = *region
            && buffer.memory == space
        {
            n_partitions = n_partitions.max(u64::from(partition) + u64::from(partitions));
            n_bytes = n_bytes.max(u64::from(end));
        }
    }
    for partition in 0..n_partitions {
        let at = memory.layout.offset(space, partition, 0);
        memory.bytes_mut(at, n_bytes).fill(0xff);
    }
}
