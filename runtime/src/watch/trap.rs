//! The first instruction that makes a NaN, an infinity, or leaves a range.
//!
//! Takes what an instruction reads and writes, gives a fault when an element of its result is one and none of the elements
//! that it is computed from is. What only passes one on goes on.

use super::Watched;
use super::operands::{Operand, operands, stretch, values};
use super::origin::{Made, Origin, Producer, Source};
use super::parts::{Part, for_each_run, parts};
use crate::fault::Fault;
use crate::memory::Memory;
use crate::reference::cast;
use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{Inst, InstId, Role, View, ViewId};
use nk_compiler::isa::{Access as Does, ActFn, Arg, Op, Unit};
use nk_compiler::text::print_view;

/// What is trapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    Nan,
    Inf,
    /// An input outside of the range of a function's tables, or a copied number that its new type cannot hold.
    Range,
}

/// Traps by the name the command line has for them.
pub const TRAPS: &[(Trap, &str)] = &[(Trap::Nan, "nan"), (Trap::Inf, "inf"), (Trap::Range, "range")];

impl Trap {
    pub fn from_name(name: &str) -> Option<Trap> {
        TRAPS.iter().find(|it| it.1 == name).map(|it| it.0)
    }

    pub fn name(self) -> &'static str {
        TRAPS[self as usize].1
    }

    /// Whether a result is what is looked for.
    fn catches(self, value: f32) -> bool {
        match self {
            Trap::Nan => value.is_nan(),
            Trap::Inf => value.is_infinite(),
            Trap::Range => false,
        }
    }

    /// Whether an operand explains such a result. Infinities come from infinities, and from NaN through max and min.
    fn explains(self, value: f32) -> bool {
        match self {
            Trap::Nan => value.is_nan(),
            Trap::Inf | Trap::Range => !value.is_finite(),
        }
    }
}

pub struct Traps {
    traps: Vec<Trap>,
    /// The results of the instruction at hand before it runs.
    saved: Vec<Saved>,
    executed: Vec<InstId>,
}

struct Saved {
    view: ViewId,
    parts: Vec<Part>,
    bytes: Vec<u8>,
}

impl Traps {
    pub fn new(traps: &[Trap]) -> Traps {
        Traps {
            traps: traps.to_vec(),
            saved: Vec::new(),
            executed: Vec::new(),
        }
    }

    pub fn before(&mut self, watched: &Watched, id: InstId, memory: &Memory, registers: &[i32]) {
        self.saved.clear();
        for (does, view) in watched.program[id].views() {
            if does == Does::Read {
                continue;
            }
            let parts = parts(&watched.accesses[view.index()], memory, registers);
            let size = u64::from(watched.program[view].dtype.size());
            let mut bytes = Vec::new();
            for_each_run(&parts, |run| {
                bytes.extend_from_slice(memory.bytes(run.at, run.count * size))
            });
            self.saved.push(Saved { view, parts, bytes });
        }
    }

    pub fn after(
        &mut self,
        watched: &Watched,
        id: InstId,
        memory: &mut Memory,
        registers: &[i32],
    ) -> Result<(), Fault> {
        let found = self.find(watched, id, memory, registers);
        self.executed.push(id);
        match found {
            Some(origin) => Err(Fault::Trapped(Box::new(origin))),
            None => Ok(()),
        }
    }

    fn find(
        &mut self,
        watched: &Watched,
        id: InstId,
        memory: &mut Memory,
        registers: &[i32],
    ) -> Option<Origin> {
        let results: Vec<Vec<f32>> = self
            .saved
            .iter()
            .map(|it| values(memory, watched.program[it.view].dtype, &it.parts))
            .collect();
        let catches = |it: &f32| self.traps.iter().any(|trap| trap.catches(*it));
        let is_float = |it: &Saved| watched.program[it.view].dtype.is_float();
        let has_one = self
            .saved
            .iter()
            .zip(&results)
            .any(|(it, values)| is_float(it) && values.iter().any(catches));
        let ranges = self.traps.contains(&Trap::Range) && has_range(watched, id);
        if !has_one && !ranges {
            return None;
        }
        // The operands are those from before the instruction, which may have written over them.
        self.swap(watched, memory);
        let operands = operands(watched, id, memory, registers);
        let found = self.first_made(watched, id, &results, &operands);
        let origin = found.map(|(trap, number, position)| {
            self.origin(
                watched,
                memory,
                registers,
                Found {
                    inst: id,
                    trap,
                    number,
                    position,
                    results: &results,
                    operands: &operands,
                },
            )
        });
        self.swap(watched, memory);
        origin
    }

