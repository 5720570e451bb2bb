//! Subscripts with index tensors: `x[i * 128 + i_p, i_f[None, :]]`.
//!
//! Takes a tensor and keys, gives the view that the affine forms describe. A view that reaches outside its tensor is
//! an [`Access`]: legal only under a mask that keeps it inside. Nothing is enumerated, and nothing is moved.

use super::Evaluator;
use super::affine::Affine;
use super::error::{Error, Mistake, Result};
use super::eval::with_article;
use super::index::{Pick, bounds, tensor_value};
use super::layout;
use super::mask::Rectangle;
use super::value::{Tensor, Value};
use crate::ir::{Dim, MAX_DIMS, View};
use crate::source::Span;
use std::rc::Rc;

/// One key of a subscript.
#[derive(Clone)]
pub enum Key {
    Pick(Pick),
    Index(Rc<Affine>),
    /// A tile with a row number in each partition.
    Rows(Rc<Tensor>),
    /// `None`: a new dimension of size 1.
    New,
}

impl Key {
    pub fn of(value: &Value, span: Span) -> Result<Key> {
        Ok(match value {
            Value::Index(form) => Key::Index(form.clone()),
            Value::None => Key::New,
            Value::Tensor(tile) if tile.is_on_chip() => Key::Rows(tile.clone()),
            Value::Access(it) => return Err(it.outside()),
            value => Key::Pick(Pick::of(value, span)?),
        })
    }
}

/// The keys in an evaluated index.
pub fn keys_of(index: &Value, span: Span) -> Result<Vec<Key>> {
    match index {
        Value::Tuple(keys) | Value::Grid(keys) => keys.iter().map(|it| Key::of(it, span)).collect(),
        index => Ok(vec![Key::of(index, span)?]),
    }
}

/// A view that reaches outside its tensor.
#[derive(Debug)]
pub struct Access {
    /// The dimensions of the whole view; its elements may lie outside.
    tensor: Tensor,
    /// For each indexed dimension of the tensor: the index as a form over the view's dimensions.
    indices: Vec<Indexed>,
    span: Span,
}

#[derive(Clone, Debug)]
struct Indexed {
    dim: usize,
    size: i64,
    form: Affine,
}

impl Access {
    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// The error for using it without a mask.
    pub fn outside(&self) -> Box<Error> {
        self.outside_within(&Rectangle::whole(&self.tensor.shape().collect::<Vec<_>>()))
            .unwrap_or_else(|| Error::value_error("the access lies outside its tensor", self.span))
    }

    /// The whole view, if the elements that the rectangle lets through lie inside.
    pub fn within(&self, rectangle: &Rectangle) -> Result<Tensor> {
        match self.outside_within(rectangle) {
            None => Ok(self.tensor.clone()),
            Some(error) => Err(error),
        }
    }

    fn outside_within(&self, rectangle: &Rectangle) -> Option<Box<Error>> {
        for index in &self.indices {
            let rank = index.form.rank();
            let mut highs = [1; MAX_DIMS];
            highs[..rank].copy_from_slice(index.form.sizes());
            let mut lows = [0; MAX_DIMS];
            // A mask of another rank says something about the partitions only.
            let dims = if rectangle.rank == rank { rank } else { 1 };
            for dim in 0..dims {
                if highs[dim] == rectangle.sizes[dim] {
                    lows[dim] = rectangle.lows[dim];
                    highs[dim] = rectangle.highs[dim];
                }
            }
            let (least, greatest) = index.form.reach(&lows, &highs);
            if least < 0 || greatest >= index.size {
                let mistake = Mistake::OutOfBounds {
                    dim: index.dim,
                    start: least,
                    stop: greatest.saturating_add(1),
                    size: index.size,
                };
                return Some(Error::new(mistake, self.span));
            }
        }
        None
    }
}

