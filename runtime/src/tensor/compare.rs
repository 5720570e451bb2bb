//! Comparison of a result with what it should be.
//!
//! An element is right when |got - want| <= atol + rtol * |want|; NaN matches only NaN, and an infinity only itself.
//! Everything is computed in f64.

use super::Tensor;
use nk_compiler::dtype::Dtype;

/// How far a result may be off; what is left out follows from the result's dtype and the wanted values.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    pub rtol: Option<f64>,
    pub atol: Option<f64>,
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    pub ok: bool,
    /// The largest errors. Infinite where only one side is NaN or infinite; the relative one leaves out wanted zeros.
    pub max_abs_err: f64,
    pub max_rel_err: f64,
    pub n_bad: usize,
    pub n_elements: usize,
    /// The index, the value got and the value wanted of the first element that is off.
    pub first_bad: Option<(Vec<usize>, f64, f64)>,
    /// The tolerances that were applied.
    pub rtol: f64,
    pub atol: f64,
}

/// The tolerance of a result's dtype, about four units of its last place after a few operations.
pub fn default_rtol(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::F32 => 1e-4,
        Dtype::F16 | Dtype::Tf32 => 2e-3,
        Dtype::Bf16 => 2e-2,
        Dtype::F8e4m3 | Dtype::F8e5m2 | Dtype::F8e3m4 => 1e-1,
        Dtype::I32 | Dtype::U32 | Dtype::I16 | Dtype::U16 | Dtype::I8 | Dtype::U8 | Dtype::Bool => 0.0,
    }
}

/// Compares a result with the wanted values; `None` when there are not as many.
pub fn compare(got: &Tensor, want: &[f64], tolerance: Tolerance) -> Option<Check> {
    if got.count() != want.len() {
        return None;
    }
    let rtol = tolerance.rtol.unwrap_or(default_rtol(got.dtype()));
    let largest = want
        .iter()
        .map(|it| it.abs())
        .filter(|it| it.is_finite())
        .fold(0.0, f64::max);
    let atol = tolerance.atol.unwrap_or(rtol * largest);
    let mut check = Check {
        ok: true,
        max_abs_err: 0.0,
        max_rel_err: 0.0,
        n_bad: 0,
        n_elements: want.len(),
        first_bad: None,
        rtol,
        atol,
    };
    for (idx, (&got_value, &want_value)) in got.to_f64().iter().zip(want).enumerate() {
        if got_value == want_value || (got_value.is_nan() && want_value.is_nan()) {
            continue;
        }
        let difference = (got_value - want_value).abs();
        let abs_err = if difference.is_nan() {
            f64::INFINITY
        } else {
            difference
        };
        check.max_abs_err = check.max_abs_err.max(abs_err);
        if want_value != 0.0 {
            let rel_err = if abs_err.is_finite() {
                abs_err / want_value.abs()
            } else {
                f64::INFINITY
            };
            check.max_rel_err = check.max_rel_err.max(rel_err);
        }
        // An infinite error is never within a tolerance, not even an infinite one.
        if abs_err.is_infinite() || abs_err > atol + rtol * want_value.abs() {
            check.n_bad += 1;
            check.ok = false;
            check
                .first_bad
                .get_or_insert_with(|| (index_of(idx, got.shape()), got_value, want_value));
        }
    }
    Some(check)
}

/// The index of an element by its position in row-major order.
fn index_of(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (axis, &count) in shape.iter().enumerate().rev() {
        index[axis] = position % count;
        position /= count;
    }
    index
}
