//! What can be wrong with a call to NumPy, and how it is said.
//!
//! Takes the facts of the mistake; gives a code, a message and a help. Knows no place in the source: the evaluator
//! adds the span of the call.

use super::HostDtype;
use crate::limits::limits;

/// One variant per mistake a user can make.
#[derive(Clone, Debug, PartialEq)]
pub enum HostError {
    UnknownFunction {
        name: String,
        near: Option<String>,
    },
    UnknownMethod {
        name: String,
        near: Option<String>,
    },
    UnknownKeyword {
        function: &'static str,
        keyword: String,
        signature: &'static str,
    },
    TooManyArguments {
        function: &'static str,
        given: usize,
        at_most: usize,
        signature: &'static str,
    },
    MissingArgument {
        function: &'static str,
        parameter: &'static str,
        signature: &'static str,
    },
    RepeatedArgument {
        function: &'static str,
        parameter: &'static str,
    },
    WrongType {
        function: &'static str,
        parameter: String,
        wants: &'static str,
        got: String,
    },
    BadValue {
        function: &'static str,
        reason: String,
    },
    NoBroadcast {
        left: Vec<usize>,
        right: Vec<usize>,
    },
    CannotBroadcastTo {
        from: Vec<usize>,
        to: Vec<usize>,
    },
    MatmulShapes {
        left: Vec<usize>,
        right: Vec<usize>,
    },
    JoinShapes {
        function: &'static str,
        first: Vec<usize>,
        other: Vec<usize>,
        axis: usize,
    },
    BadAxis {
        axis: i64,
        n_dims: usize,
    },
    RepeatedAxis {
        axis: i64,
    },
    Reshape {
        from: Vec<usize>,
        to: Vec<i64>,
    },
    NegativeSize {
        size: i64,
    },
    TooLarge {
        shape: Vec<usize>,
    },
    TooManyDims {
        n_dims: usize,
    },
    Ragged {
        first: Vec<usize>,
        other: Vec<usize>,
    },
    IndexOutOfRange {
        index: i64,
        axis: usize,
        size: usize,
    },
    TooManyIndices {
        given: usize,
        shape: Vec<usize>,
    },
    BadIndex {
        got: String,
    },
    MaskShape {
        mask: Vec<usize>,
        shape: Vec<usize>,
    },
    EmptyReduction {
        function: &'static str,
    },
    NotOneElement {
        shape: Vec<usize>,
    },
    Truth {
        shape: Vec<usize>,
    },
    DtypeUnsupported {
        function: String,
        dtype: HostDtype,
    },
    ScalarOutOfRange {
        value: i64,
        dtype: HostDtype,
    },
    NegativeIntegerPower,
    UnknownDtype {
        name: String,
    },
    Einsum {
        subscripts: String,
        reason: String,
    },
}

/// The most dimensions a host array may have.
pub const MAX_DIMS: usize = 32;

