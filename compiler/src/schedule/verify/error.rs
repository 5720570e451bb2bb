//! What can be wrong with a schedule, and how it is said.

use crate::diagnostic::{Diagnostic, Report};
use crate::ir::{InstId, Program};
use crate::isa::{Engine, Memory};
use crate::source::Span;
use crate::text::print_inst;

/// A rule that a schedule breaks.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    NotScheduled {
        inst: Line,
    },
    ScheduledTwice {
        inst: Line,
        queues: [Engine; 2],
    },
    /// The engine does not execute the instruction, or does not issue transfers.
    WrongQueue {
        inst: Line,
        queue: Engine,
        legal: Vec<Engine>,
    },
    /// A queue does not have the barriers and loops of the program.
    Barriers {
        queue: Engine,
        expected: usize,
        found: usize,
    },
    /// An instruction stands before or behind the wrong barrier.
    WrongSegment {
        inst: Line,
        queue: Engine,
    },
    /// A queue names an instruction that the program does not have.
    UnknownInst {
        queue: Engine,
        number: usize,
        n_insts: usize,
    },
    /// The signals from one queue to another do not count 1, 2, 3, …
    SignalCount {
        from: Engine,
        to: Engine,
        expected: u32,
        found: u32,
    },
    WaitWithoutSignal {
        queue: Engine,
        from: Engine,
        count: u32,
        n_signals: u32,
    },
    /// Queues that wait for each other in a ring.
    Deadlock {
        ring: Vec<Blocked>,
    },
    /// An instruction may start before one that it was to wait for is complete.
    NotBehind {
        inst: Line,
        producer: Line,
        queues: [Engine; 2],
    },
    /// An instruction has changed places with one whose order is fixed.
    Passed {
        inst: Line,
        fixed: Line,
        queue: Engine,
    },
    /// More pairs of queues wait for each other than the core has semaphores.
    Semaphores {
        needed: u32,
        limit: u32,
    },
    /// Two instructions touch a byte, one writing, and nothing keeps them in order.
    Race {
        first: Line,
        second: Line,
        queues: [Engine; 2],
        memory: Memory,
        partition: u32,
        byte: u64,
    },
}

/// An instruction as messages show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub text: String,
    pub span: Option<Span>,
}

/// A queue that stands at a wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocked {
    pub queue: Engine,
    pub from: Engine,
    pub count: u32,
    pub signalled: u32,
    /// The instruction behind the wait, if there is one.
    pub next: Option<Line>,
}

impl Line {
    pub fn new(program: &Program, id: InstId) -> Line {
        let inst = &program[id];
        Line {
            text: print_inst(program, inst),
            span: program.span(inst.loc),
        }
    }
}

