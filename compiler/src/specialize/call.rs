//! Calls: arguments bound to parameters, bodies inlined.
//!
//! Takes a callable value and evaluated arguments, gives the result. A function of the kernel's file is run in a frame
//! of its own; everything else is handed to the file that knows it.

use super::dict::Dict;
use super::error::{Error, Mistake, Result, TraceEntry, closest};
use super::eval::{CallArgs, with_article};
use super::exec::Flow;
use super::host_bridge;
use super::scope::{Frame, is_positional};
use super::value::{Closure, Module, Value};
use super::{Evaluator, builtins, standard};
use crate::ast::{Expr, Function, Param, ParamKind};
use crate::host::{Arg, HostDtype};
use crate::limits::limits;
use crate::source::Span;
use std::fmt::Display;
use std::rc::Rc;

impl Evaluator<'_> {
    pub fn call(&mut self, callee: &Value, args: CallArgs) -> Result<Value> {
        match callee {
            Value::Function(closure) => self.call_closure(closure, args),
            Value::Partial(partial) => {
                let mut positional = partial.args.clone();
                positional.extend(args.positional);
                let mut keywords = partial.kwargs.clone();
                keywords.retain(|it| args.keywords.iter().all(|given| given.0 != it.0));
                keywords.extend(args.keywords);
                self.call(&partial.callee, CallArgs::with(positional, keywords, args.span))
            }
            Value::Method(method) => self.call_method(&method.0, &method.1, args),
            Value::Builtin(name) => builtins::call(self, name, args),
            Value::Library(it) => standard::call(self, it.module, &it.name, args),
            Value::Nl(name) => self.call_language(name, args),
            Value::Isa(op) => self.with_handle(args, |this, args| this.call_instruction(*op, args, None)),
            Value::Scheduled(it) => {
                self.add_schedule(it.clone());
                self.call(&it.kernel, args)
            }
            Value::Dtype(dtype) => host_bridge::cast_scalar(self, HostDtype::from(*dtype), args),
            Value::Host(it) => match **it {
                Arg::Dtype(dtype) => host_bridge::cast_scalar(self, dtype, args),
                _ => Err(not_callable(&it.describe(), args.span)),
            },
            Value::Class(class) => self.construct(class, args),
            Value::Object(object) => {
                let span = args.span;
                let (class, receiver) = (object.class.clone(), callee.clone());
                if class.has("__call__") {
                    return self.call_bound(&receiver, &"__call__".into(), args);
                }
                Err(not_callable(&format!("an object of {}", class.name), span))
            }
            Value::Module(Module::Nki) => Err(not_callable("the module nki", args.span)),
            _ => Err(not_callable(&with_article(callee.kind()), args.span)),
        }
    }

    /// The function of a method: defaults see the names of the class, the body only those around it.
    pub fn make_method(
        &mut self,
        function: &Rc<Function>,
        inner: &Rc<Frame>,
        outer: &Rc<Frame>,
    ) -> Result<Value> {
        let value = self.make_closure(function, inner)?;
        let Value::Function(closure) = &value else {
            return Ok(value);
        };
        let is_module_level = outer.scope.len() == 0 && outer.parent.is_none();
        Ok(Value::Function(Rc::new(Closure {
            function: closure.function.clone(),
            defaults: closure.defaults.clone(),
            frame: (!is_module_level).then(|| outer.clone()),
            module: closure.module,
        })))
    }

    pub fn make_closure(&mut self, function: &Rc<Function>, frame: &Rc<Frame>) -> Result<Value> {
        let mut defaults = Vec::with_capacity(function.params.len());
        for param in &function.params {
            defaults.push(match &param.default {
                Some(default) => Some(self.eval(default, frame)?),
                None => None,
            });
        }
        let is_module_level = frame.scope.len() == 0 && frame.parent.is_none();
        let outer = (!is_module_level).then(|| frame.clone());
        Ok(Value::Function(Rc::new(Closure {
            function: function.clone(),
            defaults,
            frame: outer,
            module: frame.module,
        })))
    }

    /// Makes the value of a `def`, decorators applied. Decorators of NKI, and those whose import is unknown, mark only.
    pub fn define(&mut self, function: &Rc<Function>, frame: &Rc<Frame>) -> Result<Value> {
        let value = self.make_closure(function, frame)?;
        self.decorated(value, &function.decorators, frame)
    }

    /// A function with its decorators applied, the last one first.
    pub fn decorated(&mut self, mut value: Value, decorators: &[Expr], frame: &Rc<Frame>) -> Result<Value> {
        for decorator in decorators.iter().rev() {
            match self.eval(decorator, frame) {
                Ok(Value::Function(outer)) => {
                    let args = CallArgs::of(vec![value], decorator.span);
                    value = self.call_closure(&outer, args)?;
                }
                Ok(Value::Partial(_)) => {
                    return Err(Error::unsupported(
                        "this decorator",
                        "call the function directly",
                        decorator.span,
                    ));
                }
                Ok(_) => {}
                Err(error) if matches!(error.mistake, Mistake::UnresolvedImport { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(value)
    }

    pub fn call_closure(&mut self, closure: &Rc<Closure>, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let function = closure.function.clone();
        if self.calls as u64 >= limits().calls {
            let function = closure.name().to_string();
            return Err(Error::new(
                Mistake::CallsTooDeep {
                    function,
                    limit: limits().calls,
                },
                span,
            ));
        }
        let scope = self.scope_of(&function);
        let frame = Frame::new(scope, closure.frame.clone(), closure.module);
        self.bind_params(closure, &frame, args)?;

        let naming = self.naming.take();
        // The kernel itself is called by no line of the file.
        let outer = if self.calls == 0 {
            self.mark()
        } else {
            self.enter_call(span)
        };
        self.calls += 1;
        let flow = self.exec_block(&function.body, &frame);
        self.leave(outer);
        self.naming = naming;
        self.calls -= 1;
        match flow {
            Ok(Flow::Return(value)) => Ok(value),
            Ok(_) => Ok(Value::None),
            Err(mut error) => {
                error.trace.push(TraceEntry {
                    span,
                    function: closure.name().into(),
                });
                Err(error)
            }
        }
    }

    fn bind_params(&mut self, closure: &Closure, frame: &Frame, args: CallArgs) -> Result<()> {
        let params = &closure.function.params;
        let span = args.span;
        let n_given = args.positional.len();
        let mut positional = args.positional.into_iter();
        let mut keywords = args.keywords;
        for (slot, param) in params.iter().enumerate() {
            let name = &param.name.name;
            let named = (!matches!(
                param.kind,
                ParamKind::PositionalOnly | ParamKind::Star | ParamKind::DoubleStar
            ))
            .then(|| keywords.iter().position(|it| it.0 == *name))
            .flatten();
            let value = match param.kind {
                ParamKind::Star => Value::tuple(positional.by_ref().collect()),
                ParamKind::DoubleStar => {
                    let mut dict = Dict::default();
                    for (name, value) in keywords.drain(..) {
                        let name = Value::Str(name);
                        dict.insert(name.key().expect("strings are hashable"), name, value);
                    }
                    Value::Dict(Rc::new(dict.into()))
                }
                kind => match (is_positional(kind).then(|| positional.next()).flatten(), named) {
                    (Some(_), Some(_)) => {
                        return Err(Error::new(Mistake::RepeatedArgument { name: name.clone() }, span));
                    }
                    (Some(value), None) => value,
                    (None, Some(at)) => keywords.remove(at).1,
                    (None, None) => match &closure.defaults[slot] {
                        Some(default) => default.clone(),
                        None => {
                            let function = closure.name().to_string();
                            return Err(Error::new(
                                Mistake::MissingArgument {
                                    function,
                                    name: name.clone(),
                                },
                                span,
                            ));
                        }
                    },
                },
            };
            frame.set_slot(slot, value);
        }
        if positional.next().is_some() {
            let takes = params.iter().filter(|it| is_positional(it.kind)).count();
            let function = closure.name().to_string();
            return Err(Error::new(
                Mistake::TooManyArguments {
                    function,
                    takes,
                    given: n_given,
                },
                span,
            ));
        }
        match keywords.first() {
            None => Ok(()),
            Some((name, _)) => {
                let known = params.iter().map(|it| &*it.name.name);
                Err(unexpected(closure.name(), name, known, span))
            }
        }
    }
}

/// Arguments given by name, as a call passes them: what `*args` or `/` wants by position stands in its place, and a dict
/// that is given for `**kwargs` is its keywords.
pub fn in_places(closure: &Closure, named: Vec<(Rc<str>, Value)>) -> (Vec<Value>, Vec<(Rc<str>, Value)>) {
    let params = &closure.function.params;
    let kind_of = |name: &str| params.iter().find(|it| *it.name.name == *name).map(|it| it.kind);
    let mut keywords: Vec<(Rc<str>, Value)> = Vec::with_capacity(named.len());
    for (name, value) in named {
        match (kind_of(&name), &value) {
            (Some(ParamKind::DoubleStar), Value::Dict(it)) => {
                for (key, value) in it.borrow().entries() {
                    let Value::Str(key) = key else { continue };
                    keywords.push((key.clone(), value.clone()));
                }
            }
            _ => keywords.push((name, value)),
        }
    }
    let is_given = |it: &Param| keywords.iter().any(|given| given.0 == it.name.name);
    let by_position = params.iter().rposition(|it| {
        let must_be = matches!(it.kind, ParamKind::PositionalOnly | ParamKind::Star);
        must_be && is_given(it)
    });
    let mut positional = Vec::new();
    for (slot, param) in params.iter().enumerate().take(by_position.map_or(0, |it| it + 1)) {
        let given = keywords.iter().position(|it| it.0 == param.name.name);
        let value = given.map(|it| keywords.remove(it).1);
        match (param.kind, value, &closure.defaults[slot]) {
            (ParamKind::Star, Some(value), _) => match value.items() {
                Some(items) => positional.extend(items),
                None => positional.push(value),
            },
            (_, Some(value), _) => positional.push(value),
            (_, None, Some(default)) => positional.push(default.clone()),
            // The call says what is missing.
            (_, None, None) => break,
        }
    }
    (positional, keywords)
}

fn not_callable(kind: &str, span: Span) -> Box<Error> {
    Error::new(
        Mistake::NotCallable {
            kind: kind.to_string(),
        },
        span,
    )
}

/// The error for a keyword that a function does not have.
pub fn unexpected<'a>(
    function: &str,
    name: &Rc<str>,
    known: impl Iterator<Item = &'a str>,
    span: Span,
) -> Box<Error> {
    let suggestion = closest(name, known);
    Error::new(
        Mistake::UnexpectedKeyword {
            function: function.to_string(),
            name: name.clone(),
            suggestion,
        },
        span,
    )
}

impl CallArgs {
    /// Binds the arguments to named parameters; the first `n_required` must be given.
    pub fn bind<const N: usize>(
        self,
        function: impl Display,
        names: [&str; N],
        n_required: usize,
    ) -> Result<[Option<Value>; N]> {
        let mut out: [Option<Value>; N] = std::array::from_fn(|_| None);
        let given = self.positional.len();
        if given > N {
            let function = function.to_string();
            return Err(Error::new(
                Mistake::TooManyArguments {
                    function,
                    takes: N,
                    given,
                },
                self.span,
            ));
        }
        for (slot, value) in out.iter_mut().zip(self.positional) {
            *slot = Some(value);
        }
        let (spans, whole) = (self.keyword_spans, self.span);
        for (idx, (name, value)) in self.keywords.into_iter().enumerate() {
            let span = spans.get(idx).copied().unwrap_or(whole);
            let Some(at) = names.iter().position(|it| **it == *name) else {
                return Err(unexpected(
                    &function.to_string(),
                    &name,
                    names.iter().copied(),
                    span,
                ));
            };
            if out[at].is_some() {
                return Err(Error::new(Mistake::RepeatedArgument { name }, span));
            }
            out[at] = Some(value);
        }
        match out.iter().take(n_required).position(Option::is_none) {
            None => Ok(out),
            Some(at) => {
                let (function, name) = (function.to_string(), names[at].into());
                Err(Error::new(Mistake::MissingArgument { function, name }, self.span))
            }
        }
    }
}
