//! Functions of the classic style: index tensors, block dimensions, and calls of `nki.language` under a mask.
//!
//! Stands in front of `language.rs`: masks are taken out of the arguments here, so the functions themselves know
//! nothing of them, and every instruction they emit is cut to the mask.

use super::Evaluator;
use super::affine::{Affine, sequence};
use super::builtins::required;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::history::Removed;
use super::index::tensor_value;
use super::mask::{Extent, Mask};
use super::operate::overflow;
use super::restrict::Masked;
use super::scope::Frame;
use super::tensor::int;
use super::value::{REGIONS, Region, Tensor, Value};
use crate::ast::{ArgKind, CallArg, Expr, ExprKind};
use crate::ir::{Dim, MAX_DIMS, View};
use crate::isa::Op;
use crate::source::Span;
use std::rc::Rc;

/// Names of `nki.language` that only the classic style has.
pub const NAMES: &[&str] = &[
    "arange",
    "finfo",
    "iinfo",
    "loop_reduce",
    "mgrid",
    "nc",
    "par_dim",
    "spmd_dim",
];

impl Evaluator<'_> {
    pub fn call_language(&mut self, name: &'static str, args: CallArgs) -> Result<Value> {
        self.call_language_masked(name, args, None).map(|it| it.0)
    }

    /// The value of `nl.arange(128)[:, None]`, which machine-written kernels write anew at every access: it is made
    /// once for each place. `None` for any other expression.
    pub fn constant_index(
        &mut self,
        expr: &Expr,
        callee: &Expr,
        args: &[CallArg],
        index: &Expr,
        frame: &Rc<Frame>,
    ) -> Result<Option<Value>> {
        let ExprKind::Attr { attr, .. } = &callee.kind else {
            return Ok(None);
        };
        let is_constant = |it: &CallArg| {
            matches!(
                (&it.kind, &it.value.kind),
                (ArgKind::Positional, ExprKind::Int(_))
            )
        };
        let is_key = |it: &Expr| match &it.kind {
            ExprKind::None => true,
            ExprKind::Slice { start, stop, step } => start.is_none() && stop.is_none() && step.is_none(),
            _ => false,
        };
        let keys = match &index.kind {
            ExprKind::Tuple(keys) => keys.as_slice(),
            _ => std::slice::from_ref(index),
        };
        if &*attr.name != "arange" || !args.iter().all(is_constant) || !keys.iter().all(is_key) {
            return Ok(None);
        }
        // The syntax tree of a function outlives the evaluation, so its address names the place.
        let place = std::ptr::from_ref(expr);
        if let Some(form) = self.constant_indices.get(&place) {
            return Ok(Some(form.clone()));
        }
        let function = self.eval(callee, frame)?;
        if !matches!(function, Value::Nl("arange")) {
            return Ok(None);
        }
        let args = self.eval_args(args, frame, expr.span)?;
        let made = self.call(&function, args)?;
        let key = self.eval(index, frame)?;
        let form = self.index(&made, &key, expr.span)?;
        self.constant_indices.insert(place, form.clone());
        Ok(Some(form))
    }

    /// A call of a function of `nki.language`: its result, and the mask that says how much of it counts. `place` is
    /// the left side of a subscript assignment.
    pub fn call_language_masked(
        &mut self,
        name: &'static str,
        mut args: CallArgs,
        place: Option<&Value>,
    ) -> Result<(Value, Masked)> {
        let span = args.span;
        let all = Masked::Extent(Extent::All);
        match name {
            "arange" => {
                self.removed(Removed::IndexTensor, span);
                return Ok((arange(args)?, all));
            }
            "par_dim" => {
                self.removed(Removed::BlockDimension, span);
                let [size] = args.bind("nl.par_dim", ["value"], 1)?;
                return Ok((Value::ParDim(int(&required(size), "the size", span)?), all));
            }
            // The limits of a dtype are its attributes.
            "finfo" | "iinfo" => {
                let [dtype] = args.bind(name, ["dtype"], 1)?;
                return Ok((Value::Dtype(self.device_dtype(&required(dtype), span)?), all));
            }
            // How programs of a grid are spread over cores does not change what they compute.
            "nc" | "spmd_dim" => {
                let sizes: Option<Vec<i64>> = args.positional.iter().map(Value::as_int).collect();
                let message = "the sizes of a grid are ints";
                let sizes = sizes.ok_or_else(|| Error::type_error(message, span))?;
                let count = sizes.iter().try_fold(1i64, |all, it| all.checked_mul(*it));
                return Ok((Value::Int(count.ok_or_else(|| overflow("*", span))?), all));
            }
            "ndarray" | "zeros" | "ones" | "full" => return Ok((self.create_classic(name, args)?, all)),
            _ => {}
        }
        let mask = match self.take_mask(&mut args)? {
            Masked::Extent(extent) => {
                self.settle(&mut args, &extent)?;
                let result = match extent {
                    Extent::All => self.language_function(name, args)?,
                    // The positions of the mask are those of the result, not of what is transposed on the way.
                    Extent::Rectangle(_) if matches!(name, "matmul" | "transpose") => {
                        self.language_function(name, args)?
                    }
                    extent => {
                        let result =
                            self.within(extent.clone(), |this| this.language_function(name, args))?;
                        return Ok((result, Masked::Extent(extent)));
                    }
                };
                return Ok((result, all));
            }
            Masked::General(mask) => mask,
        };
        match name {
            "load" => {
                let [src, dtype] = args.bind("nl.load", ["src", "dtype"], 1)?;
                let src = required(src);
                if let Some(place) = place {
                    self.copy_boxes(place, &src, &mask, span)?;
                    return Ok((Value::None, Masked::Extent(Extent::Nothing)));
                }
                let view = match &src {
                    Value::Access(access) => access.tensor().clone(),
                    src => self.tile(src, "nl.load", span)?,
                };
                let dtype = self.result_dtype(dtype, view.view.dtype, span)?;
                let dst = self.fresh_like(&view, dtype, Region::Sbuf, span)?;
                // What the mask leaves out has no value; it must have one before the tile is used whole.
                self.fill(&dst, &Value::Int(0), span)?;
                let dst = tensor_value(dst);
                self.copy_boxes(&dst, &src, &mask, span)?;
                Ok((dst, Masked::Extent(Extent::All)))
            }
            "store" => {
                let [dst, value] = args.bind("nl.store", ["dst", "value"], 2)?;
                self.copy_boxes(&required(dst), &required(value), &mask, span)?;
                Ok((Value::None, Masked::Extent(Extent::Nothing)))
            }
            _ => {
                self.settle(&mut args, &Extent::All)?;
                Ok((self.language_function(name, args)?, Masked::General(mask)))
            }
        }
    }

    /// `nl.ndarray` and its relatives with what only the classic style gives: block dimensions, `lazy_initialization`.
    fn create_classic(&mut self, name: &'static str, mut args: CallArgs) -> Result<Value> {
        args.keywords.retain(|it| &*it.0 != "lazy_initialization");
        if let Some((_, buffer)) = args.keywords.iter_mut().find(|it| &*it.0 == "buffer")
            && let Value::Str(text) = &*buffer
            && let Some((region, _)) = REGIONS.iter().find(|it| it.1 == &**text)
        {
            *buffer = Value::Buffer(*region);
            self.removed(Removed::StringBuffer, args.span);
        }
        let shape =
            args.positional
                .first()
                .or(args.keywords.iter().find(|it| &*it.0 == "shape").map(|it| &it.1));
        let items = shape.and_then(Value::items);
        if let Some(items) = items
            && items.iter().any(|it| matches!(it, Value::ParDim(_)))
        {
            let is_hbm = args
                .keywords
                .iter()
                .any(|it| matches!(it.1, Value::Buffer(region) if !region.memory().is_on_chip()));
            if !is_hbm && items.len() == 1 {
                // A tile of one dimension is a column.
                let shape = Value::tuple(vec![items[0].clone(), Value::Int(1)]);
                match args.positional.first_mut() {
                    Some(first) => *first = shape,
                    None => args.keywords.retain_mut(|it| {
                        if &*it.0 == "shape" {
                            it.1 = shape.clone();
                        }
                        true
                    }),
                }
            } else if !is_hbm && let Some(blocks) = self.make_blocks(name, &args, &items)? {
                return Ok(blocks);
            }
        }
        self.make_tensor(name, args)
    }

    /// Copies by DMA what a general mask lets through, as few rectangles.
    pub fn copy_boxes(&mut self, dst: &Value, src: &Value, mask: &Mask, span: Span) -> Result<()> {
        let whole = |value: &Value| match value {
            Value::Access(it) => Ok(it.tensor().clone()),
            Value::Tensor(it) => Ok((**it).clone()),
            other => Err(Error::type_error(
                format!("a masked copy takes tensors, not {}", with_article(other.kind())),
                span,
            )),
        };
        let (dst_view, mut src_view) = (whole(dst)?, whole(src)?);
        let (rank, shape) = (dst_view.view.dims().len(), dst_view.shape().collect::<Vec<u32>>());
        if !src_view.shape().eq(shape.iter().copied())
            || mask.conditions.iter().any(|it| it.form.rank() > rank)
        {
            let message = "a mask that is no rectangle on a copy between different shapes".to_string();
            let help = "give both sides and the mask one shape".to_string();
            return Err(Error::new(Mistake::View { message, help }, span));
        }
        if src_view.region == Region::Psum {
            src_view = self.copied(&src_view, src_view.view.dtype, span)?;
        }
        for (lows, highs) in boxes(mask, &shape) {
            let mut rectangle = super::mask::Rectangle::whole(&shape);
            rectangle.lows[..rank].copy_from_slice(&lows[..rank]);
            rectangle.highs[..rank].copy_from_slice(&highs[..rank]);
            for side in [dst, src] {
                if let Value::Access(access) = side {
                    access.within(&rectangle)?;
                }
            }
            let part = |it: &Tensor| Tensor {
                view: cut_exactly(&it.view, it.is_on_chip(), &lows, &highs),
                region: it.region,
            };
            let args = [self.view_arg(&part(&dst_view)), self.view_arg(&part(&src_view))];
            self.put(Op::DmaCopy, &args, span)?;
        }
        Ok(())
    }
}

