//! Element-wise functions that no engine has as one instruction: rounding, trigonometry and choice.
//!
//! Takes tiles, emits the instruction sequences of `isa.md` §4.6, gives a fresh tile. Only the values are contractual.

use super::broadcast::common_shape;
use super::builtins::required;
use super::error::{Error, Mistake, Result};
use super::eval::CallArgs;
use super::index::tensor_value;
use super::promote;
use super::value::{Region, Tensor, Value};
use super::{Evaluator, bind, host_bridge};
use crate::dtype::Dtype;
use crate::isa::{ActFn, AluOp, Arg, Op};
use crate::source::Span;

/// From here on every f32 is an integer.
const ALL_INTEGERS: f32 = 8_388_608.0;

/// 2π in three parts whose products with an integer of up to 13 bits are exact in f32, or too small to matter.
const TWO_PI: [f32; 3] = [6.281_25, 0.001_935_005_2, 3.019_916e-7];

impl Evaluator<'_> {
    /// `nl.floor`, `nl.ceil` and `nl.trunc`: a cast to int32 rounds to nearest, a comparison says whether to step back.
    pub fn rounded(
        &mut self,
        name: &'static str,
        x: &Value,
        dtype: Option<Value>,
        span: Span,
    ) -> Result<Value> {
        if let Value::Array(_) | Value::Float(_) | Value::Int(_) = x {
            return host_bridge::function(name, vec![x.clone()], span, self);
        }
        let x = self.tile(x, &format!("nl.{name}"), span)?;
        let own = x.view.dtype;
        let dtype = self.result_dtype(dtype, own, span)?;
        if own.is_int() {
            return self.copied(&x, dtype, span).map(tensor_value);
        }
        let zero = Arg::Float(0.0);
        // A step towards zero is a step down of the magnitude.
        let magnitude = match name {
            "trunc" => self.with_operand(&x, AluOp::Abs, zero, Dtype::F32, span)?,
            _ => x.clone(),
        };
        let nearest = self.copied(&magnitude, Dtype::I32, span)?;
        let (is_past, back) = match name {
            "ceil" => (AluOp::Less, AluOp::Add),
            _ => (AluOp::Greater, AluOp::Subtract),
        };
        let past = self.combined(is_past, &nearest, &magnitude, Dtype::F32, span)?;
        // Integers up to 2^23 that are the floor of a value of some dtype are values of it too.
        let mut result = self.combined(back, &nearest, &past, own, span)?;
        if name == "trunc" {
            let sign = self.activated(ActFn::Sign, &x, Dtype::F32, span)?;
            result = self.combined(AluOp::Multiply, &result, &sign, own, span)?;
        }
        // Large values, infinities and NaN are their own integers, and no cast to int32 would keep them.
        let small = self.fresh_like(&x, Dtype::U8, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&small),
            self.view_arg(&x),
            Arg::Alu(AluOp::Abs),
            zero,
            Arg::Bool(false),
            Arg::Alu(AluOp::Less),
            Arg::Float(ALL_INTEGERS),
        ];
        self.put(Op::TensorScalar, &args, span)?;
        let args = [
            self.view_arg(&result),
            self.view_arg(&x),
            self.view_arg(&small),
            Arg::Bool(true),
        ];
        self.put(Op::TensorCopyPredicated, &args, span)?;
        if dtype == own {
            return Ok(tensor_value(result));
        }
        self.copied(&result, dtype, span).map(tensor_value)
    }

    /// `nl.sin`, `nl.cos` and `nl.tan`: the Scalar engine has a sine from -π to π, so the argument is brought there.
    pub fn trigonometric(
        &mut self,
        name: &'static str,
        x: &Value,
        dtype: Option<Value>,
        span: Span,
    ) -> Result<Value> {
        if let Value::Array(_) | Value::Float(_) | Value::Int(_) = x {
            return host_bridge::function(name, vec![x.clone()], span, self);
        }
        let x = self.tile(x, &format!("nl.{name}"), span)?;
        let dtype = self.result_dtype(dtype, x.view.dtype, span)?;
        let result = match name {
            "sin" => self.sine_of_turned(&x, 0.0, dtype, span)?,
            "cos" => self.sine_of_turned(&x, 0.25, dtype, span)?,
            _ => {
                let sine = self.sine_of_turned(&x, 0.0, Dtype::F32, span)?;
                let cosine = self.sine_of_turned(&x, 0.25, Dtype::F32, span)?;
                let inverse = self.fresh_like(&x, Dtype::F32, Region::Sbuf, span)?;
                let args = [self.view_arg(&inverse), self.view_arg(&cosine)];
                self.put(Op::Reciprocal, &args, span)?;
                self.combined(AluOp::Multiply, &sine, &inverse, dtype, span)?
            }
        };
        Ok(tensor_value(result))
    }

    /// The sine of x + 2π·turn.
    fn sine_of_turned(&mut self, x: &Tensor, turn: f32, dtype: Dtype, span: Span) -> Result<Tensor> {
        let whole = self.fresh_like(x, Dtype::I32, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&whole),
            self.view_arg(x),
            Arg::Alu(AluOp::Multiply),
            Arg::Float(std::f32::consts::TAU.recip()),
            Arg::Bool(false),
            Arg::Alu(AluOp::Add),
            Arg::Float(turn),
        ];
        self.put(Op::TensorScalar, &args, span)?;
        // Turning back by whole - turn is exact in the turns, so the quarter costs no accuracy.
        let turns = match turn {
            0.0 => whole,
            _ => self.with_operand(&whole, AluOp::Subtract, Arg::Float(turn), Dtype::F32, span)?,
        };
        let mut rest = x.clone();
        for part in TWO_PI {
            let next = self.fresh_like(x, Dtype::F32, Region::Sbuf, span)?;
            let args = [
                self.view_arg(&next),
                self.view_arg(&turns),
                Arg::Alu(AluOp::Multiply),
                Arg::Float(-part),
                Arg::Alu(AluOp::Add),
                self.view_arg(&rest),
            ];
            self.put(Op::ScalarTensorTensor, &args, span)?;
            rest = next;
        }
        // Rounding may leave the rest just past π, outside the engine's table.
        let inside = self.fresh_like(x, Dtype::F32, Region::Sbuf, span)?;
        let args = [
            self.view_arg(&inside),
            self.view_arg(&rest),
            Arg::Alu(AluOp::Minimum),
            Arg::Float(std::f32::consts::PI),
            Arg::Bool(false),
            Arg::Alu(AluOp::Maximum),
            Arg::Float(-std::f32::consts::PI),
        ];
        self.put(Op::TensorScalar, &args, span)?;
        self.activated(ActFn::Sin, &inside, dtype, span)
    }

    /// `nl.where`: a copy of y, overwritten by x where the condition is not zero.
    pub fn select_where(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [condition, x, y, dtype, mask] =
            args.bind("nl.where", ["condition", "x", "y", "dtype", "mask"], 3)?;
        self.no_mask(mask, span)?;
        let (condition, x, y) = (required(condition), required(x), required(y));
        if !matches!(condition, Value::Tensor(_)) {
            return host_bridge::function("where", vec![condition, x, y], span, self);
        }
        let default = match (&x, &y) {
            (Value::Tensor(a), Value::Tensor(b)) => promote::promote(a.view.dtype, b.view.dtype),
            (Value::Tensor(it), _) | (_, Value::Tensor(it)) => it.view.dtype,
            _ => Dtype::F32,
        };
        let dtype = self.result_dtype(dtype, default, span)?;
        let mut shape: Vec<u32> = Vec::new();
        for it in [&condition, &x, &y] {
            let Value::Tensor(it) = it else { continue };
            let own: Vec<u32> = it.shape().collect();
            shape = common_shape(&shape, &own).ok_or_else(|| {
                let function = "nl.where".to_string();
                let left = shape.clone();
                Error::new(
                    Mistake::NlShapes {
                        function,
                        left,
                        right: own,
                    },
                    span,
                )
            })?;
        }
        let condition = self.tile(&condition, "nl.where", span)?;
        let condition = self.broadcast(&condition, &shape, span)?;
        let dst = self.fresh(&shape, dtype, Region::Sbuf, span)?;
        let y = self.broadcast_value(&y, &shape, span)?;
        self.store_tile(&tensor_value(dst.clone()), &y, span)?;
        // A plain cast would round 0.25 to false, so the condition is compared with zero first.
        let zero = Arg::Float(0.0);
        let predicate = self.with_operand(&condition, AluOp::NotEqual, zero, Dtype::U8, span)?;
        let src = match self.broadcast_value(&x, &shape, span)? {
            Value::Tensor(it) if it.view.dtype == dtype => self.view_arg(&it),
            Value::Tensor(it) => {
                let converted = self.copied(&it, dtype, span)?;
                self.view_arg(&converted)
            }
            x => match (bind::immediate(&x), dtype.is_int()) {
                (Some(Arg::Int(it)), false) => Arg::Float(it as f32),
                (Some(it), _) => it,
                (None, _) => return Err(Error::type_error("nl.where takes tiles and numbers", span)),
            },
        };
        let args = [self.view_arg(&dst), src, self.view_arg(&predicate)];
        self.put(Op::TensorCopyPredicated, &args, span)?;
        Ok(tensor_value(dst))
    }

    /// A tile broadcast to a shape; anything else as it is.
    fn broadcast_value(&mut self, value: &Value, shape: &[u32], span: Span) -> Result<Value> {
        match value {
            Value::Tensor(it) => self.broadcast(it, shape, span).map(tensor_value),
            other => Ok(other.clone()),
        }
    }
}
