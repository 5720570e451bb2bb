//! What the device decides: registers, dynamic loops, and views whose address a register or an index tile moves.
//!
//! Takes calls of `nisa.register_*`, `nl.dynamic_range`, `nl.fori_loop`, `nl.while_loop` and loops over them, gives
//! instructions of the sequencers and loops of the program. The body of a loop is evaluated once. Python values that it
//! changes would keep their first value on the device, so changing one is a mistake.

mod address;

use super::Evaluator;
use super::builtins::required;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::exec::Flow;
use super::ordering::Handle;
use super::scope::Frame;
use super::value::Value;
use crate::ast::{Expr, Stmt};
use crate::ir::{Bound, Loop, LoopKind, Register, RegisterId, View};
use crate::isa::{Arg, Engine, MAX_ARGS, Op};
use crate::source::Span;
use std::rc::Rc;

pub use address::is_dynamic_index;

/// A register as the kernel holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterValue {
    pub id: RegisterId,
    /// The counter of a loop cannot be written.
    pub is_frozen: bool,
}

/// `nl.dynamic_range(lower, upper, step)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynamicRange {
    pub lower: Bound,
    pub upper: Bound,
    pub step: u32,
}

/// A loop of the device around the current statement.
pub struct OpenLoop {
    number: usize,
    /// Tensors that were made before it.
    n_buffers: usize,
}

/// The functions of `nki.isa` that make registers but are no instructions.
pub const NAMES: &[&str] = &["register_alloc"];

