//! Making arrays: from Python values, filled, ranges, and matrices of a pattern.

use super::array::check_size;
use super::bind::{Call, to_shape};
use super::dtype::promote;
use super::{Arg, HostArray, HostDtype, HostError, HostResult, MAX_DIMS};
use ndarray::{ArrayD, IxDyn};

/// An array from a number, an array, or nested lists or tuples of them.
pub fn to_array(arg: &Arg) -> HostResult<HostArray> {
    match arg {
        Arg::Array(array) => Ok(array.clone()),
        Arg::Float(value) => Ok(HostArray::scalar(*value, HostDtype::F64)),
        Arg::Int(value) => Ok(HostArray::scalar(*value as f64, HostDtype::I64)),
        Arg::Bool(value) => Ok(HostArray::scalar(f64::from(u8::from(*value)), HostDtype::Bool)),
        Arg::List(_) | Arg::Tuple(_) => {
            let mut parts = Parts {
                values: Vec::new(),
                dtype: None,
            };
            let shape = parts.collect(arg, 0)?;
            let dtype = parts.dtype.unwrap_or(HostDtype::F64);
            Ok(HostArray::from_rounded(filled(&shape, parts.values), dtype))
        }
        other => Err(HostError::WrongType {
            function: "array",
            parameter: "object".into(),
            wants: "an array or a number",
            got: other.describe(),
        }),
    }
}

struct Parts {
    values: Vec<f64>,
    dtype: Option<HostDtype>,
}

impl Parts {
    /// Appends the values below one argument; gives their shape.
    fn collect(&mut self, arg: &Arg, depth: usize) -> HostResult<Vec<usize>> {
        if depth > MAX_DIMS {
            return Err(HostError::TooManyDims { n_dims: depth });
        }
        let (Arg::List(items) | Arg::Tuple(items)) = arg else {
            let array = to_array(arg)?;
            self.dtype = Some(self.dtype.map_or(array.dtype(), |it| promote(it, array.dtype())));
            self.values.extend(array.view().iter());
            check_size(&[self.values.len()])?;
            return Ok(array.shape().to_vec());
        };
        let mut first: Option<Vec<usize>> = None;
        for item in items {
            let other = self.collect(item, depth + 1)?;
            match &first {
                Some(first) if *first != other => {
                    return Err(HostError::Ragged {
                        first: first.clone(),
                        other,
                    });
                }
                Some(_) => {}
                None => first = Some(other),
            }
        }
        let mut shape = vec![items.len()];
        shape.extend(first.unwrap_or_default());
        check_size(&shape)?;
        Ok(shape)
    }
}

/// An array in C order from as many values as the shape has.
pub fn filled(shape: &[usize], values: Vec<f64>) -> ArrayD<f64> {
    ArrayD::from_shape_vec(IxDyn(shape), values).expect("the values were counted against the shape")
}

fn constant_array(shape: &[usize], value: f64, dtype: HostDtype) -> Arg {
    HostArray::from_exact(ArrayD::from_elem(IxDyn(shape), dtype.round(value)), dtype).into()
}

/// `array(object, dtype)`, also `asarray` and `ascontiguousarray`: arrays never alias, so all copy alike.
pub fn array(call: &Call) -> HostResult<Arg> {
    call.cast(call.array("a")?)
}

/// `float32(x)` and the other types called as functions.
pub fn convert(dtype: HostDtype, args: &[Arg]) -> HostResult<Arg> {
    match args {
        [] => Ok(HostArray::scalar(0.0, dtype).into()),
        [one] => Ok(to_array(one)?.astype(dtype).into()),
        _ => Err(HostError::TooManyArguments {
            function: dtype.name(),
            given: args.len(),
            at_most: 1,
            signature: "x=",
        }),
    }
}

pub fn zeros(call: &Call) -> HostResult<Arg> {
    Ok(constant_array(
        &call.shape("shape")?,
        0.0,
        call.dtype("dtype")?.unwrap_or(HostDtype::F64),
    ))
}

pub fn ones(call: &Call) -> HostResult<Arg> {
    Ok(constant_array(
        &call.shape("shape")?,
        1.0,
        call.dtype("dtype")?.unwrap_or(HostDtype::F64),
    ))
}

