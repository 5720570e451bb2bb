//! A host array: values in f64, and NumPy's element type.
//!
//! Gives construction, conversion and broadcasting; the functions of NumPy stand in the files beside. Sharing is
//! copy-on-write: a clone is cheap, and a view never aliases.

use super::dtype::HostDtype;
use super::error::{HostError, MAX_DIMS};
use super::{Arg, HostResult};
use crate::limits::limits;
use ndarray::{ArcArray, ArrayD, ArrayViewD, IxDyn};

/// An n-dimensional array. Every value is one that `dtype` can hold.
#[derive(Clone, Debug, PartialEq)]
pub struct HostArray {
    data: ArcArray<f64, IxDyn>,
    dtype: HostDtype,
}

impl HostArray {
    /// Values in C order, rounded to the type. `None` when the shape does not have as many elements.
    pub fn new(shape: &[usize], mut values: Vec<f64>, dtype: HostDtype) -> Option<HostArray> {
        if shape.len() > MAX_DIMS {
            return None;
        }
        dtype.round_all(&mut values);
        let data = ArrayD::from_shape_vec(IxDyn(shape), values).ok()?;
        Some(HostArray {
            data: data.into_shared(),
            dtype,
        })
    }

    /// An array of rank 0.
    pub fn scalar(value: f64, dtype: HostDtype) -> HostArray {
        HostArray {
            data: ArrayD::from_elem(IxDyn(&[]), dtype.round(value)).into_shared(),
            dtype,
        }
    }

    /// Values that the type can already hold.
    pub(super) fn from_exact(data: impl Into<ArcArray<f64, IxDyn>>, dtype: HostDtype) -> HostArray {
        HostArray {
            data: data.into(),
            dtype,
        }
    }

    /// Rounds the values to the type.
    pub(super) fn from_rounded(data: ArrayD<f64>, dtype: HostDtype) -> HostArray {
        let mut data = data;
        match data.as_slice_memory_order_mut() {
            Some(values) => dtype.round_all(values),
            None => data.mapv_inplace(|it| dtype.round(it)),
        }
        HostArray {
            data: data.into_shared(),
            dtype,
        }
    }

    /// Rank 1, already exact.
    pub(super) fn vector(values: Vec<f64>, dtype: HostDtype) -> HostArray {
        HostArray {
            data: ArrayD::from(ndarray::Array1::from(values).into_dyn()).into_shared(),
            dtype,
        }
    }

    pub fn shape(&self) -> &[usize] {
        self.data.shape()
    }

    pub fn n_dims(&self) -> usize {
        self.data.ndim()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    pub fn dtype(&self) -> HostDtype {
        self.dtype
    }

    pub fn view(&self) -> ArrayViewD<'_, f64> {
        self.data.view()
    }

    pub(super) fn shared(&self) -> &ArcArray<f64, IxDyn> {
        &self.data
    }

    /// Makes the values this array's own, for writing.
    pub(super) fn shared_mut(&mut self) -> &mut ArcArray<f64, IxDyn> {
        &mut self.data
    }

    /// The values in C order.
    pub fn to_vec(&self) -> Vec<f64> {
        let packed = self.contiguous();
        packed.as_slice().expect("packed arrays have no gaps").to_vec()
    }

    /// The same values in C order without gaps, shared when they already are.
    pub(super) fn contiguous(&self) -> ArcArray<f64, IxDyn> {
        if self.data.is_standard_layout() {
            return self.data.clone();
        }
        // `to_owned` would keep the order that the axes have in memory.
        let mut packed = ArrayD::zeros(self.data.raw_dim());
        packed.assign(&self.data);
        packed.into_shared()
    }

    /// The values converted to another type.
    pub fn astype(&self, dtype: HostDtype) -> HostArray {
        if dtype.holds(self.dtype) {
            return HostArray {
                data: self.data.clone(),
                dtype,
            };
        }
        HostArray::from_rounded(self.data.to_owned(), dtype)
    }

