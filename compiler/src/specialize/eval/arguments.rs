//! Arguments of calls, evaluated: by position, by name, and out of sequences and dicts.

use super::super::Evaluator;
use super::super::error::{Error, Mistake, Result};
use super::super::scope::Frame;
use super::super::value::Value;
use crate::ast::{ArgKind, CallArg};
use crate::source::Span;
use std::rc::Rc;

/// Evaluated arguments of a call.
pub struct CallArgs {
    pub positional: Vec<Value>,
    pub keywords: Vec<(Rc<str>, Value)>,
    /// Where each keyword was written; missing for those that no source wrote.
    pub keyword_spans: Vec<Span>,
    /// The whole call.
    pub span: Span,
}

impl CallArgs {
    /// Positional arguments only.
    pub fn of(positional: Vec<Value>, span: Span) -> CallArgs {
        CallArgs::with(positional, Vec::new(), span)
    }

    pub fn with(positional: Vec<Value>, keywords: Vec<(Rc<str>, Value)>, span: Span) -> CallArgs {
        CallArgs {
            positional,
            keywords,
            keyword_spans: Vec::new(),
            span,
        }
    }
}

impl Evaluator<'_> {
    /// A call of a value with arguments that are not evaluated yet.
    pub fn call_with(
        &mut self,
        callee: &Value,
        args: &[CallArg],
        frame: &Rc<Frame>,
        span: Span,
    ) -> Result<Value> {
        let values = self.eval_args(args, frame, span)?;
        // A function may reduce over a loop whose variable it is given.
        let passes_loops = match callee {
            Value::Function(closure) => self.loops.begin_call(&closure.function, args),
            _ => false,
        };
        let result = self.call(callee, values);
        if passes_loops {
            self.loops.end_call();
        }
        result
    }

    pub fn eval_args(&mut self, args: &[CallArg], frame: &Rc<Frame>, span: Span) -> Result<CallArgs> {
        let is_keyword = |it: &&CallArg| matches!(it.kind, ArgKind::Keyword(_));
        let n_keywords = args.iter().filter(is_keyword).count();
        // The parser shares the text of equal names; those of a dict are texts of their own.
        let has_dict = args.iter().any(|it| matches!(it.kind, ArgKind::DoubleStar));
        let mut out = CallArgs {
            positional: Vec::with_capacity(args.len() - n_keywords),
            keywords: Vec::with_capacity(n_keywords),
            keyword_spans: Vec::with_capacity(n_keywords),
            span,
        };
        for arg in args {
            let value = self.eval(&arg.value, frame)?;
            match &arg.kind {
                ArgKind::Positional => out.positional.push(value),
                ArgKind::Keyword(name) => {
                    let is_same = |it: &Rc<str>| Rc::ptr_eq(it, &name.name) || has_dict && *it == name.name;
                    if out.keywords.iter().any(|it| is_same(&it.0)) {
                        return Err(Error::new(
                            Mistake::RepeatedArgument {
                                name: name.name.clone(),
                            },
                            name.span,
                        ));
                    }
                    out.keyword_spans.resize(out.keywords.len(), span);
                    out.keyword_spans.push(name.span.to(arg.value.span));
                    out.keywords.push((name.name.clone(), value));
                }
                ArgKind::Star => out.positional.extend(self.iterate(&value, arg.value.span)?),
                ArgKind::DoubleStar => {
                    let Value::Dict(dict) = &value else {
                        return Err(Error::type_error(
                            format!("** needs a dict, not {}", value.kind()),
                            arg.value.span,
                        ));
                    };
                    // The names of a dict differ among themselves.
                    let n_before = out.keywords.len();
                    for (name, value) in dict.borrow().entries() {
                        let Value::Str(name) = name else {
                            return Err(Error::type_error("keyword names must be strings", arg.value.span));
                        };
                        if out.keywords[..n_before].iter().any(|it| it.0 == *name) {
                            let name = name.clone();
                            return Err(Error::new(Mistake::RepeatedArgument { name }, arg.value.span));
                        }
                        out.keywords.push((name.clone(), value.clone()));
                    }
                }
            }
        }
        Ok(out)
    }
}
