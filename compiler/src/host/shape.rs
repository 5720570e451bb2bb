//! Changing the shape of an array without computing: reshape, transpose, flip, broadcast, diagonal.

use super::array::{broadcast_shapes, check_size, resolve_axes, resolve_axis};
use super::bind::{Call, as_ints, to_shape};
use super::create::to_array;
use super::{Arg, HostArray, HostError, HostResult};
use ndarray::{ArrayViewD, Axis, Dimension, IxDyn, Slice};

/// The elements in C order under another shape with as many of them.
pub fn reshape_to(array: &HostArray, shape: &[usize]) -> HostArray {
    let data = array.contiguous().into_shape_with_order(IxDyn(shape));
    HostArray::from_exact(data.expect("the shape has as many elements"), array.dtype())
}

/// The permutation that undoes a permutation.
pub fn inverse(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    for (at, &axis) in order.iter().enumerate() {
        inverse[axis] = at;
    }
    inverse
}

/// The axes in another order.
pub fn permute(array: &HostArray, order: &[usize]) -> HostArray {
    HostArray::from_exact(array.shared().clone().permuted_axes(IxDyn(order)), array.dtype())
}

/// A copy of what a view of the array shows.
fn copy_of(view: ArrayViewD<'_, f64>, like: &HostArray) -> HostArray {
    HostArray::from_exact(view.to_owned(), like.dtype())
}

/// Reshapes to sizes of which one may be -1.
pub fn reshape_sizes(array: &HostArray, sizes: &[i64]) -> HostResult<HostArray> {
    let refuse = || HostError::Reshape {
        from: array.shape().to_vec(),
        to: sizes.to_vec(),
    };
    let mut sizes = sizes.to_vec();
    let open: Vec<usize> = (0..sizes.len()).filter(|it| sizes[*it] == -1).collect();
    if let [at] = open[..] {
        sizes[at] = 1;
        let known = to_shape(&sizes).map_err(|_| refuse())?.iter().product::<usize>();
        if known == 0 || !array.len().is_multiple_of(known) {
            return Err(refuse());
        }
        sizes[at] = (array.len() / known) as i64;
    }
    let shape = to_shape(&sizes).map_err(|_| refuse())?;
    if shape.iter().product::<usize>() != array.len() {
        return Err(refuse());
    }
    Ok(reshape_to(array, &shape))
}

fn check_order(call: &Call) -> HostResult<()> {
    match call.text_or("order", "C")? {
        "C" | "A" | "K" => Ok(()),
        _ => Err(call.bad("only order=\"C\" is supported")),
    }
}

/// `reshape(a, shape)`, and the method with the sizes as arguments.
pub fn reshape(call: &Call) -> HostResult<Arg> {
    check_order(call)?;
    Ok(reshape_sizes(&call.array("a")?, &call.ints("shape")?)?.into())
}

pub fn ravel(call: &Call) -> HostResult<Arg> {
    check_order(call)?;
    let array = call.array("a")?;
    Ok(reshape_to(&array, &[array.len()]).into())
}

pub fn copy(call: &Call) -> HostResult<Arg> {
    Ok(call.array("a")?.into())
}

/// `transpose(a, axes)`.
pub fn transpose(call: &Call) -> HostResult<Arg> {
    let array = call.array("a")?;
    if call.opt("axes").is_none() {
        return Ok(HostArray::from_exact(array.shared().clone().reversed_axes(), array.dtype()).into());
    }
    Ok(permute(&array, &full_order(call, &array, &call.ints("axes")?)?).into())
}

/// Checks that the axes are a permutation of the array's.
fn full_order(call: &Call, array: &HostArray, axes: &[i64]) -> HostResult<Vec<usize>> {
    if axes.len() != array.n_dims() {
        return Err(call.bad(format!(
            "{} axes named for an array of {} dimensions",
            axes.len(),
            array.n_dims()
        )));
    }
    resolve_axes(axes, array.n_dims())
}

