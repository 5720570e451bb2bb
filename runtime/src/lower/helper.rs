//! The row kernels that compiled code calls, by name.
//!
//! Takes a kernel's name apart into what it does, gives its signature, its number in compiled code and its address.

use crate::kernels::Kernels;
use cranelift::prelude::types::{F32, I64};
use cranelift::prelude::{AbiParam, Signature, Type, isa::CallConv};
use nk_compiler::dtype::{DTYPES, Dtype};
use nk_compiler::isa::{ACT_FNS, ALU_OPS, ActFn, AluOp};

/// A kernel that works on a row in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helper {
    /// To f32 from a dtype, and back.
    Load(Dtype),
    Store(Dtype),
    /// To a narrower float, rounded at random.
    StoreRandom(Dtype),
    /// Counts the values outside of a function's range.
    Outside(ActFn),
    /// To words from elements of one or two bytes, and back.
    Widen(u32),
    Narrow(u32),
    Function(ActFn),
    Reduce(AluOp),
    Rsqrt,
    /// One of [`BINARIES`].
    Binary(AluOp),
    ClearLanes,
    Sum,
    AddLanes,
}

/// Binary operators with a row kernel, in the order of [`Kernels::binary`].
const BINARIES: [AluOp; 6] = [
    AluOp::Power,
    AluOp::Mod,
    AluOp::Fmod,
    AluOp::Add,
    AluOp::Subtract,
    AluOp::Multiply,
];

fn binary(op: AluOp) -> usize {
    let position = BINARIES.iter().position(|it| *it == op);
    position.expect("only operators with a row kernel get here")
}

impl Helper {
    /// Every helper, in the order of their numbers.
    pub fn all() -> Vec<Helper> {
        let mut all: Vec<Helper> = Vec::new();
        all.extend(DTYPES.iter().map(|it| Helper::Load(it.0)));
        all.extend(DTYPES.iter().map(|it| Helper::Store(it.0)));
        all.extend([
            Helper::Widen(1),
            Helper::Widen(2),
            Helper::Narrow(1),
            Helper::Narrow(2),
        ]);
        all.extend(ACT_FNS.iter().map(|it| Helper::Function(it.op)));
        all.extend(ALU_OPS.iter().map(|it| Helper::Reduce(it.op)));
        all.push(Helper::Rsqrt);
        all.extend(BINARIES.map(Helper::Binary));
        all.extend([Helper::ClearLanes, Helper::Sum, Helper::AddLanes]);
        all.extend(DTYPES.iter().map(|it| Helper::StoreRandom(it.0)));
        all.extend(ACT_FNS.iter().map(|it| Helper::Outside(it.op)));
        all
    }

    /// Its number in compiled code.
    pub fn number(self) -> u32 {
        let dtypes = DTYPES.len() as u32;
        let functions = 2 * dtypes + 4;
        let reductions = functions + ACT_FNS.len() as u32;
        let others = reductions + ALU_OPS.len() as u32;
        let sums = others + 1 + BINARIES.len() as u32;
        match self {
            Helper::Load(dtype) => dtype as u32,
            Helper::Store(dtype) => dtypes + dtype as u32,
            Helper::Widen(size) => 2 * dtypes + size - 1,
            Helper::Narrow(size) => 2 * dtypes + 2 + size - 1,
            Helper::Function(function) => functions + function as u32,
            Helper::Reduce(op) => reductions + op as u32,
            Helper::Rsqrt => others,
            Helper::Binary(op) => others + 1 + binary(op) as u32,
            Helper::ClearLanes => sums,
            Helper::Sum => sums + 1,
            Helper::AddLanes => sums + 2,
            Helper::StoreRandom(dtype) => sums + 3 + dtype as u32,
            Helper::Outside(function) => sums + 3 + dtypes + function as u32,
        }
    }

    /// Its name in CLIF text.
    pub fn name(self) -> String {
        match self {
            Helper::Load(dtype) => format!("load_{}", dtype.name()),
            Helper::Store(dtype) => format!("store_{}", dtype.name()),
            Helper::StoreRandom(dtype) => format!("store_random_{}", dtype.name()),
            Helper::Outside(function) => format!("outside_{}", function.name()),
            Helper::Widen(size) => format!("widen_{}", size * 8),
            Helper::Narrow(size) => format!("narrow_{}", size * 8),
            Helper::Function(function) => format!("function_{}", function.name()),
            Helper::Reduce(op) => format!("reduce_{}", op.name()),
            Helper::Rsqrt => "rsqrt".into(),
            Helper::Binary(op) => op.name().into(),
            Helper::ClearLanes => "clear_lanes".into(),
            Helper::Sum => "sum".into(),
            Helper::AddLanes => "add_lanes".into(),
        }
    }

    pub fn signature(self, convention: CallConv) -> Signature {
        let (params, returns): (&[Type], &[Type]) = match self {
            Helper::Load(_) | Helper::Store(_) | Helper::Widen(_) | Helper::Narrow(_) | Helper::Rsqrt => {
                (&[I64, I64, I64], &[])
            }
            Helper::Function(_) | Helper::Outside(_) => (&[I64, I64, I64, F32, F32], &[]),
            Helper::StoreRandom(_) => (&[I64, I64, I64, I64, I64], &[]),
            Helper::Reduce(_) | Helper::Binary(_) | Helper::Sum => (&[I64, I64, I64, I64], &[]),
            Helper::ClearLanes => (&[I64], &[]),
            Helper::AddLanes => (&[I64, I64], &[F32]),
        };
        let mut signature = Signature::new(convention);
        signature
            .params
            .extend(params.iter().map(|&it| AbiParam::new(it)));
        signature
            .returns
            .extend(returns.iter().map(|&it| AbiParam::new(it)));
        signature
    }

    pub fn address(self, kernels: &Kernels) -> *const u8 {
        match self {
            Helper::Load(dtype) => kernels.load[dtype as usize] as *const u8,
            Helper::Store(dtype) => kernels.store[dtype as usize] as *const u8,
            Helper::StoreRandom(dtype) => kernels.store_random[dtype as usize] as *const u8,
            Helper::Outside(function) => kernels.outside[function as usize] as *const u8,
            Helper::Widen(size) => kernels.widen[size as usize - 1] as *const u8,
            Helper::Narrow(size) => kernels.narrow[size as usize - 1] as *const u8,
            Helper::Function(function) => kernels.function[function as usize] as *const u8,
            Helper::Reduce(op) => kernels.reduce[op as usize] as *const u8,
            Helper::Rsqrt => kernels.rsqrt as *const u8,
            Helper::Binary(op) => kernels.binary[binary(op)] as *const u8,
            Helper::ClearLanes => kernels.clear_lanes as *const u8,
            Helper::Sum => kernels.sum as *const u8,
            Helper::AddLanes => kernels.add_lanes as *const u8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_positions() {
        for (idx, it) in Helper::all().into_iter().enumerate() {
            assert_eq!(it.number() as usize, idx, "{}", it.name());
        }
    }
}