pub fn full(call: &Call) -> HostResult<Arg> {
    let (shape, value) = (call.shape("shape")?, call.array("fill_value")?);
    let dtype = call.dtype("dtype")?.unwrap_or(value.dtype());
    fill(&shape, &value.astype(dtype))
}

fn fill(shape: &[usize], value: &HostArray) -> HostResult<Arg> {
    let wide = value.view().broadcast(IxDyn(shape)).map(|it| it.to_owned());
    let refuse = || HostError::CannotBroadcastTo {
        from: value.shape().to_vec(),
        to: shape.to_vec(),
    };
    Ok(HostArray::from_exact(wide.ok_or_else(refuse)?, value.dtype()).into())
}

/// The shape and type of a `…_like` function.
fn like(call: &Call) -> HostResult<(Vec<usize>, HostDtype)> {
    let array = call.array("a")?;
    let shape = if call.opt("shape").is_some() {
        call.shape("shape")?
    } else {
        array.shape().to_vec()
    };
    Ok((shape, call.dtype("dtype")?.unwrap_or(array.dtype())))
}

pub fn zeros_like(call: &Call) -> HostResult<Arg> {
    let (shape, dtype) = like(call)?;
    Ok(constant_array(&shape, 0.0, dtype))
}

pub fn ones_like(call: &Call) -> HostResult<Arg> {
    let (shape, dtype) = like(call)?;
    Ok(constant_array(&shape, 1.0, dtype))
}

pub fn full_like(call: &Call) -> HostResult<Arg> {
    let (shape, dtype) = like(call)?;
    fill(&shape, &call.array("fill_value")?.astype(dtype))
}

/// `arange(stop)`, `arange(start, stop)`, `arange(start, stop, step)`.
pub fn arange(call: &Call) -> HostResult<Arg> {
    let first = call.array("start")?;
    let (start, stop) = match call.opt_array("stop")? {
        Some(stop) => (first, stop),
        None => (HostArray::scalar(0.0, HostDtype::I64), first),
    };
    let step = call
        .opt_array("step")?
        .unwrap_or(HostArray::scalar(1.0, HostDtype::I64));
    let natural = promote(promote(start.dtype(), stop.dtype()), step.dtype());
    let dtype = call.dtype("dtype")?.unwrap_or(natural);
    let number = |array: &HostArray, name: &str| {
        let value = array.view().first().copied().filter(|_| array.len() == 1);
        value.ok_or_else(|| call.wrong(name, "a number", &Arg::Array(array.clone())))
    };
    let (start, stop, step) = (
        number(&start, "start")?,
        number(&stop, "stop")?,
        number(&step, "step")?,
    );
    let count = ((stop - start) / step).ceil();
    if step == 0.0 || count.is_nan() {
        return Err(call.bad("the step must not be 0 and the bounds must be finite"));
    }
    let count = count.clamp(0.0, 1e18) as usize;
    check_size(&[count])?;
    Ok(HostArray::from_rounded(
        filled(&[count], (0..count).map(|it| start + step * it as f64).collect()),
        dtype,
    )
    .into())
}

pub fn linspace(call: &Call) -> HostResult<Arg> {
    let (start, stop) = (call.float("start")?, call.float("stop")?);
    let count = call.size_or("num", 50)?;
    check_size(&[count])?;
    let endpoint = call.opt("endpoint").is_none() || call.flag("endpoint")?;
    let n_steps = if endpoint { count.saturating_sub(1) } else { count };
    let step = (stop - start) / (n_steps.max(1)) as f64;
    let mut values: Vec<f64> = (0..count).map(|it| start + step * it as f64).collect();
    if let Some(last) = values.last_mut()
        && endpoint
        && count > 1
    {
        *last = stop;
    }
    let dtype = call.dtype("dtype")?.unwrap_or(HostDtype::F64);
    Ok(HostArray::from_rounded(filled(&[count], values), dtype).into())
}