impl Evaluator<'_> {
    /// The view that a subscript gives; a tile among the keys picks a row for each of its partitions.
    pub fn subscript(&mut self, tensor: &Tensor, keys: &[Key], span: Span) -> Result<Value> {
        let value = select(tensor, keys, span).map_err(|mut error| {
            if let Mistake::OutOfBounds { .. } = error.mistake {
                error.allocated = self.program.span(self.program[tensor.view.buffer].loc);
            }
            error
        })?;
        let mut tiles = keys.iter().filter_map(|it| match it {
            Key::Rows(tile) => Some(tile),
            _ => None,
        });
        let Some(tile) = tiles.next() else {
            return Ok(value);
        };
        if tiles.next().is_some() {
            let help = "compute one index from both in a tile, and index the reshaped tensor with it";
            return Err(view_error("two tiles as indices of one subscript", help, span));
        }
        let dim = expanded(tensor, keys, span)?
            .iter()
            .position(|it| matches!(it, Key::Rows(_)))
            .expect("a tile is among the keys");
        let (index, rows) = self.row_index(tensor, &Value::Tensor(tile.clone()), span)?;
        let whole = tensor.view.dims()[dim];
        let gathered = |this: &Self, view: &Tensor| {
            let first = view.view.dims()[0];
            if first.count != rows || (first.stride != 0 && rows > 1) {
                let help = "let the tile alone say which rows are meant: data[rows, columns[None, :]]";
                return Err(view_error(
                    "the rows of the view are not those of the index tile",
                    help,
                    span,
                ));
            }
            let mut view = view.clone();
            view.view = view.view.with_first_stride(0);
            this.moved(&view, index, whole.stride.into(), whole.count.into(), span)
        };
        match value {
            Value::Access(access) => {
                let tensor = gathered(self, &access.tensor)?;
                let indices = access.indices.clone();
                Ok(Value::Access(Rc::new(Access {
                    tensor,
                    indices,
                    span,
                })))
            }
            value => {
                let view = settled(&value, "a subscript", span)?;
                gathered(self, &view).map(tensor_value)
            }
        }
    }
}

/// The form of a tile as an index: it says nothing at compile time but how many rows there are.
fn rows_form(tile: &Tensor, span: Span) -> Result<Affine> {
    if tile.view.free_count() != 1 {
        let shape: Vec<u32> = tile.shape().collect();
        let message = format!("a tile of shape {shape:?} as an index");
        return Err(view_error(
            message,
            "give one index per partition: a tile of shape (rows, 1)",
            span,
        ));
    }
    Ok(Affine::constant(0)
        .with_dim(tile.view.partitions(), 0)
        .with_dim(1, 0))
}

/// The view that a subscript gives.
fn select(tensor: &Tensor, keys: &[Key], span: Span) -> Result<Value> {
    if keys.iter().any(|it| matches!(it, Key::New)) {
        return with_new_dims(tensor, keys, span);
    }
    if !keys.iter().any(|it| matches!(it, Key::Index(_) | Key::Rows(_))) {
        let picks: Vec<Pick> = keys
            .iter()
            .filter_map(|it| match it {
                Key::Pick(pick) => Some(*pick),
                _ => None,
            })
            .collect();
        return super::index::subscript(tensor, &picks, span).map(tensor_value);
    }
    let keys = expanded(tensor, keys, span)?;
    let mut shared = Affine::constant(0);
    for key in &keys {
        let form = match key {
            Key::Index(form) => **form,
            Key::Rows(tile) => rows_form(tile, span)?,
            _ => continue,
        };
        shared = shared.sum(&form.scaled(0)).ok_or_else(|| {
            let help = "give them one shape, e.g. with [:, None] and [None, :]";
            view_error("the index tensors have shapes that do not broadcast", help, span)
        })?;
    }
    build(tensor, &keys, shared.sizes(), span)
}

/// A subscript of ints and slices that reaches beyond the tensor: a classic kernel may give it to a call whose mask keeps
/// it inside. `None` when a slice begins outside or has no elements, or when there is no slice, which no mask mends.
pub fn beyond(tensor: &Tensor, picks: &[Pick], span: Span) -> Option<Value> {
    let keys: Vec<Key> = picks.iter().map(|it| Key::Pick(*it)).collect();
    let keys = expanded(tensor, &keys, span).ok()?;
    let is_slice = |it: &Key| matches!(it, Key::Pick(Pick::Slice(..)));
    let rank = keys.iter().filter(|it| is_slice(it)).count();
    // One element outside is outside under any mask.
    if rank == 0 {
        return None;
    }
    let (mut forms, mut sizes) = (Vec::new(), Vec::new());
    for (key, whole) in keys.into_iter().zip(tensor.view.dims()) {
        let Key::Pick(Pick::Slice(start, stop, step)) = key else {
            forms.push(key);
            continue;
        };
        let (start, step) = (start.unwrap_or(0), step.unwrap_or(1));
        let stop = stop.unwrap_or(whole.count.into());
        if !(0..i64::from(whole.count)).contains(&start) || stop <= start || step < 1 {
            return None;
        }
        let count = u32::try_from((stop - start - 1) / step + 1).ok()?;
        let form = (0..rank).fold(Affine::constant(start), |form, at| match at == sizes.len() {
            true => form.with_dim(count, step),
            false => form.with_dim(1, 0),
        });
        forms.push(Key::Index(Rc::new(form)));
        sizes.push(count);
    }
    build(tensor, &forms, &sizes, span).ok()
}

