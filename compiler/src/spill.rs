//! Spilling: tiles that do not fit into SBUF move to HBM and back, and sums that do not fit into PSUM move to SBUF.
//!
//! Takes a program that cannot be placed, gives one that can. `psum` comes first, since what leaves PSUM needs SBUF. When
//! SBUF is full, whole tiles whose next use is furthest away are copied to private HBM and, before that use, into a new
//! tile. What came from an argument and was not changed is loaded again instead of saved, and what is overwritten next is
//! not saved at all. Every copy is a `dma_copy` like any other. Programs with loops of the device are left as they are.

mod psum;

use crate::check::{Extent, Gap, Written, window};
use crate::dtype::Dtype;
use crate::ir::{Asked, BufferId, Dim, Inst, InstId, LocId, Name, Program, Role, View};
use crate::isa::{Access, Arg, Engine, MAX_ARGS, Memory, Op};
use crate::place::place;
use crate::target::Target;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fmt;

/// Bytes that spilling moves, in all partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spilled {
    pub save_bytes: u64,
    pub reload_bytes: u64,
    /// From PSUM to SBUF, where they stay.
    pub psum_bytes: u64,
}

/// What moved, for a report of a program in which something did.
impl fmt::Display for Spilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} bytes saved to HBM, {} bytes reloaded",
            self.save_bytes, self.reload_bytes
        )?;
        match self.psum_bytes {
            0 => Ok(()),
            it => write!(f, ", {it} bytes moved from PSUM to SBUF"),
        }
    }
}

/// Thousandths of a memory that tiles may fill: packings of tiles of different sizes leave gaps.
const FILLS: &[u64] = &[1000, 970, 940, 900, 850, 800, 700, 600, 500];

/// A program that fits, and what was moved for it; `None` when the program fits as it is, or when spilling cannot help.
pub fn spill(program: &Program, target: &Target) -> Option<(Program, Spilled)> {
    if !program.is_straight() || !program.is_static() || place(program, target).is_ok() {
        return None;
    }
    let relieved = relieved(program, target);
    let psum_bytes = relieved.as_ref().map_or(0, |it| it.1);
    let program = relieved.as_ref().map_or(program, |it| &it.0);
    let with_psum = |moved: Spilled| Spilled { psum_bytes, ..moved };
    if psum_bytes > 0 && place(program, target).is_ok() {
        return Some((program.clone(), with_psum(Spilled::default())));
    }
    let uses = Uses::of(program, Memory::Sbuf);
    FILLS.iter().find_map(|fill| {
        let capacity = u64::from(target.sbuf_partition_bytes) * fill / 1000;
        let (spilled, moved) = Spilling::new(program, &uses, capacity, target).run()?;
        place(&spilled, target)
            .is_ok()
            .then(|| (spilled, with_psum(moved)))
    })
}

/// The program with sums moved so that PSUM has room for the others, and the bytes that moved; `None` when it has room as
/// it is, or when moving cannot help.
fn relieved(program: &Program, target: &Target) -> Option<(Program, u64)> {
    let has_room = |it: &Program| match place(it, target) {
        Ok(_) => true,
        Err(errors) => !errors.iter().any(|it| it.is_about(Memory::Psum)),
    };
    if has_room(program) {
        return None;
    }
    FILLS.iter().find_map(|fill| {
        let capacity = u64::from(target.psum_partition_bytes) * fill / 1000;
        let relieved = psum::relieve(program, capacity, target)?;
        has_room(&relieved.0).then_some(relieved)
    })
}

/// The instructions that touch each tile in a memory, ascending, and the last that writes it.
struct Uses {
    /// Empty for buffers in other memories.
    all: Vec<Vec<u32>>,
    last_write: Vec<u32>,
}

impl Uses {
    fn of(program: &Program, memory: Memory) -> Uses {
        let mut uses = Uses {
            all: vec![Vec::new(); program.buffers.len()],
            last_write: vec![0; program.buffers.len()],
        };
        for (id, inst) in program.iter() {
            let at = id.index() as u32;
            for (access, view) in program.accesses(inst) {
                let buffer = view.buffer.index();
                if program.memory(view) != memory {
                    continue;
                }
                if uses.all[buffer].last() != Some(&at) {
                    uses.all[buffer].push(at);
                }
                if access != Access::Read {
                    uses.last_write[buffer] = at;
                }
            }
        }
        uses
    }

