//! Subscripts: elements of containers, views of tensors.
//!
//! Takes a value and an evaluated index, gives the element or the view; a subscript of a tensor moves no data. What a
//! subscript assignment changes is decided here too.

use super::Evaluator;
use super::error::{Error, Mistake, Result};
use super::eval::with_article;
use super::history::Removed;
use super::host_bridge;
use super::mask::Extent;
use super::operate::overflow;
use super::value::{Range, SliceValue, Tensor, Value};
use super::{access, affine, restrict};
use crate::ir::{Dim, MAX_DIMS, View};
use crate::source::Span;
use std::rc::Rc;

/// The place of a possibly negative index in a sequence.
pub fn position(index: i64, length: i64, what: &str, span: Span) -> Result<usize> {
    let at = if index < 0 { index + length } else { index };
    if (0..length).contains(&at) {
        return Ok(at as usize);
    }
    Err(Error::new(
        Mistake::IndexOutOfRange {
            index,
            length,
            what: what.to_string(),
        },
        span,
    ))
}

impl Evaluator<'_> {
    pub fn index(&mut self, value: &Value, index: &Value, span: Span) -> Result<Value> {
        match value {
            Value::Tensor(_) | Value::Access(_) if matches!(index, Value::Mask(_) | Value::Bool(_)) => {
                masked(value, index, span)
            }
            Value::Tensor(tensor) => self.subscript(tensor, &access::keys_of(index, span)?, span),
            Value::Access(it) => Err(it.outside()),
            Value::Blocks(it) => self.index_blocks(it, index, span),
            Value::Index(form) => Ok(Value::Index(Rc::new(form.subscript(index, span)?))),
            Value::Nl("mgrid") => {
                self.removed(Removed::IndexTensor, span);
                affine::grid(index, span)
            }
            Value::Object(object) => {
                if let Some(result) = self.call_special(object, "__getitem__", vec![index.clone()], span) {
                    return result;
                }
                match object.items() {
                    Some(items) => self.index(&Value::tuple(items), index, span),
                    None => Err(Error::type_error(
                        format!("an object of {} cannot be indexed", object.class.name),
                        span,
                    )),
                }
            }
            Value::Class(class) => match index {
                Value::Str(name) => self.class_attribute(class, name, span),
                // `Config[int]` is an annotation.
                _ => Ok(value.clone()),
            },
            Value::Grid(axes) => Ok(axes[element(index, axes.len(), "mgrid", span)?].clone()),
            Value::Array(array) => host_bridge::index(array, index, span),
            Value::Dict(dict) => {
                let key = index.key().ok_or_else(|| Error::unhashable(index, span))?;
                let found = dict.borrow().get(&key).cloned();
                found.ok_or_else(|| Error::new(Mistake::MissingKey { key: index.repr() }, span))
            }
            Value::Tuple(items) => match index {
                Value::Slice(slice) => Ok(Value::tuple(sliced(items, slice, span)?)),
                _ => Ok(items[element(index, items.len(), "tuple", span)?].clone()),
            },
            Value::List(items) => {
                let items = items.borrow();
                match index {
                    Value::Slice(slice) => Ok(Value::list(sliced(&items, slice, span)?)),
                    _ => Ok(items[element(index, items.len(), "list", span)?].clone()),
                }
            }
            Value::Str(text) => {
                let chars: Vec<char> = text.chars().collect();
                match index {
                    Value::Slice(slice) => Ok(Value::str(
                        sliced(&chars, slice, span)?.iter().collect::<String>(),
                    )),
                    _ => Ok(Value::str(
                        chars[element(index, chars.len(), "str", span)?].to_string(),
                    )),
                }
            }
            Value::Range(range) => {
                if let Value::Slice(slice) = index {
                    return range_part(range, slice, span);
                }
                let at = element(index, range.len() as usize, "range", span)?;
                Ok(Value::Int(range.get(at as i64)))
            }
            // `kernel[grid]` launches on a grid; `Optional[int]` and the like are annotations.
            Value::Function(_) | Value::Builtin(_) | Value::Library(_) => Ok(value.clone()),
            _ => Err(Error::type_error(
                format!("{} cannot be indexed", with_article(value.kind())),
                span,
            )),
        }
    }

    /// `value[index] = item`. Gives the changed value where it has to be assigned back.
    pub fn store(&mut self, value: &Value, index: &Value, item: Value, span: Span) -> Result<Option<Value>> {
        if let Value::Object(object) = value
            && let Some(done) =
                self.call_special(object, "__setitem__", vec![index.clone(), item.clone()], span)
        {
            return done.map(|_| None);
        }
        match value {
            Value::List(items) => {
                if let Value::Slice(_) = index {
                    return Err(Error::unsupported(
                        "assigning to a slice of a list",
                        "build a new list",
                        span,
                    ));
                }
                let at = element(index, items.borrow().len(), "list", span)?;
                items.borrow_mut()[at] = item;
                Ok(None)
            }
            Value::Dict(dict) => {
                let key = index.key().ok_or_else(|| Error::unhashable(index, span))?;
                dict.borrow_mut().insert(key, index.clone(), item);
                Ok(None)
            }
            Value::Array(array) => {
                host_bridge::store(array, index, &item, span)?;
                Ok(Some(value.clone()))
            }
            Value::Tensor(_) | Value::Blocks(_) => {
                let target = self.index(value, index, span)?;
                self.store_place(&target, &item, span)?;
                Ok(None)
            }
            _ => Err(Error::type_error(
                format!("{} cannot be assigned into", with_article(value.kind())),
                span,
            )),
        }
    }
}

