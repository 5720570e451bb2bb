//! The bridge to host arrays: values of the language to arguments of the NumPy subset, and back.
//!
//! Takes values, calls `crate::host`, wraps what it says is wrong. Never computes anything itself.

use super::Evaluator;
use super::builtins::required;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::operate::bounded;
use super::value::{Module, Value};
use crate::ast::{BinOp, CmpOp, UnaryOp};
use crate::host::{self, Arg, HostArray, HostDtype, HostResult};
use crate::source::Span;
use std::cell::RefCell;
use std::rc::Rc;

/// An array as the language holds it: every name that holds it sees a change.
pub type ArrayRef = Rc<RefCell<HostArray>>;

fn wrap<T>(result: HostResult<T>, span: Span) -> Result<T> {
    result.map_err(|error| {
        let (code, message, help) = (error.code(), error.message(), error.help());
        Error::new(Mistake::Host { code, message, help }, span)
    })
}

/// Sequences in each other become an array so deep; NumPy gives up at 64 dimensions, too.
const MAX_NESTING: usize = 64;

pub fn to_arg(value: &Value, span: Span) -> Result<Arg> {
    nested_arg(value, MAX_NESTING, span)
}

/// The argument in a value in which sequences may stand `levels` deep in each other.
fn nested_arg(value: &Value, levels: usize, span: Span) -> Result<Arg> {
    let many = |items: &[Value]| {
        let Some(levels) = levels.checked_sub(1) else {
            let message = format!("sequences are more than {MAX_NESTING} deep in each other");
            return Err(Error::value_error(message, span));
        };
        items
            .iter()
            .map(|it| nested_arg(it, levels, span))
            .collect::<Result<Vec<_>>>()
    };
    Ok(match value {
        Value::None => Arg::None,
        Value::Bool(it) => Arg::Bool(*it),
        Value::Int(it) => Arg::Int(*it),
        Value::Float(it) => Arg::Float(*it),
        Value::Str(it) => Arg::Str(it.to_string()),
        Value::Ellipsis => Arg::Ellipsis,
        Value::Tuple(it) => Arg::Tuple(many(it)?),
        Value::List(it) => Arg::List(many(&it.borrow())?),
        Value::Range(it) => {
            bounded(usize::try_from(it.len()).unwrap_or(usize::MAX), span)?;
            Arg::List((0..it.len()).map(|idx| Arg::Int(it.get(idx))).collect())
        }
        Value::Slice(it) => Arg::Slice {
            start: bound(&it.start, span)?,
            stop: bound(&it.stop, span)?,
            step: bound(&it.step, span)?,
        },
        Value::Dtype(it) => Arg::Dtype(HostDtype::from(*it)),
        Value::Builtin("float") => Arg::Dtype(HostDtype::F64),
        Value::Builtin("int") => Arg::Dtype(HostDtype::I64),
        Value::Builtin("bool") => Arg::Dtype(HostDtype::Bool),
        Value::Array(it) => Arg::Array(it.borrow().clone()),
        Value::Host(it) => (**it).clone(),
        Value::Library(it) if it.module == "numpy" => match host::function(&it.name) {
            Some(name) => Arg::Function(name),
            None => {
                return Err(Error::type_error(
                    format!("np.{} cannot be an argument here", it.name),
                    span,
                ));
            }
        },
        _ => {
            let message = format!(
                "{} cannot be an argument of a NumPy function",
                with_article(value.kind())
            );
            let code = "type-error";
            let help = matches!(value, Value::Tensor(_)).then(|| {
                "NumPy computes at compile time, without the elements of tensors; use the function of nl, or an instruction \
                 of nisa"
                    .to_string()
            });
            return Err(Error::new(Mistake::Host { code, message, help }, span));
        }
    })
}

fn bound(value: &Value, span: Span) -> Result<Option<i64>> {
    match value {
        Value::None => Ok(None),
        _ => super::tensor::int(value, "the bound of a slice", span).map(Some),
    }
}

