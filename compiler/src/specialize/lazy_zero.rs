//! Zeros in PSUM: `nl.zeros(…, buffer=nl.psum)`.
//!
//! Takes note of such tiles where they are made and emits nothing: the first matmul on each word overwrites it, under
//! `accumulate=True` too, as kernels that run on Trainium1 rely on. When the program is complete, a tile of which something
//! is read before anything is written gets a memset where it was made; a matmul still begins each word anew.

use super::Evaluator;
use super::value::Tensor;
use crate::check::read_before_written;
use crate::ir::{Asked, BufferId, Inst, LocId};
use crate::isa::{Arg, MAX_ARGS, Op};
use crate::source::Span;
use rustc_hash::FxHashSet;

/// A tile that is zero until something is written.
pub struct LazyZero {
    tile: Tensor,
    /// How many instructions stand before the tile, and the loops of the device around it.
    position: usize,
    loops: Vec<usize>,
    loc: LocId,
}

impl Evaluator<'_> {
    /// Makes a fresh tile in PSUM zero.
    pub fn zero_lazily(&mut self, tile: &Tensor, span: Span) {
        let loc = self.here(span);
        let position = self.program.insts.len();
        let (tile, loops) = (tile.clone(), self.open_loop_numbers());
        let zero = LazyZero {
            tile,
            position,
            loops,
            loc,
        };
        self.zeros.insert(zero.tile.buffer(), zero);
    }

    /// Whether a buffer is zero until something is written.
    pub fn is_lazily_zero(&self, buffer: BufferId) -> bool {
        self.zeros.contains_key(&buffer)
    }

    /// Inserts the memsets that reads call for.
    pub fn settle_zeros(&mut self) {
        let candidates: FxHashSet<BufferId> = self.zeros.keys().copied().collect();
        if candidates.is_empty() {
            return;
        }
        // Buffers are numbered as they are made, so the memsets come in the order of their positions.
        let mut memsets = Vec::new();
        for buffer in read_before_written(&self.program, &candidates) {
            let Some(zero) = self.zeros.remove(&buffer) else {
                continue;
            };
            let mut args = [Arg::Absent; MAX_ARGS];
            args[0] = self.view_arg(&zero.tile);
            args[1] = match zero.tile.view.dtype.is_int() {
                true => Arg::Int(0),
                false => Arg::Float(0.0),
            };
            let op = Op::Memset;
            let engine = op.row().engines[0];
            let loc = Some(zero.loc);
            let inst = Inst {
                op,
                engine,
                loc,
                args,
                asked: Asked::default(),
            };
            memsets.push((zero, inst));
        }
        self.insert(memsets);
    }

    /// Inserts instructions, in the order of their positions; loops grow with what is inserted in them.
    fn insert(&mut self, memsets: Vec<(LazyZero, Inst)>) {
        for (number, it) in self.program.loops.iter_mut().enumerate() {
            let (first, end) = (it.first, it.end);
            for (zero, _) in &memsets {
                let is_inside = zero.loops.contains(&number);
                // What was made right before a loop, or in it at its very start, stands at the same position.
                it.first += usize::from(zero.position < first || (zero.position == first && !is_inside));
                it.end += usize::from(zero.position < end || (zero.position == end && is_inside));
            }
        }
        let before = std::mem::take(&mut self.program.insts);
        let mut memsets = memsets.into_iter().peekable();
        let mut insts = Vec::with_capacity(before.len() + memsets.len());
        for (idx, inst) in before.into_iter().enumerate() {
            while let Some((_, memset)) = memsets.next_if(|it| it.0.position <= idx) {
                insts.push(memset);
            }
            insts.push(inst);
        }
        insts.extend(memsets.map(|it| it.1));
        self.program.insts = insts;
    }
}
