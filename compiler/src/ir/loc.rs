//! Where instructions and buffers come from: spans of the source with the calls and loops around them.
//!
//! Takes locations one after the other, gives ids and the locations back. Unrolled loops repeat the same few spans with
//! other iterations around them, so spans are kept once and a location is three words. Never forgets one.

use super::LocId;
use crate::source::Span;
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Where an instruction or a buffer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loc {
    pub span: Span,
    /// The call or loop around it.
    pub parent: Option<LocId>,
    pub frame: Frame,
}

/// What a [`Loc`] stands for in the chain of parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Frame {
    /// The place itself.
    Here,
    /// The call whose callee holds the child.
    Call,
    /// One iteration of an unrolled loop, of at most [`Frame::MAX_ITERATION`].
    Iteration(u32),
}

impl Frame {
    /// Later iterations are called this one: programs are bounded far below it.
    pub const MAX_ITERATION: u32 = u32::MAX - 2;

    fn word(self) -> u32 {
        match self {
            Frame::Here => 0,
            Frame::Call => 1,
            Frame::Iteration(number) => number.min(Frame::MAX_ITERATION) + 2,
        }
    }

    fn from_word(word: u32) -> Frame {
        match word {
            0 => Frame::Here,
            1 => Frame::Call,
            _ => Frame::Iteration(word - 2),
        }
    }
}

/// The locations of a program.
#[derive(Clone, Debug, Default)]
pub struct Locs {
    all: Vec<Packed>,
    spans: Vec<Span>,
    /// The index of every span, found by the span.
    known: HashTable<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Packed {
    span: u32,
    parent: Option<LocId>,
    frame: u32,
}

impl Locs {
    pub fn add(&mut self, loc: Loc) -> LocId {
        let span = self.intern(loc.span);
        self.all.push(Packed {
            span,
            parent: loc.parent,
            frame: loc.frame.word(),
        });
        LocId::new(self.all.len() - 1)
    }

    fn intern(&mut self, span: Span) -> u32 {
        let Locs { spans, known, .. } = self;
        let hash = |it: &Span| FxBuildHasher.hash_one(it);
        let entry = known.entry(
            hash(&span),
            |it| spans[*it as usize] == span,
            |it| hash(&spans[*it as usize]),
        );
        let next = spans.len();
        let index = *entry
            .or_insert_with(|| u32::try_from(next).expect("spans are fewer than locations"))
            .get();
        if index as usize == next {
            spans.push(span);
        }
        index
    }

    pub fn get(&self, id: LocId) -> Loc {
        let Packed { span, parent, frame } = self.all[id.index()];
        Loc {
            span: self.spans[span as usize],
            parent,
            frame: Frame::from_word(frame),
        }
    }

    /// The span in the kernel's own file: where a helper is called, not inside it.
    pub fn outermost(&self, id: LocId) -> Span {
        let calls = self.around(Some(id)).filter(|it| it.frame == Frame::Call);
        calls.last().unwrap_or_else(|| self.get(id)).span
    }

    /// The location and those around it, innermost first.
    pub fn around(&self, id: Option<LocId>) -> impl Iterator<Item = Loc> {
        let mut at = id;
        std::iter::from_fn(move || {
            let loc = self.get(at?);
            at = loc.parent;
            Some(loc)
        })
    }
}
