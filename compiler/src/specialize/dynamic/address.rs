//! Views whose address the device computes: a register, a tile of one integer or a tile of row numbers moves them.
//!
//! Takes a view and the index, gives the view that is moved when the instruction runs. Addresses are checked there, too.

use super::super::error::{Error, Mistake, Result};
use super::super::eval::with_article;
use super::super::value::{Tensor, Value};
use super::super::{Evaluator, layout};
use crate::ir::{Dim, Dynamic, Index, View};
use crate::source::Span;

impl Evaluator<'_> {
    /// A register, or a tile of one integer, as an index.
    pub fn scalar_index(&mut self, value: &Value, span: Span) -> Result<Index> {
        match value {
            Value::Register(it) => Ok(Index::Register(it.id)),
            Value::Tensor(tile) if tile.view.count() == 1 => {
                Ok(Index::Element(self.program.add_view(tile.view)))
            }
            Value::Tensor(tile) => {
                let shape: Vec<u32> = tile.shape().collect();
                Err(Error::type_error(
                    format!("a run-time index is one element, not a tensor of shape {shape:?}"),
                    span,
                ))
            }
            _ => Err(Error::type_error(
                format!(
                    "a run-time index is a register or a tile, not {}",
                    with_article(value.kind())
                ),
                span,
            )),
        }
    }

    /// `t.select(dim, index)` with an index of the device.
    pub fn select_dynamic(
        &mut self,
        tensor: &Tensor,
        dim: usize,
        index: &Value,
        span: Span,
    ) -> Result<Tensor> {
        let index = self.scalar_index(index, span)?;
        let mut dims = tensor.view.dims().to_vec();
        let dropped = dims.remove(dim);
        if dims.is_empty() || (tensor.is_on_chip() && dims.len() == 1) {
            dims.push(Dim { stride: 1, count: 1 });
        }
        let selected = layout::with_dims(tensor, &dims, span)?;
        self.moved(
            &selected,
            index,
            dropped.stride.into(),
            u64::from(dropped.count),
            span,
        )
    }

    /// `t.vector_select(0, offsets)`: row `p` of the result is row `offsets[p]` of the tensor.
    pub fn select_rows(&mut self, tensor: &Tensor, offsets: &Value, span: Span) -> Result<Tensor> {
        let (index, rows) = self.row_index(tensor, offsets, span)?;
        let mut dims = tensor.view.dims().to_vec();
        let whole = dims[0];
        dims[0] = Dim {
            stride: 0,
            count: rows,
        };
        let selected = layout::with_dims(tensor, &dims, span)?;
        self.moved(
            &selected,
            index,
            whole.stride.into(),
            u64::from(whole.count),
            span,
        )
    }

    /// A column of row numbers, for a tensor in HBM.
    pub fn row_index(&mut self, tensor: &Tensor, offsets: &Value, span: Span) -> Result<(Index, u32)> {
        if tensor.is_on_chip() {
            let help = "gather from HBM, or use nisa.nc_n_gather within the partitions of a tile".to_string();
            let message = "rows of an on-chip tensor have no indices of their own".to_string();
            return Err(Error::new(Mistake::View { message, help }, span));
        }
        let tile = self.tile(offsets, "an index of rows", span)?;
        let rows = tile.view.dims()[0].count;
        if !tile.is_on_chip() || u64::from(rows) != tile.view.count() {
            let shape: Vec<u32> = tile.shape().collect();
            let help = "make it an int32 or uint32 tile of shape (rows, 1) in SBUF".to_string();
            let message = format!(
                "the index of rows is a {} tensor of shape {shape:?}",
                tile.region.name()
            );
            return Err(Error::new(Mistake::View { message, help }, span));
        }
        Ok((Index::Rows(self.program.add_view(tile.view)), rows))
    }

    /// The view moved by `index * stride` elements, for indices below `count`.
    pub fn moved(
        &self,
        tensor: &Tensor,
        index: Index,
        stride: i64,
        count: u64,
        span: Span,
    ) -> Result<Tensor> {
        if tensor.view.dynamic.is_some() {
            let help =
                "select from the tensor itself, or copy the selected part into a tile first".to_string();
            let message = "a view with a run-time index is indexed again at run time".to_string();
            return Err(Error::new(Mistake::View { message, help }, span));
        }
        let (Ok(stride), Ok(count)) = (u32::try_from(stride), u32::try_from(count)) else {
            let message = format!("a run-time index that moves the view by {stride} elements");
            let help = "index a dimension whose stride is positive".to_string();
            return Err(Error::new(Mistake::View { message, help }, span));
        };
        let view = tensor.view.moved_by(Some(Dynamic { index, stride, count }));
        Ok(Tensor {
            view,
            region: tensor.region,
        })
    }

    /// `scalar_offset` or `vector_offset` of an access pattern: `base` is the tensor it was asked of.
    pub fn pattern_offset(
        &mut self,
        base: &Tensor,
        pattern: Tensor,
        scalar: Option<Value>,
        vector: Option<Value>,
        dim: Option<Value>,
        span: Span,
    ) -> Result<Tensor> {
        let given = |it: Option<Value>| it.filter(|it| !matches!(it, Value::None));
        let (scalar, vector) = (given(scalar), given(vector));
        let rank = base.view.dims().len();
        let dim = super::super::tensor::axis(&given(dim).unwrap_or(Value::Int(0)), rank, span)?;
        // The stride of a dimension of the base follows from the sizes behind it.
        let stride: i64 = base.shape().skip(dim + 1).map(i64::from).product();
        match (scalar, vector) {
            (None, None) => Ok(pattern),
            (Some(_), Some(_)) => {
                let problem = "an access pattern has scalar_offset or vector_offset, not both";
                Err(Error::type_error(problem, span))
            }
            (Some(scalar), None) => {
                if base.is_on_chip() && dim == 0 {
                    let message = "scalar_offset moves the partitions of an on-chip tensor".to_string();
                    let help = "give indirect_dim=1 or a later dimension".to_string();
                    return Err(Error::new(Mistake::View { message, help }, span));
                }
                if let Some(known) = scalar.as_int() {
                    let mut view = pattern.view;
                    let moved = known
                        .checked_mul(stride)
                        .and_then(|it| view.offset.checked_add(it));
                    let size = self.free_count_of(&pattern);
                    let Some(offset) = moved.filter(|it| (0..size).contains(it)) else {
                        let last = known.saturating_mul(stride).saturating_add(view.offset);
                        return Err(Error::new(Mistake::PatternOutside { last, size }, span));
                    };
                    view.offset = offset;
                    return Ok(Tensor { view, ..pattern });
                }
                let index = self.scalar_index(&scalar, span)?;
                let count = self.room(&pattern.view, stride);
                self.moved(&pattern, index, stride, count, span)
            }
            (None, Some(vector)) => {
                if dim != 0 {
                    let problem = format!("vector_offset with indirect_dim={dim}; it is 0");
                    return Err(Error::value_error(problem, span));
                }
                let (index, rows) = self.row_index(base, &vector, span)?;
                let mut dims = pattern.view.dims().to_vec();
                if dims[0].count != rows {
                    let problem = format!("the pattern has {} rows, vector_offset {rows}", dims[0].count);
                    return Err(Error::value_error(problem, span));
                }
                dims[0].stride = 0;
                let pattern = layout::with_dims(&pattern, &dims, span)?;
                let count = self.room(&pattern.view, stride);
                self.moved(&pattern, index, stride, count, span)
            }
        }
    }

    /// How many steps of a stride a view can be moved inside its buffer, plus one.
    fn room(&self, view: &View, stride: i64) -> u64 {
        view.room(&self.program[view.buffer], stride.max(1) as u64)
    }
}

/// An integer or something that is known at run time only.
pub fn is_dynamic_index(value: &Value) -> bool {
    matches!(value, Value::Register(_) | Value::Tensor(_))
}
