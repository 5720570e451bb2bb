//! Putting arrays together and taking them apart: concatenate, stack, split, tile, repeat, roll, pad.

use super::array::{check_size, resolve_axis};
use super::bind::{Call, as_int, as_ints};
use super::dtype::promote;
use super::shape::{reshape_to, spread};
use super::{Arg, HostArray, HostError, HostResult};
use ndarray::{ArrayD, Axis, IxDyn, Slice, concatenate as nd_concatenate};

/// Joins along an existing axis.
pub fn join(call: &Call, arrays: &[HostArray], axis: usize) -> HostResult<HostArray> {
    let Some(first) = arrays.first() else {
        return Err(call.bad("there is nothing to join"));
    };
    let mut shape = first.shape().to_vec();
    shape[axis] = 0;
    let mut dtype = first.dtype();
    for array in arrays {
        let same = |(at, size): (usize, &usize)| at == axis || first.shape()[at] == *size;
        if array.n_dims() != first.n_dims() || !array.shape().iter().enumerate().all(same) {
            return Err(HostError::JoinShapes {
                function: call.function,
                first: first.shape().to_vec(),
                other: array.shape().to_vec(),
                axis,
            });
        }
        shape[axis] = shape[axis].saturating_add(array.shape()[axis]);
        dtype = promote(dtype, array.dtype());
    }
    check_size(&shape)?;
    let cast: Vec<HostArray> = arrays.iter().map(|it| it.astype(dtype)).collect();
    let views: Vec<_> = cast.iter().map(HostArray::view).collect();
    let data = nd_concatenate(Axis(axis), &views).expect("the shapes agree outside the axis");
    Ok(HostArray::from_exact(data, dtype))
}

/// Joins along an axis of each array, after giving each at least `n_dims` dimensions in front.
fn join_raised(call: &Call, n_dims: usize, axis: usize) -> HostResult<Arg> {
    let raise = |array: HostArray| {
        let mut shape = vec![1; n_dims.saturating_sub(array.n_dims())];
        shape.extend(array.shape());
        reshape_to(&array, &shape)
    };
    let arrays: Vec<HostArray> = call.arrays("arrays")?.into_iter().map(raise).collect();
    Ok(join(call, &arrays, axis)?.into())
}

pub fn concatenate(call: &Call) -> HostResult<Arg> {
    let arrays = call.arrays("arrays")?;
    let flat = call.given("axis") == Some(&Arg::None);
    let arrays: Vec<HostArray> = if flat {
        arrays.iter().map(|it| reshape_to(it, &[it.len()])).collect()
    } else {
        arrays
    };
    let n_dims = arrays.first().map_or(1, HostArray::n_dims);
    let axis = if flat { 0 } else { call.axis_or("axis", 0, n_dims)? };
    call.cast(join(call, &arrays, axis)?)
}

/// `append(arr, values, axis)`.
pub fn append(call: &Call) -> HostResult<Arg> {
    let (array, values) = (call.array("arr")?, call.array("values")?);
    match call.opt_axis("axis", array.n_dims())? {
        Some(axis) => Ok(join(call, &[array, values], axis)?.into()),
        None => {
            let flat = [
                reshape_to(&array, &[array.len()]),
                reshape_to(&values, &[values.len()]),
            ];
            Ok(join(call, &flat, 0)?.into())
        }
    }
}

pub fn stack(call: &Call) -> HostResult<Arg> {
    let arrays = call.arrays("arrays")?;
    let n_dims = arrays.first().map_or(0, HostArray::n_dims) + 1;
    let axis = call.axis_or("axis", 0, n_dims)?;
    let raise = |array: &HostArray| {
        let mut shape = array.shape().to_vec();
        shape.insert(axis.min(shape.len()), 1);
        check_size(&shape)?;
        Ok(reshape_to(array, &shape))
    };
    let raised = arrays.iter().map(raise).collect::<HostResult<Vec<_>>>()?;
    Ok(join(call, &raised, axis)?.into())
}

pub fn vstack(call: &Call) -> HostResult<Arg> {
    join_raised(call, 2, 0)
}

pub fn hstack(call: &Call) -> HostResult<Arg> {
    let flat = call.arrays("arrays")?.first().is_none_or(|it| it.n_dims() <= 1);
    join_raised(call, 1, usize::from(!flat))
}

/// Vectors become columns.
pub fn column_stack(call: &Call) -> HostResult<Arg> {
    let column = |it: HostArray| {
        if it.n_dims() < 2 {
            reshape_to(&it, &[it.len(), 1])
        } else {
            it
        }
    };
    let arrays: Vec<HostArray> = call.arrays("arrays")?.into_iter().map(column).collect();
    Ok(join(call, &arrays, 1)?.into())
}

