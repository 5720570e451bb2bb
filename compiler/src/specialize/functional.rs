//! Instruction calls without `dst`: the classic style, where an instruction returns its result.
//!
//! Takes the arguments of such a call and, for `x[…] = nisa.op(…)`, the view that the result goes to; gives the call
//! with a destination. A fresh result lies in PSUM for the Tensor engine and in SBUF otherwise, with the dtype of
//! `dtype=` or of the operands.

mod result;

use super::Evaluator;
use super::affine::Affine;
use super::builtins::required;
use super::compute::is_adding_copy;
use super::create::shape_of;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::history::Removed;
use super::index::tensor_value;
use super::mask::{Condition, Extent, Mask, Test};
use super::ordering::Handle;
use super::reduce::{sorted_axes, with_axes_last};
use super::restrict::Masked;
use super::value::{Region, Tensor, Value};
use crate::dtype::Dtype;
use crate::isa::{Access, Kind, MAX_ARGS, Op, Row, Rule, Unit};
use crate::source::Span;
use result::{default_dtype, result_shape, takes_directly};
use std::rc::Rc;

/// Whether a call of a row gives no destination.
pub fn is_functional(row: &Row, args: &CallArgs) -> bool {
    let has_result = row.operands[0]
        .kind
        .tile()
        .is_some_and(|it| it.access != Access::Read);
    if !has_result || args.keywords.iter().any(|it| &*it.0 == "dst") {
        return false;
    }
    let is_place = matches!(args.positional.first(), Some(Value::Tensor(_) | Value::Access(_)));
    if !is_place {
        return true;
    }
    // With a destination in front every required operand must have been given.
    row.operands.iter().enumerate().any(|(position, operand)| {
        let is_given =
            position < args.positional.len() || args.keywords.iter().any(|it| &*it.0 == operand.name);
        let holds_tile = matches!(operand.kind, Kind::Tile(_));
        let wrong_kind = holds_tile
            && args
                .positional
                .get(position)
                .is_some_and(|it| !matches!(it, Value::Tensor(_) | Value::Access(_)));
        (operand.default.is_none() && !is_given) || wrong_kind
    })
}

