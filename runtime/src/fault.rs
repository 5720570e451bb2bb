//! What stops a program while it runs, and how indices of dynamic addresses are read.
//!
//! Takes a memory and registers, gives indices that are in bounds, or the fault as a value. Never a crash of the host.

use crate::access::{IndexSource, Movement};
use crate::memory::Memory;
use crate::watch::{Origin, Unset};
use nk_compiler::diagnostic::{Diagnostic, Report};
use nk_compiler::dtype::Dtype;
use nk_compiler::interrupt::Interrupt;
use nk_compiler::ir::{InstId, Program};
use nk_compiler::source::Span;
use nk_compiler::text::print_inst;

/// Why a program stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// An index that is not below its bound.
    Index { inst: InstId, index: Index },
    /// A loop, by number, that has run too often.
    Endless { number: usize, limit: u64 },
    /// An exchange between ranks that did not come about; the fabric knows why.
    Exchange { inst: InstId },
    /// A read, at an address that only the run knows, of what nothing has written.
    Unset {
        inst: InstId,
        operand: &'static str,
        unset: Unset,
    },
    /// Somebody asked for the end.
    Interrupted(Interrupt),
    /// An instruction made what `--trap` looks for.
    Trapped(Box<Origin>),
}

/// An index out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    pub value: i64,
    pub count: u32,
    /// The row whose index it is.
    pub row: Option<u32>,
}

/// A fault with what a message needs of its program.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultReport {
    pub fault: Fault,
    /// The instruction as IR text, and its name.
    pub text: String,
    pub op: &'static str,
    pub span: Option<Span>,
    /// The tensor that it is about, and where that is allocated.
    pub tensor: String,
    pub allocated: Option<Span>,
}

impl Fault {
    pub fn describe(self, program: &Program) -> FaultReport {
        let inst = match &self {
            Fault::Index { inst, .. } | Fault::Unset { inst, .. } | Fault::Exchange { inst } => Some(*inst),
            Fault::Trapped(origin) => Some(origin.inst),
            Fault::Endless { .. } | Fault::Interrupted(_) => None,
        };
        let span = match (&self, inst) {
            (_, Some(inst)) => program.span(program[inst].loc),
            (Fault::Endless { number, .. }, None) => program.span(program.loops[*number].loc),
            (_, None) => None,
        };
        let (tensor, allocated) = match &self {
            Fault::Unset { unset, .. } => {
                let buffer = &program[unset.buffer];
                (buffer.name.to_string(), program.span(buffer.loc))
            }
            _ => (String::new(), None),
        };
        FaultReport {
            fault: self,
            text: inst.map_or(String::new(), |it| print_inst(program, &program[it])),
            op: inst.map_or("", |it| program[it].op.name()),
            span,
            tensor,
            allocated,
        }
    }
}

impl Report for FaultReport {
    fn report(&self) -> Diagnostic {
        let diagnostic = match &self.fault {
            Fault::Index { index, .. } => {
                let Index { value, count, row } = *index;
                let of_row = row.map_or(String::new(), |it| format!(" of row {it}"));
                let message = format!(
                    "the run-time index{of_row} is {value}; it must be from 0 to {}",
                    count - 1
                );
                Diagnostic::error("index-out-of-bounds", message)
                    .note(format!("in `{}`", self.text))
                    .note("on the device this is error 1006, out of bound access (NRT_EXEC_OOB)")
                    .help("bound the index, or pass oob_mode=nisa.oob_mode.skip to a dma_copy that may leave rows out")
            }
            Fault::Exchange { .. } => {
                Diagnostic::error("deadlock", "a rank waits for others that never come")
                    .note(format!("in `{}`", self.text))
                    .note("the device would hang until the runtime gives up (NRT_TIMEOUT)")
            }
            Fault::Endless { limit, .. } => {
                let message = format!("the loop of the device has run {limit} times and has not ended");
                Diagnostic::error("endless-device-loop", message)
                    .note("the device would hang until the runtime gives up (NRT_TIMEOUT)")
                    .help("make the body change the register that the loop asks")
            }
            Fault::Interrupted(why) => why.report(),
            Fault::Unset { operand, unset, .. } => return self.unset(operand, unset),
            Fault::Trapped(origin) => return origin.report(self.op, &self.text, self.span),
        };
        match self.span {
            Some(span) => diagnostic.at(span, "here"),
            None => diagnostic,
        }
    }
}

impl FaultReport {
    fn unset(&self, operand: &str, unset: &Unset) -> Diagnostic {
        let (op, tensor) = (self.op, &self.tensor);
        let Unset { count, of, first, .. } = unset;
        let message = format!(
            "{op} reads {count} of {of} elements of {tensor} before anything writes them; the first is {tensor}{first:?}"
        );
        let mut diagnostic = Diagnostic::error("uninitialized-read", message);
        if let Some(span) = self.span {
            diagnostic = diagnostic.at(span, format!("operand {operand} has no value here"));
        }
        if let Some(span) = self.allocated {
            diagnostic = diagnostic.because(span, format!("{tensor} is allocated here"));
        }
        diagnostic
            .note(format!(
                "in `{}`; its address is known only at run time, where --sanitize checked it",
                self.text
            ))
            .note("on-chip memory and fresh HBM hold whatever the last kernel left there")
            .help(format!(
                "write all of {tensor} first: `memset` it, or bound the index to what was written"
            ))
    }
}

/// An element as an integer.
fn integer(memory: &Memory, at: u64, dtype: Dtype) -> i64 {
    let word = memory.word(at, dtype.size());
    match dtype {
        Dtype::I8 => i64::from(word as u8 as i8),
        Dtype::I16 => i64::from(word as u16 as i16),
        Dtype::I32 => i64::from(word as i32),
        _ => i64::from(word),
    }
}

/// The index of a movement: for all rows, or for row `row`.
pub fn read_index(movement: &Movement, row: u32, memory: &Memory, registers: &[i32]) -> Result<u32, Index> {
    let value = match movement.index {
        IndexSource::Register(number) => i64::from(registers[number]),
        IndexSource::Element { at, dtype } => integer(memory, at, dtype),
        IndexSource::Rows { at, pitch, dtype } => integer(memory, at + u64::from(row) * pitch, dtype),
    };
    let row = matches!(movement.index, IndexSource::Rows { .. }).then_some(row);
    match u32::try_from(value) {
        Ok(index) if index < movement.count => Ok(index),
        _ => Err(Index {
            value,
            count: movement.count,
            row,
        }),
    }
}

/// What `register_load` reads: integers by value, floats by their bits.
pub fn read_register(memory: &Memory, at: u64, dtype: Dtype) -> i32 {
    if dtype.is_int() {
        integer(memory, at, dtype) as i32
    } else {
        memory.word(at, dtype.size()) as i32
    }
}
