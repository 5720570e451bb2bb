//! Reductions of `nki.language`: `nl.sum`, `nl.max`, `nl.mean`, `nl.var` and their relatives.
//!
//! Takes evaluated arguments, emits the instruction sequences of `isa.md` §4.7, gives a fresh tile.

use super::broadcast::columns;
use super::builtins::required;
use super::error::{Error, Result};
use super::eval::CallArgs;
use super::index::tensor_value;
use super::tensor::{axis, int_list};
use super::value::{Region, Tensor, Value};
use super::{Evaluator, host_bridge, layout};
use crate::dtype::Dtype;
use crate::isa::{ActFn, AluOp, Arg, Op};
use crate::source::Span;

/// Names of the reductions, and the operators of those that are one instruction.
pub const REDUCTIONS: &[(&str, Option<AluOp>)] = &[
    ("sum", Some(AluOp::Add)),
    ("max", Some(AluOp::Maximum)),
    ("min", Some(AluOp::Minimum)),
    ("prod", Some(AluOp::Multiply)),
    ("all", Some(AluOp::LogicalAnd)),
    ("mean", None),
    ("var", None),
];

impl Evaluator<'_> {
    pub fn reduction(&mut self, name: &'static str, op: Option<AluOp>, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let function = format!("nl.{name}");
        let names = ["x", "axis", "dtype", "keepdims", "keepdim", "mask"];
        let [x, axes, dtype, keepdims, keepdim, mask] = args.bind(&function, names, 2)?;
        self.no_mask(mask, span)?;
        let (x, axes) = (required(x), required(axes));
        if let Value::Array(_) = x {
            return host_bridge::function(name, vec![x, axes], span, self);
        }
        let given = self.tile(&x, &function, span)?;
        let reduced = sorted_axes(&given, &axes, span)?;
        let (x, axes) = with_axes_last(&given, &reduced, span)?;
        // The variance keeps its axes whatever is asked, as NKI has it.
        let keep = keepdims.or(keepdim).is_some_and(|it| it.truth()) || name == "var";
        let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
        let count: u64 = axes
            .iter()
            .map(|&it| u64::from(x.view.dims()[it].count))
            .product();
        let result = match op {
            Some(op) => self.reduced(&x, op, &axes, dtype, span)?,
            None if name == "mean" => self.mean(&x, &axes, count, dtype, span)?,
            None => self.variance(&x, &axes, count, dtype, span)?,
        };
        let mut shape: Vec<i64> = result.shape().map(i64::from).collect();
        if keep {
            shape = given.shape().map(i64::from).collect();
            reduced.iter().for_each(|&it| shape[it] = 1);
        } else {
            let kept = shape.len() - axes.len();
            shape.truncate(kept.max(2));
        }
        layout::reshape(&result, &shape, span).map(tensor_value)
    }

    /// One tensor_reduce into a fresh tile that keeps the reduced axes with size 1.
    pub fn reduced(
        &mut self,
        x: &Tensor,
        op: AluOp,
        axes: &[usize],
        dtype: Dtype,
        span: Span,
    ) -> Result<Tensor> {
        let dst = self.fresh(&reduced_shape(x, axes), dtype, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&dst),
            Arg::Alu(op),
            self.view_arg(x),
            Arg::Axes(axis_mask(axes)),
        ];
        self.put(Op::TensorReduce, &args, span)?;
        Ok(dst)
    }

    fn mean(&mut self, x: &Tensor, axes: &[usize], count: u64, dtype: Dtype, span: Span) -> Result<Tensor> {
        let sum = self.reduced(x, AluOp::Add, axes, Dtype::F32, span)?;
        let factor = Arg::Float(1.0 / count as f32);
        self.with_operand(&sum, AluOp::Multiply, factor, dtype, span)
    }

    /// Population variance over all free axes by the statistics instructions, each of which takes a piece of a row.
    fn variance_by_statistics(&mut self, x: &Tensor, row: u64, dtype: Dtype, span: Span) -> Result<Tensor> {
        let partitions = x.view.partitions();
        let step = u64::from(self.target.bn_stats_max);
        let n_pieces = row.div_ceil(step);
        let statistics = self.fresh(&[partitions, 6 * n_pieces as u32], Dtype::F32, Region::Sbuf, span)?;
        for piece in 0..n_pieces {
            let start = piece * step;
            let data = columns(x, start, step.min(row - start) as u32);
            let args = [
                self.view_arg(&columns(&statistics, 6 * piece, 6)),
                self.view_arg(&data),
            ];
            self.put(Op::BnStats, &args, span)?;
        }
        let moments = self.fresh(&[partitions, 2], Dtype::F32, Region::Sbuf, span)?;
        let args = [self.view_arg(&moments), self.view_arg(&statistics)];
        self.put(Op::BnAggr, &args, span)?;
        self.copied(&columns(&moments, 1, 1), dtype, span)
    }

    /// Population variance, all in f32; over some of the free axes only, it takes two passes.
    fn variance(
        &mut self,
        x: &Tensor,
        axes: &[usize],
        count: u64,
        dtype: Dtype,
        span: Span,
    ) -> Result<Tensor> {
        let (partitions, row) = (i64::from(x.view.partitions()), x.view.free_count());
        if row == count
            && let Ok(flat) = layout::reshape(x, &[partitions, row as i64], span)
        {
            let result = self.variance_by_statistics(&flat, row, dtype, span)?;
            let shape: Vec<i64> = reduced_shape(x, axes).into_iter().map(i64::from).collect();
            return layout::reshape(&result, &shape, span);
        }
        let mean = self.mean(x, axes, count, Dtype::F32, span)?;
        let centred = self.with_repeated(AluOp::Subtract, x, &mean, Dtype::F32, span)?;
        let squares = self.activated(ActFn::Square, &centred, Dtype::F32, span)?;
        let total = self.reduced(&squares, AluOp::Add, axes, Dtype::F32, span)?;
        let factor = Arg::Float(1.0 / count as f32);
        self.with_operand(&total, AluOp::Multiply, factor, dtype, span)
    }

    /// An operator on a tile and what a reduction of it has left, repeated over the reduced axes.
    pub fn with_repeated(
        &mut self,
        op: AluOp,
        x: &Tensor,
        reduced: &Tensor,
        dtype: Dtype,
        span: Span,
    ) -> Result<Tensor> {
        if reduced.view.free_count() == 1 {
            let column = self.view_arg(reduced);
            return self.with_operand(x, op, column, dtype, span);
        }
        let shape: Vec<u32> = x.shape().collect();
        let repeated = self.repeated(reduced, &shape, span)?;
        self.combined(op, x, &repeated, dtype, span)
    }
}