impl Evaluator<'_> {
    /// An instruction call of either style; `into` is the left side of a subscript assignment.
    pub fn call_instruction(&mut self, op: Op, mut args: CallArgs, into: Option<&Value>) -> Result<Value> {
        let row = op.row();
        if row.unit == Unit::Sequencer {
            return self.call_register(op, args);
        }
        if op == Op::DmaCompute {
            return self.call_dma_compute(args);
        }
        let is_functional = is_functional(row, &args);
        if is_functional {
            self.removed(Removed::FunctionalCall, args.span);
        }
        let adds = is_adding_copy(op, &args);
        let mask = self.take_mask(&mut args)?;
        let extent = match mask {
            Masked::Extent(extent) => extent,
            Masked::General(_) if adds => {
                let help = "slice the operands to rectangles, and add each";
                let what = "`dst_rmw_op` under a mask that is no rectangle";
                return Err(Error::unsupported(what, help, args.span));
            }
            Masked::General(mask) => return self.generally_masked(op, args, &mask, into),
        };
        self.settle(&mut args, &extent)?;
        if adds {
            return self.within(extent, |this| this.call_adding_copy(args));
        }
        if !is_functional {
            if extent == Extent::All {
                return self.call_with_dst(op, args);
            }
            return self.within(extent, |this| this.call_with_dst(op, args));
        }
        let target = match into {
            Some(Value::Access(access)) => Some(Rc::new(match &extent {
                Extent::Rectangle(it) => access.within(it)?,
                Extent::Nothing => access.tensor().clone(),
                _ => return Err(access.outside()),
            })),
            Some(Value::Tensor(it)) => Some(it.clone()),
            _ => None,
        };
        self.within(extent, |this| this.call_functional(op, args, target.as_deref()))
    }

    /// A call under a mask that is no rectangle: computed whole, then copied where the mask holds.
    fn generally_masked(
        &mut self,
        op: Op,
        mut args: CallArgs,
        mask: &Rc<Mask>,
        into: Option<&Value>,
    ) -> Result<Value> {
        let span = args.span;
        if op == Op::DmaCopy {
            let [dst, src] = ["dst", "src"].map(|name| {
                args.keywords
                    .iter()
                    .find(|it| &*it.0 == name)
                    .map(|it| it.1.clone())
            });
            if let (Some(dst), Some(src)) = (dst, src) {
                self.copy_boxes(&dst, &src, mask, span)?;
                return Ok(Value::Instruction(Handle::default()));
            }
        }
        self.settle(&mut args, &Extent::All)?;
        let dst = args
            .keywords
            .iter()
            .position(|it| &*it.0 == "dst")
            .map(|it| args.keywords.remove(it).1);
        args.keyword_spans.clear();
        let result = self.call_functional(op, args, None)?;
        match dst.as_ref().or(into) {
            Some(target) => {
                self.store_where(target, &result, mask, span)?;
                Ok(target.clone())
            }
            None => Ok(result),
        }
    }

    fn call_functional(&mut self, op: Op, args: CallArgs, into: Option<&Tensor>) -> Result<Value> {
        let span = args.span;
        match op {
            Op::Memset => return self.filled(args, into),
            Op::Iota => return self.index_values(args, into),
            Op::AffineSelect
                if args.keywords.iter().any(|it| &*it.0 == "pred")
                    || matches!(args.positional.first(), Some(Value::Mask(_) | Value::Bool(_))) =>
            {
                return self.selected(args, into);
            }
            _ => {}
        }
        let mut args = args;
        args.positional.insert(0, Value::None);
        let (mut given, extra) = super::bind::bind_operands(op.row(), args)?;
        super::newer::refuse_newer(&extra, span)?;
        for (value, operand) in given.iter().zip(op.row().operands).skip(1) {
            if value.is_none() && operand.default.is_none() {
                let (function, name) = (format!("nisa.{}", op.name()), operand.name.into());
                return Err(Error::new(Mistake::MissingArgument { function, name }, span));
            }
        }
        self.keep_psum_apart(op.row(), &mut given, span)?;
        if op == Op::TensorTensor {
            self.repeat_column(&mut given, span)?;
        }
        if op == Op::TensorReduce {
            move_axes_last(op.row(), &mut given, span)?;
        }
        let keyword = |name: &str| extra.iter().find(|it| &*it.0 == name).map(|it| it.1.clone());
        let shape = result_shape(op.row(), &given, keyword("keepdims"), span)?;
        let default = default_dtype(op.row(), &given);
        let dtype = self.result_dtype(keyword("dtype"), default, span)?;
        let on_vector = keyword("engine").is_some_and(|it| {
            matches!(
                super::library::engine(&it),
                Some(Some(crate::isa::Engine::Vector))
            )
        });
        let region = match op {
            Op::NcMatmul => Region::Psum,
            Op::NcTranspose if !on_vector => Region::Psum,
            _ => Region::Sbuf,
        };
        let extra: Vec<_> = extra
            .into_iter()
            .filter(|it| !matches!(&*it.0, "dtype" | "keepdims"))
            .collect();
        let direct = into.filter(|it| takes_directly(op, &given, it, &shape, dtype, region));
        let dst = match direct {
            Some(it) => it.clone(),
            None => self.fresh(&shape, dtype, region, span)?,
        };
        given[0] = Some(tensor_value(dst.clone()));
        if op == Op::NcMatmul {
            given[6] = Some(Value::Bool(false));
        }
        self.finish_instruction(op, &given, &extra, span)?;
        match into {
            Some(target) if direct.is_none() => {
                self.store_view(target, &dst, span)?;
                Ok(tensor_value(target.clone()))
            }
            _ => Ok(tensor_value(dst)),
        }
    }

    /// Copies one of two operands out of PSUM where an instruction cannot read both there.
    fn keep_psum_apart(
        &mut self,
        row: &Row,
        given: &mut [Option<Value>; MAX_ARGS],
        span: Span,
    ) -> Result<()> {
        for (position, operand) in row.operands.iter().enumerate().skip(1) {
            let Some(Value::Tensor(tile)) = &given[position] else {
                continue;
            };
            let Some(facts) = operand.kind.tile() else {
                continue;
            };
            let is_second = row.rules.iter().any(|rule| match *rule {
                Rule::NotBothPsum(first, second) if second == position => {
                    matches!(&given[first], Some(Value::Tensor(it)) if it.region == Region::Psum)
                }
                _ => false,
            });
            let cannot_read = tile.is_on_chip() && !facts.memories.contains(&tile.region.memory());
            if tile.region == Region::Psum && (is_second || cannot_read) {
                let copy = self.copied(&tile.clone(), tile.view.dtype, span)?;
                given[position] = Some(tensor_value(copy));
            }
        }
        Ok(())
    }

    /// `nisa.memset(shape, value, dtype)`.
    fn filled(&mut self, args: CallArgs, into: Option<&Tensor>) -> Result<Value> {
        let span = args.span;
        let [shape, value, dtype, _] = args.bind("nisa.memset", ["shape", "value", "dtype", "engine"], 3)?;
        let shape = shape_of(&required(shape), span)?;
        let dst = match into {
            Some(it) => it.clone(),
            None => {
                let dtype = self.device_dtype(&required(dtype), span)?;
                self.fresh(&shape, dtype, Region::Sbuf, span)?
            }
        };
        self.fill(&dst, &required(value), span)?;
        Ok(tensor_value(dst))
    }

    /// `nisa.iota(index, dtype)`: the values of an index tensor.
    fn index_values(&mut self, args: CallArgs, into: Option<&Tensor>) -> Result<Value> {
        let span = args.span;
        let [expr, dtype] = args.bind("nisa.iota", ["expr", "dtype"], 2)?;
        let Value::Index(form) = required(expr) else {
            return Err(Error::type_error(
                "nisa.iota without dst takes an index tensor",
                span,
            ));
        };
        let dtype = self.device_dtype(&required(dtype), span)?;
        self.iota_tile(&form, dtype, into, span).map(tensor_value)
    }

    /// A tile with the values of an index tensor.
    pub fn iota_tile(
        &mut self,
        form: &Affine,
        dtype: Dtype,
        into: Option<&Tensor>,
        span: Span,
    ) -> Result<Tensor> {
        let form = if form.rank() < 2 { form.aligned(2) } else { *form };
        let dst = match into {
            Some(it) if it.region == Region::Sbuf && it.shape().eq(form.sizes().iter().copied()) => {
                it.clone()
            }
            _ => self.fresh(form.sizes(), dtype, Region::Sbuf, span)?,
        };
        let keywords = pattern_keywords(&form);
        let args = CallArgs::with(vec![tensor_value(dst.clone())], keywords, span);
        self.call_with_dst(Op::Iota, args)?;
        match into {
            Some(target) if target.view != dst.view => {
                self.store_view(target, &dst, span)?;
                Ok(target.clone())
            }
            _ => Ok(dst),
        }
    }

    /// `nisa.affine_select(pred, on_true_tile, on_false_value)`, one instruction for each condition of the mask.
    fn selected(&mut self, args: CallArgs, into: Option<&Tensor>) -> Result<Value> {
        let span = args.span;
        let names = ["pred", "on_true_tile", "on_false_value", "dtype"];
        let [pred, tile, other, dtype] = args.bind("nisa.affine_select", names, 3)?;
        let mask = match required(pred) {
            Value::Mask(it) => it,
            Value::Bool(it) => Rc::new(Mask::always(it)),
            other => {
                let message = format!(
                    "`pred` is a comparison of index tensors, not {}",
                    with_article(other.kind())
                );
                return Err(Error::type_error(message, span));
            }
        };
        let tile = self.tile(&required(tile), "nisa.affine_select", span)?;
        let dtype = self.result_dtype(dtype, tile.view.dtype, span)?;
        let direct = into.filter(|it| it.region == Region::Sbuf && same_count(it, &tile));
        let dst = match direct {
            Some(it) => it.clone(),
            None => self.fresh_like(&tile, dtype, Region::Sbuf, span)?,
        };
        let mut source = if tile.region == Region::Psum {
            self.copied(&tile, tile.view.dtype, span)?
        } else {
            tile.clone()
        };
        let other = required(other);
        let conditions: Vec<Condition> = mask.open_conditions().copied().collect();
        for condition in &conditions {
            self.select_where_affine(&dst, &source, &other, condition, span)?;
            source = dst.clone();
        }
        if conditions.is_empty() {
            self.store_view(&dst, &source, span)?;
        }
        match into {
            Some(target) if direct.is_none() => {
                self.store_view(target, &dst, span)?;
                Ok(tensor_value(target.clone()))
            }
            _ => Ok(tensor_value(dst)),
        }
    }

    /// One affine_select: the source where the condition holds, else a number.
    pub fn select_where_affine(
        &mut self,
        dst: &Tensor,
        source: &Tensor,
        other: &Value,
        condition: &Condition,
        span: Span,
    ) -> Result<()> {
        let rank = dst.view.dims().len();
        if condition.form.rank() > rank {
            let message = format!(
                "a condition over {} dimensions on a tile of {rank}",
                condition.form.rank()
            );
            return Err(Error::value_error(message, span));
        }
        // A dimension that the condition does not name is walked with step 0.
        let aligned = condition.form.aligned(rank);
        let mut form = Affine::constant(aligned.start);
        for (dim, size) in dst.shape().enumerate() {
            if aligned.sizes()[dim] != 1 && aligned.sizes()[dim] != size {
                let shape: Vec<u32> = dst.shape().collect();
                let message = format!(
                    "a condition of shape {:?} on a tile of shape {shape:?}",
                    aligned.sizes()
                );
                return Err(Error::value_error(message, span));
            }
            form = form.with_dim(size, aligned.steps()[dim]);
        }
        let comparison = match condition.test {
            Test::NotNegative => "greater_equal",
            Test::Zero => "equal",
            Test::NotZero => "not_equal",
        };
        let mut keywords = pattern_keywords(&form);
        keywords.push(("dst".into(), tensor_value(dst.clone())));
        keywords.push(("on_true_tile".into(), tensor_value(source.clone())));
        keywords.push(("on_false_value".into(), other.clone()));
        keywords.push(("cmp_op".into(), Value::Nl(comparison)));
        self.call_with_dst(Op::AffineSelect, CallArgs::with(Vec::new(), keywords, span))?;
        Ok(())
    }
}

