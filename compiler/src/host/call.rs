//! The functions of `np`: one table from name to signature and body, and the constants of the module.

use super::bind::{Call, bind};
use super::create::convert;
use super::elementwise::{self, apply_binary, apply_unary, outer_of};
use super::ufunc::{BINARY, Binary, UNARY};
use super::{Arg, HOST_DTYPES, HostDtype, HostError, HostResult, HostState};
use super::{create, einsum, join, linalg, pick, random, reduce, scan, shape, sort, window};
use crate::diagnostic::nearest;

type Body = fn(&Call) -> HostResult<Arg>;

/// The functions that are not element-wise, with their parameters in order (see `bind.rs` for the notation).
pub const FUNCTIONS: &[(&str, &str, Body)] = &[
    // Making arrays.
    ("array", "a, dtype=, copy=, order=, ndmin=", create::array),
    ("asarray", "a, dtype=, order=", create::array),
    ("ascontiguousarray", "a, dtype=", create::array),
    ("zeros", "shape, dtype=, order=", create::zeros),
    ("empty", "shape, dtype=, order=", create::zeros),
    ("ones", "shape, dtype=, order=", create::ones),
    ("full", "shape, fill_value, dtype=, order=", create::full),
    (
        "zeros_like",
        "a, dtype=, order=, subok=, shape=",
        create::zeros_like,
    ),
    (
        "empty_like",
        "a, dtype=, order=, subok=, shape=",
        create::zeros_like,
    ),
    (
        "ones_like",
        "a, dtype=, order=, subok=, shape=",
        create::ones_like,
    ),
    (
        "full_like",
        "a, fill_value, dtype=, order=, subok=, shape=",
        create::full_like,
    ),
    ("arange", "start, stop=, step=, dtype=", create::arange),
    (
        "linspace",
        "start, stop, num=, endpoint=, dtype=",
        create::linspace,
    ),
    ("eye", "N, M=, k=, dtype=", create::eye),
    ("identity", "n, dtype=", create::identity),
    ("tri", "N, M=, k=, dtype=", create::tri),
    ("tril", "m, k=", create::tril),
    ("triu", "m, k=", create::triu),
    ("diag", "v, k=", create::diag),
    ("meshgrid", "*vectors, indexing=, sparse=", create::meshgrid),
    // Element by element.
    ("square", "x, dtype=", elementwise::square),
    ("clip", "a, min=, max=", elementwise::clip),
    ("where", "condition, x=, y=", elementwise::select),
    ("round", "a, decimals=", elementwise::round),
    (
        "nan_to_num",
        "x, copy=, nan=, posinf=, neginf=",
        elementwise::nan_to_num,
    ),
    ("isclose", "a, b, rtol=, atol=, equal_nan=", elementwise::is_close),
    (
        "allclose",
        "a, b, rtol=, atol=, equal_nan=",
        elementwise::all_close,
    ),
    ("array_equal", "a1, a2, equal_nan=", elementwise::array_equal),
    ("divmod", "x1, x2", elementwise::div_mod),
    // Reductions.
    ("sum", "a, axis=, dtype=, keepdims=, initial=", reduce::sum),
    ("prod", "a, axis=, dtype=, keepdims=, initial=", reduce::prod),
    ("mean", "a, axis=, dtype=, keepdims=", reduce::mean),
    ("var", "a, axis=, dtype=, ddof=, keepdims=", reduce::var),
    ("std", "a, axis=, dtype=, ddof=, keepdims=", reduce::std),
    ("max", "a, axis=, keepdims=, initial=", reduce::max),
    ("min", "a, axis=, keepdims=, initial=", reduce::min),
    ("ptp", "a, axis=, keepdims=", reduce::ptp),
    ("argmax", "a, axis=, keepdims=", reduce::argmax),
    ("argmin", "a, axis=, keepdims=", reduce::argmin),
    ("all", "a, axis=, keepdims=, dtype=", reduce::all),
    ("any", "a, axis=, keepdims=, dtype=", reduce::any),
    (
        "count_nonzero",
        "a, axis=, keepdims=, dtype=",
        reduce::count_nonzero,
    ),
    ("median", "a, axis=, keepdims=", reduce::median),
    ("quantile", "a, q, axis=, keepdims=", reduce::quantile),
    ("percentile", "a, q, axis=, keepdims=", reduce::percentile),
    ("average", "a, axis=, weights=, keepdims=", reduce::average),
    ("nansum", "a, axis=, dtype=, keepdims=", reduce::nan_sum),
    ("nanmean", "a, axis=, dtype=, keepdims=", reduce::nan_mean),
    ("nanmax", "a, axis=, keepdims=, initial=", reduce::nan_max),
    ("nanmin", "a, axis=, keepdims=, initial=", reduce::nan_min),
    ("special.softmax", "x, axis=", reduce::softmax),
    ("special.log_softmax", "x, axis=", reduce::log_softmax),
    ("special.logsumexp", "a, axis=, keepdims=", reduce::log_sum_exp),
    // Running results.
    ("cumsum", "a, axis=, dtype=", scan::cumsum),
    ("cumprod", "a, axis=, dtype=", scan::cumprod),
    ("diff", "a, n=, axis=", scan::diff),
    ("add.accumulate", "a, axis=, dtype=", scan::add_accumulate),
    (
        "multiply.accumulate",
        "a, axis=, dtype=",
        scan::multiply_accumulate,
    ),
    ("maximum.accumulate", "a, axis=, dtype=", scan::maximum_accumulate),
    ("minimum.accumulate", "a, axis=, dtype=", scan::minimum_accumulate),
    // Products.
    ("matmul", "x1, x2, dtype=", linalg::matmul),
    ("dot", "a, b", linalg::dot),
    ("inner", "a, b", linalg::inner),
    ("vdot", "a, b", linalg::vdot),
    ("outer", "a, b", linalg::outer),
    ("tensordot", "a, b, axes=", linalg::tensor_dot),
    (
        "einsum",
        "subscripts, *operands, dtype=, optimize=",
        einsum::einsum,
    ),
    ("linalg.norm", "x, ord=, axis=, keepdims=", linalg::norm),
    // Shapes.
    ("reshape", "a, shape, order=", shape::reshape),
    ("ravel", "a, order=", shape::ravel),
    ("copy", "a, order=", shape::copy),
    ("transpose", "a, axes=", shape::transpose),
    ("matrix_transpose", "a", shape::matrix_transpose),
    ("swapaxes", "a, axis1, axis2", shape::swap_axes),
    ("moveaxis", "a, source, destination", shape::move_axis),
    ("expand_dims", "a, axis", shape::expand_dims),
    ("squeeze", "a, axis=", shape::squeeze),
    ("atleast_1d", "a", shape::at_least_1d),
    ("atleast_2d", "a", shape::at_least_2d),
    ("broadcast_to", "a, shape", shape::broadcast_to),
    ("broadcast_arrays", "*arrays", shape::broadcast_arrays),
    ("broadcast_shapes", "*shapes", shape::broadcast_shapes_of),
    ("flip", "a, axis=", shape::flip),
    ("fliplr", "a", shape::flip_columns),
    ("flipud", "a", shape::flip_rows),
    ("diagonal", "a, offset=, axis1=, axis2=", shape::diagonal),
    ("trace", "a, offset=, axis1=, axis2=", shape::trace),
    // Joining and splitting.
    ("concatenate", "arrays, axis=, dtype=", join::concatenate),
    ("append", "arr, values, axis=", join::append),
    ("stack", "arrays, axis=", join::stack),
    ("vstack", "arrays", join::vstack),
    ("hstack", "arrays", join::hstack),
    ("column_stack", "arrays", join::column_stack),
    ("split", "ary, indices_or_sections, axis=", join::split),
    (
        "array_split",
        "ary, indices_or_sections, axis=",
        join::array_split,
    ),
    ("hsplit", "ary, indices_or_sections", join::hsplit),
    ("vsplit", "ary, indices_or_sections", join::vsplit),
    ("tile", "A, reps", join::tile),
    ("repeat", "a, repeats, axis=", join::repeat),
    ("roll", "a, shift, axis=", join::roll),
    ("pad", "array, pad_width, mode=, constant_values=", join::pad),
    // Positions.
    ("take", "a, indices, axis=, mode=", pick::take),
    ("take_along_axis", "arr, indices, axis=", pick::take_along_axis),
    ("nonzero", "a", pick::nonzero),
    ("flatnonzero", "a", pick::flat_nonzero),
    ("argwhere", "a", pick::arg_where),
    ("unravel_index", "indices, shape", pick::unravel_index),
    ("ndindex", "*shape", pick::nd_index),
    ("indices", "dimensions", pick::indices),
    ("ix_", "*vectors", pick::open_mesh),
    ("tril_indices", "n, k=, m=", pick::tril_indices),
    ("triu_indices", "n, k=, m=", pick::triu_indices),
    ("bincount", "x, weights=, minlength=", pick::bin_count),
    ("delete", "arr, obj, axis=", pick::delete),
    // Order.
    ("sort", "a, axis=, kind=, stable=", sort::sort),
    ("argsort", "a, axis=, kind=, stable=", sort::arg_sort),
    (
        "unique",
        "ar, return_index=, return_inverse=, return_counts=",
        sort::unique,
    ),
    ("isin", "element, test_elements", sort::is_in),
    ("searchsorted", "a, v, side=", sort::search_sorted),
    // Windows.
    ("convolve", "a, v, mode=", window::convolve),
    (
        "lib.stride_tricks.sliding_window_view",
        "x, window_shape, axis=",
        window::sliding_window_view,
    ),
    // Types.
    ("dtype", "dtype", dtype),
    ("finfo", "dtype", float_info),
    ("iinfo", "dtype", int_info),
    ("result_type", "*arrays", result_type),
];

