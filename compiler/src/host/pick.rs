//! Picking elements by position, and the positions of elements.

use super::array::{check_size, resolve_axis};
use super::bind::{Call, to_shape};
use super::create::{filled, to_array};
use super::shape::reshape_to;
use super::{Arg, HostArray, HostDtype, HostError, HostResult};
use ndarray::{ArrayD, Axis, Dimension, IxDyn};

/// A position that may count from the back.
fn wrap(index: f64, axis: usize, size: usize) -> HostResult<usize> {
    let wrapped = if index < 0.0 { index + size as f64 } else { index };
    if wrapped >= 0.0 && wrapped < size as f64 {
        return Ok(wrapped as usize);
    }
    Err(HostError::IndexOutOfRange {
        index: index as i64,
        axis,
        size,
    })
}

fn positions(call: &Call, name: &'static str) -> HostResult<HostArray> {
    let array = call.array(name)?;
    if array.dtype().is_float() && !array.is_empty() {
        return Err(call.wrong(name, "an integer array", &array.into()));
    }
    Ok(array)
}

/// `take(a, indices, axis, mode)`.
pub fn take(call: &Call) -> HostResult<Arg> {
    let (array, indices) = (call.array("a")?, positions(call, "indices")?);
    let (array, axis) = match call.opt_axis("axis", array.n_dims())? {
        Some(axis) => (array, axis),
        None => (reshape_to(&array, &[array.len()]), 0),
    };
    let size = array.shape()[axis];
    let mode = call.text_or("mode", "raise")?;
    let place = |index: &f64| match mode {
        "clip" if size > 0 => Ok(index.clamp(0.0, (size - 1) as f64) as usize),
        "wrap" if size > 0 => Ok(index.rem_euclid(size as f64) as usize),
        _ => wrap(*index, axis, size),
    };
    let picks = indices
        .view()
        .iter()
        .map(place)
        .collect::<HostResult<Vec<usize>>>()?;
    let shape = [
        &array.shape()[..axis],
        indices.shape(),
        &array.shape()[axis + 1..],
    ]
    .concat();
    check_size(&shape)?;
    let taken = HostArray::from_exact(array.view().select(Axis(axis), &picks), array.dtype());
    Ok(reshape_to(&taken, &shape).into())
}

/// `take_along_axis(arr, indices, axis)`.
pub fn take_along_axis(call: &Call) -> HostResult<Arg> {
    let (array, indices) = (call.array("arr")?, positions(call, "indices")?);
    let (array, axis) = match call.given("axis") {
        Some(Arg::None) => (reshape_to(&array, &[array.len()]), 0),
        _ => {
            let axis = call.axis_or("axis", -1, array.n_dims())?;
            (array, axis)
        }
    };
    // Axes other than the picked one broadcast against each other.
    let mut wide = array.shape().to_vec();
    if indices.n_dims() != wide.len() {
        return Err(HostError::NoBroadcast {
            left: wide,
            right: indices.shape().to_vec(),
        });
    }
    wide[axis] = 1;
    let shape = super::array::broadcast_shapes(&wide, indices.shape())?;
    let indices = super::shape::spread(&indices, &shape)?;
    let mut source_shape = shape.clone();
    source_shape[axis] = array.shape()[axis];
    let source = super::shape::spread(&array, &source_shape)?;
    let source = source.view();
    let mut data = ArrayD::zeros(IxDyn(&shape));
    for (mut at, index) in indices.view().indexed_iter().map(|it| (it.0, *it.1)) {
        let out = at.clone();
        at[axis] = wrap(index, axis, source_shape[axis])?;
        data[out] = source[at];
    }
    Ok(HostArray::from_exact(data, array.dtype()).into())
}

/// For each axis, the positions of the elements that are not zero, in C order.
pub fn true_positions(array: &HostArray) -> Vec<Vec<i64>> {
    let mut positions = vec![Vec::new(); array.n_dims()];
    for (at, _) in array.view().indexed_iter().filter(|it| *it.1 != 0.0) {
        for (axis, list) in positions.iter_mut().enumerate() {
            list.push(at[axis] as i64);
        }
    }
    positions
}

fn int_vector(values: impl IntoIterator<Item = i64>) -> HostArray {
    HostArray::vector(values.into_iter().map(|it| it as f64).collect(), HostDtype::I64)
}

pub fn nonzero_of(array: &HostArray) -> Arg {
    Arg::Tuple(
        true_positions(array)
            .into_iter()
            .map(|it| int_vector(it).into())
            .collect(),
    )
}

pub fn nonzero(call: &Call) -> HostResult<Arg> {
    Ok(nonzero_of(&call.array("a")?))
}

pub fn flat_nonzero(call: &Call) -> HostResult<Arg> {
    let array = call.array("a")?;
    let places = array
        .view()
        .iter()
        .enumerate()
        .filter(|it| *it.1 != 0.0)
        .map(|it| it.0 as i64)
        .collect::<Vec<_>>();
    Ok(int_vector(places).into())
}

/// `argwhere(a)`: one row for each element that is not zero.
pub fn arg_where(call: &Call) -> HostResult<Arg> {
    let array = call.array("a")?;
    let positions = true_positions(&array);
    let n_rows = positions
        .first()
        .map_or(array.view().iter().filter(|it| **it != 0.0).count(), Vec::len);
    let values = (0..n_rows)
        .flat_map(|row| positions.iter().map(move |it| it[row] as f64))
        .collect();
    Ok(HostArray::from_exact(filled(&[n_rows, array.n_dims()], values), HostDtype::I64).into())
}

