//! Dependences between iterations of `nl.affine_range`, which promises that there are none.
//!
//! Takes every instruction of the classic style with the loops around it. An instruction that reads what an earlier
//! iteration of such a loop has written is a warning, once for a loop and a tensor; accumulations are what the loop
//! allows. In the current style the loop is a `range`, and nothing is said.

use super::Evaluator;
use crate::diagnostic::Diagnostic;
use crate::ir::{BufferId, View};
use crate::isa::{Access, Accumulate, AluOp, Arg, MAX_ARGS, Op};
use crate::source::Span;
use rustc_hash::FxHashMap;

/// One iteration of a loop that is running or has run.
struct Iteration {
    parent: Option<usize>,
    run: Run,
    number: u32,
}

/// One time that a loop was begun.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Run {
    id: u32,
    /// The range of an `affine_range` loop.
    affine: Option<Span>,
}

/// The iterations so far, and what the newest writes of each buffer were.
#[derive(Default)]
pub struct Dependences {
    iterations: Vec<Iteration>,
    current: Option<usize>,
    n_runs: u32,
    pending: Option<Pending>,
    writes: FxHashMap<BufferId, Vec<(View, Option<usize>)>>,
}

/// The instruction emitted last: it may still be given another destination.
struct Pending {
    op: Op,
    args: [Arg; MAX_ARGS],
    span: Span,
    /// The iteration it stands in.
    place: Option<usize>,
}

/// The most writes of one buffer that are remembered; older ones are mostly overwritten.
const MAX_WRITES: usize = 16;

impl Dependences {
    /// A loop begins: over an `affine_range` at this place, or over something else.
    pub fn begin(&mut self, affine: Option<Span>) -> Run {
        self.n_runs += 1;
        Run {
            id: self.n_runs,
            affine,
        }
    }

    pub fn enter(&mut self, run: Run, number: usize) {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let parent = self.current;
        self.iterations.push(Iteration { parent, run, number });
        self.current = Some(self.iterations.len() - 1);
    }

    pub fn leave(&mut self) {
        self.current = self.current.and_then(|it| self.iterations[it].parent);
    }

    /// The instruction emitted last writes elsewhere.
    pub fn retarget(&mut self, args: [Arg; MAX_ARGS]) {
        if let Some(pending) = &mut self.pending {
            pending.args = args;
        }
    }

    /// The affine loop that two places share in different iterations.
    fn carried(&self, write: Option<usize>, read: Option<usize>) -> Option<(Span, u32, u32)> {
        let mut here = read;
        while let Some(at) = here {
            let iteration = &self.iterations[at];
            let mut there = write;
            while let Some(other) = there {
                let other = &self.iterations[other];
                if other.run == iteration.run {
                    if let (Some(span), true) = (iteration.run.affine, other.number != iteration.number) {
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
        let (op, span, place) = (*op, *span, *place);
        let accumulates = self.accumulates(op, args);
        for (operand, arg) in op.row().operands.iter().zip(args) {
            let (Some(facts), Arg::View(id)) = (operand.kind.tile(), arg) else {
                continue;
            };
            let view = self.program[*id];
            let overwrites = op == Op::NcMatmul && args.contains(&Arg::Accumulate(Accumulate::Overwrite));
            let reads = facts.access != Access::Write && !(overwrites && facts.access == Access::ReadWrite);
            if reads && !accumulates && place.is_some() {
                self.check_read(&view, place, span);
            }
        }
        for (operand, arg) in op.row().operands.iter().zip(args) {
            let (Some(facts), Arg::View(id)) = (operand.kind.tile(), arg) else {
                continue;
            };
            if facts.access != Access::Read {
                let view = self.program[*id];
                let writes = self.dependences.writes.entry(view.buffer).or_default();
                writes.retain(|it| it.0 != view);
                if writes.len() == MAX_WRITES {
                    writes.remove(0);
                }
                writes.push((view, place));
            }
        }
    }

    fn check_read(&mut self, view: &View, place: Option<usize>, span: Span) {
        let Some(writes) = self.dependences.writes.get(&view.buffer) else {
            return;
        };
        let newest = writes
            .iter()
            .rev()
            .find(|it| super::bind::may_overlap(&it.0, view));
        let Some((range, from, to)) = newest.and_then(|it| self.dependences.carried(it.1, place)) else {
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
