//! What a kernel asks of the order of its instructions: `depends_on`, `with_schedule` and `no_reorder`.
//!
//! Takes handles and names of instructions, marks the instructions of the program. When the text of the kernel has them
//! the other way round, they change places. Never chooses an order beyond that: schedules do.

use super::error::{Error, Result, closest};
use super::eval::{CallArgs, with_article};
use super::value::Value;
use super::{Evaluator, language};
use crate::ir::{Asked, InstId, Mark, MarkId, Name};
use crate::reorder;
use crate::source::Span;
use crate::text::print_inst;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The instructions that a call has made, by number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handle {
    first: u32,
    end: u32,
}

impl Handle {
    fn insts(self) -> impl Iterator<Item = InstId> {
        (self.first..self.end).map(|it| InstId::new(it as usize))
    }
}

/// `consumer` starts when `producer` is complete.
struct Wait {
    consumer: Handle,
    producer: Handle,
    span: Span,
}

/// What was asked so far.
#[derive(Default)]
pub struct Ordering {
    /// How many `no_reorder` regions are open.
    pub n_fixed: usize,
    /// The instructions that calls with `name=` have made.
    named: Vec<(Rc<str>, Handle)>,
    waits: Vec<Wait>,
    schedules: Vec<Rc<Scheduled>>,
}

/// A kernel with pairs of names: the first one's instruction waits for those of the others.
#[derive(Debug)]
pub struct Scheduled {
    pub kernel: Value,
    pub pairs: Value,
    pub span: Span,
}

