//! Reductions and the functions built on them: `nl.sum`, `nl.softmax`, `nl.rms_norm`, `nl.where`.
//!
//! Takes evaluated arguments, emits the instruction sequences of `isa.md` §4.7, gives a fresh tile.

use super::builtins::required;
use super::error::{Error, Result};
use super::eval::CallArgs;
use super::index::tensor_value;
use super::tensor::{axis, int_list};
use super::value::{Region, Tensor, Value};
use super::{Evaluator, layout};
use crate::dtype::Dtype;
use crate::isa::{ActFn, AluOp, Arg, Op};
use crate::source::Span;

impl Evaluator<'_> {
    pub fn reduction(&mut self, name: &'static str, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let function = format!("nl.{name}");
        let [x, axes, dtype, keepdims, keepdim, mask] = args.bind(
            &function,
            ["x", "axis", "dtype", "keepdims", "keepdim", "mask"],
            2,
        )?;
        self.no_mask(mask, span)?;
        let x = self.tile(&required(x), &function, span)?;
        let axes = trailing_axes(&x, &required(axes), span)?;
        let keep = keepdims.or(keepdim).is_some_and(|it| it.truth()) || name == "var";
        let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
        let count: u64 = axes
            .iter()
            .map(|&it| u64::from(x.view.dims()[it].count))
            .product();
        let result = match name {
            "var" => self.variance(&x, &axes, count, dtype, span)?,
            "mean" => {
                let sum = self.reduce(&x, AluOp::Add, &axes, Dtype::F32, true, span)?;
                self.scaled(&sum, 1.0 / count as f32, dtype, span)?
            }
            _ => {
                let op = match name {
                    "sum" => AluOp::Add,
                    "max" => AluOp::Maximum,
                    "min" => AluOp::Minimum,
                    "prod" => AluOp::Multiply,
                    _ => AluOp::LogicalAnd,
                };
                self.reduce(&x, op, &axes, dtype, true, span)?
            }
        };
        let mut shape: Vec<i64> = x.shape().map(i64::from).collect();
        axes.iter().for_each(|&it| shape[it] = 1);
        if !keep {
            let kept = shape.len() - axes.len();
            shape.truncate(kept.max(2));
        }
        layout::reshape(&result, &shape, span).map(tensor_value)
    }

    /// One tensor_reduce into a fresh tile that keeps the reduced axes with size 1.
    fn reduce(
        &mut self,
        x: &Tensor,
        op: AluOp,
        axes: &[usize],
        dtype: Dtype,
        keep: bool,
        span: Span,
    ) -> Result<Tensor> {
        let mut shape: Vec<u32> = x.shape().collect();
        axes.iter().for_each(|&it| shape[it] = 1);
        debug_assert!(keep, "the caller drops the axes by a view");
        let dst = self.fresh(&shape, dtype, Region::Sbuf, span)?;
        let mask = axes.iter().fold(0u8, |mask, it| mask | 1 << it);
        let args = [
            self.view_arg(&dst),
            Arg::Alu(op),
            self.view_arg(x),
            Arg::Axes(mask),
        ];
        self.put(Op::TensorReduce, &args, span)?;
        Ok(dst)
    }

    fn scaled(&mut self, x: &Tensor, factor: f32, dtype: Dtype, span: Span) -> Result<Tensor> {
        let dst = self.fresh_like(x, dtype, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&dst),
            self.view_arg(x),
            Arg::Alu(AluOp::Multiply),
            Arg::Float(factor),
        ];
        self.put(Op::TensorScalar, &args, span)?;
        Ok(dst)
    }

    /// Population variance in two passes, all in f32.
    fn variance(
        &mut self,
        x: &Tensor,
        axes: &[usize],
        count: u64,
        dtype: Dtype,
        span: Span,
    ) -> Result<Tensor> {
        if x.view.dims().len() - axes.len() != 1 {
            let help = "reshape the tile to two dimensions first";
            return Err(Error::unsupported(
                "nl.var over a part of the free axes",
                help,
                span,
            ));
        }
        let sum = self.reduce(x, AluOp::Add, axes, Dtype::F32, true, span)?;
        let mean = self.scaled(&sum, 1.0 / count as f32, Dtype::F32, span)?;
        let centred = self.fresh_like(x, Dtype::F32, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&centred),
            self.view_arg(x),
            Arg::Alu(AluOp::Subtract),
            self.view_arg(&mean),
        ];
        self.put(Op::TensorScalar, &args, span)?;
        let squares = self.fresh_like(x, Dtype::F32, Region::Sbuf, span)?;
        let total = self.fresh_like(&sum, Dtype::F32, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&squares),
            Arg::Act(ActFn::Square),
            self.view_arg(&centred),
            Arg::Alu(AluOp::Add),
            self.view_arg(&total),
        ];
        self.put(Op::ActivationReduce, &args, span)?;
        self.scaled(&total, 1.0 / count as f32, dtype, span)
    }

    /// exp(x - max) / sum, the exponential and the sum being one instruction.
    pub fn softmax(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [x, axes, dtype] = args.bind("nl.softmax", ["x", "axis", "dtype"], 1)?;
        let x = self.tile(&required(x), "nl.softmax", span)?;
        let axes = trailing_axes(&x, &axes.unwrap_or(Value::Int(-1)), span)?;
        if x.view.dims().len() - axes.len() != 1 {
            let help = "reshape the tile to two dimensions first";
            return Err(Error::unsupported(
                "nl.softmax over a part of the free axes",
                help,
                span,
            ));
        }
        let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
        let mut shape: Vec<u32> = x.shape().collect();
        axes.iter().for_each(|&it| shape[it] = 1);
        let negated_max = self.fresh(&shape, Dtype::F32, Region::Sbuf, span)?;
        let mask = axes.iter().fold(0u8, |mask, it| mask | 1 << it);
        let (dst, data) = (self.view_arg(&negated_max), self.view_arg(&x));
        let args = [
            dst,
            Arg::Alu(AluOp::Maximum),
            data,
            Arg::Axes(mask),
            Arg::Bool(true),
        ];
        self.put(Op::TensorReduce, &args, span)?;
        let exponentials = self.fresh_like(&x, Dtype::F32, Region::Sbuf, span)?;
        let sum = self.fresh(&shape, Dtype::F32, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&exponentials),
            Arg::Act(ActFn::Exp),
            self.view_arg(&x),
            Arg::Alu(AluOp::Add),
            self.view_arg(&sum),
            self.view_arg(&negated_max),
        ];
        self.put(Op::ActivationReduce, &args, span)?;
        let inverse = self.fresh(&shape, Dtype::F32, Region::Sbuf, span)?;
        let args = [self.view_arg(&inverse), self.view_arg(&sum)];
        self.put(Op::Reciprocal, &args, span)?;
        let dst = self.fresh_like(&x, dtype, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&dst),
            self.view_arg(&exponentials),
            Arg::Alu(AluOp::Multiply),
            self.view_arg(&inverse),
        ];
        self.put(Op::TensorScalar, &args, span)?;
        Ok(tensor_value(dst))
    }

    /// x * rsqrt(sum(x * x) / n + epsilon) * w.
    pub fn rms_norm(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let names = ["x", "w", "axis", "n", "epsilon", "dtype", "compute_dtype", "mask"];
        let [x, w, axes, n, epsilon, dtype, _, mask] = args.bind("nl.rms_norm", names, 4)?;
        self.no_mask(mask, span)?;
        let x = self.tile(&required(x), "nl.rms_norm", span)?;
        let weight = required(w);
        let axes = trailing_axes(&x, &required(axes), span)?;
        let n = required(n)
            .as_float()
            .ok_or_else(|| Error::type_error("`n` of nl.rms_norm is a number", span))?;
        let epsilon = epsilon.and_then(|it| it.as_float()).unwrap_or(1e-6);
        let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
        let mut shape: Vec<u32> = x.shape().collect();
        axes.iter().for_each(|&it| shape[it] = 1);
        let squares = self.fresh_like(&x, Dtype::F32, Region::Sbuf, span)?;
        let sum = self.fresh(&shape, Dtype::F32, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&squares),
            Arg::Act(ActFn::Square),
            self.view_arg(&x),
            Arg::Alu(AluOp::Add),
            self.view_arg(&sum),
        ];
        self.put(Op::ActivationReduce, &args, span)?;
        let mean = self.fresh(&shape, Dtype::F32, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&mean),
            self.view_arg(&sum),
            Arg::Alu(AluOp::Multiply),
            Arg::Float((1.0 / n) as f32),
            Arg::Bool(false),
            Arg::Alu(AluOp::Add),
            Arg::Float(epsilon as f32),
        ];
        self.put(Op::TensorScalar, &args, span)?;
        let inverse = self.fresh(&shape, Dtype::F32, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&inverse),
            Arg::Act(ActFn::Rsqrt),
            self.view_arg(&mean),
        ];
        self.put(Op::Activation, &args, span)?;
        let normal = self.fresh_like(&x, Dtype::F32, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&normal),
            self.view_arg(&x),
            Arg::Alu(AluOp::Multiply),
            self.view_arg(&inverse),
        ];
        self.put(Op::TensorScalar, &args, span)?;
        let normal = tensor_value(normal);
        self.element_wise(AluOp::Multiply, &normal, &weight, Some(Value::Dtype(dtype)), span)
    }

    /// x where the condition is not zero, else y: a copy of y, overwritten under a predicate.
    pub fn select_where(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [condition, x, y, dtype] = args.bind("nl.where", ["condition", "x", "y", "dtype"], 3)?;
        let condition = self.tile(&required(condition), "nl.where", span)?;
        let (x, y) = (required(x), required(y));
        let default = match (&x, &y) {
            (Value::Tensor(it), _) | (_, Value::Tensor(it)) => it.view.dtype,
            _ => Dtype::F32,
        };
        let dtype = self.result_dtype(dtype, default, span)?;
        let dst = self.fresh_like(&condition, dtype, Region::Sbuf, span)?;
        self.store_tile(&tensor_value(dst.clone()), &y, span)?;
        let predicate = self.fresh_like(&condition, Dtype::U8, Region::Sbuf, span)?;
        // A plain cast would round 0.25 to false, so the condition is compared with zero first.
        let args = [
            self.view_arg(&predicate),
            self.view_arg(&condition),
            Arg::Alu(AluOp::NotEqual),
            Arg::Float(0.0),
        ];
        self.put(Op::TensorScalar, &args, span)?;
        let src = match &x {
            Value::Tensor(it) if it.view.dtype == dtype => self.view_arg(it),
            Value::Tensor(it) => {
                let converted = self.copied(it, dtype, span)?;
                self.view_arg(&converted)
            }
            x => match (super::bind::immediate(x), dtype.is_int()) {
                (Some(Arg::Int(it)), false) => Arg::Float(it as f32),
                (Some(it), _) => it,
                (None, _) => return Err(Error::type_error("nl.where takes tiles and numbers", span)),
            },
        };
        let args = [self.view_arg(&dst), src, self.view_arg(&predicate)];
        self.put(Op::TensorCopyPredicated, &args, span)?;
        Ok(tensor_value(dst))
    }
}

/// The axes of a reduction, which must be the trailing free ones.
fn trailing_axes(x: &Tensor, value: &Value, span: Span) -> Result<Vec<usize>> {
    let rank = x.view.dims().len();
    let mut axes = int_list(value, "axis", span)?
        .iter()
        .map(|it| axis(&Value::Int(*it), rank, span))
        .collect::<Result<Vec<_>>>()?;
    axes.sort_unstable();
    axes.dedup();
    let trailing = axes.iter().rev().zip((0..rank).rev()).all(|(a, b)| *a == b);
    if axes.is_empty() || axes[0] == 0 || !trailing {
        let message =
            format!("a reduction goes over the last axes of the free dimension, not over {axes:?} of {rank}");
        return Err(Error::value_error(message, span));
    }
    Ok(axes)
}
