//! View methods that rearrange the `[stride, count]` pairs of a tensor.
//!
//! Takes a tensor, gives another view of the same elements, or says why the elements do not lie that way. On chip the
//! partition pair stays in front, untouched.

use super::error::{Error, Mistake, Result};
use super::tensor::int;
use super::value::{Tensor, Value};
use crate::dtype::Dtype;
use crate::ir::{Dim, MAX_DIMS, View};
use crate::source::Span;
use std::collections::BTreeMap;

pub fn with_dims(tensor: &Tensor, dims: &[Dim], span: Span) -> Result<Tensor> {
    let view = tensor.view;
    match View::new(view.buffer, view.dtype, view.partition, view.offset, dims) {
        Some(moved) => Ok(Tensor {
            view: moved.moved_by(view.dynamic),
            region: tensor.region,
        }),
        None => {
            let message = format!(
                "a view of {} dimensions; at most {MAX_DIMS} are possible",
                dims.len()
            );
            Err(view_error(message, "merge dimensions with flatten_dims", span))
        }
    }
}

fn view_error(message: impl Into<String>, help: &str, span: Span) -> Box<Error> {
    Error::new(
        Mistake::View {
            message: message.into(),
            help: help.to_string(),
        },
        span,
    )
}

fn refuse_partition(tensor: &Tensor, dim: usize, what: &str, span: Span) -> Result<()> {
    if tensor.is_on_chip() && dim == 0 {
        let message = format!("{what} on the partition dimension of an on-chip tensor");
        return Err(view_error(
            message,
            "only the free dimensions of a tile can be rearranged by a view",
            span,
        ));
    }
    Ok(())
}

pub fn permute(tensor: &Tensor, order: &[i64], span: Span) -> Result<Tensor> {
    let dims = tensor.view.dims();
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..dims.len() as i64) {
        let message = format!("{order:?} is no permutation of the {} dimensions", dims.len());
        return Err(view_error(message, "name every dimension once", span));
    }
    if order[0] != 0 {
        refuse_partition(tensor, 0, "permute", span)?;
    }
    let permuted: Vec<Dim> = order.iter().map(|&it| dims[it as usize]).collect();
    with_dims(tensor, &permuted, span)
}

pub fn broadcast(tensor: &Tensor, dim: usize, size: i64, span: Span) -> Result<Tensor> {
    refuse_partition(tensor, dim, "broadcast", span)?;
    let mut dims = tensor.view.dims().to_vec();
    let others = tensor.view.count() as i64;
    if others.saturating_mul(size) > i64::from(i32::MAX) {
        let message = format!("a view of {others} times {size} elements");
        return Err(view_error(
            message,
            "a view has at most 2147483647 elements",
            span,
        ));
    }
    if dims[dim].count != 1 || size < 1 {
        let message = format!(
            "dimension {dim} of size {} cannot be repeated {size} times",
            dims[dim].count
        );
        return Err(view_error(
            message,
            "only a dimension of size 1 is broadcast",
            span,
        ));
    }
    dims[dim] = Dim {
        stride: 0,
        count: size as u32,
    };
    with_dims(tensor, &dims, span)
}

pub fn broadcast_to(tensor: &Tensor, shape: &[i64], span: Span) -> Result<Tensor> {
    let dims = tensor.view.dims();
    if dims.len() != shape.len() {
        let message = format!("{} dimensions cannot be broadcast to {}", dims.len(), shape.len());
        return Err(view_error(message, "add dimensions of size 1 first", span));
    }
    let mut view = Tensor {
        view: tensor.view,
        region: tensor.region,
    };
    for (dim, &size) in shape.iter().enumerate() {
        if i64::from(dims[dim].count) != size {
            view = broadcast(&view, dim, size, span)?;
        }
    }
    Ok(view)
}

pub fn expand_dim(tensor: &Tensor, dim: usize, span: Span) -> Result<Tensor> {
    refuse_partition(tensor, dim, "expand_dim", span)?;
    let mut dims = tensor.view.dims().to_vec();
    dims.insert(dim, Dim { stride: 1, count: 1 });
    with_dims(tensor, &dims, span)
}

pub fn squeeze_dim(tensor: &Tensor, dim: usize, span: Span) -> Result<Tensor> {
    refuse_partition(tensor, dim, "squeeze_dim", span)?;
    let mut dims = tensor.view.dims().to_vec();
    if dims[dim].count != 1 {
        let message = format!(
            "dimension {dim} has size {}, so it cannot be dropped",
            dims[dim].count
        );
        return Err(view_error(
            message,
            "only a dimension of size 1 is squeezed",
            span,
        ));
    }
    if dims.len() > if tensor.is_on_chip() { 2 } else { 1 } {
        dims.remove(dim);
    }
    with_dims(tensor, &dims, span)
}

