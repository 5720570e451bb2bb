//! Broadcasting of tiles by NumPy's rules.
//!
//! Takes tiles, gives tiles of one shape. A free dimension is repeated by a stride of 0, which costs nothing; partitions
//! are repeated by the Tensor engine, as a product with a row of ones, since no view can cross them. NKI 0.6 has none of
//! this but the `(P, 1)` tile; older kernels rely on it.

use super::affine::broadcast_size;
use super::error::{Error, Mistake, Result};
use super::index::tensor_value;
use super::mask::Extent;
use super::value::{Region, Tensor, Value};
use super::{Evaluator, Warning, layout};
use crate::dtype::Dtype;
use crate::ir::{Dim, View};
use crate::isa::{Arg, DtypeSet, MAX_ARGS, Op};
use crate::source::Span;

/// The shape that two shapes broadcast to.
pub fn common_shape(a: &[u32], b: &[u32]) -> Option<Vec<u32>> {
    let rank = a.len().max(b.len());
    let size = |shape: &[u32], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
    (0..rank)
        .map(|axis| broadcast_size(size(a, axis), size(b, axis)))
        .collect()
}

impl Evaluator<'_> {
    /// A tile with the elements of another, repeated to a shape that it broadcasts to. Warns, as newer NKI refuses it.
    pub fn broadcast(&mut self, tile: &Tensor, shape: &[u32], span: Span) -> Result<Tensor> {
        if tile.shape().eq(shape.iter().copied()) {
            return Ok(tile.clone());
        }
        let across = shape[0] != tile.view.dims()[0].count;
        self.warn(Warning::Broadcast { across }, span);
        self.repeated(tile, shape, span)
    }

    /// Repeats the operand of tensor_tensor that has one element where the other has several.
    pub fn repeat_column(&mut self, given: &mut [Option<Value>; MAX_ARGS], span: Span) -> Result<()> {
        let (Some(Value::Tensor(first)), Some(Value::Tensor(second))) = (&given[1], &given[2]) else {
            return Ok(());
        };
        if first.view.partitions() != second.view.partitions() {
            return Ok(());
        }
        let (at, column, whole) = match [first, second].map(|it| it.view.free_count() == 1) {
            [true, false] => (1, first.clone(), second.clone()),
            [false, true] => (2, second.clone(), first.clone()),
            [true, true] | [false, false] => return Ok(()),
        };
        let shape: Vec<u32> = whole.shape().collect();
        given[at] = Some(tensor_value(self.broadcast(&column, &shape, span)?));
        Ok(())
    }

    /// A tile with the elements of another, repeated to a shape.
    pub fn repeated(&mut self, tile: &Tensor, shape: &[u32], span: Span) -> Result<Tensor> {
        let mut tile = tile.clone();
        if tile.is_on_chip() && tile.view.partitions() != shape[0] {
            if tile.view.partitions() != 1 {
                let (left, right) = (tile.shape().collect(), shape.to_vec());
                let function = "broadcasting".to_string();
                return Err(Error::new(
                    Mistake::NlShapes {
                        function,
                        left,
                        right,
                    },
                    span,
                ));
            }
            // The row is copied whole, whatever mask the call around is under.
            tile = self.within(Extent::All, |this| this.across_partitions(&tile, shape[0], span))?;
        }
        while tile.view.dims().len() < shape.len() {
            let first_free = usize::from(tile.is_on_chip());
            tile = layout::expand_dim(&tile, first_free, span)?;
        }
        let shape: Vec<i64> = shape.iter().copied().map(i64::from).collect();
        layout::broadcast_to(&tile, &shape, span)
    }

    /// A tile with one partition, copied to several.
    fn across_partitions(&mut self, tile: &Tensor, partitions: u32, span: Span) -> Result<Tensor> {
        let dtype = tile.view.dtype;
        if matches!(dtype, Dtype::I32 | Dtype::U32) {
            return self.across_partitions_by_dma(tile, partitions, span);
        }
        // Every other dtype goes through the f32 of PSUM and back without loss.
        let factor = if DtypeSet::Matmul.contains(dtype) {
            dtype
        } else {
            Dtype::F32
        };
        let is_usable = tile.region == Region::Sbuf
            && tile.view.partition == 0
            && factor == dtype
            && layout::is_contiguous(tile);
        let row = if is_usable {
            tile.clone()
        } else {
            self.moved_to_front(tile, factor, span)?
        };
        let count = row.view.free_count();
        let row = layout::reshape(&row, &[1, count as i64], span)?;
        let ones = self.fresh(&[1, partitions], factor, Region::Sbuf, span)?;
        let args = [self.view_arg(&ones), Arg::Float(1.0)];
        self.put(Op::Memset, &args, span)?;
        let result = self.fresh(&[partitions, count as u32], dtype, Region::Sbuf, span)?;
        let step = u64::from(self.target.moving_max);
        let mut start = 0;
        while start < count {
            let n = step.min(count - start) as u32;
            let product = self.fresh(&[partitions, n], Dtype::F32, Region::Psum, span)?;
            self.accumulate(None, &product.view, span)?;
            let args = [
                self.view_arg(&product),
                self.view_arg(&ones),
                self.view_arg(&columns(&row, start, n)),
                Arg::Bool(true),
            ];
            self.put(Op::NcMatmul, &args, span)?;
            let args = [
                self.view_arg(&columns(&result, start, n)),
                self.view_arg(&product),
            ];
            self.put(Op::TensorCopy, &args, span)?;
            start += u64::from(n);
        }
        let mut shape: Vec<i64> = tile.shape().map(i64::from).collect();
        shape[0] = i64::from(partitions);
        layout::reshape(&result, &shape, span)
    }

    /// A dense copy in partition 0, where the Tensor engine takes a tile of one partition from.
    fn moved_to_front(&mut self, tile: &Tensor, dtype: Dtype, span: Span) -> Result<Tensor> {
        let tile = if tile.region == Region::Psum {
            self.copied(tile, dtype, span)?
        } else {
            tile.clone()
        };
        if tile.view.partition == 0 {
            return self.copied(&tile, dtype, span);
        }
        // Engines reach few start partitions; DMA reaches all.
        let dst = self.fresh_like(&tile, dtype, Region::Sbuf, span)?;
        let args = [self.view_arg(&dst), self.view_arg(&tile)];
        self.put(Op::DmaCopy, &args, span)?;
        Ok(dst)
    }

    /// The same through HBM, which keeps all 32 bits of an integer: a transfer may read a row many times.
    fn across_partitions_by_dma(&mut self, tile: &Tensor, partitions: u32, span: Span) -> Result<Tensor> {
        let dtype = tile.view.dtype;
        let tile = if tile.region == Region::Psum {
            self.copied(tile, dtype, span)?
        } else {
            tile.clone()
        };
        let row = self.fresh_like(&tile, dtype, Region::PrivateHbm, span)?;
        let args = [self.view_arg(&row), self.view_arg(&tile)];
        self.put(Op::DmaCopy, &args, span)?;
        let mut shape: Vec<i64> = tile.shape().map(i64::from).collect();
        shape[0] = i64::from(partitions);
        let rows = layout::broadcast_to(&row, &shape, span)?;
        self.copied(&rows, dtype, span)
    }
}

/// The columns `start..start + n` of a tile with two dimensions.
pub fn columns(tile: &Tensor, start: u64, n: u32) -> Tensor {
    let view = &tile.view;
    let stride = view.dims()[1].stride;
    let dims = [view.dims()[0], Dim { stride, count: n }];
    let offset = view.offset + start as i64 * i64::from(stride);
    let view = View::new(view.buffer, view.dtype, view.partition, offset, &dims).expect("two pairs are few");
    Tensor {
        view,
        region: tile.region,
    }
}
