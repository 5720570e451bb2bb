//! Modules that exist without a file: `nki`, `nki.language`, `nki.isa`, `numpy`, and parts of the standard library.
//!
//! Takes dotted names, gives values; takes calls of `math`, `functools` and `operator`, gives their results.

use super::builtins::{no_attribute, required};
use super::error::{Error, Mistake, Result, closest};
use super::eval::{CallArgs, with_article};
use super::operate::floor_mod;
use super::value::{Member, Module, Partial, REGIONS, Value};
use super::{Evaluator, host_bridge, language};
use crate::ast::{BinOp, CmpOp, UnaryOp};
use crate::dtype::{DTYPES, Dtype};
use crate::isa::{ACT_FNS, ALU_OPS, ENGINES, Op, REDUCE_CMDS, ROWS};
use crate::source::Span;
use std::rc::Rc;

/// The value of a dotted import, if the module is one of ours.
pub fn module(path: &[&str]) -> Option<Value> {
    let path: Vec<&str> = match path {
        ["neuronxcc", rest @ ..] => rest.to_vec(),
        path => path.to_vec(),
    };
    let module = match path.as_slice() {
        ["nki"] => Module::Nki,
        ["nki", "language"] => Module::Language,
        ["nki", "isa"] => Module::Isa,
        ["nki", "typing"] => Module::Typing,
        ["numpy"] => Module::Numpy,
        ["numpy", "random"] => Module::NumpyPart("random"),
        ["numpy", "linalg"] => Module::NumpyPart("linalg"),
        ["scipy", "special"] => Module::NumpyPart("special"),
        ["ml_dtypes"] => Module::Library("ml_dtypes"),
        [name] => {
            let known = [
                "math",
                "functools",
                "operator",
                "typing",
                "dataclasses",
                "enum",
                "collections",
                "itertools",
            ];
            Module::Library(known.iter().find(|it| *it == name)?)
        }
        _ => return None,
    };
    Some(Value::Module(module))
}

macro_rules! enumerations {
    ($( $kind:ident { $($name:ident $value:literal),* } )*) => {
        /// Enumerations of `nki.isa` with their members.
        const ENUMERATIONS: &[(&str, &[Member])] = &[
            $( (stringify!($kind), &[$( Member { kind: stringify!($kind), name: stringify!($name), value: $value } ),*]) ),*
        ];
    };
}

enumerations! {
    engine { unknown 0, tensor 1, scalar 2, gpsimd 3, dma 4, vector 5, sync 6 }
    reduce_cmd { idle 0, reset 1, reduce 2, reset_reduce 3, load_reduce 4 }
    dge_mode { unknown 0, swdge 1, hwdge 2, none 3 }
    oob_mode { error 0, skip 1 }
    matmul_perf_mode { none 0, double_row 1 }
    nc_version { gen2 2, gen3 3, gen4 4 }
    dma_engine { dma 1, gpsimd_dma 2 }
}

/// Instructions that NeuronCore-v2 does not have, with the generation that does.
const NEWER: &[(&str, &str)] = &[
    ("activate2", "NeuronCore-v4"),
    ("core_barrier", "NeuronCore-v3"),
    ("exponential", "NeuronCore-v4"),
    ("nc_matmul_mx", "NeuronCore-v4"),
    ("nonzero_with_count", "NeuronCore-v3"),
    ("quantize_mx", "NeuronCore-v4"),
    ("rand2", "NeuronCore-v4"),
    ("rand_get_state", "NeuronCore-v3"),
    ("rand_set_state", "NeuronCore-v3"),
    ("range_select", "NeuronCore-v3"),
    ("sendrecv", "NeuronCore-v3"),
    ("topk", "NeuronCore-v3"),
];

/// dtypes of `nki.language` that NeuronCore-v2 does not have.
const NEWER_DTYPES: &[(&str, &str)] = &[
    ("float8_e4m3fn", "NeuronCore-v3"),
    ("float8_e8m0fnu", "NeuronCore-v4"),
    ("float8_e5m2_x4", "NeuronCore-v4"),
    ("float8_e4m3fn_x4", "NeuronCore-v4"),
    ("float4_e2m1fn_x4", "NeuronCore-v4"),
];

fn enum_member(kind: &str, name: &str) -> Option<Value> {
    let members = ENUMERATIONS.iter().find(|it| it.0 == kind)?.1;
    members.iter().find(|it| it.name == name).map(Value::Member)
}

/// An attribute of one of our modules; those of NKI's are looked up once.
pub fn member(this: &mut Evaluator<'_>, module: &Module, name: &Rc<str>, span: Span) -> Result<Value> {
    let cache = match module {
        Module::Language => 0,
        Module::Isa => 1,
        Module::TileSize => 2,
        _ => return find_member(this, module, name, span),
    };
    if let Some(value) = this.members[cache].get(name) {
        return Ok(value.clone());
    }
    let value = find_member(this, module, name, span)?;
    this.members[cache].insert(name.clone(), value.clone());
    Ok(value)
}