pub fn tensor_value(tensor: Tensor) -> Value {
    Value::Tensor(Rc::new(tensor))
}

fn element(index: &Value, length: usize, what: &str, span: Span) -> Result<usize> {
    match index.as_int() {
        Some(it) => position(it, length as i64, what, span),
        None => Err(Error::type_error(
            format!(
                "the index of a {what} is an int, not {}",
                with_article(index.kind())
            ),
            span,
        )),
    }
}

/// `x[i_p, i_f][mask]`: the part of the view that a rectangular mask lets through.
pub fn masked(value: &Value, index: &Value, span: Span) -> Result<Value> {
    let extent = match index {
        Value::Mask(mask) => mask.extent(),
        // A condition on loop variables alone is decided.
        Value::Bool(true) => Extent::All,
        _ => Extent::Nothing,
    };
    let tensor = match (extent, value) {
        (Extent::All, value) => return Ok(value.clone()),
        (Extent::Rectangle(it), Value::Access(access)) => (access.within(&it)?, it),
        (Extent::Rectangle(it), Value::Tensor(tensor)) => ((**tensor).clone(), it),
        _ => {
            let message = "a subscript takes a mask that lets a rectangle through".to_string();
            let help = "give the mask to the instruction: mask=…".to_string();
            return Err(Error::new(Mistake::View { message, help }, span));
        }
    };
    let (tensor, rectangle) = tensor;
    let view = restrict::cut(&tensor.view, tensor.is_on_chip(), &rectangle)
        .ok_or_else(|| restrict::mismatch(&tensor.view, &rectangle, span))?;
    Ok(tensor_value(Tensor { view, ..tensor }))
}

/// Python's slice of a range is a range.
fn range_part(range: &Range, slice: &SliceValue, span: Span) -> Result<Value> {
    let (start, stop, step) = clipped(range.len(), slice, span)?;
    let at = |idx: i64| i128::from(range.start) + i128::from(idx) * i128::from(range.step);
    let ends = [at(start), at(stop), i128::from(range.step) * i128::from(step)].map(i64::try_from);
    match ends {
        [Ok(start), Ok(stop), Ok(step)] => Ok(Value::Range(Rc::new(Range { start, stop, step }))),
        _ => Err(overflow("range", span)),
    }
}

