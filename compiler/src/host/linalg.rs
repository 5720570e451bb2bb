//! Products of matrices and vectors, and norms. Products accumulate in f64.

use super::array::{check_size, resolve_axes};
use super::bind::Call;
use super::create::filled;
use super::dtype::promote;
use super::einsum::{Term, contract};
use super::elementwise::{apply_binary, outer_of};
use super::reduce::sum_row;
use super::shape::{reshape_to, spread};
use super::ufunc::binary_row;
use super::{Arg, HostArray, HostDtype, HostError, HostResult};
use ndarray::{ArrayD, ArrayView2, Ix2, IxDyn};

/// The type of a sum of products: `ml_dtypes` multiplies its narrow floats into `float32`.
pub fn product_type(left: HostDtype, right: HostDtype) -> HostDtype {
    match promote(left, right) {
        HostDtype::F16 => HostDtype::F16,
        common if common.is_float() && common.size() < 4 => HostDtype::F32,
        common => common,
    }
}

/// `left @ right`.
pub fn matmul_of(left: &HostArray, right: &HostArray) -> HostResult<HostArray> {
    let refuse = || HostError::MatmulShapes {
        left: left.shape().to_vec(),
        right: right.shape().to_vec(),
    };
    let (left_shape, right_shape) = (left.shape(), right.shape());
    if left_shape.is_empty() || right_shape.is_empty() {
        return Err(refuse());
    }
    // A vector is a row on the left and a column on the right; the added dimension leaves the result again.
    let a = if left_shape.len() == 1 {
        reshape_to(left, &[1, left.len()])
    } else {
        left.clone()
    };
    let b = if right_shape.len() == 1 {
        reshape_to(right, &[right.len(), 1])
    } else {
        right.clone()
    };
    let (a_batch, [rows, depth]) = split_matrix(a.shape());
    let (b_batch, [b_depth, columns]) = split_matrix(b.shape());
    if depth != b_depth {
        return Err(refuse());
    }
    let batch = super::array::broadcast_shapes(a_batch, b_batch).map_err(|_| refuse())?;
    let mut shape = batch.clone();
    shape.extend([rows, columns]);
    check_size(&shape)?;
    let a = spread(&a, &[&batch[..], &[rows, depth]].concat())?;
    let b = spread(&b, &[&batch[..], &[depth, columns]].concat())?;
    let n_batches = batch.iter().product();
    let data = multiply_batches(
        &reshape_to(&a, &[n_batches, rows, depth]),
        &reshape_to(&b, &[n_batches, depth, columns]),
    );
    if left_shape.len() == 1 {
        shape.remove(shape.len() - 2);
    }
    if right_shape.len() == 1 {
        shape.pop();
    }
    let data = data
        .into_shape_with_order(IxDyn(&shape))
        .expect("only dimensions of size 1 were dropped");
    Ok(HostArray::from_rounded(
        data,
        product_type(left.dtype(), right.dtype()),
    ))
}

fn split_matrix(shape: &[usize]) -> (&[usize], [usize; 2]) {
    let (batch, matrix) = shape.split_at(shape.len() - 2);
    (batch, [matrix[0], matrix[1]])
}

/// The products of two stacks of matrices, `[n, rows, depth]` and `[n, depth, columns]`, in C order.
pub fn multiply_batches(left: &HostArray, right: &HostArray) -> ArrayD<f64> {
    let (rows, columns) = (left.shape()[1], right.shape()[2]);
    let mut values = Vec::with_capacity(left.shape()[0] * rows * columns);
    for (a, b) in left.view().outer_iter().zip(right.view().outer_iter()) {
        let a: ArrayView2<f64> = a.into_dimensionality::<Ix2>().expect("a stack holds matrices");
        let b: ArrayView2<f64> = b.into_dimensionality::<Ix2>().expect("a stack holds matrices");
        let product = a.dot(&b);
        match product.as_slice() {
            Some(slice) => values.extend_from_slice(slice),
            None => values.extend(product.iter()),
        }
    }
    filled(&[left.shape()[0], rows, columns], values)
}

pub fn matmul(call: &Call) -> HostResult<Arg> {
    call.cast(matmul_of(&call.array("x1")?, &call.array("x2")?)?)
}

/// Sums products over paired axes; the free axes of the left come first.
fn contract_axes(left: &HostArray, right: &HostArray, pairs: &[(usize, usize)]) -> HostResult<HostArray> {
    let refuse = || HostError::MatmulShapes {
        left: left.shape().to_vec(),
        right: right.shape().to_vec(),
    };
    if pairs.iter().any(|(a, b)| left.shape()[*a] != right.shape()[*b]) {
        return Err(refuse());
    }
    let left_labels: Vec<u32> = (0..left.n_dims() as u32).collect();
    let mut right_labels: Vec<u32> = (0..right.n_dims() as u32)
        .map(|it| it + left.n_dims() as u32)
        .collect();
    for (a, b) in pairs {
        right_labels[*b] = left_labels[*a];
    }
    let free_left = left_labels.iter().filter(|it| !right_labels.contains(it));
    let output: Vec<u32> = free_left
        .chain(right_labels.iter().filter(|it| !left_labels.contains(it)))
        .copied()
        .collect();
    let dtype = product_type(left.dtype(), right.dtype());
    let terms = vec![
        Term {
            array: left.clone(),
            labels: left_labels,
        },
        Term {
            array: right.clone(),
            labels: right_labels,
        },
    ];
    Ok(HostArray::from_rounded(contract(terms, &output)?, dtype))
}

