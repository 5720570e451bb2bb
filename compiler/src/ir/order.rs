//! What a kernel asks of the order of its instructions, beyond what the bytes they touch ask for.
//!
//! `nl.no_reorder` fixes instructions where they are, `depends_on` and `with_schedule` let one start only when another is
//! complete. Both travel with the instruction, so that a stage which inserts or moves instructions keeps them.

use super::{InstId, MarkId, Name, Program};
use std::fmt;
use std::num::NonZeroU32;

/// An instruction that others wait for, or that waits for others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// What others call it by, when some do.
    pub name: Option<Name>,
    /// What must be complete before it starts.
    pub after: Vec<MarkId>,
}

/// What is asked of the place of one instruction among the others: its mark, and whether it is fixed.
///
/// One word: every instruction of a program has one, and nearly all are empty.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked(u32);

impl Asked {
    const FIXED: u32 = 1 << 31;

    pub fn new(mark: Option<MarkId>, is_fixed: bool) -> Asked {
        let number = mark.map_or(0, |it| it.0.get());
        assert!(number < Asked::FIXED, "marks are fewer than 2^31");
        Asked(number | if is_fixed { Asked::FIXED } else { 0 })
    }

    pub fn mark(self) -> Option<MarkId> {
        NonZeroU32::new(self.0 & !Asked::FIXED).map(MarkId)
    }

    /// No instruction of its queue that stands on one side of it in the program may run on the other.
    pub fn is_fixed(self) -> bool {
        self.0 & Asked::FIXED != 0
    }
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Asked");
        shown
            .field("mark", &self.mark())
            .field("is_fixed", &self.is_fixed())
            .finish()
    }
}

impl Program {
    pub fn add_mark(&mut self, mark: Mark) -> MarkId {
        self.marks.push(mark);
        MarkId::new(self.marks.len() - 1)
    }

    /// The instruction of each mark.
    pub fn marked(&self) -> Vec<Option<InstId>> {
        let mut marked = vec![None; self.marks.len()];
        if !marked.is_empty() {
            for (id, inst) in self.iter() {
                if let Some(mark) = inst.asked.mark() {
                    marked[mark.index()] = Some(id);
                }
            }
        }
        marked
    }
}