/// Second names of functions.
const ALIASES: &[(&str, &str)] = &[
    ("abs", "absolute"),
    ("true_divide", "divide"),
    ("mod", "remainder"),
    ("pow", "power"),
    ("amax", "max"),
    ("amin", "min"),
    ("around", "round"),
    ("fix", "trunc"),
    ("concat", "concatenate"),
    ("permute_dims", "transpose"),
    ("cumulative_sum", "cumsum"),
    ("conj", "positive"),
    ("deg2rad", "radians"),
    ("rad2deg", "degrees"),
    ("asin", "arcsin"),
    ("acos", "arccos"),
    ("atan", "arctan"),
    ("atan2", "arctan2"),
    ("asinh", "arcsinh"),
    ("acosh", "arccosh"),
    ("atanh", "arctanh"),
    ("bitwise_not", "invert"),
    ("bitwise_invert", "invert"),
    ("bitwise_left_shift", "left_shift"),
    ("bitwise_right_shift", "right_shift"),
    ("linalg.matmul", "matmul"),
    ("linalg.vector_norm", "linalg.norm"),
    ("add.reduce", "sum"),
    ("multiply.reduce", "prod"),
    ("maximum.reduce", "max"),
    ("minimum.reduce", "min"),
    ("logical_and.reduce", "all"),
    ("logical_or.reduce", "any"),
];

