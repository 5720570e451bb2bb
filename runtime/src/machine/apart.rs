//! Instructions that the machine itself looks at when they run: collectives, and dynamic accesses of shared tensors.
//!
//! Takes a program and what it shares, gives what is to be done at each such instruction; notes the bytes that dynamic
//! accesses touch, so that races between programs are found. Never executes an instruction of an engine.

use crate::access::{Access, Movement};
use crate::collective::Collective;
use crate::fault::read_index;
use crate::memory::Memory;
use nk_compiler::footprint::Bytes;
use nk_compiler::ir::{BufferId, InstId, Program, View};
use nk_compiler::isa::{self, Op};
use nk_compiler::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// What the machine does at an instruction.
#[derive(Debug)]
pub enum Apart {
    /// Runs it, by meeting other ranks.
    Collective(Box<Collective>),
    /// Notes what it touches before it runs.
    Watched(Vec<Watched>),
}

/// A dynamic access of a shared tensor.
#[derive(Debug)]
pub struct Watched {
    buffer: BufferId,
    /// Without the movement; of one row when each row has an index of its own.
    bytes: Bytes,
    rows: u32,
    movement: Movement,
    writes: bool,
    span: Option<Span>,
}

/// Bytes of a shared tensor that a dynamic access has touched, counted from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    pub buffer: BufferId,
    pub bytes: Bytes,
    pub writes: bool,
    pub span: Option<Span>,
}

/// What was touched, each view once for each index.
#[derive(Debug, Default)]
pub struct Touches {
    pub list: Vec<Touch>,
    known: FxHashSet<(u32, u32, bool)>,
}

/// The instructions to look at. `is_shared` says which buffers other programs may touch; empty when none are.
pub fn find(program: &Program, accesses: &[Access], is_shared: &[bool]) -> FxHashMap<InstId, Apart> {
    let mut apart = FxHashMap::default();
    for (id, inst) in program.iter() {
        if inst.op == Op::Collective {
            let collective = Collective::new(program, id, accesses);
            apart.insert(id, Apart::Collective(Box::new(collective)));
            continue;
        }
        if program.is_static() || is_shared.is_empty() {
            continue;
        }
        let span = program.span(inst.loc);
        let mut watched = Vec::new();
        for (access, view) in inst.views().filter(|it| is_shared[program[it.1].buffer.index()]) {
            let Some(movement) = accesses[view.index()].movement.clone() else {
                continue;
            };
            let (view, rows) = one_row(&program[view]);
            let Some(bytes) = Bytes::of(&view, program.memory(&view)) else {
                continue;
            };
            for writes in [false, true] {
                let other = if writes {
                    isa::Access::Read
                } else {
                    isa::Access::Write
                };
                if access != other {
                    watched.push(Watched {
                        buffer: view.buffer,
                        bytes,
                        rows,
                        movement: movement.clone(),
                        writes,
                        span,
                    });
                }
            }
        }
        if !watched.is_empty() {
            apart.insert(id, Apart::Watched(watched));
        }
    }
    apart
}

/// The part of a view that one index moves, and how many indices there are.
fn one_row(view: &View) -> (View, u32) {
    if !view.has_row_indices() {
        return (*view, 1);
    }
    let rows = view.dims().first().map_or(1, |it| it.count);
    (view.with_first_stride(0), rows)
}

impl Watched {
    /// Notes what the access is about to touch. An index out of bounds is left to the instruction.
    pub fn note(&self, memory: &Memory, registers: &[i32], touches: &mut Touches) {
        for row in 0..self.rows {
            let Ok(index) = read_index(&self.movement, row, memory, registers) else {
                continue;
            };
            if touches.known.insert((self.movement.view, index, self.writes)) {
                touches.list.push(Touch {
                    buffer: self.buffer,
                    bytes: self.bytes.shifted(self.movement.stride * u64::from(index)),
                    writes: self.writes,
                    span: self.span,
                });
            }
        }
    }
}
