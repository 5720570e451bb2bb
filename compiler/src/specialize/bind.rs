//! Instruction calls: arguments bound to the operands of a row.
//!
//! Takes `nisa.NAME(…)` with evaluated arguments, gives one instruction of the program. The row says what each operand
//! may be; rules that relate operands are the verifier's.

mod operand;
mod engine;
mod extra;

use super::call::unexpected;
use super::error::{Error, Mistake, Result};
use super::eval::CallArgs;
use super::mask::Extent;
use super::ordering::Handle;
use super::value::Value;
use super::{Evaluator, Warning, newer};
use crate::ir::{Asked, Dim, Inst, Role, View};
use crate::isa::newer::REMOVED;
use crate::isa::{Accumulate, Arg, Engine, MAX_ARGS, Op, ReduceCmd, Row};
use crate::limits::limits;
use crate::source::Span;
use operand::resolve_immediates;
use std::rc::Rc;

pub use operand::immediate;

impl Evaluator<'_> {
    /// A call with a destination.
    pub fn call_with_dst(&mut self, op: Op, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let (given, extra) = bind_operands(op.row(), args)?;
        self.finish_instruction(op, &given, &extra, span)
    }

    /// Makes the instruction of bound operands.
    pub fn finish_instruction(
        &mut self,
        op: Op,
        given: &[Option<Value>; MAX_ARGS],
        extra: &[(Rc<str>, Value)],
        span: Span,
    ) -> Result<Value> {
        let row = op.row();
        newer::refuse_newer(extra, span)?;
        let mut bound = [Arg::Absent; MAX_ARGS];
        for (idx, operand) in row.operands.iter().enumerate() {
            bound[idx] = match (&given[idx], operand.default) {
                (None, None) => {
                    let (function, name) = (format!("nisa.{}", row.name), operand.name.into());
                    return Err(Error::new(Mistake::MissingArgument { function, name }, span));
                }
                (None, Some(default)) => default,
                (Some(value), _) => self.operand(row, operand, value, given, span)?,
            };
        }
        let dst = match bound[0] {
            Arg::View(id) => self.program[id],
            _ => unreachable!("dst is a tile operand without a default"),
        };
        self.check_extra(row, extra, &dst, &bound, given, span)?;
        if op == Op::TensorScalarCumulative && !bound.contains(&Arg::ReduceCmd(ReduceCmd::LoadReduce)) {
            // NKI takes `imm1` with every command; only this one reads it.
            let position = row.position("imm1").expect("the row has the operand");
            bound[position] = Arg::Absent;
        }
        resolve_immediates(op, &dst, &mut bound);
        let engine = self.engine_for(op, extra, &bound, span)?;
        if op == Op::NcTranspose && engine == Engine::Tensor && dst.dtype.size() < 4 && !self.is_classic {
            self.warn(Warning::SixteenBitTranspose, span);
        }
        if op == Op::NcMatmul {
            bound[6] = Arg::Accumulate(self.accumulate(given[6].as_ref(), &dst, span)?);
        }
        if self.is_int_through_f32(op, engine, &bound) {
            self.warn(Warning::IntThroughF32, span);
        }
        self.emit(op, engine, bound, span)?;
        Ok(Value::Instruction(Handle::default()))
    }

    /// Appends an instruction.
    pub fn emit(&mut self, op: Op, engine: Engine, mut args: [Arg; MAX_ARGS], span: Span) -> Result<()> {
        if !self.restrict(op, &mut args, span)? {
            return Ok(());
        }
        if self.is_classic
            && let Some(parts) = self.parts(op, engine, &args)
        {
            return self.within(Extent::All, |this| {
                parts
                    .into_iter()
                    .try_for_each(|it| this.emit(op, engine, it, span))
            });
        }
        if self.program.insts.len() as u64 >= limits().instructions {
            return Err(Error::new(
                Mistake::TooManyInstructions {
                    limit: limits().instructions,
                },
                span,
            ));
        }
        if self.program.insts.len() == self.next_fit {
            self.check_fit(span)?;
        }
        if let Arg::View(id) = args[0]
            && self.program[self.program[id].buffer].role == Role::In
        {
            let declared = self.program.span(self.program[self.program[id].buffer].loc);
            self.warn(Warning::WritesArgument { declared }, span);
        }
        if args
            .iter()
            .any(|it| matches!(it, Arg::Alu(op) if op.facts().emulated))
        {
            self.warn(Warning::NoDivider, span);
        }
        if self.is_classic {
            self.note_dependences(op, &args, span);
        }
        let loc = Some(self.here(span));
        self.program.add_inst(Inst {
            op,
            engine,
            loc,
            args,
            asked: Asked::new(None, self.ordering.n_fixed > 0),
        });
        Ok(())
    }

    /// Whether a matmul overwrites or adds, where the kernel leaves it open.
    pub fn accumulate(&mut self, asked: Option<&Value>, dst: &View, span: Span) -> Result<Accumulate> {
        let writes = self.matmul_writes.entry(dst.buffer).or_default();
        let seen = writes.contains(dst);
        let overlaps = seen || writes.iter().any(|it| may_overlap(it, dst));
        if !seen {
            // Nearly every accumulator is written as one view.
            if writes.is_empty() {
                writes.reserve_exact(1);
            }
            writes.push(*dst);
        }
        let is_lazy = |it: &Value| it.as_int() != Some(0) && self.is_lazily_zero(dst.buffer);
        match asked.filter(|it| !is_lazy(it)) {
            None | Some(Value::None) if !(overlaps && seen) && self.outlives_iteration(dst) => {
                Err(Error::new(Mistake::AccumulateInDeviceLoop, span))
            }
            None | Some(Value::None) => Ok(match (overlaps, seen) {
                (false, _) => Accumulate::Overwrite,
                (true, true) => Accumulate::Add,
                (true, false) => Accumulate::Auto,
            }),
            Some(it) => match it.as_int() {
                Some(0) => Ok(Accumulate::Overwrite),
                Some(_) => Ok(Accumulate::Add),
                None => Err(Error::type_error("`accumulate` is None, True or False", span)),
            },
        }
    }
}