    /// Exchanges the results in memory with those that are kept.
    fn swap(&mut self, watched: &Watched, memory: &mut Memory) {
        for saved in &mut self.saved {
            let size = u64::from(watched.program[saved.view].dtype.size());
            let mut at = 0;
            let bytes = &mut saved.bytes;
            for_each_run(&saved.parts, |run| {
                let len = (run.count * size) as usize;
                memory
                    .bytes_mut(run.at, len as u64)
                    .swap_with_slice(&mut bytes[at..at + len]);
                at += len;
            });
        }
    }

    /// The trap, the number of the result and the position in it of the first element that is made here.
    fn first_made(
        &self,
        watched: &Watched,
        id: InstId,
        results: &[Vec<f32>],
        operands: &[Operand],
    ) -> Option<(Trap, usize, u64)> {
        let program = watched.program;
        let inst = &program[id];
        for &trap in &self.traps {
            for (number, (saved, values)) in self.saved.iter().zip(results).enumerate() {
                let dst = &program[saved.view];
                let made = |position: u64, value: f32| match trap {
                    Trap::Nan | Trap::Inf => {
                        dst.dtype.is_float()
                            && trap.catches(value)
                            && !immediates(inst).any(|it| trap.explains(it))
                            && !operands.iter().any(|it| {
                                let stretch = stretch(watched, inst, number, dst, it, position);
                                stretch
                                    .positions()
                                    .any(|at| it.at(at).is_some_and(|it| trap.explains(it)))
                            })
                    }
                    Trap::Range => number == 0 && leaves_range(watched, inst, dst, operands, position),
                };
                let mut elements = values.iter().enumerate();
                if let Some((at, _)) = elements.find(|&(at, &value)| made(at as u64, value)) {
                    return Some((trap, number, at as u64));
                }
            }
        }
        None
    }

    fn origin(&self, watched: &Watched, memory: &Memory, registers: &[i32], found: Found) -> Origin {
        let program = watched.program;
        let inst = &program[found.inst];
        let saved = &self.saved[found.number];
        let dst = &program[saved.view];
        let sources = found.operands.iter().map(|operand| {
            let view = &program[operand.view];
            let stretch = stretch(watched, inst, found.number, dst, operand, found.position);
            let values: Vec<f32> = stretch.positions().filter_map(|it| operand.at(it)).collect();
            // What stands out explains most: the first that is not finite, else the one furthest from zero.
            let of_note = values.iter().position(|it| !it.is_finite()).or_else(|| {
                let sizes = values.iter().enumerate();
                sizes
                    .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
                    .map(|it| it.0)
            });
            let position = stretch.start + of_note.unwrap_or(0) as u64 * stretch.step;
            let offset = offset_of(
                &parts(&watched.accesses[operand.view.index()], memory, registers),
                position,
            );
            Source {
                operand: inst.op.row().operands[operand.number].name,
                view: print_view(program, view),
                index: index(view, position),
                value: of_note.map(|it| values[it]),
                of: values.len() as u64,
                producer: self.producer(watched, view, offset),
            }
        });
        Origin {
            inst: found.inst,
            number: self.executed.len(),
            trap: found.trap,
            dtype: dst.dtype,
            dst: print_view(program, dst),
            index: index(dst, found.position),
            value: found.results[found.number][found.position as usize],
            made: made(inst),
            sources: sources.collect(),
        }
    }

    /// Who wrote an element last.
    fn producer(&self, watched: &Watched, view: &View, offset: Option<u64>) -> Producer {
        let program = watched.program;
        let writes = |id: &&InstId| {
            let mut written = program[**id].views().filter(|it| it.0 != Does::Read);
            written.any(|(_, it)| {
                let other = &program[it];
                let access = &watched.accesses[it.index()];
                other.buffer == view.buffer
                    && (other.dynamic.is_some() || offset.is_none_or(|at| contains(access, at)))
            })
        };
        match self.executed.iter().rev().find(writes) {
            Some(&id) => Producer::Inst {
                op: program[id].op.name(),
                span: program.span(program[id].loc),
            },
            None if program[view.buffer].role == Role::In => Producer::Argument,
            None if program.constants.iter().any(|it| it.buffer == view.buffer) => Producer::Constant,
            None => Producer::Nothing,
        }
    }
}

