//! Views that the hardware cannot walk in one instruction.
//!
//! Takes instructions and assignments of classic kernels, whose compiler looped where we emit one instruction: patterns
//! of more dimensions than an engine has, and tiles at partitions where no access starts. Gives several instructions,
//! or a DMA transfer. Never changes values.

use super::error::Result;
use super::value::{Region, Tensor};
use super::{Evaluator, Warning};
use crate::ir::{Dim, MAX_DIMS, View};
use crate::isa::{Arg, Engine, MAX_ARGS, Op};
use crate::source::Span;
use crate::verify::{may_start, merged};

/// Instructions whose elements are computed one by one, so that any part of the views is an instruction of its own.
const ELEMENT_WISE: &[Op] = &[
    Op::TensorCopy,
    Op::TensorTensor,
    Op::TensorScalar,
    Op::ScalarTensorTensor,
    Op::TensorCopyPredicated,
    Op::Activation,
    Op::Reciprocal,
    Op::Memset,
];

impl Evaluator<'_> {
    /// Whether a view on chip has more dimensions than an engine walks.
    pub fn is_long(&self, view: &View) -> bool {
        let limit = self.target.free_dims_max;
        view.dims().len() > limit + 1 && merged(view.free_dims()).0 > limit
    }

    /// Whether an engine's access can start where the view does, once its buffer lies at a legal partition.
    pub fn is_reached(&self, tensor: &Tensor) -> bool {
        !tensor.is_on_chip() || may_start(&tensor.view, &self.program[tensor.buffer()], self.target)
    }

    /// A number into a tile that no engine can reach: through a tile of the same shape, by DMA.
    pub fn store_number_by_dma(&mut self, dst: &Tensor, number: Arg, span: Span) -> Result<()> {
        self.warn(Warning::StartPartition, span);
        let source = self.fresh_like(dst, dst.view.dtype, Region::Sbuf, span)?;
        let args = [self.view_arg(&source), number];
        self.put(Op::Memset, &args, span)?;
        let args = [self.view_arg(dst), args[0]];
        self.put(Op::DmaCopy, &args, span)
    }

    /// The views of an element-wise instruction with the outermost free dimension taken apart, if one of them has more
    /// dimensions than an engine walks.
    pub fn parts(&mut self, op: Op, engine: Engine, args: &[Arg; MAX_ARGS]) -> Option<Vec<[Arg; MAX_ARGS]>> {
        let views = args.iter().filter_map(|it| match it {
            Arg::View(id) => Some(self.program[*id]),
            _ => None,
        });
        if engine == Engine::Tensor
            || !ELEMENT_WISE.contains(&op)
            || !views.clone().any(|it| self.is_long(&it))
        {
            return None;
        }
        let Arg::View(dst) = args[0] else { return None };
        let dst = self.program[dst];
        let counts = |it: &View| -> Vec<u32> { it.dims().iter().map(|it| it.count).collect() };
        let shape = counts(&dst);
        // Columns go with every part.
        let fits = |it: &View| counts(it) == shape || it.dims()[1..].iter().all(|it| it.count == 1);
        if !views.into_iter().all(|it| fits(&it)) {
            return None;
        }
        let along = (1..shape.len()).find(|&it| shape[it] > 1)?;
        let parts = (0..shape[along]).map(|at| {
            let mut part = *args;
            for arg in &mut part {
                if let Arg::View(id) = *arg
                    && counts(&self.program[id]) == shape
                {
                    let view = at_position(&self.program[id], along, at);
                    *arg = Arg::View(self.program.add_view(view));
                }
            }
            part
        });
        Some(parts.collect())
    }
}

/// The view with one position of a free dimension.
fn at_position(view: &View, along: usize, at: u32) -> View {
    let mut dims = [Dim { stride: 0, count: 0 }; MAX_DIMS];
    let rank = view.dims().len();
    dims[..rank].copy_from_slice(view.dims());
    let offset = view.offset + i64::from(at) * i64::from(dims[along].stride);
    dims[along] = Dim { stride: 1, count: 1 };
    View::new(view.buffer, view.dtype, view.partition, offset, &dims[..rank])
        .expect("the view keeps its dimensions")
        .moved_by(view.dynamic)
}
