//! Instructions under a mask: operands cut to the rectangle that the mask lets through.
//!
//! Takes the mask of a call and the views of an instruction, cuts each view by position: dimension `d` of the mask is
//! dimension `d` of the tile. Also remembers which tiles only ever had a corner written, since the undefined rest
//! must not be read: later functional calls are cut to that corner too, as the values outside it mean nothing.

use super::error::{Error, Mistake, Result};
use super::eval::CallArgs;
use super::history::Removed;
use super::mask::{Extent, Mask, Rectangle};
use super::value::{Tensor, Value};
use super::{Evaluator, Warning};
use crate::ir::{BufferId, Dim, Index, MAX_DIMS, View};
use crate::isa::{Access, Arg, MAX_ARGS, Op};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What the calls of the classic style keep between each other.
pub struct Masking {
    /// What the instructions that are being emitted touch.
    pub within: Extent,
    /// What was written of each buffer, by its id.
    touched: Vec<Touched>,
    /// Whether any write was cut.
    has_cuts: bool,
    /// Tiles whose only writes were cut to this rectangle.
    partial: FxHashMap<BufferId, Rectangle>,
    /// What the last call of the language touched.
    pub last: Extent,
}

impl Default for Masking {
    fn default() -> Masking {
        Masking {
            within: Extent::All,
            touched: Vec::new(),
            has_cuts: false,
            partial: FxHashMap::default(),
            last: Extent::All,
        }
    }
}

impl Masking {
    /// Notes a write of a view, of which a mask has left `written`; says whether it is the buffer's first.
    fn touch(&mut self, whole: &View, written: &View) -> bool {
        let at = whole.buffer.index();
        if self.touched.len() <= at {
            self.touched.resize(at + 1, Touched::default());
        }
        let touched = &mut self.touched[at];
        let is_first = touched.end_row == 0;
        touched.end_row = touched
            .end_row
            .max(u32::from(written.partition) + written.partitions());
        if written.partitions() < whole.partitions() {
            touched.is_cut = true;
            self.has_cuts = true;
        }
        is_first
    }

    pub fn is_touched(&self, buffer: BufferId) -> bool {
        self.touched.get(buffer.index()).is_some_and(|it| it.end_row > 0)
    }

    /// The rows of a buffer that were ever written, if a mask has kept any from it.
    fn end_row(&self, buffer: BufferId) -> Option<u32> {
        let touched = self.touched.get(buffer.index())?;
        touched.is_cut.then_some(touched.end_row)
    }

    /// Forgets a buffer that is taken back.
    pub fn forget(&mut self, buffer: BufferId) {
        self.touched.truncate(buffer.index());
        self.partial.remove(&buffer);
    }
}

/// What was written of a buffer.
#[derive(Clone, Copy, Default)]
struct Touched {
    /// No partition from here on has been written.
    end_row: u32,
    /// Whether a mask has kept rows from a write.
    is_cut: bool,
}

/// The mask of a call.
pub enum Masked {
    Extent(Extent),
    General(Rc<Mask>),
}