impl HostError {
    /// The stable code of the diagnostic.
    pub fn code(&self) -> &'static str {
        match self {
            HostError::UnknownFunction { .. } | HostError::UnknownMethod { .. } => "numpy-unknown-name",
            HostError::UnknownKeyword { .. }
            | HostError::TooManyArguments { .. }
            | HostError::MissingArgument { .. }
            | HostError::RepeatedArgument { .. }
            | HostError::WrongType { .. }
            | HostError::BadValue { .. }
            | HostError::NegativeIntegerPower => "numpy-bad-argument",
            HostError::NoBroadcast { .. }
            | HostError::CannotBroadcastTo { .. }
            | HostError::MatmulShapes { .. }
            | HostError::JoinShapes { .. }
            | HostError::Reshape { .. }
            | HostError::NegativeSize { .. }
            | HostError::Ragged { .. }
            | HostError::Einsum { .. }
            | HostError::EmptyReduction { .. }
            | HostError::NotOneElement { .. }
            | HostError::Truth { .. } => "numpy-shape-mismatch",
            HostError::TooLarge { .. } | HostError::TooManyDims { .. } => "numpy-array-too-large",
            HostError::BadAxis { .. } | HostError::RepeatedAxis { .. } => "numpy-bad-axis",
            HostError::IndexOutOfRange { .. }
            | HostError::TooManyIndices { .. }
            | HostError::BadIndex { .. }
            | HostError::MaskShape { .. } => "numpy-bad-index",
            HostError::DtypeUnsupported { .. }
            | HostError::ScalarOutOfRange { .. }
            | HostError::UnknownDtype { .. } => "numpy-bad-dtype",
        }
    }

    /// What is wrong, with the numbers.
    pub fn message(&self) -> String {
        match self {
            HostError::UnknownFunction { name, .. } => {
                format!("`np.{name}` is not in the NumPy subset of kernel files")
            }
            HostError::UnknownMethod { name, .. } => {
                format!("`.{name}` is not an attribute or method of host arrays")
            }
            HostError::UnknownKeyword {
                function, keyword, ..
            } => {
                format!("`{function}` has no keyword argument `{keyword}`")
            }
            HostError::TooManyArguments {
                function,
                given,
                at_most,
                ..
            } => {
                format!("`{function}` takes at most {at_most} positional arguments, {given} given")
            }
            HostError::MissingArgument {
                function, parameter, ..
            } => {
                format!("`{function}` needs the argument `{parameter}`")
            }
            HostError::RepeatedArgument { function, parameter } => {
                format!("`{function}` is given the argument `{parameter}` twice")
            }
            HostError::WrongType {
                function,
                parameter,
                wants,
                got,
            } => {
                format!("`{parameter}` of `{function}` must be {wants}, got {got}")
            }
            HostError::BadValue { function, reason } => format!("`{function}`: {reason}"),
            HostError::NoBroadcast { left, right } => {
                format!(
                    "shapes {} and {} do not broadcast",
                    shape_text(left),
                    shape_text(right)
                )
            }
            HostError::CannotBroadcastTo { from, to } => {
                format!(
                    "a value of shape {} does not fit shape {}",
                    shape_text(from),
                    shape_text(to)
                )
            }
            HostError::MatmulShapes { left, right } => {
                format!(
                    "shapes {} and {} cannot be multiplied as matrices",
                    shape_text(left),
                    shape_text(right)
                )
            }
            HostError::JoinShapes {
                function,
                first,
                other,
                axis,
            } => format!(
                "`{function}` along axis {axis} of shapes {} and {}, which differ elsewhere",
                shape_text(first),
                shape_text(other)
            ),
            HostError::BadAxis { axis, n_dims } => {
                format!("axis {axis} is out of range for an array of {n_dims} dimensions")
            }
            HostError::RepeatedAxis { axis } => format!("axis {axis} is named twice"),
            HostError::Reshape { from, to } => {
                let count: usize = from.iter().product();
                format!(
                    "an array of shape {} ({count} elements) cannot take the shape {}",
                    shape_text(from),
                    shape_text(to)
                )
            }
            HostError::NegativeSize { size } => format!("a dimension cannot have the negative size {size}"),
            HostError::TooLarge { shape } => {
                format!(
                    "a host array of shape {} has more than {} elements",
                    shape_text(shape),
                    limits().array_elements
                )
            }
            HostError::TooManyDims { n_dims } => {
                format!("a host array has at most {MAX_DIMS} dimensions, {n_dims} asked for")
            }
            HostError::Ragged { first, other } => format!(
                "a nested list must be rectangular, but it has elements of shape {} and of shape {}",
                shape_text(first),
                shape_text(other)
            ),
            HostError::IndexOutOfRange { index, axis, size } => {
                format!("index {index} is out of range for axis {axis} of size {size}")
            }
            HostError::TooManyIndices { given, shape } => {
                format!(
                    "{given} indices into an array of {} dimensions, shape {}",
                    shape.len(),
                    shape_text(shape)
                )
            }
            HostError::BadIndex { got } => format!("{got} cannot index a host array"),
            HostError::MaskShape { mask, shape } => {
                format!(
                    "a boolean mask of shape {} does not match the shape {}",
                    shape_text(mask),
                    shape_text(shape)
                )
            }
            HostError::EmptyReduction { function } => {
                format!("`{function}` of an empty array has no value")
            }
            HostError::NotOneElement { shape } => {
                format!("an array of shape {} is not one number", shape_text(shape))
            }
            HostError::Truth { shape } => {
                format!(
                    "an array of shape {} is neither true nor false",
                    shape_text(shape)
                )
            }
            HostError::DtypeUnsupported { function, dtype } => {
                format!("`{function}` is not defined on {} arrays", dtype.name())
            }
            HostError::ScalarOutOfRange { value, dtype } => {
                format!("the Python integer {value} is out of range for {}", dtype.name())
            }
            HostError::NegativeIntegerPower => {
                "an integer array cannot be raised to a negative integer power".into()
            }
            HostError::UnknownDtype { name } => format!("`{name}` is not an element type"),
            HostError::Einsum { subscripts, reason } => format!("einsum \"{subscripts}\": {reason}"),
        }
    }

    /// The edit that helps, where there is one.
    pub fn help(&self) -> Option<String> {
        match self {
            HostError::UnknownFunction { near: Some(near), .. } => Some(format!("there is `np.{near}`")),
            HostError::UnknownMethod { near: Some(near), .. } => Some(format!("there is `.{near}`")),
            HostError::UnknownKeyword {
                function, signature, ..
            }
            | HostError::TooManyArguments {
                function, signature, ..
            }
            | HostError::MissingArgument {
                function, signature, ..
            } => Some(format!("call it as {function}({signature})")),
            HostError::NoBroadcast { .. } => {
                Some("aligned at the right, two dimensions must be equal or one of them 1".into())
            }
            HostError::MatmulShapes { .. } => Some(
                "the last dimension of the left and the second to last of the right must be equal".into(),
            ),
            HostError::EmptyReduction { .. } => Some("give `initial=`, or check the size first".into()),
            HostError::Truth { .. } => Some("use `.any()` or `.all()`".into()),
            HostError::NegativeIntegerPower => Some("convert first: `x.astype(np.float32)`".into()),
            HostError::ScalarOutOfRange { .. } => Some("convert the array to a wider type first".into()),
            _ => None,
        }
    }
}

/// A shape as Python prints it: `(2, 3)`, `(4,)`, `()`.
pub fn shape_text<T: std::fmt::Display>(shape: &[T]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!(
            "({})",
            shape.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
        ),
    }
}
