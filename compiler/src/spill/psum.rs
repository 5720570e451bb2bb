//! Sums that do not fit into PSUM move to SBUF.
//!
//! Takes a program, gives one whose sums need fewer bytes of PSUM at once: where it is full, the sums that nothing writes any
//! more, furthest next use first, are copied to SBUF by the Vector engine, and what reads them later reads the copy. Every
//! copy is a `tensor_copy` like any other. Sums that are still added to stay, and so do those at an address of the user's.

use super::{Names, Uses, copy_args, piece_view};
use crate::check::{Extent, Gap, Written, window};
use crate::ir::{Asked, BufferId, Inst, InstId, LocId, Program};
use crate::isa::{Access, Arg, Engine, Memory, Op};
use crate::target::Target;
use std::collections::BTreeSet;

/// The program with at most `capacity` bytes of sums in each partition, and the bytes that were copied for it, in all
/// partitions; `None` when more are live that have to stay.
pub fn relieve(program: &Program, capacity: u64, target: &Target) -> Option<(Program, u64)> {
    let mut out = program.clone();
    out.insts.clear();
    let mut relief = Relief {
        program,
        uses: Uses::of(program, Memory::Psum),
        capacity,
        target,
        out,
        copies: vec![None; program.buffers.len()],
        written: vec![Written::Nothing; program.buffers.len()],
        extents: Extent::of_views(program),
        is_here: vec![false; program.buffers.len()],
        filled: 0,
        resident: BTreeSet::new(),
        names: Names::of(program),
        moved_bytes: 0,
    };
    for (id, inst) in program.iter() {
        relief.step(id, inst)?;
    }
    Some((relief.out, relief.moved_bytes))
}

struct Relief<'a> {
    program: &'a Program,
    uses: Uses,
    capacity: u64,
    target: &'a Target,
    out: Program,
    /// Where the value of a sum is once it has left.
    copies: Vec<Option<BufferId>>,
    written: Vec<Written>,
    extents: Vec<Extent>,
    is_here: Vec<bool>,
    /// Bytes a partition of the sums that are here.
    filled: u64,
    /// Sums that are here and may leave, by their next use.
    resident: BTreeSet<(u32, BufferId)>,
    names: Names,
    moved_bytes: u64,
}

impl Relief<'_> {
    /// Appends an instruction, behind the copies that make room for its sums.
    fn step(&mut self, id: InstId, inst: &Inst) -> Option<()> {
        let at = id.index() as u32;
        let mut needed: Vec<BufferId> = Vec::new();
        for (_, view) in self.program.accesses(inst) {
            let is_sum = self.program.memory(view) == Memory::Psum;
            if is_sum && self.copies[view.buffer.index()].is_none() && !needed.contains(&view.buffer) {
                needed.push(view.buffer);
            }
        }
        for it in &needed {
            // What an instruction uses does not leave for it.
            self.resident.remove(&(at, *it));
        }
        for &it in &needed {
            if std::mem::replace(&mut self.is_here[it.index()], true) {
                continue;
            }
            let bytes = self.bytes(it);
            while self.filled + bytes > self.capacity {
                let (_, furthest) = self.resident.pop_last()?;
                self.send(furthest, inst.loc);
            }
            self.filled += bytes;
        }
        let mut moved = *inst;
        for arg in &mut moved.args {
            if let Arg::View(view) = *arg
                && let mut view = self.program[view]
                && let Some(copy) = self.copies[view.buffer.index()]
            {
                view.buffer = copy;
                *arg = Arg::View(self.out.add_view(view));
            }
        }
        self.out.add_inst(moved);
        for (access, view) in self.program.accesses(inst) {
            if access != Access::Read
                && self.program.memory(view) == Memory::Psum
                && let Some(window) = window(self.program, view)
            {
                let buffer = view.buffer.index();
                self.written[buffer].insert(self.extents[buffer], &window);
            }
        }
        for it in needed {
            match self.uses.next(it, at) {
                Some(next) if self.may_leave(it, at) => {
                    self.resident.insert((next, it));
                }
                Some(_) => {}
                None => self.filled -= self.bytes(it),
            }
        }
        Some(())
    }

    /// Bytes a partition that a sum takes.
    fn bytes(&self, sum: BufferId) -> u64 {
        self.target.psum_bytes(self.program[sum].bytes())
    }

    /// Whether nothing writes the sum any more, and instructions can read just what was written of it.
    fn may_leave(&self, sum: BufferId, at: u32) -> bool {
        let is_final = self.uses.last_write[sum.index()] <= at && self.program[sum].request.is_none();
        let can_start = |it: &Gap| {
            let count = it.end_partition - it.first_partition;
            self.target.legal_starts(count).contains(&it.first_partition)
        };
        is_final && self.pieces(sum).iter().all(can_start)
    }

    /// What of a sum has been written.
    fn pieces(&self, sum: BufferId) -> Vec<Gap> {
        let mut pieces = Vec::new();
        self.written[sum.index()].for_each_piece(self.extents[sum.index()], |it| pieces.push(it));
        pieces
    }

    /// Copies a sum to SBUF.
    fn send(&mut self, sum: BufferId, loc: Option<LocId>) {
        self.filled -= self.bytes(sum);
        let mut buffer = self.program[sum].clone();
        buffer.name.base = format!("{}_evacuated", buffer.name.base).into();
        self.names.take(&mut buffer.name);
        buffer.memory = Memory::Sbuf;
        let copy = self.out.add_buffer(buffer);
        self.copies[sum.index()] = Some(copy);
        for piece in self.pieces(sum) {
            let views = [copy, sum].map(|it| piece_view(&self.out, it, piece));
            let args = copy_args(&mut self.out, Op::TensorCopy, views);
            self.out.add_inst(Inst {
                op: Op::TensorCopy,
                engine: Engine::Vector,
                loc,
                args,
                asked: Asked::default(),
            });
            self.moved_bytes += piece.bytes();
        }
    }
}