pub fn reshape_dim(tensor: &Tensor, dim: usize, shape: &[i64], span: Span) -> Result<Tensor> {
    let whole = tensor.view.dims()[dim];
    let sizes = resolve(u64::from(whole.count), shape, &[whole.count], span)?;
    if sizes.first() != Some(&whole.count) {
        refuse_partition(tensor, dim, "reshape_dim", span)?;
    }
    let mut stride = i64::from(whole.stride);
    let mut split = Vec::with_capacity(sizes.len());
    for &count in sizes.iter().rev() {
        split.push(Dim {
            stride: stride as i32,
            count,
        });
        stride *= i64::from(count);
    }
    let mut dims = tensor.view.dims().to_vec();
    dims.splice(dim..=dim, split.into_iter().rev());
    with_dims(tensor, &dims, span)
}

pub fn flatten_dims(tensor: &Tensor, first: usize, last: usize, span: Span) -> Result<Tensor> {
    if first < last {
        refuse_partition(tensor, first, "flatten_dims", span)?;
    }
    let mut dims = tensor.view.dims().to_vec();
    let merged = merge(&dims[first..=last.max(first)]);
    let [one] = merged[..] else {
        let message = format!("dimensions {first} to {last} do not lie behind one another");
        return Err(Error::new(Mistake::ReshapeLayout { message }, span));
    };
    dims.splice(first..=last.max(first), [one]);
    with_dims(tensor, &dims, span)
}

pub fn reshape(tensor: &Tensor, shape: &[i64], span: Span) -> Result<Tensor> {
    let dims = tensor.view.dims();
    let old: Vec<u32> = dims.iter().map(|it| it.count).collect();
    let sizes = resolve(tensor.view.count(), shape, &old, span)?;
    let keep = usize::from(tensor.is_on_chip());
    if tensor.is_on_chip() && (sizes[0] != old[0] || sizes.len() < 2) {
        let message = format!(
            "reshape changes the {} partitions of the tile to {}",
            old[0], sizes[0]
        );
        return Err(view_error(
            message,
            "the first dimension of an on-chip tensor stays; move data to change it",
            span,
        ));
    }
    let Some(free) = regroup(&merge(&dims[keep..]), &sizes[keep..]) else {
        let message = format!("the elements of this view do not lie in the order of shape {sizes:?}");
        return Err(Error::new(Mistake::ReshapeLayout { message }, span));
    };
    let mut all = dims[..keep].to_vec();
    all.extend(free);
    with_dims(tensor, &all, span)
}

/// Replaces one −1 by what is left, and compares the products.
fn resolve(count: u64, shape: &[i64], old: &[u32], span: Span) -> Result<Vec<u32>> {
    let wrong = || {
        Error::new(
            Mistake::ReshapeCount {
                from: old.to_vec(),
                to: shape.to_vec(),
            },
            span,
        )
    };
    let n_unknown = shape.iter().filter(|&&it| it == -1).count();
    let known: i64 = shape
        .iter()
        .filter(|&&it| it != -1)
        .try_fold(1i64, |a, &b| a.checked_mul(b))
        .ok_or_else(wrong)?;
    let fits = shape.iter().all(|&it| it == -1 || it > 0) && n_unknown <= 1 && known > 0 && !shape.is_empty();
    if !fits || !count.is_multiple_of(known as u64) || (n_unknown == 0 && known as u64 != count) {
        return Err(wrong());
    }
    let rest = count / known as u64;
    Ok(shape
        .iter()
        .map(|&it| if it == -1 { rest as u32 } else { it as u32 })
        .collect())
}

/// Merges neighbouring pairs that walk one line; pairs of count 1 vanish.
pub fn merge(dims: &[Dim]) -> Vec<Dim> {
    let mut out: Vec<Dim> = Vec::with_capacity(dims.len());
    for &dim in dims.iter().filter(|it| it.count != 1) {
        match out.last_mut() {
            Some(outer) if i64::from(outer.stride) == i64::from(dim.stride) * i64::from(dim.count) => {
                *outer = Dim {
                    stride: dim.stride,
                    count: outer.count * dim.count,
                };
            }
            _ => out.push(dim),
        }
    }
    if out.is_empty() {
        out.push(Dim { stride: 1, count: 1 });
    }
    out
}

/// Splits merged pairs so that the counts are `sizes`; `None` when a size spans a gap.
fn regroup(merged: &[Dim], sizes: &[u32]) -> Option<Vec<Dim>> {
    let mut out = Vec::with_capacity(sizes.len());
    let mut left = merged.iter().rev().copied();
    let mut current = left.next()?;
    for &size in sizes.iter().rev() {
        if size == 1 {
            out.push(Dim { stride: 1, count: 1 });
            continue;
        }
        if current.count == 1 {
            current = left.next()?;
        }
        if current.count % size != 0 {
            return None;
        }
        out.push(Dim {
            stride: current.stride,
            count: size,
        });
        let stride = i32::try_from(i64::from(current.stride) * i64::from(size)).ok()?;
        current = Dim {
            stride,
            count: current.count / size,
        };
    }
    out.reverse();
    Some(out)
}

