//! The argument syntax of the command line: files, generators, tuples of them, and expressions left to the compiler.
//!
//! ```text
//! @x.npy  @x.npy:bf16                    a file, its words read as the dtype
//! @x.npz:key  @x.npz:key:bf16            one array of an archive
//! @x.safetensors:key                     one tensor
//! f32[128,512]:randn(SEED)               also zeros, ones, arange, uniform(lo,hi,SEED), randint(lo,hi,SEED)
//! f32[128,512]                           no values: enough to compile with, not to run
//! (@x.npy, f32[8]:ones, 3)               a tuple that holds tensors
//! split(f32[8,4]:ones, 0)                with --ranks: an equal part along the axis for each rank
//! 3  1e-6  (2, 4)  nl.bfloat16           any other text: an expression of the kernel language
//! ```

use super::{Error, Generator, Tensor, archive, npy, safetensor};
use nk_compiler::directive::split;
use nk_compiler::dtype::{DTYPES, Dtype, newer_generation};
use std::fs::File;
use std::io::BufReader;

/// One argument, as far as its text tells.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgSpec {
    Tensor(Source),
    /// A tensor of which each rank gets an equal part along the axis.
    Split(Source, usize),
    /// Holds at least one tensor somewhere.
    Tuple(Vec<ArgSpec>),
    /// The text of an expression.
    Literal(String),
}

/// Where a tensor comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    File {
        path: String,
        format: Format,
        key: Option<String>,
        /// What the words of the file are, whatever the file says.
        dtype: Option<Dtype>,
    },
    Generated {
        dtype: Dtype,
        shape: Vec<usize>,
        /// `None`: nobody has said what the elements are, which only a run has to know.
        generator: Option<Generator>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Npy,
    Npz,
    Safetensors,
}

const FORMATS: &[(Format, &str)] = &[
    (Format::Npy, ".npy"),
    (Format::Npz, ".npz"),
    (Format::Safetensors, ".safetensors"),
];

/// A tensor, and what the user should know about how it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    pub tensor: Tensor,
    pub warnings: Vec<String>,
}

impl Source {
    /// Dtype and shape, without reading elements.
    pub fn facts(&self) -> Result<(Dtype, Vec<usize>), Error> {
        match self {
            Source::Generated { dtype, shape, .. } => Ok((*dtype, shape.clone())),
            Source::File {
                path,
                format,
                key,
                dtype,
            } => match format {
                Format::Npy => npy::read_header(path, &mut open(path)?)?.facts(path, *dtype),
                Format::Npz => archive::header(path, key.as_deref())?.facts(path, *dtype),
                Format::Safetensors => safetensor::facts(path, key.as_deref(), *dtype),
            },
        }
    }

    /// The tensor itself.
    pub fn load(&self) -> Result<Loaded, Error> {
        match self {
            Source::Generated {
                dtype,
                shape,
                generator,
            } => {
                let generator = generator.ok_or_else(|| no_values(*dtype, shape))?;
                Ok(Loaded {
                    tensor: generator.make(*dtype, shape)?,
                    warnings: Vec::new(),
                })
            }
            Source::File {
                path,
                format,
                key,
                dtype,
            } => match format {
                Format::Npy => {
                    let mut reader = open(path)?;
                    let header = npy::read_header(path, &mut reader)?;
                    npy::read_elements(path, &header, *dtype, &mut reader)
                }
                Format::Npz => archive::load(path, key.as_deref(), *dtype),
                Format::Safetensors => safetensor::load(path, key.as_deref(), *dtype),
            },
        }
    }
}

fn open(path: &str) -> Result<BufReader<File>, Error> {
    let file = File::open(path).map_err(|it| Error::io(path, &it))?;
    Ok(BufReader::new(file))
}

fn no_values(dtype: Dtype, shape: &[usize]) -> Error {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let text = format!("{}[{}]", dtype.name(), sizes.join(","));
    let instead = format!("write {text}: and one of {GENERATORS}");
    syntax(&text, "it says no values, and a run needs them", instead)
}

/// Tuples inside of tuples, at most.
const MAX_DEPTH: usize = 32;

/// Reads the text of an argument.
pub fn parse_arg(text: &str) -> Result<ArgSpec, Error> {
    parse_nested(text, 0)
}