/// `tile[:, None, :]`: the subscript without the new dimensions, then the dimensions.
fn with_new_dims(tensor: &Tensor, keys: &[Key], span: Span) -> Result<Value> {
    let others: Vec<Key> = keys
        .iter()
        .filter(|it| !matches!(it, Key::New))
        .cloned()
        .collect();
    if others.iter().any(|it| !matches!(it, Key::Pick(Pick::Slice(..)))) {
        let help = "slice first, then add dimensions with .expand_dim(dim)";
        return Err(view_error(
            "None beside an index of another kind than a slice",
            help,
            span,
        ));
    }
    let Value::Tensor(view) = select(tensor, &others, span)? else {
        unreachable!("slices give views that lie inside");
    };
    let mut view = (*view).clone();
    for (at, key) in keys.iter().enumerate() {
        if matches!(key, Key::New) {
            view = layout::expand_dim(&view, at, span)?;
        }
    }
    Ok(tensor_value(view))
}

/// One key for each dimension of the tensor.
fn expanded(tensor: &Tensor, keys: &[Key], span: Span) -> Result<Vec<Key>> {
    let rank = tensor.view.dims().len();
    let is_ellipsis = |it: &&Key| matches!(it, Key::Pick(Pick::Ellipsis));
    let n_ellipsis = keys.iter().filter(is_ellipsis).count();
    if n_ellipsis > 1 || keys.len() - n_ellipsis > rank {
        let message = format!(
            "{} indices for a tensor of {rank} dimensions",
            keys.len() - n_ellipsis
        );
        return Err(view_error(message, "give one index per dimension", span));
    }
    let full = || Key::Pick(Pick::FULL);
    let n_missing = rank - (keys.len() - n_ellipsis);
    let mut out = Vec::with_capacity(rank);
    for key in keys {
        match key {
            Key::Pick(Pick::Ellipsis) => out.extend((0..n_missing).map(|_| full())),
            key => out.push(key.clone()),
        }
    }
    out.resize_with(rank, full);
    Ok(out)
}

