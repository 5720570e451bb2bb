//! Functions of `nki.language`: calls that make tiles and emit the instructions they stand for.
//!
//! Takes evaluated arguments, gives a fresh tile, a view or a compile-time value. What each function lowers to is in
//! `isa.md` §4.

use super::builtins::required;
use super::call::unexpected;
use super::create::shape_of;
use super::error::{Error, Result};
use super::eval::{CallArgs, with_article};
use super::exec::range_of;
use super::index::tensor_value;
use super::operate::overflow;
use super::reduce::REDUCTIONS;
use super::tensor::{Creation, axis, int, int_list};
use super::value::{Member, Region, Tensor, Value};
use super::{Evaluator, Warning, layout};
use crate::dtype::Dtype;
use crate::host;
use crate::ir::Role;
use crate::isa::{Accumulate, Arg, Engine, MAX_ARGS, Memory, Op};
use crate::source::Span;
use std::rc::Rc;

/// Names of `nki.language` that are functions and not only operators.
pub const NAMES: &[&str] = &[
    "affine_range",
    "all",
    "atomic_rmw",
    "broadcast_to",
    "cast",
    "ceil",
    "copy",
    "cos",
    "device_print",
    "dropout",
    "ds",
    "dynamic_range",
    "empty_like",
    "expand_dims",
    "floor",
    "fori_loop",
    "full",
    "full_like",
    "gather_flattened",
    "is_hbm",
    "is_on_chip",
    "is_psum",
    "is_sbuf",
    "load",
    "load_transpose2d",
    "matmul",
    "max",
    "mean",
    "min",
    "ndarray",
    "negative",
    "no_reorder",
    "num_programs",
    "ones",
    "ones_like",
    "prod",
    "program_id",
    "program_ndim",
    "rand",
    "random_seed",
    "range",
    "rms_norm",
    "sequential_range",
    "shared_constant",
    "shared_identity_matrix",
    "sin",
    "softmax",
    "static_range",
    "store",
    "sum",
    "tan",
    "transpose",
    "trunc",
    "var",
    "where",
    "while_loop",
    "zeros",
    "zeros_like",
];

/// What `nl.no_reorder()` gives to `with`.
pub const NO_REORDER: Member = Member {
    kind: "no_reorder region",
    name: "no_reorder",
    value: 0,
};

/// Functions that NeuronCore-v2 does not have: name, generation, what to do instead.
pub const NEWER: &[(&str, &str, &str)] = &[
    ("abs_max", "NeuronCore-v4", "use nl.maximum of nl.abs"),
    ("abs_min", "NeuronCore-v4", "use nl.minimum of nl.abs"),
    (
        "prelu",
        "NeuronCore-v4",
        "use nl.maximum and nl.minimum with a scaled copy",
    ),
    ("bypass", "NeuronCore-v4", "leave the operator out"),
];

