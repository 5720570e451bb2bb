//! The live device: what was typed, compiled as one program and executed.
//!
//! Takes the entries of a session, gives their values and what each new instruction cost. An entry that adds no
//! instruction runs nothing again. Prints nothing.

use super::show::{duration_ps, moving, unit};
use crate::append::{line, push};
use crate::profile::Profile;
use crate::report::micros;
use crate::session::{Failure, Replay, Session, prints, tensor_text};
use crate::tensor::Tensor;
use crate::{Emulator, Fault, Machine};
use nk_compiler::Compiled;
use nk_compiler::ast::Module;
use nk_compiler::diagnostic::{Diagnostic, Report};
use nk_compiler::ir::{Inst, InstId, Program, Region, Role, View};
use nk_compiler::isa::{Access, Memory};
use nk_compiler::source::{FileId, Sources};
use nk_compiler::specialize::{Entry, Shown};
use std::rc::Rc;
use std::sync::Arc;

/// A session's program and its values.
pub struct Live {
    pub compiled: Arc<Compiled>,
    pub profile: Rc<Profile>,
    pub names: Vec<(String, &'static str)>,
    machine: Rc<Machine>,
    /// What `device_print` printed.
    printed: String,
}

/// More new instructions than this are shown as sums.
const MAX_ECHOED: usize = 8;

impl Live {
    /// Compiles entries and runs them. `inputs` are the tensors of the entries that are inputs, in their order.
    pub fn play(
        sources: &mut Sources,
        session: &Session,
        prelude: &Module,
        entries: &[Entry],
        inputs: &[Tensor],
        before: Option<&Live>,
    ) -> Result<(Live, Vec<Shown>), Failure> {
        let Replay {
            compiled,
            shown,
            names,
        } = session.replay(sources, prelude, entries)?;
        let target = session.settings().target;
        let profile = Profile::new(&compiled, target, sources);
        let (machine, printed) = match before.filter(|it| it.holds(&compiled)) {
            Some(before) => (before.machine.clone(), before.printed.clone()),
            None => run(&compiled, session, inputs)?,
        };
        let (compiled, profile) = (Arc::new(compiled), Rc::new(profile));
        let live = Live {
            compiled,
            profile,
            names,
            machine,
            printed,
        };
        Ok((live, shown))
    }

    /// Whether the values of another program are here already: it has the same instructions on the same addresses.
    fn holds(&self, other: &Compiled) -> bool {
        let (old, new) = (&self.compiled.program, &other.program);
        let (a, b) = (&self.compiled.placement.regions, &other.placement.regions);
        old.insts == new.insts
            && new.buffers.starts_with(&old.buffers)
            && b.starts_with(a)
            && old.views() == &new.views()[..old.views().len().min(new.views().len())]
            && self.compiled.inputs == other.inputs
            && old.constants == new.constants
    }

    /// Everything that the session has printed.
    pub fn printed(&self) -> String {
        format!("{}{}", self.compiled.printed, self.printed)
    }

    /// What the expressions of the last entry show.
    pub fn text(&self, shown: &[Shown]) -> String {
        shown
            .iter()
            .map(|it| match it {
                Shown::Text(text) => format!("{text}\n"),
                Shown::Tensor(view) => self.tensor_text(view),
            })
            .collect()
    }

    /// A tensor: its kind, its place, and a corner of its values.
    fn tensor_text(&self, view: &View) -> String {
        let program = &self.compiled.program;
        let (buffer, region) = (&program[view.buffer], self.compiled.placement.region(view.buffer));
        let shape: Vec<String> = view.dims().iter().map(|it| it.count.to_string()).collect();
        let mut out = format!(
            "{}[{}] in {}",
            view.dtype.name(),
            shape.join(", "),
            buffer.memory.name().to_uppercase()
        );
        let is_touched = program
            .insts
            .iter()
            .any(|it| program.accesses(it).any(|it| it.1.buffer == view.buffer));
        if !is_touched && buffer.role != Role::In {
            out.push_str(", no place yet: nothing was written\n");
            return out;
        }
        match region {
            Region::Hbm { address } => push!(out, ", address {address}"),
            Region::OnChip { partition, start, .. } => {
                let first = u32::from(partition) + u32::from(view.partition);
                let (offset, last) = (view.offset.max(0) as u32 * view.dtype.size(), last_byte(view));
                let banks = match (buffer.memory, self.profile.target.psum_bank_bytes) {
                    (Memory::Psum, bank) => format!(", bank {}", (start + offset) / bank),
                    _ => String::new(),
                };
                push!(
                    out,
                    ", partitions {first}..{}, bytes {}..{}{banks}",
                    first + view.partitions(),
                    start + offset,
                    start + last
                )
            }
        }
        out.push('\n');
        let Some(tensor) = self.read(view) else {
            out.push_str("its place depends on a register\n");
            return out;
        };
        let is_written = program.insts.iter().any(|it| {
            let mut accesses = program.accesses(it);
            accesses.any(|(access, it)| it.buffer == view.buffer && access != Access::Read)
        });
        if !is_written
            && buffer.role != Role::In
            && !program.constants.iter().any(|it| it.buffer == view.buffer)
        {
            out.push_str("nothing was written\n");
            return out;
        }
        out.push_str(&tensor_text(&tensor));
        out.push('\n');
        if self.compiled.unwritten.iter().any(|it| it.result == view.buffer) {
            out.push_str("a part of it was never written: it reads as nan or -1\n");
        }
        out
    }

