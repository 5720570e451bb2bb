//! Statements: what a function body does.
//!
//! Takes statements and a frame, unrolls loops and resolves branches, gives how the block was left. Module-level
//! statements run through the same code when one of their names is first used.

mod target;

use super::Evaluator;
use super::dependence::Run;
use super::error::{Error, Mistake, Result};
use super::scope::Frame;
use super::value::{Range, Value};
use crate::ast::{Expr, ExprKind, Stmt, StmtKind};
use crate::limits::limits;
use crate::source::Span;
use std::rc::Rc;

pub use target::target_name;

/// How a block was left.
pub enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

/// A `for` loop that is being unrolled.
struct Walk<'a> {
    target: &'a Expr,
    span: Span,
    body: &'a [Stmt],
    run: Run,
    /// Whether NKI traces the body once for all iterations.
    is_traced: bool,
}

impl Evaluator<'_> {
    pub fn exec_block(&mut self, body: &[Stmt], frame: &Rc<Frame>) -> Result<Flow> {
        for stmt in body {
            match self.exec(stmt, frame)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    pub fn exec(&mut self, stmt: &Stmt, frame: &Rc<Frame>) -> Result<Flow> {
        self.step(stmt.span)?;
        match &stmt.kind {
            StmtKind::Expr(expr) => match self.eval(expr, frame) {
                Err(error) if self.goes_on_after(&error) => {}
                outcome => drop(outcome?),
            },
            StmtKind::Assign { targets, value } => {
                if let [target] = targets.as_slice()
                    && let ExprKind::Index { value: base, index } = &target.kind
                {
                    let container = self.eval(base, frame)?;
                    self.naming = target_name(targets);
                    if let Value::Tensor(_) | Value::Blocks(_) = container {
                        let naming = self.naming.take();
                        let index = self.eval(index, frame)?;
                        let place = self.index(&container, &index, target.span)?;
                        self.naming = naming;
                        let done = self.assign_into(&place, value, frame);
                        self.naming = None;
                        done?;
                        return Ok(Flow::Next);
                    }
                    let value = self.eval(value, frame);
                    self.naming = None;
                    let (value, index) = (value?, self.eval(index, frame)?);
                    self.assign_element(base, &container, &index, value, target.span, frame)?;
                    return Ok(Flow::Next);
                }
                if let ([target], ExprKind::Name(variable)) = (targets.as_slice(), &value.kind)
                    && let ExprKind::Name(name) = &target.kind
                {
                    self.loops.rename(name, variable);
                }
                self.naming = target_name(targets);
                let value = self.eval(value, frame);
                self.naming = None;
                let value = value?;
                for target in targets {
                    self.assign(target, value.clone(), frame)?;
                }
            }
            StmtKind::AnnAssign {
                target,
                annotation,
                value,
            } => {
                if let Some(value) = value {
                    self.naming = target_name(std::slice::from_ref(target));
                    let value = self.eval(value, frame);
                    self.naming = None;
                    let value = value?;
                    self.check_annotation(annotation, &value, frame)?;
                    self.assign(target, value, frame)?;
                }
            }
            StmtKind::AugAssign { target, op, value } => {
                self.augment(target, *op, value, stmt.span, frame)?
            }
            StmtKind::Return(value) => {
                let Some(value) = value else {
                    return Ok(Flow::Return(Value::None));
                };
                if self.calls == 1 {
                    self.returned = super::kernel::returned_names(value);
                }
                return Ok(Flow::Return(self.eval(value, frame)?));
            }
            StmtKind::Raise(exception) => return Err(self.raised(exception.as_ref(), stmt.span, frame)?),
            StmtKind::Assert { test, message } => self.assertion(test, message.as_ref(), frame)?,
            StmtKind::Pass => {}
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
            StmtKind::If { test, body, orelse } => {
                let value = self.eval(test, frame)?;
                let branch = if self.truth(&value, test.span)? {
                    body
                } else {
                    orelse
                };
                return self.exec_block(branch, frame);
            }
            StmtKind::For {
                target,
                iter,
                body,
                orelse,
            } => return self.for_loop(target, iter, body, orelse, frame),
            StmtKind::While { test, body, orelse } => return self.while_loop(test, body, orelse, frame),
            StmtKind::With { items, body } => {
                return self.with_block(items, body, frame);
            }
            StmtKind::Try {
                body,
                handlers,
                orelse,
                finally,
            } => {
                return self.try_block(body, handlers, orelse, finally, frame);
            }
            StmtKind::Def(function) => {
                let value = self.define(function, frame)?;
                let name = function.name.as_ref().expect("a def has a name");
                self.assign_name(&name.name, value, frame);
            }
            StmtKind::Class(class) => {
                let value = self.define_class(class, frame)?;
                self.assign_name(&class.name.name, value, frame);
            }
            StmtKind::Import(names) => {
                for name in names {
                    self.import(name, frame)?;
                }
            }
            StmtKind::ImportFrom { level, module, names } => {
                self.import_from(*level, module, names, stmt.span, frame)?;
            }
            // The scope has acted on the declarations.
            StmtKind::Global(_) | StmtKind::Nonlocal(_) => {}
            StmtKind::Unsupported(it) => return Err(Error::unsupported(it.what, it.help, stmt.span)),
        }
        Ok(Flow::Next)
    }

    fn for_loop(
        &mut self,
        target: &Expr,
        iter: &Expr,
        body: &[Stmt],
        orelse: &[Stmt],
        frame: &Rc<Frame>,
    ) -> Result<Flow> {
        let iterable = self.eval(iter, frame)?;
        if let Value::DynamicRange(range) = &iterable {
            return match self.dynamic_for(target, range, iter.span, body, frame)? {
                Flow::Next => self.exec_block(orelse, frame),
                flow => Ok(flow),
            };
        }
        let walk = Walk {
            target,
            span: iter.span,
            body,
            run: self
                .dependences
                .begin(goes_over(iter, &["affine_range"]).then_some(iter.span)),
            is_traced: goes_over(iter, &["affine_range", "sequential_range"]),
        };
        // Ranges are walked without making a list of their values; a list may grow while it is walked.
        let mut idx = 0;
        loop {
            let value = match &iterable {
                Value::Range(range) => (idx < range.len()).then(|| Value::Int(range.get(idx))),
                Value::List(list) => list.borrow().get(idx as usize).cloned(),
                Value::Tuple(items) => items.get(idx as usize).cloned(),
                other => {
                    let values = self.iterate(other, iter.span)?;
                    return self.for_values(&walk, values, orelse, frame);
                }
            };
            let Some(value) = value else { break };
            match self.iteration(&walk, idx as usize, value, frame)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                flow => return Ok(flow),
            }
            idx += 1;
        }
        if idx == 0 && !self.program.idle_loops.contains(&iter.span) {
            self.program.idle_loops.push(iter.span);
        }
        self.exec_block(orelse, frame)
    }

    fn for_values(
        &mut self,
        walk: &Walk<'_>,
        values: Vec<Value>,
        orelse: &[Stmt],
        frame: &Rc<Frame>,
    ) -> Result<Flow> {
        for (idx, value) in values.into_iter().enumerate() {
            match self.iteration(walk, idx, value, frame)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                flow => return Ok(flow),
            }
        }
        self.exec_block(orelse, frame)
    }

    fn iteration(&mut self, walk: &Walk<'_>, idx: usize, value: Value, frame: &Rc<Frame>) -> Result<Flow> {
        let Walk {
            target,
            span,
            body,
            is_traced,
            ..
        } = *walk;
        self.step(span)?;
        let name = match &target.kind {
            ExprKind::Name(name) => {
                self.assign_name(name, value, frame);
                Some(name)
            }
            _ => {
                self.assign(target, value, frame)?;
                None
            }
        };
        let outer = self.enter_iteration(idx, span);
        if let (true, Some(around)) = (is_traced, self.around.last_mut()) {
            around.is_traced = true;
        }
        if let Some(name) = name {
            self.loops.enter(name, idx);
        }
        if self.is_classic {
            self.dependences.enter(walk.run, idx);
        }
        let flow = self.exec_block(body, frame);
        if name.is_some() {
            self.loops.leave();
        }
        if self.is_classic {
            self.dependences.leave();
        }
        self.leave(outer);
        flow
    }

    fn while_loop(&mut self, test: &Expr, body: &[Stmt], orelse: &[Stmt], frame: &Rc<Frame>) -> Result<Flow> {
        for idx in 0.. {
            let value = self.eval(test, frame)?;
            if let (0, Value::Register(register)) = (idx, &value) {
                return self.dynamic_while(*register, test.span, body, frame);
            }
            if !self.truth(&value, test.span)? {
                return self.exec_block(orelse, frame);
            }
            if idx as u64 >= limits().iterations {
                return Err(Error::new(
                    Mistake::EndlessLoop {
                        limit: limits().iterations,
                    },
                    test.span,
                ));
            }
            let outer = self.enter_iteration(idx, test.span);
            let flow = self.exec_block(body, frame);
            self.leave(outer);
            match flow? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Ok(Flow::Next),
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn assertion(&mut self, test: &Expr, message: Option<&Expr>, frame: &Rc<Frame>) -> Result<()> {
        // The two sides of a comparison say more than the word False.
        let (value, sides) = match &test.kind {
            ExprKind::Compare { first, rest } if rest.len() == 1 => {
                let (op, second) = &rest[0];
                let (left, right) = (self.eval(first, frame)?, self.eval(second, frame)?);
                (
                    self.compare(*op, &left, &right, test.span)?,
                    Some((left, *op, right)),
                )
            }
            _ => (self.eval(test, frame)?, None),
        };
        if self.truth(&value, test.span)? {
            return Ok(());
        }
        let message = match message {
            Some(it) => Some(self.eval(it, frame)?.text()),
            None => None,
        };
        let sides = sides.map(|(left, op, right)| (left.repr(), op, right.repr()));
        Err(Error::new(Mistake::Assertion { message, sides }, test.span))
    }
}

/// Whether a loop goes over the range of a function of one of these names: `nl.affine_range(…)`.
fn goes_over(iter: &Expr, names: &[&str]) -> bool {
    let ExprKind::Call { callee, .. } = &iter.kind else {
        return false;
    };
    match &callee.kind {
        ExprKind::Name(name) => names.contains(&&**name),
        ExprKind::Attr { attr, .. } => names.contains(&&*attr.name),
        _ => false,
    }
}

/// A range from the one to three arguments of `range` and its relatives.
pub fn range_of(bounds: &[i64]) -> Option<Range> {
    match *bounds {
        [stop] => Some(Range {
            start: 0,
            stop,
            step: 1,
        }),
        [start, stop] => Some(Range { start, stop, step: 1 }),
        [start, stop, step] if step != 0 => Some(Range { start, stop, step }),
        _ => None,
    }
}
