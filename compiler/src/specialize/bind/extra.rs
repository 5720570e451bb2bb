//! Keywords of an instruction call that are no operands: `dtype=`, `mask=`, `keepdims=`, `axes=` and the modes.
//!
//! Takes what `bind_operands` left over, refuses what contradicts the operands. What the target lacks was refused before.

use super::super::error::{Error, Mistake, Result};
use super::super::eval::with_article;
use super::super::tensor::int_list;
use super::super::value::Value;
use super::super::{Evaluator, Warning, newer};
use crate::ir::View;
use crate::isa::{Arg, MAX_ARGS, Row};
use crate::source::Span;
use std::rc::Rc;

impl Evaluator<'_> {
    /// Keywords of the call that are no operands.
    pub fn check_extra(
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