/// Ones where column - row is `k`, or where it is at most `k`.
fn pattern(call: &Call, keep: impl Fn(i64) -> bool) -> HostResult<Arg> {
    let rows = call.int("N")?;
    let columns = call.int_or("M", rows)?;
    let shape = to_shape(&[rows, columns])?;
    let dtype = call.dtype("dtype")?.unwrap_or(HostDtype::F64);
    let value = |at: IxDyn| f64::from(u8::from(keep(at[1] as i64 - at[0] as i64)));
    Ok(HostArray::from_exact(ArrayD::from_shape_fn(IxDyn(&shape), value), dtype).into())
}

pub fn eye(call: &Call) -> HostResult<Arg> {
    let k = call.int_or("k", 0)?;
    pattern(call, |offset| offset == k)
}

pub fn identity(call: &Call) -> HostResult<Arg> {
    let size = call.int("n")?;
    let shape = to_shape(&[size, size])?;
    let dtype = call.dtype("dtype")?.unwrap_or(HostDtype::F64);
    let value = |at: IxDyn| f64::from(u8::from(at[0] == at[1]));
    Ok(HostArray::from_exact(ArrayD::from_shape_fn(IxDyn(&shape), value), dtype).into())
}

pub fn tri(call: &Call) -> HostResult<Arg> {
    let k = call.int_or("k", 0)?;
    pattern(call, |offset| offset <= k)
}

/// Zeroes the elements of the last two dimensions whose column - row is not kept.
fn masked(call: &Call, keep: impl Fn(i64) -> bool) -> HostResult<Arg> {
    let array = call.array("m")?;
    if array.n_dims() < 2 {
        return Err(call.bad("the array needs two dimensions"));
    }
    let (row, column) = (array.n_dims() - 2, array.n_dims() - 1);
    let mut data = array.view().to_owned();
    for (at, value) in data.indexed_iter_mut() {
        if !keep(at[column] as i64 - at[row] as i64) {
            *value = 0.0;
        }
    }
    Ok(HostArray::from_exact(data, array.dtype()).into())
}

pub fn tril(call: &Call) -> HostResult<Arg> {
    let k = call.int_or("k", 0)?;
    masked(call, |offset| offset <= k)
}

pub fn triu(call: &Call) -> HostResult<Arg> {
    let k = call.int_or("k", 0)?;
    masked(call, |offset| offset >= k)
}

/// `diag(v, k)`: the diagonal of a matrix, or the matrix of a diagonal.
pub fn diag(call: &Call) -> HostResult<Arg> {
    let (array, k) = (call.array("v")?, call.int_or("k", 0)?);
    let size =
        check_size(&[array.len()])?.saturating_add(usize::try_from(k.unsigned_abs()).unwrap_or(usize::MAX));
    let (down, right) = if k < 0 {
        (size - array.len(), 0)
    } else {
        (0, size - array.len())
    };
    match array.n_dims() {
        1 => {
            check_size(&[size, size])?;
            let mut data = ArrayD::zeros(IxDyn(&[size, size]));
            for (at, value) in array.view().iter().enumerate() {
                data[[at + down, at + right]] = *value;
            }
            Ok(HostArray::from_exact(data, array.dtype()).into())
        }
        2 => Ok(super::shape::diagonal_of(&array, k, 0, 1).into()),
        _ => Err(call.bad("the array must have one or two dimensions")),
    }
}

pub fn meshgrid(call: &Call) -> HostResult<Arg> {
    let vectors = call.rest.iter().map(to_array).collect::<HostResult<Vec<_>>>()?;
    let swap = match call.text_or("indexing", "xy")? {
        "xy" => vectors.len() > 1,
        "ij" => false,
        _ => return Err(call.bad("indexing must be \"xy\" or \"ij\"")),
    };
    let mut shape: Vec<usize> = vectors.iter().map(HostArray::len).collect();
    if swap {
        shape.swap(0, 1);
    }
    check_size(&shape)?;
    let grid = |(at, vector): (usize, &HostArray)| {
        let axis = if swap && at < 2 { 1 - at } else { at };
        let values = vector.to_vec();
        let data = ArrayD::from_shape_fn(IxDyn(&shape), |idx| values[idx[axis]]);
        Arg::Array(HostArray::from_exact(data, vector.dtype()))
    };
    Ok(Arg::Tuple(vectors.iter().enumerate().map(grid).collect()))
}
