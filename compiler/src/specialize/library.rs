//! Modules that exist without a file: `nki`, `nki.language`, `nki.isa`, `numpy`, and parts of the standard library.
//!
//! Takes dotted names, gives values; takes calls of `math`, `functools` and `operator`, gives their results.

use super::builtins::no_attribute;
use super::dict::Dict;
use super::error::{Error, Mistake, Result};
use super::standard::MATH;
use super::value::{Member, Module, REGIONS, Value};
use super::{Evaluator, collectives, host_bridge, language};
use crate::dtype::{DTYPES, Dtype, NEWER_DTYPES, newer_generation};
use crate::host::{self, HOST_DTYPES};
use crate::isa::newer::{NEWER, REMOVED};
use crate::isa::{ACT_FNS, ALU_OPS, ENGINES, OOB_MODES, Op, REDUCE_CMDS, ROWS};
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
        ["nki", "collectives"] => Module::Collectives,
        ["nki", "typing"] => Module::Typing,
        ["nki", "compiler"] => return Some(Value::library("nki", "compiler")),
        ["nki", "isa", "constants"] => Module::Isa,
        ["nki", "language", "constants"] => Module::Constants,
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
                "abc",
                "contextlib",
                "copy",
                "logging",
                "os",
                "sys",
                "time",
                "warnings",
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

fn enum_member(kind: &str, name: &str) -> Option<Value> {
    let members = ENUMERATIONS.iter().find(|it| it.0 == kind)?.1;
    members.iter().find(|it| it.name == name).map(Value::Member)
}

/// The member of an enumeration that an int stands for.
pub fn member_of_number(kind: &str, value: &Value) -> Option<Value> {
    let Value::Int(number) = value else { return None };
    let members = ENUMERATIONS.iter().find(|it| it.0 == kind)?.1;
    members.iter().find(|it| it.value == *number).map(Value::Member)
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
            "collectives" => Value::Module(Module::Collectives),
            "simulate_kernel" => Value::library("nki", "simulate"),
            _ => Value::library("nki", name),
        }),
        Module::Typing => Ok(Value::library("nki", name)),
        Module::Language => language_member(name, span),
        Module::Isa => isa_member(name, span),
        Module::TileSize => tile_size(this, name, span),
        Module::Collectives => collectives::member(name, span),
        Module::Constants => Ok(Value::library("nl.constants", name)),
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
        Module::Library("ml_dtypes") => ml_dtype(name, span),
        // Kernels see no environment: what they compute depends on their arguments alone.
        Module::Library("os") if &**name == "environ" => Ok(Value::Dict(Rc::new(Dict::default().into()))),
        Module::Library("logging") => Ok(match LOG_LEVELS.iter().find(|it| it.0 == &**name) {
            Some((_, level)) => Value::Int(*level),
            None => Value::library("logging", name),
        }),
        Module::Library(library) => Ok(Value::library(library, name)),
        Module::File(_) => Err(no_attribute(
            "the module".to_string(),
            name,
            std::iter::empty(),
            span,
        )),
    }
}

/// The mistake of naming a dtype that only newer NeuronCores have.
pub fn newer_dtype(prefix: &str, name: &str, span: Span) -> Option<Box<Error>> {
    let since = newer_generation(name)?;
    let what = format!("{prefix}{name}");
    let help = "use bfloat16, or float8_e4m3 (largest value 240)".to_string();
    Some(Error::new(Mistake::NewerOnly { what, since, help }, span))
}

/// A type of `ml_dtypes`: one of the device's, or one that only host arrays have.
fn ml_dtype(name: &Rc<str>, span: Span) -> Result<Value> {
    let known = HOST_DTYPES
        .iter()
        .filter(|it| it.1.starts_with("float8") || it.1 == "bfloat16");
    if let Some(it) = known.clone().find(|it| it.1 == &**name) {
        return Ok(match it.3 {
            Some(dtype) => Value::Dtype(dtype),
            None => Value::Host(Rc::new(host::Arg::Dtype(it.0))),
        });
    }
    if let Some(error) = newer_dtype("ml_dtypes.", name, span) {
        return Err(error);
    }
    Err(no_attribute(
        "ml_dtypes".to_string(),
        name,
        known.map(|it| it.1),
        span,
    ))
}

