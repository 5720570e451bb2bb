//! Reductions over axes: sums, extremes, moments, positions, quantiles.
//!
//! Every reduction sees the elements it reduces as one row in C order. Sums are pairwise in f64, whatever the type.

use super::bind::Call;
use super::create::{filled, to_array};
use super::elementwise::{Operand, apply_binary, zip_map};
use super::ufunc::{binary_row, maximum, minimum};
use super::{Arg, HostArray, HostDtype, HostError, HostResult};
use ndarray::{ArrayD, IxDyn};

/// The values with the reduced axes last, in C order, and how they divide into rows.
struct Rows {
    values: Vec<f64>,
    n_rows: usize,
    row_len: usize,
    /// The shape of the result.
    shape: Vec<usize>,
}

impl Rows {
    fn new(array: &HostArray, axes: &[usize], keep_dims: bool) -> Rows {
        let kept: Vec<usize> = (0..array.n_dims()).filter(|it| !axes.contains(it)).collect();
        let mut sorted = axes.to_vec();
        sorted.sort_unstable();
        let order: Vec<usize> = kept.iter().chain(&sorted).copied().collect();
        let size = |axes: &[usize]| axes.iter().map(|it| array.shape()[*it]).product();
        let shape = match keep_dims {
            true => (0..array.n_dims())
                .map(|it| if axes.contains(&it) { 1 } else { array.shape()[it] })
                .collect(),
            false => kept.iter().map(|it| array.shape()[*it]).collect(),
        };
        let values = super::shape::permute(array, &order).to_vec();
        Rows {
            values,
            n_rows: size(&kept),
            row_len: size(&sorted),
            shape,
        }
    }

    fn map(&self, reduce: impl Fn(&[f64]) -> f64) -> ArrayD<f64> {
        let row = |idx: usize| reduce(&self.values[idx * self.row_len..(idx + 1) * self.row_len]);
        filled(&self.shape, (0..self.n_rows).map(row).collect())
    }

    fn check_not_empty(&self, call: &Call) -> HostResult<()> {
        if self.row_len == 0 && self.n_rows > 0 {
            return Err(HostError::EmptyReduction {
                function: call.function,
            });
        }
        Ok(())
    }
}

/// Reduces the named axes with a function of a row.
pub fn rows_over(
    array: &HostArray,
    axes: &[usize],
    keep_dims: bool,
    row: impl Fn(&[f64]) -> f64,
) -> ArrayD<f64> {
    Rows::new(array, axes, keep_dims).map(row)
}

/// The rows that a call asks for by `axis` and `keepdims`.
fn rows(call: &Call, array: &HostArray) -> HostResult<Rows> {
    Ok(Rows::new(
        array,
        &call.axes("axis", array.n_dims())?,
        call.flag("keepdims")?,
    ))
}

/// The sum of a row: pairwise, so that the error grows with the logarithm of the length.
pub fn sum_row(row: &[f64]) -> f64 {
    if row.len() <= 128 {
        return row.iter().sum::<f64>() + 0.0;
    }
    let (left, right) = row.split_at(row.len() / 2);
    sum_row(left) + sum_row(right)
}

fn mean_row(row: &[f64]) -> f64 {
    sum_row(row) / row.len() as f64
}

fn variance_row(row: &[f64], ddof: f64) -> f64 {
    let mean = mean_row(row);
    let squares: Vec<f64> = row.iter().map(|it| (it - mean) * (it - mean)).collect();
    sum_row(&squares) / (row.len() as f64 - ddof).max(0.0)
}

fn without_nan(row: &[f64]) -> Vec<f64> {
    row.iter().copied().filter(|it| !it.is_nan()).collect()
}

/// Sums and products of small integers are 64 bits wide.
fn sum_type(dtype: HostDtype) -> HostDtype {
    match dtype {
        _ if dtype.is_float() => dtype,
        HostDtype::U8 | HostDtype::U16 | HostDtype::U32 | HostDtype::U64 => HostDtype::U64,
        _ => HostDtype::I64,
    }
}

fn mean_type(dtype: HostDtype) -> HostDtype {
    if dtype.is_float() { dtype } else { HostDtype::F64 }
}

/// A reduction whose result may have any type that `dtype=` names.
fn reduce(call: &Call, natural: fn(HostDtype) -> HostDtype, row: impl Fn(&[f64]) -> f64) -> HostResult<Arg> {
    let array = call.array("a")?;
    let dtype = call.dtype("dtype")?.unwrap_or(natural(array.dtype()));
    Ok(HostArray::from_rounded(rows(call, &array)?.map(row), dtype).into())
}

/// The result with `initial=` folded in.
fn with_initial(call: &Call, function: &str, result: Arg) -> HostResult<Arg> {
    if call.opt("initial").is_none() {
        return Ok(result);
    }
    let left = Operand::new(to_array(&result)?, &result);
    Ok(apply_binary(binary_row(function), &left, &call.operand("initial")?)?.into())
}

pub fn sum(call: &Call) -> HostResult<Arg> {
    with_initial(call, "add", reduce(call, sum_type, sum_row)?)
}

