//! Softmax and RMS normalisation.
//!
//! Takes evaluated arguments, emits the instruction sequences of `isa.md` §4.7, gives a fresh tile. Sums and factors stay
//! in f32; the last instruction converts.

use super::Evaluator;
use super::builtins::required;
use super::error::{Error, Result};
use super::eval::CallArgs;
use super::index::tensor_value;
use super::reduce::{axis_mask, reduced_shape, trailing_axes};
use super::value::{Region, Tensor, Value};
use crate::dtype::Dtype;
use crate::isa::{ActFn, AluOp, Arg, Op};
use crate::source::Span;

impl Evaluator<'_> {
    /// exp(x - max) / sum. Over all free axes the exponential and the sum are one instruction.
    pub fn softmax(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [x, axes, dtype, mask] = args.bind("nl.softmax", ["x", "axis", "dtype", "mask"], 1)?;
        self.no_mask(mask, span)?;
        let x = self.tile(&required(x), "nl.softmax", span)?;
        let axes = trailing_axes(&x, &axes.unwrap_or(Value::Int(-1)), span)?;
        let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
        let shape = reduced_shape(&x, &axes);
        let negated_max = self.fresh(&shape, Dtype::F32, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&negated_max),
            Arg::Alu(AluOp::Maximum),
            self.view_arg(&x),
            Arg::Axes(axis_mask(&axes)),
            Arg::Bool(true),
        ];
        self.put(Op::TensorReduce, &args, span)?;
        let (exponentials, sum) = if x.view.dims().len() - axes.len() == 1 {
            self.function_and_sum(ActFn::Exp, &x, Some(&negated_max), span)?
        } else {
            let shifted = self.with_repeated(AluOp::Add, &x, &negated_max, Dtype::F32, span)?;
            let exponentials = self.activated(ActFn::Exp, &shifted, Dtype::F32, span)?;
            let sum = self.reduced(&exponentials, AluOp::Add, &axes, Dtype::F32, span)?;
            (exponentials, sum)
        };
        let inverse = self.fresh_like(&sum, Dtype::F32, Region::Sbuf, span)?;
        let args = [self.view_arg(&inverse), self.view_arg(&sum)];
        self.put(Op::Reciprocal, &args, span)?;
        let result = self.with_repeated(AluOp::Multiply, &exponentials, &inverse, dtype, span)?;
        Ok(tensor_value(result))
    }

    /// x * rsqrt(sum(x * x) / n + epsilon) * w.
    pub fn rms_norm(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let names = ["x", "w", "axis", "n", "epsilon", "dtype", "compute_dtype", "mask"];
        let [x, w, axes, n, epsilon, dtype, compute_dtype, mask] = args.bind("nl.rms_norm", names, 4)?;
        self.no_mask(mask, span)?;
        let x = self.tile(&required(x), "nl.rms_norm", span)?;
        let weight = required(w);
        let axes = trailing_axes(&x, &required(axes), span)?;
        let n = required(n)
            .as_float()
            .ok_or_else(|| Error::type_error("`n` of nl.rms_norm is a number", span))?;
        let epsilon = epsilon.and_then(|it| it.as_float()).unwrap_or(1e-6);
        let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
        // The dtype of the tiles between the instructions; each computes in f32 all the same.
        let inner = self.result_dtype(compute_dtype, Dtype::F32, span)?;
        let sum = if x.view.dims().len() - axes.len() == 1 {
            self.function_and_sum(ActFn::Square, &x, None, span)?.1
        } else {
            let squares = self.activated(ActFn::Square, &x, Dtype::F32, span)?;
            self.reduced(&squares, AluOp::Add, &axes, Dtype::F32, span)?
        };
        let mean = self.fresh_like(&sum, Dtype::F32, Region::Sbuf, span)?;
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
        let inverse = self.activated(ActFn::Rsqrt, &mean, Dtype::F32, span)?;
        let normal = self.with_repeated(AluOp::Multiply, &x, &inverse, inner, span)?;
        let normal = tensor_value(normal);
        self.element_wise(AluOp::Multiply, &normal, &weight, Some(Value::Dtype(dtype)), span)
    }

    /// A Scalar-engine function in f32, and the sum of its results over all free axes.
    pub fn function_and_sum(
        &mut self,
        act: ActFn,
        x: &Tensor,
        bias: Option<&Tensor>,
        span: Span,
    ) -> Result<(Tensor, Tensor)> {
        let results = self.fresh_like(x, Dtype::F32, Region::Sbuf, span)?;
        let shape = reduced_shape(x, &(1..x.view.dims().len()).collect::<Vec<_>>());
        let sum = self.fresh(&shape, Dtype::F32, Region::Sbuf, span)?;
        let bias = match bias {
            Some(it) => self.view_arg(it),
            None => Arg::Absent,
        };
        let args = [
            self.view_arg(&results),
            Arg::Act(act),
            self.view_arg(x),
            Arg::Alu(AluOp::Add),
            self.view_arg(&sum),
            bias,
        ];
        self.put(Op::ActivationReduce, &args, span)?;
        Ok((results, sum))
    }
}