    /// The first use behind an instruction.
    fn next(&self, buffer: BufferId, at: u32) -> Option<u32> {
        let list = &self.all[buffer.index()];
        list.get(list.partition_point(|&it| it <= at)).copied()
    }
}

/// The names of a program's buffers, each with the number of its last copy.
struct Names(FxHashMap<Name, u32>);

impl Names {
    fn of(program: &Program) -> Names {
        let names = program.buffers.iter().map(|it| (it.name.clone(), it.name.copy));
        Names(names.collect())
    }

    /// Makes a name that no buffer has of one that some has. A tile may come back any number of times, so that the search
    /// goes on where the last one ended.
    fn take(&mut self, name: &mut Name) {
        let wanted = name.clone();
        if let Some(last) = self.0.get(&wanted) {
            name.copy = *last;
            while self.0.contains_key(name) {
                name.copy += 1;
            }
        }
        self.0.insert(wanted, name.copy);
        self.0.insert(name.clone(), name.copy);
    }
}

/// Where the value of a tile is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// It has no value yet, or none that is needed.
    Nowhere,
    /// In SBUF, in this buffer of the new program.
    Here(BufferId),
    /// In HBM.
    Away,
}

/// A tile of the program.
struct Tile {
    place: Place,
    written: Written,
    /// The buffer in HBM it was saved to, and whether that has its value.
    saved: Option<BufferId>,
    is_saved: bool,
    /// The load from an argument that made its value.
    origin: Option<InstId>,
}

struct Spilling<'a> {
    program: &'a Program,
    uses: &'a Uses,
    capacity: u64,
    align: u64,
    out: Program,
    tiles: Vec<Tile>,
    extents: Vec<Extent>,
    /// Arguments that are written lose what was loaded from them.
    is_constant: Vec<bool>,
    /// Bytes a partition of the tiles that are here.
    filled: u64,
    /// Tiles that are here and may leave, by their next use.
    resident: BTreeSet<(u32, BufferId)>,
    names: Names,
    moved: Spilled,
}

