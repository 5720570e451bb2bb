//! Functions of the standard library: `math`, `functools`, `operator`.
//!
//! Takes evaluated arguments, gives Python's results; transcendental functions have the same bits on every host.

use super::builtins::required;
use super::error::{Error, Mistake, Result, closest};
use super::eval::{CallArgs, with_article};
use super::library::nc_version;
use super::operate::floor_mod;
use super::value::{Partial, Value};
use super::{Evaluator, host_bridge, itertools, language};
use crate::ast::{BinOp, CmpOp, UnaryOp};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Functions of `math`.
pub const MATH: &[&str] = &[
    "acos",
    "asin",
    "atan",
    "atan2",
    "ceil",
    "comb",
    "copysign",
    "cos",
    "cosh",
    "degrees",
    "erf",
    "exp",
    "fabs",
    "factorial",
    "floor",
    "fmod",
    "gcd",
    "hypot",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isqrt",
    "lcm",
    "log",
    "log10",
    "log1p",
    "log2",
    "pow",
    "prod",
    "radians",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
];

/// Calls a function of a library module.
pub fn call(this: &mut Evaluator<'_>, module: &'static str, name: &Rc<str>, args: CallArgs) -> Result<Value> {
    let span = args.span;
    match (module, &**name) {
        ("numpy", _) => host_bridge::call(this, name, args),
        ("math", _) => math(this, name, args),
        ("nisa", "get_nc_version") => Ok(nc_version()),
        ("nccl", name) => this.with_handle(args, |this, args| this.call_collective(name, args)),
        ("nisa", "core_barrier") => this.core_barrier(args),
        ("nisa", "register_alloc") => this.register_alloc(args),
        ("nisa", _) => Ok(Value::Int(0)),
        ("ncc", "no_reorder") => Ok(Value::Member(&language::NO_REORDER)),
        ("ncc", path) => this.allocation(path, args),
        ("nki", _) => Ok(this.mark_only(&Value::library("nki", name), args)),
        ("nl.constants", "sizeinbytes") => {
            let [dtype] = args.bind(name, ["dtype"], 1)?;
            let dtype = this.device_dtype(&required(dtype), span)?;
            Ok(Value::Int(i64::from(dtype.size())))
        }
        ("functools", "partial") => {
            let mut positional = args.positional.into_iter();
            let callee = positional
                .next()
                .ok_or_else(|| Error::type_error("partial takes a function", span))?;
            let partial = Partial {
                callee,
                args: positional.collect(),
                kwargs: args.keywords,
            };
            Ok(Value::Partial(Rc::new(partial)))
        }
        ("functools", "reduce") => {
            let [callee, items, initial] = args.bind(name, ["function", "iterable", "initial"], 2)?;
            let callee = required(callee);
            let mut items = this.iterate(&required(items), span)?.into_iter();
            let first = initial.or_else(|| items.next());
            let mut total =
                first.ok_or_else(|| Error::type_error("reduce of nothing without an initial value", span))?;
            for item in items {
                total = this.call(&callee, CallArgs::of(vec![total, item], span))?;
            }
            Ok(total)
        }
        // Caches change nothing: kernels are pure.
        ("functools", "cache" | "lru_cache" | "wraps") => Ok(args
            .positional
            .into_iter()
            .next()
            .unwrap_or(Value::library("functools", "cache"))),
        ("operator", _) => operator(this, name, args),
        ("itertools", _) => match itertools::call(this, name, args) {
            Some(items) => items,
            None => Err(Error::unsupported(
                &format!("itertools.{name}"),
                "write the loop",
                span,
            )),
        },
        ("copy", "copy" | "deepcopy") => {
            let [value] = args.bind(name, ["x"], 1)?;
            match &**name {
                "deepcopy" => DeepCopy::default().of(&required(value), span),
                _ => Ok(copy_of(&required(value))),
            }
        }
        ("os", "getenv") => {
            let [_, default] = args.bind(name, ["key", "default"], 1)?;
            Ok(default.unwrap_or(Value::None))
        }
        // Logs and warnings of a kernel's own go nowhere; a logger is its own logger.
        ("logging" | "warnings" | "os" | "sys" | "time", _) => Ok(Value::library("logging", name)),
        ("dataclasses", "replace") => this.replaced(args),
        ("dataclasses", "asdict") => this.as_dict(args),
        ("typing" | "dataclasses" | "enum" | "contextlib" | "abc", _) => {
            Ok(this.mark_only(&Value::library(module, name), args))
        }
        _ => Err(Error::unsupported(
            &format!("{module}.{name}"),
            "write it out in the kernel language",
            span,
        )),
    }
}

/// A copy of a container or an object; what it holds is shared.
fn copy_of(value: &Value) -> Value {
    match value {
        Value::List(it) => Value::list(it.borrow().clone()),
        Value::Dict(it) => Value::Dict(Rc::new(it.borrow().clone().into())),
        Value::Set(it) => Value::Set(Rc::new(it.borrow().clone().into())),
        Value::Array(it) => Value::Array(Rc::new(it.borrow().clone().into())),
        Value::Object(it) if it.key().is_none() => Value::Object(Rc::new(it.copied())),
        value => value.clone(),
    }
}

