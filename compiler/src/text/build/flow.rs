//! The order of a text: loops, the steps of queues, and the program order that a schedule has.

use super::super::error::{Error, Mistake};
use super::super::order;
use super::super::syntax::{BoundText, LoopText};
use super::{Builder, Section, number};
use crate::ir::{Bound, InstId, Loop, LoopKind, RegisterId, Schedule, Step};
use crate::isa::N_ENGINES;
use crate::source::Span;
use std::ops::Range;

impl Builder {
    pub(super) fn add_step(&mut self, range: Range<usize>, step: Step) {
        let span = self.span(&range);
        if let Section::Queue(engine) = self.section
            && let Some(queue) = &mut self.queues[engine as usize]
        {
            queue.push((step, span));
        }
    }

    /// Begins a loop. The queues repeat the loops of the first one.
    pub(super) fn open_loop(&mut self, range: &Range<usize>, text: LoopText) {
        let span = self.span(range);
        let n_errors = self.errors.len();
        let kind = self.loop_kind(text);
        let number = self.n_loops;
        self.n_loops += 1;
        self.open_loops.push((number, span));
        match self.program.loops.get(number) {
            Some(known) if kind.is_some_and(|it| it != known.kind) => {
                self.report(range.clone(), Mistake::BarriersDiffer);
            }
            Some(_) => {}
            None => {
                let first = self.program.insts.len();
                let loc = Some(self.add_loc(range));
                // A loop that cannot be read keeps its place, so that its end is no further mistake.
                let kind = kind.unwrap_or(LoopKind::While {
                    register: RegisterId::new(0),
                });
                self.program.loops.push(Loop {
                    kind,
                    first,
                    end: first,
                    depth: self.open_loops.len() as u32 - 1,
                    loc,
                });
            }
        }
        if self.errors.len() == n_errors {
            self.add_step(range.clone(), Step::Loop(number as u32));
        }
    }

    fn loop_kind(&mut self, text: LoopText) -> Option<LoopKind> {
        Some(match text {
            LoopText::While(name) => LoopKind::While {
                register: self.register(&name)?,
            },
            LoopText::For {
                register,
                lower,
                upper,
                step,
            } => LoopKind::For {
                register: self.register(&register)?,
                lower: self.bound(lower)?,
                upper: self.bound(upper)?,
                step: match step {
                    Some(it) if it.value > 0 => self.fit(&it, "a step", "4294967295")?,
                    Some(it) => {
                        self.report(it.range, number("a step", "1 or more"));
                        return None;
                    }
                    None => 1,
                },
            },
        })
    }

    fn bound(&mut self, text: BoundText) -> Option<Bound> {
        match text {
            BoundText::Int(it) => self.fit(&it, "a bound", "2147483647").map(Bound::Int),
            BoundText::Register(name) => self.register(&name).map(Bound::Register),
        }
    }

    /// Puts the instructions in an order that the semaphores allow.
    pub(super) fn schedule(&mut self) -> Option<Schedule> {
        if !self.errors.is_empty() {
            return None;
        }
        let mut schedule = Schedule::default();
        for (queue, steps) in schedule.queues.iter_mut().zip(&self.queues) {
            queue.extend(steps.iter().flatten().map(|it| it.0));
        }
        let meets = |queue: usize| schedule.queues[queue].iter().filter(|it| it.is_barrier());
        if (1..N_ENGINES).any(|it| !meets(0).eq(meets(it))) {
            let spans = self.queues.iter().flatten().flatten();
            let first = spans.filter(|it| it.0.is_barrier()).map(|it| it.1).min();
            self.errors.push(Error {
                span: first.expect("some queue has a barrier"),
                mistake: Mistake::BarriersDiffer,
            });
            return None;
        }
        let order = match order::order(&schedule.queues) {
            Ok(order) => order,
            Err(blocked) => {
                self.report_deadlock(&blocked);
                return None;
            }
        };
        for (number, range) in order.loops {
            let it = &mut self.program.loops[number as usize];
            (it.first, it.end) = (range.start, range.end);
        }
        let order = order.insts;
        let mut numbers = vec![InstId::new(0); order.len()];
        for (idx, id) in order.iter().enumerate() {
            numbers[id.index()] = InstId::new(idx);
        }
        self.program.insts = order.iter().map(|it| self.program[*it]).collect();
        for step in schedule.queues.iter_mut().flatten() {
            if let Step::Inst(id) = step {
                *id = numbers[id.index()];
            }
        }
        Some(schedule)
    }

    fn report_deadlock(&mut self, blocked: &[order::Blocked]) {
        let span = |it: &order::Blocked| {
            self.queues[it.queue as usize]
                .as_ref()?
                .get(it.position)
                .map(|it| it.1)
        };
        let waits: Vec<(Span, order::Blocked)> =
            blocked.iter().filter_map(|it| Some((span(it)?, *it))).collect();
        if let Some(&(span, _)) = waits.first() {
            let mistake = Mistake::Deadlock { waits };
            self.errors.push(Error { span, mistake });
        }
    }
}
