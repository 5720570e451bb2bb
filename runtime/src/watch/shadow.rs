//! Which bytes have been written, for tensors with addresses that only a run knows.
//!
//! Takes the views of each instruction, gives a fault for a read of what nothing has written. Tensors whose addresses are
//! all static have no shadow: the compiler has proven their reads. In program order it also fills the storage of a tensor
//! with bytes that read as NaN or -1 where its life begins, so that nothing of an earlier tenant is left to see.

use super::parts::{Part, by_rows, for_each_run, parts};
use super::{Manner, Watched};
use crate::access::Access;
use crate::fault::{Fault, read_index};
use crate::memory::Memory;
use nk_compiler::ir::{BufferId, Inst, InstId, Program, Region, Role, View, ViewId};
use nk_compiler::isa::{Access as Does, Arg, OobMode, Op};
use rustc_hash::FxHashMap;

/// What `--sanitize` did, and what it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sanitized {
    /// Tensors with run-time addresses.
    pub n_tensors: usize,
    pub shadow_bytes: u64,
    /// Views that were looked into.
    pub n_checked: u64,
    /// Lives at whose beginning storage was poisoned.
    pub n_poisoned: u64,
}

impl Sanitized {
    /// Adds what was done in another program of a grid.
    pub fn add(&mut self, other: Sanitized) {
        self.n_tensors = self.n_tensors.max(other.n_tensors);
        self.shadow_bytes = self.shadow_bytes.max(other.shadow_bytes);
        self.n_checked += other.n_checked;
        self.n_poisoned += other.n_poisoned;
    }
}

/// Elements that nothing has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unset {
    pub buffer: BufferId,
    pub count: u64,
    pub of: u64,
    /// The index of the first one in its tensor.
    pub first: Vec<u64>,
}

/// The bits of one tensor, one a byte, partition after partition.
struct Bits {
    words: Vec<u64>,
    /// The offset of the tensor in the reservation, its pitch there, and the bytes of a partition.
    start: u64,
    pitch: u64,
    row_bytes: u64,
}

/// A tensor whose life begins at an instruction.
#[derive(Clone, Copy)]
struct Birth {
    buffer: BufferId,
    /// It begins there whenever the instruction runs, not only the first time.
    again: bool,
    is_born: bool,
}

pub struct Shadow {
    of_buffer: Vec<Option<Bits>>,
    births: FxHashMap<InstId, Vec<Birth>>,
    /// What the instruction at hand writes.
    writes: Vec<(BufferId, Vec<Part>)>,
    done: Sanitized,
}

impl Bits {
    /// The first bit of an offset of the reservation.
    fn bit(&self, at: u64) -> u64 {
        let distance = at - self.start;
        match self.pitch {
            0 => distance,
            pitch => distance / pitch * self.row_bytes + distance % pitch,
        }
    }

    fn set(&mut self, at: u64, n_bytes: u64) {
        let first = self.bit(at);
        for (word, mask) in masks(first, first + n_bytes) {
            self.words[word] |= mask;
        }
    }

    /// The first offset of a range that is not set.
    fn first_unset(&self, at: u64, n_bytes: u64) -> Option<u64> {
        let first = self.bit(at);
        masks(first, first + n_bytes).find_map(|(word, mask)| {
            let unset = !self.words[word] & mask;
            (unset != 0).then(|| at + (word as u64 * 64 + u64::from(unset.trailing_zeros())) - first)
        })
    }
}

/// The words that hold the bits `first..end`, and which bits of each.
fn masks(first: u64, end: u64) -> impl Iterator<Item = (usize, u64)> {
    (first / 64..end.div_ceil(64)).map(move |word| {
        let low = u64::MAX << first.saturating_sub(word * 64);
        let high = u64::MAX >> (word * 64 + 64).saturating_sub(end);
        (word as usize, low & high)
    })
}

impl Shadow {
    pub fn new(watched: &Watched, manner: Manner) -> Shadow {
        let program = watched.program;
        let mut is_dynamic = vec![false; program.buffers.len()];
        for view in program.views() {
            is_dynamic[view.buffer.index()] |= view.dynamic.is_some();
        }
        // What a copy may leave out is known only at run time, too.
        for inst in program.insts.iter().filter(|it| skips(it)) {
            for (_, view) in inst.views().filter(|it| it.0 != Does::Read) {
                is_dynamic[program[view].buffer.index()] = true;
            }
        }
        let mut done = Sanitized::default();
        let mut of_buffer: Vec<Option<Bits>> = Vec::with_capacity(program.buffers.len());
        for (idx, buffer) in program.buffers.iter().enumerate() {
            let is_given =
                buffer.role == Role::In || program.constants.iter().any(|it| it.buffer.index() == idx);
            if !is_dynamic[idx] || is_given {
                of_buffer.push(None);
                continue;
            }
            let n_bytes = buffer.bytes() * u64::from(buffer.partitions());
            done.n_tensors += 1;
            done.shadow_bytes += n_bytes.div_ceil(8);
            let whole = View::whole(BufferId::new(idx), buffer);
            of_buffer.push(Some(Bits {
                words: vec![0; n_bytes.div_ceil(64) as usize],
                start: start_of(watched, &whole),
                pitch: watched.layout.pitch(buffer.memory),
                row_bytes: buffer.bytes(),
            }));
        }
        Shadow {
            of_buffer,
            births: if manner.in_order {
                births(program, &is_dynamic)
            } else {
                FxHashMap::default()
            },
            writes: Vec::new(),
            done,
        }
    }

