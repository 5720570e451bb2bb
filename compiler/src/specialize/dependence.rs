//! Dependences between iterations of `nl.affine_range`, which promises that there are none.
//!
//! Takes every instruction of the classic style with the loops around it. An instruction that reads what an earlier
//! iteration of such a loop has written is a warning, once for a loop and a tensor; accumulations are what the loop
//! allows. In the current style the loop is a `range`, and nothing is said.

use super::Evaluator;
use crate::diagnostic::Diagnostic;
use crate::ir::{BufferId, View, ViewId};
use crate::isa::{Access, Accumulate, AluOp, Arg, MAX_ARGS, Op};
use crate::source::Span;
use std::num::NonZeroU32;

/// One iteration of a loop that is running or has run.
struct Iteration {
    parent: Option<Place>,
    run: Run,
    number: u32,
}

/// An iteration, by number. One more than the index is kept, so that an optional place takes no more room.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place(NonZeroU32);

/// One time that a loop was begun, by number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Run(u32);

struct Begun {
    /// The range of an `affine_range` loop.
    affine: Option<Span>,
    /// Whether it, or a loop around it, is an `affine_range`.
    is_in_affine: bool,
}

/// The iterations so far, and what the newest writes of each buffer were.
#[derive(Default)]
pub struct Dependences {
    runs: Vec<Begun>,
    iterations: Vec<Iteration>,
    current: Option<Place>,
    pending: Option<Pending>,
    /// Indexed by buffer.
    writes: Vec<Writes>,
}

/// The instruction emitted last: it may still be given another destination.
struct Pending {
    op: Op,
    args: [Arg; MAX_ARGS],
    span: Span,
    /// The iteration it stands in.
    place: Option<Place>,
}

/// The newest writes of a buffer, oldest first. Most tiles are written once.
#[derive(Default)]
enum Writes {
    #[default]
    None,
    One(Write),
    Many(Vec<Write>),
}

#[derive(Clone, Copy)]
struct Write {
    view: ViewId,
    place: Place,
}

/// The most writes of one buffer that are remembered; older ones are mostly overwritten.
const MAX_WRITES: usize = 16;

impl Writes {
    fn as_slice(&self) -> &[Write] {
        match self {
            Writes::None => &[],
            Writes::One(it) => std::slice::from_ref(it),
            Writes::Many(all) => all,
        }
    }

    fn push(&mut self, write: Write) {
        *self = match std::mem::take(self) {
            Writes::None => Writes::One(write),
            Writes::One(it) if it.view == write.view => Writes::One(write),
            Writes::One(it) => Writes::Many(vec![it, write]),
            Writes::Many(mut all) => {
                all.retain(|it| it.view != write.view);
                if all.len() == MAX_WRITES {
                    all.remove(0);
                }
                all.push(write);
                Writes::Many(all)
            }
        };
    }
}

impl Dependences {
    /// A loop begins: over an `affine_range` at this place, or over something else.
    pub fn begin(&mut self, affine: Option<Span>) -> Run {
        let is_in_affine = affine.is_some() || self.current.is_some_and(|it| self.is_in_affine(it));
        self.runs.push(Begun { affine, is_in_affine });
        Run(self.runs.len() as u32 - 1)
    }

    pub fn enter(&mut self, run: Run, number: usize) {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let parent = self.current;
        self.iterations.push(Iteration { parent, run, number });
        let place = u32::try_from(self.iterations.len())
            .ok()
            .and_then(NonZeroU32::new);
        self.current = Some(Place(
            place.expect("steps of an evaluation are limited below u32::MAX"),
        ));
    }

    pub fn leave(&mut self) {
        self.current = self.current.and_then(|it| self.iteration(it).parent);
    }

    /// The instruction emitted last writes elsewhere.
    pub fn retarget(&mut self, args: [Arg; MAX_ARGS]) {
        if let Some(pending) = &mut self.pending {
            pending.args = args;
        }
    }

    fn iteration(&self, place: Place) -> &Iteration {
        &self.iterations[place.0.get() as usize - 1]
    }

    fn begun(&self, run: Run) -> &Begun {
        &self.runs[run.0 as usize]
    }

    fn is_in_affine(&self, place: Place) -> bool {
        self.begun(self.iteration(place).run).is_in_affine
    }

    fn writes_of(&self, buffer: BufferId) -> &[Write] {
        self.writes.get(buffer.index()).map_or(&[], Writes::as_slice)
    }