/// Python's slicing of a sequence.
fn sliced<T: Clone>(items: &[T], slice: &SliceValue, span: Span) -> Result<Vec<T>> {
    let (start, stop, step) = clipped(items.len() as i64, slice, span)?;
    let mut out = Vec::new();
    let mut at = start;
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        out.push(items[at as usize].clone());
        at = at.saturating_add(step);
    }
    Ok(out)
}

/// The bounds of a slice of a sequence, clipped to it, and its step.
fn clipped(length: i64, slice: &SliceValue, span: Span) -> Result<(i64, i64, i64)> {
    let int = |it: &Value| match it {
        Value::None => Ok(None),
        _ => it
            .as_int()
            .map(Some)
            .ok_or_else(|| Error::type_error("the bounds of a slice are ints", span)),
    };
    let step = int(&slice.step)?.unwrap_or(1);
    if step == 0 {
        return Err(Error::value_error("the step of a slice must not be 0", span));
    }
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let clip = |it: Option<i64>, default| {
        it.map_or(default, |it| {
            (if it < 0 { it + length } else { it }).clamp(low, high)
        })
    };
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    Ok((
        clip(int(&slice.start)?, first),
        clip(int(&slice.stop)?, last),
        step,
    ))
}

/// One index of a subscript of a tensor.
#[derive(Clone, Copy)]
pub enum Pick {
    At(i64),
    /// `start:stop:step`, each may be left out.
    Slice(Option<i64>, Option<i64>, Option<i64>),
    Ellipsis,
}

impl Pick {
    pub const FULL: Pick = Pick::Slice(None, None, None);

    pub fn of(value: &Value, span: Span) -> Result<Pick> {
        Ok(match value {
            Value::Int(it) => Pick::At(*it),
            Value::Ellipsis => Pick::Ellipsis,
            Value::Slice(it) => Pick::Slice(
                bound(&it.start, span)?,
                bound(&it.stop, span)?,
                bound(&it.step, span)?,
            ),
            _ => match value.as_int() {
                Some(it) => Pick::At(it),
                None => {
                    let message = format!(
                        "a tensor is indexed with ints and slices, not {}",
                        with_article(value.kind())
                    );
                    return Err(Error::type_error(message, span));
                }
            },
        })
    }
}

/// A bound of a slice of a tensor.
pub fn bound(value: &Value, span: Span) -> Result<Option<i64>> {
    match value {
        Value::None => Ok(None),
        _ => value.as_int().map(Some).ok_or_else(|| {
            Error::type_error(
                format!(
                    "the bounds of a slice are ints, not {}",
                    with_article(value.kind())
                ),
                span,
            )
        }),
    }
}

/// The view that a subscript of a tensor gives.
///
/// On chip, an int on dimension 0 keeps it with size 1, and at least two dimensions stay; in HBM an int drops its
/// dimension, and at least one stays.
pub fn subscript(tensor: &Tensor, keys: &[Pick], span: Span) -> Result<Tensor> {
    let rank = tensor.view.dims().len();
    let n_ellipsis = keys.iter().filter(|it| matches!(it, Pick::Ellipsis)).count();
    if n_ellipsis > 1 || keys.len() - n_ellipsis > rank {
        let message = format!(
            "{} indices for a tensor of {rank} dimensions",
            keys.len() - n_ellipsis
        );
        return Err(Error::new(
            Mistake::View {
                message,
                help: "give one index per dimension".to_string(),
            },
            span,
        ));
    }
    let n_missing = rank - (keys.len() - n_ellipsis);
    let mut picks = [Pick::FULL; MAX_DIMS];
    let mut at = 0;
    for key in keys {
        match key {
            Pick::Ellipsis => at += n_missing,
            key => {
                picks[at] = *key;
                at += 1;
            }
        }
    }

    let on_chip = tensor.is_on_chip();
    let mut window = Window::of(tensor);
    let mut dims = [Dim { stride: 1, count: 1 }; MAX_DIMS];
    let mut n_dims = 0;
    for (dim, pick) in picks[..rank].iter().enumerate() {
        let whole = tensor.view.dims()[dim];
        let size = i64::from(whole.count);
        match *pick {
            Pick::Slice(start, stop, step) => {
                let (start, stop, step) = bounds((start, stop, step), size, dim, span)?;
                window.advance(dim, start);
                if on_chip && dim == 0 && step != 1 {
                    let help = "partitions of one access are contiguous: use a step of 1".to_string();
                    let message = format!("the partition dimension is sliced with step {step}");
                    return Err(Error::new(Mistake::View { message, help }, span));
                }
                let count = (stop - start - 1) / step + 1;
                // A step beyond the dimension takes one element, whose stride says nothing.
                let step = if count == 1 { 1 } else { step };
                dims[n_dims] = Dim {
                    stride: whole.stride * step as i32,
                    count: count as u32,
                };
                n_dims += 1;
            }
            Pick::At(at) => {
                let at_positive = if at < 0 { at + size } else { at };
                if !(0..size).contains(&at_positive) {
                    return Err(Error::new(
                        Mistake::OutOfBounds {
                            dim,
                            start: at,
                            stop: at.saturating_add(1),
                            size,
                        },
                        span,
                    ));
                }
                window.advance(dim, at_positive);
                // A dropped dimension comes back with size 1 where the rank would fall too low.
                let is_needed = dim + 1 == rank && n_dims < if on_chip { 2 } else { 1 };
                if (on_chip && dim == 0) || is_needed {
                    dims[n_dims].count = 1;
                    n_dims += 1;
                }
            }
            Pick::Ellipsis => unreachable!("ellipses were expanded above"),
        }
    }
    Ok(window.finish(tensor, &dims[..n_dims]))
}

