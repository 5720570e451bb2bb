//! `nisa.dma_compute`: sums on the way of a transfer.
//!
//! Takes the call with its list of sources, gives one transfer, or several when there are more sources than an
//! instruction holds. Rows that have indices of their own are added to or from one by one, in order: an index that comes
//! twice adds twice.

use super::builtins::required;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::history::Removed;
use super::ordering::Handle;
use super::tensor::{Creation, int};
use super::value::{Region, Tensor, Value};
use super::{Evaluator, library};
use crate::dtype::Dtype;
use crate::ir::Role;
use crate::isa::{Arg, Memory, Op};
use crate::source::Span;
use std::rc::Rc;

const FUNCTION: &str = "nisa.dma_compute";
/// The most sources of a call (ISA).
const MAX_SOURCES: usize = 16;

impl Evaluator<'_> {
    pub fn call_dma_compute(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let names = [
            "dst",
            "srcs",
            "reduce_op",
            "scales",
            "unique_indices",
            "oob_mode",
            "name",
        ];
        let [dst, srcs, reduce_op, scales, unique, oob_mode, _] = args.bind(FUNCTION, names, 3)?;
        let dst = self.tile(&required(dst), FUNCTION, span)?;
        let sources = self.sources(&required(srcs), span)?;
        check_adds("dma_compute", "reduce_op", &required(reduce_op), span)?;
        check_scales(scales.as_ref(), sources.len(), span)?;
        if let Some(unique) = unique.filter(|it| !matches!(it, Value::None)) {
            int(&unique, "`unique_indices`", span)?;
        }
        check_oob_mode(oob_mode.as_ref(), span)?;
        check_indirect(&dst, &sources, span)?;

        let most = Op::DmaCompute.row().operands.len() - 1;
        let mut args: Vec<Arg> = sources.iter().map(|it| self.view_arg(it)).collect();
        while args.len() > most {
            // The sum so far goes through a tensor of f32, so that the next transfer adds on to it unrounded.
            let rest = args.split_off(most);
            let sum = self.partial_sum(&dst, span)?;
            args.insert(0, sum);
            self.put(Op::DmaCompute, &args, span)?;
            args = vec![sum];
            args.extend(rest);
        }
        args.insert(0, self.view_arg(&dst));
        self.put(Op::DmaCompute, &args, span)?;
        Ok(Value::Instruction(Handle::default()))
    }

    /// `nisa.dma_copy(dst, src, dst_rmw_op=…)` of the classic style, which adds to what is there.
    pub fn call_adding_copy(&mut self, args: CallArgs) -> Result<Value> {
        const FUNCTION: &str = "nisa.dma_copy";
        let span = args.span;
        let names = [
            "dst",
            "src",
            "dst_rmw_op",
            "oob_mode",
            "unique_indices",
            "dge_mode",
            "name",
        ];
        let [dst, src, operator, oob_mode, _unique, _dge_mode, _name] = args.bind(FUNCTION, names, 2)?;
        check_adds("dma_copy", "dst_rmw_op", &required(operator), span)?;
        check_oob_mode(oob_mode.as_ref(), span)?;
        let dst = self.tile(&required(dst), FUNCTION, span)?;
        let src = self.tile(&required(src), FUNCTION, span)?;
        self.removed(Removed::AddingCopy, span);
        let (dst, src) = (self.view_arg(&dst), self.view_arg(&src));
        self.put(Op::DmaCompute, &[dst, dst, src], span)?;
        Ok(Value::Instruction(Handle::default()))
    }

    /// `nl.atomic_rmw(dst, value, op)` of the classic style: adds a tile to rows of HBM.
    pub fn call_atomic_rmw(&mut self, args: CallArgs) -> Result<Value> {
        const FUNCTION: &str = "nl.atomic_rmw";
        let span = args.span;
        let [dst, value, operator, mask] = args.bind(FUNCTION, ["dst", "value", "op", "mask"], 3)?;
        if mask.is_some_and(|it| !matches!(it, Value::None)) {
            let help = "slice the tile and the destination to the part that is meant";
            return Err(Error::unsupported("`mask=` of nl.atomic_rmw", help, span));
        }
        check_adds("atomic_rmw", "op", &required(operator), span)?;
        let dst = self.tile(&required(dst), FUNCTION, span)?;
        let src = self.tile(&required(value), FUNCTION, span)?;
        self.removed(Removed::AtomicRmw, span);
        let (dst, src) = (self.view_arg(&dst), self.view_arg(&src));
        self.put(Op::DmaCompute, &[dst, dst, src], span)?;
        Ok(Value::None)
    }

    fn sources(&self, value: &Value, span: Span) -> Result<Vec<Tensor>> {
        let items: Vec<Value> = match value {
            Value::Tuple(items) => items.to_vec(),
            Value::List(items) => items.borrow().clone(),
            other => {
                let message = format!(
                    "`srcs` of {FUNCTION} is a list of tensors, not {}",
                    with_article(other.kind())
                );
                return Err(Error::type_error(message, span));
            }
        };
        if items.is_empty() || items.len() > MAX_SOURCES {
            let message = format!(
                "{FUNCTION} adds up 1 to {MAX_SOURCES} tensors, not {}",
                items.len()
            );
            return Err(Error::value_error(message, span));
        }
        items.iter().map(|it| self.tile(it, FUNCTION, span)).collect()
    }

    /// A tensor of f32 beside the destination.
    fn partial_sum(&mut self, dst: &Tensor, span: Span) -> Result<Arg> {
        let region = match dst.region.memory() {
            Memory::Hbm => Region::PrivateHbm,
            _ => dst.region,
        };
        let shape: Vec<u32> = dst.shape().collect();
        let wanted = Creation {
            shape,
            dtype: Dtype::F32,
            region,
            name: Some("partial_sum".into()),
            request: None,
            role: Role::Local,
        };
        let sum = self.create(wanted, span)?;
        Ok(self.view_arg(&sum))
    }
}