impl Evaluator<'_> {
    /// Makes a call whose instructions can be named afterwards.
    pub fn with_handle(
        &mut self,
        args: CallArgs,
        call: impl FnOnce(&mut Self, CallArgs) -> Result<Value>,
    ) -> Result<Value> {
        let first = self.program.insts.len() as u32;
        let name = args.keywords.iter().find(|it| &*it.0 == "name");
        let name = name.and_then(|it| match &it.1 {
            Value::Str(name) => Some(name.clone()),
            _ => None,
        });
        let value = call(self, args)?;
        let end = self.program.insts.len() as u32;
        let handle = Handle { first, end };
        if let Some(name) = name {
            self.ordering.named.push((name, handle));
        }
        Ok(match value {
            Value::Instruction(_) => Value::Instruction(handle),
            value => value,
        })
    }

    /// `consumer.depends_on(*producers)`
    pub fn depends_on(&mut self, consumer: Handle, args: CallArgs) -> Result<Value> {
        let span = args.span;
        if let Some((name, _)) = args.keywords.first() {
            let problem = format!("depends_on takes instructions, and no keyword `{name}`");
            return Err(Error::type_error(problem, span));
        }
        for value in args.positional {
            let Value::Instruction(producer) = value else {
                let kind = with_article(value.kind());
                let problem = format!("depends_on takes what instruction calls return, not {kind}");
                return Err(Error::type_error(problem, span));
            };
            self.ordering.waits.push(Wait {
                consumer,
                producer,
                span,
            });
        }
        Ok(Value::Instruction(consumer))
    }

    /// Adds the waits of a scheduled kernel once the kernel has been evaluated.
    pub fn add_schedule(&mut self, schedule: Rc<Scheduled>) {
        self.ordering.schedules.push(schedule);
    }

    /// Whether a context of `with` fixes the order of what it holds.
    pub fn fixes_order(context: &Value) -> bool {
        matches!(context, Value::Member(it) if it.kind == language::NO_REORDER.kind)
    }

    /// Marks the instructions that wait for each other.
    pub fn settle_order(&mut self) -> Result<()> {
        for it in std::mem::take(&mut self.ordering.schedules) {
            self.read_schedule(&it.pairs, it.span)?;
        }
        let waits = std::mem::take(&mut self.ordering.waits);
        if waits.is_empty() {
            return Ok(());
        }
        let mut edges: Vec<(InstId, InstId)> = Vec::new();
        for wait in &waits {
            for consumer in wait.consumer.insts() {
                for producer in wait.producer.insts() {
                    self.check_wait(consumer, producer, wait.span)?;
                    edges.push((consumer, producer));
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        self.mark_insts(&edges);
        if edges.iter().all(|(consumer, producer)| producer < consumer) {
            return Ok(());
        }
        let Err((consumer, producer)) = reorder::settle(&mut self.program) else {
            return Ok(());
        };
        let is_it = |it: &&Wait| {
            it.consumer.insts().any(|it| it == consumer) && it.producer.insts().any(|it| it == producer)
        };
        let span = waits.iter().find(is_it).map_or(waits[0].span, |it| it.span);
        let text = |id: InstId| print_inst(&self.program, &self.program[id]);
        let problem = format!(
            "`{}` is to wait for `{}`, which comes after it by its data, by another wait or in a no_reorder region",
            text(consumer),
            text(producer)
        );
        Err(Error::value_error(problem, span))
    }

    /// A wait is fixed when the kernel is compiled and happens each time, so its producer must run as often.
    fn check_wait(&self, consumer: InstId, producer: InstId, span: Span) -> Result<()> {
        if consumer == producer {
            return Err(Error::value_error("an instruction cannot wait for itself", span));
        }
        let around = |id: InstId| {
            let loops = self.program.loops.iter().enumerate();
            loops
                .filter(|it| (it.1.first..it.1.end).contains(&id.index()))
                .map(|it| it.0)
                .collect::<Vec<usize>>()
        };
        if around(consumer).starts_with(&around(producer)) {
            return Ok(());
        }
        let problem = "an instruction cannot wait for one inside a dynamic loop that it stands outside of";
        Err(Error::value_error(problem, span))
    }

    fn mark_insts(&mut self, edges: &[(InstId, InstId)]) {
        let mut all: Vec<InstId> = edges.iter().flat_map(|it| [it.0, it.1]).collect();
        all.sort_unstable();
        all.dedup();
        let named: FxHashMap<InstId, Rc<str>> = self
            .ordering
            .named
            .iter()
            .flat_map(|(name, handle)| handle.insts().map(|it| (it, name.clone())))
            .collect();
        let mut n_of_name: FxHashMap<Rc<str>, u32> = FxHashMap::default();
        let mut marks: FxHashMap<InstId, MarkId> = FxHashMap::default();
        let mut producers: Vec<InstId> = edges.iter().map(|it| it.1).collect();
        producers.sort_unstable();
        for id in all {
            let name = producers.binary_search(&id).is_ok().then(|| {
                let given = named.get(&id).cloned();
                let base = given.unwrap_or_else(|| self.program[id].op.name().into());
                let copy = n_of_name.entry(base.clone()).or_default();
                *copy += 1;
                Name {
                    copy: *copy,
                    ..Name::plain(&base)
                }
            });
            let after = Vec::new();
            let mark = self.program.add_mark(Mark { name, after });
            let inst = &mut self.program.insts[id.index()];
            inst.asked = Asked::new(Some(mark), inst.asked.is_fixed());
            marks.insert(id, mark);
        }
        for (consumer, producer) in edges {
            let producer = marks[producer];
            self.program.marks[marks[consumer].index()].after.push(producer);
        }
    }

    /// Reads the pairs of `with_schedule`: the name of a consumer, and those of its producers.
    fn read_schedule(&mut self, pairs: &Value, span: Span) -> Result<()> {
        for pair in self.iterate(pairs, span)? {
            let sides = pair.items().unwrap_or_default();
            let [consumer, producers] = &sides[..] else {
                let problem = format!(
                    "with_schedule takes pairs (consumer, producer) or (consumer, [producers]), not {}",
                    pair.repr()
                );
                return Err(Error::type_error(problem, span));
            };
            let consumer = self.instruction_named(consumer, span)?;
            let producers = match producers {
                Value::Str(_) => vec![producers.clone()],
                other => self.iterate(other, span)?,
            };
            for producer in producers {
                let producer = self.instruction_named(&producer, span)?;
                self.ordering.waits.push(Wait {
                    consumer,
                    producer,
                    span,
                });
            }
        }
        Ok(())
    }

    fn instruction_named(&self, name: &Value, span: Span) -> Result<Handle> {
        let Value::Str(name) = name else {
            let problem = format!(
                "with_schedule names instructions by str, not {}",
                with_article(name.kind())
            );
            return Err(Error::type_error(problem, span));
        };
        let mut found = self.ordering.named.iter().filter(|it| it.0 == *name);
        match (found.next(), found.count()) {
            (Some((_, handle)), 0) => Ok(*handle),
            (Some(_), n_more) => {
                let problem = format!(
                    "{} instructions have name=\"{name}\"; with_schedule needs a name for each, e.g. name=f\"{name}{{i}}\"",
                    n_more + 1
                );
                Err(Error::value_error(problem, span))
            }
            (None, _) => {
                let known = self.ordering.named.iter().map(|it| &*it.0);
                let near =
                    closest(name, known).map_or(String::new(), |it| format!("; one has name=\"{it}\""));
                Err(Error::value_error(
                    format!("no instruction of the kernel has name=\"{name}\"{near}"),
                    span,
                ))
            }
        }
    }
}
