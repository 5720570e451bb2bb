//! Functions of `nki.language`: calls that make tiles and emit the instructions they stand for.
//!
//! Takes evaluated arguments, gives a fresh tile, a view or a compile-time value. What each function lowers to is in
//! `isa.md` §4.

use super::builtins::required;
use super::call::unexpected;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::exec::range_of;
use super::host_bridge;
use super::index::tensor_value;
use super::tensor::{Creation, axis, int, int_list};
use super::value::{Region, Tensor, Value};
use super::{Evaluator, Warning, layout};
use crate::ast::{BinOp, CmpOp, UnaryOp};
use crate::dtype::Dtype;
use crate::host::HostDtype;
use crate::ir::{Request, Role};
use crate::isa::{Accumulate, ActFn, AluClass, AluOp, Arg, Engine, MAX_ARGS, Memory, Op};
use crate::source::Span;
use std::rc::Rc;

/// Names of `nki.language` that are functions and not only operators.
pub const NAMES: &[&str] = &[
    "affine_range",
    "all",
    "broadcast_to",
    "cast",
    "copy",
    "ds",
    "empty_like",
    "expand_dims",
    "full",
    "full_like",
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
    "num_programs",
    "ones",
    "ones_like",
    "prod",
    "program_id",
    "program_ndim",
    "range",
    "rms_norm",
    "sequential_range",
    "softmax",
    "static_range",
    "store",
    "sum",
    "transpose",
    "var",
    "where",
    "zeros",
    "zeros_like",
];

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
    pub fn call_language(&mut self, name: &'static str, args: CallArgs) -> Result<Value> {
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
            "ds" => {
                let [start, size] = args.bind("nl.ds", ["start", "size"], 2)?;
                let start = int(&required(start), "the start", span)?;
                let size = int(&required(size), "the size", span)?;
                Ok(Value::slice(
                    Value::Int(start),
                    Value::Int(start + size),
                    Value::None,
                ))
            }
            "program_id" => {
                let [axis] = args.bind("nl.program_id", ["axis"], 0)?;
                let axis = axis.and_then(|it| it.as_int()).unwrap_or(0);
                let id = usize::try_from(axis).ok().and_then(|it| self.program_id.get(it));
                Ok(Value::Int(id.map_or(0, |it| i64::from(*it))))
            }
            "num_programs" => {
                let [axes] = args.bind("nl.num_programs", ["axes"], 0)?;
                let axis = axes.and_then(|it| it.as_int()).unwrap_or(0);
                let count = usize::try_from(axis).ok().and_then(|it| self.grid.get(it));
                Ok(Value::Int(count.map_or(1, |it| i64::from(*it))))
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
                let value = self.tile(&required(value), "nl.store", span)?;
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
                let [x, dtype] = args.bind("nl.negative", ["x", "dtype"], 1)?;
                let minus = Value::Float(-1.0);
                self.element_wise(AluOp::Multiply, &required(x), &minus, dtype, span)
            }
            "sum" | "max" | "min" | "prod" | "mean" | "var" | "all" => self.reduction(name, args),
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
            "broadcast_to" => {
                let [x, shape] = args.bind("nl.broadcast_to", ["x", "shape"], 2)?;
                let x = self.tile(&required(x), "nl.broadcast_to", span)?;
                let view = layout::broadcast_to(&x, &int_list(&required(shape), "shape", span)?, span)?;
                self.copied(&view, x.view.dtype, span).map(tensor_value)
            }
            "expand_dims" => {
                let [x, at] = args.bind("nl.expand_dims", ["x", "axis"], 2)?;
                let x = self.tile(&required(x), "nl.expand_dims", span)?;
                let at = axis(&required(at), x.view.dims().len() + 1, span)?;
                layout::expand_dim(&x, at, span).map(tensor_value)
            }
            _ => self.operator_function(name, args),
        }
    }

    /// `nl.add`, `nl.exp` and the like, called as functions.
    fn operator_function(&mut self, name: &'static str, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let function = format!("nl.{name}");
        // On tiles the Scalar engine's function wins where both engines have one, except for exact arithmetic.
        let alu = AluOp::from_name(name);
        let act =
            ActFn::from_name(name).filter(|it| !matches!(it, ActFn::Abs | ActFn::Rsqrt | ActFn::Reciprocal));
        if let Some(act) = act {
            let [x, dtype, mask] = args.bind(&function, ["x", "dtype", "mask"], 1)?;
            self.no_mask(mask, span)?;
            let x = required(x);
            if let Value::Array(_) | Value::Float(_) | Value::Int(_) = x {
                return host_bridge::function(name, vec![x], span, self);
            }
            let x = self.tile(&x, &function, span)?;
            let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
            let dst = self.fresh_like(&x, dtype, Region::Sbuf, span)?;
            let args = [self.view_arg(&dst), Arg::Act(act), self.view_arg(&x)];
            self.put(Op::Activation, &args, span)?;
            return Ok(tensor_value(dst));
        }
        let Some(alu) = alu else {
            return Err(Error::new(Mistake::NotCallable { kind: function }, span));
        };
        if alu == AluOp::Reciprocal {
            let [x, dtype] = args.bind(&function, ["x", "dtype"], 1)?;
            let x = self.tile(&required(x), &function, span)?;
            let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
            let dst = self.fresh_like(&x, dtype, Region::Sbuf, span)?;
            let args = [self.view_arg(&dst), self.view_arg(&x)];
            self.put(Op::Reciprocal, &args, span)?;
            return Ok(tensor_value(dst));
        }
        if alu.facts().unary {
            let [x, dtype] = args.bind(&function, ["x", "dtype"], 1)?;
            return self.unary_tile(alu, &required(x), dtype, span);
        }
        let [x, y, dtype, mask] = args.bind(&function, ["x", "y", "dtype", "mask"], 2)?;
        self.no_mask(mask, span)?;
        self.element_wise(alu, &required(x), &required(y), dtype, span)
    }

    fn unary_tile(&mut self, op: AluOp, x: &Value, dtype: Option<Value>, span: Span) -> Result<Value> {
        let function = format!("nl.{}", op.name());
        let x = self.tile(x, &function, span)?;
        let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
        let dst = self.fresh_like(&x, dtype, Region::Sbuf, span)?;
        let (dst_arg, x_arg) = (self.view_arg(&dst), self.view_arg(&x));
        // NKI defines these two as XOR with 1 and with all ones.
        let (op, operand) = match op {
            AluOp::LogicalNot if x.view.dtype.is_int() => (AluOp::BitwiseXor, Arg::Int(1)),
            AluOp::LogicalNot => (AluOp::Equal, Arg::Float(0.0)),
            AluOp::BitwiseNot => (AluOp::BitwiseXor, Arg::Int(-1)),
            op => (op, Arg::Float(0.0)),
        };
        let args = [dst_arg, x_arg, Arg::Alu(op), operand];
        self.put(Op::TensorScalar, &args, span)?;
        Ok(tensor_value(dst))
    }

    /// A binary operator on tiles, columns and numbers.
    pub fn element_wise(
        &mut self,
        op: AluOp,
        x: &Value,
        y: &Value,
        dtype: Option<Value>,
        span: Span,
    ) -> Result<Value> {
        let function = format!("nl.{}", op.name());
        if op == AluOp::Divide {
            self.warn(Warning::NoDivider, span);
        }
        if !matches!(x, Value::Tensor(_)) && !matches!(y, Value::Tensor(_)) {
            return host_bridge::function(op.name(), vec![x.clone(), y.clone()], span, self);
        }
        let wanted = match dtype {
            None | Some(Value::None) => promoted(x, y),
            Some(it) => self.dtype_of(&it, span)?,
        };
        let (a, b) = (as_tile(x), as_tile(y));
        let (tile, other, reversed) = match (&a, &b) {
            (Some(a), Some(b)) => {
                let (shape_a, shape_b): (Vec<u32>, Vec<u32>) = (a.shape().collect(), b.shape().collect());
                if shape_a == shape_b {
                    let a = if self.both_in_psum(a, b) {
                        self.copied(a, a.view.dtype, span)?
                    } else {
                        (**a).clone()
                    };
                    let dst = self.fresh_like(&a, wanted, Region::Sbuf, span)?;
                    let args = [
                        self.view_arg(&dst),
                        self.view_arg(&a),
                        self.view_arg(b),
                        Arg::Alu(op),
                    ];
                    self.put(Op::TensorTensor, &args, span)?;
                    return Ok(tensor_value(dst));
                }
                let column = |it: &Tensor, other: &Tensor| {
                    it.is_on_chip()
                        && it.view.free_count() == 1
                        && it.view.partitions() == other.view.partitions()
                };
                match (column(a, b), column(b, a)) {
                    (_, true) => (a.clone(), self.view_arg(b), false),
                    (true, _) => (b.clone(), self.view_arg(a), true),
                    _ => {
                        return Err(Error::new(
                            Mistake::NlShapes {
                                function,
                                left: shape_a,
                                right: shape_b,
                            },
                            span,
                        ));
                    }
                }
            }
            (Some(a), None) => (a.clone(), self.number(y, op, &function, span)?, false),
            (_, Some(b)) => (b.clone(), self.number(x, op, &function, span)?, true),
            (None, None) => unreachable!("one of the two is a tile"),
        };
        let dst = self.fresh_like(&tile, wanted, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&dst),
            self.view_arg(&tile),
            Arg::Alu(op),
            other,
            Arg::Bool(reversed),
        ];
        self.put(Op::TensorScalar, &args, span)?;
        Ok(tensor_value(dst))
    }

    fn number(&self, value: &Value, op: AluOp, function: &str, span: Span) -> Result<Arg> {
        let message = || {
            format!(
                "{function} takes tiles and numbers, not {}",
                with_article(value.kind())
            )
        };
        let arg = super::bind::immediate(value).ok_or_else(|| Error::type_error(message(), span))?;
        Ok(match (arg, op.facts().class) {
            (Arg::Int(it), AluClass::Arithmetic) => Arg::Float(it as f32),
            (Arg::Uint(it), AluClass::Arithmetic) => Arg::Float(it as f32),
            (arg, _) => arg,
        })
    }

    fn both_in_psum(&self, a: &Tensor, b: &Tensor) -> bool {
        a.region == Region::Psum && b.region == Region::Psum
    }

    pub fn tile_binary(&mut self, op: BinOp, left: &Value, right: &Value, span: Span) -> Result<Value> {
        let alu = match op {
            BinOp::Add => AluOp::Add,
            BinOp::Sub => AluOp::Subtract,
            BinOp::Mul => AluOp::Multiply,
            BinOp::Div => AluOp::Divide,
            BinOp::Pow => AluOp::Power,
            BinOp::BitAnd => AluOp::BitwiseAnd,
            BinOp::BitOr => AluOp::BitwiseOr,
            BinOp::BitXor => AluOp::BitwiseXor,
            BinOp::Shl => AluOp::ShiftLeft,
            BinOp::Shr => AluOp::ShiftRight,
            BinOp::FloorDiv | BinOp::Mod | BinOp::MatMul => {
                let (left, right) = (with_article(left.kind()), with_article(right.kind()));
                return Err(Error::new(
                    Mistake::Operands {
                        op: op.symbol(),
                        left,
                        right,
                    },
                    span,
                ));
            }
        };
        self.element_wise(alu, left, right, None, span)
    }

    pub fn tile_compare(&mut self, op: CmpOp, left: &Value, right: &Value, span: Span) -> Result<Value> {
        let alu = match op {
            CmpOp::Lt => AluOp::Less,
            CmpOp::Le => AluOp::LessEqual,
            CmpOp::Gt => AluOp::Greater,
            CmpOp::Ge => AluOp::GreaterEqual,
            CmpOp::Ne => AluOp::NotEqual,
            _ => AluOp::Equal,
        };
        self.element_wise(alu, left, right, None, span)
    }

    pub fn tile_unary(&mut self, op: UnaryOp, value: &Value, span: Span) -> Result<Value> {
        match op {
            UnaryOp::Neg => self.element_wise(AluOp::Multiply, value, &Value::Float(-1.0), None, span),
            UnaryOp::Pos => Ok(value.clone()),
            UnaryOp::Invert => self.unary_tile(AluOp::BitwiseNot, value, None, span),
            UnaryOp::Not => self.unary_tile(AluOp::LogicalNot, value, None, span),
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
            let args = [self.view_arg(&dst), arg];
            return self.put(Op::Memset, &args, span);
        }
        let value = self.tile(item, "a subscript assignment", span)?;
        self.store_view(&dst, &value, span)
    }

    /// Moves a tile into a view by the instruction that the two memories call for.
    fn store_view(&mut self, dst: &Tensor, value: &Tensor, span: Span) -> Result<()> {
        let on_chip = dst.is_on_chip() && value.is_on_chip();
        if on_chip {
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

    fn matmul(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [x, y, transpose_x] = args.bind("nl.matmul", ["x", "y", "transpose_x"], 2)?;
        let x = self.tile(&required(x), "nl.matmul", span)?;
        let y = self.tile(&required(y), "nl.matmul", span)?;
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

    fn make_tensor(&mut self, function: &'static str, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let (shape, fill, dtype, buffer, name, address);
        if function == "full" {
            let names = ["shape", "fill_value", "dtype", "buffer", "name"];
            [shape, fill, dtype, buffer, name] = args.bind("nl.full", names, 3)?;
            address = None;
        } else {
            let names = ["shape", "dtype", "buffer", "name", "address"];
            [shape, dtype, buffer, name, address] = args.bind(&format!("nl.{function}"), names, 2)?;
            fill = match function {
                "zeros" => Some(Value::Int(0)),
                "ones" => Some(Value::Int(1)),
                _ => None,
            };
        }
        let shape = shape_of(&required(shape), span)?;
        let dtype = self.device_dtype(&required(dtype), span)?;
        let region = match buffer {
            None | Some(Value::None) => Region::Sbuf,
            Some(Value::Buffer(it)) => it,
            Some(other) => {
                let message = format!(
                    "`buffer` is a memory region such as nl.sbuf, not {}",
                    with_article(other.kind())
                );
                return Err(Error::type_error(message, span));
            }
        };
        let name = match name {
            Some(Value::Str(it)) if is_plain_name(&it) => Some(it),
            _ => None,
        };
        let request = match address {
            None | Some(Value::None) => None,
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

    fn make_like(&mut self, function: &'static str, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let is_full = function == "full_like";
        let names = [
            "x",
            if is_full { "fill_value" } else { "dtype" },
            if is_full { "dtype" } else { "buffer" },
            "name",
        ];
        let [x, second, third, _] =
            args.bind(&format!("nl.{function}"), names, if is_full { 2 } else { 1 })?;
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
            Some(Value::Buffer(it)) => it,
            _ => x.region,
        };
        let tensor = self.fresh_like(&x, dtype, region, span)?;
        if let Some(fill) = fill {
            self.fill(&tensor, &fill, span)?;
        }
        Ok(tensor_value(tensor))
    }

    fn fill(&mut self, tensor: &Tensor, fill: &Value, span: Span) -> Result<()> {
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
        let arg = match (super::bind::immediate(fill), tensor.view.dtype.is_int()) {
            (Some(Arg::Int(it)), false) => Arg::Float(it as f32),
            (Some(Arg::Float(it)), true) if it.fract() == 0.0 => Arg::Int(it as i32),
            (Some(it), _) => it,
            (None, _) => return Err(Error::type_error("the fill value is a number", span)),
        };
        let args = [self.view_arg(tensor), arg];
        self.put(Op::Memset, &args, span)
    }

    /// The tensor in a value.
    pub fn tile(&self, value: &Value, function: &str, span: Span) -> Result<Tensor> {
        match value {
            Value::Tensor(it) => Ok((**it).clone()),
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
        let wanted = Creation {
            shape: shape.to_vec(),
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
        self.emit(op, engine, args, span).map(|_| ())
    }

    pub fn result_dtype(&mut self, asked: Option<Value>, default: Dtype, span: Span) -> Result<Dtype> {
        match asked {
            None | Some(Value::None) => Ok(default),
            Some(it) => self.device_dtype(&it, span),
        }
    }

    /// A dtype of the device; NumPy's 64-bit ones are narrowed, with a warning.
    fn device_dtype(&mut self, value: &Value, span: Span) -> Result<Dtype> {
        let Value::Host(host) = value else {
            return self.dtype_of(value, span);
        };
        match **host {
            crate::host::Arg::Dtype(HostDtype::F64) => {
                self.warn(Warning::Narrowed, span);
                Ok(Dtype::F32)
            }
            crate::host::Arg::Dtype(HostDtype::I64) => {
                self.warn(Warning::Narrowed, span);
                Ok(Dtype::I32)
            }
            crate::host::Arg::Dtype(HostDtype::U64) => {
                self.warn(Warning::Narrowed, span);
                Ok(Dtype::U32)
            }
            _ => self.dtype_of(value, span),
        }
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

fn as_tile(value: &Value) -> Option<Rc<Tensor>> {
    match value {
        Value::Tensor(it) => Some(it.clone()),
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

/// The dtype of a binary function's result (`isa.md` §2.7).
fn promoted(x: &Value, y: &Value) -> Dtype {
    let dtype = |it: &Value| match it {
        Value::Tensor(it) => it.view.dtype,
        Value::Bool(_) => Dtype::U8,
        Value::Int(_) => Dtype::I32,
        _ => Dtype::F32,
    };
    promote(dtype(x), dtype(y))
}

fn promote(a: Dtype, b: Dtype) -> Dtype {
    use Dtype::{Bf16, F16, F32, I8, I16, I32, U8, U16, U32};
    if a == b {
        return a;
    }
    match (a.is_float(), b.is_float()) {
        (true, false) => return a,
        (false, true) => return b,
        (true, true) => {
            return match (a.size(), b.size()) {
                (4, _) | (_, 4) | (2, 2) => F32,
                (2, _) => a,
                (_, 2) => b,
                _ => Bf16,
            };
        }
        (false, false) => {}
    }
    if a.is_signed_int() == b.is_signed_int() {
        return if a.size() >= b.size() { a } else { b };
    }
    let (signed, unsigned) = if a.is_signed_int() { (a, b) } else { (b, a) };
    match (signed, unsigned) {
        (I32, U32) | (_, U32) => F32,
        (I32, _) | (_, U16) => I32,
        (I16, _) => I16,
        (I8, U8 | Dtype::Bool) => I16,
        (it, _) => {
            debug_assert!(it != F16, "floats were handled above");
            it
        }
    }
}