/// The operands that stand for an affine form over a tile.
fn pattern_keywords(form: &Affine) -> Vec<(Rc<str>, Value)> {
    let pair = |(&step, &size): (&i64, &u32)| Value::list(vec![Value::Int(step), Value::Int(size.into())]);
    let pairs = form.steps()[1..]
        .iter()
        .zip(&form.sizes()[1..])
        .map(pair)
        .collect();
    vec![
        ("pattern".into(), Value::list(pairs)),
        ("offset".into(), Value::Int(form.start)),
        ("channel_multiplier".into(), Value::Int(form.steps()[0])),
    ]
}

/// Reads the data of a reduction in an order in which the reduced axes are the last.
fn move_axes_last(row: &Row, given: &mut [Option<Value>; MAX_ARGS], span: Span) -> Result<()> {
    let (Some(data), Some(axes)) = (row.position("data"), row.position("axis")) else {
        return Ok(());
    };
    let (Some(Value::Tensor(tile)), Some(value)) = (&given[data], &given[axes]) else {
        return Ok(());
    };
    let sorted = sorted_axes(tile, value, span)?;
    let (view, last) = with_axes_last(tile, &sorted, span)?;
    given[data] = Some(tensor_value(view));
    given[axes] = Some(Value::tuple(
        last.iter().map(|&it| Value::Int(it as i64)).collect(),
    ));
    Ok(())
}

fn same_count(a: &Tensor, b: &Tensor) -> bool {
    a.view.partitions() == b.view.partitions() && a.view.free_count() == b.view.free_count()
}