/// `unravel_index(indices, shape)`.
pub fn unravel_index(call: &Call) -> HostResult<Arg> {
    let (indices, shape) = (positions(call, "indices")?, call.shape("shape")?);
    let count: usize = shape.iter().product();
    let mut flat = indices
        .view()
        .iter()
        .map(|it| wrap(*it, 0, count))
        .collect::<HostResult<Vec<usize>>>()?;
    let mut parts = Vec::new();
    for size in shape.iter().rev() {
        let values = flat.iter().map(|it| (it % size) as f64).collect();
        parts.push(HostArray::from_exact(filled(indices.shape(), values), HostDtype::I64).into());
        flat.iter_mut().for_each(|it| *it /= size);
    }
    parts.reverse();
    Ok(Arg::Tuple(parts))
}

/// `ndindex(*shape)`: every index of a shape, as a list of tuples.
pub fn nd_index(call: &Call) -> HostResult<Arg> {
    let sizes = match call.rest {
        [one] => super::bind::as_ints(one),
        many => many.iter().map(super::bind::as_int).collect(),
    };
    let shape = to_shape(&sizes.ok_or_else(|| call.bad("the sizes must be integers"))?)?;
    Ok(Arg::List(
        ndarray::indices(IxDyn(&shape))
            .into_iter()
            .map(|it| Arg::int_tuple(it.slice().to_vec()))
            .collect(),
    ))
}

/// `indices(dimensions)`: for each axis, the array of positions along it.
pub fn indices(call: &Call) -> HostResult<Arg> {
    let shape = call.shape("dimensions")?;
    let full = [&[shape.len()], &shape[..]].concat();
    check_size(&full)?;
    let data = ArrayD::from_shape_fn(IxDyn(&full), |at| at[at[0] + 1] as f64);
    Ok(HostArray::from_exact(data, HostDtype::I64).into())
}

/// `ix_(*vectors)`: each vector along an axis of its own.
pub fn open_mesh(call: &Call) -> HostResult<Arg> {
    check_size(&vec![1; call.rest.len()])?;
    let place = |(axis, arg): (usize, &Arg)| {
        let vector = to_array(arg)?;
        let vector = if vector.dtype() == HostDtype::Bool {
            int_vector(true_positions(&vector).into_iter().flatten())
        } else {
            vector
        };
        let mut shape = vec![1; call.rest.len()];
        shape[axis] = vector.len();
        Ok(reshape_to(&vector, &shape).into())
    };
    Ok(Arg::Tuple(
        call.rest
            .iter()
            .enumerate()
            .map(place)
            .collect::<HostResult<Vec<Arg>>>()?,
    ))
}

fn triangle_indices(call: &Call, keep: impl Fn(i64) -> bool) -> HostResult<Arg> {
    let rows = call.int("n")?;
    let shape = to_shape(&[rows, call.int_or("m", rows)?])?;
    let kept = |at: IxDyn| f64::from(u8::from(keep(at[1] as i64 - at[0] as i64)));
    Ok(nonzero_of(&HostArray::from_exact(
        ArrayD::from_shape_fn(IxDyn(&shape), kept),
        HostDtype::Bool,
    )))
}

pub fn tril_indices(call: &Call) -> HostResult<Arg> {
    let k = call.int_or("k", 0)?;
    triangle_indices(call, |offset| offset <= k)
}

pub fn triu_indices(call: &Call) -> HostResult<Arg> {
    let k = call.int_or("k", 0)?;
    triangle_indices(call, |offset| offset >= k)
}

/// `bincount(x, weights, minlength)`.
pub fn bin_count(call: &Call) -> HostResult<Arg> {
    let array = positions(call, "x")?;
    let weights = call.opt_array("weights")?;
    if array.n_dims() != 1 || array.view().iter().any(|it| *it < 0.0) {
        return Err(call.bad("x must be a vector of integers of at least 0"));
    }
    if let Some(weights) = weights.iter().find(|it| it.shape() != array.shape()) {
        return Err(HostError::NoBroadcast {
            left: array.shape().to_vec(),
            right: weights.shape().to_vec(),
        });
    }
    let largest = array.view().iter().fold(-1.0, |a: f64, b| a.max(*b));
    let size = ((largest + 1.0) as usize).max(call.size_or("minlength", 0)?);
    check_size(&[size])?;
    let mut counts = vec![0.0; size];
    let values = weights.as_ref().map_or(vec![1.0; array.len()], HostArray::to_vec);
    for (at, value) in array.view().iter().zip(values) {
        counts[*at as usize] += value;
    }
    Ok(HostArray::vector(
        counts,
        if weights.is_some() {
            HostDtype::F64
        } else {
            HostDtype::I64
        },
    )
    .into())
}

/// `delete(arr, obj, axis)`: positions along the axis, or a mask of it.
pub fn delete(call: &Call) -> HostResult<Arg> {
    let array = call.array("arr")?;
    let (array, axis) = match call.opt("axis") {
        Some(_) => {
            let axis = resolve_axis(call.int("axis")?, array.n_dims())?;
            (array, axis)
        }
        None => (reshape_to(&array, &[array.len()]), 0),
    };
    let size = array.shape()[axis];
    let mut stays = vec![true; size];
    let gone = positions(call, "obj")?;
    if gone.dtype() == HostDtype::Bool && gone.n_dims() > 0 {
        if gone.shape() != [size] {
            return Err(HostError::MaskShape {
                mask: gone.shape().to_vec(),
                shape: vec![size],
            });
        }
        stays = gone.view().iter().map(|it| *it == 0.0).collect();
    } else {
        for index in gone.view() {
            stays[wrap(*index, axis, size)?] = false;
        }
    }
    let kept: Vec<usize> = (0..size).filter(|it| stays[*it]).collect();
    Ok(HostArray::from_exact(array.view().select(Axis(axis), &kept), array.dtype()).into())
}
