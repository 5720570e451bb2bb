//! One operand of an instruction: a value checked against what the row says.
//!
//! Takes the value that a call gives and the operand's kind, gives the argument of the instruction or says what was expected.

use super::super::error::{Error, Mistake, Result};
use super::super::eval::with_article;
use super::super::tensor::{axis, int_list, pairs};
use super::super::value::Value;
use super::super::{Evaluator, library};
use crate::dtype::Dtype;
use crate::ir::{Dim, Pattern, Shuffle, View};
use crate::isa::newer::NEWER_OPERATORS;
use crate::isa::{
    Accumulate, ActFn, AluClass, AluOp, AluSet, Arg, DtypeSet, Kind, MAX_ARGS, Op, Operand, Row,
};
use crate::source::Span;

impl Evaluator<'_> {
    pub fn operand(
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
}

fn is_bool_tile(value: &Value) -> bool {
    matches!(value, Value::Tensor(it) if it.view.dtype == Dtype::Bool)
}

/// A number as an immediate operand.
pub fn immediate(value: &Value) -> Option<Arg> {
    match value {
        Value::Array(it) if it.borrow().len() == 1 => Some(Arg::Float(super::super::eval::first(it) as f32)),
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
pub fn resolve_immediates(op: Op, dst: &View, args: &mut [Arg; MAX_ARGS]) {
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
