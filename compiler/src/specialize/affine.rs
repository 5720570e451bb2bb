//! Index tensors: what `nl.arange` and `nl.mgrid` make.
//!
//! An index tensor has a shape, and the value at a position is `start` plus a step times each coordinate. Arithmetic
//! that keeps this form gives another one, by NumPy's broadcasting; nothing is ever enumerated.

use super::error::{Error, Result};
use super::eval::with_article;
use super::value::Value;
use crate::ir::MAX_DIMS;
use crate::source::Span;
use std::rc::Rc;

/// An affine form over the coordinates of its shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    rank: u8,
    sizes: [u32; MAX_DIMS],
    /// A dimension of size 1 has step 0.
    steps: [i64; MAX_DIMS],
    pub start: i64,
}

impl Affine {
    pub fn constant(start: i64) -> Affine {
        Affine {
            rank: 0,
            sizes: [1; MAX_DIMS],
            steps: [0; MAX_DIMS],
            start,
        }
    }

    /// `start`, `start + step`, …: one dimension.
    pub fn sequence(start: i64, step: i64, size: u32) -> Affine {
        Affine::constant(start).with_dim(size, step)
    }

    /// The same form with one more dimension behind; the caller keeps to [`MAX_DIMS`].
    pub fn with_dim(mut self, size: u32, step: i64) -> Affine {
        let at = usize::from(self.rank);
        self.sizes[at] = size;
        self.steps[at] = if size == 1 { 0 } else { step };
        self.rank += 1;
        self
    }

    pub fn rank(&self) -> usize {
        usize::from(self.rank)
    }

    pub fn sizes(&self) -> &[u32] {
        &self.sizes[..self.rank()]
    }

    pub fn steps(&self) -> &[i64] {
        &self.steps[..self.rank()]
    }

    /// The form over `rank` dimensions, those in front having size 1.
    pub fn aligned(&self, rank: usize) -> Affine {
        let missing = rank - self.rank();
        let mut out = Affine::constant(self.start);
        for _ in 0..missing {
            out = out.with_dim(1, 0);
        }
        for (&size, &step) in self.sizes().iter().zip(self.steps()) {
            out = out.with_dim(size, step);
        }
        out
    }

    pub fn negated(&self) -> Affine {
        self.scaled(-1)
    }

    pub fn scaled(&self, factor: i64) -> Affine {
        let mut out = *self;
        out.start = out.start.saturating_mul(factor);
        out.steps
            .iter_mut()
            .for_each(|it| *it = it.saturating_mul(factor));
        out
    }

    pub fn plus(&self, constant: i64) -> Affine {
        let mut out = *self;
        out.start = out.start.saturating_add(constant);
        out
    }

    /// The sum of two forms over their common shape; `None` when the shapes do not broadcast.
    pub fn sum(&self, other: &Affine) -> Option<Affine> {
        let rank = self.rank().max(other.rank());
        let (a, b) = (self.aligned(rank), other.aligned(rank));
        let mut out = Affine::constant(a.start.saturating_add(b.start));
        for dim in 0..rank {
            let size = broadcast_size(a.sizes[dim], b.sizes[dim])?;
            out = out.with_dim(size, a.steps[dim].saturating_add(b.steps[dim]));
        }
        Some(out)
    }

    /// The least and the greatest value at the coordinates `lows[d] .. highs[d]`, none of which is empty.
    pub fn reach(&self, lows: &[u32], highs: &[u32]) -> (i64, i64) {
        let (mut least, mut greatest) = (self.start, self.start);
        for (dim, &step) in self.steps().iter().enumerate() {
            let first = step.saturating_mul(i64::from(lows[dim]));
            let last = step.saturating_mul(i64::from(highs[dim]) - 1);
            least = least.saturating_add(first.min(last));
            greatest = greatest.saturating_add(first.max(last));
        }
        (least, greatest)
    }

    /// The least and the greatest value.
    pub fn whole_reach(&self) -> (i64, i64) {
        self.reach(&[0; MAX_DIMS], &self.sizes)
    }

