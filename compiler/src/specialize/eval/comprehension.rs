//! Comprehensions and generator expressions: a scope of their own, and a loop for each clause.

use super::super::dict::Dict;
use super::super::error::{Error, Result};
use super::super::scope::{Frame, Scope};
use super::super::value::Value;
use super::super::{Evaluator, builtins};
use crate::ast::{CompClause, CompKind, Expr};
use crate::source::Span;
use std::rc::Rc;

impl Evaluator<'_> {
    pub fn comprehension(
        &mut self,
        kind: CompKind,
        element: &Expr,
        value: Option<&Expr>,
        clauses: &[CompClause],
        span: Span,
        frame: &Rc<Frame>,
    ) -> Result<Value> {
        let scope = Rc::new(Scope::of_targets(clauses.iter().map(|it| &it.target)));
        let inner = Frame::new(scope, Some(frame.clone()), frame.module);
        let mut items = Vec::new();
        let mut dict = Dict::default();
        let mut collect = |this: &mut Self, inner: &Rc<Frame>| -> Result<()> {
            let name = this.eval(element, inner)?;
            match value {
                None => items.push(name),
                Some(value) => {
                    let value = this.eval(value, inner)?;
                    let key = name.key().ok_or_else(|| Error::unhashable(&name, element.span))?;
                    dict.insert(key, name, value);
                }
            }
            Ok(())
        };
        // The first iterable is evaluated outside: `[x for x in x]`.
        let outermost = match clauses.first() {
            Some(it) => Some(self.eval(&it.iter, frame)?),
            None => None,
        };
        self.clause(clauses, outermost, &inner, &mut collect)?;
        match kind {
            CompKind::List | CompKind::Generator => Ok(Value::list(items)),
            CompKind::Set => builtins::set_of(items, span),
            CompKind::Dict => Ok(Value::Dict(Rc::new(dict.into()))),
        }
    }

    fn clause(
        &mut self,
        clauses: &[CompClause],
        outermost: Option<Value>,
        frame: &Rc<Frame>,
        collect: &mut dyn FnMut(&mut Self, &Rc<Frame>) -> Result<()>,
    ) -> Result<()> {
        let Some((clause, rest)) = clauses.split_first() else {
            return collect(self, frame);
        };
        let iterable = match outermost {
            Some(it) => it,
            None => self.eval(&clause.iter, frame)?,
        };
        let values = self.iterate(&iterable, clause.iter.span)?;
        'values: for (idx, value) in values.into_iter().enumerate() {
            self.step(clause.target.span)?;
            self.assign(&clause.target, value, frame)?;
            for test in &clause.tests {
                let value = self.eval(test, frame)?;
                if !self.truth(&value, test.span)? {
                    continue 'values;
                }
            }
            let outer = self.enter_iteration(idx, clause.iter.span);
            let done = self.clause(rest, None, frame, collect);
            self.leave(outer);
            done?;
        }
        Ok(())
    }
}
