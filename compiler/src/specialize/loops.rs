//! Loops as the classic style names them: `nl.loop_reduce(tile, op=…, loop_indices=[i, j])`.
//!
//! Follows which `for` loops are around the current statement and what called functions call their variables, and
//! reduces over their iterations: the first one writes, the others add. Never guesses: a name of no loop is an error.

use super::Evaluator;
use super::error::{Error, Result};
use super::history::Removed;
use super::index::tensor_value;
use super::mask::Extent;
use super::restrict::Masked;
use super::scope::Frame;
use super::value::{Region, Tensor, Value};
use crate::ast::{ArgKind, CallArg, Expr, ExprKind, Function};
use crate::isa::{AluOp, Arg, Op};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The loops around the current statement.
#[derive(Default)]
pub struct Loops {
    /// The variable of each loop and its iteration, outermost first.
    around: Vec<(Rc<str>, u32)>,
    /// Other names for the variables of loops: in the calls around the current statement, the innermost last.
    calls: Vec<Renamed>,
    /// Totals of `nl.loop_reduce` calls that are assigned to names, by place and the loops that do not reduce.
    totals: FxHashMap<(Span, Vec<u32>), Tensor>,
}

/// What a function calls the variables of loops: parameters that they are passed to, and plain assignments of them.
#[derive(Default)]
struct Renamed {
    /// How many loops are around the call of the function.
    n_loops: usize,
    names: Vec<(Rc<str>, usize)>,
}

impl Loops {
    pub fn enter(&mut self, name: &Rc<str>, iteration: usize) {
        self.around
            .push((name.clone(), u32::try_from(iteration).unwrap_or(u32::MAX)));
    }

    pub fn leave(&mut self) {
        self.around.pop();
        let n_loops = self.around.len();
        if let Some(call) = self.calls.last_mut() {
            call.names.retain(|it| it.1 < n_loops);
        }
    }

    /// Notes `name = variable`, if the variable is a loop's.
    pub fn rename(&mut self, name: &Rc<str>, variable: &Rc<str>) {
        let Some(position) = self.position(variable) else {
            return;
        };
        if self.calls.is_empty() {
            self.calls.push(Renamed::default());
        }
        let call = self.calls.last_mut().expect("there is one");
        call.names.retain(|it| it.0 != *name);
        call.names.push((name.clone(), position));
    }

    /// The loop that a name stands for: of this function, passed to it, or around its definition.
    fn position(&self, name: &Rc<str>) -> Option<usize> {
        let named = |from: usize| {
            let within = self.around[from..].iter().rposition(|it| it.0 == *name);
            within.map(|it| from + it)
        };
        let Some(call) = self.calls.last() else {
            return named(0);
        };
        let passed = || Some(call.names.iter().find(|it| it.0 == *name)?.1);
        named(call.n_loops).or_else(passed).or_else(|| named(0))
    }

    /// Notes a call; whether there is anything to note, and so to take back with [`Loops::end_call`].
    pub fn begin_call(&mut self, function: &Function, args: &[CallArg]) -> bool {
        if self.around.is_empty() {
            return false;
        }
        let mut params = function.params.iter();
        let names = args.iter().filter_map(|arg| {
            let param = match &arg.kind {
                ArgKind::Positional => params.next().map(|it| it.name.name.clone()),
                ArgKind::Keyword(name) => Some(name.name.clone()),
                ArgKind::Star | ArgKind::DoubleStar => None,
            };
            Some((param?, self.position(name_of(&arg.value)?)?))
        });
        let names = names.collect();
        let n_loops = self.around.len();
        self.calls.push(Renamed { n_loops, names });
        true
    }

    pub fn end_call(&mut self) {
        self.calls.pop();
    }

    /// The iterations of the loops that do not reduce.
    fn others(&self, reducing: &[usize]) -> Vec<u32> {
        let others = self
            .around
            .iter()
            .enumerate()
            .filter(|it| !reducing.contains(&it.0));
        others.map(|it| it.1.1).collect()
    }
}

