//! One emulated core: its memory, and a placed program made ready to run on it.
//!
//! Takes a program, its placement and an order of its instructions, gives the contents of buffers. Knows nothing of time.

mod apart;
mod run;

pub use apart::Touch;

use crate::access::Access;
use crate::fabric::Link;
use crate::fault::Fault;
use crate::jit::{self, Callbacks, Compiled};
use crate::kernels::Level;
use crate::lower;
use crate::memory::{Layout, Memory, Reservation, Seat, counts};
use crate::reference::rounding::Rounding;
use crate::tensor::Tensor;
use crate::watch::Watch;
use apart::{Apart, Touches};
use nk_compiler::ir::{
    BufferId, Control, FirstWrite, FirstWrites, InstId, Loop, Node, Placement, Program, Region, Role, View,
};
use nk_compiler::isa::Memory as Space;
use nk_compiler::target::Target;
use run::{Running, orders, walk};
use rustc_hash::FxHashMap;
use std::sync::Arc;
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

/// Where a core stands among those that run with it.
#[derive(Clone, Debug)]
pub struct Site {
    pub reservation: Arc<Reservation>,
    pub seat: Seat,
    /// The ranges of HBM that the program may touch.
    pub hbm: Vec<(u64, u64)>,
    pub link: Link,
    /// Which buffers other programs may touch at the same time; empty when none are.
    pub is_shared: Vec<bool>,
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
    registers: Vec<i32>,
    control: Control,
    loops: Vec<Loop>,
    stats: Stats,
    /// The segments that the last run has executed, in order.
    path: Vec<u32>,
    link: Link,
    /// Instructions that the machine looks at itself.
    apart: FxHashMap<InstId, Apart>,
    touches: Touches,
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
    /// Makes a core whose on-chip buffers hold bytes that read as NaN or -1, and so do those in HBM that are written at
    /// run-time addresses; the rest of HBM holds zeros until it is written.
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
        let layout = Layout::new(program, placement, target);
        let site = Site {
            reservation: Reservation::new(&layout),
            seat: Seat {
                core: 0,
                n_cores: 1,
                hbm_bytes: layout.hbm_bytes,
            },
            hbm: vec![(0, layout.hbm_bytes)],
            link: Link::alone(),
            is_shared: Vec::new(),
        };
        Machine::load_at(program, placement, first, target, execution, site)
    }

    /// [`Machine::load_with`] for one core of several.
    pub fn load_at(
        program: &Program,
        placement: &Placement,
        first: &FirstWrites,
        target: &'static Target,
        execution: Execution,
        site: Site,
    ) -> Machine {
        let started = Instant::now();
        let layout = Layout::of_seat(program, site.seat, target);
        let whole =
            |(idx, it)| Access::new(program, placement, &layout, &View::whole(BufferId::new(idx), it));
        let buffers: Vec<Access> = program.buffers.iter().enumerate().map(whole).collect();
        let accesses = Access::all(program, placement, &layout);
        let apart = apart::find(program, &accesses, &site.is_shared);
        let mut stats = Stats::default();
        let mut stage_bytes = 0;
        let counting = program.iter().filter(|it| counts(it.1)).map(|it| it.0);
        let code = match execution.emulator {
            Emulator::Jit => {
                let table = lower::lower(program, &accesses, first, &layout, execution.rounding);
                stage_bytes = table.stage_bytes;
                let compiled = jit::compile(table, program, &layout, execution.level);
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
        let mut memory = Memory::within(site.reservation, layout, &site.hbm, stage_bytes);
        poison(&mut memory, program, placement, Space::Sbuf);
        poison(&mut memory, program, placement, Space::Psum);
        if site.is_shared.is_empty() {
            poison_hbm(&mut memory, program, &buffers);
        }
        let mut machine = Machine {
            memory,
            counting: counting.collect(),
            buffers,
            code,
            registers: vec![0; program.registers.len()],
            control: program.control(),
            loops: program.loops.clone(),
            stats,
            path: Vec::new(),
            link: site.link,
            apart,
            touches: Touches::default(),
        };
        // A result is written in full, so its pages are no more than it needs.
        for result in &program.results {
            if let Region::Hbm { address } = placement.region(result.buffer) {
                let at = machine.memory.layout.offset(Space::Hbm, 0, address);
                machine.memory.touch(at, program[result.buffer].bytes());
            }
        }
        for constant in &program.constants {
            let dtype = program[constant.buffer].dtype;
            let tensor = Tensor::from_f64(dtype, vec![constant.values.len()], &constant.values);
            let tensor = tensor.expect("the shape counts the values");
            machine.write(constant.buffer, tensor.bytes());
        }
        machine
    }

    /// The segments that the last run has executed, in order; loops make some of them appear often.
    pub fn path(&self) -> &[u32] {
        &self.path
    }

    /// What dynamic accesses of shared tensors have touched, in all runs.
    pub fn touches(&self) -> &[Touch] {
        &self.touches.list
    }

    /// Where its memories lie.
    pub fn layout(&self) -> Layout {
        self.memory.layout
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

    /// Sets what lies in HBM for this program alone to zero, as it is before anything ran there.
    pub fn clear_hbm(&mut self, program: &Program, is_shared: &[bool]) {
        for (idx, buffer) in program.buffers.iter().enumerate() {
            let id = BufferId::new(idx);
            let is_constant = program.constants.iter().any(|it| it.buffer == id);
            let is_own = is_shared.get(idx) != Some(&true);
            if buffer.memory == Space::Hbm && is_own && !is_constant {
                let at = self.buffers[idx].start;
                self.memory.bytes_mut(at, buffer.bytes()).fill(0);
            }
        }
    }

    /// The elements of a buffer in row-major order.
    pub fn read(&self, buffer: BufferId) -> Vec<u8> {
        let (rows, row_bytes) = rows(&self.buffers[buffer.index()]);
        let mut bytes = Vec::with_capacity(rows.len() * row_bytes as usize);
        for at in rows {
            bytes.extend_from_slice(self.memory.bytes(at, row_bytes));
        }
        bytes
    }

    /// The instructions that were given inputs outside of their function's range, with how many in all runs.
    pub fn out_of_range(&self) -> Vec<(InstId, u64)> {
        let counts = self.counting.iter().enumerate();
        let counts = counts.map(|(number, id)| (*id, self.memory.counter(number as u64)));
        counts.filter(|it| it.1 > 0).collect()
    }

    /// Executes the program, the instructions of each segment in the order given, which must be a legal one: program
    /// order, or any that respects the schedule's semaphores.
    pub fn run(&mut self, order: &[InstId]) -> Result<(), Fault> {
        self.run_watched(order, None)
    }

    /// [`Machine::run`] with a look at the memory between instructions.
    pub fn run_watched(&mut self, order: &[InstId], watch: Option<&mut Watch<'_>>) -> Result<(), Fault> {
        self.path.clear();
        self.registers.fill(0);
        let Machine {
            memory,
            code,
            registers,
            control,
            loops,
            path,
            counting,
            link,
            apart,
            touches,
            ..
        } = self;
        let code: &Code = code;
        let mut running = Running {
            memory,
            code,
            orders: orders(control, order),
            path,
            n_iterations: vec![0; loops.len()],
            counting,
            link,
            apart,
            touches,
            watch,
        };
        match code {
            _ if control.nodes == [Node::Segment(0)] => running.segment(0, registers),
            Code::Jit(compiled) => compiled.run_control(registers, &mut running),
            Code::Reference(_) => walk(&control.nodes, loops, &mut running, registers),
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
    let accesses = Access::all(program, placement, &layout);
    let table = lower::lower(program, &accesses, first, &layout, Rounding::Nearest);
    jit::text(&table, program, &layout)
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

/// Fills what the program makes in HBM and writes at run-time addresses: nothing proves that it writes all of it.
fn poison_hbm(memory: &mut Memory, program: &Program, buffers: &[Access]) {
    let mut is_dynamic = vec![false; program.buffers.len()];
    for view in program.views() {
        is_dynamic[view.buffer.index()] |= view.dynamic.is_some();
    }
    for ((buffer, access), is_dynamic) in program.buffers.iter().zip(buffers).zip(is_dynamic) {
        if is_dynamic && buffer.memory == Space::Hbm && buffer.role != Role::In {
            memory.bytes_mut(access.start, buffer.bytes()).fill(0xff);
        }
    }
}