impl<'a> Spilling<'a> {
    fn new(program: &'a Program, uses: &'a Uses, capacity: u64, target: &Target) -> Spilling<'a> {
        let mut out = program.clone();
        out.insts.clear();
        let mut is_constant: Vec<bool> = program.buffers.iter().map(|it| it.role == Role::In).collect();
        let extents = Extent::of_views(program);
        for inst in &program.insts {
            for (access, view) in program.accesses(inst) {
                is_constant[view.buffer.index()] &= access == Access::Read;
            }
        }
        let tile = || Tile {
            place: Place::Nowhere,
            written: Written::Nothing,
            saved: None,
            is_saved: false,
            origin: None,
        };
        Spilling {
            program,
            uses,
            capacity,
            align: u64::from(target.min_align),
            out,
            tiles: program.buffers.iter().map(|_| tile()).collect(),
            extents,
            is_constant,
            filled: 0,
            resident: BTreeSet::new(),
            names: Names::of(program),
            moved: Spilled::default(),
        }
    }

    fn run(mut self) -> Option<(Program, Spilled)> {
        for (id, inst) in self.program.iter() {
            let at = id.index() as u32;
            let mut needed: Vec<BufferId> = Vec::new();
            for (_, view) in self.program.accesses(inst) {
                if self.program.memory(view) == Memory::Sbuf && !needed.contains(&view.buffer) {
                    needed.push(view.buffer);
                }
            }
            for &it in &needed {
                // What an instruction uses does not leave for it.
                self.resident.remove(&(at, it));
            }
            for &it in &needed {
                self.bring(it, at, inst.loc)?;
            }
            self.emit(id, inst);
            for &it in &needed {
                self.settle(it, at);
            }
        }
        Some((self.out, self.moved))
    }

    fn bytes(&self, tile: BufferId) -> u64 {
        self.program[tile].bytes().next_multiple_of(self.align)
    }

    /// Makes a tile be in SBUF.
    fn bring(&mut self, tile: BufferId, at: u32, loc: Option<LocId>) -> Option<()> {
        let place = self.tiles[tile.index()].place;
        if let Place::Here(_) = place {
            return Some(());
        }
        let bytes = self.bytes(tile);
        while self.filled + bytes > self.capacity {
            let (_, furthest) = self.resident.pop_last()?;
            self.send(furthest, at, loc);
        }
        self.filled += bytes;
        if place == Place::Nowhere {
            // The first version keeps its buffer.
            let is_first = matches!(self.tiles[tile.index()].written, Written::Nothing);
            let here = if is_first { tile } else { self.version(tile) };
            self.tiles[tile.index()].place = Place::Here(here);
            return Some(());
        }
        let here = self.version(tile);
        self.tiles[tile.index()].place = Place::Here(here);
        if let Some(origin) = self.tiles[tile.index()].origin {
            let mut load = self.program[origin];
            let whole = View::whole(here, &self.out[here]);
            load.args[0] = Arg::View(self.out.add_view(whole));
            load.loc = loc;
            load.asked = Asked::default();
            self.out.add_inst(load);
            self.moved.reload_bytes +=
                self.program[tile].bytes() * u64::from(self.program[tile].partitions());
            return Some(());
        }
        let saved = self.tiles[tile.index()].saved.expect("what is away was saved");
        self.moved.reload_bytes += self.copy(tile, here, saved, loc);
        Some(())
    }

    /// Takes a tile out of SBUF.
    fn send(&mut self, tile: BufferId, at: u32, loc: Option<LocId>) {
        let Place::Here(here) = self.tiles[tile.index()].place else {
            unreachable!("resident tiles are here");
        };
        self.filled -= self.bytes(tile);
        if self.is_overwritten_next(tile, at) {
            self.tiles[tile.index()].place = Place::Nowhere;
            return;
        }
        self.tiles[tile.index()].place = Place::Away;
        if self.tiles[tile.index()].is_saved || self.tiles[tile.index()].origin.is_some() {
            return;
        }
        let saved = match self.tiles[tile.index()].saved {
            Some(it) => it,
            None => self.away(tile),
        };
        self.tiles[tile.index()].saved = Some(saved);
        self.tiles[tile.index()].is_saved = true;
        self.moved.save_bytes += self.copy(tile, saved, here, loc);
    }

    /// Whether the next instruction that touches a tile writes all of it and reads none.
    fn is_overwritten_next(&self, tile: BufferId, at: u32) -> bool {
        let Some(next) = self.uses.next(tile, at.saturating_sub(1)) else {
            return true;
        };
        let inst = &self.program[InstId::new(next as usize)];
        let mut touches = self
            .program
            .accesses(inst)
            .filter(|it| it.1.buffer == tile)
            .peekable();
        touches.peek().is_some()
            && touches.all(|(access, view)| access == Access::Write && self.is_whole(view))
    }

    fn is_whole(&self, view: &View) -> bool {
        let whole = View::whole(view.buffer, &self.program[view.buffer]);
        view.dtype == whole.dtype && view.dims() == whole.dims() && view.partition == 0 && view.offset == 0
    }

    /// A new buffer for a tile that comes back.
    fn version(&mut self, tile: BufferId) -> BufferId {
        let mut buffer = self.program[tile].clone();
        self.names.take(&mut buffer.name);
        self.out.add_buffer(buffer)
    }

    /// A buffer in HBM for a tile that leaves.
    fn away(&mut self, tile: BufferId) -> BufferId {
        let mut buffer = self.program[tile].clone();
        buffer.name.base = format!("{}_spilled", buffer.name.base).into();
        self.names.take(&mut buffer.name);
        buffer.memory = Memory::Hbm;
        buffer.request = None;
        self.out.add_buffer(buffer)
    }

    /// Copies what a tile holds between two buffers of its shape, and gives the bytes.
    fn copy(&mut self, tile: BufferId, dst: BufferId, src: BufferId, loc: Option<LocId>) -> u64 {
        let mut pieces = Vec::new();
        self.tiles[tile.index()]
            .written
            .for_each_piece(self.extents[tile.index()], |it| pieces.push(it));
        let mut n_bytes = 0;
        for piece in pieces {
            let views = [dst, src].map(|it| piece_view(&self.out, it, piece));
            let args = copy_args(&mut self.out, Op::DmaCopy, views);
            self.out.add_inst(Inst {
                op: Op::DmaCopy,
                engine: Engine::Sync,
                loc,
                args,
                asked: Asked::default(),
            });
            n_bytes += piece.bytes();
        }
        n_bytes
    }

    /// Appends an instruction with its tiles where they are now.
    fn emit(&mut self, id: InstId, inst: &Inst) {
        let mut moved = *inst;
        for arg in &mut moved.args {
            let Arg::View(view) = *arg else { continue };
            let mut view = self.program[view];
            if let Place::Here(here) = self.tiles[view.buffer.index()].place
                && here != view.buffer
            {
                view.buffer = here;
                *arg = Arg::View(self.out.add_view(view));
            }
        }
        self.out.add_inst(moved);
        for (access, view) in self.program.accesses(inst) {
            if access == Access::Read || self.program.memory(view) != Memory::Sbuf {
                continue;
            }
            let is_load = inst.op == Op::DmaCopy && access == Access::Write && self.is_whole(view);
            let source = self.program.accesses(inst).find(|it| it.0 == Access::Read);
            let is_constant = source.is_some_and(|(_, it)| self.is_constant[it.buffer.index()]);
            let extent = self.extents[view.buffer.index()];
            let tile = &mut self.tiles[view.buffer.index()];
            tile.is_saved = false;
            tile.origin = (is_load && is_constant).then_some(id);
            if let Some(window) = window(self.program, view) {
                tile.written.insert(extent, &window);
            }
        }
    }

    /// After an instruction: a tile that is used again may leave from now on, another one is gone.
    fn settle(&mut self, tile: BufferId, at: u32) {
        match self.uses.next(tile, at) {
            Some(next) if self.program[tile].request.is_none() => {
                self.resident.insert((next, tile));
            }
            Some(_) => {}
            None => {
                self.filled -= self.bytes(tile);
                self.tiles[tile.index()].place = Place::Nowhere;
            }
        }
    }
}