/// The constants of the module that are not element types.
const CONSTANTS: &[(&str, Arg)] = &[
    ("pi", Arg::Float(std::f64::consts::PI)),
    ("e", Arg::Float(std::f64::consts::E)),
    ("euler_gamma", Arg::Float(0.577_215_664_901_532_9)),
    ("inf", Arg::Float(f64::INFINITY)),
    ("nan", Arg::Float(f64::NAN)),
    ("newaxis", Arg::None),
];

/// Every name after `np.` that can be called, for completion and for finding the one that was meant.
pub fn names() -> impl Iterator<Item = &'static str> {
    let own = FUNCTIONS
        .iter()
        .map(|it| it.0)
        .chain(ALIASES.iter().map(|it| it.0));
    own.chain(UNARY.iter().map(|it| it.name))
        .chain(BINARY.iter().map(|it| it.name))
}

/// The stored name of a function, for use as a value: `np.add` without a call. Sub-modules keep their prefix.
pub fn function(name: &str) -> Option<&'static str> {
    let bare = names().find(|it| *it == name);
    bare.map(|it| {
        ALIASES
            .iter()
            .find(|alias| alias.0 == it)
            .map_or(it, |alias| alias.1)
    })
}

/// A constant or an element type of the module.
pub fn constant(name: &str) -> Option<Arg> {
    let constant = CONSTANTS.iter().find(|it| it.0 == name).map(|it| it.1.clone());
    constant.or_else(|| HostDtype::from_numpy_name(name).map(Arg::Dtype))
}