pub fn matrix_transpose(call: &Call) -> HostResult<Arg> {
    let array = call.array("a")?;
    let n_dims = array.n_dims();
    if n_dims < 2 {
        return Err(call.bad("the array needs two dimensions"));
    }
    let mut order: Vec<usize> = (0..n_dims).collect();
    order.swap(n_dims - 1, n_dims - 2);
    Ok(permute(&array, &order).into())
}

pub fn swap_axes(call: &Call) -> HostResult<Arg> {
    let array = call.array("a")?;
    let n_dims = array.n_dims();
    let (first, second) = (
        resolve_axis(call.int("axis1")?, n_dims)?,
        resolve_axis(call.int("axis2")?, n_dims)?,
    );
    let mut order: Vec<usize> = (0..n_dims).collect();
    order.swap(first, second);
    Ok(permute(&array, &order).into())
}

pub fn move_axis(call: &Call) -> HostResult<Arg> {
    let array = call.array("a")?;
    let n_dims = array.n_dims();
    let (from, to) = (
        resolve_axes(&call.ints("source")?, n_dims)?,
        resolve_axes(&call.ints("destination")?, n_dims)?,
    );
    if from.len() != to.len() {
        return Err(call.bad(format!(
            "{} source axes but {} destinations",
            from.len(),
            to.len()
        )));
    }
    let mut order: Vec<usize> = (0..n_dims).filter(|it| !from.contains(it)).collect();
    let mut pairs: Vec<(usize, usize)> = to.into_iter().zip(from).collect();
    pairs.sort_unstable();
    for (to, from) in pairs {
        order.insert(to, from);
    }
    Ok(permute(&array, &order).into())
}

pub fn expand_dims(call: &Call) -> HostResult<Arg> {
    let (array, axes) = (call.array("a")?, call.ints("axis")?);
    let n_dims = array.n_dims() + axes.len();
    check_size(&vec![1; n_dims])?;
    let axes = resolve_axes(&axes, n_dims)?;
    let mut old = array.shape().iter();
    let size = |axis: usize| {
        if axes.contains(&axis) {
            Some(1)
        } else {
            old.next().copied()
        }
    };
    let shape: Vec<usize> = (0..n_dims).filter_map(size).collect();
    Ok(reshape_to(&array, &shape).into())
}

pub fn squeeze(call: &Call) -> HostResult<Arg> {
    let array = call.array("a")?;
    let named = call
        .opt("axis")
        .map(|_| call.axes("axis", array.n_dims()))
        .transpose()?;
    if let Some(axis) = named.iter().flatten().find(|it| array.shape()[**it] != 1) {
        return Err(call.bad(format!(
            "axis {axis} has the size {}, not 1",
            array.shape()[*axis]
        )));
    }
    let gone = |axis: usize| {
        named
            .as_ref()
            .map_or(array.shape()[axis] == 1, |it| it.contains(&axis))
    };
    let shape: Vec<usize> = (0..array.n_dims())
        .filter(|it| !gone(*it))
        .map(|it| array.shape()[it])
        .collect();
    Ok(reshape_to(&array, &shape).into())
}

/// At least as many dimensions; new ones stand in front.
fn at_least(call: &Call, n_dims: usize) -> HostResult<Arg> {
    let array = call.array("a")?;
    let mut shape = vec![1; n_dims.saturating_sub(array.n_dims())];
    shape.extend(array.shape());
    Ok(reshape_to(&array, &shape).into())
}

pub fn at_least_1d(call: &Call) -> HostResult<Arg> {
    at_least(call, 1)
}

pub fn at_least_2d(call: &Call) -> HostResult<Arg> {
    at_least(call, 2)
}

/// The array spread over a shape that it broadcasts to.
pub fn spread(array: &HostArray, shape: &[usize]) -> HostResult<HostArray> {
    let view = array.view();
    let refuse = || HostError::CannotBroadcastTo {
        from: array.shape().to_vec(),
        to: shape.to_vec(),
    };
    Ok(copy_of(view.broadcast(IxDyn(shape)).ok_or_else(refuse)?, array))
}

pub fn broadcast_to(call: &Call) -> HostResult<Arg> {
    Ok(spread(&call.array("a")?, &call.shape("shape")?)?.into())
}