/// The sum over one axis, in the type that `sum` gives.
pub fn sum_axis(array: &HostArray, axis: usize) -> HostArray {
    HostArray::from_rounded(rows_over(array, &[axis], false, sum_row), sum_type(array.dtype()))
}

pub fn prod(call: &Call) -> HostResult<Arg> {
    with_initial(
        call,
        "multiply",
        reduce(call, sum_type, |row| row.iter().product())?,
    )
}

pub fn mean(call: &Call) -> HostResult<Arg> {
    reduce(call, mean_type, mean_row)
}

pub fn var(call: &Call) -> HostResult<Arg> {
    let ddof = call.float_or("ddof", 0.0)?;
    reduce(call, mean_type, |row| variance_row(row, ddof))
}

pub fn std(call: &Call) -> HostResult<Arg> {
    let ddof = call.float_or("ddof", 0.0)?;
    reduce(call, mean_type, |row| variance_row(row, ddof).sqrt())
}

pub fn nan_sum(call: &Call) -> HostResult<Arg> {
    reduce(call, sum_type, |row| sum_row(&without_nan(row)))
}

pub fn nan_mean(call: &Call) -> HostResult<Arg> {
    reduce(call, mean_type, |row| mean_row(&without_nan(row)))
}

pub fn all(call: &Call) -> HostResult<Arg> {
    reduce(
        call,
        |_| HostDtype::Bool,
        |row| f64::from(u8::from(row.iter().all(|it| *it != 0.0))),
    )
}

pub fn any(call: &Call) -> HostResult<Arg> {
    reduce(
        call,
        |_| HostDtype::Bool,
        |row| f64::from(u8::from(row.iter().any(|it| *it != 0.0))),
    )
}

pub fn count_nonzero(call: &Call) -> HostResult<Arg> {
    reduce(
        call,
        |_| HostDtype::I64,
        |row| row.iter().filter(|it| **it != 0.0).count() as f64,
    )
}

/// An extreme of each row; empty rows need `initial=`.
fn extreme(call: &Call, function: &str, fold: fn(f64, f64) -> f64) -> HostResult<Arg> {
    let array = call.array("a")?;
    let rows = rows(call, &array)?;
    if call.opt("initial").is_none() {
        rows.check_not_empty(call)?;
    }
    let (low, high) = array.dtype().limits();
    let (low, high) = if array.dtype().is_float() {
        (f64::NEG_INFINITY, f64::INFINITY)
    } else {
        (low, high)
    };
    // What an empty row gives gives way to `initial`.
    let neutral = if matches!(function, "maximum" | "fmax") {
        low
    } else {
        high
    };
    let data = rows.map(|row| row.iter().copied().reduce(fold).unwrap_or(neutral));
    with_initial(
        call,
        function,
        HostArray::from_rounded(data, array.dtype()).into(),
    )
}

pub fn max(call: &Call) -> HostResult<Arg> {
    extreme(call, "maximum", maximum)
}

pub fn min(call: &Call) -> HostResult<Arg> {
    extreme(call, "minimum", minimum)
}

pub fn nan_max(call: &Call) -> HostResult<Arg> {
    extreme(call, "fmax", f64::max)
}

pub fn nan_min(call: &Call) -> HostResult<Arg> {
    extreme(call, "fmin", f64::min)
}

pub fn ptp(call: &Call) -> HostResult<Arg> {
    let array = call.array("a")?;
    let rows = rows(call, &array)?;
    rows.check_not_empty(call)?;
    let fold = |row: &[f64], fold: fn(f64, f64) -> f64| row.iter().copied().reduce(fold).unwrap_or(0.0);
    Ok(HostArray::from_rounded(
        rows.map(|row| fold(row, maximum) - fold(row, minimum)),
        array.dtype(),
    )
    .into())
}

/// The first position whose value no other one beats; the first NaN wins.
fn position(call: &Call, beats: fn(f64, f64) -> bool) -> HostResult<Arg> {
    let array = call.array("a")?;
    let axes = call
        .opt_axis("axis", array.n_dims())?
        .map_or((0..array.n_dims()).collect(), |it| vec![it]);
    let rows = Rows::new(&array, &axes, call.flag("keepdims")?);
    rows.check_not_empty(call)?;
    let best = |row: &[f64]| {
        let mut best = 0;
        for (at, &value) in row.iter().enumerate() {
            if row[best].is_nan() {
                break;
            }
            if value.is_nan() || beats(value, row[best]) {
                best = at;
            }
        }
        best as f64
    };
    Ok(HostArray::from_exact(rows.map(best), HostDtype::I64).into())
}

pub fn argmax(call: &Call) -> HostResult<Arg> {
    position(call, |value, best| value > best)
}

pub fn argmin(call: &Call) -> HostResult<Arg> {
    position(call, |value, best| value < best)
}