    /// The elements of a view, unless its place is known only to the device.
    fn read(&self, view: &View) -> Option<Tensor> {
        if view.dynamic.is_some() {
            return None;
        }
        let buffer = &self.compiled.program[view.buffer];
        let bytes = self.machine.read(view.buffer);
        let size = i64::from(view.dtype.size());
        let partition_bytes = buffer.bytes() as i64;
        let is_on_chip = buffer.memory.is_on_chip();
        let start = i64::from(view.partition) * partition_bytes + view.offset * size;
        let strides: Vec<i64> = view
            .dims()
            .iter()
            .enumerate()
            .map(|(idx, dim)| match (idx, is_on_chip) {
                (0, true) => partition_bytes,
                _ => i64::from(dim.stride) * size,
            })
            .collect();
        let mut offsets = vec![start];
        for (dim, stride) in view.dims().iter().zip(strides) {
            let along = |at: i64| (0..i64::from(dim.count)).map(move |it| at + it * stride);
            offsets = offsets.into_iter().flat_map(along).collect();
        }
        let mut elements = Vec::with_capacity(offsets.len() * size as usize);
        for at in offsets {
            let at = usize::try_from(at).ok()?;
            elements.extend_from_slice(bytes.get(at..at + size as usize)?);
        }
        Tensor::new(
            view.dtype,
            view.dims().iter().map(|it| it.count as usize).collect(),
            elements,
        )
    }

    /// The instructions that come from a file, with what each costs, and the time of the session.
    pub fn echo(&self, file: FileId, before: Option<&Live>) -> String {
        let program = &self.compiled.program;
        let new: Vec<(InstId, &Inst)> = program
            .iter()
            .filter(|it| root_file(program, it.1) == Some(file))
            .collect();
        if new.is_empty() {
            return String::new();
        }
        let transfers = moving(&self.profile);
        let mut out = String::new();
        let mut row = |engine: &str, what: &str, ps: u64, bytes: u64| {
            let ns = ps as f64 / 1e3;
            line!(out, "  {engine:<7} {what:<24} {ns:>9.0} ns  {bytes:>9} B");
        };
        if new.len() <= MAX_ECHOED {
            for (id, inst) in &new {
                row(
                    unit(inst),
                    inst.op.name(),
                    duration_ps(&self.profile, &transfers, *id),
                    written(program, inst),
                );
            }
        } else {
            let mut sums: Vec<(&str, &str, u64, u64, u64)> = Vec::new();
            for (id, inst) in &new {
                let key = (unit(inst), inst.op.name());
                let (ps, bytes) = (
                    duration_ps(&self.profile, &transfers, *id),
                    written(program, inst),
                );
                match sums.iter_mut().find(|it| (it.0, it.1) == key) {
                    Some(sum) => (sum.2, sum.3, sum.4) = (sum.2 + 1, sum.3 + ps, sum.4 + bytes),
                    None => sums.push((key.0, key.1, 1, ps, bytes)),
                }
            }
            for (engine, name, count, ps, bytes) in sums {
                row(engine, &format!("{name} x {count}"), ps, bytes);
            }
        }
        let earlier = before.map_or(0, |it| it.profile.totals.total_ps);
        let (from, to) = (micros(earlier), micros(self.profile.totals.total_ps));
        line!(out, "  time    {from} -> {to} us");
        out
    }
}

fn run(compiled: &Compiled, session: &Session, inputs: &[Tensor]) -> Result<(Rc<Machine>, String), Failure> {
    let Compiled {
        program,
        placement,
        first_writes,
        ..
    } = compiled;
    let target = session.settings().target;
    let mut machine = Machine::load(program, placement, first_writes, target, Emulator::Jit);
    for (input, tensor) in compiled.inputs.iter().zip(inputs) {
        machine.write(input.buffer, tensor.bytes());
    }
    let order: Vec<InstId> = (0..program.insts.len()).map(InstId::new).collect();
    let fault = |it: Fault| Failure::kernel(vec![it.describe(program).report()]);
    machine.run(&order).map_err(fault)?;
    let printed = prints(&machine, program);
    Ok((Rc::new(machine), printed))
}

/// The byte of a partition behind the last element of a view, counted from its buffer.
fn last_byte(view: &View) -> u32 {
    let reach: i64 = view
        .free_dims()
        .iter()
        .map(|it| i64::from(it.stride.max(0)) * (i64::from(it.count) - 1))
        .sum();
    (view.offset + reach + 1).max(0) as u32 * view.dtype.size()
}

/// Bytes that an instruction writes.
fn written(program: &Program, inst: &Inst) -> u64 {
    let writes = program.accesses(inst).filter(|it| it.0 != Access::Read);
    writes
        .map(|(_, view)| view.count() * u64::from(view.dtype.size()))
        .sum()
}

/// The file of the outermost line around an instruction.
fn root_file(program: &Program, inst: &Inst) -> Option<FileId> {
    let around = program.locs.around(inst.loc);
    around.last().map(|it| it.span.file)
}

/// A tile that nothing uses yet may be used by what is typed next.
const NOT_YET: &str = "unused-tensor";

/// Those of `all` that were not said before.
pub fn unsaid(all: &[Diagnostic], said: &[Diagnostic]) -> Vec<Diagnostic> {
    let is_said = |it: &&Diagnostic| {
        said.iter().any(|other| {
            other.code == it.code && other.message == it.message && other.primary_span() == it.primary_span()
        })
    };
    all.iter()
        .filter(|it| it.code != NOT_YET && !is_said(it))
        .cloned()
        .collect()
}
