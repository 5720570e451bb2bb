//! Binds the arguments of a call to the parameters of a signature.
//!
//! Takes a signature such as `a, axis=, *, keepdims=` (a parameter with `=` may be left out, `*` starts the
//! keyword-only ones, `*shape` takes any number), gives typed getters by parameter name. Never computes.

use super::array::{check_size, resolve_axes, resolve_axis};
use super::create::to_array;
use super::elementwise::Operand;
use super::{Arg, HostArray, HostDtype, HostError, HostResult};

/// A bound call.
pub struct Call<'a> {
    pub function: &'static str,
    signature: &'static str,
    values: Vec<(&'static str, Option<&'a Arg>)>,
    /// What `*name` took.
    pub rest: &'a [Arg],
}

fn parameters(signature: &'static str) -> impl Iterator<Item = &'static str> {
    signature.split(',').map(str::trim).filter(|it| !it.is_empty())
}

/// Binds, or says which argument is one too many, unknown or missing.
pub fn bind<'a>(
    function: &'static str,
    signature: &'static str,
    args: &'a [Arg],
    kwargs: &'a [(String, Arg)],
) -> HostResult<Call<'a>> {
    let mut call = Call {
        function,
        signature,
        values: Vec::new(),
        rest: &[],
    };
    let mut given = args.iter();
    let mut positional = true;
    for parameter in parameters(signature) {
        if let Some(rest) = parameter.strip_prefix('*') {
            if !rest.is_empty() {
                call.rest = given.as_slice();
                given = [].iter();
            }
            positional = false;
            continue;
        }
        let value = if positional { given.next() } else { None };
        call.values.push((parameter.trim_end_matches('='), value));
    }
    if !given.as_slice().is_empty() {
        let at_most = args.len() - given.len();
        return Err(HostError::TooManyArguments {
            function,
            given: args.len(),
            at_most,
            signature,
        });
    }
    for (keyword, value) in kwargs {
        let Some(slot) = call.values.iter_mut().find(|it| it.0 == keyword) else {
            return Err(HostError::UnknownKeyword {
                function,
                keyword: keyword.clone(),
                signature,
            });
        };
        if slot.1.replace(value).is_some() {
            return Err(HostError::RepeatedArgument {
                function,
                parameter: slot.0,
            });
        }
    }
    for parameter in parameters(signature).filter(|it| !it.ends_with('=') && !it.starts_with('*')) {
        call.need(parameter)?;
    }
    Ok(call)
}