fn parse_nested(text: &str, depth: usize) -> Result<ArgSpec, Error> {
    let text = text.trim();
    if let Some(file) = text.strip_prefix('@') {
        return parse_file(text, file).map(ArgSpec::Tensor);
    }
    if let Some((name, dims, generator)) = split_generator(text) {
        return parse_generator(text, name, dims, generator).map(ArgSpec::Tensor);
    }
    if let Some(inside) = text.strip_prefix("split(").and_then(|it| it.strip_suffix(')')) {
        return parse_split(text, inside, depth);
    }
    let inside = text.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    let Some(inside) = inside else {
        return Ok(ArgSpec::Literal(text.to_string()));
    };
    if depth == MAX_DEPTH {
        return Err(syntax(
            text,
            format!("tuples are nested more than {MAX_DEPTH} deep"),
            "write a flatter value",
        ));
    }
    let items = split(inside)
        .into_iter()
        .map(|it| parse_nested(it, depth + 1))
        .collect::<Result<Vec<_>, Error>>()?;
    if items.iter().all(|it| matches!(it, ArgSpec::Literal(_))) {
        return Ok(ArgSpec::Literal(text.to_string()));
    }
    Ok(ArgSpec::Tuple(items))
}

/// `split(TENSOR, AXIS)`.
fn parse_split(text: &str, inside: &str, depth: usize) -> Result<ArgSpec, Error> {
    let wrong = |reason: &str| syntax(text, reason, "write split(f32[8,4]:ones, 0)");
    let [tensor, axis] = split(inside)[..] else {
        return Err(wrong("split takes a tensor and an axis"));
    };
    let axis = axis.trim().parse().map_err(|_| wrong("the axis is no number"))?;
    match parse_nested(tensor, depth)? {
        ArgSpec::Tensor(source) => Ok(ArgSpec::Split(source, axis)),
        _ => Err(wrong("only a tensor can be split")),
    }
}

fn syntax(text: &str, reason: impl Into<String>, instead: impl Into<String>) -> Error {
    Error::Syntax {
        text: text.to_string(),
        reason: reason.into(),
        instead: instead.into(),
    }
}

/// `x.npy`, `x.npy:bf16`, `x.npz:key`, `x.npz:key:bf16`.
fn parse_file(text: &str, file: &str) -> Result<Source, Error> {
    // The path ends with the last extension that stands at the end or before a colon.
    let split = FORMATS.iter().filter_map(|&(format, extension)| {
        let ends = file.match_indices(extension).map(|(at, _)| at + extension.len());
        let end = ends
            .filter(|&it| file[it..].is_empty() || file[it..].starts_with(':'))
            .last()?;
        Some((end, format))
    });
    let Some((end, format)) = split.max_by_key(|it| it.0) else {
        return Err(syntax(
            text,
            "the file is of no known kind",
            "name a .npy, .npz or .safetensors file",
        ));
    };
    let (path, rest) = file.split_at(end);
    let rest = rest.strip_prefix(':').filter(|it| !it.is_empty());
    let (key, dtype) = match (format, rest) {
        (_, None) => (None, None),
        (Format::Npy, Some(name)) => {
            let dtype = Dtype::from_name(name);
            let dtype = dtype.ok_or_else(|| no_dtype(text, name))?;
            (None, Some(dtype))
        }
        (Format::Npz | Format::Safetensors, Some(rest)) => {
            let typed = rest
                .rsplit_once(':')
                .and_then(|(key, name)| Some((key, Dtype::from_name(name)?)));
            typed.map_or((Some(rest), None), |(key, dtype)| (Some(key), Some(dtype)))
        }
    };
    Ok(Source::File {
        path: path.to_string(),
        format,
        key: key.map(str::to_string),
        dtype,
    })
}

fn no_dtype(text: &str, name: &str) -> Error {
    let names: Vec<&str> = DTYPES.iter().map(|it| it.1).collect();
    let reason = match newer_generation(name.strip_prefix("nl.").unwrap_or(name)) {
        Some(since) => format!("`{name}` needs {since}; the targets are NeuronCore-v2"),
        None => format!("`{name}` is no dtype"),
    };
    let instead = format!("the dtypes are {}, and NKI's long names", names.join(", "));
    syntax(text, reason, instead)
}