pub fn from_arg(arg: Arg) -> Value {
    match arg {
        Arg::Array(it) => Value::Array(Rc::new(RefCell::new(it))),
        Arg::Float(it) => Value::Float(it),
        Arg::Int(it) => Value::Int(it),
        Arg::Bool(it) => Value::Bool(it),
        Arg::Str(it) => Value::str(it),
        Arg::None => Value::None,
        Arg::Dtype(it) => match it.device() {
            Some(dtype) => Value::Dtype(dtype),
            None => Value::Host(Rc::new(Arg::Dtype(it))),
        },
        Arg::List(items) => Value::list(items.into_iter().map(from_arg).collect()),
        Arg::Tuple(items) => Value::tuple(items.into_iter().map(from_arg).collect()),
        Arg::Slice { start, stop, step } => {
            let value = |it: Option<i64>| it.map_or(Value::None, Value::Int);
            Value::slice(value(start), value(stop), value(step))
        }
        Arg::Ellipsis => Value::Ellipsis,
        Arg::Function(name) => Value::library("numpy", name),
        other @ (Arg::Info(_) | Arg::Generator(_)) => Value::Host(Rc::new(other)),
    }
}

type HostArgs = (Vec<Arg>, Vec<(String, Arg)>);

fn host_args(args: &CallArgs) -> Result<HostArgs> {
    let positional = args
        .positional
        .iter()
        .map(|it| to_arg(it, args.span))
        .collect::<Result<_>>()?;
    let keyword = |it: &(Rc<str>, Value)| Ok((it.0.to_string(), to_arg(&it.1, args.span)?));
    Ok((
        positional,
        args.keywords.iter().map(keyword).collect::<Result<_>>()?,
    ))
}

/// A member of `numpy`, `numpy.random`, `numpy.linalg` or `scipy.special`.
pub fn member(module: &Module, name: &Rc<str>, span: Span) -> Result<Value> {
    let part = match module {
        Module::NumpyPart(part) => Some(*part),
        _ => None,
    };
    match (part, &**name) {
        (None, "random") => return Ok(Value::Module(Module::NumpyPart("random"))),
        (None, "linalg") => return Ok(Value::Module(Module::NumpyPart("linalg"))),
        (None, "ndarray" | "dtype" | "generic") => return Ok(Value::library("numpy", name)),
        // Every name of np.random is looked up when it is called, as its functions keep state.
        (Some("random"), _) => return Ok(Value::library("numpy", format!("random.{name}"))),
        _ => {}
    }
    let full: Rc<str> = match part {
        Some(part) => format!("{part}.{name}").into(),
        None => name.clone(),
    };
    if let Some(it) = host::constant(&full) {
        return Ok(from_arg(it));
    }
    if host::function(&full).is_some() {
        return Ok(Value::library("numpy", full));
    }
    let of = part.map_or("numpy".to_string(), |it| format!("numpy.{it}"));
    let known: Vec<&str> = host::names().collect();
    Err(super::builtins::no_attribute(of, name, known.into_iter(), span))
}

/// An attribute of a NumPy function used as a value: `np.add.reduce`.
pub fn part_attribute(part: &str, name: &Rc<str>, _span: Span) -> Result<Value> {
    Ok(Value::library("numpy", format!("{part}.{name}")))
}

/// Calls `np.NAME`.
pub fn call(this: &mut Evaluator<'_>, name: &Rc<str>, args: CallArgs) -> Result<Value> {
    let span = args.span;
    if &**name == "dtype" {
        let [value] = args.bind("np.dtype", ["dtype"], 1)?;
        return match required(value) {
            value @ (Value::Dtype(_) | Value::Host(_)) => Ok(value),
            value => this.dtype_of(&value, span).map(Value::Dtype),
        };
    }
    let (positional, keywords) = host_args(&args)?;
    wrap(host::call(name, &positional, &keywords, &mut this.host), span).map(from_arg)
}

/// Calls a NumPy function with evaluated arguments.
pub fn function(name: &str, args: Vec<Value>, span: Span, this: &mut Evaluator<'_>) -> Result<Value> {
    call(this, &name.into(), CallArgs::of(args, span))
}

pub fn method(this: &mut Evaluator<'_>, array: &ArrayRef, name: &str, args: CallArgs) -> Result<Value> {
    let (positional, keywords) = host_args(&args)?;
    let mut own = array.borrow().clone();
    let result = wrap(
        host::method(&mut own, name, &positional, &keywords, &mut this.host),
        args.span,
    )?;
    *array.borrow_mut() = own;
    Ok(from_arg(result))
}