/// A gather or scatter adds to what stands at its destination.
fn check_indirect(dst: &Tensor, sources: &[Tensor], span: Span) -> Result<()> {
    let is_indirect = |it: &Tensor| it.view.has_row_indices();
    let adds = sources.len() == 2 && sources.iter().any(|it| it.view == dst.view);
    if adds || !(is_indirect(dst) || sources.iter().any(is_indirect)) {
        return Ok(());
    }
    let help =
        "give two sources, one of them the view that is dst: nisa.dma_compute(dst, [dst, src], nl.add)";
    Err(Error::unsupported(
        "a sum of indexed rows that does not add to its destination",
        help,
        span,
    ))
}

/// Whether a copy has an operator that combines it with what stands at its destination.
pub fn is_adding_copy(op: Op, args: &CallArgs) -> bool {
    let is_given = |it: &(Rc<str>, Value)| &*it.0 == "dst_rmw_op" && !matches!(it.1, Value::None);
    op == Op::DmaCopy && args.keywords.iter().any(is_given)
}

fn check_adds(op: &'static str, operand: &'static str, value: &Value, span: Span) -> Result<()> {
    if library::operator_name(value) == Some("add") {
        return Ok(());
    }
    Err(Error::new(
        Mistake::WrongOperand {
            op,
            operand,
            expected: "nl.add".to_string(),
            given: library::operator_name(value)
                .map_or_else(|| with_article(value.kind()), |it| format!("nl.{it}")),
            help: Some("DMA adds only; multiply or compare on an engine".to_string()),
        },
        span,
    ))
}

fn check_scales(scales: Option<&Value>, n_sources: usize, span: Span) -> Result<()> {
    let items: Vec<Value> = match scales {
        None | Some(Value::None) => return Ok(()),
        Some(Value::Tuple(items)) => items.to_vec(),
        Some(Value::List(items)) => items.borrow().clone(),
        Some(other) => {
            let message = format!(
                "`scales` is a list of numbers, not {}",
                with_article(other.kind())
            );
            return Err(Error::type_error(message, span));
        }
    };
    if items.len() == n_sources && items.iter().all(|it| it.as_float() == Some(1.0)) {
        return Ok(());
    }
    let help = "scale the sources on an engine, and leave `scales` out";
    Err(Error::unsupported(
        "a scale other than 1.0 for each source",
        help,
        span,
    ))
}

fn check_oob_mode(mode: Option<&Value>, span: Span) -> Result<()> {
    match mode {
        None | Some(Value::None) => Ok(()),
        Some(Value::Member(it)) if it.kind == "oob_mode" && it.name == "error" => Ok(()),
        Some(Value::Member(it)) if it.kind == "oob_mode" => {
            let help = "drop it: an index past the end is then a fault";
            Err(Error::unsupported(
                "oob_mode.skip of a transfer that adds",
                help,
                span,
            ))
        }
        Some(other) => {
            let message = format!(
                "`oob_mode` is a nisa.oob_mode, not {}",
                with_article(other.kind())
            );
            Err(Error::type_error(message, span))
        }
    }
}