/// Where each part ends, of an axis divided into parts as equal as possible or at given places.
fn bounds(call: &Call, size: usize, even: bool) -> HostResult<Vec<usize>> {
    let arg = call.need("indices_or_sections")?;
    let Some(n_parts) = as_int(arg) else {
        let places =
            as_ints(arg).ok_or_else(|| call.wrong("indices_or_sections", "an integer or a list", arg))?;
        let place = |at: &i64| {
            if *at < 0 {
                size.saturating_sub(at.unsigned_abs() as usize)
            } else {
                *at as usize
            }
        };
        let ends = places.iter().map(|it| place(it).min(size));
        return Ok(ends.chain([size]).collect());
    };
    let n_parts = usize::try_from(n_parts).ok().filter(|it| *it > 0);
    let n_parts = n_parts.ok_or_else(|| call.bad("the number of parts must be at least 1"))?;
    check_size(&[n_parts])?;
    if even && !size.is_multiple_of(n_parts) {
        return Err(call.bad(format!(
            "an axis of size {size} does not divide into {n_parts} equal parts"
        )));
    }
    let (share, longer) = (size / n_parts, size % n_parts);
    Ok((1..=n_parts).map(|it| it * share + it.min(longer)).collect())
}

fn split_along(call: &Call, axis: usize, even: bool) -> HostResult<Arg> {
    let array = call.array("ary")?;
    let mut start = 0;
    let mut parts = Vec::new();
    for end in bounds(call, array.shape()[axis], even)? {
        let end = end.max(start);
        let view = array.view();
        let part = view.slice_axis(Axis(axis), Slice::from(start..end));
        parts.push(HostArray::from_exact(part.to_owned(), array.dtype()).into());
        start = end;
    }
    Ok(Arg::List(parts))
}

pub fn split(call: &Call) -> HostResult<Arg> {
    split_along(call, call.axis_or("axis", 0, call.array("ary")?.n_dims())?, true)
}

pub fn array_split(call: &Call) -> HostResult<Arg> {
    split_along(call, call.axis_or("axis", 0, call.array("ary")?.n_dims())?, false)
}

pub fn hsplit(call: &Call) -> HostResult<Arg> {
    let n_dims = call.array("ary")?.n_dims();
    split_along(call, resolve_axis(if n_dims == 1 { 0 } else { 1 }, n_dims)?, true)
}

pub fn vsplit(call: &Call) -> HostResult<Arg> {
    split_along(call, resolve_axis(0, call.array("ary")?.n_dims())?, true)
}

/// `tile(A, reps)`: spread over new dimensions between the old ones, which then merge.
pub fn tile(call: &Call) -> HostResult<Arg> {
    let (array, reps) = (call.array("A")?, call.shape("reps")?);
    let n_dims = array.n_dims().max(reps.len());
    let raise = |sizes: &[usize]| [vec![1; n_dims - sizes.len()], sizes.to_vec()].concat();
    let (sizes, reps) = (raise(array.shape()), raise(&reps));
    let merged: Vec<usize> = sizes
        .iter()
        .zip(&reps)
        .map(|(a, b)| a.saturating_mul(*b))
        .collect();
    check_size(&merged)?;
    let pairs = |first: &[usize]| {
        first
            .iter()
            .zip(&sizes)
            .flat_map(|(rep, size)| [*rep, *size])
            .collect::<Vec<_>>()
    };
    let view = array
        .contiguous()
        .into_shape_with_order(IxDyn(&pairs(&vec![1; n_dims])));
    let view = view.expect("sizes of 1 change no count");
    let wide = view
        .broadcast(IxDyn(&pairs(&reps)))
        .expect("sizes of 1 broadcast");
    let values = wide.iter().copied().collect();
    Ok(HostArray::from_exact(super::create::filled(&merged, values), array.dtype()).into())
}

/// `repeat(a, repeats, axis)`; one count for all, or one for each element of the axis.
pub fn repeat(call: &Call) -> HostResult<Arg> {
    let array = call.array("a")?;
    let (array, axis) = match call.opt_axis("axis", array.n_dims())? {
        Some(axis) => (array, axis),
        None => (reshape_to(&array, &[array.len()]), 0),
    };
    let size = array.shape()[axis];
    let counts = call.shape("repeats")?;
    let counts = if counts.len() == 1 {
        vec![counts[0]; size]
    } else {
        counts
    };
    if counts.len() != size {
        return Err(call.bad(format!("{} counts for an axis of size {size}", counts.len())));
    }
    let mut shape = array.shape().to_vec();
    shape[axis] = counts.iter().fold(0usize, |sum, it| sum.saturating_add(*it));
    check_size(&shape)?;
    let picks: Vec<usize> = (0..size)
        .flat_map(|it| std::iter::repeat_n(it, counts[it]))
        .collect();
    Ok(HostArray::from_exact(array.view().select(Axis(axis), &picks), array.dtype()).into())
}