fn find_member(this: &mut Evaluator<'_>, module: &Module, name: &Rc<str>, span: Span) -> Result<Value> {
    match module {
        Module::Nki => Ok(match &**name {
            "language" => Value::Module(Module::Language),
            "isa" => Value::Module(Module::Isa),
            "typing" => Value::Module(Module::Typing),
            _ => Value::library("nki", name),
        }),
        Module::Typing => Ok(Value::library("nki", name)),
        Module::Language => language_member(name, span),
        Module::Isa => isa_member(name, span),
        Module::TileSize => tile_size(this, name, span),
        Module::Enumeration(kind) => enum_member(kind, name).ok_or_else(|| {
            let members = ENUMERATIONS
                .iter()
                .find(|it| it.0 == *kind)
                .map_or(&[][..], |it| it.1);
            no_attribute(
                format!("nisa.{kind}"),
                name,
                members.iter().map(|it| it.name),
                span,
            )
        }),
        Module::Numpy | Module::NumpyPart(_) => host_bridge::member(module, name, span),
        Module::Library("math") => match &**name {
            "pi" => Ok(Value::Float(std::f64::consts::PI)),
            "e" => Ok(Value::Float(std::f64::consts::E)),
            "tau" => Ok(Value::Float(std::f64::consts::TAU)),
            "inf" => Ok(Value::Float(f64::INFINITY)),
            "nan" => Ok(Value::Float(f64::NAN)),
            it if MATH.contains(&it) => Ok(Value::library("math", name)),
            _ => Err(no_attribute("math".to_string(), name, MATH.iter().copied(), span)),
        },
        Module::Library("ml_dtypes") => match Dtype::from_name(name) {
            Some(it) => Ok(Value::Dtype(it)),
            None => Err(no_attribute(
                "ml_dtypes".to_string(),
                name,
                DTYPES.iter().map(|it| it.2),
                span,
            )),
        },
        Module::Library(library) => Ok(Value::library(library, name)),
        Module::File(_) => Err(no_attribute(
            "the module".to_string(),
            name,
            std::iter::empty(),
            span,
        )),
    }
}

fn language_member(name: &Rc<str>, span: Span) -> Result<Value> {
    if name.as_ref() == "tile_size" {
        return Ok(Value::Module(Module::TileSize));
    }
    if let Some((region, _)) = REGIONS.iter().find(|it| it.1 == &**name) {
        return Ok(Value::Buffer(*region));
    }
    let aliases = [
        ("bool", Dtype::Bool),
        ("fp32", Dtype::F32),
        ("float8e4", Dtype::F8e4m3),
        ("float8e5", Dtype::F8e5m2),
    ];
    if let Some(it) = DTYPES.iter().find(|it| it.2 == &**name).map(|it| it.0) {
        return Ok(Value::Dtype(it));
    }
    if let Some((_, it)) = aliases.iter().find(|it| it.0 == &**name) {
        return Ok(Value::Dtype(*it));
    }
    if let Some((what, since)) = NEWER_DTYPES.iter().find(|it| it.0 == &**name) {
        let help = "use bfloat16, or float8_e4m3 (largest value 240)".to_string();
        return Err(Error::new(
            Mistake::NewerOnly {
                what: format!("nl.{what}"),
                since,
                help,
            },
            span,
        ));
    }
    let functions = language::NAMES.iter().copied();
    let operators = ALU_OPS
        .iter()
        .map(|it| it.name)
        .chain(ACT_FNS.iter().map(|it| it.name));
    let aliases = ALU_OPS.iter().flat_map(|it| it.aliases.iter().copied());
    let mut known = functions.chain(operators).chain(aliases);
    if let Some(it) = known.clone().find(|it| *it == &**name) {
        return Ok(Value::Nl(it));
    }
    if let Some((what, since, help)) = language::NEWER.iter().find(|it| it.0 == &**name) {
        let (what, help) = (format!("nl.{what}"), help.to_string());
        return Err(Error::new(Mistake::NewerOnly { what, since, help }, span));
    }
    Err(no_attribute("nki.language".to_string(), name, &mut known, span))
}

fn isa_member(name: &Rc<str>, span: Span) -> Result<Value> {
    if let Some(op) = Op::from_name(name) {
        return Ok(Value::Isa(op));
    }
    if let Some((kind, _)) = ENUMERATIONS.iter().find(|it| it.0 == &**name) {
        return Ok(Value::Module(Module::Enumeration(kind)));
    }
    if let Some(engine) = name.strip_suffix("_engine")
        && let Some(it) = enum_member("engine", engine)
    {
        return Ok(it);
    }
    if matches!(&**name, "get_nc_version" | "get_nc_sub_version") {
        return Ok(Value::library("nisa", name));
    }
    if let Some((what, since)) = NEWER.iter().find(|it| it.0 == &**name) {
        let help = "use the instructions that `nk isa` lists".to_string();
        return Err(Error::new(
            Mistake::NewerOnly {
                what: format!("nisa.{what}"),
                since,
                help,
            },
            span,
        ));
    }
    let known = ROWS
        .iter()
        .map(|it| it.name)
        .chain(ENUMERATIONS.iter().map(|it| it.0));
    Err(no_attribute("nki.isa".to_string(), name, known, span))
}