pub fn broadcast_arrays(call: &Call) -> HostResult<Arg> {
    let arrays = call.rest.iter().map(to_array).collect::<HostResult<Vec<_>>>()?;
    let shape = common_shape(arrays.iter().map(|it| it.shape().to_vec()))?;
    let spread = arrays
        .iter()
        .map(|it| spread(it, &shape).map(Arg::from))
        .collect::<HostResult<Vec<_>>>()?;
    Ok(Arg::Tuple(spread))
}

pub fn broadcast_shapes_of(call: &Call) -> HostResult<Arg> {
    let shape_of = |arg: &Arg| {
        let sizes = as_ints(arg).ok_or_else(|| call.wrong("shape", "a tuple of integers", arg))?;
        to_shape(&sizes)
    };
    let shapes = call.rest.iter().map(shape_of).collect::<HostResult<Vec<_>>>()?;
    Ok(Arg::int_tuple(common_shape(shapes.into_iter())?))
}

fn common_shape(mut shapes: impl Iterator<Item = Vec<usize>>) -> HostResult<Vec<usize>> {
    shapes.try_fold(Vec::new(), |common, shape| broadcast_shapes(&common, &shape))
}

fn flip_axes(array: &HostArray, axes: &[usize]) -> HostArray {
    let mut view = array.view();
    for &axis in axes {
        view.invert_axis(Axis(axis));
    }
    copy_of(view, array)
}

pub fn flip(call: &Call) -> HostResult<Arg> {
    let array = call.array("a")?;
    Ok(flip_axes(&array, &call.axes("axis", array.n_dims())?).into())
}

pub fn flip_columns(call: &Call) -> HostResult<Arg> {
    let array = call.array("a")?;
    Ok(flip_axes(&array, &[resolve_axis(1, array.n_dims())?]).into())
}

pub fn flip_rows(call: &Call) -> HostResult<Arg> {
    let array = call.array("a")?;
    Ok(flip_axes(&array, &[resolve_axis(0, array.n_dims())?]).into())
}

/// The diagonal `k` above the main one, as a last dimension after the others.
pub fn diagonal_of(array: &HostArray, k: i64, row_axis: usize, column_axis: usize) -> HostArray {
    let mut order: Vec<usize> = (0..array.n_dims())
        .filter(|it| *it != row_axis && *it != column_axis)
        .collect();
    order.extend([row_axis, column_axis]);
    let mut view = array.view().permuted_axes(IxDyn(&order));
    let n_kept = order.len() - 2;
    let skip = isize::try_from(k.unsigned_abs()).unwrap_or(isize::MAX);
    let (axis, size) = if k < 0 {
        (n_kept, view.shape()[n_kept])
    } else {
        (n_kept + 1, view.shape()[n_kept + 1])
    };
    let from = skip.min(size as isize);
    view.slice_axis_inplace(Axis(axis), Slice::from(from..));
    let len = view.shape()[n_kept].min(view.shape()[n_kept + 1]);
    let mut shape = view.shape()[..n_kept].to_vec();
    shape.push(len);
    let value = |at: IxDyn| {
        let mut full: Vec<usize> = at.slice().to_vec();
        full.push(at[n_kept]);
        view[IxDyn(&full)]
    };
    HostArray::from_exact(
        ndarray::ArrayD::from_shape_fn(IxDyn(&shape), value),
        array.dtype(),
    )
}

fn diagonal_call(call: &Call) -> HostResult<HostArray> {
    let array = call.array("a")?;
    let n_dims = array.n_dims();
    let (row, column) = (
        call.axis_or("axis1", 0, n_dims)?,
        call.axis_or("axis2", 1, n_dims)?,
    );
    if row == column {
        return Err(HostError::RepeatedAxis { axis: row as i64 });
    }
    Ok(diagonal_of(&array, call.int_or("offset", 0)?, row, column))
}

pub fn diagonal(call: &Call) -> HostResult<Arg> {
    Ok(diagonal_call(call)?.into())
}

pub fn trace(call: &Call) -> HostResult<Arg> {
    let diagonal = diagonal_call(call)?;
    Ok(super::reduce::sum_axis(&diagonal, diagonal.n_dims() - 1).into())
}