/// The shape of a tile whose reduced axes are kept with size 1.
pub fn reduced_shape(x: &Tensor, axes: &[usize]) -> Vec<u32> {
    let mut shape: Vec<u32> = x.shape().collect();
    axes.iter().for_each(|&it| shape[it] = 1);
    shape
}

/// Axes as an operand.
pub fn axis_mask(axes: &[usize]) -> u8 {
    axes.iter().fold(0, |mask, it| mask | 1 << it)
}

/// The axes of a reduction, ascending, which must be free ones.
pub fn sorted_axes(x: &Tensor, value: &Value, span: Span) -> Result<Vec<usize>> {
    let rank = x.view.dims().len();
    let mut axes = int_list(value, "axis", span)?
        .iter()
        .map(|it| axis(&Value::Int(*it), rank, span))
        .collect::<Result<Vec<_>>>()?;
    axes.sort_unstable();
    axes.dedup();
    if axes.is_empty() || axes[0] == 0 {
        let message = format!("a reduction goes over free axes, not over {axes:?} of {rank}");
        return Err(Error::value_error(message, span));
    }
    Ok(axes)
}

/// A view with the axes moved behind the others, as the hardware reduces them, and where they are then.
pub fn with_axes_last(x: &Tensor, axes: &[usize], span: Span) -> Result<(Tensor, Vec<usize>)> {
    let rank = x.view.dims().len();
    let kept = (0..rank).filter(|it| !axes.contains(it));
    let order: Vec<i64> = kept.chain(axes.iter().copied()).map(|it| it as i64).collect();
    let last = (rank - axes.len()..rank).collect();
    if order.iter().copied().eq(0..rank as i64) {
        return Ok((x.clone(), last));
    }
    Ok((layout::permute(x, &order, span)?, last))
}

/// The axes of a normalisation, which must be the trailing free ones.
pub fn trailing_axes(x: &Tensor, value: &Value, span: Span) -> Result<Vec<usize>> {
    let rank = x.view.dims().len();
    let axes = sorted_axes(x, value, span)?;
    if axes.iter().copied().eq(rank - axes.len()..rank) {
        return Ok(axes);
    }
    let message = format!("it goes over the last axes of the free dimension, not over {axes:?} of {rank}");
    Err(Error::value_error(message, span))
}