    pub fn sanitized(&self) -> Sanitized {
        self.done
    }

    /// Checks what an instruction reads, and remembers what it writes.
    pub fn before(
        &mut self,
        watched: &Watched,
        id: InstId,
        memory: &mut Memory,
        registers: &[i32],
    ) -> Result<(), Fault> {
        let program = watched.program;
        let inst = &program[id];
        self.bear(watched, id, memory);
        self.writes.clear();
        for (does, view) in program.touches(inst) {
            let buffer = program[view].buffer;
            let Some(bits) = &self.of_buffer[buffer.index()] else {
                continue;
            };
            let access = &watched.accesses[view.index()];
            let now = parts(access, memory, registers);
            // The compiler has proven that a matmul adds only to what a matmul has written.
            if does == Does::Read || does == Does::ReadWrite && inst.op != Op::NcMatmul {
                self.done.n_checked += 1;
                if let Some(at) = first_unset(bits, &now) {
                    return Err(Fault::Unset {
                        inst: id,
                        operand: operand(program, id, view),
                        unset: self.missing(watched, view, &now, at),
                    });
                }
            }
            if does != Does::Read {
                let written = match skips(inst) {
                    true => kept_rows(watched, inst, now, memory, registers),
                    false => now,
                };
                self.writes.push((buffer, written));
            }
        }
        Ok(())
    }

    /// Marks what the instruction has written.
    pub fn after(&mut self) {
        for (buffer, parts) in self.writes.drain(..) {
            let Some(bits) = &mut self.of_buffer[buffer.index()] else {
                continue;
            };
            let size = parts.first().map_or(0, |it| u64::from(it.access.dtype.size()));
            for_each_run(&parts, |run| bits.set(run.at, run.count * size));
        }
    }

    /// What of a whole tensor is not written.
    pub fn unset(&self, watched: &Watched, buffer: BufferId) -> Option<Unset> {
        let bits = self.of_buffer[buffer.index()].as_ref()?;
        let facts = &watched.program[buffer];
        let size = u64::from(facts.dtype.size());
        let n_bits = facts.bytes() * u64::from(facts.partitions());
        let n_set: u64 = bits.words.iter().map(|it| u64::from(it.count_ones())).sum();
        let (word, first) = masks(0, n_bits)
            .map(|(word, mask)| (word, !bits.words[word] & mask))
            .find(|it| it.1 != 0)?;
        let first = word as u64 * 64 + u64::from(first.trailing_zeros());
        Some(Unset {
            buffer,
            count: (n_bits - n_set).div_ceil(size),
            of: facts.shape.count(),
            first: index(watched.program, buffer, first),
        })
    }

    fn missing(&self, watched: &Watched, view: ViewId, now: &[Part], at: u64) -> Unset {
        let buffer = watched.program[view].buffer;
        let bits = self.of_buffer[buffer.index()]
            .as_ref()
            .expect("the caller has looked");
        let size = u64::from(watched.program[view].dtype.size());
        let mut count = 0;
        for_each_run(now, |run| {
            let elements = (0..run.count).filter(|it| bits.first_unset(run.at + it * size, size).is_some());
            count += elements.count() as u64;
        });
        Unset {
            buffer,
            count,
            of: now.iter().map(|it| it.access.count()).sum(),
            first: index(watched.program, buffer, bits.bit(at)),
        }
    }

    /// Poisons the storage of the tensors whose life begins at an instruction.
    fn bear(&mut self, watched: &Watched, id: InstId, memory: &mut Memory) {
        let Some(births) = self.births.get_mut(&id) else {
            return;
        };
        for birth in births.iter_mut().filter(|it| it.again || !it.is_born) {
            birth.is_born = true;
            if takes_over(watched, id, birth.buffer) {
                continue;
            }
            let buffer = &watched.program[birth.buffer];
            let start = start_of(watched, &View::whole(birth.buffer, buffer));
            let pitch = watched.layout.pitch(buffer.memory);
            for partition in 0..u64::from(buffer.partitions()) {
                memory
                    .bytes_mut(start + partition * pitch, buffer.bytes())
                    .fill(0xff);
            }
            self.done.n_poisoned += 1;
            if let Some(bits) = &mut self.of_buffer[birth.buffer.index()] {
                bits.words.fill(0);
            }
        }
    }
}