pub fn is_contiguous(tensor: &Tensor) -> bool {
    let skip = usize::from(tensor.is_on_chip());
    let merged = merge(&tensor.view.dims()[skip..]);
    merged.len() == 1 && (merged[0].stride == 1 || merged[0].count == 1)
}

pub fn reinterpret(tensor: &Tensor, dtype: Dtype, span: Span) -> Result<Tensor> {
    if tensor.view.dynamic.is_some() {
        return Err(view_error(
            "a view with a run-time index is read as another dtype",
            "reinterpret the tensor first, then index it",
            span,
        ));
    }
    let (old, new) = (i64::from(tensor.view.dtype.size()), i64::from(dtype.size()));
    let mut dims = tensor.view.dims().to_vec();
    let last = dims.len() - 1;
    let row = i64::from(dims[last].count) * old;
    let scale = |it: i64| (it * old % new == 0).then_some(it * old / new);
    let inner_fits = dims[last].stride == 1 && row % new == 0;
    let first = usize::from(tensor.is_on_chip());
    let outer: Option<Vec<i64>> = dims[first..last]
        .iter()
        .map(|it| scale(it.stride.into()))
        .collect();
    let (Some(outer), Some(offset), true) = (outer, scale(tensor.view.offset), inner_fits) else {
        let message = format!("this view cannot be read as {}", dtype.nki_name());
        return Err(view_error(
            message,
            "the last dimension must be contiguous and its bytes a whole number of elements",
            span,
        ));
    };
    let too_large = || {
        let message = format!(
            "this view has more elements as {} than 32 bits count",
            dtype.nki_name()
        );
        view_error(message, "slice it first", span)
    };
    for (dim, stride) in dims[first..last].iter_mut().zip(outer) {
        dim.stride = i32::try_from(stride).map_err(|_| too_large())?;
    }
    let count = i32::try_from(row / new).map_err(|_| too_large())?;
    dims[last].count = count.unsigned_abs();
    let view = View::new(tensor.buffer(), dtype, tensor.view.partition, offset, &dims)
        .expect("the number of dimensions is unchanged");
    Ok(Tensor {
        view,
        region: tensor.region,
    })
}

/// einops-like: `src` and `dst` are tuples of names and groups of names.
pub fn rearrange(
    tensor: &Tensor,
    src: &Value,
    dst: &Value,
    sizes: Option<&Value>,
    span: Span,
) -> Result<Tensor> {
    let (src, dst) = (groups(src, span)?, groups(dst, span)?);
    let dims = tensor.view.dims();
    if src.len() != dims.len() {
        let message = format!(
            "the source pattern names {} dimensions of {}",
            src.len(),
            dims.len()
        );
        return Err(view_error(message, "name every dimension of the tensor", span));
    }
    let mut fixed = BTreeMap::new();
    if let Some(Value::Dict(sizes)) = sizes {
        for (name, size) in sizes.borrow().entries() {
            fixed.insert(name.text(), int(size, "a fixed size", span)?);
        }
    }
    let mut axes: BTreeMap<String, Dim> = BTreeMap::new();
    let mut view = Tensor {
        view: tensor.view,
        region: tensor.region,
    };
    let mut at = 0;
    for names in &src {
        let shape: Vec<i64> = names
            .iter()
            .map(|it| fixed.get(it).copied().unwrap_or(-1))
            .collect();
        if names.len() > 1 {
            view = reshape_dim(&view, at, &shape, span)?;
        }
        for name in names {
            axes.insert(name.clone(), view.view.dims()[at]);
            at += 1;
        }
    }
    let named: Vec<&String> = dst.iter().flatten().collect();
    let all_used = named.len() == axes.len() && named.iter().all(|it| axes.contains_key(*it));
    if !all_used || (tensor.is_on_chip() && (named.first().copied() != src[0].first() || dst[0].len() > 1)) {
        let help = "both patterns name the same axes, and the partition axis stays in front on chip";
        return Err(view_error("the two patterns do not fit", help, span));
    }
    let mut out = Vec::new();
    for names in &dst {
        let dims: Vec<Dim> = names.iter().map(|it| axes[it]).collect();
        let [one] = merge(&dims)[..] else {
            let message = format!("the axes ({}) do not lie behind one another", names.join(" "));
            return Err(Error::new(Mistake::ReshapeLayout { message }, span));
        };
        out.push(one);
    }
    with_dims(&view, &out, span)
}

fn groups(pattern: &Value, span: Span) -> Result<Vec<Vec<String>>> {
    let wrong = || {
        Error::type_error(
            "a pattern is a tuple of names and tuples of one name or more",
            span,
        )
    };
    let one = |it: &Value| match it {
        Value::Str(it) => Ok(vec![it.to_string()]),
        it => it
            .items()
            .ok_or_else(wrong)
            .map(|it| it.iter().map(Value::text).collect())
            .and_then(|it: Vec<String>| if it.is_empty() { Err(wrong()) } else { Ok(it) }),
    };
    pattern.items().ok_or_else(wrong)?.iter().map(one).collect()
}
