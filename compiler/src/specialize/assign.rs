//! Assignments into tensors: `x[…] = nisa.op(…)`, `psum[…] += nisa.nc_matmul(…)`, `acc += tile`.
//!
//! Takes the place on the left and the expression on the right. A result that the last instruction has just written to
//! a tile of its own is written into the place instead, so no copy is made; anything else is copied.

use super::Evaluator;
use super::error::Result;
use super::history::Removed;
use super::index::tensor_value;
use super::mask::{Extent, Mask};
use super::restrict::Masked;
use super::scope::Frame;
use super::value::{Region, Tensor, Value};
use crate::ast::{BinOp, Expr, ExprKind};
use crate::dtype::Dtype;
use crate::ir::BufferId;
use crate::isa::{Accumulate, AluClass, AluOp, Arg, Op, Rule};
use crate::source::Span;
use std::rc::Rc;

/// How far the program was when an expression began.
#[derive(Clone, Copy)]
struct Progress {
    n_buffers: usize,
    n_views: usize,
    n_insts: usize,
}

impl Evaluator<'_> {
    fn progress(&self) -> Progress {
        Progress {
            n_buffers: self.program.buffers.len(),
            n_views: self.program.views().len(),
            n_insts: self.program.insts.len(),
        }
    }

    /// `place = value`, the place being a tensor, an access or blocks.
    pub fn assign_into(&mut self, place: &Value, value: &Expr, frame: &Rc<Frame>) -> Result<()> {
        let span = value.span;
        self.removed(Removed::SubscriptStore, span);
        match &value.kind {
            ExprKind::Call { callee, args } => {
                let callee = self.eval(callee, frame)?;
                if let Value::Nl("loop_reduce") = callee {
                    self.loop_reduce(args, Some(place), frame, span)?;
                    return Ok(());
                }
                match callee {
                    Value::Isa(op) => {
                        let args = self.eval_args(args, frame, span)?;
                        self.call_instruction(op, args, Some(place)).map(|_| ())
                    }
                    Value::Nl(name) => {
                        let args = self.eval_args(args, frame, span)?;
                        let before = self.progress();
                        let (result, masked) = self.call_language_masked(name, args, Some(place))?;
                        self.land(place, &result, &masked, before, span)
                    }
                    callee => {
                        let result = self.call_with(&callee, args, frame, span)?;
                        self.store_place(place, &result, span)
                    }
                }
            }
            ExprKind::Binary { .. } | ExprKind::Unary { .. } | ExprKind::Compare { .. } => {
                let before = self.progress();
                let result = self.eval(value, frame)?;
                self.land(place, &result, &Masked::Extent(Extent::All), before, span)
            }
            _ => {
                let result = self.eval(value, frame)?;
                self.store_place(place, &result, span)
            }
        }
    }

    /// Writes a value into a place that lies inside its tensor.
    pub fn store_place(&mut self, place: &Value, value: &Value, span: Span) -> Result<()> {
        match place {
            Value::Blocks(blocks) => {
                let tiles = self.all_blocks(blocks)?;
                tiles.iter().try_for_each(|it| self.store_tile(it, value, span))
            }
            Value::Access(access) => Err(access.outside()),
            place => self.store_tile(place, value, span),
        }
    }

    /// Writes the result of a call into a place.
    fn land(
        &mut self,
        place: &Value,
        result: &Value,
        masked: &Masked,
        before: Progress,
        span: Span,
    ) -> Result<()> {
        let extent = match masked {
            Masked::General(mask) => return self.store_where(place, result, mask, span),
            Masked::Extent(Extent::Nothing) => {
                // Nothing was emitted, so nothing knows of the tile that the call made.
                if self.program.insts.len() == before.n_insts {
                    for idx in before.n_buffers..self.program.buffers.len() {
                        self.masking.forget(BufferId::new(idx));
                        self.zeros.remove(&BufferId::new(idx));
                    }
                    self.program.take_back(before.n_buffers, before.n_views);
                }
                return Ok(());
            }
            Masked::Extent(extent) => extent.clone(),
        };
        let Value::Tensor(source) = result else {
            return self.store_place(place, result, span);
        };
        let target = match (place, &extent) {
            (Value::Tensor(target), _) => (**target).clone(),
            (Value::Access(access), Extent::Rectangle(it)) => access.within(it)?,
            _ => return self.store_place(place, result, span),
        };
        if self.retarget(source, &target, before, span)? {
            return Ok(());
        }
        let same_shape = source.shape().eq(target.shape());
        let extent = match extent {
            Extent::Rectangle(it) if same_shape || !it.cuts_free() => Extent::Rectangle(it),
            _ => Extent::All,
        };
        self.within(extent, |this| {
            this.store_tile(&tensor_value(target), result, span)
        })
    }

    /// Makes the last instruction write into `target` instead of the fresh tile `source`; false where it cannot.
    fn retarget(&mut self, source: &Tensor, target: &Tensor, before: Progress, span: Span) -> Result<bool> {
        let buffer = source.buffer();
        let is_fresh = buffer.index() >= before.n_buffers && buffer.index() + 1 == self.program.buffers.len();
        let storage = &self.program[buffer];
        let is_whole = source.view.partitions() == storage.partitions()
            && source.view.free_count() == storage.free_count()
            && source.view.dtype == storage.dtype
            && super::layout::is_contiguous(source);
        let same = source.view.partitions() == target.view.partitions()
            && source.view.free_count() == target.view.free_count();
        if !is_fresh
            || !is_whole
            || !target.is_on_chip()
            || !same
            || self.is_long(&target.view)
            || self.program.insts.len() <= before.n_insts
        {
            return Ok(false);
        }
        let Some(inst) = self.program.insts.last() else {
            return Ok(false);
        };
        let n_uses = self
            .program
            .accesses(inst)
            .filter(|it| it.1.buffer == buffer)
            .count();
        let row = inst.op.row();
        let Arg::View(written) = inst.args[0] else {
            return Ok(false);
        };
        let (op, written_buffer) = (inst.op, self.program[written].buffer);
        let memories = row.operands[0].kind.tile().map_or(&[][..], |it| it.memories);
        let is_bits = inst
            .args
            .iter()
            .any(|it| matches!(it, Arg::Alu(it) if it.facts().class == AluClass::Bits));
        let keeps_dtype = is_bits
            || op == Op::NcMatmul
            || op == Op::Memset
            || row.rules.iter().any(|it| matches!(it, Rule::SameDtype(0, _)));
        let dtype_fits = !keeps_dtype || source.view.dtype == target.view.dtype;
        let on_tensor_engine = matches!(op, Op::NcMatmul | Op::NcTranspose) && source.region != target.region;
        let reads_target = self
            .program
            .accesses(inst)
            .skip(1)
            .any(|it| it.1.buffer == target.buffer());
        let moves_target = reads_target && matches!(op, Op::NcTranspose | Op::NcMatmul | Op::TensorReduce);
        if n_uses != 1
            || written_buffer != buffer
            || !memories.contains(&target.region.memory())
            || !dtype_fits
            || on_tensor_engine
            || moves_target
        {
            return Ok(false);
        }
        // The instruction itself may be the only one that knows of the tile.
        let used_before = self.program.insts[before.n_insts..self.program.insts.len() - 1]
            .iter()
            .any(|inst| self.program.accesses(inst).any(|it| it.1.buffer == buffer));
        if used_before {
            return Ok(false);
        }
        let cut = self.cut_like_last(target, op, span)?;
        let id = self.program.replace_last_buffer(written, cut);
        self.masking.forget(buffer);
        let last = self
            .program
            .insts
            .last_mut()
            .expect("there is a last instruction");
        last.args[0] = Arg::View(id);
        self.matmul_writes.remove(&buffer);
        if op == Op::NcMatmul {
            let accumulate = self.accumulate(Some(&Value::Bool(false)), &cut, span)?;
            self.set_accumulate(accumulate);
        }
        self.note_write(target.view, Arg::View(id));
        if let Some(inst) = self.program.insts.last() {
            self.dependences.retarget(inst.args);
        }
        Ok(true)
    }

    fn set_accumulate(&mut self, accumulate: Accumulate) {
        if let Some(inst) = self.program.insts.last_mut() {
            inst.args[6] = Arg::Accumulate(accumulate);
        }
    }

    /// Copies a tile to a place where a mask holds.
    pub fn store_where(&mut self, place: &Value, value: &Value, mask: &Mask, span: Span) -> Result<()> {
        let place = super::access::settled(place, "a masked assignment", span)?;
        let value = self.tile(value, "a masked assignment", span)?;
        if !place.is_on_chip() {
            return self.copy_boxes(&Value::Tensor(place), &tensor_value(value), mask, span);
        }
        let shape: Vec<u32> = place.shape().collect();
        let predicate = self.fresh(&shape, Dtype::U8, Region::Sbuf, span)?;
        self.fill(&predicate, &Value::Int(1), span)?;
        for condition in mask.open_conditions() {
            self.select_where_affine(&predicate, &predicate, &Value::Int(0), condition, span)?;
        }
        let source = if value.view.dtype == place.view.dtype {
            value
        } else {
            self.copied(&value, place.view.dtype, span)?
        };
        let args = [
            self.view_arg(&place),
            self.view_arg(&source),
            self.view_arg(&predicate),
        ];
        self.put(Op::TensorCopyPredicated, &args, span)
    }

    /// `place op= value`. Gives the value to assign back where the place could not be changed itself.
    pub fn augmented(
        &mut self,
        old: &Value,
        op: BinOp,
        value: &Expr,
        frame: &Rc<Frame>,
    ) -> Result<Option<Value>> {
        let span = value.span;
        self.removed(Removed::Accumulation, span);
        let accumulator = match old {
            Value::Tensor(it) if it.is_on_chip() => Some(it.clone()),
            _ => None,
        };
        if let (Some(accumulator), BinOp::Add, ExprKind::Call { callee, args }) =
            (&accumulator, op, &value.kind)
        {
            let callee = self.eval(callee, frame)?;
            let before = self.progress();
            let (operand, masked) = match &callee {
                Value::Nl(name) => {
                    let args = self.eval_args(args, frame, span)?;
                    self.call_language_masked(name, args, None)?
                }
                Value::Isa(op) => {
                    let args = self.eval_args(args, frame, span)?;
                    let operand = self.call_instruction(*op, args, None)?;
                    (operand, Masked::Extent(self.masking.last.clone()))
                }
                callee => {
                    let operand = self.call_with(callee, args, frame, span)?;
                    return self.add_in_place(old, op, &operand, span);
                }
            };
            if matches!(masked, Masked::Extent(Extent::Nothing)) {
                return Ok(None);
            }
            if let Value::Tensor(product) = &operand
                && accumulator.region == Region::Psum
                && matches!(self.program.insts.last(), Some(inst) if inst.op == Op::NcMatmul)
            {
                let had = self.masking.is_touched(accumulator.buffer());
                let by_matmul = self.matmul_writes.contains_key(&accumulator.buffer());
                // PSUM adds only onto what a matmul has left there.
                if (!had || by_matmul) && self.accumulate_into(product, accumulator, before, span)? {
                    return Ok(None);
                }
            }
            return match masked {
                Masked::Extent(extent) => {
                    self.within(extent, |this| this.add_in_place(old, op, &operand, span))
                }
                Masked::General(mask) => {
                    let sum = self.binary(op, old, &operand, span)?;
                    self.store_where(old, &sum, &mask, span)?;
                    Ok(None)
                }
            };
        }
        let operand = self.eval(value, frame)?;
        self.add_in_place(old, op, &operand, span)
    }

    /// Makes the matmul that was just emitted add onto an accumulator.
    fn accumulate_into(
        &mut self,
        product: &Tensor,
        accumulator: &Tensor,
        before: Progress,
        span: Span,
    ) -> Result<bool> {
        let writes = self.matmul_writes.get(&accumulator.buffer()).cloned();
        if !self.retarget(product, accumulator, before, span)? {
            return Ok(false);
        }
        // The retargeted matmul does not count as the one before it.
        match writes {
            Some(writes) => drop(self.matmul_writes.insert(accumulator.buffer(), writes)),
            None => drop(self.matmul_writes.remove(&accumulator.buffer())),
        }
        let Some(Arg::View(id)) = self.program.insts.last().map(|it| it.args[0]) else {
            return Ok(false);
        };
        let view = self.program[id];
        let accumulate = self.accumulate(None, &view, span)?;
        self.set_accumulate(accumulate);
        Ok(true)
    }

    /// `old op= operand` on values: a tile is changed in place where the shapes allow it.
    pub fn add_in_place(
        &mut self,
        old: &Value,
        op: BinOp,
        operand: &Value,
        span: Span,
    ) -> Result<Option<Value>> {
        let (Value::Tensor(place), Some(alu)) = (old, alu_of(op)) else {
            return match old {
                Value::Access(it) => Err(it.outside()),
                _ => self.binary_in_place(op, old, operand, span).map(Some),
            };
        };
        if !place.is_on_chip() {
            return self.binary_in_place(op, old, operand, span).map(Some);
        }
        let dst = self.view_arg(place);
        match operand {
            Value::Tensor(tile) if tile.shape().eq(place.shape()) => {
                let both = tile.region == Region::Psum && place.region == Region::Psum;
                let tile = if both {
                    self.copied(tile, tile.view.dtype, span)?
                } else {
                    (**tile).clone()
                };
                let args = [dst, dst, self.view_arg(&tile), Arg::Alu(alu)];
                self.put(Op::TensorTensor, &args, span)?;
                Ok(None)
            }
            Value::Tensor(tile)
                if tile.view.free_count() == 1 && tile.view.partitions() == place.view.partitions() =>
            {
                let args = [dst, dst, Arg::Alu(alu), self.view_arg(tile)];
                self.put(Op::TensorScalar, &args, span)?;
                Ok(None)
            }
            Value::Tensor(_) => {
                let sum = self.binary(op, old, operand, span)?;
                match &sum {
                    Value::Tensor(sum) if sum.shape().eq(place.shape()) => {
                        self.store_tile(old, &Value::Tensor(sum.clone()), span)?;
                        Ok(None)
                    }
                    _ => Ok(Some(sum)),
                }
            }
            operand => {
                let Some(number) = super::bind::immediate(operand) else {
                    return self.binary_in_place(op, old, operand, span).map(Some);
                };
                let number = match (number, alu.facts().class) {
                    (Arg::Int(it), AluClass::Arithmetic) => Arg::Float(it as f32),
                    (Arg::Uint(it), AluClass::Arithmetic) => Arg::Float(it as f32),
                    (number, _) => number,
                };
                self.put(Op::TensorScalar, &[dst, dst, Arg::Alu(alu), number], span)?;
                Ok(None)
            }
        }
    }
}

fn alu_of(op: BinOp) -> Option<AluOp> {
    Some(match op {
        BinOp::Add => AluOp::Add,
        BinOp::Sub => AluOp::Subtract,
        BinOp::Mul => AluOp::Multiply,
        BinOp::Div => AluOp::Divide,
        BinOp::BitAnd => AluOp::BitwiseAnd,
        BinOp::BitOr => AluOp::BitwiseOr,
        BinOp::BitXor => AluOp::BitwiseXor,
        BinOp::Shl => AluOp::ShiftLeft,
        BinOp::Shr => AluOp::ShiftRight,
        BinOp::Pow | BinOp::FloorDiv | BinOp::Mod | BinOp::MatMul => return None,
    })
}