/// The copies that `copy.deepcopy` has made, by what they are of: what is shared stays shared, and may hold itself.
#[derive(Default)]
struct DeepCopy {
    made: FxHashMap<*const (), Value>,
    depth: usize,
}

impl DeepCopy {
    fn of(&mut self, value: &Value, span: Span) -> Result<Value> {
        let (original, copy): (*const (), Value) = match value {
            Value::Tuple(it) => (Rc::as_ptr(it).cast(), Value::None),
            Value::List(it) => (Rc::as_ptr(it).cast(), Value::list(Vec::new())),
            Value::Dict(it) => (Rc::as_ptr(it).cast(), Value::Dict(Rc::default())),
            Value::Object(it) if it.key().is_none() => {
                (Rc::as_ptr(it).cast(), Value::Object(Rc::new(it.copied())))
            }
            value => return Ok(copy_of(value)),
        };
        if let Some(known) = self.made.get(&original) {
            return Ok(known.clone());
        }
        self.depth += 1;
        if self.depth > MAX_COPY_DEPTH {
            return Err(Error::new(
                Mistake::TooDeep {
                    limit: MAX_COPY_DEPTH,
                },
                span,
            ));
        }
        if !matches!(copy, Value::None) {
            self.made.insert(original, copy.clone());
        }
        let copy = match (value, &copy) {
            (Value::List(from), Value::List(to)) => {
                for item in from.borrow().iter() {
                    let item = self.of(item, span)?;
                    to.borrow_mut().push(item);
                }
                copy
            }
            (Value::Dict(from), Value::Dict(to)) => {
                for (key, value) in from.borrow().entries() {
                    let value = self.of(value, span)?;
                    let hash = key.key().expect("keys of a dict are hashable");
                    to.borrow_mut().insert(hash, key.clone(), value);
                }
                copy
            }
            (Value::Object(from), Value::Object(to)) => {
                for (name, value) in from.fields() {
                    let value = self.of(&value, span)?;
                    to.set(&name, value);
                }
                copy
            }
            (Value::Tuple(from), _) => {
                let items = from.iter().map(|it| self.of(it, span));
                let copy = Value::tuple(items.collect::<Result<_>>()?);
                self.made.insert(original, copy.clone());
                copy
            }
            _ => copy,
        };
        self.depth -= 1;
        Ok(copy)
    }
}

/// Containers are copied so deep in each other; Python gives up at a thousand, too.
const MAX_COPY_DEPTH: usize = 1_000;

fn operator(this: &mut Evaluator<'_>, name: &Rc<str>, args: CallArgs) -> Result<Value> {
    let span = args.span;
    const BINARY: &[(&str, BinOp)] = &[
        ("add", BinOp::Add),
        ("sub", BinOp::Sub),
        ("mul", BinOp::Mul),
        ("truediv", BinOp::Div),
        ("floordiv", BinOp::FloorDiv),
        ("mod", BinOp::Mod),
        ("pow", BinOp::Pow),
        ("matmul", BinOp::MatMul),
        ("and_", BinOp::BitAnd),
        ("or_", BinOp::BitOr),
        ("xor", BinOp::BitXor),
        ("lshift", BinOp::Shl),
        ("rshift", BinOp::Shr),
    ];
    const COMPARE: &[(&str, CmpOp)] = &[
        ("eq", CmpOp::Eq),
        ("ne", CmpOp::Ne),
        ("lt", CmpOp::Lt),
        ("le", CmpOp::Le),
        ("gt", CmpOp::Gt),
        ("ge", CmpOp::Ge),
    ];
    if &**name == "neg" {
        let [value] = args.bind(name, ["a"], 1)?;
        return this.unary(UnaryOp::Neg, &required(value), span);
    }
    let [a, b] = args.bind(name, ["a", "b"], 2)?;
    let (a, b) = (required(a), required(b));
    if let Some((_, op)) = BINARY.iter().find(|it| it.0 == &**name) {
        return this.binary(*op, &a, &b, span);
    }
    if let Some((_, op)) = COMPARE.iter().find(|it| it.0 == &**name) {
        return this.compare(*op, &a, &b, span);
    }
    match &**name {
        "getitem" => this.index(&a, &b, span),
        _ => Err(Error::unsupported(
            &format!("operator.{name}"),
            "use the operator itself",
            span,
        )),
    }
}