    /// The one value of an array with one element.
    pub fn item(&self) -> HostResult<Arg> {
        let mut values = self.data.iter();
        match (values.next(), values.next()) {
            (Some(&value), None) => Ok(number(value, self.dtype)),
            _ => Err(HostError::NotOneElement {
                shape: self.shape().to_vec(),
            }),
        }
    }

    /// What `if array:` decides.
    pub fn truth(&self) -> HostResult<bool> {
        let mut values = self.data.iter();
        match (values.next(), values.next()) {
            (Some(&value), None) => Ok(value != 0.0),
            _ => Err(HostError::Truth {
                shape: self.shape().to_vec(),
            }),
        }
    }

    /// Nested lists of Python numbers; a rank of 0 gives the number itself.
    pub fn to_list(&self) -> Arg {
        nested(self.view(), self.dtype)
    }
}

/// A value of a type as Python's `int`, `float` or `bool`.
pub fn number(value: f64, dtype: HostDtype) -> Arg {
    match dtype {
        HostDtype::Bool => Arg::Bool(value != 0.0),
        _ if dtype.is_int() => Arg::Int(value as i64),
        _ => Arg::Float(value),
    }
}

fn nested(view: ArrayViewD<'_, f64>, dtype: HostDtype) -> Arg {
    match view.ndim() {
        0 => number(
            view.first().copied().expect("an array of rank 0 has one element"),
            dtype,
        ),
        _ => Arg::List(view.outer_iter().map(|it| nested(it, dtype)).collect()),
    }
}

/// Refuses shapes that would take absurd amounts of memory.
pub fn check_size(shape: &[usize]) -> HostResult<usize> {
    if shape.len() > MAX_DIMS {
        return Err(HostError::TooManyDims { n_dims: shape.len() });
    }
    // A size of 0 elsewhere must not hide an absurd one, since ndarray multiplies the others for its strides.
    let product = shape
        .iter()
        .filter(|it| **it != 0)
        .try_fold(1usize, |count, size| count.checked_mul(*size));
    match product {
        Some(count) if count as u64 <= limits().array_elements => {
            Ok(if shape.contains(&0) { 0 } else { count })
        }
        _ => Err(HostError::TooLarge {
            shape: shape.to_vec(),
        }),
    }
}

/// The shape that two shapes broadcast to.
pub fn broadcast_shapes(left: &[usize], right: &[usize]) -> HostResult<Vec<usize>> {
    let n_dims = left.len().max(right.len());
    let size =
        |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(n_dims).map_or(1, |at| shape[at]);
    let mut shape = Vec::with_capacity(n_dims);
    for axis in 0..n_dims {
        match (size(left, axis), size(right, axis)) {
            (a, b) if a == b => shape.push(a),
            (1, b) => shape.push(b),
            (a, 1) => shape.push(a),
            _ => {
                return Err(HostError::NoBroadcast {
                    left: left.to_vec(),
                    right: right.to_vec(),
                });
            }
        }
    }
    check_size(&shape)?;
    Ok(shape)
}

/// An axis counted from the front; negative ones count from the back.
pub fn resolve_axis(axis: i64, n_dims: usize) -> HostResult<usize> {
    let counted = if axis < 0 {
        axis.checked_add(n_dims as i64)
    } else {
        Some(axis)
    };
    match counted.and_then(|it| usize::try_from(it).ok()) {
        Some(axis) if axis < n_dims => Ok(axis),
        _ => Err(HostError::BadAxis { axis, n_dims }),
    }
}

/// Several axes, each named once.
pub fn resolve_axes(axes: &[i64], n_dims: usize) -> HostResult<Vec<usize>> {
    let mut resolved = Vec::with_capacity(axes.len());
    for &axis in axes {
        let at = resolve_axis(axis, n_dims)?;
        if resolved.contains(&at) {
            return Err(HostError::RepeatedAxis { axis });
        }
        resolved.push(at);
    }
    Ok(resolved)
}
