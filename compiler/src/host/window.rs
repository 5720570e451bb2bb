//! Sliding windows: convolution, and every window of an array as a view would show it.

use super::array::{check_size, resolve_axes};
use super::bind::Call;
use super::create::filled;
use super::dtype::promote;
use super::{Arg, HostArray, HostResult};
use ndarray::{ArrayD, Axis, IxDyn, Slice};

/// `convolve(a, v, mode)` of two vectors.
pub fn convolve(call: &Call) -> HostResult<Arg> {
    let (a, v) = (call.array("a")?, call.array("v")?);
    if a.n_dims() > 1 || v.n_dims() > 1 || a.is_empty() || v.is_empty() {
        return Err(call.bad("both sides must be vectors that are not empty"));
    }
    let (long, short) = if a.len() >= v.len() {
        (a.to_vec(), v.to_vec())
    } else {
        (v.to_vec(), a.to_vec())
    };
    let mut full = vec![0.0; long.len() + short.len() - 1];
    for (at, x) in long.iter().enumerate() {
        for (to, y) in full[at..].iter_mut().zip(&short) {
            *to += x * y;
        }
    }
    let (skip, count) = match call.text_or("mode", "full")? {
        "full" => (0, full.len()),
        "same" => ((short.len() - 1) / 2, long.len()),
        "valid" => (short.len() - 1, long.len() - short.len() + 1),
        _ => return Err(call.bad("mode must be \"full\", \"same\" or \"valid\"")),
    };
    let values = full[skip..skip + count].to_vec();
    Ok(HostArray::from_rounded(filled(&[count], values), promote(a.dtype(), v.dtype())).into())
}

/// `lib.stride_tricks.sliding_window_view(x, window_shape, axis)`: a copy here, so its size is limited.
pub fn sliding_window_view(call: &Call) -> HostResult<Arg> {
    let (array, window) = (call.array("x")?, call.shape("window_shape")?);
    let axes = match call.opt("axis") {
        Some(_) => resolve_axes(&call.ints("axis")?, array.n_dims())?,
        None => (0..array.n_dims()).collect(),
    };
    if axes.len() != window.len() {
        return Err(call.bad(format!(
            "a window of {} dimensions over {} axes",
            window.len(),
            axes.len()
        )));
    }
    let mut shape = array.shape().to_vec();
    for (&axis, &size) in axes.iter().zip(&window) {
        let refuse = || {
            call.bad(format!(
                "a window of {size} does not fit axis {axis} of size {}",
                array.shape()[axis]
            ))
        };
        shape[axis] = (shape[axis] + 1).checked_sub(size).ok_or_else(refuse)?;
    }
    let positions = shape.clone();
    shape.extend(&window);
    check_size(&shape)?;
    let mut data = ArrayD::zeros(IxDyn(&shape));
    let n_dims = positions.len();
    for offset in ndarray::indices(IxDyn(&window)) {
        let mut source = array.view();
        let mut target = data.view_mut();
        for (at, axis) in axes.iter().enumerate() {
            source.slice_axis_inplace(
                Axis(*axis),
                Slice::from(offset[at]..offset[at] + positions[*axis]),
            );
            target = target.index_axis_move(Axis(n_dims), offset[at]);
        }
        target.assign(&source);
    }
    Ok(HostArray::from_exact(data, array.dtype()).into())
}