fn first_unset(bits: &Bits, parts: &[Part]) -> Option<u64> {
    let mut first = None;
    for_each_run(parts, |run| {
        let size = parts.first().map_or(0, |it| u64::from(it.access.dtype.size()));
        if first.is_none() {
            first = bits.first_unset(run.at, run.count * size);
        }
    });
    first
}

/// The offset of a view of a whole buffer.
fn start_of(watched: &Watched, whole: &View) -> u64 {
    Access::new(watched.program, watched.placement, &watched.layout, whole).start
}

/// Whether a tensor is born in bytes that the same instruction reads for the last time.
fn takes_over(watched: &Watched, id: InstId, born: BufferId) -> bool {
    let program = watched.program;
    let range = |it: BufferId| match watched.placement.region(it) {
        Region::OnChip {
            partition,
            partitions,
            start,
            end,
        } => Some((partition, partition + partitions, start, end)),
        Region::Hbm { .. } => None,
    };
    let Some(mine) = range(born) else { return true };
    program.accesses(&program[id]).any(|(_, view)| {
        let is_other = view.buffer != born && program[view.buffer].memory == program[born].memory;
        is_other
            && range(view.buffer)
                .is_some_and(|it| it.0 < mine.1 && mine.0 < it.1 && it.2 < mine.3 && mine.2 < it.3)
    })
}

/// Where lives of tensors on chip begin.
fn births(program: &Program, is_dynamic: &[bool]) -> FxHashMap<InstId, Vec<Birth>> {
    let mut touched: Vec<Option<(InstId, InstId)>> = vec![None; program.buffers.len()];
    for (id, inst) in program.iter() {
        for (_, view) in program.accesses(inst) {
            touched[view.buffer.index()].get_or_insert((id, id)).1 = id;
        }
    }
    let mut births: FxHashMap<InstId, Vec<Birth>> = FxHashMap::default();
    for (idx, buffer) in program.buffers.iter().enumerate() {
        let (Some((first, last)), Role::Local, true) =
            (touched[idx], buffer.role, buffer.memory.is_on_chip())
        else {
            continue;
        };
        let mut around = program
            .loops
            .iter()
            .filter(|it| (it.first..it.end).contains(&first.index()));
        births.entry(first).or_default().push(Birth {
            buffer: BufferId::new(idx),
            // What outlives an iteration of a loop is born once; at run-time addresses nobody knows that it does not.
            again: !is_dynamic[idx] && around.all(|it| last.index() < it.end),
            is_born: false,
        });
    }
    births
}

fn skips(inst: &Inst) -> bool {
    inst.args.contains(&Arg::OobMode(OobMode::Skip))
}

/// The rows of a copy's destination for which every index is in bounds.
fn kept_rows(
    watched: &Watched,
    inst: &Inst,
    now: Vec<Part>,
    memory: &Memory,
    registers: &[i32],
) -> Vec<Part> {
    let moved = inst.views().map(|it| &watched.accesses[it.1.index()]);
    let moved: Vec<&Access> = moved.filter(|it| it.movement.is_some()).collect();
    let is_kept = |row: u64| {
        moved.iter().all(|it| {
            let movement = it.movement.as_ref().expect("only moved ones are kept");
            read_index(movement, row as u32, memory, registers).is_ok()
        })
    };
    by_rows(now, &watched.accesses[destination(inst).index()])
        .into_iter()
        .filter(|it| is_kept(it.0))
        .map(|it| it.1)
        .collect()
}

fn destination(inst: &Inst) -> ViewId {
    let written = inst.views().find(|it| it.0 != Does::Read);
    written.expect("a copy has a destination").1
}

fn operand(program: &Program, id: InstId, view: ViewId) -> &'static str {
    let inst = &program[id];
    let position = inst.views().position(|it| it.1 == view);
    let tiles = inst.op.row().operands.iter().zip(&inst.args);
    let mut tiles = tiles.filter(|it| matches!(it.1, Arg::View(_)));
    match position.and_then(|it| tiles.nth(it)) {
        Some((operand, _)) => operand.name,
        None => "the index",
    }
}

/// The index of an element by the bit of its first byte.
fn index(program: &Program, buffer: BufferId, bit: u64) -> Vec<u64> {
    let facts = &program[buffer];
    let mut rest = bit / u64::from(facts.dtype.size());
    let mut index = vec![0; facts.shape.len()];
    for (at, &count) in index.iter_mut().zip(facts.shape.iter()).rev() {
        let count = u64::from(count).max(1);
        *at = rest % count;
        rest /= count;
    }
    index
}