type Corner = [u32; MAX_DIMS];

/// The elements that pass a mask as rectangles: rows with one extent are joined.
fn boxes(mask: &Mask, shape: &[u32]) -> Vec<(Corner, Corner)> {
    let mut out: Vec<(Corner, Corner)> = Vec::new();
    let mut at = [0; MAX_DIMS];
    fill_boxes(mask, shape, 0, &mut at, &mut out);
    out
}

fn fill_boxes(mask: &Mask, shape: &[u32], dim: usize, at: &mut Corner, out: &mut Vec<(Corner, Corner)>) {
    // With the outer coordinates fixed, what is left may be a rectangle.
    let fixed = Mask {
        conditions: mask
            .conditions
            .iter()
            .map(|it| it.fixed(shape, &at[..dim]))
            .collect(),
    };
    let (mut lows, mut highs) = (*at, [1; MAX_DIMS]);
    for outer in 0..dim {
        highs[outer] = at[outer] + 1;
    }
    for (inner, &size) in shape.iter().enumerate().skip(dim) {
        (lows[inner], highs[inner]) = (0, size);
    }
    match fixed.extent() {
        Extent::Nothing => {}
        Extent::General if dim < shape.len() => {
            for coordinate in 0..shape[dim] {
                at[dim] = coordinate;
                fill_boxes(mask, shape, dim + 1, at, out);
            }
        }
        extent => {
            if let Extent::Rectangle(it) = extent {
                for inner in dim..shape.len() {
                    if it.sizes[inner] != 1 {
                        (lows[inner], highs[inner]) = (it.lows[inner], it.highs[inner]);
                    }
                }
            }
            join(out, lows, highs, dim);
        }
    }
}