fn math(this: &mut Evaluator<'_>, name: &Rc<str>, args: CallArgs) -> Result<Value> {
    let span = args.span;
    let domain = || Error::value_error(format!("math.{name} is not defined there"), span);
    if let "gcd" | "lcm" | "prod" | "comb" | "factorial" | "isqrt" = &**name {
        return integers(this, name, args);
    }
    let [a, b] = args.bind(name, ["x", "y"], 1)?;
    let number = |value: Value| {
        let message = || format!("math.{name} takes numbers, not {}", with_article(value.kind()));
        match &value {
            Value::Array(it) if it.borrow().len() == 1 => Ok(super::eval::first(it)),
            _ => value.as_float().ok_or_else(|| Error::type_error(message(), span)),
        }
    };
    let exact = a.as_ref().and_then(Value::as_int);
    let x = number(required(a))?;
    let second = b.map(&number).transpose()?;
    let y = || second.ok_or_else(|| Error::type_error(format!("math.{name} takes two numbers"), span));
    let whole = |it: f64| {
        if it.abs() < 9.2e18 {
            Ok(Value::Int(it as i64))
        } else {
            Err(domain())
        }
    };
    Ok(Value::Float(match &**name {
        "ceil" | "floor" | "trunc" if exact.is_some() => return Ok(Value::Int(exact.unwrap_or(0))),
        "ceil" => return whole(x.ceil()),
        "floor" => return whole(x.floor()),
        "trunc" => return whole(x.trunc()),
        "isnan" => return Ok(Value::Bool(x.is_nan())),
        "isinf" => return Ok(Value::Bool(x.is_infinite())),
        "isfinite" => return Ok(Value::Bool(x.is_finite())),
        "isclose" => return Ok(Value::Bool((x - y()?).abs() <= 1e-9 * x.abs().max(y()?.abs()))),
        "sqrt" if x < 0.0 => return Err(domain()),
        "sqrt" => x.sqrt(),
        "log" | "log2" | "log10" if x <= 0.0 => return Err(domain()),
        "log" => match second {
            Some(base) => libm::log(x) / libm::log(base),
            None => libm::log(x),
        },
        "log2" => libm::log2(x),
        "log10" => libm::log10(x),
        "log1p" => libm::log1p(x),
        "exp" => libm::exp(x),
        "pow" => libm::pow(x, y()?),
        "fmod" => libm::fmod(x, y()?),
        "atan2" => libm::atan2(x, y()?),
        "hypot" => libm::hypot(x, y()?),
        "copysign" => x.copysign(y()?),
        "fabs" => x.abs(),
        "sin" => libm::sin(x),
        "cos" => libm::cos(x),
        "tan" => libm::tan(x),
        "asin" => libm::asin(x),
        "acos" => libm::acos(x),
        "atan" => libm::atan(x),
        "sinh" => libm::sinh(x),
        "cosh" => libm::cosh(x),
        "tanh" => libm::tanh(x),
        "erf" => libm::erf(x),
        "degrees" => x.to_degrees(),
        "radians" => x.to_radians(),
        _ => {
            let suggestion = closest(name, MATH.iter().copied());
            return Err(Error::new(
                Mistake::NoAttribute {
                    of: "math".to_string(),
                    name: name.clone(),
                    suggestion,
                },
                span,
            ));
        }
    }))
}

fn integers(this: &mut Evaluator<'_>, name: &Rc<str>, args: CallArgs) -> Result<Value> {
    let span = args.span;
    if &**name == "prod" {
        let [items, start] = args.bind(name, ["iterable", "start"], 1)?;
        let mut total = start.unwrap_or(Value::Int(1));
        for item in this.iterate(&required(items), span)? {
            total = this.binary(BinOp::Mul, &total, &item, span)?;
        }
        return Ok(total);
    }
    let numbers: Option<Vec<i64>> = args.positional.iter().map(Value::as_int).collect();
    let numbers = numbers.ok_or_else(|| Error::type_error(format!("math.{name} takes ints"), span))?;
    let overflow = || Error::value_error(format!("math.{name} of these is no 64-bit integer"), span);
    fn gcd(a: i64, b: i64) -> Option<i64> {
        if b == 0 {
            a.checked_abs()
        } else {
            gcd(b, floor_mod(a, b)?)
        }
    }
    let result = match (&**name, numbers.as_slice()) {
        ("gcd", all) => all.iter().try_fold(0, |a, &b| gcd(a, b)),
        ("lcm", all) => all.iter().try_fold(1i64, |a, &b| {
            if a == 0 || b == 0 {
                Some(0)
            } else {
                (a / gcd(a, b)?).checked_mul(b)?.checked_abs()
            }
        }),
        ("isqrt", [n]) if *n >= 0 => Some(n.isqrt()),
        ("factorial", [n]) if *n >= 0 => (1..=*n).try_fold(1i64, |a, b| a.checked_mul(b)),
        ("comb", [n, k]) if *k > *n && *n >= 0 => Some(0),
        // As many ways to choose as to leave out: the shorter product has no more than 62 factors before it overflows.
        ("comb", [n, k]) if *k >= 0 => {
            let k = (*k).min(n - k);
            (1..=k)
                .try_fold(1i128, |a, it| {
                    let next = a * i128::from(n - k + it) / i128::from(it);
                    (next <= i128::from(i64::MAX)).then_some(next)
                })
                .and_then(|it| i64::try_from(it).ok())
        }
        _ => {
            return Err(Error::value_error(
                format!("math.{name} takes other arguments"),
                span,
            ));
        }
    };
    result.map(Value::Int).ok_or_else(overflow)
}
