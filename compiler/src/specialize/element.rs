//! Element-wise operators and functions of `nki.language`, as calls and as operators on tiles.
//!
//! Takes tiles, columns and numbers, emits one instruction, gives a fresh tile whose dtype `promote` says. Operands of
//! other shapes are broadcast first.

use super::broadcast::common_shape;
use super::builtins::required;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::index::tensor_value;
use super::promote;
use super::value::{Region, Tensor, Value};
use super::{Evaluator, bind, host_bridge, layout};
use crate::ast::{BinOp, CmpOp, UnaryOp};
use crate::dtype::Dtype;
use crate::isa::{ActFn, AluClass, AluOp, Arg, Op};
use crate::source::Span;

/// Functions that both the Scalar engine and an ALU have, and that are the ALU's on tiles, being exact there.
const EXACT_ON_ALU: &[ActFn] = &[ActFn::Abs, ActFn::Rsqrt, ActFn::Reciprocal];

impl Evaluator<'_> {
    /// `nl.add`, `nl.exp` and the like, called as functions.
    pub fn operator_function(&mut self, name: &'static str, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let function = format!("nl.{name}");
        let act = ActFn::from_name(name).filter(|it| !EXACT_ON_ALU.contains(it));
        // `nl.average` is an operator of one instruction, not a function.
        let alu = AluOp::from_name(name).filter(|it| *it != AluOp::Average);
        if let (None, Some(op)) = (act, alu.filter(|it| !it.facts().unary)) {
            let [x, y, dtype, mask] = args.bind(&function, ["x", "y", "dtype", "mask"], 2)?;
            self.no_mask(mask, span)?;
            return self.element_wise(op, &required(x), &required(y), dtype, span);
        }
        let [x, dtype, mask] = args.bind(&function, ["x", "dtype", "mask"], 1)?;
        self.no_mask(mask, span)?;
        let x = required(x);
        if let Value::Array(_) | Value::Float(_) | Value::Int(_) = x {
            return host_bridge::function(name, vec![x], span, self);
        }
        match (act, alu) {
            (Some(act), _) => {
                let x = self.tile(&x, &function, span)?;
                let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
                self.activated(act, &x, dtype, span).map(tensor_value)
            }
            (None, Some(op)) => self.unary_tile(op, &x, dtype, span),
            (None, None) => Err(Error::new(Mistake::NotCallable { kind: function }, span)),
        }
    }

    /// A function of the Scalar engine on a tile.
    pub fn activated(&mut self, act: ActFn, x: &Tensor, dtype: Dtype, span: Span) -> Result<Tensor> {
        let dst = self.fresh_like(x, dtype, Region::Sbuf, span)?;
        let args = [self.view_arg(&dst), Arg::Act(act), self.view_arg(x)];
        self.put(Op::Activation, &args, span)?;
        Ok(dst)
    }

    pub fn unary_tile(&mut self, op: AluOp, x: &Value, dtype: Option<Value>, span: Span) -> Result<Value> {
        let function = format!("nl.{}", op.name());
        let x = self.tile(x, &function, span)?;
        let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
        if op == AluOp::Reciprocal {
            let dst = self.fresh_like(&x, dtype, Region::Sbuf, span)?;
            let args = [self.view_arg(&dst), self.view_arg(&x)];
            self.put(Op::Reciprocal, &args, span)?;
            return Ok(tensor_value(dst));
        }
        let is_int = x.view.dtype.is_int();
        // NKI defines these two as XOR with 1 and with all ones; on a bool the first is meant by both.
        let (op, operand) = match op {
            AluOp::LogicalNot if is_int => (AluOp::BitwiseXor, Arg::Int(1)),
            AluOp::LogicalNot => (AluOp::Equal, Arg::Float(0.0)),
            AluOp::BitwiseNot => (AluOp::BitwiseXor, Arg::Int(-1)),
            op => (op, Arg::Float(0.0)),
        };
        self.with_operand(&x, op, operand, dtype, span).map(tensor_value)
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
        if !matches!(x, Value::Tensor(_)) && !matches!(y, Value::Tensor(_)) {
            return host_bridge::function(op.name(), vec![x.clone(), y.clone()], span, self);
        }
        let dtype = self.result_dtype(dtype, promote::result_dtype(op, x, y), span)?;
        let result = match (x, y) {
            (Value::Tensor(x), Value::Tensor(y)) => self.two_tiles(op, x, y, dtype, span)?,
            (Value::Tensor(x), y) => self.tile_and_number(op, x, y, Side::Right, dtype, span)?,
            (x, Value::Tensor(y)) => self.tile_and_number(op, y, x, Side::Left, dtype, span)?,
            _ => unreachable!("one of the two is a tile"),
        };
        Ok(tensor_value(result))
    }

    fn two_tiles(&mut self, op: AluOp, x: &Tensor, y: &Tensor, dtype: Dtype, span: Span) -> Result<Tensor> {
        let (left, right): (Vec<u32>, Vec<u32>) = (x.shape().collect(), y.shape().collect());
        if left == right {
            return self.combined(op, x, y, dtype, span);
        }
        let is_exact = is_exact_integer(op, [x.view.dtype, y.view.dtype, dtype]);
        match (is_column_of(x, y), is_column_of(y, x)) {
            (_, true) if is_exact => {
                let y = free_repeated(y, x, span)?;
                self.combined(op, x, &y, dtype, span)
            }
            (true, _) if is_exact => {
                let x = free_repeated(x, y, span)?;
                self.combined(op, &x, y, dtype, span)
            }
            (_, true) => {
                let y = self.view_arg(y);
                self.with_operand(x, op, y, dtype, span)
            }
            (true, _) => {
                let x = self.view_arg(x);
                self.with_left_operand(y, op, x, dtype, span)
            }
            _ => {
                let Some(shape) = common_shape(&left, &right) else {
                    let function = format!("nl.{}", op.name());
                    return Err(Error::new(
                        Mistake::NlShapes {
                            function,
                            left,
                            right,
                        },
                        span,
                    ));
                };
                let x = self.broadcast(x, &shape, span)?;
                let y = self.broadcast(y, &shape, span)?;
                self.combined(op, &x, &y, dtype, span)
            }
        }
    }

    fn tile_and_number(
        &mut self,
        op: AluOp,
        tile: &Tensor,
        number: &Value,
        side: Side,
        dtype: Dtype,
        span: Span,
    ) -> Result<Tensor> {
        let number = self.number(number, op, span)?;
        let is_integer = matches!(number, Arg::Int(_) | Arg::Uint(_));
        if is_integer && is_exact_integer(op, [tile.view.dtype, tile.view.dtype, dtype]) {
            // The Vector engine would compute in f32. GpSimd is exact but takes tiles only, so the number becomes one.
            let column = self.fresh(&[tile.view.partitions(), 1], tile.view.dtype, Region::Sbuf, span)?;
            let args = [self.view_arg(&column), number];
            self.put(Op::Memset, &args, span)?;
            let column = free_repeated(&column, tile, span)?;
            return match side {
                Side::Left => self.combined(op, &column, tile, dtype, span),
                Side::Right => self.combined(op, tile, &column, dtype, span),
            };
        }
        let number = match (number, op.facts().class) {
            (Arg::Int(it), AluClass::Arithmetic) => Arg::Float(it as f32),
            (Arg::Uint(it), AluClass::Arithmetic) => Arg::Float(it as f32),
            (arg, _) => arg,
        };
        match side {
            Side::Left => self.with_left_operand(tile, op, number, dtype, span),
            Side::Right => self.with_operand(tile, op, number, dtype, span),
        }
    }

    fn number(&self, value: &Value, op: AluOp, span: Span) -> Result<Arg> {
        bind::immediate(value).ok_or_else(|| {
            let (op, kind) = (op.name(), with_article(value.kind()));
            Error::type_error(format!("nl.{op} takes tiles and numbers, not {kind}"), span)
        })
    }

    /// One tensor_tensor.
    pub fn combined(
        &mut self,
        op: AluOp,
        x: &Tensor,
        y: &Tensor,
        dtype: Dtype,
        span: Span,
    ) -> Result<Tensor> {
        let both_in_psum = x.region == Region::Psum && y.region == Region::Psum;
        let is_exact = is_exact_integer(op, [x.view.dtype, y.view.dtype, dtype]);
        // GpSimd, which has power and exact integers, does not reach PSUM.
        let on_gpsimd = op.facts().gpsimd_only || is_exact;
        let x = if both_in_psum || on_gpsimd {
            self.in_sbuf(x, span)?
        } else {
            x.clone()
        };
        let y = if on_gpsimd {
            self.in_sbuf(y, span)?
        } else {
            y.clone()
        };
        let dst = self.fresh_like(&x, dtype, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&dst),
            self.view_arg(&x),
            self.view_arg(&y),
            Arg::Alu(op),
        ];
        self.put(Op::TensorTensor, &args, span)?;
        Ok(dst)
    }

    /// One tensor_scalar: the tile on the left, a column or number on the right.
    pub fn with_operand(
        &mut self,
        x: &Tensor,
        op: AluOp,
        operand: Arg,
        dtype: Dtype,
        span: Span,
    ) -> Result<Tensor> {
        self.tensor_scalar(x, op, [operand, Arg::Bool(false)], dtype, span)
    }

    /// One tensor_scalar with the sides swapped.
    fn with_left_operand(
        &mut self,
        x: &Tensor,
        op: AluOp,
        operand: Arg,
        dtype: Dtype,
        span: Span,
    ) -> Result<Tensor> {
        self.tensor_scalar(x, op, [operand, Arg::Bool(true)], dtype, span)
    }

    fn tensor_scalar(
        &mut self,
        x: &Tensor,
        op: AluOp,
        [operand, reverse]: [Arg; 2],
        dtype: Dtype,
        span: Span,
    ) -> Result<Tensor> {
        let x = if op.facts().gpsimd_only {
            self.in_sbuf(x, span)?
        } else {
            x.clone()
        };
        let dst = self.fresh_like(&x, dtype, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&dst),
            self.view_arg(&x),
            Arg::Alu(op),
            operand,
            reverse,
        ];
        self.put(Op::TensorScalar, &args, span)?;
        Ok(dst)
    }

    /// The tile itself, or a copy of one in PSUM.
    pub fn in_sbuf(&mut self, tile: &Tensor, span: Span) -> Result<Tensor> {
        match tile.region {
            Region::Psum => self.copied(tile, tile.view.dtype, span),
            _ => Ok(tile.clone()),
        }
    }

    pub fn tile_binary(&mut self, op: BinOp, left: &Value, right: &Value, span: Span) -> Result<Value> {
        let alu = match op {
            BinOp::Add => AluOp::Add,
            BinOp::Sub => AluOp::Subtract,
            BinOp::Mul => AluOp::Multiply,
            BinOp::Div => AluOp::Divide,
            BinOp::Mod => AluOp::Mod,
            BinOp::Pow => AluOp::Power,
            BinOp::BitAnd => AluOp::BitwiseAnd,
            BinOp::BitOr => AluOp::BitwiseOr,
            BinOp::BitXor => AluOp::BitwiseXor,
            BinOp::Shl => AluOp::ShiftLeft,
            BinOp::Shr => AluOp::ShiftRight,
            BinOp::FloorDiv => {
                let dtype = promote::promote(promote::dtype_of(left), promote::dtype_of(right));
                let wide = Some(Value::Dtype(Dtype::F32));
                let quotient = self.element_wise(AluOp::Divide, left, right, wide, span)?;
                return self.rounded("floor", &quotient, Some(Value::Dtype(dtype)), span);
            }
            BinOp::MatMul => {
                let (left, right) = (with_article(left.kind()), with_article(right.kind()));
                let op = op.symbol();
                return Err(Error::new(Mistake::Operands { op, left, right }, span));
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
            UnaryOp::Neg => self.negative(value, None, span),
            UnaryOp::Pos => Ok(value.clone()),
            UnaryOp::Invert => self.unary_tile(AluOp::BitwiseNot, value, None, span),
            UnaryOp::Not => self.unary_tile(AluOp::LogicalNot, value, None, span),
        }
    }

    pub fn negative(&mut self, x: &Value, dtype: Option<Value>, span: Span) -> Result<Value> {
        let Value::Tensor(tile) = x else {
            return host_bridge::function("negative", vec![x.clone()], span, self);
        };
        let dtype = self.result_dtype(dtype, tile.view.dtype, span)?;
        let minus = if tile.view.dtype.is_int() {
            Value::Int(-1)
        } else {
            Value::Float(-1.0)
        };
        self.element_wise(AluOp::Multiply, x, &minus, Some(Value::Dtype(dtype)), span)
    }
}

/// Which side of an operator a number stands on.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// Whether GpSimd computes an operator on these dtypes with exact 32-bit integers.
fn is_exact_integer(op: AluOp, dtypes: [Dtype; 3]) -> bool {
    matches!(op, AluOp::Add | AluOp::Subtract | AluOp::Multiply)
        && dtypes.iter().all(|it| matches!(it, Dtype::I32 | Dtype::U32))
}

/// Whether a tile has one element for each partition of another.
fn is_column_of(column: &Tensor, tile: &Tensor) -> bool {
    column.is_on_chip() && column.view.free_count() == 1 && column.view.partitions() == tile.view.partitions()
}

/// A column repeated to the shape of a tile, by a stride of 0.
fn free_repeated(column: &Tensor, tile: &Tensor, span: Span) -> Result<Tensor> {
    let mut shape: Vec<i64> = tile.shape().map(|_| 1).collect();
    shape[0] = i64::from(tile.view.partitions());
    let column = layout::reshape(column, &shape, span)?;
    let shape: Vec<i64> = tile.shape().map(i64::from).collect();
    layout::broadcast_to(&column, &shape, span)
}