impl Evaluator<'_> {
    /// Takes `mask=` out of the arguments of a call.
    pub fn take_mask(&mut self, args: &mut CallArgs) -> Result<Masked> {
        let Some(at) = args.keywords.iter().position(|it| &*it.0 == "mask") else {
            return Ok(Masked::Extent(Extent::All));
        };
        let value = args.keywords.remove(at).1;
        if at < args.keyword_spans.len() {
            args.keyword_spans.remove(at);
        }
        match &value {
            Value::None => self.warn_old_mask(args.span),
            _ => self.removed(Removed::Mask, args.span),
        }
        match value {
            Value::None => Ok(Masked::Extent(Extent::All)),
            Value::Mask(mask) => match mask.extent() {
                Extent::General => Ok(Masked::General(mask)),
                extent => Ok(Masked::Extent(extent)),
            },
            value => match value.as_int() {
                Some(0) => Ok(Masked::Extent(Extent::Nothing)),
                Some(_) => Ok(Masked::Extent(Extent::All)),
                None => {
                    let kind = super::eval::with_article(value.kind());
                    let message = format!("a mask is a comparison of index tensors or a bool, not {kind}");
                    Err(Error::type_error(message, args.span))
                }
            },
        }
    }

    /// `mask=None` says nothing; only newer NKI minds.
    fn warn_old_mask(&mut self, span: Span) {
        if !self.is_classic || self.dialect.is_some() {
            self.warn(Warning::OldKeyword("mask"), span);
        }
    }

    /// Replaces accesses that reach outside their tensors by their views, if the mask keeps them inside.
    pub fn settle(&self, args: &mut CallArgs, extent: &Extent) -> Result<()> {
        let whole = Rectangle::whole(&[]);
        let settle = |value: &mut Value| -> Result<()> {
            if let Value::Access(access) = value {
                let tensor = match extent {
                    Extent::Rectangle(rectangle) => access.within(rectangle)?,
                    Extent::Nothing => access.tensor().clone(),
                    _ => access.within(&whole)?,
                };
                *value = Value::Tensor(Rc::new(tensor));
            }
            Ok(())
        };
        args.positional.iter_mut().try_for_each(settle)?;
        args.keywords.iter_mut().map(|it| &mut it.1).try_for_each(settle)
    }

    /// Runs a body whose instructions are cut to an extent.
    pub fn within<T>(&mut self, extent: Extent, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = std::mem::replace(&mut self.masking.within, extent);
        let result = body(self);
        self.masking.within = outer;
        result
    }

    /// The part of a view that was ever written, where it is known to be less than all of it.
    fn defined(&self, view: &View) -> Option<Rectangle> {
        if let Some(written) = self.masking.partial.get(&view.buffer)
            && *view == View::whole(view.buffer, &self.program[view.buffer])
        {
            return Some(*written);
        }
        // Of a part of the tile only the rows are followed.
        let end_row = self.masking.end_row(view.buffer)?;
        let mut sizes = [1; MAX_DIMS];
        let rank = view.dims().len();
        sizes
            .iter_mut()
            .zip(view.dims())
            .for_each(|(size, dim)| *size = dim.count);
        let mut rows = Rectangle::whole(&sizes[..rank]);
        rows.highs[0] = sizes[0].min(end_row.saturating_sub(view.partition.into()));
        (rows.highs[0] < sizes[0]).then_some(rows)
    }

    /// What an instruction can compute from the defined parts of what it reads.
    fn defined_by_operands(&self, op: Op, args: &[Arg; MAX_ARGS]) -> Option<Rectangle> {
        let mut out: Option<Rectangle> = None;
        for (position, (operand, arg)) in op.row().operands.iter().zip(args).enumerate() {
            let (Some(facts), Arg::View(id)) = (operand.kind.tile(), arg) else {
                continue;
            };
            if facts.access != Access::Read {
                continue;
            }
            let Some(defined) = self.defined(&self.program[*id]) else {
                continue;
            };
            let defined = match (op, position) {
                (Op::NcMatmul, 1) => column_of(&defined, 0),
                (Op::NcMatmul, _) => column_of(&defined, 1),
                _ => defined,
            };
            out = Some(match out {
                None => defined,
                Some(out) => out
                    .shared(&defined)
                    .unwrap_or_else(|| with_rows_of(&out, &defined)),
            });
        }
        out
    }

    /// Cuts the views of an instruction to what the calls around let through; false: nothing is left of it.
    pub fn restrict(&mut self, op: Op, args: &mut [Arg; MAX_ARGS], span: Span) -> Result<bool> {
        let Arg::View(dst) = args[0] else { return Ok(true) };
        let has_undefined = self.masking.has_cuts || !self.masking.partial.is_empty();
        let defined = if !has_undefined || op == Op::DmaCopy {
            None
        } else {
            self.defined_by_operands(op, args)
        };
        let extent = match (&self.masking.within, defined) {
            (Extent::Nothing, _) => Extent::Nothing,
            (Extent::Rectangle(it), Some(defined)) => {
                Extent::Rectangle(it.shared(&defined).unwrap_or_else(|| with_rows_of(it, &defined)))
            }
            (Extent::Rectangle(it), None) => Extent::Rectangle(*it),
            (_, Some(defined)) => Extent::Rectangle(defined),
            _ => Extent::All,
        };
        let extent = match extent {
            Extent::Rectangle(it) if it.is_empty() => Extent::Nothing,
            Extent::Rectangle(it) if it.is_whole() => Extent::All,
            extent => extent,
        };
        self.masking.last = extent.clone();
        let dst = self.program[dst];
        let rectangle = match extent {
            Extent::Nothing => {
                self.drop_outside(args);
                return Ok(false);
            }
            Extent::Rectangle(it) => it,
            Extent::All | Extent::General => {
                self.masking.touch(&dst, &dst);
                if !self.masking.partial.is_empty() {
                    self.masking.partial.remove(&dst.buffer);
                }
                return Ok(true);
            }
        };
        for (position, arg) in args.iter_mut().enumerate().take(op.row().operands.len()) {
            let Arg::View(id) = *arg else { continue };
            let view = self.program[id];
            let on_chip = self.program.memory(&view).is_on_chip();
            let part = part_of(op, position, &rectangle);
            let Some(cut) = cut(&view, on_chip, &part) else {
                return Err(mismatch(&view, &part, span));
            };
            let cut = self.with_rows_cut(&view, cut, &part);
            // What lies outside its buffer is known to nobody else, and must not stay in the table.
            *arg = Arg::View(match self.lies_inside(&view) {
                true => self.program.add_view(cut),
                false => self.program.replace_view(id, cut),
            });
        }
        if let Arg::View(id) = args[0] {
            let written = self.program[id];
            let is_first = self.masking.touch(&dst, &written);
            self.note_partial(dst, args[0], is_first);
        }
        Ok(true)
    }

    /// Cuts the index tile of a view whose rows have indices of their own.
    fn with_rows_cut(&mut self, whole: &View, cut: View, part: &Rectangle) -> View {
        let Some(mut dynamic) = whole.dynamic else {
            return cut;
        };
        if let Index::Rows(tile) = dynamic.index
            && cut.dims()[0].count != whole.dims()[0].count
        {
            let tile = self.program[tile];
            let mut dims = [Dim { stride: 0, count: 0 }; MAX_DIMS];
            let rank = tile.dims().len();
            dims[..rank].copy_from_slice(tile.dims());
            dims[0].count = cut.dims()[0].count;
            let first = tile.partition + part.lows[0] as u16;
            let rows = View::new(tile.buffer, tile.dtype, first, tile.offset, &dims[..rank]);
            let rows = rows.expect("the view keeps its dimensions");
            dynamic.index = Index::Rows(self.program.add_view(rows));
        }
        cut.moved_by(Some(dynamic))
    }

    /// Takes views that lie outside their buffers out of the table: their instruction is not made.
    fn drop_outside(&mut self, args: &[Arg; MAX_ARGS]) {
        for arg in args {
            let Arg::View(id) = *arg else { continue };
            let view = self.program[id];
            if !self.lies_inside(&view) {
                let whole = View::whole(view.buffer, &self.program[view.buffer]);
                self.program.replace_view(id, whole);
            }
        }
    }

    fn lies_inside(&self, view: &View) -> bool {
        let buffer = &self.program[view.buffer];
        let on_chip = buffer.memory.is_on_chip();
        let dims = if on_chip { view.free_dims() } else { view.dims() };
        let reach = |it: &Dim| i64::from(it.stride) * (i64::from(it.count) - 1);
        let low: i64 = view.offset + dims.iter().map(|it| reach(it).min(0)).sum::<i64>();
        let high: i64 = view.offset + dims.iter().map(|it| reach(it).max(0)).sum::<i64>();
        let count = (buffer.bytes() / u64::from(view.dtype.size())) as i64;
        let rows_fit = !on_chip || u32::from(view.partition) + view.partitions() <= buffer.partitions();
        low >= 0 && high < count && rows_fit
    }

    /// Remembers a first write that leaves the end of a tile undefined.
    fn note_partial(&mut self, whole: View, written: Arg, is_first: bool) {
        let Arg::View(id) = written else { return };
        let written = self.program[id];
        let buffer = &self.program[whole.buffer];
        if !is_first || !buffer.memory.is_on_chip() || whole != View::whole(whole.buffer, buffer) {
            return;
        }
        let sizes: Vec<u32> = whole.dims().iter().map(|it| it.count).collect();
        let mut corner = Rectangle::whole(&sizes);
        let starts_there = written.partition == 0 && written.offset == 0;
        for (dim, it) in written.dims().iter().enumerate() {
            corner.highs[dim] = it.count;
        }
        if starts_there && !corner.is_whole() {
            self.masking.partial.insert(whole.buffer, corner);
        }
    }

    /// The view that the last instruction would write if its destination were this tensor.
    pub fn cut_like_last(&self, tensor: &Tensor, op: Op, span: Span) -> Result<View> {
        let Extent::Rectangle(rectangle) = &self.masking.last else {
            return Ok(tensor.view);
        };
        let part = part_of(op, 0, rectangle);
        cut(&tensor.view, tensor.is_on_chip(), &part).ok_or_else(|| mismatch(&tensor.view, &part, span))
    }

    /// Notes that an instruction was given another destination.
    pub fn note_write(&mut self, whole: View, written: Arg) {
        let Arg::View(id) = written else { return };
        let view = self.program[id];
        let is_first = self.masking.touch(&whole, &view);
        if self.masking.last == Extent::All {
            self.masking.partial.remove(&whole.buffer);
        }
        self.note_partial(whole, written, is_first);
    }
}