/// A method of a generator, or a call of something else that NumPy returned.
pub fn other_method(this: &mut Evaluator<'_>, it: &Arg, name: &str, args: CallArgs) -> Result<Value> {
    let (positional, keywords) = host_args(&args)?;
    match it {
        Arg::Generator(id) => {
            let result = host::generator_method(*id, name, &positional, &keywords, &mut this.host);
            wrap(result, args.span).map(from_arg)
        }
        Arg::Dtype(dtype) if name == "type" => {
            let result = host::call(
                "asarray",
                &positional,
                &[("dtype".to_string(), Arg::Dtype(*dtype))],
                &mut this.host,
            );
            wrap(result, args.span).map(from_arg)
        }
        _ => Err(Error::type_error(
            format!("{} has no method `{name}`", it.describe()),
            args.span,
        )),
    }
}

pub fn attribute(array: &ArrayRef, name: &Rc<str>, span: Span) -> Result<Value> {
    if host::is_method(name) {
        return Ok(Value::Method(Rc::new((
            Value::Array(array.clone()),
            name.clone(),
        ))));
    }
    wrap(host::attribute(&array.borrow(), name), span).map(from_arg)
}

pub fn other_attribute(it: &Rc<Arg>, name: &Rc<str>, span: Span) -> Result<Value> {
    match &**it {
        Arg::Info(dtype) => wrap(host::info_attribute(*dtype, name), span).map(from_arg),
        Arg::Dtype(dtype) => wrap(host::dtype_attribute(*dtype, name), span).map(from_arg),
        _ => Ok(Value::Method(Rc::new((Value::Host(it.clone()), name.clone())))),
    }
}

fn keys(index: &Value, span: Span) -> Result<Vec<Arg>> {
    match index {
        Value::Tuple(items) => items.iter().map(|it| to_arg(it, span)).collect(),
        index => Ok(vec![to_arg(index, span)?]),
    }
}

pub fn index(array: &ArrayRef, index: &Value, span: Span) -> Result<Value> {
    let found = wrap(host::index(&array.borrow(), &keys(index, span)?), span)?;
    if found.n_dims() == 0 {
        return wrap(found.item(), span).map(from_arg);
    }
    Ok(from_arg(Arg::Array(found)))
}

pub fn store(array: &ArrayRef, index: &Value, item: &Value, span: Span) -> Result<()> {
    let (keys, item) = (keys(index, span)?, to_arg(item, span)?);
    wrap(host::assign(&mut array.borrow_mut(), &keys, &item), span)
}

pub fn binary(op: BinOp, left: &Value, right: &Value, span: Span) -> Result<Value> {
    wrap(
        host::binary(op, &to_arg(left, span)?, &to_arg(right, span)?),
        span,
    )
    .map(from_arg)
}

pub fn compare(op: CmpOp, left: &Value, right: &Value, span: Span) -> Result<Value> {
    wrap(
        host::compare(op, &to_arg(left, span)?, &to_arg(right, span)?),
        span,
    )
    .map(from_arg)
}

pub fn unary(op: UnaryOp, value: &Value, span: Span) -> Result<Value> {
    wrap(host::unary(op, &to_arg(value, span)?), span).map(from_arg)
}

/// `np.float32(x)`: a number rounded to the type, or an array of it.
pub fn cast_scalar(this: &mut Evaluator<'_>, dtype: HostDtype, args: CallArgs) -> Result<Value> {
    let span = args.span;
    let [value] = args.bind(dtype.name(), ["x"], 1)?;
    let arg = to_arg(&required(value), span)?;
    let made = host::call(
        "asarray",
        &[arg],
        &[("dtype".to_string(), Arg::Dtype(dtype))],
        &mut this.host,
    );
    match wrap(made, span)? {
        // Integers count and index like any other int; a float keeps its type for the arithmetic it meets.
        Arg::Array(it) if it.n_dims() == 0 && dtype.int_range().is_some() => {
            wrap(it.item(), span).map(from_arg)
        }
        other => Ok(from_arg(other)),
    }
}