fn language_member(name: &Rc<str>, span: Span) -> Result<Value> {
    if name.as_ref() == "tile_size" {
        return Ok(Value::Module(Module::TileSize));
    }
    if matches!(name.as_ref(), "NKIObject" | "DType" | "MemoryRegion") {
        return Ok(Value::library("typing", name));
    }
    if matches!(name.as_ref(), "NkiTensor" | "tensor") {
        return Ok(Value::library("nki", "tensor"));
    }
    if name.as_ref() == "constants" {
        return Ok(Value::Module(Module::Constants));
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
    // Kernels for several generations compare with them; using one is an error where it is used.
    if let Some((_, newer, _)) = NEWER_DTYPES.iter().find(|it| it.1 == &**name) {
        return Ok(Value::NewerDtype(newer));
    }
    let functions = language::NAMES.iter().chain(super::classic::NAMES).copied();
    let operators = ALU_OPS
        .iter()
        .map(|it| it.name)
        .chain(ACT_FNS.iter().map(|it| it.name));
    let aliases = ALU_OPS.iter().flat_map(|it| it.aliases.iter().copied());
    let known = functions.chain(operators).chain(aliases);
    if let Some(it) = known.clone().find(|it| *it == &**name) {
        return Ok(Value::Nl(it));
    }
    if let Some((what, since, help)) = language::NEWER.iter().find(|it| it.0 == &**name) {
        let (what, help) = (format!("nl.{what}"), help.to_string());
        return Err(Error::new(Mistake::NewerOnly { what, since, help }, span));
    }
    let mut known = known
        .chain(DTYPES.iter().map(|it| it.2))
        .chain(REGIONS.iter().map(|it| it.1));
    Err(no_attribute("nki.language".to_string(), name, &mut known, span))
}

fn isa_member(name: &Rc<str>, span: Span) -> Result<Value> {
    if let Some(op) = Op::from_name(name).filter(|it| *it != Op::Collective) {
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
    if matches!(&**name, "get_nc_version" | "get_nc_sub_version" | "core_barrier")
        || super::dynamic::NAMES.contains(&&**name)
    {
        return Ok(Value::library("nisa", name));
    }
    if let Some(newer) = NEWER.iter().find(|it| it.name == &**name) {
        return Err(Error::new(
            Mistake::NewerOnly {
                what: format!("nisa.{}", newer.name),
                since: newer.since.name(),
                help: newer.instead.to_string(),
            },
            span,
        ));
    }
    if let Some((what, help)) = REMOVED.iter().find(|it| it.0 == &**name) {
        let help = format!("later releases of NKI removed it; {help}");
        return Err(Error::unsupported(&format!("nisa.{what}"), &help, span));
    }
    let known = ROWS
        .iter()
        .map(|it| it.name)
        .chain(ENUMERATIONS.iter().map(|it| it.0))
        .chain(super::dynamic::NAMES.iter().copied());
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

/// The levels of `logging`.
const LOG_LEVELS: &[(&str, i64)] = &[
    ("NOTSET", 0),
    ("DEBUG", 10),
    ("INFO", 20),
    ("WARNING", 30),
    ("WARN", 30),
    ("ERROR", 40),
    ("CRITICAL", 50),
];

/// An attribute of a library value, such as `np.random.rand` through `np.random`.
pub fn attribute(module: &str, part: &str, name: &Rc<str>, span: Span) -> Result<Value> {
    match module {
        "logging" | "os" | "sys" | "time" | "warnings" => Ok(Value::library("logging", name)),
        "typing" | "dataclasses" | "enum" | "collections" | "abc" | "contextlib" => {
            Ok(Value::library("typing", name))
        }
        "numpy" => host_bridge::part_attribute(part, name, span),
        _ => Err(no_attribute(
            format!("{module}.{part}"),
            name,
            std::iter::empty(),
            span,
        )),
    }
}

/// The operator that a value passed as `op=` stands for: `nl.add`, `np.add`.
pub fn operator_name(value: &Value) -> Option<&str> {
    match value {
        Value::Nl(name) => Some(name),
        Value::Library(it) if it.module == "numpy" => Some(&it.name),
        _ => None,
    }
}

/// What `oob_mode=` names.
pub fn oob_mode(value: &Value) -> Option<crate::isa::OobMode> {
    match value {
        Value::Member(it) if it.kind == "oob_mode" => {
            OOB_MODES.iter().find(|row| row.1 == it.name).map(|row| row.0)
        }
        _ => None,
    }
}

/// What `reduce_cmd=` names.
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

/// The generation that kernels see.
pub fn nc_version() -> Value {
    enum_member("nc_version", "gen2").expect("gen2 is a member")
}