/// Adds a rectangle, joined with the one before where they differ in the last outer coordinate only.
fn join(out: &mut Vec<(Corner, Corner)>, lows: Corner, highs: Corner, dim: usize) {
    if let (Some(last), Some(along)) = (out.last_mut(), dim.checked_sub(1)) {
        let same = (0..MAX_DIMS).all(|it| it == along || (last.0[it] == lows[it] && last.1[it] == highs[it]));
        if same && last.1[along] == lows[along] {
            last.1[along] = highs[along];
            return;
        }
    }
    out.push((lows, highs));
}

fn cut_exactly(view: &View, on_chip: bool, lows: &Corner, highs: &Corner) -> View {
    let mut dims = [Dim { stride: 0, count: 0 }; MAX_DIMS];
    let rank = view.dims().len();
    dims[..rank].copy_from_slice(view.dims());
    let (mut partition, mut offset) = (view.partition, view.offset);
    for dim in 0..rank {
        if on_chip && dim == 0 {
            partition += lows[dim] as u16;
        } else {
            offset += i64::from(lows[dim]) * i64::from(dims[dim].stride);
        }
        dims[dim].count = highs[dim] - lows[dim];
    }
    View::new(view.buffer, view.dtype, partition, offset, &dims[..rank])
        .expect("the view keeps its dimensions")
}

fn arange(args: CallArgs) -> Result<Value> {
    let span = args.span;
    let bounds: Option<Vec<i64>> = args.positional.iter().map(Value::as_int).collect();
    let form: Affine = match bounds.as_deref() {
        Some([stop]) if args.keywords.is_empty() => sequence(0, *stop, 1, span)?,
        Some([start, stop]) if args.keywords.is_empty() => sequence(*start, *stop, 1, span)?,
        Some([start, stop, step]) if args.keywords.is_empty() => sequence(*start, *stop, *step, span)?,
        _ => return Err(Error::type_error("nl.arange takes one to three ints", span)),
    };
    Ok(Value::Index(Rc::new(form)))
}