/// The moving start of a view while its dimensions are cut.
pub struct Window {
    partition: i64,
    offset: i64,
    strides: [i64; MAX_DIMS],
    on_chip: bool,
}

impl Window {
    pub fn of(tensor: &Tensor) -> Window {
        let mut strides = [0; MAX_DIMS];
        for (stride, dim) in strides.iter_mut().zip(tensor.view.dims()) {
            *stride = i64::from(dim.stride);
        }
        Window {
            partition: i64::from(tensor.view.partition),
            offset: tensor.view.offset,
            strides,
            on_chip: tensor.is_on_chip(),
        }
    }

    /// Moves the start by `count` steps of a dimension.
    pub fn advance(&mut self, dim: usize, count: i64) {
        if self.on_chip && dim == 0 {
            self.partition += count;
        } else {
            self.offset += count * self.strides[dim];
        }
    }

    pub fn finish(self, tensor: &Tensor, dims: &[Dim]) -> Tensor {
        let partition = u16::try_from(self.partition).expect("partitions were checked against the view");
        let view = View::new(
            tensor.view.buffer,
            tensor.view.dtype,
            partition,
            self.offset,
            dims,
        )
        .expect("cutting dimensions never adds one");
        Tensor {
            view: view.moved_by(tensor.view.dynamic),
            region: tensor.region,
        }
    }
}

type Slice = (Option<i64>, Option<i64>, Option<i64>);

/// The checked bounds of a slice of a tensor's dimension: nothing is clipped.
pub fn bounds(slice: Slice, size: i64, dim: usize, span: Span) -> Result<(i64, i64, i64)> {
    let step = slice.2.unwrap_or(1);
    if step < 1 {
        let help = "use a step of at least 1".to_string();
        return Err(Error::new(
            Mistake::View {
                message: format!("a slice with step {step}"),
                help,
            },
            span,
        ));
    }
    let from_end = |it: i64| if it < 0 { it.saturating_add(size) } else { it };
    let (start, stop) = (from_end(slice.0.unwrap_or(0)), from_end(slice.1.unwrap_or(size)));
    if start < 0 || stop > size {
        return Err(Error::new(
            Mistake::OutOfBounds {
                dim,
                start,
                stop,
                size,
            },
            span,
        ));
    }
    if start >= stop {
        let message = format!("the slice {start}:{stop} of dimension {dim} is empty");
        let help = "a view has at least one element in each dimension".to_string();
        return Err(Error::new(Mistake::View { message, help }, span));
    }
    Ok((start, stop, step))
}
