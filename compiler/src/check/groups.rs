//! Reads of PSUM between the matmuls of one sum.
//!
//! Takes reads and matmuls in program order, gives a warning where a later matmul adds onto what was read: the value was not
//! the whole sum yet.

use super::error::{Error, Tensor};
use super::window;
use crate::ir::{InstId, Program, ViewId};
use crate::isa::Memory;
use crate::source::Span;
use rustc_hash::FxHashMap;

/// The last read of each tensor in PSUM since a matmul wrote to it.
pub struct Groups {
    read: Vec<Option<(InstId, ViewId)>>,
    known: FxHashMap<(Span, Span), u64>,
    found: Vec<(Span, Span, InstId, ViewId)>,
}

impl Groups {
    pub fn new(program: &Program) -> Groups {
        Groups {
            read: vec![None; program.buffers.len()],
            known: FxHashMap::default(),
            found: Vec::new(),
        }
    }

    pub fn read(&mut self, program: &Program, id: InstId, view: ViewId) {
        let buffer = program[view].buffer;
        if program[buffer].memory == Memory::Psum {
            self.read[buffer.index()] = Some((id, view));
        }
    }

    /// A matmul writes; `adds` says that it goes on with a sum.
    pub fn matmul(&mut self, program: &Program, id: InstId, view: ViewId, adds: bool) {
        let Some((reader, read)) = self.read[program[view].buffer.index()].take() else {
            return;
        };
        let pair = window(program, &program[read]).zip(window(program, &program[view]));
        if !adds || !pair.is_some_and(|(a, b)| a.meets(&b)) {
            return;
        }
        let spans = program
            .span(program[reader].loc)
            .zip(program.span(program[id].loc));
        let Some((reads, goes_on)) = spans else { return };
        let count = self.known.entry((reads, goes_on)).or_default();
        *count += 1;
        if *count == 1 {
            self.found.push((reads, goes_on, reader, read));
        }
    }

    pub fn warnings(&self, program: &Program) -> Vec<Error> {
        let warning = |&(reads, goes_on, reader, view): &(Span, Span, InstId, ViewId)| Error::OpenGroup {
            op: program[reader].op.name(),
            tensor: Tensor::new(program, program[view].buffer),
            reads,
            goes_on,
            count: self.known[&(reads, goes_on)],
        };
        self.found.iter().map(warning).collect()
    }
}
