//! Element-wise operators and functions of `nki.language`, as calls and as operators on tiles.
//!
//! Takes tiles, columns and numbers, emits one instruction, gives a fresh tile of the promoted dtype (`isa.md` §2.7).

use super::builtins::required;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::host_bridge;
use super::index::tensor_value;
use super::value::{Region, Tensor, Value};
use super::{Evaluator, Warning};
use crate::ast::{BinOp, CmpOp, UnaryOp};
use crate::dtype::Dtype;
use crate::isa::{ActFn, AluClass, AluOp, Arg, Op};
use crate::source::Span;
use std::rc::Rc;

impl Evaluator<'_> {
    /// `nl.add`, `nl.exp` and the like, called as functions.
    pub fn operator_function(&mut self, name: &'static str, args: CallArgs) -> Result<Value> {
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

    pub fn unary_tile(&mut self, op: AluOp, x: &Value, dtype: Option<Value>, span: Span) -> Result<Value> {
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
}

fn as_tile(value: &Value) -> Option<Rc<Tensor>> {
    match value {
        Value::Tensor(it) => Some(it.clone()),
        _ => None,
    }
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
        // `bool` has the size of uint8 and fewer values.
        let a_is_wider = a.size() > b.size() || (a.size() == b.size() && b == Dtype::Bool);
        return if a_is_wider { a } else { b };
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
