//! One emulated core: its memory, and a placed program made ready to run on it.
//!
//! Takes a program, its placement and an order of its instructions, gives the contents of buffers. Knows nothing of time.

use crate::access::Access;
use crate::memory::{Layout, Memory};
use crate::reference::{self, Core};
use nk_compiler::ir::{BufferId, FirstWrite, FirstWrites, InstId, Placement, Program, Region, View};
use nk_compiler::isa::Memory as Space;
use nk_compiler::target::Target;
use rustc_hash::FxHashMap;

/// What executes instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emulator {
    /// Compiled code.
    Jit,
    /// The plain loops that compiled code is measured against.
    Reference,
}

/// One core with a loaded program.
#[derive(Debug)]
pub struct Machine {
    memory: Memory,
    /// The elements of each buffer in row-major order.
    buffers: Vec<Access>,
    code: Code,
}

#[derive(Debug)]
enum Code {
    Reference(Box<Plain>),
}

/// A program as the reference executor wants it.
#[derive(Debug)]
struct Plain {
    program: Program,
    accesses: Vec<Access>,
    first: FxHashMap<InstId, Vec<FirstWrite>>,
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
        let layout = Layout::new(program, placement, target);
        let resolve = |view: &View| Access::new(program, placement, &layout, view);
        let buffers: Vec<Access> = program
            .buffers
            .iter()
            .enumerate()
            .map(|(idx, it)| resolve(&View::whole(BufferId::new(idx), it)))
            .collect();
        let code = match emulator {
            Emulator::Jit | Emulator::Reference => Code::Reference(Box::new(Plain {
                program: program.clone(),
                accesses: program.views().iter().map(resolve).collect(),
                first: first.ranges.iter().cloned().collect(),
            })),
        };
        let mut memory = Memory::reserve(layout, 0);
        for (buffer, region) in program.buffers.iter().zip(&placement.regions) {
            poison(&mut memory, buffer.memory, region);
        }
        Machine {
            memory,
            buffers,
            code,
        }
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

    /// Executes instructions in the order given, which must be a legal one: program order, or any that respects the
    /// schedule's semaphores.
    pub fn run(&mut self, order: &[InstId]) {
        match &mut self.code {
            Code::Reference(plain) => {
                let mut core = Core {
                    memory: &mut self.memory,
                    program: &plain.program,
                    accesses: &plain.accesses,
                };
                for id in order {
                    let first = plain.first.get(id).map_or(&[][..], |it| it);
                    reference::execute(&mut core, &plain.program[*id], first);
                }
            }
        }
    }
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

/// Fills the bytes of an on-chip region so that reading what was never written shows.
fn poison(memory: &mut Memory, space: Space, region: &Region) {
    let Region::OnChip {
        partition,
        partitions,
        start,
        end,
    } = *region
    else {
        return;
    };
    for p in partition..partition + partitions {
        let at = memory.layout.offset(space, p.into(), start.into());
        memory.bytes_mut(at, u64::from(end - start)).fill(0xff);
    }
}