/// Splits `NAME[DIMS]:GENERATOR`; `None` for texts that are something else.
fn split_generator(text: &str) -> Option<(&str, &str, Option<&str>)> {
    let (name, rest) = text.split_once('[')?;
    let name = name.trim_end();
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '.';
    if name.is_empty() || !name.chars().all(is_word) {
        return None;
    }
    let (dims, rest) = rest.split_once(']')?;
    let rest = rest.trim();
    match rest.strip_prefix(':') {
        Some(generator) => Some((name, dims, Some(generator.trim()))),
        // `f32[4]` is no expression that anybody means.
        None => (rest.is_empty() && (dtype_of(name).is_some() || newer_generation(name).is_some()))
            .then_some((name, dims, None)),
    }
}

/// A dtype by name; NKI's own spelling `nl.bfloat16` is understood.
fn dtype_of(name: &str) -> Option<Dtype> {
    Dtype::from_name(name.strip_prefix("nl.").unwrap_or(name))
}

const GENERATORS: &str = "zeros, ones, arange, randn(SEED), uniform(LOW,HIGH,SEED) or randint(LOW,HIGH,SEED)";

fn parse_generator(text: &str, name: &str, dims: &str, generator: Option<&str>) -> Result<Source, Error> {
    let Some(dtype) = dtype_of(name) else {
        return Err(no_dtype(text, name));
    };
    let mut shape = Vec::new();
    for dim in dims.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        let size = dim.parse::<usize>().ok();
        let Some(size) = size else {
            return Err(syntax(
                text,
                format!("`{dim}` is no size"),
                "write sizes as in f32[128,512]",
            ));
        };
        shape.push(size);
    }
    let Some(generator) = generator else {
        return Ok(Source::Generated {
            dtype,
            shape,
            generator: None,
        });
    };
    let wrong = |reason: String| syntax(text, reason, format!("the generators are {GENERATORS}"));
    let (word, arguments) = match generator.split_once('(') {
        Some((word, rest)) => {
            let inside = rest.trim_end().strip_suffix(')');
            let inside = inside.ok_or_else(|| wrong(format!("`{generator}` does not end with `)`")))?;
            (
                word.trim_end(),
                inside
                    .split(',')
                    .map(str::trim)
                    .filter(|it| !it.is_empty())
                    .collect(),
            )
        }
        None => (generator, Vec::new()),
    };
    let count = |expected: usize| match arguments.len() == expected {
        true => Ok(()),
        false => Err(wrong(format!(
            "`{word}` takes {expected} numbers, not {}",
            arguments.len()
        ))),
    };
    let seed = |idx: usize| {
        let seed = arguments[idx].parse::<u64>();
        seed.map_err(|_| {
            wrong(format!(
                "`{}` is no seed: a whole number from 0 on",
                arguments[idx]
            ))
        })
    };
    let number = |idx: usize| {
        let number = arguments[idx].parse::<f64>().ok().filter(|it| it.is_finite());
        number.ok_or_else(|| wrong(format!("`{}` is no finite number", arguments[idx])))
    };
    let integer = |idx: usize| {
        let integer = arguments[idx].parse::<i32>();
        integer
            .map(i64::from)
            .map_err(|_| wrong(format!("`{}` is no integer of 32 bits", arguments[idx])))
    };
    let generator = match word {
        "zeros" => count(0).map(|()| Generator::Zeros)?,
        "ones" => count(0).map(|()| Generator::Ones)?,
        "arange" => count(0).map(|()| Generator::Arange)?,
        "randn" => {
            count(1)?;
            Generator::Randn { seed: seed(0)? }
        }
        "uniform" => {
            count(3)?;
            Generator::Uniform {
                low: number(0)?,
                high: number(1)?,
                seed: seed(2)?,
            }
        }
        "randint" => {
            count(3)?;
            let (low, high) = (integer(0)?, integer(1)?);
            if low >= high {
                return Err(wrong(format!("there is no integer from {low} to below {high}")));
            }
            Generator::Randint {
                low,
                high,
                seed: seed(2)?,
            }
        }
        _ => return Err(wrong(format!("`{word}` is no generator"))),
    };
    Ok(Source::Generated {
        dtype,
        shape,
        generator: Some(generator),
    })
}