impl Evaluator<'_> {
    /// `nisa.register_alloc(x=None)`
    pub fn register_alloc(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [start] = args.bind("nisa.register_alloc", ["x"], 0)?;
        let id = self.new_register(span);
        match start {
            None | Some(Value::None) => {}
            Some(Value::Tensor(tensor)) => {
                let src = self.view_arg(&tensor);
                self.emit_register(Op::RegisterLoad, [Arg::Register(id), src], span)?;
            }
            Some(value) => {
                let src = self.register_or_int(&value, "the start value", span)?;
                self.emit_register(Op::RegisterMove, [Arg::Register(id), src], span)?;
            }
        }
        Ok(Value::Register(RegisterValue { id, is_frozen: false }))
    }

    /// `nisa.register_move`, `nisa.register_load`, `nisa.register_store`.
    pub fn call_register(&mut self, op: Op, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let function = format!("nisa.{}", op.name());
        let [dst, src, _name] = args.bind(&function, ["dst", "src", "name"], 2)?;
        let (dst, src) = (required(dst), required(src));
        let args = match op {
            Op::RegisterStore => {
                let dst = self.tile(&dst, &function, span)?;
                [
                    self.view_arg(&dst),
                    Arg::Register(self.register(&src, &function, span)?),
                ]
            }
            _ => {
                let id = self.register(&dst, &function, span)?;
                if let Value::Register(RegisterValue { is_frozen: true, .. }) = dst {
                    let problem = "the counter of a dynamic loop is written; it is read-only".to_string();
                    return Err(Error::type_error(problem, span));
                }
                let src = match op {
                    Op::RegisterLoad => {
                        let src = self.tile(&src, &function, span)?;
                        self.view_arg(&src)
                    }
                    _ => self.register_or_int(&src, "`src`", span)?,
                };
                [Arg::Register(id), src]
            }
        };
        self.emit_register(op, args, span)?;
        Ok(Value::Instruction(Handle::default()))
    }

    fn new_register(&mut self, span: Span) -> RegisterId {
        let base = self.naming.clone().unwrap_or_else(|| "register".into());
        let register = Register {
            name: self.unique_name(&base),
            loc: Some(self.here(span)),
        };
        self.program.add_register(register)
    }

    fn emit_register(&mut self, op: Op, args: [Arg; 2], span: Span) -> Result<()> {
        let mut all = [Arg::Absent; MAX_ARGS];
        all[..2].copy_from_slice(&args);
        self.emit(op, Engine::Sync, all, span).map(|_| ())
    }

    fn register(&self, value: &Value, function: &str, span: Span) -> Result<RegisterId> {
        match value {
            Value::Register(it) => Ok(it.id),
            _ => Err(Error::type_error(
                format!("{function} takes a register, not {}", with_article(value.kind())),
                span,
            )),
        }
    }

    fn register_or_int(&self, value: &Value, what: &str, span: Span) -> Result<Arg> {
        Ok(match self.bound_of(value, what, span)? {
            Bound::Int(it) => Arg::Int(it),
            Bound::Register(id) => Arg::Register(id),
        })
    }

    fn bound_of(&self, value: &Value, what: &str, span: Span) -> Result<Bound> {
        match value {
            Value::Register(it) => Ok(Bound::Register(it.id)),
            _ => match value.as_int().map(i32::try_from) {
                Some(Ok(it)) => Ok(Bound::Int(it)),
                Some(Err(_)) => Err(Error::value_error(format!("{what} exceeds 32 bits"), span)),
                None => Err(Error::type_error(
                    format!(
                        "{what} is an int or a register, not {}",
                        with_article(value.kind())
                    ),
                    span,
                )),
            },
        }
    }

    /// `nl.dynamic_range(start, stop=None, step=1)`
    pub fn dynamic_range(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [start, stop, step] = args.bind("nl.dynamic_range", ["start", "stop", "step"], 1)?;
        let (lower, upper) = match stop {
            None | Some(Value::None) => (Value::Int(0), required(start)),
            Some(stop) => (required(start), stop),
        };
        self.counted(&lower, &upper, step, span)
            .map(|it| Value::DynamicRange(Rc::new(it)))
    }

    fn counted(&self, lower: &Value, upper: &Value, step: Option<Value>, span: Span) -> Result<DynamicRange> {
        let step = step.unwrap_or(Value::Int(1));
        let step = match step.as_int().map(u32::try_from) {
            Some(Ok(step)) if step > 0 => step,
            _ => {
                let problem = "the step of a dynamic loop is a positive int that is known at compile time";
                return Err(Error::type_error(problem, span));
            }
        };
        Ok(DynamicRange {
            lower: self.bound_of(lower, "the lower bound", span)?,
            upper: self.bound_of(upper, "the upper bound", span)?,
            step,
        })
    }

    /// `nl.fori_loop(lower, upper, body_fun, step=1)`
    pub fn fori_loop(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [lower, upper, body, step] =
            args.bind("nl.fori_loop", ["lower", "upper", "body_fun", "step"], 3)?;
        let range = self.counted(&required(lower), &required(upper), step, span)?;
        let body = required(body);
        let counter = self.open_range(&range, span)?;
        self.call(&body, CallArgs::of(vec![counter], span))?;
        self.close_loop();
        Ok(Value::None)
    }

    /// `nl.while_loop(init, body_fun)`
    pub fn run_while_loop(&mut self, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let [init, body] = args.bind("nl.while_loop", ["init", "body_fun"], 2)?;
        let first = self.register(&required(init), "nl.while_loop", span)?;
        let body = required(body);
        self.naming = Some("condition".into());
        let id = self.new_register(span);
        self.naming = None;
        self.emit_register(Op::RegisterMove, [Arg::Register(id), Arg::Register(first)], span)?;
        self.open_loop(LoopKind::While { register: id }, span)?;
        let condition = Value::Register(RegisterValue { id, is_frozen: false });
        let next = self.call(&body, CallArgs::of(vec![condition], span))?;
        let next = self.register(&next, "the body of nl.while_loop returns", span)?;
        if next != id {
            self.emit_register(Op::RegisterMove, [Arg::Register(id), Arg::Register(next)], span)?;
        }
        self.close_loop();
        Ok(Value::None)
    }

    /// `for target in nl.dynamic_range(…):`
    pub fn dynamic_for(
        &mut self,
        target: &Expr,
        range: &DynamicRange,
        span: Span,
        body: &[Stmt],
        frame: &Rc<Frame>,
    ) -> Result<Flow> {
        self.naming = super::exec::target_name(std::slice::from_ref(target));
        let counter = self.open_range(range, span)?;
        self.naming = None;
        self.assign(target, counter, frame)?;
        self.dynamic_body(span, body, frame)
    }

    /// `while register:`
    pub fn dynamic_while(
        &mut self,
        register: RegisterValue,
        span: Span,
        body: &[Stmt],
        frame: &Rc<Frame>,
    ) -> Result<Flow> {
        let register = register.id;
        self.open_loop(LoopKind::While { register }, span)?;
        self.dynamic_body(span, body, frame)
    }

    /// Evaluates the body of the loop that was opened last, once.
    fn dynamic_body(&mut self, span: Span, body: &[Stmt], frame: &Rc<Frame>) -> Result<Flow> {
        let before = frame.values();
        let flow = self.exec_block(body, frame)?;
        if !matches!(flow, Flow::Next) {
            let help = "let the loop run to its end; skip work with a predicate or a bound in a register";
            return Err(Error::unsupported(
                "break, continue or return in a loop of the device",
                help,
                span,
            ));
        }
        for (name, old) in before {
            let super::scope::Found::Value(new) = frame.find(&name) else {
                continue;
            };
            if !old.equals(&new) {
                return Err(Error::new(
                    Mistake::ChangedInDeviceLoop {
                        name,
                        old: old.repr(),
                        new: new.repr(),
                    },
                    span,
                ));
            }
        }
        self.close_loop();
        Ok(Flow::Next)
    }

    fn open_range(&mut self, range: &DynamicRange, span: Span) -> Result<Value> {
        let register = self.new_register(span);
        let DynamicRange { lower, upper, step } = *range;
        self.open_loop(
            LoopKind::For {
                register,
                lower,
                upper,
                step,
            },
            span,
        )?;
        Ok(Value::Register(RegisterValue {
            id: register,
            is_frozen: true,
        }))
    }

    fn open_loop(&mut self, kind: LoopKind, span: Span) -> Result<()> {
        if self.ordering.n_fixed > 0 {
            let help = "put the no_reorder block inside the loop";
            return Err(Error::unsupported("a dynamic loop inside no_reorder", help, span));
        }
        let first = self.program.insts.len();
        let loc = Some(self.here(span));
        self.open_loops.push(OpenLoop {
            number: self.program.loops.len(),
            n_buffers: self.program.buffers.len(),
        });
        self.program.loops.push(Loop {
            kind,
            first,
            end: first,
            depth: self.open_loops.len() as u32 - 1,
            loc,
        });
        Ok(())
    }

    /// The loops that are open, by number, the outer ones first.
    pub fn open_loop_numbers(&self) -> Vec<usize> {
        self.open_loops.iter().map(|it| it.number).collect()
    }

    /// Whether which iteration writes a view first is known on the device only.
    pub fn outlives_iteration(&self, view: &View) -> bool {
        let is_older = |it: &OpenLoop| view.buffer.index() < it.n_buffers;
        self.open_loops.last().is_some_and(is_older) || view.dynamic.is_some()
    }

    fn close_loop(&mut self) {
        let number = self.open_loops.pop().expect("every loop is closed once").number;
        self.program.loops[number].end = self.program.insts.len();
    }
}