/// `roll(a, shift, axis)`.
pub fn roll(call: &Call) -> HostResult<Arg> {
    let (array, shifts) = (call.array("a")?, call.ints("shift")?);
    if call.opt("axis").is_none() {
        let flat = reshape_to(&array, &[array.len()]);
        let rolled = roll_axis(&flat, 0, shifts.iter().fold(0, |sum, it| sum.wrapping_add(*it)));
        return Ok(reshape_to(&rolled, array.shape()).into());
    }
    let axes = call.ints("axis")?;
    let shifts = if shifts.len() == 1 {
        vec![shifts[0]; axes.len()]
    } else {
        shifts
    };
    let axes = if axes.len() == 1 {
        vec![axes[0]; shifts.len()]
    } else {
        axes
    };
    if shifts.len() != axes.len() {
        return Err(call.bad(format!("{} shifts for {} axes", shifts.len(), axes.len())));
    }
    let mut rolled = array;
    for (shift, axis) in shifts.into_iter().zip(axes) {
        rolled = roll_axis(&rolled, resolve_axis(axis, rolled.n_dims())?, shift);
    }
    Ok(rolled.into())
}

fn roll_axis(array: &HostArray, axis: usize, shift: i64) -> HostArray {
    let size = array.shape()[axis] as i64;
    if size == 0 {
        return array.clone();
    }
    let picks: Vec<usize> = (0..size)
        .map(|it| (it - shift % size).rem_euclid(size) as usize)
        .collect();
    HostArray::from_exact(array.view().select(Axis(axis), &picks), array.dtype())
}

/// How `pad` fills.
const MODES: &[&str] = &["constant", "edge", "reflect", "symmetric", "wrap"];

/// `pad(array, pad_width, mode, constant_values)`.
pub fn pad(call: &Call) -> HostResult<Arg> {
    let array = call.array("array")?;
    let widths = widths(call, array.n_dims())?;
    let shape: Vec<usize> = array
        .shape()
        .iter()
        .zip(&widths)
        .map(|(size, (a, b))| size.saturating_add(*a).saturating_add(*b))
        .collect();
    check_size(&shape)?;
    let mode = call.text_or("mode", "constant")?;
    if !MODES.contains(&mode) {
        return Err(call.bad(format!("mode must be one of {}", MODES.join(", "))));
    }
    if mode == "constant" {
        let value = call
            .opt_array("constant_values")?
            .map(|it| it.astype(array.dtype()));
        let value = value.unwrap_or(HostArray::scalar(0.0, array.dtype()));
        let mut data = spread(&value, &shape).map_err(|_| call.bad("constant_values must be one number"))?;
        let mut inner = data.shared_mut().view_mut();
        for (axis, (before, _)) in widths.iter().enumerate() {
            inner.slice_axis_inplace(Axis(axis), Slice::from(*before..before + array.shape()[axis]));
        }
        inner.assign(&array.view());
        return Ok(data.into());
    }
    let mut data: ArrayD<f64> = array.view().to_owned();
    for (axis, (before, after)) in widths.into_iter().enumerate() {
        let size = data.shape()[axis];
        let source = |it: usize| mirror(mode, it as i64 - before as i64, size as i64);
        let picks: Option<Vec<usize>> = (0..size + before + after).map(source).collect();
        let refuse = || call.bad(format!("mode {mode:?} cannot pad an axis of size {size}"));
        data = data.select(Axis(axis), &picks.ok_or_else(refuse)?);
    }
    Ok(HostArray::from_exact(data, array.dtype()).into())
}

/// Which element of an axis stands at a place outside it.
fn mirror(mode: &str, at: i64, size: i64) -> Option<usize> {
    if (0..size).contains(&at) {
        return usize::try_from(at).ok();
    }
    let period = 2 * (size - 1);
    let source = match mode {
        _ if size == 0 => return None,
        "edge" => at.clamp(0, size - 1),
        "wrap" => at.rem_euclid(size),
        "symmetric" => at
            .rem_euclid(2 * size)
            .min(2 * size - 1 - at.rem_euclid(2 * size)),
        "reflect" if size > 1 => at.rem_euclid(period).min(period - at.rem_euclid(period)),
        "reflect" => 0,
        _ => unreachable!("`pad` knows its modes"),
    };
    usize::try_from(source).ok()
}

/// How much each axis grows in front and behind: `n`, `(a, b)`, or a pair for each axis.
fn widths(call: &Call, n_dims: usize) -> HostResult<Vec<(usize, usize)>> {
    let array = call.array("pad_width")?;
    let sizes: Vec<i64> = array.to_vec().iter().map(|it| *it as i64).collect();
    if let Some(&size) = sizes.iter().find(|it| **it < 0) {
        return Err(HostError::NegativeSize { size });
    }
    let sizes: Vec<usize> = sizes.into_iter().map(|it| it as usize).collect();
    match (array.shape(), &sizes[..]) {
        ([] | [1] | [1, 1], [both]) => Ok(vec![(*both, *both); n_dims]),
        ([2] | [1, 2], [before, after]) => Ok(vec![(*before, *after); n_dims]),
        ([n, 2], sizes) if *n == n_dims => Ok(sizes.chunks(2).map(|it| (it[0], it[1])).collect()),
        _ => Err(call.bad(format!(
            "pad_width must be n, (before, after) or a pair for each of {n_dims} axes"
        ))),
    }
}