impl<'a> Call<'a> {
    /// The argument, unless it was left out.
    pub fn given(&self, name: &str) -> Option<&'a Arg> {
        let slot = self.values.iter().find(|it| it.0 == name);
        slot.expect("functions ask for parameters that their signature lists")
            .1
    }

    /// The argument, unless it was left out or is `None`.
    pub fn opt(&self, name: &str) -> Option<&'a Arg> {
        self.given(name).filter(|it| **it != Arg::None)
    }

    pub fn need(&self, name: &'static str) -> HostResult<&'a Arg> {
        let missing = HostError::MissingArgument {
            function: self.function,
            parameter: name,
            signature: self.signature,
        };
        self.given(name).ok_or(missing)
    }

    pub fn wrong(&self, name: &str, wants: &'static str, got: &Arg) -> HostError {
        HostError::WrongType {
            function: self.function,
            parameter: name.into(),
            wants,
            got: got.describe(),
        }
    }

    pub fn bad(&self, reason: impl Into<String>) -> HostError {
        HostError::BadValue {
            function: self.function,
            reason: reason.into(),
        }
    }

    /// An array, or what converts to one.
    pub fn array(&self, name: &'static str) -> HostResult<HostArray> {
        self.to_array(name, self.need(name)?)
    }

    /// Like [`Call::array`], of a parameter that may be left out.
    pub fn opt_array(&self, name: &'static str) -> HostResult<Option<HostArray>> {
        self.opt(name).map(|it| self.to_array(name, it)).transpose()
    }

    fn to_array(&self, name: &str, arg: &Arg) -> HostResult<HostArray> {
        to_array(arg).map_err(|error| match error {
            HostError::WrongType { got, .. } => HostError::WrongType {
                function: self.function,
                parameter: name.into(),
                wants: "an array or a number",
                got,
            },
            other => other,
        })
    }

    /// An array or a Python number that adapts to the arrays it meets.
    pub fn operand(&self, name: &'static str) -> HostResult<Operand> {
        let arg = self.need(name)?;
        Ok(Operand::new(self.to_array(name, arg)?, arg))
    }

    /// A sequence of arrays; an array counts as the sequence of its rows.
    pub fn arrays(&self, name: &'static str) -> HostResult<Vec<HostArray>> {
        match self.need(name)? {
            Arg::List(items) | Arg::Tuple(items) => items.iter().map(|it| self.to_array(name, it)).collect(),
            Arg::Array(array) if array.n_dims() > 0 => {
                let rows = array.view();
                Ok(rows
                    .outer_iter()
                    .map(|it| HostArray::from_exact(it.to_owned(), array.dtype()))
                    .collect())
            }
            other => Err(self.wrong(name, "a list or tuple of arrays", other)),
        }
    }

    pub fn int(&self, name: &'static str) -> HostResult<i64> {
        let arg = self.need(name)?;
        as_int(arg).ok_or_else(|| self.wrong(name, "an integer", arg))
    }

    pub fn int_or(&self, name: &'static str, default: i64) -> HostResult<i64> {
        if self.opt(name).is_none() {
            Ok(default)
        } else {
            self.int(name)
        }
    }

    /// An integer of at least 0.
    pub fn size_or(&self, name: &'static str, default: usize) -> HostResult<usize> {
        let size = self.int_or(name, default as i64)?;
        usize::try_from(size).map_err(|_| HostError::NegativeSize { size })
    }

    pub fn float(&self, name: &'static str) -> HostResult<f64> {
        let arg = self.need(name)?;
        as_float(arg).ok_or_else(|| self.wrong(name, "a number", arg))
    }

    pub fn float_or(&self, name: &'static str, default: f64) -> HostResult<f64> {
        if self.opt(name).is_none() {
            Ok(default)
        } else {
            self.float(name)
        }
    }

    pub fn flag(&self, name: &'static str) -> HostResult<bool> {
        match self.opt(name) {
            None => Ok(false),
            Some(Arg::Bool(value)) => Ok(*value),
            Some(arg) => as_int(arg)
                .map(|it| it != 0)
                .ok_or_else(|| self.wrong(name, "True or False", arg)),
        }
    }

    pub fn text_or(&self, name: &'static str, default: &'static str) -> HostResult<&'a str> {
        match self.opt(name) {
            None => Ok(default),
            Some(Arg::Str(text)) => Ok(text),
            Some(other) => Err(self.wrong(name, "a string", other)),
        }
    }

    pub fn dtype(&self, name: &'static str) -> HostResult<Option<HostDtype>> {
        self.opt(name).map(|it| to_dtype(self, name, it)).transpose()
    }

    /// A result in the type that `dtype=` names, if it names one.
    pub fn cast(&self, array: HostArray) -> HostResult<Arg> {
        Ok(match self.dtype("dtype")? {
            Some(dtype) => array.astype(dtype).into(),
            None => array.into(),
        })
    }

    /// One integer or a sequence of them.
    pub fn ints(&self, name: &'static str) -> HostResult<Vec<i64>> {
        let arg = self.need(name)?;
        as_ints(arg).ok_or_else(|| self.wrong(name, "an integer or a tuple of integers", arg))
    }

    /// A shape that an array may have.
    pub fn shape(&self, name: &'static str) -> HostResult<Vec<usize>> {
        to_shape(&self.ints(name)?)
    }

    pub fn axis_or(&self, name: &'static str, default: i64, n_dims: usize) -> HostResult<usize> {
        resolve_axis(self.int_or(name, default)?, n_dims)
    }

    /// One axis; `None` stands for the flattened array.
    pub fn opt_axis(&self, name: &'static str, n_dims: usize) -> HostResult<Option<usize>> {
        self.opt(name).map(|_| self.axis_or(name, 0, n_dims)).transpose()
    }

    /// The axes a reduction runs over: all of them unless named.
    pub fn axes(&self, name: &'static str, n_dims: usize) -> HostResult<Vec<usize>> {
        match self.opt(name) {
            None => Ok((0..n_dims).collect()),
            Some(_) => resolve_axes(&self.ints(name)?, n_dims),
        }
    }
}

/// Sizes that are not negative, and not too many elements.
pub fn to_shape(sizes: &[i64]) -> HostResult<Vec<usize>> {
    let to_size = |&size: &i64| usize::try_from(size).map_err(|_| HostError::NegativeSize { size });
    let shape = sizes.iter().map(to_size).collect::<HostResult<Vec<usize>>>()?;
    check_size(&shape)?;
    Ok(shape)
}

fn to_dtype(call: &Call, name: &str, arg: &Arg) -> HostResult<HostDtype> {
    match arg {
        Arg::Dtype(dtype) => Ok(*dtype),
        Arg::Str(text) => {
            HostDtype::from_name(text).ok_or_else(|| HostError::UnknownDtype { name: text.clone() })
        }
        Arg::Array(array) => Ok(array.dtype()),
        other => Err(call.wrong(name, "an element type", other)),
    }
}

/// An integer, from a Python number or an array of one integer.
pub fn as_int(arg: &Arg) -> Option<i64> {
    match arg {
        Arg::Int(value) => Some(*value),
        Arg::Bool(value) => Some(i64::from(*value)),
        Arg::Array(array) if !array.dtype().is_float() => array.item().ok().and_then(|it| as_int(&it)),
        _ => None,
    }
}

/// A number, from a Python number or an array of one element.
pub fn as_float(arg: &Arg) -> Option<f64> {
    match arg {
        Arg::Float(value) => Some(*value),
        Arg::Int(value) => Some(*value as f64),
        Arg::Bool(value) => Some(f64::from(u8::from(*value))),
        Arg::Array(array) => array.item().ok().and_then(|it| as_float(&it)),
        _ => None,
    }
}

/// An integer or a sequence of integers.
pub fn as_ints(arg: &Arg) -> Option<Vec<i64>> {
    match arg {
        Arg::List(items) | Arg::Tuple(items) => items.iter().map(as_int).collect(),
        Arg::Array(array) if array.n_dims() == 1 && !array.dtype().is_float() => {
            Some(array.to_vec().iter().map(|it| *it as i64).collect())
        }
        _ => as_int(arg).map(|it| vec![it]),
    }
}
