//! Which engine executes an instruction: the one that is asked for, or the one that its operands call for.

use super::super::error::{Error, Mistake, Result};
use super::super::value::Value;
use super::super::{Evaluator, Warning, library};
use crate::dtype::Dtype;
use crate::ir::View;
use crate::isa::{AluClass, AluOp, Arg, Engine, MAX_ARGS, Memory, Op};
use crate::source::Span;
use std::rc::Rc;

impl Evaluator<'_> {
    /// The engine that executes an instruction: the one asked for, or the one that its operands call for.
    pub fn engine_for(
        &mut self,
        op: Op,
        extra: &[(Rc<str>, Value)],
        args: &[Arg; MAX_ARGS],
        span: Span,
    ) -> Result<Engine> {
        let row = op.row();
        let asked = extra
            .iter()
            .find(|it| &*it.0 == "engine")
            .and_then(|it| library::engine(&it.1))
            .flatten();
        if let Some(engine) = asked {
            if row.engines.contains(&engine) && row.unit == crate::isa::Unit::Engine {
                return Ok(engine);
            }
            if row.unit == crate::isa::Unit::Dma {
                let help = "drop it: queues are chosen by the scheduler".to_string();
                let what = "`engine` of a DMA".to_string();
                return Err(Error::new(
                    Mistake::NewerOnly {
                        what,
                        since: "hardware DGE (NeuronCore-v3)",
                        help,
                    },
                    span,
                ));
            }
            let help = match op {
                Op::TensorCopy => {
                    "use nisa.activation(op=nl.copy), or the Vector or GpSimd engine".to_string()
                }
                _ => format!(
                    "use {}",
                    row.engines
                        .iter()
                        .map(|it| it.name())
                        .collect::<Vec<_>>()
                        .join(" or ")
                ),
            };
            let what = format!("{} on the {} engine", row.name, engine.name());
            let since = match (op, engine) {
                (Op::TensorCopy | Op::TensorScalar, Engine::Scalar) | (Op::Rng, Engine::Gpsimd) => {
                    "NeuronCore-v3"
                }
                _ => "another NeuronCore",
            };
            return Err(Error::new(Mistake::NewerOnly { what, since, help }, span));
        }
        Ok(self.default_engine(op, args, span))
    }

    fn default_engine(&mut self, op: Op, args: &[Arg; MAX_ARGS], span: Span) -> Engine {
        let first = op.row().engines[0];
        let alu = |args: &[Arg; MAX_ARGS]| {
            args.iter()
                .filter_map(|it| match it {
                    Arg::Alu(it) => Some(*it),
                    _ => None,
                })
                .collect::<Vec<_>>()
        };
        match op {
            Op::NcTranspose => {
                // A result in PSUM is the Tensor engine's; small tiles that stay in SBUF are the Vector engine's.
                let to_psum = self
                    .views(args)
                    .next()
                    .is_some_and(|it| self.program.memory(it) == Memory::Psum);
                if to_psum { Engine::Tensor } else { Engine::Vector }
            }
            Op::TensorTensor => {
                let all_32 = self
                    .views(args)
                    .all(|it| matches!(it.dtype, Dtype::I32 | Dtype::U32));
                let in_psum = self.views(args).any(|it| self.program.memory(it) == Memory::Psum);
                let op = alu(args).first().copied();
                let exact = matches!(op, Some(AluOp::Add | AluOp::Subtract | AluOp::Multiply));
                if op == Some(AluOp::Power) || (all_32 && exact && !in_psum) {
                    return Engine::Gpsimd;
                }
                let is_bits = op.is_some_and(|it| it.facts().class == AluClass::Bits);
                if all_32 && !is_bits {
                    self.warn(Warning::IntThroughF32, span);
                }
                first
            }
            // Software makes the descriptors of a gather, on GpSimd.
            Op::DmaCopy | Op::DmaCompute if self.views(args).any(View::has_row_indices) => Engine::Gpsimd,
            Op::TensorScalar if alu(args).iter().any(|it| it.facts().gpsimd_only) => Engine::Gpsimd,
            _ => first,
        }
    }

    /// Whether an instruction computes 32-bit integers from 32-bit integers by way of f32 (`isa.md` §2.6).
    pub fn is_int_through_f32(&self, op: Op, engine: Engine, args: &[Arg; MAX_ARGS]) -> bool {
        let is_int = |it: &View| matches!(it.dtype, Dtype::I32 | Dtype::U32);
        if !self.views(args).all(is_int) {
            return false;
        }
        let arithmetic = args.iter().find_map(|it| match it {
            Arg::Alu(op) if op.facts().class == AluClass::Arithmetic => Some(*op),
            _ => None,
        });
        match op {
            Op::TensorTensor => arithmetic.is_some_and(|it| {
                let is_exact = it.facts().compares
                    || matches!(
                        it,
                        AluOp::Add | AluOp::Subtract | AluOp::Multiply | AluOp::Maximum | AluOp::Minimum
                    );
                engine != Engine::Gpsimd || !is_exact
            }),
            Op::TensorScalar | Op::ScalarTensorTensor | Op::TensorReduce => arithmetic.is_some(),
            Op::Activation | Op::ActivationReduce => true,
            _ => false,
        }
    }

    fn views<'a>(&'a self, args: &'a [Arg; MAX_ARGS]) -> impl Iterator<Item = &'a View> {
        args.iter().filter_map(|it| match it {
            Arg::View(id) => Some(&self.program[*id]),
            _ => None,
        })
    }
}
