//! `try`, `raise` and `with`, as far as they resolve at compile time.
//!
//! A mistake found while the kernel is evaluated is the exception that Python would raise for it; limits of the
//! evaluation itself are never caught.

use super::Evaluator;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::exec::Flow;
use super::scope::Frame;
use super::value::Value;
use crate::ast::{Expr, ExprKind, Handler, Stmt, WithItem};
use crate::source::Span;
use std::rc::Rc;

/// Exceptions with the ones they inherit from.
const FAMILIES: &[(&str, &str)] = &[
    ("ZeroDivisionError", "ArithmeticError"),
    ("OverflowError", "ArithmeticError"),
    ("ModuleNotFoundError", "ImportError"),
    ("IndexError", "LookupError"),
    ("KeyError", "LookupError"),
    ("NotImplementedError", "RuntimeError"),
    ("UnboundLocalError", "NameError"),
];

/// The exception that a mistake is; `None` for limits, which are no exceptions.
fn exception_of(mistake: &Mistake) -> Option<&str> {
    Some(match mistake {
        Mistake::UndefinedName { .. } | Mistake::Unbound { .. } => "NameError",
        Mistake::UnresolvedImport { .. } | Mistake::ImportCycle { .. } => "ModuleNotFoundError",
        Mistake::NoAttribute { .. } => "AttributeError",
        Mistake::DivisionByZero { .. } => "ZeroDivisionError",
        Mistake::IntegerOverflow { .. } => "OverflowError",
        Mistake::IndexOutOfRange { .. } | Mistake::OutOfBounds { .. } => "IndexError",
        Mistake::MissingKey { .. } => "KeyError",
        Mistake::Assertion { .. } => "AssertionError",
        Mistake::Raised { kind, .. } => kind,
        Mistake::Value { .. } | Mistake::Unpack { .. } | Mistake::BadShape { .. } => "ValueError",
        Mistake::TooDeep { .. }
        | Mistake::CallsTooDeep { .. }
        | Mistake::EndlessLoop { .. }
        | Mistake::TooManySteps { .. }
        | Mistake::Interrupted { .. }
        | Mistake::NoRoom(_)
        | Mistake::TooManyInstructions { .. }
        | Mistake::Unsupported { .. } => return None,
        _ => "TypeError",
    })
}

fn inherits(name: &str, class: &str) -> bool {
    let name = name.rsplit('.').next().unwrap_or(name);
    if name == class || matches!(class, "Exception" | "BaseException") {
        return true;
    }
    FAMILIES.iter().any(|it| it.0 == name && inherits(it.1, class))
}

