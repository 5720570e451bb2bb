//! Constants in HBM and identity matrices: `nl.shared_constant`, `nl.shared_identity_matrix`.
//!
//! Takes host arrays or names of `.npy` files, gives tensors whose contents the program carries. Equal constants are one
//! tensor; identity matrices of one dtype are one tile.

use super::builtins::required;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::host_bridge;
use super::index::tensor_value;
use super::tensor::{Creation, int};
use super::value::{Region, Tensor, Value};
use super::{Evaluator, Warning};
use crate::dtype::Dtype;
use crate::host::{HostArray, HostDtype};
use crate::ir::{Constant, Dim, Role, View};
use crate::isa::Op;
use crate::source::Span;
use std::sync::Arc;

/// Reads the array in a file: the name of the importing source, and the path as the kernel gives it.
pub type ArrayLoader<'a> = dyn Fn(&str, &str) -> std::result::Result<HostArray, String> + 'a;

impl Evaluator<'_> {
    /// `nl.shared_constant(array or path, dtype=None)`.
    pub fn shared_constant(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [constant, dtype] = args.bind("nl.shared_constant", ["constant", "dtype"], 1)?;
        let array = match required(constant) {
            Value::Array(it) => it.borrow().clone(),
            Value::Str(path) => {
                let from = self.sources.name_of(span.file).to_string();
                (self.arrays)(&from, &path).map_err(|message| {
                    let (code, help) = ("file-unreadable", None);
                    Error::new(Mistake::Host { code, message, help }, span)
                })?
            }
            other => {
                let message = format!(
                    "nl.shared_constant takes a NumPy array or the path of a .npy file, not {}",
                    with_article(other.kind())
                );
                return Err(Error::type_error(message, span));
            }
        };
        let dtype = match dtype {
            None | Some(Value::None) => self.device_dtype_of(array.dtype(), span)?,
            Some(it) => self.device_dtype(&it, span)?,
        };
        let shape = array
            .shape()
            .iter()
            .map(|&it| u32::try_from(it).unwrap_or(u32::MAX));
        let shape: Vec<u32> = shape.collect();
        let values = array.view().iter().copied().collect();
        self.constant(&shape, values, dtype, span).map(tensor_value)
    }

    /// The dtype of a host array on the device; 64-bit ones are narrowed.
    fn device_dtype_of(&mut self, dtype: HostDtype, span: Span) -> Result<Dtype> {
        match dtype.device() {
            Some(it) => Ok(it),
            None => {
                let host = host_bridge::from_arg(crate::host::Arg::Dtype(dtype));
                self.device_dtype(&host, span)
            }
        }
    }

    /// A tensor in HBM that holds values from the start.
    fn constant(&mut self, shape: &[u32], values: Vec<f64>, dtype: Dtype, span: Span) -> Result<Tensor> {
        // A value is what the dtype makes of it, whoever reads the program. NumPy has no tfloat32: the machine rounds.
        let shape_on_host: Vec<usize> = shape.iter().map(|&it| it as usize).collect();
        let host = match dtype {
            Dtype::Tf32 => HostDtype::F32,
            other => HostDtype::from(other),
        };
        let Some(array) = HostArray::new(&shape_on_host, values, host) else {
            let message = format!("a constant of {} dimensions", shape.len());
            return Err(Error::new(Mistake::BadShape { message }, span));
        };
        let values: Arc<[f64]> = array.view().iter().copied().collect();
        let same = self.program.constants.iter().find(|it| {
            let buffer = &self.program[it.buffer];
            buffer.dtype == dtype && *buffer.shape == *shape && it.values == values
        });
        if let Some(constant) = same {
            let view = View::whole(constant.buffer, &self.program[constant.buffer]);
            return Ok(Tensor {
                view,
                region: Region::SharedHbm,
            });
        }
        let wanted = Creation {
            shape: shape.to_vec(),
            dtype,
            region: Region::SharedHbm,
            name: None,
            request: None,
            role: Role::Local,
        };
        let tensor = self.create(wanted, span)?;
        let buffer = tensor.buffer();
        self.program.constants.push(Constant { buffer, values });
        Ok(tensor)
    }

    /// `nl.shared_identity_matrix(n, dtype=uint8, dst=None)`.
    pub fn shared_identity_matrix(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [n, dtype, dst] = args.bind("nl.shared_identity_matrix", ["n", "dtype", "dst"], 1)?;
        let n = int(&required(n), "the size of an identity matrix", span)?;
        let limit = self.target.partitions;
        let Some(n) = u32::try_from(n).ok().filter(|it| (1..=limit).contains(it)) else {
            let message = format!("an identity matrix has 1 to {limit} rows, not {n}");
            return Err(Error::value_error(message, span));
        };
        let dtype = self.result_dtype(dtype, Dtype::U8, span)?;
        let dst = match dst {
            None | Some(Value::None) => None,
            Some(it) => Some(self.tile(&it, "nl.shared_identity_matrix", span)?),
        };
        let known = self
            .identities
            .iter()
            .find(|it| it.view.dtype == dtype && it.view.partitions() >= n);
        if let (Some(tile), None) = (known, &dst) {
            return Ok(tensor_value(corner(tile, n)));
        }
        let is_one = |at: u32| f64::from(u8::from(at.is_multiple_of(n + 1)));
        let identity = self.constant(&[n, n], (0..n * n).map(is_one).collect(), dtype, span)?;
        let tile = match &dst {
            Some(dst) => dst.clone(),
            None => self.fresh_like(&identity, dtype, Region::Sbuf, span)?,
        };
        let args = [self.view_arg(&tile), self.view_arg(&identity)];
        self.put(Op::DmaCopy, &args, span)?;
        if dst.is_none() {
            self.identities.push(tile.clone());
        }
        Ok(tensor_value(tile))
    }

    /// Warns that a type of NumPy is narrowed, and gives the type it becomes.
    pub fn narrowed(&mut self, dtype: HostDtype, span: Span) -> Option<Dtype> {
        let narrow = match dtype {
            HostDtype::F64 => Dtype::F32,
            HostDtype::I64 => Dtype::I32,
            HostDtype::U64 => Dtype::U32,
            _ => return None,
        };
        self.warn(Warning::Narrowed, span);
        Some(narrow)
    }
}

/// The first n rows and columns of a square tile.
fn corner(tile: &Tensor, n: u32) -> Tensor {
    let view = &tile.view;
    let dims = [
        Dim {
            count: n,
            ..view.dims()[0]
        },
        Dim {
            count: n,
            ..view.dims()[1]
        },
    ];
    let view =
        View::new(view.buffer, view.dtype, view.partition, view.offset, &dims).expect("two pairs are few");
    Tensor {
        view,
        region: tile.region,
    }
}