fn build(tensor: &Tensor, keys: &[Key], shared: &[u32], span: Span) -> Result<Value> {
    let on_chip = tensor.is_on_chip();
    let first_index = keys
        .iter()
        .position(|it| matches!(it, Key::Index(_) | Key::Rows(_)))
        .expect("the caller has found an index tensor");
    let n_slices_before = keys[..first_index]
        .iter()
        .filter(|it| matches!(it, Key::Pick(Pick::Slice(..))))
        .count();
    let n_slices = keys
        .iter()
        .filter(|it| matches!(it, Key::Pick(Pick::Slice(..))))
        .count();
    // A tile whose partition is picked by a number keeps one partition, in front.
    let is_number = |it: &Key| match it {
        Key::Pick(Pick::At(_)) => true,
        Key::Index(form) => form.steps().iter().all(|it| *it == 0),
        _ => false,
    };
    let extra = usize::from(on_chip && is_number(&keys[0]) && shared.first().is_none_or(|it| *it != 1));
    let rank = extra + n_slices + shared.len();
    let padded = rank.max(if on_chip { 2 } else { 1 });
    if padded > MAX_DIMS {
        let message = format!("a view of {rank} dimensions; at most {MAX_DIMS} are possible");
        return Err(view_error(message, "index with fewer dimensions", span));
    }
    let mut dims = [Dim { stride: 1, count: 1 }; MAX_DIMS];
    let mut strides = [0i64; MAX_DIMS];
    let first_shared = extra + n_slices_before;
    for (at, &size) in shared.iter().enumerate() {
        dims[first_shared + at].count = size;
    }
    let mut indices = Vec::new();
    let (mut partition, mut offset) = (i64::from(tensor.view.partition), tensor.view.offset);
    let mut next_slice = extra;
    for (dim, key) in keys.iter().enumerate() {
        let whole = tensor.view.dims()[dim];
        let (size, stride) = (i64::from(whole.count), i64::from(whole.stride));
        let is_partition = on_chip && dim == 0;
        let start = match key {
            Key::Pick(Pick::Slice(start, stop, step)) => {
                if next_slice == first_shared {
                    next_slice += shared.len();
                }
                let (start, stop, step) = bounds((*start, *stop, *step), size, dim, span)?;
                dims[next_slice].count = ((stop - start - 1) / step + 1) as u32;
                strides[next_slice] = if is_partition { step } else { stride * step };
                check_partition(is_partition, next_slice, step, span)?;
                next_slice += 1;
                start
            }
            Key::Pick(Pick::At(at)) => super::index::position(*at, size, "dimension", span)? as i64,
            Key::Index(form) => {
                let aligned = form.aligned(shared.len());
                let mut placed = Affine::constant(form.start);
                for at in 0..rank {
                    let local = at.checked_sub(first_shared).filter(|it| *it < shared.len());
                    let step = local.map_or(0, |it| aligned.steps()[it]);
                    placed = placed.with_dim(dims[at].count, step);
                    if is_partition {
                        if step != 0 {
                            check_partition(true, at, step, span)?;
                        }
                    } else {
                        strides[at] = strides[at].saturating_add(stride.saturating_mul(step));
                    }
                }
                let (least, greatest) = placed.whole_reach();
                if least < 0 || greatest >= size {
                    indices.push(Indexed {
                        dim,
                        size,
                        form: placed,
                    });
                }
                form.start
            }
            // The row numbers are added when the instruction runs.
            Key::Rows(_) => 0,
            Key::Pick(Pick::Ellipsis) | Key::New => {
                unreachable!("ellipses were expanded, and None is handled before")
            }
        };
        if is_partition {
            partition = partition.saturating_add(start);
        } else {
            offset = offset.saturating_add(start.saturating_mul(stride));
        }
    }
    if on_chip {
        if strides[0] != 0 && !matches!(&keys[0], Key::Pick(Pick::Slice(..))) {
            let help = "a tile has the same offsets in every partition; use a mask or nisa.affine_select";
            return Err(view_error(
                "an index of a free dimension varies with the partition",
                help,
                span,
            ));
        }
        strides[0] = 1;
    }
    for (dim, stride) in dims[..padded].iter_mut().zip(strides) {
        dim.stride = if dim.count == 1 {
            1
        } else {
            i32::try_from(stride)
                .map_err(|_| view_error("a stride exceeds 32 bits", "index a smaller tensor", span))?
        };
    }
    let Ok(first) = u16::try_from(partition) else {
        let (start, size) = (partition, i64::from(tensor.view.dims()[0].count));
        let stop = start.saturating_add(1);
        return Err(Error::new(
            Mistake::OutOfBounds {
                dim: 0,
                start,
                stop,
                size,
            },
            span,
        ));
    };
    let view = View::new(
        tensor.view.buffer,
        tensor.view.dtype,
        first,
        offset,
        &dims[..padded],
    )
    .expect("the number of dimensions was checked");
    let tensor = Tensor {
        view,
        region: tensor.region,
    };
    if indices.is_empty() {
        return Ok(tensor_value(tensor));
    }
    Ok(Value::Access(Rc::new(Access {
        tensor,
        indices,
        span,
    })))
}

fn check_partition(is_partition: bool, at: usize, step: i64, span: Span) -> Result<()> {
    if !is_partition || (at == 0 && step == 1) {
        return Ok(());
    }
    if at != 0 {
        let help = "index the partition dimension with the first dimension of the index tensors: [:, None]";
        return Err(view_error(
            "the partition dimension is not the first of the view",
            help,
            span,
        ));
    }
    let message = format!("the partition dimension is indexed with step {step}");
    Err(view_error(
        message,
        "partitions of one access are contiguous: use a step of 1",
        span,
    ))
}

fn view_error(message: impl Into<String>, help: &str, span: Span) -> Box<Error> {
    let (message, help) = (message.into(), help.to_string());
    Error::new(Mistake::View { message, help }, span)
}

/// The tensor in a value that must lie inside its storage.
pub fn settled(value: &Value, what: &str, span: Span) -> Result<Rc<Tensor>> {
    match value {
        Value::Tensor(it) => Ok(it.clone()),
        Value::Access(it) => Err(it.outside()),
        _ => Err(Error::type_error(
            format!("{what} takes a tensor, not {}", with_article(value.kind())),
            span,
        )),
    }
}
