//! Methods and attributes of arrays, of element types, and of `np.finfo` / `np.iinfo`.
//!
//! Most methods are the function of the same name with the array as its first argument.

use super::bind::bind;
use super::shape::{reshape_sizes, reshape_to};
use super::{Arg, Class, HostArray, HostDtype, HostError, HostResult, HostState, assign, call, number};
use crate::diagnostic::nearest;

/// Methods that are module functions of the same name.
const SHARED: &[&str] = &[
    "sum",
    "prod",
    "mean",
    "var",
    "std",
    "max",
    "min",
    "argmax",
    "argmin",
    "all",
    "any",
    "cumsum",
    "cumprod",
    "clip",
    "round",
    "dot",
    "copy",
    "ravel",
    "squeeze",
    "swapaxes",
    "repeat",
    "take",
    "nonzero",
    "diagonal",
    "trace",
    "argsort",
    "searchsorted",
    "conj",
    "ptp",
];
/// Methods of arrays alone.
const OWN: &[&str] = &[
    "astype",
    "reshape",
    "transpose",
    "flatten",
    "tolist",
    "item",
    "fill",
    "sort",
];
const ATTRIBUTES: &[&str] = &[
    "shape", "ndim", "size", "T", "mT", "dtype", "itemsize", "nbytes", "flat", "real",
];

/// Every name after `array.`.
fn names() -> impl Iterator<Item = &'static str> {
    SHARED.iter().chain(OWN).chain(ATTRIBUTES).copied()
}

fn unknown(name: &str, candidates: impl Iterator<Item = &'static str>) -> HostError {
    HostError::UnknownMethod {
        name: name.into(),
        near: nearest(name, candidates).map(String::from),
    }
}

/// Calls `array.NAME(…)`. Only `fill` and `sort` change the array.
pub fn method(
    array: &mut HostArray,
    name: &str,
    args: &[Arg],
    kwargs: &[(String, Arg)],
    state: &mut HostState,
) -> HostResult<Arg> {
    let with_self = |name: &str, state: &mut HostState| {
        let args: Vec<Arg> = [Arg::Array(array.clone())].iter().chain(args).cloned().collect();
        call(name, &args, kwargs, state)
    };
    match name {
        "astype" => {
            let call = bind("astype", "dtype, copy=, casting=", args, kwargs)?;
            let dtype = call
                .dtype("dtype")?
                .ok_or_else(|| call.wrong("dtype", "an element type", &Arg::None))?;
            Ok(array.astype(dtype).into())
        }
        "reshape" if args.len() != 1 => {
            let call = bind("reshape", "*shape, order=", args, kwargs)?;
            let sizes = call
                .rest
                .iter()
                .map(super::bind::as_int)
                .collect::<Option<Vec<i64>>>();
            let sizes = sizes.ok_or_else(|| call.bad("the sizes must be integers"))?;
            Ok(reshape_sizes(array, &sizes)?.into())
        }
        "transpose" if args.len() > 1 => call(
            "transpose",
            &[array.clone().into(), Arg::Tuple(args.to_vec())],
            kwargs,
            state,
        ),
        "reshape" | "transpose" => with_self(name, state),
        "flatten" => with_self("ravel", state),
        "tolist" => bind("tolist", "", args, kwargs).map(|_| array.to_list()),
        "item" if args.is_empty() && kwargs.is_empty() => array.item(),
        "item" => {
            let flat = if args.len() == 1 {
                reshape_to(array, &[array.len()])
            } else {
                array.clone()
            };
            super::index(&flat, args)?.item()
        }
        "fill" => {
            let call = bind("fill", "value", args, kwargs)?;
            assign(array, &[Arg::Ellipsis], call.need("value")?)?;
            Ok(Arg::None)
        }
        "sort" => {
            if let Arg::Array(sorted) = with_self("sort", state)? {
                *array = sorted;
            }
            Ok(Arg::None)
        }
        _ if SHARED.contains(&name) => with_self(name, state),
        _ => Err(unknown(name, names())),
    }
}

/// Reads `array.NAME`; a method without a call is not an attribute.
pub fn attribute(array: &HostArray, name: &str) -> HostResult<Arg> {
    match name {
        "shape" => Ok(Arg::int_tuple(array.shape().iter().copied())),
        "ndim" => Ok(Arg::Int(array.n_dims() as i64)),
        "size" => Ok(Arg::Int(array.len() as i64)),
        "T" => Ok(HostArray::from_exact(array.shared().clone().reversed_axes(), array.dtype()).into()),
        "mT" => call(
            "matrix_transpose",
            &[array.clone().into()],
            &[],
            &mut HostState::default(),
        ),
        "dtype" => Ok(Arg::Dtype(array.dtype())),
        "itemsize" => Ok(Arg::Int(array.dtype().size() as i64)),
        "nbytes" => Ok(Arg::Int((array.dtype().size() * array.len()) as i64)),
        "flat" => Ok(reshape_to(array, &[array.len()]).into()),
        "real" => Ok(array.clone().into()),
        _ => Err(unknown(name, names())),
    }
}

/// Whether `array.NAME` is a method, for a value such as `f = array.sum`.
pub fn is_method(name: &str) -> bool {
    SHARED.contains(&name) || OWN.contains(&name)
}

/// Reads `dtype.NAME`.
pub fn dtype_attribute(dtype: HostDtype, name: &str) -> HostResult<Arg> {
    let kind = match dtype.class() {
        Class::Bool => "b",
        Class::Int { signed: true, .. } => "i",
        Class::Int { signed: false, .. } => "u",
        Class::Float(_) if dtype.device() == Some(crate::dtype::Dtype::Bf16) || dtype.size() == 1 => "V",
        Class::Float(_) => "f",
    };
    match name {
        "name" | "__name__" => Ok(Arg::Str(dtype.name().into())),
        "itemsize" => Ok(Arg::Int(dtype.size() as i64)),
        "kind" => Ok(Arg::Str(kind.into())),
        "type" => Ok(Arg::Dtype(dtype)),
        _ => Err(unknown(name, ["name", "itemsize", "kind", "type"].into_iter())),
    }
}

/// Reads `np.finfo(dtype).NAME` or `np.iinfo(dtype).NAME`.
pub fn info_attribute(dtype: HostDtype, name: &str) -> HostResult<Arg> {
    let (low, high) = dtype.limits();
    let power = |exponent: i32| libm::ldexp(1.0, exponent);
    let value = match (dtype.class(), name) {
        (_, "min") => low,
        (_, "max") => high,
        (_, "bits") => return Ok(Arg::Int(dtype.size() as i64 * 8)),
        (_, "dtype") => return Ok(Arg::Dtype(dtype)),
        (Class::Float(format), "eps" | "resolution") => power(-format.mantissa),
        (Class::Float(format), "epsneg") => power(-format.mantissa - 1),
        (Class::Float(format), "tiny" | "smallest_normal") => power(format.min_exponent),
        (Class::Float(format), "smallest_subnormal") => power(format.min_exponent - format.mantissa),
        _ => {
            let names = [
                "min",
                "max",
                "bits",
                "dtype",
                "eps",
                "tiny",
                "smallest_normal",
                "smallest_subnormal",
            ];
            return Err(unknown(name, names.into_iter()));
        }
    };
    Ok(if dtype.is_float() {
        HostArray::scalar(value, dtype).into()
    } else {
        number(value, dtype)
    })
}