    /// `index[:, None]`, `index[None, :]`, `index[0:64]`: a form over other dimensions.
    pub fn subscript(&self, key: &Value, span: Span) -> Result<Affine> {
        let keys = match key {
            Value::Tuple(keys) => keys.as_slice(),
            key => std::slice::from_ref(key),
        };
        let n_new = keys.iter().filter(|it| matches!(it, Value::None)).count();
        let n_ellipsis = keys.iter().filter(|it| matches!(it, Value::Ellipsis)).count();
        let n_used = keys.len() - n_new - n_ellipsis;
        if n_used > self.rank() || n_ellipsis > 1 || self.rank() + n_new > MAX_DIMS {
            let message = format!(
                "{n_used} indices for an index tensor of {} dimensions",
                self.rank()
            );
            return Err(Error::value_error(message, span));
        }
        let n_rest = self.rank() - n_used;
        let mut out = Affine::constant(self.start);
        let mut dim = 0;
        let keep = |out: Affine, dim: usize| out.with_dim(self.sizes[dim], self.steps[dim]);
        for key in keys {
            match key {
                Value::None => out = out.with_dim(1, 0),
                Value::Ellipsis => {
                    for _ in 0..n_rest {
                        out = keep(out, dim);
                        dim += 1;
                    }
                }
                Value::Slice(slice) => {
                    let bounds = [&slice.start, &slice.stop, &slice.step].map(Value::as_int);
                    let size = i64::from(self.sizes[dim]);
                    let (start, stop, step) =
                        super::index::bounds((bounds[0], bounds[1], bounds[2]), size, dim, span)?;
                    out.start = out.start.saturating_add(self.steps[dim].saturating_mul(start));
                    let count = (stop - start - 1) / step + 1;
                    out = out.with_dim(count as u32, self.steps[dim].saturating_mul(step));
                    dim += 1;
                }
                key => {
                    let Some(at) = key.as_int() else {
                        let message = format!(
                            "an index tensor is indexed with slices and None, not {}",
                            with_article(key.kind())
                        );
                        return Err(Error::type_error(message, span));
                    };
                    let at = super::index::position(at, i64::from(self.sizes[dim]), "index tensor", span)?;
                    out.start = out
                        .start
                        .saturating_add(self.steps[dim].saturating_mul(at as i64));
                    dim += 1;
                }
            }
        }
        for dim in dim..self.rank() {
            out = keep(out, dim);
        }
        Ok(out)
    }
}

/// The size that two broadcast to.
pub fn broadcast_size(a: u32, b: u32) -> Option<u32> {
    match (a, b) {
        (a, b) if a == b => Some(a),
        (1, b) => Some(b),
        (a, 1) => Some(a),
        _ => None,
    }
}

/// The index tensors of `nl.mgrid[a:b, c:d]`: each has the shape of the whole grid.
pub fn grid(key: &Value, span: Span) -> Result<Value> {
    let keys = match key {
        Value::Tuple(keys) => keys.as_slice(),
        key => std::slice::from_ref(key),
    };
    if keys.is_empty() || keys.len() > MAX_DIMS {
        return Err(Error::value_error(
            format!("nl.mgrid takes 1 to {MAX_DIMS} slices"),
            span,
        ));
    }
    let mut axes = Vec::with_capacity(keys.len());
    for key in keys {
        let Value::Slice(slice) = key else {
            let message = format!(
                "nl.mgrid takes slices such as 0:128, not {}",
                with_article(key.kind())
            );
            return Err(Error::type_error(message, span));
        };
        let start = if matches!(slice.start, Value::None) {
            Some(0)
        } else {
            slice.start.as_int()
        };
        let step = if matches!(slice.step, Value::None) {
            Some(1)
        } else {
            slice.step.as_int()
        };
        let (Some(start), Some(stop), Some(step)) = (start, slice.stop.as_int(), step) else {
            return Err(Error::type_error("the bounds of nl.mgrid are ints", span));
        };
        axes.push(sequence(start, stop, step, span)?);
    }
    let form = |which: usize| {
        let mut out = Affine::constant(axes[which].start);
        for (dim, axis) in axes.iter().enumerate() {
            out = out.with_dim(axis.sizes[0], if dim == which { axis.steps[0] } else { 0 });
        }
        Value::Index(Rc::new(out))
    };
    Ok(Value::Grid(Rc::new((0..axes.len()).map(form).collect())))
}

/// The index tensor of `nl.arange(start, stop, step)`.
pub fn sequence(start: i64, stop: i64, step: i64, span: Span) -> Result<Affine> {
    let size = match super::exec::range_of(&[start, stop, step]) {
        Some(range) => range.len(),
        None => 0,
    };
    match u32::try_from(size) {
        Ok(size) if size > 0 => Ok(Affine::sequence(start, step, size)),
        _ => Err(Error::value_error(
            format!("an index tensor of {size} elements"),
            span,
        )),
    }
}

/// The names of the axes of an `nl.mgrid`.
pub const GRID_AXES: &[&str] = &["p", "x", "y", "z", "w"];