/// The operands of a copy, destination first.
fn copy_args(program: &mut Program, op: Op, views: [View; 2]) -> [Arg; MAX_ARGS] {
    let mut args = [Arg::Absent; MAX_ARGS];
    for (arg, operand) in args.iter_mut().zip(op.row().operands) {
        *arg = operand.default.unwrap_or(Arg::Absent);
    }
    for (arg, view) in args.iter_mut().zip(views) {
        *arg = Arg::View(program.add_view(view));
    }
    args
}

/// The view of a piece of a buffer, on chip or in HBM.
fn piece_view(program: &Program, id: BufferId, piece: Gap) -> View {
    let buffer = &program[id];
    let size = u64::from(buffer.dtype.size());
    let n_partitions = buffer.shape[0];
    let row_bytes = buffer.shape[1..].iter().map(|&it| u64::from(it)).product::<u64>() * size;
    if (piece.first_partition, piece.end_partition) == (0, n_partitions)
        && (piece.start, piece.end) == (0, row_bytes)
    {
        return View::whole(id, buffer);
    }
    // Bytes, where elements are cut.
    let (dtype, size) = match piece.start.is_multiple_of(size) && piece.end.is_multiple_of(size) {
        true => (buffer.dtype, size),
        false => (Dtype::U8, 1),
    };
    let count = piece.end_partition - piece.first_partition;
    let row = Dim {
        stride: 1,
        count: ((piece.end - piece.start) / size) as u32,
    };
    let (partition, offset, stride) = match buffer.memory.is_on_chip() {
        true => (piece.first_partition as u16, piece.start / size, 1),
        false => {
            let first = u64::from(piece.first_partition) * row_bytes + piece.start;
            (0, first / size, (row_bytes / size) as i32)
        }
    };
    let dims = [Dim { stride, count }, row];
    View::new(id, dtype, partition, offset as i64, &dims).expect("two pairs are few")
}
