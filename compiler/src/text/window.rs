//! How a view is written relative to its buffer's shape, and read back.
//!
//! Takes a view, gives the shortest of three forms (nothing, ranges, an access pattern) that stands for exactly this
//! view. Writing and reading share this file so that they cannot disagree. Never checks bounds: a view that leaves its
//! buffer has a text too.

use crate::dtype::Dtype;
use crate::ir::{Buffer, BufferId, Dim, MAX_DIMS, Shape, View};

/// One item between a view's brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// `start:end`: the dimension is kept.
    Range(i64, i64),
    /// `index`: the dimension is dropped.
    Index(i64),
    /// `offset + count*step + …`: the rest of an access pattern, outermost first.
    Pattern(i64, Vec<Dim>),
}

/// Why items do not make a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// The number of items fits neither form; the shape's rank is given.
    ItemCount { rank: usize, on_chip: bool },
    /// On chip the first item is the range of partitions.
    FirstItem,
    /// A range that ends before it starts.
    Backwards,
    /// The buffer's last dimension is no whole number of elements of the dtype.
    Dtype,
    /// More pairs than a view has.
    Rank,
    /// A count, stride or partition beyond what a view can hold.
    Size,
}

/// The shape a buffer has when its bytes are read as `dtype`; `None` when its last dimension does not divide.
fn seen_shape(buffer: &Buffer, dtype: Dtype) -> Option<Shape> {
    if dtype.size() == buffer.dtype.size() {
        return Some(buffer.shape);
    }
    let mut dims = [0; Shape::MAX_RANK];
    let rank = buffer.shape.len();
    if rank <= usize::from(buffer.memory.is_on_chip()) {
        return None;
    }
    dims[..rank].copy_from_slice(&buffer.shape);
    let bytes = dims[rank - 1].checked_mul(buffer.dtype.size())?;
    if bytes % dtype.size() != 0 {
        return None;
    }
    dims[rank - 1] = bytes / dtype.size();
    Shape::new(&dims[..rank])
}

/// Row-major strides; the partition dimension, on chip, has stride 1.
fn strides(shape: &[u32], on_chip: bool) -> [i64; Shape::MAX_RANK] {
    let mut strides = [1i64; Shape::MAX_RANK];
    for idx in (0..shape.len().saturating_sub(1)).rev() {
        strides[idx] = strides[idx + 1].saturating_mul(i64::from(shape[idx + 1]));
    }
    if on_chip {
        strides[0] = 1;
    }
    strides
}

/// The items that stand for a view; `None` when it is all of its buffer.
pub fn items(view: &View, buffer: &Buffer) -> Option<Vec<Item>> {
    if let Some(shape) = seen_shape(buffer, view.dtype) {
        let on_chip = buffer.memory.is_on_chip();
        let strides = strides(&shape, on_chip);
        if is_whole(view, &shape, &strides) {
            return None;
        }
        if let Some(ranges) = ranges(view, &shape, &strides, on_chip) {
            return Some(ranges);
        }
    }
    Some(pattern(view, buffer.memory.is_on_chip()))
}

fn is_whole(view: &View, shape: &[u32], strides: &[i64]) -> bool {
    let dims = view.dims();
    view.partition == 0
        && view.offset == 0
        && dims.len() == shape.len()
        && dims
            .iter()
            .zip(shape.iter().zip(strides))
            .all(|(dim, (&count, &stride))| dim.count == count && i64::from(dim.stride) == stride)
}

/// A range or an index for every dimension of the shape, if the view is such a box.
fn ranges(view: &View, shape: &[u32], strides: &[i64], on_chip: bool) -> Option<Vec<Item>> {
    let mut dims = view.dims().iter().peekable();
    let mut items = Vec::with_capacity(shape.len());
    let mut rest = view.offset;
    for (idx, (&size, &stride)) in shape.iter().zip(strides).enumerate() {
        let start = if on_chip && idx == 0 {
            i64::from(view.partition)
        } else {
            let start = rest.checked_div(stride)?;
            rest -= start * stride;
            start
        };
        let fits =
            |it: &&Dim| i64::from(it.stride) == stride && start + i64::from(it.count) <= i64::from(size);
        if let Some(dim) = dims.next_if(fits) {
            items.push(Item::Range(start, start + i64::from(dim.count)));
        } else if on_chip && idx == 0 {
            return None;
        } else {
            items.push(Item::Index(start));
        }
    }
    (rest == 0 && view.offset >= 0 && dims.peek().is_none()).then_some(items)
}