impl Evaluator<'_> {
    pub fn language_function(&mut self, name: &'static str, args: CallArgs) -> Result<Value> {
        let span = args.span;
        match name {
            "ndarray" | "zeros" | "ones" | "full" => self.make_tensor(name, args),
            "zeros_like" | "empty_like" | "ones_like" | "full_like" => self.make_like(name, args),
            "affine_range" | "range" | "sequential_range" | "static_range" => {
                let bounds: Option<Vec<i64>> = args.positional.iter().map(Value::as_int).collect();
                match bounds.and_then(|it| range_of(&it)) {
                    Some(range) => Ok(Value::Range(Rc::new(range))),
                    None => Err(Error::type_error(
                        format!("nl.{name} takes one to three ints"),
                        span,
                    )),
                }
            }
            "dynamic_range" => self.dynamic_range(args),
            "fori_loop" => self.fori_loop(args),
            "while_loop" => self.run_while_loop(args),
            "ds" => {
                let [start, size] = args.bind("nl.ds", ["start", "size"], 2)?;
                let start = int(&required(start), "the start", span)?;
                let size = int(&required(size), "the size", span)?;
                let stop = start.checked_add(size).ok_or_else(|| overflow("+", span))?;
                Ok(Value::slice(Value::Int(start), Value::Int(stop), Value::None))
            }
            "program_id" => {
                let [axis] = args.bind("nl.program_id", ["axis"], 0)?;
                let axis = axis.map_or(Ok(0), |it| int(&it, "the axis", span))?;
                self.reads_place = true;
                let id = usize::try_from(axis).ok().and_then(|it| self.program_id.get(it));
                Ok(Value::Int(id.map_or(0, |it| i64::from(*it))))
            }
            "num_programs" => {
                let [axes] = args.bind("nl.num_programs", ["axes"], 0)?;
                let axes = axes.filter(|it| !matches!(it, Value::None));
                let axes = axes.map_or(Ok(vec![0]), |it| int_list(&it, "`axes`", span))?;
                let count = |axis: &i64| usize::try_from(*axis).ok().and_then(|it| self.grid.get(it));
                let counts = axes.iter().map(|it| count(it).map_or(1, |it| i64::from(*it)));
                Ok(Value::Int(counts.fold(1, i64::saturating_mul)))
            }
            "program_ndim" => Ok(Value::Int(self.grid.len() as i64)),
            "is_hbm" | "is_sbuf" | "is_psum" | "is_on_chip" => {
                let [buffer] = args.bind(name, ["buffer"], 1)?;
                let Value::Buffer(region) = required(buffer) else {
                    return Err(Error::type_error(
                        format!("nl.{name} takes a memory region such as nl.sbuf"),
                        span,
                    ));
                };
                let memory = region.memory();
                Ok(Value::Bool(match name {
                    "is_hbm" => memory == Memory::Hbm,
                    "is_sbuf" => memory == Memory::Sbuf,
                    "is_psum" => memory == Memory::Psum,
                    _ => memory.is_on_chip(),
                }))
            }
            "load" => {
                let [src, dtype, mask] = args.bind("nl.load", ["src", "dtype", "mask"], 1)?;
                self.no_mask(mask, span)?;
                let src = self.tile(&required(src), "nl.load", span)?;
                let dtype = self.result_dtype(dtype, src.view.dtype, span)?;
                let dst = self.fresh_like(&src, dtype, Region::Sbuf, span)?;
                let args = [self.view_arg(&dst), self.view_arg(&src)];
                self.put(Op::DmaCopy, &args, span)?;
                Ok(tensor_value(dst))
            }
            "store" => {
                let [dst, value, mask] = args.bind("nl.store", ["dst", "value", "mask"], 2)?;
                self.no_mask(mask, span)?;
                let dst = self.tile(&required(dst), "nl.store", span)?;
                let value = required(value);
                let value = match super::bind::immediate(&value) {
                    // A number is stored as a tile that is filled with it.
                    Some(_) => {
                        let tile = self.fresh_like(&dst, dst.view.dtype, Region::Sbuf, span)?;
                        self.fill(&tile, &value, span)?;
                        tile
                    }
                    None => self.tile(&value, "nl.store", span)?,
                };
                self.store_view(&dst, &value, span)?;
                Ok(Value::None)
            }
            "load_transpose2d" => {
                let [src, dtype] = args.bind("nl.load_transpose2d", ["src", "dtype"], 1)?;
                let src = self.tile(&required(src), "nl.load_transpose2d", span)?;
                let mut shape: Vec<u32> = src.shape().collect();
                shape.reverse();
                let loaded = self.fresh(&shape, src.view.dtype, Region::Sbuf, span)?;
                let args = [self.view_arg(&loaded), self.view_arg(&src)];
                self.put(Op::DmaTranspose, &args, span)?;
                let dtype = self.result_dtype(dtype, src.view.dtype, span)?;
                if dtype == src.view.dtype {
                    return Ok(tensor_value(loaded));
                }
                self.copied(&loaded, dtype, span).map(tensor_value)
            }
            "copy" | "cast" => {
                let [x, dtype, mask] = args.bind("nl.copy", ["x", "dtype", "mask"], 1)?;
                self.no_mask(mask, span)?;
                let x = self.tile(&required(x), "nl.copy", span)?;
                let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
                self.copied(&x, dtype, span).map(tensor_value)
            }
            "negative" => {
                let [x, dtype, mask] = args.bind("nl.negative", ["x", "dtype", "mask"], 1)?;
                self.no_mask(mask, span)?;
                self.negative(&required(x), dtype, span)
            }
            "floor" | "ceil" | "trunc" => {
                let [x, dtype, mask] = args.bind(format_args!("nl.{name}"), ["x", "dtype", "mask"], 1)?;
                self.no_mask(mask, span)?;
                self.rounded(name, &required(x), dtype, span)
            }
            "sin" | "cos" | "tan" => {
                let [x, dtype, mask] = args.bind(format_args!("nl.{name}"), ["x", "dtype", "mask"], 1)?;
                self.no_mask(mask, span)?;
                self.trigonometric(name, &required(x), dtype, span)
            }
            "softmax" => self.softmax(args),
            "rms_norm" => self.rms_norm(args),
            "where" => self.select_where(args),
            "transpose" => {
                let [x, dtype] = args.bind("nl.transpose", ["x", "dtype"], 1)?;
                let x = self.tile(&required(x), "nl.transpose", span)?;
                let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
                let shape = [x.view.free_count() as u32, x.view.partitions()];
                let dst = self.fresh(&shape, dtype, Region::Psum, span)?;
                let args = [self.view_arg(&dst), self.view_arg(&x)];
                self.put(Op::NcTranspose, &args, span)?;
                Ok(tensor_value(dst))
            }
            "matmul" => self.matmul(args),
            "shared_constant" => self.shared_constant(args),
            "shared_identity_matrix" => self.shared_identity_matrix(args),
            "device_print" => self.device_print(args),
            "rand" => self.rand(args),
            "random_seed" => self.random_seed(args),
            "dropout" => self.dropout(args),
            "gather_flattened" => self.gather_flattened(args),
            "atomic_rmw" => self.call_atomic_rmw(args),
            "no_reorder" => {
                let [] = args.bind("nl.no_reorder", [], 0)?;
                Ok(Value::Member(&NO_REORDER))
            }
            "broadcast_to" => {
                let [x, shape, dtype] = args.bind("nl.broadcast_to", ["x", "shape", "dtype"], 2)?;
                let x = self.tile(&required(x), "nl.broadcast_to", span)?;
                let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
                let shape = shape_of(&required(shape), span)?;
                self.broadcast_copy(&x, &shape, dtype, span).map(tensor_value)
            }
            "expand_dims" => {
                let [x, at] = args.bind("nl.expand_dims", ["x", "axis"], 2)?;
                let x = self.tile(&required(x), "nl.expand_dims", span)?;
                let at = axis(&required(at), x.view.dims().len() + 1, span)?;
                layout::expand_dim(&x, at, span).map(tensor_value)
            }
            _ => match REDUCTIONS.iter().find(|it| it.0 == name) {
                Some((_, op)) => self.reduction(name, *op, args),
                None => self.operator_function(name, args),
            },
        }
    }

    /// `tensor[…] = tile`.
    pub fn store_tile(&mut self, target: &Value, item: &Value, span: Span) -> Result<()> {
        let dst = self.tile(target, "a subscript assignment", span)?;
        if let Some(value) = super::bind::immediate(item) {
            let arg = match (value, dst.view.dtype.is_int()) {
                (Arg::Int(it), false) => Arg::Float(it as f32),
                (value, _) => value,
            };
            if !self.is_reached(&dst) {
                return self.store_number_by_dma(&dst, arg, span);
            }
            let args = [self.view_arg(&dst), arg];
            return self.put(Op::Memset, &args, span);
        }
        let value = self.tile(item, "a subscript assignment", span)?;
        self.store_view(&dst, &value, span)
    }

    /// Moves a tile into a view by the instruction that the two memories call for.
    pub fn store_view(&mut self, dst: &Tensor, value: &Tensor, span: Span) -> Result<()> {
        let on_chip = dst.is_on_chip() && value.is_on_chip();
        let by_dma = on_chip
            && [dst.region, value.region] == [Region::Sbuf; 2]
            && !(self.is_reached(dst) && self.is_reached(value));
        if by_dma {
            self.warn(Warning::StartPartition, span);
        } else if on_chip {
            let args = [self.view_arg(dst), self.view_arg(value)];
            return self.put(Op::TensorCopy, &args, span);
        }
        // DMA cannot read PSUM.
        let value = if value.region == Region::Psum {
            self.copied(value, dst.view.dtype, span)?
        } else {
            value.clone()
        };
        let args = [self.view_arg(dst), self.view_arg(&value)];
        self.put(Op::DmaCopy, &args, span)
    }

    /// `nl.broadcast_to`: a tile that holds every repeated element.
    fn broadcast_copy(&mut self, x: &Tensor, shape: &[u32], dtype: Dtype, span: Span) -> Result<Tensor> {
        if x.view.dims().len() != shape.len() {
            let message = format!(
                "nl.broadcast_to keeps the number of dimensions: {} is not {}",
                shape.len(),
                x.view.dims().len()
            );
            return Err(Error::value_error(message, span));
        }
        let n_views = self.program.buffers.len();
        let repeated = self.repeated(x, shape, span)?;
        let is_fresh = repeated.buffer().index() >= n_views && layout::is_contiguous(&repeated);
        if (is_fresh || repeated.view == x.view) && repeated.view.dtype == dtype && x.is_on_chip() {
            return Ok(repeated);
        }
        self.copied(&repeated, dtype, span)
    }

    fn matmul(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [x, y, transpose_x, mask] = args.bind("nl.matmul", ["x", "y", "transpose_x", "mask"], 2)?;
        self.no_mask(mask, span)?;
        let x = self.tile(&required(x), "nl.matmul", span)?;
        let y = self.tile(&required(y), "nl.matmul", span)?;
        // The Tensor engine reads SBUF only.
        let (x, y) = (self.in_sbuf(&x, span)?, self.in_sbuf(&y, span)?);
        let stationary = if transpose_x.is_some_and(|it| it.truth()) {
            x
        } else {
            let shape = [x.view.free_count() as u32, x.view.partitions()];
            let transposed = self.fresh(&shape, Dtype::F32, Region::Psum, span)?;
            let args = [self.view_arg(&transposed), self.view_arg(&x)];
            self.put(Op::NcTranspose, &args, span)?;
            self.copied(&transposed, x.view.dtype, span)?
        };
        let shape = [stationary.view.free_count() as u32, y.view.free_count() as u32];
        let dst = self.fresh(&shape, Dtype::F32, Region::Psum, span)?;
        self.accumulate(None, &dst.view, span)?;
        let args = [self.view_arg(&dst), self.view_arg(&stationary), self.view_arg(&y)];
        self.put(Op::NcMatmul, &args, span)?;
        Ok(tensor_value(dst))
    }

    /// The tensor in a value.
    pub fn tile(&self, value: &Value, function: &str, span: Span) -> Result<Tensor> {
        match value {
            Value::Tensor(it) => Ok((**it).clone()),
            Value::Access(it) => Err(it.outside()),
            Value::Blocks(_) => Err(Error::type_error(
                format!("{function} takes one tile; index the block dimensions of the tensor"),
                span,
            )),
            _ => Err(Error::type_error(
                format!("{function} takes a tensor, not {}", with_article(value.kind())),
                span,
            )),
        }
    }

    pub fn view_arg(&mut self, tensor: &Tensor) -> Arg {
        Arg::View(self.program.add_view(tensor.view))
    }

    /// A fresh tile of a shape.
    pub fn fresh(&mut self, shape: &[u32], dtype: Dtype, region: Region, span: Span) -> Result<Tensor> {
        let mut shape = shape.to_vec();
        // A row of HBM becomes one element per partition.
        if shape.len() == 1 && region.memory().is_on_chip() {
            shape.push(1);
        }
        let wanted = Creation {
            shape,
            dtype,
            region,
            name: None,
            request: None,
            role: Role::Local,
        };
        self.create(wanted, span)
    }

    pub fn fresh_like(
        &mut self,
        tensor: &Tensor,
        dtype: Dtype,
        region: Region,
        span: Span,
    ) -> Result<Tensor> {
        let shape: Vec<u32> = tensor.shape().collect();
        self.fresh(&shape, dtype, region, span)
    }

    /// A copy of a tile in SBUF.
    pub fn copied(&mut self, tensor: &Tensor, dtype: Dtype, span: Span) -> Result<Tensor> {
        let dst = self.fresh_like(tensor, dtype, Region::Sbuf, span)?;
        let op = if tensor.is_on_chip() {
            Op::TensorCopy
        } else {
            Op::DmaCopy
        };
        let args = [self.view_arg(&dst), self.view_arg(tensor)];
        self.put(op, &args, span)?;
        Ok(dst)
    }

    /// Emits an instruction from its leading operands; the others take their defaults.
    pub fn put(&mut self, op: Op, leading: &[Arg], span: Span) -> Result<()> {
        let mut args = [Arg::Absent; MAX_ARGS];
        for (slot, operand) in args.iter_mut().zip(op.row().operands) {
            *slot = operand.default.unwrap_or(Arg::Absent);
        }
        args[..leading.len()].copy_from_slice(leading);
        if op == Op::NcMatmul {
            args[6] = Arg::Accumulate(Accumulate::Overwrite);
        }
        let engine: Engine = self.engine_for(op, &[], &args, span)?;
        self.emit(op, engine, args, span)
    }

    pub fn result_dtype(&mut self, asked: Option<Value>, default: Dtype, span: Span) -> Result<Dtype> {
        match asked {
            None | Some(Value::None) => Ok(default),
            Some(it) => self.device_dtype(&it, span),
        }
    }

    /// A dtype of the device; NumPy's 64-bit ones are narrowed, with a warning.
    pub fn device_dtype(&mut self, value: &Value, span: Span) -> Result<Dtype> {
        if let Value::Host(it) = value
            && let host::Arg::Dtype(dtype) = **it
            && let Some(narrow) = self.narrowed(dtype, span)
        {
            return Ok(narrow);
        }
        self.dtype_of(value, span)
    }

    pub fn no_mask(&mut self, mask: Option<Value>, span: Span) -> Result<()> {
        match mask {
            None => Ok(()),
            Some(Value::None) => {
                self.warn(Warning::OldKeyword("mask"), span);
                Ok(())
            }
            Some(_) => Err(unexpected(
                "this function",
                &"mask".into(),
                std::iter::empty(),
                span,
            )),
        }
    }
}