impl Evaluator<'_> {
    /// `nl.loop_reduce(tile, op=…, loop_indices=[i, j])`: the reduction over the iterations of the named loops.
    pub fn loop_reduce(
        &mut self,
        args: &[CallArg],
        place: Option<&Value>,
        frame: &Rc<Frame>,
        span: Span,
    ) -> Result<Value> {
        self.removed(Removed::LoopReduce, span);
        let names = args.iter().find_map(|it| match &it.kind {
            ArgKind::Keyword(name) if &*name.name == "loop_indices" => Some(&it.value),
            _ => None,
        });
        let reducing = match names {
            Some(names) => self.reducing_loops(names)?,
            None => Vec::new(),
        };
        let is_first = reducing.iter().all(|&it| self.loops.around[it].1 == 0);
        let mut evaluated = self.eval_args(args, frame, span)?;
        let masked = self.take_mask(&mut evaluated)?;
        let Masked::Extent(extent) = masked else {
            let help = "use a mask that is a rectangle";
            return Err(Error::unsupported("nl.loop_reduce under this mask", help, span));
        };
        self.settle(&mut evaluated, &extent)?;
        let [tile, op, _, dtype, _] =
            evaluated.bind("nl.loop_reduce", ["x", "op", "loop_indices", "dtype", "name"], 2)?;
        let tile = self.tile(&super::builtins::required(tile), "nl.loop_reduce", span)?;
        let op = super::builtins::required(op);
        let alu = super::library::operator_name(&op)
            .and_then(alu_of_reduction)
            .ok_or_else(|| {
                Error::type_error(
                    "`op` of nl.loop_reduce is np.add, np.max, np.min or np.multiply",
                    span,
                )
            })?;
        let place = match place {
            Some(Value::Access(access)) => match &extent {
                Extent::Rectangle(it) => access.within(it)?,
                _ => return Err(access.outside()),
            },
            Some(place) => (*super::access::settled(place, "nl.loop_reduce", span)?).clone(),
            None => self.running_total(&tile, dtype, &reducing, is_first, span)?,
        };
        let result = tensor_value(place.clone());
        self.within(extent, |this| {
            if is_first {
                return this.store_view(&place, &tile, span);
            }
            let both = tile.region == Region::Psum && place.region == Region::Psum;
            let tile = if both {
                this.copied(&tile, tile.view.dtype, span)?
            } else {
                tile
            };
            let dst = this.view_arg(&place);
            let args = [dst, dst, this.view_arg(&tile), Arg::Alu(alu)];
            this.put(Op::TensorTensor, &args, span)
        })?;
        Ok(result)
    }

    /// The tile that a loop_reduce without a place adds to: one for each time its loops begin.
    fn running_total(
        &mut self,
        tile: &Tensor,
        dtype: Option<Value>,
        reducing: &[usize],
        is_first: bool,
        span: Span,
    ) -> Result<Tensor> {
        let outer: Vec<u32> = self.loops.others(reducing);
        if !is_first && let Some(total) = self.loops.totals.get(&(span, outer.clone())) {
            return Ok(total.clone());
        }
        let dtype = self.result_dtype(dtype, tile.view.dtype, span)?;
        let total = self.fresh_like(tile, dtype, Region::Sbuf, span)?;
        self.loops.totals.insert((span, outer), total.clone());
        Ok(total)
    }

    /// The loops that `loop_indices` names.
    fn reducing_loops(&self, names: &Expr) -> Result<Vec<usize>> {
        let names = match &names.kind {
            ExprKind::List(items) | ExprKind::Tuple(items) => items.as_slice(),
            _ => std::slice::from_ref(names),
        };
        let position = |it: &Expr| {
            name_of(it)
                .and_then(|name| self.loops.position(name))
                .ok_or_else(|| {
                    let help = "name the variable of a `for` loop, or a parameter that it is passed to";
                    Error::unsupported(
                        "nl.loop_reduce over something that is no loop around it",
                        help,
                        it.span,
                    )
                })
        };
        names.iter().map(position).collect()
    }
}

fn name_of(expr: &Expr) -> Option<&Rc<str>> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name),
        _ => None,
    }
}

fn alu_of_reduction(name: &str) -> Option<AluOp> {
    Some(match name {
        "add" | "sum" => AluOp::Add,
        "max" | "maximum" => AluOp::Maximum,
        "min" | "minimum" => AluOp::Minimum,
        "multiply" | "prod" => AluOp::Multiply,
        _ => return None,
    })
}