/// The columns of a matmul's operand as one dimension of its result.
fn column_of(defined: &Rectangle, dim: usize) -> Rectangle {
    let mut out = Rectangle::whole(&[1, 1]);
    if defined.rank == 2 {
        (out.sizes[dim], out.highs[dim]) = (defined.sizes[1], defined.highs[1]);
    }
    out
}

/// The first rectangle, with the rows of the second.
fn with_rows_of(first: &Rectangle, second: &Rectangle) -> Rectangle {
    let mut out = *first;
    if out.sizes[0] == second.sizes[0] {
        out.highs[0] = out.highs[0].min(second.highs[0]);
    }
    out
}

/// The part of a mask that one operand sees. A mask is about the result, or about the data of a transpose.
fn part_of(op: Op, position: usize, rectangle: &Rectangle) -> Rectangle {
    let mut part = *rectangle;
    let ignore =
        |part: &mut Rectangle, dim: usize| (part.sizes[dim], part.lows[dim], part.highs[dim]) = (1, 0, 1);
    match (op, position) {
        (Op::NcMatmul, 1) if rectangle.rank >= 1 => {
            part = Rectangle::whole(&[1, rectangle.sizes[0]]);
            (part.lows[1], part.highs[1]) = (rectangle.lows[0], rectangle.highs[0]);
        }
        (Op::NcMatmul, 2) => ignore(&mut part, 0),
        (Op::Max8 | Op::NcFindIndex8, 0) | (Op::NcFindIndex8 | Op::NcMatchReplace8, 2) => {
            (1..rectangle.rank).for_each(|dim| ignore(&mut part, dim));
        }
        (Op::NcTranspose | Op::DmaTranspose, 0) if rectangle.rank == 2 => {
            part.sizes.swap(0, 1);
            part.lows.swap(0, 1);
            part.highs.swap(0, 1);
        }
        _ => {}
    }
    part
}