/// Calls `np.NAME(…)`; the name may have dots (`linalg.norm`, `random.rand`, `maximum.reduce`).
pub fn call(name: &str, args: &[Arg], kwargs: &[(String, Arg)], state: &mut HostState) -> HostResult<Arg> {
    if let Some(name) = name.strip_prefix("random.")
        && let Some(result) = random::call_module(name, args, kwargs, state)
    {
        return result;
    }
    let name = ALIASES.iter().find(|it| it.0 == name).map_or(name, |it| it.1);
    if let Some((name, signature, body)) = FUNCTIONS.iter().find(|it| it.0 == name) {
        return body(&bind(name, signature, args, kwargs)?);
    }
    if let Some(row) = UNARY.iter().find(|it| it.name == name) {
        let call = bind(row.name, "x, dtype=", args, kwargs)?;
        return call.cast(apply_unary(row, &call.array("x")?)?);
    }
    if let Some(row) = BINARY.iter().find(|it| it.name == name) {
        let call = bind(row.name, "x1, x2, dtype=", args, kwargs)?;
        return call.cast(apply_binary(row, &call.operand("x1")?, &call.operand("x2")?)?);
    }
    if let Some(row) = name.strip_suffix(".outer").and_then(binary_named) {
        let call = bind(row.name, "x1, x2", args, kwargs)?;
        return Ok(outer_of(row, call.operand("x1")?, call.operand("x2")?)?.into());
    }
    match HostDtype::from_numpy_name(name) {
        Some(dtype) if kwargs.is_empty() => convert(dtype, args),
        _ => Err(HostError::UnknownFunction {
            name: name.into(),
            near: near(name),
        }),
    }
}

fn near(name: &str) -> Option<String> {
    if let Some(name) = name.strip_prefix("random.") {
        return nearest(name, random::names()).map(|it| format!("random.{it}"));
    }
    let constants = CONSTANTS
        .iter()
        .map(|it| it.0)
        .chain(HOST_DTYPES.iter().map(|it| it.1));
    nearest(name, names().chain(constants)).map(String::from)
}

fn binary_named(name: &str) -> Option<&'static Binary> {
    BINARY.iter().find(|it| it.name == name)
}

fn dtype(call: &Call) -> HostResult<Arg> {
    let natural = call.dtype("dtype")?;
    natural
        .map(Arg::Dtype)
        .ok_or_else(|| call.wrong("dtype", "an element type", &Arg::None))
}

fn float_info(call: &Call) -> HostResult<Arg> {
    match call.dtype("dtype")? {
        Some(dtype) if dtype.is_float() => Ok(Arg::Info(dtype)),
        _ => Err(call.wrong("dtype", "a floating-point type", call.need("dtype")?)),
    }
}

fn int_info(call: &Call) -> HostResult<Arg> {
    match call.dtype("dtype")? {
        Some(dtype) if dtype.is_int() => Ok(Arg::Info(dtype)),
        _ => Err(call.wrong("dtype", "an integer type", call.need("dtype")?)),
    }
}

/// `result_type(…)` of arrays and types.
fn result_type(call: &Call) -> HostResult<Arg> {
    let of = |arg: &Arg| match arg {
        Arg::Dtype(dtype) => Ok(*dtype),
        other => super::to_array(other).map(|it| it.dtype()),
    };
    let types = call.rest.iter().map(of).collect::<HostResult<Vec<_>>>()?;
    let common = types.into_iter().reduce(super::promote);
    common
        .map(Arg::Dtype)
        .ok_or_else(|| call.bad("at least one argument is needed"))
}
