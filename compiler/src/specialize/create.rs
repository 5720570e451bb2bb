//! Making tensors: `nl.ndarray`, `nl.zeros` and their relatives.
//!
//! Takes evaluated arguments, gives a tensor over a buffer of its own; a filled one costs a memset.

use super::builtins::required;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::index::tensor_value;
use super::tensor::{Creation, int_list};
use super::value::{Region, Tensor, Value};
use super::{Evaluator, bind};
use crate::ir::{Request, Role};
use crate::isa::{Arg, Op};
use crate::source::Span;
use std::rc::Rc;

impl Evaluator<'_> {
    pub fn make_tensor(&mut self, function: &'static str, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let (shape, fill, dtype, buffer, name, address);
        if function == "full" {
            let names = ["shape", "fill_value", "dtype", "buffer", "name"];
            [shape, fill, dtype, buffer, name] = args.bind("nl.full", names, 3)?;
            address = None;
        } else {
            let names = ["shape", "dtype", "buffer", "name", "address"];
            [shape, dtype, buffer, name, address] = args.bind(format_args!("nl.{function}"), names, 2)?;
            fill = match function {
                "zeros" => Some(Value::Int(0)),
                "ones" => Some(Value::Int(1)),
                _ => None,
            };
        }
        let shape = shape_of(&required(shape), span)?;
        let dtype = self.device_dtype(&required(dtype), span)?;
        let (region, allocation) = match buffer {
            Some(Value::Allocation(it)) => (it.region, Some(it).filter(|_| !self.ignores_allocations)),
            buffer => (region_of(buffer, span)?, None),
        };
        let name = name_of(name);
        let request = match address {
            None | Some(Value::None) => match allocation {
                Some(it) => {
                    let free = shape.iter().skip(1).map(|&it| u64::from(it)).product::<u64>();
                    let bytes = free.saturating_mul(dtype.size().into());
                    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
                    let partitions = shape.first().copied().unwrap_or(1);
                    Some(self.allocated(&it, partitions, bytes, span)?)
                }
                None => None,
            },
            Some(it) => match int_list(&it, "address", span)?.as_slice() {
                [partition, byte] => match (u32::try_from(*partition), u32::try_from(*byte)) {
                    (Ok(partition), Ok(byte)) => Some(Request { partition, byte }),
                    _ => return Err(Error::value_error("an address is not negative", span)),
                },
                _ => return Err(Error::type_error("`address` is (partition, byte)", span)),
            },
        };
        let tensor = self.create(
            Creation {
                shape,
                dtype,
                region,
                name,
                request,
                role: Role::Local,
            },
            span,
        )?;
        if let Some(fill) = fill {
            self.fill(&tensor, &fill, span)?;
        }
        Ok(tensor_value(tensor))
    }

    pub fn make_like(&mut self, function: &'static str, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let is_full = function == "full_like";
        let names = [
            "x",
            if is_full { "fill_value" } else { "dtype" },
            if is_full { "dtype" } else { "buffer" },
            "name",
        ];
        let [x, second, third, _] =
            args.bind(format_args!("nl.{function}"), names, if is_full { 2 } else { 1 })?;
        let x = self.tile(&required(x), function, span)?;
        let (fill, dtype, buffer) = if is_full {
            (second, third, None)
        } else {
            (None, second, third)
        };
        let fill = match function {
            "zeros_like" => Some(Value::Int(0)),
            "ones_like" => Some(Value::Int(1)),
            _ => fill,
        };
        let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
        let region = match buffer {
            None | Some(Value::None) => x.region,
            buffer => region_of(buffer, span)?,
        };
        let tensor = self.fresh_like(&x, dtype, region, span)?;
        if let Some(fill) = fill {
            self.fill(&tensor, &fill, span)?;
        }
        Ok(tensor_value(tensor))
    }

    pub fn fill(&mut self, tensor: &Tensor, fill: &Value, span: Span) -> Result<()> {
        if !tensor.is_on_chip() {
            let help = "fill a tile in SBUF and store it".to_string();
            return Err(Error::new(
                Mistake::View {
                    message: "a tensor in HBM cannot be made with a value".to_string(),
                    help,
                },
                span,
            ));
        }
        if tensor.region == Region::Psum && fill.as_float() == Some(0.0) {
            self.zero_lazily(tensor, span);
            return Ok(());
        }
        let arg = match (bind::immediate(fill), tensor.view.dtype.is_int()) {
            (Some(Arg::Int(it)), false) => Arg::Float(it as f32),
            (Some(Arg::Float(it)), true) if it.fract() == 0.0 => Arg::Int(it as i32),
            (Some(it), _) => it,
            (None, _) => return Err(Error::type_error("the fill value is a number", span)),
        };
        let args = [self.view_arg(tensor), arg];
        self.put(Op::Memset, &args, span)
    }
}

/// The memory that a `buffer` argument names, SBUF by default.
pub fn region_of(buffer: Option<Value>, span: Span) -> Result<Region> {
    match buffer {
        None | Some(Value::None) => Ok(Region::Sbuf),
        Some(Value::Buffer(it)) => Ok(it),
        Some(Value::Allocation(it)) => Ok(it.region),
        Some(other) => {
            let message = format!(
                "`buffer` is a memory region such as nl.sbuf, not {}",
                with_article(other.kind())
            );
            Err(Error::type_error(message, span))
        }
    }
}

/// The name that a `name` argument gives a tensor, if IR text can spell it.
pub fn name_of(name: Option<Value>) -> Option<Rc<str>> {
    match name {
        Some(Value::Str(it)) if is_plain_name(&it) => Some(it),
        _ => None,
    }
}

fn is_plain_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|it| it.is_ascii_alphabetic() || it == '_')
        && chars.all(|it| it.is_ascii_alphanumeric() || it == '_')
}

/// A shape from a tuple, a list or one int.
pub fn shape_of(value: &Value, span: Span) -> Result<Vec<u32>> {
    let size = |it: &i64| {
        u32::try_from(*it).ok().filter(|it| *it > 0).ok_or_else(|| {
            Error::new(
                Mistake::BadShape {
                    message: format!("a dimension of {it}; dimensions are at least 1"),
                },
                span,
            )
        })
    };
    int_list(value, "shape", span)?.iter().map(size).collect()
}
