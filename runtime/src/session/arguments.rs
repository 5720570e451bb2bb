//! Arguments on their way from text to the compiler, the emulator and the reference.

use crate::tensor::{ArgSpec, Error, Tensor};
use nk_compiler::diagnostic::{Diagnostic, Report};
use nk_compiler::host::{HOST_DTYPES, HostArray, HostDtype};
use nk_compiler::specialize::{ArgValue, HostValue};
use serde_json::Value;

/// The arguments as the compiler wants them: dtypes and shapes, no elements.
pub fn values(args: &[(String, ArgSpec)], n_ranks: u32) -> Result<Vec<(String, ArgValue)>, Diagnostic> {
    args.iter()
        .map(|(name, spec)| Ok((name.clone(), value(name, spec, n_ranks)?)))
        .collect()
}

fn value(name: &str, spec: &ArgSpec, n_ranks: u32) -> Result<ArgValue, Diagnostic> {
    match spec {
        ArgSpec::Literal(text) => Ok(ArgValue::Literal(text.clone())),
        ArgSpec::Tuple(items) => {
            let items = items
                .iter()
                .map(|it| value(name, it, n_ranks))
                .collect::<Result<_, _>>()?;
            Ok(ArgValue::Tuple(items))
        }
        ArgSpec::Tensor(source) | ArgSpec::Split(source, _) => {
            let (dtype, mut shape) = source.facts().map_err(|it| it.report())?;
            if let ArgSpec::Split(_, axis) = spec {
                let rank = shape.len();
                let n_parts = n_ranks as usize;
                let size = shape.get_mut(*axis).filter(|it| **it % n_parts == 0);
                let size = size.ok_or_else(|| {
                    let message = format!(
                        "`{name}` has {rank} dimensions, of which number {axis} does not divide into {n_parts} parts"
                    );
                    Diagnostic::error("bad-argument", message).help("split(TENSOR, AXIS) gives each rank an equal part")
                })?;
                *size /= n_parts;
            }
            let sizes = shape
                .iter()
                .map(|&it| u32::try_from(it).ok())
                .collect::<Option<Vec<u32>>>();
            let shape = sizes.ok_or_else(|| {
                Diagnostic::error(
                    "bad-argument",
                    format!("`{name}` has a dimension that no 32-bit number counts"),
                )
            })?;
            Ok(ArgValue::Tensor { dtype, shape })
        }
    }
}

/// The tensors of all arguments, in the order in which the compiler numbers its inputs, and warnings about them.
pub fn load(args: &[(String, ArgSpec)]) -> Result<(Vec<Tensor>, Vec<Diagnostic>), Error> {
    let mut tensors = Vec::new();
    let mut warnings = Vec::new();
    for (_, spec) in args {
        load_into(spec, &mut tensors, &mut warnings)?;
    }
    Ok((tensors, warnings))
}

fn load_into(spec: &ArgSpec, tensors: &mut Vec<Tensor>, warnings: &mut Vec<Diagnostic>) -> Result<(), Error> {
    match spec {
        ArgSpec::Literal(_) => {}
        ArgSpec::Tuple(items) => {
            for item in items {
                load_into(item, tensors, warnings)?;
            }
        }
        ArgSpec::Tensor(source) | ArgSpec::Split(source, _) => {
            let loaded = source.load()?;
            warnings.extend(
                loaded
                    .warnings
                    .into_iter()
                    .map(|it| Diagnostic::warning("narrowed", it)),
            );
            tensors.push(loaded.tensor);
        }
    }
    Ok(())
}

/// Every tensor of the arguments, with the argument that it stands in, in the order of [`load`].
fn tensor_specs(args: &[(String, ArgSpec)]) -> Vec<(&str, &ArgSpec)> {
    fn collect<'a>(name: &'a str, spec: &'a ArgSpec, specs: &mut Vec<(&'a str, &'a ArgSpec)>) {
        match spec {
            ArgSpec::Literal(_) => {}
            ArgSpec::Tuple(items) => items.iter().for_each(|it| collect(name, it, specs)),
            ArgSpec::Tensor(_) | ArgSpec::Split(..) => specs.push((name, spec)),
        }
    }
    let mut specs = Vec::new();
    args.iter().for_each(|it| collect(&it.0, &it.1, &mut specs));
    specs
}

/// The argument that each tensor stands in, in the order of [`load`].
pub fn tensor_names(args: &[(String, ArgSpec)]) -> Vec<&str> {
    tensor_specs(args).into_iter().map(|it| it.0).collect()
}

/// The axis along which each tensor argument is split over ranks, in the order of [`load`].
pub fn splits(args: &[(String, ArgSpec)]) -> Vec<Option<usize>> {
    let axis = |spec: &ArgSpec| match spec {
        ArgSpec::Split(_, axis) => Some(*axis),
        _ => None,
    };
    tensor_specs(args).into_iter().map(|it| axis(it.1)).collect()
}

/// The arguments as a host function wants them.
pub fn host_values(args: &[(String, ArgSpec)], tensors: &[Tensor]) -> Vec<(String, HostValue)> {
    let mut arrays = tensors.iter().map(host_array);
    args.iter()
        .map(|(name, spec)| (name.clone(), host_value(spec, &mut arrays)))
        .collect()
}

fn host_value(spec: &ArgSpec, arrays: &mut dyn Iterator<Item = HostArray>) -> HostValue {
    match spec {
        ArgSpec::Literal(text) => HostValue::Literal(text.clone()),
        ArgSpec::Tuple(items) => HostValue::Tuple(items.iter().map(|it| host_value(it, arrays)).collect()),
        ArgSpec::Tensor(_) | ArgSpec::Split(..) => {
            HostValue::Array(arrays.next().expect("every tensor argument was loaded"))
        }
    }
}

/// A tensor of a kernel as an array of the host.
pub fn host_array(tensor: &Tensor) -> HostArray {
    as_host_array(tensor).expect("tensors of a kernel have few dimensions")
}

/// A tensor as an array of the host; `None` when it has more dimensions than those have.
pub fn as_host_array(tensor: &Tensor) -> Option<HostArray> {
    // NumPy has no tfloat32; its values are float32's.
    let dtype = HOST_DTYPES.iter().find(|it| it.3 == Some(tensor.dtype()));
    let dtype = dtype.map_or(HostDtype::F32, |it| it.0);
    HostArray::new(tensor.shape(), tensor.to_f64(), dtype)
}

/// The arguments of a JSON object: strings in the syntax of `--arg`, other values as literals.
pub fn json_args(text: &str) -> Result<Vec<(String, String)>, String> {
    let value = serde_json::from_str::<Value>(text).map_err(|it| it.to_string())?;
    let Value::Object(members) = value else {
        return Err("it holds no object of names and values".to_string());
    };
    members
        .into_iter()
        .map(|(name, value)| Ok((name, json_text(&value)?)))
        .collect()
}

fn json_text(value: &Value) -> Result<String, String> {
    match value {
        Value::Null => Ok("None".to_string()),
        Value::Bool(true) => Ok("True".to_string()),
        Value::Bool(false) => Ok("False".to_string()),
        Value::Number(number) => Ok(number.to_string()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(items) => {
            let items = items.iter().map(json_text).collect::<Result<Vec<_>, _>>()?;
            let comma = if items.len() == 1 { "," } else { "" };
            Ok(format!("({}{comma})", items.join(", ")))
        }
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| Ok(format!("{name:?}: {}", json_text(value)?)));
            Ok(format!(
                "{{{}}}",
                members.collect::<Result<Vec<_>, String>>()?.join(", ")
            ))
        }
    }
}