/// A view cut to a rectangle; `None` when they are about tiles of different shapes.
pub fn cut(view: &View, on_chip: bool, rectangle: &Rectangle) -> Option<View> {
    let rank = view.dims().len();
    let n_dims = if rectangle.rank == rank {
        rank
    } else if rectangle.cuts_free() {
        return None;
    } else {
        1.min(rectangle.rank)
    };
    let mut dims = [Dim { stride: 0, count: 0 }; MAX_DIMS];
    dims[..rank].copy_from_slice(view.dims());
    let (mut partition, mut offset) = (view.partition, view.offset);
    for (dim, extent) in dims.iter_mut().enumerate().take(n_dims) {
        let (size, low, high) = (rectangle.sizes[dim], rectangle.lows[dim], rectangle.highs[dim]);
        let count = extent.count;
        // Columns and reduced dimensions have one element for all; a view may also be cut already.
        if (low == 0 && high == size) || count == 1 || (count != size && count == high - low) {
            continue;
        }
        if count != size {
            return None;
        }
        if on_chip && dim == 0 {
            partition += low as u16;
        } else {
            offset += i64::from(low) * i64::from(extent.stride);
        }
        extent.count = high - low;
    }
    View::new(view.buffer, view.dtype, partition, offset, &dims[..rank])
}

/// The error for a mask that is about tiles of another shape.
pub fn mismatch(view: &View, rectangle: &Rectangle, span: Span) -> Box<Error> {
    let shape: Vec<u32> = view.dims().iter().map(|it| it.count).collect();
    let sizes = &rectangle.sizes[..rectangle.rank];
    let message = format!("a mask of shape {sizes:?} on a tile of shape {shape:?}");
    let help = "give the mask index tensors of the tile's shape".to_string();
    Error::new(Mistake::View { message, help }, span)
}