impl Evaluator<'_> {
    pub fn try_block(
        &mut self,
        body: &[Stmt],
        handlers: &[Handler],
        orelse: &[Stmt],
        finally: &[Stmt],
        frame: &Rc<Frame>,
    ) -> Result<Flow> {
        let n_loops = self.open_loop_numbers().len();
        let outcome = match self.exec_block(body, frame) {
            Ok(Flow::Next) => self.exec_block(orelse, frame),
            Ok(flow) => Ok(flow),
            // The body of a loop of the device that was left half-way is no loop: nothing goes on after it.
            Err(error) if self.open_loop_numbers().len() != n_loops => return Err(error),
            Err(error) => self.handled(error, handlers, frame),
        };
        // What `finally` does to leave the block wins over what the block did.
        match self.exec_block(finally, frame)? {
            Flow::Next => outcome,
            flow => Ok(flow),
        }
    }

    fn handled(&mut self, error: Box<Error>, handlers: &[Handler], frame: &Rc<Frame>) -> Result<Flow> {
        // At module level files probe what is installed: anything that fails there falls to the first handler.
        let at_module_level = self.calls == 0;
        let Some(kind) = exception_of(&error.mistake).or(at_module_level.then_some("Exception")) else {
            return Err(error);
        };
        let kind = kind.to_string();
        for handler in handlers {
            let catches = match &handler.exception {
                None => true,
                Some(_) if at_module_level => true,
                Some(class) => self.catches(class, &kind, &error, frame)?,
            };
            if !catches {
                continue;
            }
            if let Some(name) = &handler.name {
                let message = match &error.mistake {
                    Mistake::Raised { message, .. } => message.clone(),
                    _ => crate::diagnostic::Report::report(&*error).message,
                };
                self.assign_name(&name.name, Value::str(message), frame);
            }
            self.caught.push(*error);
            let flow = self.exec_block(&handler.body, frame);
            self.caught.pop();
            return flow;
        }
        Err(error)
    }

    fn catches(&mut self, class: &Expr, kind: &str, error: &Error, frame: &Rc<Frame>) -> Result<bool> {
        let value = self.eval(class, frame)?;
        let classes = value.items().unwrap_or_else(|| vec![value]);
        Ok(classes.iter().any(|it| match it {
            Value::Builtin(name) => {
                inherits(kind, name)
                    || matches!(&error.mistake, Mistake::Raised { bases, .. } if bases.iter().any(|it| inherits(it, name)))
            }
            Value::Class(class) => match &error.mistake {
                Mistake::Raised { bases, .. } => bases.iter().any(|it| **it == *class.name),
                _ => false,
            },
            _ => false,
        }))
    }

    /// The error of a `raise` statement.
    pub fn raised(&mut self, exception: Option<&Expr>, span: Span, frame: &Rc<Frame>) -> Result<Box<Error>> {
        let Some(exception) = exception else {
            return match self.caught.last() {
                Some(error) => Ok(Box::new(error.clone())),
                None => Err(Error::type_error(
                    "raise without an exception to raise again",
                    span,
                )),
            };
        };
        let (class, args) = match &exception.kind {
            ExprKind::Call { callee, args } => (&**callee, args.as_slice()),
            _ => (exception, &[][..]),
        };
        let message = match args.first() {
            Some(arg) => self.eval(&arg.value, frame)?.text(),
            None => String::new(),
        };
        let written = self.sources.slice(class.span).to_string();
        let (kind, bases) = match self.eval(class, frame) {
            Ok(Value::Class(class)) => (written, class.family()),
            Ok(Value::Builtin(name)) => (name.to_string(), Vec::new()),
            // A caught exception is known by its message: raising that is raising it again.
            Ok(Value::Str(_)) if args.is_empty() && !self.caught.is_empty() => {
                let caught = self.caught.last().expect("there is one");
                return Ok(Box::new(caught.clone()));
            }
            _ => (written, Vec::new()),
        };
        Ok(Error::new(Mistake::Raised { kind, message, bases }, span))
    }

    pub fn with_block(&mut self, items: &[WithItem], body: &[Stmt], frame: &Rc<Frame>) -> Result<Flow> {
        let mut entered = Vec::new();
        let mut n_fixed = 0;
        for item in items {
            let context = self.eval(&item.context, frame)?;
            let span = item.context.span;
            let value = match &context {
                // Contexts of NKI and of the standard library order or label instructions; they make nothing.
                Value::Library(_) | Value::Nl(_) | Value::None | Value::Instruction(_) | Value::Member(_) => {
                    n_fixed += usize::from(Self::fixes_order(&context));
                    context.clone()
                }
                Value::Object(object) => {
                    let value = self.call_special(object, "__enter__", Vec::new(), span);
                    entered.push((object.clone(), span));
                    match value {
                        Some(value) => value?,
                        None => context.clone(),
                    }
                }
                other => {
                    let what = format!("`with` on {}", with_article(other.kind()));
                    return Err(Error::unsupported(
                        &what,
                        "put the statements in the function itself",
                        span,
                    ));
                }
            };
            if let Some(target) = &item.target {
                self.assign(target, value, frame)?;
            }
        }
        self.ordering.n_fixed += n_fixed;
        let flow = self.exec_block(body, frame);
        self.ordering.n_fixed -= n_fixed;
        for (object, span) in entered.iter().rev() {
            let nothing = vec![Value::None, Value::None, Value::None];
            if let Some(result) = self.call_special(object, "__exit__", nothing, *span) {
                result?;
            }
        }
        flow
    }

    /// A call that only marks: the first argument, or the thing itself.
    pub fn mark_only(&self, value: &Value, args: CallArgs) -> Value {
        args.positional.into_iter().next().unwrap_or(value.clone())
    }
}
