//! Running results along one axis: cumulative sums and extremes, differences.

use super::bind::Call;
use super::create::filled;
use super::elementwise::{Operand, apply_binary};
use super::ufunc::{binary_row, maximum, minimum};
use super::{Arg, HostArray, HostDtype, HostResult};
use ndarray::{Axis, Slice};

/// Folds along the axis, keeping every step; without an axis, over the flattened array.
fn scan(call: &Call, axis: Option<usize>, sums: bool, step: fn(f64, f64) -> f64) -> HostResult<Arg> {
    let array = call.array("a")?;
    let natural = match array.dtype() {
        it if !sums || it.is_float() => it,
        HostDtype::U8 | HostDtype::U16 | HostDtype::U32 | HostDtype::U64 => HostDtype::U64,
        _ => HostDtype::I64,
    };
    let dtype = call.dtype("dtype")?.unwrap_or(natural);
    let (mut data, axis) = match axis {
        Some(axis) => (array.view().to_owned(), axis),
        None => (filled(&[array.len()], array.to_vec()), 0),
    };
    data.accumulate_axis_inplace(Axis(axis), |before, value| *value = step(*before, *value));
    Ok(HostArray::from_rounded(data, dtype).into())
}

/// The axis of `cumsum` and its like: none by default.
fn flat_axis(call: &Call) -> HostResult<Option<usize>> {
    call.opt_axis("axis", call.array("a")?.n_dims())
}

/// The axis of `accumulate`: the first by default.
fn first_axis(call: &Call) -> HostResult<Option<usize>> {
    call.axis_or("axis", 0, call.array("a")?.n_dims()).map(Some)
}

pub fn cumsum(call: &Call) -> HostResult<Arg> {
    scan(call, flat_axis(call)?, true, |a, b| a + b)
}

pub fn cumprod(call: &Call) -> HostResult<Arg> {
    scan(call, flat_axis(call)?, true, |a, b| a * b)
}

pub fn add_accumulate(call: &Call) -> HostResult<Arg> {
    scan(call, first_axis(call)?, true, |a, b| a + b)
}

pub fn multiply_accumulate(call: &Call) -> HostResult<Arg> {
    scan(call, first_axis(call)?, true, |a, b| a * b)
}

pub fn maximum_accumulate(call: &Call) -> HostResult<Arg> {
    scan(call, first_axis(call)?, false, maximum)
}

pub fn minimum_accumulate(call: &Call) -> HostResult<Arg> {
    scan(call, first_axis(call)?, false, minimum)
}

/// `diff(a, n, axis)`.
pub fn diff(call: &Call) -> HostResult<Arg> {
    let mut array = call.array("a")?;
    let axis = Axis(call.axis_or("axis", -1, array.n_dims())?);
    let row = binary_row(if array.dtype() == HostDtype::Bool {
        "not_equal"
    } else {
        "subtract"
    });
    for _ in 0..call.size_or("n", 1)? {
        if array.shape()[axis.0] == 0 {
            break;
        }
        let part = |slice: Slice| {
            let view = array.view();
            let part = HostArray::from_exact(view.slice_axis(axis, slice).to_owned(), array.dtype());
            Operand::new(part, &Arg::None)
        };
        array = apply_binary(row, &part(Slice::from(1..)), &part(Slice::from(..-1)))?;
    }
    Ok(array.into())
}
