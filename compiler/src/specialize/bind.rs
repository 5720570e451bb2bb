//! Instruction calls: arguments bound to the operands of a row.
//!
//! Takes `nisa.NAME(…)` with evaluated arguments, gives one instruction of the program. The row says what each operand
//! may be; rules that relate operands are the verifier's.

use super::call::unexpected;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::mask::Extent;
use super::ordering::Handle;
use super::tensor::{axis, int_list, pairs};
use super::value::Value;
use super::{Evaluator, Warning, library, newer};
use crate::dtype::Dtype;
use crate::ir::{Asked, Dim, Inst, Pattern, Role, Shuffle, View};
use crate::isa::newer::{NEWER_OPERATORS, REMOVED};
use crate::isa::{
    Accumulate, ActFn, AluClass, AluOp, AluSet, Arg, DtypeSet, Engine, Kind, MAX_ARGS, Memory, Op, Operand,
    ReduceCmd, Row,
};
use crate::limits::limits;
use crate::source::Span;
use std::rc::Rc;

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

    fn operand(
        &mut self,
        row: &'static Row,
        operand: &'static Operand,
        value: &Value,
        given: &[Option<Value>; MAX_ARGS],
        span: Span,
    ) -> Result<Arg> {
        let wrong = |expected: &str, help: Option<String>| {
            let (op, operand) = (row.name, operand.name);
            let given = with_article(value.kind());
            Error::new(
                Mistake::WrongOperand {
                    op,
                    operand,
                    expected: expected.to_string(),
                    given,
                    help,
                },
                span,
            )
        };
        if matches!(value, Value::None) {
            // `operand0=None` goes with a unary operator, which ignores it.
            if operand.name == "operand0" {
                return Ok(Arg::Float(0.0));
            }
            if let Some(default) = operand.default {
                return Ok(default);
            }
        }
        match &operand.kind {
            // A bool is one byte, 0 or 1: a predicate like any other.
            Kind::Tile(facts) if facts.dtypes == DtypeSet::Unsigned && is_bool_tile(value) => match value {
                Value::Tensor(tensor) => {
                    let mut view = tensor.view;
                    view.dtype = Dtype::U8;
                    Ok(Arg::View(self.program.add_view(view)))
                }
                _ => Err(wrong("a tensor", None)),
            },
            Kind::Tile(_) | Kind::Column(_) => match value {
                Value::Tensor(tensor) => Ok(Arg::View(self.program.add_view(tensor.view))),
                _ if operand.name == "bias" && value.as_float().is_some() => {
                    Err(Error::new(Mistake::BiasImmediate, span))
                }
                _ => Err(wrong("a tensor", None)),
            },
            Kind::ColumnOrScalar(_) | Kind::TileOrScalar(_) => match value {
                Value::Tensor(tensor) => Ok(Arg::View(self.program.add_view(tensor.view))),
                value => immediate(value).ok_or_else(|| wrong("a tensor or a number", None)),
            },
            Kind::Scalar => immediate(value).ok_or_else(|| wrong("a number", None)),
            Kind::Alu(set) => alu(value, *set).ok_or_else(|| {
                let newer = library::operator_name(value)
                    .and_then(|name| NEWER_OPERATORS.iter().find(|it| it.0 == name));
                if let Some((name, since)) = newer {
                    let (what, since) = (format!("nl.{name} as an operator of {}", row.name), since.name());
                    let help = "use an operator that `nk isa` lists for it, or nisa.activation".to_string();
                    return Error::new(Mistake::NewerOnly { what, since, help }, span);
                }
                let help = match set {
                    AluSet::Add => "the Scalar engine of NeuronCore-v2 adds only: op nl.add",
                    AluSet::Comparison => "use nl.equal, nl.not_equal, nl.less, nl.less_equal, nl.greater or nl.greater_equal",
                    AluSet::Reduction => "use nl.add, nl.subtract, nl.multiply, nl.maximum, nl.minimum, or a logical or bitwise op",
                    AluSet::Arithmetic => "use an arithmetic op of two operands, e.g. nl.add",
                    AluSet::Binary => "use an op of two operands, e.g. nl.add",
                    AluSet::Any => "use an op of nki.language, e.g. nl.add",
                    AluSet::Recurrence => "use an arithmetic op of two operands that the Vector engine has, e.g. nl.add",
                    AluSet::Numeric => "use an arithmetic op, e.g. nl.add",
                    AluSet::Accumulator => "use nl.add, nl.multiply, nl.maximum or nl.minimum",
                    AluSet::Cumulative => "use nl.add, nl.subtract, nl.multiply, nl.maximum or nl.minimum",
                    AluSet::Maximum => "select_reduce keeps a maximum only: nl.maximum",
                    AluSet::Collective => "use nl.add, nl.maximum or nl.minimum",
                    AluSet::Partitions => "use nl.add, nl.average, nl.maximum, nl.bitwise_or or nl.bitwise_and",
                };
                let mut error = wrong("an ALU op of this instruction", Some(help.to_string()));
                if let (Mistake::WrongOperand { given, .. }, Some(name)) = (&mut error.mistake, library::operator_name(value)) {
                    *given = format!("nl.{name}");
                }
                error
            }),
            Kind::Act => match library::operator_name(value).and_then(ActFn::from_name) {
                Some(it) => Ok(Arg::Act(it)),
                None => Err(wrong("a function of the Scalar engine", Some("use e.g. nl.exp, nl.gelu, nl.copy".to_string()))),
            },
            Kind::ReduceCmd => match library::reduce_cmd(value) {
                Some(it) => Ok(Arg::ReduceCmd(it)),
                None => Err(wrong("a nisa.reduce_cmd", None)),
            },
            Kind::Bool => match value.as_int() {
                Some(it) => Ok(Arg::Bool(it != 0)),
                None => Err(wrong("True or False", None)),
            },
            Kind::Int => match value.as_int().and_then(|it| i32::try_from(it).ok()) {
                Some(it) => Ok(Arg::Int(it)),
                None => Err(wrong("a 32-bit int that is known at compile time", None)),
            },
            Kind::Pattern => {
                let narrow = |(step, count): (i64, i64)| {
                    let stride = i32::try_from(step).map_err(|_| Error::value_error("a step of the pattern exceeds 32 bits", span))?;
                    Ok(Dim { stride, count: count as u32 })
                };
                let pattern = pairs(value, span)?.into_iter().map(narrow).collect::<Result<Vec<_>>>()?;
                Ok(Arg::Pattern(self.program.add_pattern(Pattern(pattern))))
            }
            Kind::Axes => {
                let data = row.position("data").and_then(|it| given[it].as_ref());
                let Some(Value::Tensor(data)) = data else { return Err(wrong("axes of a tensor", None)) };
                let rank = data.view.dims().len();
                let mut mask = 0u8;
                for it in int_list(value, "the axis", span)? {
                    mask |= 1 << axis(&Value::Int(it), rank, span)?;
                }
                Ok(Arg::Axes(mask))
            }
            Kind::Pair => match int_list(value, operand.name, span)?.as_slice() {
                [] => Ok(Arg::Absent),
                [a, b] => match (u8::try_from(*a), u8::try_from(*b)) {
                    (Ok(a), Ok(b)) => Ok(Arg::Pair(a, b)),
                    _ => Err(wrong("two numbers from 0 to 128", None)),
                },
                _ => Err(wrong("a tuple of two numbers", None)),
            },
            Kind::Accumulate => Ok(Arg::Accumulate(Accumulate::Auto)),
            Kind::OobMode => match library::oob_mode(value) {
                Some(it) => Ok(Arg::OobMode(it)),
                None => Err(wrong("a nisa.oob_mode", None)),
            },
            Kind::Exchange | Kind::Ranks => unreachable!("collectives are bound elsewhere"),
            Kind::Register | Kind::RegisterOrInt => unreachable!("instructions of registers are bound elsewhere"),
            Kind::Shuffle => match Shuffle::new(&int_list(value, "the mask", span)?) {
                Some(it) => Ok(self.program.add_shuffle(it)),
                None => Err(wrong("32 lanes from 0 to 31, or 255 for a lane that stays", None)),
            },
        }
    }

    /// Keywords of the call that are no operands.
    fn check_extra(
        &mut self,
        row: &'static Row,
        extra: &[(Rc<str>, Value)],
        dst: &View,
        bound: &[Arg; MAX_ARGS],
        given: &[Option<Value>; MAX_ARGS],
        span: Span,
    ) -> Result<()> {
        for (name, value) in extra {
            match (&**name, &newer::named_mode(name, value)) {
                ("name", Value::Str(_) | Value::None) => {}
                ("dtype", _) => {
                    let dtype = self.dtype_of(value, span)?;
                    if dtype != dst.dtype {
                        let (dtype, dst) = (dtype.nki_name(), dst.dtype.nki_name());
                        if !self.is_classic {
                            return Err(Error::new(Mistake::DtypeKeyword { dtype, dst }, span));
                        }
                        self.warn(Warning::DtypeIgnored { dtype, dst }, span);
                        continue;
                    }
                    self.warn(Warning::OldKeyword("dtype"), span);
                }
                ("mask", Value::None) => self.warn(Warning::OldKeyword("mask"), span),
                ("mask", _) => {
                    let help = "slice the operands to the part that is meant";
                    return Err(Error::unsupported("a mask in this calling style", help, span));
                }
                // What of these the target lacks was refused before.
                ("priority" | "dst_idx" | "perf_mode", _) => {}
                ("dge_mode", Value::Member(it)) if it.kind == "dge_mode" => {}
                ("oob_mode", Value::Member(it)) if it.kind == "oob_mode" => {}
                ("keepdims", _) if value.as_int().is_some() => {
                    check_keepdims(self, value.truth(), dst, bound, span)?;
                }
                ("axes", _) => check_axes(value, given, span)?,
                ("engine", Value::Member(it)) if it.kind == "engine" => {}
                _ => {
                    let function = format!("nisa.{}", row.name);
                    let message = format!(
                        "`{name}` of {function} does not take {}",
                        with_article(value.kind())
                    );
                    return Err(Error::type_error(message, span));
                }
            }
        }
        Ok(())
    }

    /// The engine that executes an instruction: the one asked for, or the one that its operands call for.
    pub fn engine_for(
        &mut self,
        op: Op,
        extra: &[(Rc<str>, Value)],
        args: &[Arg; MAX_ARGS],
        span: Span,
    ) -> Result<Engine> {
        let row = op.row();
        let asked = extra
            .iter()
            .find(|it| &*it.0 == "engine")
            .and_then(|it| library::engine(&it.1))
            .flatten();
        if let Some(engine) = asked {
            if row.engines.contains(&engine) && row.unit == crate::isa::Unit::Engine {
                return Ok(engine);
            }
            if row.unit == crate::isa::Unit::Dma {
                let help = "drop it: queues are chosen by the scheduler".to_string();
                let what = "`engine` of a DMA".to_string();
                return Err(Error::new(
                    Mistake::NewerOnly {
                        what,
                        since: "hardware DGE (NeuronCore-v3)",
                        help,
                    },
                    span,
                ));
            }
            let help = match op {
                Op::TensorCopy => {
                    "use nisa.activation(op=nl.copy), or the Vector or GpSimd engine".to_string()
                }
                _ => format!(
                    "use {}",
                    row.engines
                        .iter()
                        .map(|it| it.name())
                        .collect::<Vec<_>>()
                        .join(" or ")
                ),
            };
            let what = format!("{} on the {} engine", row.name, engine.name());
            let since = match (op, engine) {
                (Op::TensorCopy | Op::TensorScalar, Engine::Scalar) | (Op::Rng, Engine::Gpsimd) => {
                    "NeuronCore-v3"
                }
                _ => "another NeuronCore",
            };
            return Err(Error::new(Mistake::NewerOnly { what, since, help }, span));
        }
        Ok(self.default_engine(op, args, span))
    }

    fn default_engine(&mut self, op: Op, args: &[Arg; MAX_ARGS], span: Span) -> Engine {
        let first = op.row().engines[0];
        let alu = |args: &[Arg; MAX_ARGS]| {
            args.iter()
                .filter_map(|it| match it {
                    Arg::Alu(it) => Some(*it),
                    _ => None,
                })
                .collect::<Vec<_>>()
        };
        match op {
            Op::NcTranspose => {
                // A result in PSUM is the Tensor engine's; small tiles that stay in SBUF are the Vector engine's.
                let to_psum = self
                    .views(args)
                    .next()
                    .is_some_and(|it| self.program.memory(it) == Memory::Psum);
                if to_psum { Engine::Tensor } else { Engine::Vector }
            }
            Op::TensorTensor => {
                let all_32 = self
                    .views(args)
                    .all(|it| matches!(it.dtype, Dtype::I32 | Dtype::U32));
                let in_psum = self.views(args).any(|it| self.program.memory(it) == Memory::Psum);
                let op = alu(args).first().copied();
                let exact = matches!(op, Some(AluOp::Add | AluOp::Subtract | AluOp::Multiply));
                if op == Some(AluOp::Power) || (all_32 && exact && !in_psum) {
                    return Engine::Gpsimd;
                }
                let is_bits = op.is_some_and(|it| it.facts().class == AluClass::Bits);
                if all_32 && !is_bits {
                    self.warn(Warning::IntThroughF32, span);
                }
                first
            }
            // Software makes the descriptors of a gather, on GpSimd.
            Op::DmaCopy | Op::DmaCompute if self.views(args).any(View::has_row_indices) => Engine::Gpsimd,
            Op::TensorScalar if alu(args).iter().any(|it| it.facts().gpsimd_only) => Engine::Gpsimd,
            _ => first,
        }
    }

    /// Whether an instruction computes 32-bit integers from 32-bit integers by way of f32 (`isa.md` §2.6).
    fn is_int_through_f32(&self, op: Op, engine: Engine, args: &[Arg; MAX_ARGS]) -> bool {
        let is_int = |it: &View| matches!(it.dtype, Dtype::I32 | Dtype::U32);
        if !self.views(args).all(is_int) {
            return false;
        }
        let arithmetic = args.iter().find_map(|it| match it {
            Arg::Alu(op) if op.facts().class == AluClass::Arithmetic => Some(*op),
            _ => None,
        });
        match op {
            Op::TensorTensor => arithmetic.is_some_and(|it| {
                let is_exact = it.facts().compares
                    || matches!(
                        it,
                        AluOp::Add | AluOp::Subtract | AluOp::Multiply | AluOp::Maximum | AluOp::Minimum
                    );
                engine != Engine::Gpsimd || !is_exact
            }),
            Op::TensorScalar | Op::ScalarTensorTensor | Op::TensorReduce => arithmetic.is_some(),
            Op::Activation | Op::ActivationReduce => true,
            _ => false,
        }
    }

    fn views<'a>(&'a self, args: &'a [Arg; MAX_ARGS]) -> impl Iterator<Item = &'a View> {
        args.iter().filter_map(|it| match it {
            Arg::View(id) => Some(&self.program[*id]),
            _ => None,
        })
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

fn is_bool_tile(value: &Value) -> bool {
    matches!(value, Value::Tensor(it) if it.view.dtype == Dtype::Bool)
}

/// A number as an immediate operand.
pub fn immediate(value: &Value) -> Option<Arg> {
    match value {
        Value::Array(it) if it.borrow().len() == 1 => Some(Arg::Float(super::eval::first(it) as f32)),
        Value::Float(it) => Some(Arg::Float(*it as f32)),
        _ => {
            let it = value.as_int()?;
            let small = i32::try_from(it).ok().map(Arg::Int);
            small
                .or(u32::try_from(it).ok().map(Arg::Uint))
                .or(Some(Arg::Float(it as f32)))
        }
    }
}

fn alu(value: &Value, set: AluSet) -> Option<Arg> {
    let op = AluOp::from_name(library::operator_name(value)?)?;
    set.contains(op).then_some(Arg::Alu(op))
}

/// Immediates of arithmetic are f32; those of bit operators stay integers; a fill is of its destination's class.
fn resolve_immediates(op: Op, dst: &View, args: &mut [Arg; MAX_ARGS]) {
    let bits = args
        .iter()
        .any(|it| matches!(it, Arg::Alu(op) if op.facts().class == AluClass::Bits));
    let keeps_int = match op {
        Op::Memset => dst.dtype.is_int(),
        Op::TensorCopyPredicated => dst.dtype.is_int(),
        _ => bits,
    };
    for (operand, arg) in op.row().operands.iter().zip(args.iter_mut()) {
        let is_number = matches!(
            operand.kind,
            Kind::Scalar | Kind::ColumnOrScalar(_) | Kind::TileOrScalar(_)
        );
        if !is_number || keeps_int {
            continue;
        }
        match *arg {
            Arg::Int(it) => *arg = Arg::Float(it as f32),
            Arg::Uint(it) => *arg = Arg::Float(it as f32),
            _ => {}
        }
    }
}

fn check_keepdims(
    this: &Evaluator<'_>,
    keepdims: bool,
    dst: &View,
    bound: &[Arg; MAX_ARGS],
    span: Span,
) -> Result<()> {
    let (Some(Arg::View(data)), Some(Arg::Axes(axes))) = (bound.get(2), bound.get(3)) else {
        return Ok(());
    };
    let data = &this.program[*data];
    let kept = data.dims().len() - if keepdims { 0 } else { axes.count_ones() as usize };
    // Only the count matters to the hardware, so a rank that differs is accepted where one side is a column.
    if dst.dims().len() != kept && dst.free_count() != 1 && keepdims {
        let message = format!(
            "with keepdims the destination has {kept} dimensions, this one has {}",
            dst.dims().len()
        );
        return Err(Error::value_error(message, span));
    }
    Ok(())
}

fn check_axes(value: &Value, given: &[Option<Value>; MAX_ARGS], span: Span) -> Result<()> {
    let Some(Value::Tensor(src)) = &given[1] else {
        return Ok(());
    };
    let only: &[i64] = match src.view.dims().len() {
        2 => &[1, 0],
        3 => &[2, 1, 0],
        _ => &[3, 1, 2, 0],
    };
    if matches!(value, Value::None) || int_list(value, "axes", span)? == only {
        return Ok(());
    }
    Err(Error::value_error(
        format!("dma_transpose of a tensor of this rank has axes {only:?} only"),
        span,
    ))
}