/// The value a fraction of the way through the sorted row, interpolated linearly.
fn quantile_row(row: &[f64], fraction: f64) -> f64 {
    if row.is_empty() || row.iter().any(|it| it.is_nan()) {
        return f64::NAN;
    }
    let mut sorted = row.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = fraction * (row.len() - 1) as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

pub fn median(call: &Call) -> HostResult<Arg> {
    reduce_plain(call, |row| {
        let mean = |a: f64, b: f64| if a == b { a } else { (a + b) / 2.0 };
        if row.is_empty() || row.iter().any(|it| it.is_nan()) {
            return f64::NAN;
        }
        let mut sorted = row.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        mean(sorted[(row.len() - 1) / 2], sorted[row.len() / 2])
    })
}

fn reduce_plain(call: &Call, row: impl Fn(&[f64]) -> f64) -> HostResult<Arg> {
    let array = call.array("a")?;
    Ok(HostArray::from_rounded(rows(call, &array)?.map(row), mean_type(array.dtype())).into())
}

/// `quantile(a, q)` and, with `scale` 100, `percentile(a, q)`; one fraction at a time.
fn quantile_scaled(call: &Call, scale: f64) -> HostResult<Arg> {
    let fraction = call.float("q")? / scale;
    if !(0.0..=1.0).contains(&fraction) {
        return Err(call.bad(format!("q must lie between 0 and {scale}")));
    }
    reduce_plain(call, |row| quantile_row(row, fraction))
}

pub fn quantile(call: &Call) -> HostResult<Arg> {
    quantile_scaled(call, 1.0)
}

pub fn percentile(call: &Call) -> HostResult<Arg> {
    quantile_scaled(call, 100.0)
}

/// `average(a, axis, weights)`; weights have the shape of the array or of its one reduced axis.
pub fn average(call: &Call) -> HostResult<Arg> {
    let (array, Some(weights)) = (call.array("a")?, call.opt_array("weights")?) else {
        return mean_of(call);
    };
    let axes = call.axes("axis", array.n_dims())?;
    let weights = match axes[..] {
        [axis] if weights.n_dims() == 1 && array.n_dims() != 1 => {
            let mut shape = vec![1; array.n_dims()];
            shape[axis] = weights.len();
            super::shape::reshape_to(&weights, &shape)
        }
        _ => weights,
    };
    let weighted = HostArray::from_exact(zip_map(&array, &weights, |a, b| a * b)?, HostDtype::F64);
    let spread = HostArray::from_exact(zip_map(&array, &weights, |_, b| b)?, HostDtype::F64);
    if weighted.shape() != array.shape() {
        return Err(HostError::NoBroadcast {
            left: array.shape().to_vec(),
            right: weights.shape().to_vec(),
        });
    }
    let (sums, totals) = (
        rows(call, &weighted)?.map(sum_row),
        rows(call, &spread)?.map(sum_row),
    );
    let dtype = mean_type(super::dtype::promote(array.dtype(), weights.dtype()));
    Ok(HostArray::from_rounded(sums / totals, dtype).into())
}

fn mean_of(call: &Call) -> HostResult<Arg> {
    reduce_plain(call, mean_row)
}

/// `special.softmax(x, axis)`.
pub fn softmax(call: &Call) -> HostResult<Arg> {
    shifted(call, |row| {
        let sum = sum_row(&row.iter().map(|it| libm::exp(*it)).collect::<Vec<_>>());
        row.iter().map(|it| libm::exp(*it) / sum).collect()
    })
}

/// `special.log_softmax(x, axis)`.
pub fn log_softmax(call: &Call) -> HostResult<Arg> {
    shifted(call, |row| {
        let sum = libm::log(sum_row(&row.iter().map(|it| libm::exp(*it)).collect::<Vec<_>>()));
        row.iter().map(|it| it - sum).collect()
    })
}

/// Replaces each row, after subtracting its maximum, by as many values.
fn shifted(call: &Call, row: impl Fn(&[f64]) -> Vec<f64>) -> HostResult<Arg> {
    let array = call.array("x")?;
    let axes = call.axes("axis", array.n_dims())?;
    let kept = (0..array.n_dims()).filter(|it| !axes.contains(it));
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    let order: Vec<usize> = kept.chain(sorted).collect();
    let rows = Rows::new(&array, &axes, false);
    let mut values = Vec::with_capacity(rows.values.len());
    for idx in 0..rows.n_rows {
        let old = &rows.values[idx * rows.row_len..(idx + 1) * rows.row_len];
        let top = old.iter().copied().reduce(maximum).unwrap_or(0.0);
        values.extend(row(&old.iter().map(|it| it - top).collect::<Vec<_>>()));
    }
    let permuted: Vec<usize> = order.iter().map(|it| array.shape()[*it]).collect();
    let data = filled(&permuted, values).permuted_axes(IxDyn(&super::shape::inverse(&order)));
    Ok(HostArray::from_rounded(data, super::dtype::float_for(array.dtype())).into())
}

/// `special.logsumexp(a, axis, keepdims)`.
pub fn log_sum_exp(call: &Call) -> HostResult<Arg> {
    reduce_plain(call, |row| {
        let top = row.iter().copied().reduce(maximum).unwrap_or(f64::NEG_INFINITY);
        if top.is_infinite() {
            return top;
        }
        top + libm::log(sum_row(
            &row.iter().map(|it| libm::exp(it - top)).collect::<Vec<_>>(),
        ))
    })
}