pub fn dot(call: &Call) -> HostResult<Arg> {
    let (left, right) = (call.operand("a")?, call.operand("b")?);
    let (a, b) = (&left.array, &right.array);
    if a.n_dims() == 0 || b.n_dims() == 0 {
        return Ok(apply_binary(binary_row("multiply"), &left, &right)?.into());
    }
    if a.n_dims() <= 2 && b.n_dims() <= 2 {
        return Ok(matmul_of(a, b)?.into());
    }
    Ok(contract_axes(a, b, &[(a.n_dims() - 1, b.n_dims().saturating_sub(2))])?.into())
}

pub fn inner(call: &Call) -> HostResult<Arg> {
    let (left, right) = (call.operand("a")?, call.operand("b")?);
    let (a, b) = (&left.array, &right.array);
    if a.n_dims() == 0 || b.n_dims() == 0 {
        return Ok(apply_binary(binary_row("multiply"), &left, &right)?.into());
    }
    Ok(contract_axes(a, b, &[(a.n_dims() - 1, b.n_dims() - 1)])?.into())
}

pub fn vdot(call: &Call) -> HostResult<Arg> {
    let (a, b) = (call.array("a")?, call.array("b")?);
    Ok(contract_axes(
        &reshape_to(&a, &[a.len()]),
        &reshape_to(&b, &[b.len()]),
        &[(0, 0)],
    )?
    .into())
}

pub fn outer(call: &Call) -> HostResult<Arg> {
    let flat = |name| {
        let mut operand = call.operand(name)?;
        operand.array = reshape_to(&operand.array, &[operand.array.len()]);
        HostResult::Ok(operand)
    };
    Ok(outer_of(binary_row("multiply"), flat("a")?, flat("b")?)?.into())
}

/// `tensordot(a, b, axes)`: a count of axes, or the axes of each side.
pub fn tensor_dot(call: &Call) -> HostResult<Arg> {
    let (a, b) = (call.array("a")?, call.array("b")?);
    let (left, right) = match call.opt("axes") {
        Some(Arg::List(sides) | Arg::Tuple(sides)) if sides.len() == 2 => {
            let side = |arg: &Arg, n_dims: usize| {
                let axes = super::bind::as_ints(arg);
                resolve_axes(
                    &axes.ok_or_else(|| call.wrong("axes", "an integer or two lists of axes", arg))?,
                    n_dims,
                )
            };
            (side(&sides[0], a.n_dims())?, side(&sides[1], b.n_dims())?)
        }
        _ => {
            let count = call.size_or("axes", 2)?;
            let from = a.n_dims().checked_sub(count).filter(|_| count <= b.n_dims());
            let from =
                from.ok_or_else(|| call.bad(format!("{count} axes asked for, more than an array has")))?;
            ((from..a.n_dims()).collect(), (0..count).collect())
        }
    };
    if left.len() != right.len() {
        return Err(call.bad(format!(
            "{} axes of one side but {} of the other",
            left.len(),
            right.len()
        )));
    }
    let pairs: Vec<(usize, usize)> = left.into_iter().zip(right).collect();
    Ok(contract_axes(&a, &b, &pairs)?.into())
}

/// `linalg.norm(x, ord, axis, keepdims)`: vector norms, and of a matrix the Frobenius norm.
pub fn norm(call: &Call) -> HostResult<Arg> {
    let array = call.array("x")?;
    let dtype = if array.dtype().is_float() {
        array.dtype()
    } else {
        HostDtype::F64
    };
    let frobenius = matches!(call.opt("ord"), Some(Arg::Str(text)) if text == "fro");
    let order = if frobenius {
        2.0
    } else {
        call.float_or("ord", 2.0)?
    };
    let axes = call.axes("axis", array.n_dims())?;
    if call.opt("ord").is_some() && !frobenius && axes.len() > 1 {
        return Err(call.bad("of the matrix norms only ord=\"fro\" is supported"));
    }
    let row_norm = |row: &[f64]| {
        let sizes = row.iter().map(|it| it.abs());
        let powers = |power: fn(f64, f64) -> f64| {
            sum_row(&row.iter().map(|it| power(it.abs(), order)).collect::<Vec<_>>())
        };
        match order {
            f64::INFINITY => sizes.reduce(super::ufunc::maximum).unwrap_or(0.0),
            f64::NEG_INFINITY => sizes.reduce(super::ufunc::minimum).unwrap_or(0.0),
            0.0 => powers(|it, _| f64::from(u8::from(it != 0.0))),
            1.0 => powers(|it, _| it),
            2.0 => powers(|it, _| it * it).sqrt(),
            _ => libm::pow(powers(libm::pow), 1.0 / order),
        }
    };
    let data = super::reduce::rows_over(&array, &axes, call.flag("keepdims")?, row_norm);
    Ok(HostArray::from_rounded(data, dtype).into())
}
