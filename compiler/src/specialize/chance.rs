//! Random numbers and gathers: `nl.rand`, `nl.random_seed`, `nl.dropout`, `nl.gather_flattened`.
//!
//! Takes evaluated arguments, emits the generator's instructions, gives a fresh tile. The sequence is the Vector engine's
//! (`nisa.rng`); nothing here draws numbers.

use super::Evaluator;
use super::bind;
use super::builtins::required;
use super::create::{name_of, region_of, shape_of};
use super::error::{Error, Result};
use super::eval::{CallArgs, with_article};
use super::index::tensor_value;
use super::tensor::{Creation, int};
use super::value::{Region, Value};
use crate::dtype::Dtype;
use crate::ir::Role;
use crate::isa::{AluOp, Arg, Op};
use crate::source::Span;

/// The bits of a random word that become a fraction: as many as the dtype holds just below 1, so that rounding never
/// makes a 1.
fn fraction_bits(dtype: Dtype) -> Option<i32> {
    Some(match dtype {
        Dtype::F32 => 24,
        Dtype::Tf32 | Dtype::F16 => 11,
        Dtype::Bf16 => 8,
        Dtype::F8e3m4 => 5,
        Dtype::F8e4m3 => 4,
        Dtype::F8e5m2 => 3,
        _ => return None,
    })
}

impl Evaluator<'_> {
    /// `nl.rand(shape, dtype, buffer=sbuf, name='')`: uniform in [0, 1).
    pub fn rand(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let names = ["shape", "dtype", "buffer", "name"];
        let [shape, dtype, buffer, name] = args.bind("nl.rand", names, 1)?;
        let shape = shape_of(&required(shape), span)?;
        let dtype = self.result_dtype(dtype, Dtype::F32, span)?;
        let Some(n_bits) = fraction_bits(dtype) else {
            let message = format!("nl.rand makes floats from 0 to 1, not {}", dtype.nki_name());
            return Err(Error::type_error(message, span));
        };
        let region = region_of(buffer, span)?;
        let name = name_of(name);
        let wanted = Creation {
            shape: shape.clone(),
            dtype,
            region,
            name,
            request: None,
            role: Role::Local,
        };
        let dst = self.create(wanted, span)?;
        let word = self.fresh(&shape, Dtype::U32, Region::Sbuf, span)?;
        let args = [self.view_arg(&word)];
        self.put(Op::Rng, &args, span)?;
        let shift = Arg::Int(32 - n_bits);
        let high = self.with_operand(&word, AluOp::ShiftRight, shift, Dtype::U32, span)?;
        let factor = Arg::Float(2f32.powi(-n_bits));
        if dst.is_on_chip() {
            let args = [
                self.view_arg(&dst),
                self.view_arg(&high),
                Arg::Alu(AluOp::Multiply),
                factor,
            ];
            self.put(Op::TensorScalar, &args, span)?;
        } else {
            let tile = self.with_operand(&high, AluOp::Multiply, factor, dtype, span)?;
            let args = [self.view_arg(&dst), self.view_arg(&tile)];
            self.put(Op::DmaCopy, &args, span)?;
        }
        Ok(tensor_value(dst))
    }

    /// `nl.random_seed(seed)`: a (1, 1) tile; older kernels give an int.
    pub fn random_seed(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [seed, mask] = args.bind("nl.random_seed", ["seed", "mask"], 1)?;
        self.no_mask(mask, span)?;
        let seed = match required(seed) {
            Value::Tensor(it) if it.is_on_chip() => (*it).clone(),
            Value::Tensor(it) => self.copied(&it, it.view.dtype, span)?,
            number => {
                let number = int(&number, "the seed", span)?;
                let tile = self.fresh(&[1, 1], Dtype::I32, Region::Sbuf, span)?;
                // A seed is 32 bits of whatever sign.
                let args = [self.view_arg(&tile), Arg::Int(number as i32)];
                self.put(Op::Memset, &args, span)?;
                tile
            }
        };
        let args = [self.view_arg(&seed)];
        self.put(Op::SetRngSeed, &args, span)?;
        Ok(Value::None)
    }

    /// `nl.dropout(x, rate, dtype=None)`.
    pub fn dropout(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [x, rate, dtype, mask] = args.bind("nl.dropout", ["x", "rate", "dtype", "mask"], 2)?;
        self.no_mask(mask, span)?;
        let x = self.tile(&required(x), "nl.dropout", span)?;
        let rate = match required(rate) {
            Value::Tensor(it) => self.view_arg(&it),
            number => match bind::immediate(&number) {
                Some(Arg::Int(it)) => Arg::Float(it as f32),
                Some(it @ Arg::Float(_)) => it,
                _ => {
                    let kind = with_article(number.kind());
                    let message = format!("`rate` of nl.dropout is a number or a (P, 1) tile, not {kind}");
                    return Err(Error::type_error(message, span));
                }
            },
        };
        let own = x.view.dtype;
        let dtype = self.result_dtype(dtype, own, span)?;
        let dst = self.fresh_like(&x, own, Region::Sbuf, span)?;
        let args = [self.view_arg(&dst), self.view_arg(&x), rate];
        self.put(Op::Dropout, &args, span)?;
        if dtype == own {
            return Ok(tensor_value(dst));
        }
        self.copied(&dst, dtype, span).map(tensor_value)
    }

    /// `nl.gather_flattened(data, indices)`: in each partition, `data.flat[indices]`.
    pub fn gather_flattened(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let names = ["data", "indices", "axis", "dtype", "mask"];
        let [data, indices, axis, dtype, mask] = args.bind("nl.gather_flattened", names, 2)?;
        self.no_mask(mask, span)?;
        check_gather_axis(axis, span)?;
        let data = self.tile(&required(data), "nl.gather_flattened", span)?;
        let indices = self.tile(&required(indices), "nl.gather_flattened", span)?;
        // GpSimd reads SBUF only, and its indices are words.
        let data = self.in_sbuf(&data, span)?;
        let indices = match indices.view.dtype {
            Dtype::U32 => self.in_sbuf(&indices, span)?,
            _ => self.copied(&indices, Dtype::U32, span)?,
        };
        let own = data.view.dtype;
        let dtype = self.result_dtype(dtype, own, span)?;
        let dst = self.fresh_like(&indices, own, Region::Sbuf, span)?;
        let args = [self.view_arg(&dst), self.view_arg(&data), self.view_arg(&indices)];
        self.put(Op::NcNGather, &args, span)?;
        if dtype == own {
            return Ok(tensor_value(dst));
        }
        self.copied(&dst, dtype, span).map(tensor_value)
    }
}

/// The gather goes over the flattened free axes, which NKI counts from 0 and older kernels from 1.
fn check_gather_axis(axis: Option<Value>, span: Span) -> Result<()> {
    match axis {
        None | Some(Value::None | Value::Int(-1..=1)) => Ok(()),
        Some(other) => {
            let axis = other.repr();
            let message =
                format!("nl.gather_flattened gathers along the flattened free axes, not along {axis}");
            Err(Error::value_error(message, span))
        }
    }
}