/// Whether two views of one buffer may share an element: their bounding boxes meet.
pub fn may_overlap(a: &View, b: &View) -> bool {
    let partitions = |it: &View| (u32::from(it.partition), u32::from(it.partition) + it.partitions());
    let elements = |it: &View| {
        let size = i64::from(it.dtype.size());
        let reach = |it: &Dim| i64::from(it.stride) * (i64::from(it.count) - 1);
        let low: i64 = it.free_dims().iter().map(|it| reach(it).min(0)).sum();
        let high: i64 = it.free_dims().iter().map(|it| reach(it).max(0)).sum();
        ((it.offset + low) * size, (it.offset + high + 1) * size)
    };
    let ((a0, a1), (b0, b1)) = (partitions(a), partitions(b));
    let ((c0, c1), (d0, d1)) = (elements(a), elements(b));
    a0 < b1 && b0 < a1 && c0 < d1 && d0 < c1
}

type Bound = ([Option<Value>; MAX_ARGS], Vec<(Rc<str>, Value)>);

pub fn bind_operands(row: &'static Row, args: CallArgs) -> Result<Bound> {
    let mut given: [Option<Value>; MAX_ARGS] = std::array::from_fn(|_| None);
    let n_given = args.positional.len();
    if n_given > row.operands.len() {
        let function = format!("nisa.{}", row.name);
        let takes = row.operands.len();
        return Err(Error::new(
            Mistake::TooManyArguments {
                function,
                takes,
                given: n_given,
            },
            args.span,
        ));
    }
    for (slot, value) in given.iter_mut().zip(args.positional) {
        *slot = Some(value);
    }
    let mut extra = Vec::new();
    let (spans, whole) = (args.keyword_spans, args.span);
    for (idx, (name, value)) in args.keywords.into_iter().enumerate() {
        let span = spans.get(idx).copied().unwrap_or(whole);
        if let Some(at) = row.position(&name) {
            if given[at].is_some() {
                return Err(Error::new(Mistake::RepeatedArgument { name }, span));
            }
            given[at] = Some(value);
        } else if row.call_only.contains(&&*name) || matches!(&*name, "name" | "mask" | "dtype") {
            extra.push((name, value));
        } else if let Some((what, help)) = REMOVED.iter().find(|it| it.0 == &*name) {
            let help = format!("later releases of NKI removed it; {help}");
            return Err(Error::unsupported(&format!("`{what}`"), &help, span));
        } else {
            let known = row
                .operands
                .iter()
                .map(|it| it.name)
                .chain(row.call_only.iter().copied())
                .chain(["name"]);
            return Err(unexpected(&format!("nisa.{}", row.name), &name, known, span));
        }
    }
    Ok((given, extra))
}
