//! A run of a program on its core: segments in their orders, and the loops around them.
//!
//! Takes what the machine has loaded, executes it through compiled code or the reference; collectives and dynamic accesses
//! of shared tensors it looks at itself. Never loads anything.

use super::Code;
use super::apart::{Apart, Touches};
use crate::fabric::Link;
use crate::fault::Fault;
use crate::jit::Callbacks;
use crate::memory::Memory;
use crate::reference::rounding::{self, Rounding};
use crate::reference::{self, Core};
use crate::watch::Watch;
use nk_compiler::interrupt;
use nk_compiler::ir::{Bound, Control, InstId, Loop, LoopKind, Node};
use rustc_hash::FxHashMap;

/// A device loop that has run so often is taken for one that never ends.
const MAX_ITERATIONS: u64 = 10_000_000;

/// So many instructions are executed without asking whether somebody wants the end.
const BETWEEN_POLLS: usize = 64;

fn uninterrupted() -> Result<(), Fault> {
    match interrupt::asked() {
        None => Ok(()),
        Some(why) => Err(Fault::Interrupted(why)),
    }
}

/// The instructions of each segment, in the order given.
pub fn orders(control: &Control, order: &[InstId]) -> Vec<Vec<InstId>> {
    if let [_] = control.segments[..] {
        return vec![order.to_vec()];
    }
    let mut orders: Vec<Vec<InstId>> = vec![Vec::new(); control.segments.len()];
    for &id in order {
        let segment = control.segments.partition_point(|it| it.end <= id.index());
        orders[segment].push(id);
    }
    orders
}

/// A run of a program.
pub struct Running<'a, 'w> {
    pub memory: &'a mut Memory,
    pub code: &'a Code,
    pub orders: Vec<Vec<InstId>>,
    pub path: &'a mut Vec<u32>,
    pub n_iterations: Vec<u64>,
    pub counting: &'a [InstId],
    pub link: &'a Link,
    pub apart: &'a FxHashMap<InstId, Apart>,
    pub touches: &'a mut Touches,
    pub watch: Option<&'a mut Watch<'w>>,
}

impl Callbacks for Running<'_, '_> {
    fn segment(&mut self, number: usize, registers: &mut [i32]) -> Result<(), Fault> {
        self.path.push(number as u32);
        let order = std::mem::take(&mut self.orders[number]);
        let done = self.execute_all(&order, registers);
        self.orders[number] = order;
        done
    }

    fn iteration(&mut self, number: usize) -> Result<(), Fault> {
        self.n_iterations[number] += 1;
        uninterrupted()?;
        if self.n_iterations[number] > MAX_ITERATIONS {
            return Err(Fault::Endless {
                number,
                limit: MAX_ITERATIONS,
            });
        }
        Ok(())
    }
}

impl Running<'_, '_> {
    /// Executes instructions, one by one when somebody watches.
    fn execute_all(&mut self, order: &[InstId], registers: &mut [i32]) -> Result<(), Fault> {
        let Some(watch) = self.watch.take() else {
            return self.execute_some(order, registers);
        };
        let done = order.iter().try_for_each(|&id| {
            watch.before(id, self.memory, registers)?;
            self.execute_some(&[id], registers)?;
            watch.after(id, self.memory, registers)
        });
        self.watch = Some(watch);
        done
    }

    /// Executes instructions, those that the machine looks at by themselves.
    fn execute_some(&mut self, order: &[InstId], registers: &mut [i32]) -> Result<(), Fault> {
        if self.apart.is_empty() {
            return self.execute(order, registers);
        }
        let mut rest = order;
        while let Some(at) = rest.iter().position(|it| self.apart.contains_key(it)) {
            self.execute(&rest[..at], registers)?;
            match &self.apart[&rest[at]] {
                Apart::Collective(it) => it.run(self.memory, self.link)?,
                Apart::Watched(list) => {
                    list.iter()
                        .for_each(|it| it.note(self.memory, registers, self.touches));
                    self.execute(&rest[at..=at], registers)?;
                }
            }
            rest = &rest[at + 1..];
        }
        self.execute(rest, registers)
    }

    fn execute(&mut self, order: &[InstId], registers: &mut [i32]) -> Result<(), Fault> {
        order.chunks(BETWEEN_POLLS).try_for_each(|it| {
            uninterrupted()?;
            self.execute_unasked(it, registers)
        })
    }

    fn execute_unasked(&mut self, order: &[InstId], registers: &mut [i32]) -> Result<(), Fault> {
        match self.code {
            Code::Jit(compiled) => compiled.run(self.memory, registers, order),
            Code::Reference(plain) => {
                let counters = self.memory.layout.counters;
                let mut core = Core {
                    memory: self.memory,
                    program: &plain.program,
                    accesses: &plain.accesses,
                    moved: Vec::new(),
                    random: None,
                    counter: None,
                    registers,
                };
                order.iter().try_for_each(|&id| {
                    if let Rounding::Stochastic { seed } = plain.rounding {
                        core.random = Some(rounding::key(seed, id));
                    }
                    let number = self.counting.binary_search(&id).ok();
                    core.counter = number.map(|it| counters + it as u64 * 8);
                    let first = plain.first.get(&id).map_or(&[][..], |it| it);
                    reference::execute(&mut core, id, first)
                })
            }
        }
    }
}

/// The control flow in plain loops.
pub fn walk(
    nodes: &[Node],
    loops: &[Loop],
    running: &mut Running,
    registers: &mut [i32],
) -> Result<(), Fault> {
    for node in nodes {
        match node {
            Node::Segment(number) => running.segment(*number, registers)?,
            Node::Loop(number, body) => match loops[*number].kind {
                LoopKind::For {
                    register,
                    lower,
                    upper,
                    step,
                } => {
                    let (mut at, end) = (bound(lower, registers), bound(upper, registers));
                    while at < end {
                        running.iteration(*number)?;
                        registers[register.index()] = at as i32;
                        walk(body, loops, running, registers)?;
                        at += i64::from(step);
                    }
                }
                LoopKind::While { register } => {
                    while registers[register.index()] != 0 {
                        running.iteration(*number)?;
                        walk(body, loops, running, registers)?;
                    }
                }
            },
        }
    }
    Ok(())
}

fn bound(bound: Bound, registers: &[i32]) -> i64 {
    match bound {
        Bound::Int(value) => value.into(),
        Bound::Register(id) => registers[id.index()].into(),
    }
}