fn pattern(view: &View, on_chip: bool) -> Vec<Item> {
    let (partitions, free) = view.dims().split_at(view.dims().len().min(usize::from(on_chip)));
    let start = i64::from(view.partition);
    let mut items: Vec<Item> = partitions
        .iter()
        .map(|it| Item::Range(start, start + i64::from(it.count)))
        .collect();
    items.push(if free.is_empty() {
        Item::Index(view.offset)
    } else {
        Item::Pattern(view.offset, free.to_vec())
    });
    items
}

/// The view that items stand for; no items at all stand for all of the buffer.
pub fn view(id: BufferId, buffer: &Buffer, dtype: Dtype, items: Option<&[Item]>) -> Result<View, Misfit> {
    let on_chip = buffer.memory.is_on_chip();
    let shape = seen_shape(buffer, dtype);
    let misfit = Misfit::ItemCount {
        rank: buffer.shape.len(),
        on_chip,
    };
    let Some(items) = items else {
        let shape = shape.ok_or(Misfit::Dtype)?;
        let strides = strides(&shape, on_chip);
        let items: Vec<Item> = shape.iter().map(|&it| Item::Range(0, i64::from(it))).collect();
        return box_view(id, dtype, &items, &strides, on_chip);
    };
    let has_pattern = items.iter().any(|it| matches!(it, Item::Pattern(..)));
    match shape {
        Some(shape) if items.len() == shape.len() && !has_pattern => {
            box_view(id, dtype, items, &strides(&shape, on_chip), on_chip)
        }
        _ => match (on_chip, items) {
            (true, [partitions, rest @ (Item::Pattern(..) | Item::Index(_))]) => {
                pattern_view(id, dtype, Some(partitions), rest)
            }
            (false, [rest @ (Item::Pattern(..) | Item::Index(_))]) => pattern_view(id, dtype, None, rest),
            _ => Err(misfit),
        },
    }
}

fn box_view(
    id: BufferId,
    dtype: Dtype,
    items: &[Item],
    strides: &[i64],
    on_chip: bool,
) -> Result<View, Misfit> {
    let mut dims = Vec::with_capacity(MAX_DIMS);
    let mut partition = 0;
    let mut offset = 0i64;
    for (idx, (item, &stride)) in items.iter().zip(strides).enumerate() {
        let start = match *item {
            Item::Range(start, end) => {
                dims.push(Dim {
                    stride: i32::try_from(stride).map_err(|_| Misfit::Size)?,
                    count: range_count(start, end)?,
                });
                start
            }
            Item::Index(_) if on_chip && idx == 0 => return Err(Misfit::FirstItem),
            Item::Index(start) => start,
            Item::Pattern(..) => unreachable!("the caller sends patterns elsewhere"),
        };
        if on_chip && idx == 0 {
            partition = u16::try_from(start).map_err(|_| Misfit::Size)?;
        } else {
            let step = start.checked_mul(stride).ok_or(Misfit::Size)?;
            offset = offset.checked_add(step).ok_or(Misfit::Size)?;
        }
    }
    View::new(id, dtype, partition, offset, &dims).ok_or(Misfit::Rank)
}

fn pattern_view(id: BufferId, dtype: Dtype, partitions: Option<&Item>, rest: &Item) -> Result<View, Misfit> {
    let mut dims = Vec::with_capacity(MAX_DIMS);
    let mut partition = 0;
    if let Some(partitions) = partitions {
        let Item::Range(start, end) = *partitions else {
            return Err(Misfit::FirstItem);
        };
        partition = u16::try_from(start).map_err(|_| Misfit::Size)?;
        dims.push(Dim {
            stride: 1,
            count: range_count(start, end)?,
        });
    }
    let offset = match rest {
        Item::Pattern(offset, free) => {
            dims.extend_from_slice(free);
            *offset
        }
        Item::Index(offset) => *offset,
        Item::Range(..) => unreachable!("the caller sends ranges elsewhere"),
    };
    View::new(id, dtype, partition, offset, &dims).ok_or(Misfit::Rank)
}

fn range_count(start: i64, end: i64) -> Result<u32, Misfit> {
    let count = end.checked_sub(start).ok_or(Misfit::Size)?;
    if count < 0 {
        return Err(Misfit::Backwards);
    }
    u32::try_from(count).map_err(|_| Misfit::Size)
}