    fn note_write(&mut self, buffer: BufferId, write: Write) {
        if self.writes.len() <= buffer.index() {
            self.writes.resize_with(buffer.index() + 1, Writes::default);
        }
        self.writes[buffer.index()].push(write);
    }

    /// The affine loop that two places share in different iterations.
    fn carried(&self, write: Place, read: Place) -> Option<(Span, u32, u32)> {
        let mut here = Some(read);
        while let Some(at) = here {
            let iteration = self.iteration(at);
            let mut there = Some(write);
            while let Some(other) = there {
                let other = self.iteration(other);
                if other.run == iteration.run {
                    if let (Some(span), true) =
                        (self.begun(iteration.run).affine, other.number != iteration.number)
                    {
                        return Some((span, other.number, iteration.number));
                    }
                    break;
                }
                there = other.parent;
            }
            here = iteration.parent;
        }
        None
    }
}

impl Evaluator<'_> {
    /// Notes an instruction, and looks at the one before it, whose operands are settled by now.
    pub fn note_dependences(&mut self, op: Op, args: &[Arg; MAX_ARGS], span: Span) {
        let next = Pending {
            op,
            args: *args,
            span,
            place: self.dependences.current,
        };
        if let Some(last) = self.dependences.pending.replace(next) {
            self.follow(&last);
        }
    }

    /// Looks at what an instruction reads, and notes what it writes.
    fn follow(&mut self, inst: &Pending) {
        let Pending {
            op,
            args,
            span,
            place,
        } = inst;
        let (op, span) = (*op, *span);
        // Only the iterations of an affine loop promise anything.
        let Some(place) = place.filter(|it| self.dependences.is_in_affine(*it)) else {
            return;
        };
        let accumulates = self.accumulates(op, args);
        for (operand, arg) in op.row().operands.iter().zip(args) {
            let (Some(facts), Arg::View(id)) = (operand.kind.tile(), arg) else {
                continue;
            };
            let view = self.program[*id];
            let overwrites = op == Op::NcMatmul && args.contains(&Arg::Accumulate(Accumulate::Overwrite));
            let reads = facts.access != Access::Write && !(overwrites && facts.access == Access::ReadWrite);
            if reads && !accumulates {
                self.check_read(&view, place, span);
            }
        }
        for (operand, arg) in op.row().operands.iter().zip(args) {
            let (Some(facts), Arg::View(id)) = (operand.kind.tile(), arg) else {
                continue;
            };
            if facts.access != Access::Read {
                let buffer = self.program[*id].buffer;
                self.dependences.note_write(buffer, Write { view: *id, place });
            }
        }
    }

    fn check_read(&mut self, view: &View, place: Place, span: Span) {
        // A number may be that of a tile that was taken back.
        let is_seen = |it: &&Write| {
            let written = &self.program[it.view];
            written.buffer == view.buffer && super::bind::may_overlap(written, view)
        };
        let newest = self.dependences.writes_of(view.buffer).iter().rev().find(is_seen);
        let Some((range, from, to)) = newest.and_then(|it| self.dependences.carried(it.place, place)) else {
            return;
        };
        let buffer = &self.program[view.buffer];
        let base = buffer.name.base.clone();
        if self.carried.iter().any(|it| it.0 == range && it.1 == base) {
            return;
        }
        let message = format!(
            "iteration {to} of an nl.affine_range loop reads what iteration {from} wrote to {}",
            buffer.name
        );
        let mut diagnostic = Diagnostic::warning("carried-dependence", message)
            .at(span, "read here")
            .because(
                range,
                "this loop promises that its iterations do not depend on each other",
            );
        if let Some(made) = self.program.span(buffer.loc) {
            diagnostic = diagnostic.because(made, format!("{} is made here", buffer.name));
        }
        let help = "use nl.sequential_range, or make the tile inside the loop";
        self.warnings.push(diagnostic.help(help));
        self.carried.push((range, base));
    }

    /// Whether an instruction adds to what it finds: the one dependence that the loop allows.
    fn accumulates(&self, op: Op, args: &[Arg; MAX_ARGS]) -> bool {
        let Arg::View(dst) = args[0] else { return false };
        let in_place = args[1..]
            .iter()
            .any(|it| matches!(it, Arg::View(id) if self.program[*id] == self.program[dst]));
        let combines = args.iter().any(|it| {
            matches!(
                it,
                Arg::Alu(AluOp::Add | AluOp::Maximum | AluOp::Minimum | AluOp::Multiply)
            )
        });
        op == Op::NcMatmul || (in_place && combines)
    }
}