impl Report for Error {
    fn report(&self) -> Diagnostic {
        match self {
            Error::NotScheduled { inst } => {
                let message = format!("`{}` stands in no queue", inst.text);
                inst.labelled(
                    Diagnostic::error("schedule-incomplete", message),
                    "never executed",
                )
            }
            Error::ScheduledTwice { inst, queues: [a, b] } => {
                let message = format!(
                    "`{}` stands in queue {} and again in queue {}",
                    inst.text,
                    a.name(),
                    b.name()
                );
                inst.labelled(Diagnostic::error("schedule-repeats", message), "executed twice")
            }
            Error::WrongQueue { inst, queue, legal } => {
                let names: Vec<_> = legal.iter().map(|it| it.name()).collect();
                let message = format!("`{}` stands in queue {}", inst.text, queue.name());
                inst.labelled(
                    Diagnostic::error("schedule-wrong-queue", message),
                    "cannot be executed there",
                )
                .note(format!("it may stand in queue {}", names.join(", ")))
            }
            Error::Barriers {
                queue,
                expected,
                found,
            } => Diagnostic::error(
                "schedule-barriers",
                format!(
                    "queue {} has {found} barriers, or others than the {expected} of the program",
                    queue.name()
                ),
            )
            .note("all queues meet at the beginning and end of every loop and around the instructions of registers"),
            Error::WrongSegment { inst, queue } => {
                let message = format!(
                    "`{}` stands behind the wrong barrier of queue {}",
                    inst.text,
                    queue.name()
                );
                inst.labelled(
                    Diagnostic::error("schedule-wrong-segment", message),
                    "executed in another part of the control flow",
                )
            }
            Error::UnknownInst {
                queue,
                number,
                n_insts,
            } => Diagnostic::error(
                "schedule-unknown-instruction",
                format!(
                    "queue {} names instruction {number} of a program of {n_insts}",
                    queue.name()
                ),
            ),
            Error::SignalCount {
                from,
                to,
                expected,
                found,
            } => Diagnostic::error(
                "schedule-signal-count",
                format!(
                    "`signal {} {found}` in queue {} is its signal number {expected} to that queue",
                    to.name(),
                    from.name()
                ),
            )
            .note("the signals of a pair of queues count 1, 2, 3, …"),
            Error::WaitWithoutSignal {
                queue,
                from,
                count,
                n_signals,
            } => Diagnostic::error(
                "schedule-wait-without-signal",
                format!(
                    "queue {} waits for signal {count} of queue {}, which sends it {n_signals}",
                    queue.name(),
                    from.name()
                ),
            ),
            Error::Deadlock { ring } => {
                let names: Vec<_> = ring.iter().map(|it| it.queue.name()).collect();
                let message = format!("queues {} wait for each other", names.join(", "));
                let mut diagnostic = Diagnostic::error("schedule-deadlock", message);
                for it in ring {
                    let text = format!(
                        "queue {} stands at `wait {} {}` and has seen signal {}",
                        it.queue.name(),
                        it.from.name(),
                        it.count,
                        it.signalled
                    );
                    diagnostic = match &it.next {
                        Some(next) => next.labelled(diagnostic, &text),
                        None => diagnostic.note(text),
                    };
                }
                diagnostic
            }
            Error::NotBehind {
                inst,
                producer,
                queues: [to, from],
            } => {
                let message = format!(
                    "`{}` may start before `{}` is complete, for which it was to wait",
                    inst.text, producer.text
                );
                let diagnostic = inst.labelled(Diagnostic::error("schedule-order", message), "does not wait");
                let diagnostic = match producer.span {
                    Some(span) => diagnostic.because(span, "for this one"),
                    None => diagnostic,
                };
                diagnostic.note(format!(
                    "queue {} has to wait for a signal that queue {} sends behind the other one",
                    to.name(),
                    from.name()
                ))
            }
            Error::Passed { inst, fixed, queue } => {
                let message = format!(
                    "`{}` stands in queue {} behind `{}`, whose order is fixed, and before it in the program",
                    inst.text,
                    queue.name(),
                    fixed.text
                );
                inst.labelled(Diagnostic::error("schedule-fixed", message), "has changed places")
                    .note("nothing passes the instructions of a no_reorder region")
            }
            Error::Semaphores { needed, limit } => Diagnostic::error(
                "schedule-semaphores",
                format!("the schedule needs {needed} semaphores; a core has {limit}"),
            )
            .note("a semaphore counts for each pair of queues of which one signals the other, and one for each queue at barriers"),
            Error::Race {
                first,
                second,
                queues: [from, to],
                memory,
                partition,
                byte,
            } => {
                let place = match memory {
                    Memory::Hbm => format!("byte {byte:#x} of HBM"),
                    _ => format!("byte {byte:#x} of partition {partition} of {}", memory.name()),
                };
                let message = format!(
                    "`{}` and `{}` touch {place}, and nothing keeps them in order",
                    first.text, second.text
                );
                let diagnostic = Diagnostic::error("schedule-race", message);
                let diagnostic = second.labelled(diagnostic, "may start before the other one is complete");
                let diagnostic = match first.span {
                    Some(span) => diagnostic.because(span, "the other one"),
                    None => diagnostic,
                };
                diagnostic.note(format!(
                    "queue {} has to wait for a signal that queue {} sends behind the other one",
                    to.name(),
                    from.name()
                ))
            }
        }
    }
}

impl Line {
    fn labelled(&self, diagnostic: Diagnostic, text: &str) -> Diagnostic {
        match self.span {
            Some(span) => diagnostic.at(span, text),
            None => diagnostic.note(format!("{}: {text}", self.text)),
        }
    }
}