fn tile_size(this: &Evaluator<'_>, name: &Rc<str>, span: Span) -> Result<Value> {
    let target = this.target;
    let known: &[(&str, u64)] = &[
        ("pmax", target.partitions.into()),
        ("psum_bank_fmax", u64::from(target.psum_bank_bytes / 4)),
        ("psum_fmax", u64::from(target.psum_bank_bytes / 4)),
        ("psum_bank_fmax_bytes", target.psum_bank_bytes.into()),
        ("psum_num_banks", target.psum_banks().into()),
        ("gemm_stationary_fmax", target.stationary_max.into()),
        ("gemm_moving_fmax", target.moving_max.into()),
        ("bn_stats_fmax", target.bn_stats_max.into()),
        (
            "sbuf_size_bytes",
            u64::from(target.sbuf_partition_bytes) * u64::from(target.partitions),
        ),
        ("sbuf_fmax_bytes", target.sbuf_usable_bytes.into()),
        ("total_available_sbuf_size", target.sbuf_usable_bytes.into()),
        ("sbuf_fmax", u64::from(target.sbuf_usable_bytes / 4)),
        ("psum_min_align", target.min_align.into()),
        ("sbuf_min_align", target.min_align.into()),
    ];
    match known.iter().find(|it| it.0 == &**name) {
        Some((_, size)) => Ok(Value::Int(*size as i64)),
        None => Err(no_attribute(
            "nl.tile_size".to_string(),
            name,
            known.iter().map(|it| it.0),
            span,
        )),
    }
}

/// An attribute of a library value, such as `np.random.rand` through `np.random`.
pub fn attribute(module: &str, part: &str, name: &Rc<str>, span: Span) -> Result<Value> {
    match module {
        "typing" | "dataclasses" | "enum" | "collections" => Ok(Value::library("typing", name)),
        "numpy" => host_bridge::part_attribute(part, name, span),
        _ => Err(no_attribute(
            format!("{module}.{part}"),
            name,
            std::iter::empty(),
            span,
        )),
    }
}

const MATH: &[&str] = &[
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
        ("nisa", "get_nc_version") => Ok(enum_member("nc_version", "gen2").expect("gen2 is a member")),
        ("nisa", _) => Ok(Value::Int(0)),
        ("nki", _) => Ok(args
            .positional
            .into_iter()
            .next()
            .unwrap_or(Value::library("nki", name))),
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
                total = this.call(
                    &callee,
                    CallArgs::of(vec![total, item], span),
                )?;
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
        ("itertools", "product") => {
            let lists = args
                .positional
                .iter()
                .map(|it| this.iterate(it, span))
                .collect::<Result<Vec<_>>>()?;
            let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
            for list in lists {
                let extend = |row: &Vec<Value>| {
                    let with = |it: &Value| row.iter().cloned().chain([it.clone()]).collect::<Vec<_>>();
                    list.iter().map(with).collect::<Vec<_>>()
                };
                rows = rows.iter().flat_map(extend).collect();
                if rows.len() as i64 > super::LIMITS.list_length {
                    return Err(Error::value_error("the product has too many rows", span));
                }
            }
            Ok(Value::list(rows.into_iter().map(Value::tuple).collect()))
        }
        _ => Err(Error::unsupported(
            &format!("{module}.{name}"),
            "write it out in the kernel language",
            span,
        )),
    }
}

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
        ("comb", [n, k]) if *n >= 0 && *k >= 0 => (1..=*k)
            .try_fold(1i64, |a, it| a.checked_mul(n - k + it).map(|a| a / it))
            .map(|it| if k > n { 0 } else { it }),
        _ => {
            return Err(Error::value_error(
                format!("math.{name} takes other arguments"),
                span,
            ));
        }
    };
    result.map(Value::Int).ok_or_else(overflow)
}

/// The operator that a value passed as `op=` stands for: `nl.add`, `np.add`.
pub fn operator_name(value: &Value) -> Option<&str> {
    match value {
        Value::Nl(name) => Some(name),
        Value::Library(it) if it.module == "numpy" => Some(&it.name),
        _ => None,
    }
}

/// Members of an enumeration by their position in our tables.
pub fn reduce_cmd(value: &Value) -> Option<crate::isa::ReduceCmd> {
    match value {
        Value::Member(it) if it.kind == "reduce_cmd" => {
            REDUCE_CMDS.iter().find(|row| row.1 == it.name).map(|row| row.0)
        }
        _ => None,
    }
}

/// The engine that `engine=` names; `None` for `unknown`.
pub fn engine(value: &Value) -> Option<Option<crate::isa::Engine>> {
    match value {
        Value::Member(it) if it.kind == "engine" => {
            Some(ENGINES.iter().find(|row| row.1 == it.name).map(|row| row.0))
        }
        _ => None,
    }
}
