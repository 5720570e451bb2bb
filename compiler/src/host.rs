//! Host arrays: the NumPy subset in which references inside kernel files are written (`import numpy as np`).
//!
//! Takes arguments as [`Arg`], gives results as [`Arg`], runs at compile time and in one thread. Never touches the
//! device and knows nothing of the evaluator's values.
//!
//! Values are held in f64 whatever the element type, and every result is rounded to its type, so a `float32` result
//! is the correctly rounded one or (for `exp` and its like) within one unit of it; sums accumulate in f64. Types,
//! promotion and shapes follow NumPy 2 and `ml_dtypes`. What differs, on purpose:
//! - 64-bit integers are exact up to 2^53 only;
//! - views are copies: writing to one does not change the array it came from;
//! - the random streams are our own (see [`random`]), not NumPy's;
//! - there are no complex, string or object arrays, and no `out=`.
//!
//! Transcendental functions come from the `libm` crate, so results have the same bits on every host; only `matmul` of
//! values whose products are inexact in f64 may differ in the last bit of f64.

mod array;
mod bind;
mod call;
mod create;
mod display;
mod dtype;
mod einsum;
mod elementwise;
mod error;
mod index;
mod join;
mod linalg;
mod method;
mod pick;
pub mod random;
mod reduce;
mod scan;
mod shape;
mod sort;
pub mod special;
mod ufunc;
mod window;

pub use array::{HostArray, number};
pub use call::{call, constant, function, names};
pub(crate) use create::to_array;
pub(crate) use dtype::promote;
pub use dtype::{Class, Format, HOST_DTYPES, HostDtype};
pub use elementwise::{binary, compare, unary};
pub use error::{HostError, MAX_DIMS};
pub use index::{assign, index};
pub(crate) use method::is_method;
pub use method::{attribute, dtype_attribute, info_attribute, method};
pub(crate) use random::generator_method;
pub use random::{GeneratorId, HostState};

/// What a function of this module gives.
pub type HostResult<T> = Result<T, HostError>;

/// An argument or a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    Array(HostArray),
    /// A Python `float`: takes the type of the arrays it meets.
    Float(f64),
    /// A Python `int`: takes the type of the arrays it meets.
    Int(i64),
    Bool(bool),
    Str(String),
    /// `None`; as an index a new axis.
    None,
    Dtype(HostDtype),
    List(Vec<Arg>),
    Tuple(Vec<Arg>),
    Slice {
        start: Option<i64>,
        stop: Option<i64>,
        step: Option<i64>,
    },
    Ellipsis,
    /// A function of the module, by its name after `np.`.
    Function(&'static str),
    /// `np.finfo(dtype)` or `np.iinfo(dtype)`.
    Info(HostDtype),
    /// `np.random.RandomState(seed)` or `np.random.default_rng(seed)`.
    Generator(GeneratorId),
}

impl Arg {
    /// What the argument is, for messages.
    pub fn describe(&self) -> String {
        match self {
            Arg::Array(array) => {
                format!(
                    "a {} array of shape {}",
                    array.dtype().name(),
                    error::shape_text(array.shape())
                )
            }
            Arg::Float(value) => format!("the float {value}"),
            Arg::Int(value) => format!("the int {value}"),
            Arg::Bool(value) => format!("the bool {value}"),
            Arg::Str(_) => "a string".into(),
            Arg::None => "None".into(),
            Arg::Dtype(dtype) => format!("the element type {}", dtype.name()),
            Arg::List(items) => format!("a list of {}", items.len()),
            Arg::Tuple(items) => format!("a tuple of {}", items.len()),
            Arg::Slice { .. } => "a slice".into(),
            Arg::Ellipsis => "an ellipsis".into(),
            Arg::Function(name) => format!("the function np.{name}"),
            Arg::Info(dtype) => format!("the limits of {}", dtype.name()),
            Arg::Generator(_) => "a random generator".into(),
        }
    }

    /// A tuple of integers, as `.shape` gives it.
    pub(crate) fn int_tuple(values: impl IntoIterator<Item = usize>) -> Arg {
        Arg::Tuple(values.into_iter().map(|it| Arg::Int(it as i64)).collect())
    }
}

impl From<HostArray> for Arg {
    fn from(array: HostArray) -> Arg {
        Arg::Array(array)
    }
}