/// An element that was made, with what is known of the instruction.
struct Found<'a> {
    inst: InstId,
    trap: Trap,
    number: usize,
    position: u64,
    results: &'a [Vec<f32>],
    operands: &'a [Operand],
}

fn immediates(inst: &Inst) -> impl Iterator<Item = f32> {
    let floats = inst.args.iter().filter(|it| matches!(it, Arg::Float(_)));
    floats.map(cast::immediate)
}

fn function(inst: &Inst) -> Option<ActFn> {
    inst.args.iter().find_map(|it| match it {
        Arg::Act(function) => Some(*function),
        _ => None,
    })
}

/// What kind of instruction made it.
fn made(inst: &Inst) -> Made {
    match function(inst) {
        Some(function) => Made::Function(function),
        None => match inst.op.row().unit {
            Unit::Dma => Made::Copy,
            Unit::Engine | Unit::Sequencer if inst.op == Op::TensorCopy => Made::Copy,
            Unit::Engine | Unit::Sequencer => Made::Arithmetic,
        },
    }
}

/// Whether an instruction can leave a range.
fn has_range(watched: &Watched, id: InstId) -> bool {
    let inst = &watched.program[id];
    matches!(inst.op, Op::TensorCopy | Op::DmaCopy) || function(inst).is_some()
}

/// Whether the input of a function lies outside of what its tables cover, or a copied number outside of its new type.
fn leaves_range(watched: &Watched, inst: &Inst, dst: &View, operands: &[Operand], at: u64) -> bool {
    let named = |name: &str| {
        let number = inst.op.row().position(name)?;
        operands.iter().find(|it| it.number == number)
    };
    let value = |name: &str| {
        let operand = named(name)?;
        operand.at(stretch(watched, inst, 0, dst, operand, at).start)
    };
    let Some(function) = function(inst) else {
        let Some(src) = value("src") else { return false };
        return src.is_finite() && !holds(dst.dtype, src);
    };
    let Some(data) = value("data") else { return false };
    let scale = inst.op.row().position("scale").map(|it| &inst.args[it]);
    let scale = match scale {
        Some(it @ (Arg::Float(_) | Arg::Int(_) | Arg::Uint(_))) => cast::immediate(it),
        _ => value("scale").unwrap_or(1.0),
    };
    let input = data.mul_add(scale, value("bias").unwrap_or(0.0));
    function.facts().valid.excludes(input)
}

/// Whether a finite number is neither saturated nor made infinite when it becomes an element of a type.
fn holds(dtype: Dtype, number: f32) -> bool {
    if dtype.is_float() {
        return cast::decode(dtype, cast::encode(dtype, number)).is_finite();
    }
    // The bounds of 32-bit integers are no f32.
    let (number, half) = (f64::from(number), 2f64.powi(dtype.size() as i32 * 8 - 1));
    match dtype {
        Dtype::Bool => true,
        _ if dtype.is_signed_int() => (-half..=half - 1.0).contains(&number),
        _ => (0.0..=2.0 * half - 1.0).contains(&number),
    }
}

/// The index of an element in its view.
fn index(view: &View, mut position: u64) -> Vec<u64> {
    let mut index = vec![0; view.dims().len()];
    for (at, dim) in index.iter_mut().zip(view.dims()).rev() {
        let count = u64::from(dim.count).max(1);
        *at = position % count;
        position /= count;
    }
    index
}

/// Where the element at a position lies.
fn offset_of(parts: &[Part], position: u64) -> Option<u64> {
    let size = parts.first().map_or(0, |it| u64::from(it.access.dtype.size()));
    let mut offset = None;
    for_each_run(parts, |run| {
        if (run.position..run.position + run.count).contains(&position) {
            offset = Some(run.at + (position - run.position) * size);
        }
    });
    offset
}

/// Whether an access has the byte at an offset.
fn contains(access: &crate::access::Access, at: u64) -> bool {
    let size = u64::from(access.dtype.size());
    let part = [Part {
        first: 0,
        access: access.clone(),
    }];
    let mut found = false;
    for_each_run(&part, |run| {
        found |= (run.at..run.at + run.count * size).contains(&at)
    });
    found
}
