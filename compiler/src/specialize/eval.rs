//! Expressions: the syntax tree of one, evaluated to a value.
//!
//! Takes an expression and the frame it stands in, gives a value or the first mistake. Instructions are emitted on the
//! way, by the calls inside. Operators stand in `operate.rs`, subscripts in `index.rs`, calls in `call.rs`.

mod arguments;
mod comprehension;

use super::access::Key;
use super::dict::Dict;
use super::error::{Error, Mistake, Result};
use super::index::{Pick, bound, masked, subscript, tensor_value};
use super::operate::bounded;
use super::scope::{Found, Frame};
use super::value::{Tensor, Value};
use super::{Evaluator, access, builtins};
use crate::ast::{BinOp, CmpOp, Expr, ExprKind, FPart, LogicOp, UnaryOp};
use crate::ir::MAX_DIMS;
use crate::limits::{EXPRESSION_DEPTH, limits};
use crate::source::Span;
use std::rc::Rc;

pub use arguments::CallArgs;

impl Evaluator<'_> {
    pub fn eval(&mut self, expr: &Expr, frame: &Rc<Frame>) -> Result<Value> {
        // Leaves nest no deeper, and most expressions are leaves.
        match &expr.kind {
            ExprKind::Name(name) => return self.lookup(name, expr.span, frame),
            ExprKind::Int(it) => return Ok(Value::Int(*it)),
            _ => {}
        }
        self.depth += 1;
        if self.depth > EXPRESSION_DEPTH {
            self.depth -= 1;
            return Err(Error::new(
                Mistake::TooDeep {
                    limit: EXPRESSION_DEPTH,
                },
                expr.span,
            ));
        }
        let value = self.eval_inner(expr, frame);
        self.depth -= 1;
        value
    }

    fn eval_inner(&mut self, expr: &Expr, frame: &Rc<Frame>) -> Result<Value> {
        Ok(match &expr.kind {
            ExprKind::None => Value::None,
            ExprKind::Bool(it) => Value::Bool(*it),
            ExprKind::Ellipsis => Value::Ellipsis,
            ExprKind::Int(it) => Value::Int(*it),
            ExprKind::Float(it) => Value::Float(*it),
            ExprKind::Str(it) => Value::Str(it.clone()),
            ExprKind::FString(parts) => Value::str(self.format_parts(parts, frame)?),
            ExprKind::Name(name) => self.lookup(name, expr.span, frame)?,
            ExprKind::Attr { value, attr } => {
                let value = self.eval(value, frame)?;
                self.attribute(&value, &attr.name, attr.span)?
            }
            ExprKind::Index { value, index } => {
                if let ExprKind::Call { callee, args } = &value.kind
                    && self.calls > 0
                    && let Some(form) = self.constant_index(expr, callee, args, index, frame)?
                {
                    return Ok(form);
                }
                let value = self.eval(value, frame)?;
                if let Value::Tensor(tensor) = &value {
                    return self.eval_view(tensor, index, expr.span, frame);
                }
                let index = self.eval(index, frame)?;
                self.index(&value, &index, expr.span)?
            }
            ExprKind::Slice { start, stop, step } => {
                let mut bound = |it: &Option<Box<Expr>>| match it {
                    Some(it) => self.eval(it, frame),
                    None => Ok(Value::None),
                };
                Value::slice(bound(start)?, bound(stop)?, bound(step)?)
            }
            ExprKind::Tuple(items) => Value::tuple(self.eval_items(items, frame)?),
            ExprKind::List(items) => Value::list(self.eval_items(items, frame)?),
            ExprKind::Set(items) => {
                let items = self.eval_items(items, frame)?;
                builtins::set_of(items, expr.span)?
            }
            ExprKind::Dict(entries) => self.eval_dict(entries, frame)?,
            ExprKind::Call { callee, args } => {
                let callee_value = self.eval(callee, frame)?;
                if let Value::Nl("loop_reduce") = callee_value {
                    return self.loop_reduce(args, None, frame, expr.span);
                }
                self.call_with(&callee_value, args, frame, expr.span)?
            }
            ExprKind::Unary {
                op: UnaryOp::Not,
                operand,
            } => {
                let value = self.eval(operand, frame)?;
                Value::Bool(!self.truth(&value, operand.span)?)
            }
            ExprKind::Unary { op, operand } => {
                let value = self.eval(operand, frame)?;
                self.unary(*op, &value, expr.span)?
            }
            ExprKind::Binary { op, left, right } => {
                let left = self.eval(left, frame)?;
                let right = self.eval(right, frame)?;
                self.binary(*op, &left, &right, expr.span)?
            }
            ExprKind::Logic { op, left, right } => {
                let value = self.eval(left, frame)?;
                // Real kernels join masks with `and`: what they mean is both.
                if let Value::Mask(_) = value {
                    let right = self.eval(right, frame)?;
                    let both = if matches!(op, LogicOp::And) {
                        BinOp::BitAnd
                    } else {
                        BinOp::BitOr
                    };
                    return self.binary(both, &value, &right, expr.span);
                }
                let decided = match op {
                    LogicOp::And => !self.truth(&value, left.span)?,
                    LogicOp::Or => self.truth(&value, left.span)?,
                };
                if decided { value } else { self.eval(right, frame)? }
            }
            ExprKind::Compare { first, rest } => self.eval_compare(first, rest, frame)?,
            ExprKind::IfElse { test, body, orelse } => {
                let value = self.eval(test, frame)?;
                let branch = if self.truth(&value, test.span)? {
                    body
                } else {
                    orelse
                };
                self.eval(branch, frame)?
            }
            ExprKind::Lambda(function) => self.make_closure(function, frame)?,
            ExprKind::Comprehension {
                kind,
                element,
                value,
                clauses,
            } => self.comprehension(*kind, element, value.as_deref(), clauses, expr.span, frame)?,
            ExprKind::Starred(_) => {
                return Err(Error::unsupported(
                    "a starred expression here",
                    "unpack into a tuple or a call",
                    expr.span,
                ));
            }
            ExprKind::Walrus { name, value } => {
                let value = self.eval(value, frame)?;
                self.assign_name(&name.name, value.clone(), frame);
                value
            }
            ExprKind::Unsupported(it) => return Err(Error::unsupported(it.what, it.help, expr.span)),
        })
    }

    /// A subscript of a tensor, without making values of its slices.
    pub fn eval_view(
        &mut self,
        tensor: &Tensor,
        index: &Expr,
        span: Span,
        frame: &Rc<Frame>,
    ) -> Result<Value> {
        let one = std::slice::from_ref(index);
        let keys = match &index.kind {
            ExprKind::Tuple(keys) if keys.len() <= MAX_DIMS => keys.as_slice(),
            _ => one,
        };
        let mut picks = [Pick::Ellipsis; MAX_DIMS];
        for (at, key) in keys.iter().enumerate() {
            picks[at] = match &key.kind {
                ExprKind::Slice { start, stop, step } => {
                    let mut bound_of = |it: &Option<Box<Expr>>| match it {
                        Some(it) => bound(&self.eval(it, frame)?, it.span),
                        None => Ok(None),
                    };
                    Pick::Slice(bound_of(start)?, bound_of(stop)?, bound_of(step)?)
                }
                _ => match self.eval(key, frame)? {
                    value @ (Value::Tuple(_) | Value::Grid(_)) => {
                        return self.subscript(tensor, &access::keys_of(&value, span)?, span);
                    }
                    Value::Int(it) => Pick::At(it),
                    mask @ (Value::Mask(_) | Value::Bool(_)) if keys.len() == 1 => {
                        return masked(&tensor_value(tensor.clone()), &mask, span);
                    }
                    value => match Key::of(&value, key.span)? {
                        Key::Pick(pick) => pick,
                        key => {
                            let mut all: Vec<Key> = picks[..at].iter().map(|it| Key::Pick(*it)).collect();
                            all.push(key);
                            for key in &keys[at + 1..] {
                                let value = self.eval(key, frame)?;
                                all.push(Key::of(&value, key.span)?);
                            }
                            return self.subscript(tensor, &all, span);
                        }
                    },
                },
            };
        }
        let picks = &picks[..keys.len()];
        match subscript(tensor, picks, span) {
            Ok(view) => Ok(tensor_value(view)),
            Err(error) if self.is_classic && matches!(error.mistake, Mistake::OutOfBounds { .. }) => {
                access::beyond(tensor, picks, span).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Finds a name: the frames, the module, the builtins.
    pub fn lookup(&mut self, name: &Rc<str>, span: Span, frame: &Rc<Frame>) -> Result<Value> {
        match frame.find(name) {
            Found::Value(value) => return Ok(value),
            Found::Unbound => return Err(Error::new(Mistake::Unbound { name: name.clone() }, span)),
            Found::Elsewhere => {}
        }
        if let Some(value) = self.global(frame.module, name)? {
            return match value {
                Value::Unresolved(module) => Err(Error::new(
                    Mistake::UnresolvedImport {
                        module,
                        name: name.clone(),
                    },
                    span,
                )),
                value => Ok(value),
            };
        }
        if let Some(value) = builtins::builtin(name) {
            return Ok(value);
        }
        let mut known: Vec<String> = frame.visible_names().iter().map(|it| it.to_string()).collect();
        known.extend(self.global_names(frame.module));
        known.extend(builtins::NAMES.iter().map(|it| it.to_string()));
        let suggestion = super::error::closest(name, known.iter().map(String::as_str));
        Err(Error::new(
            Mistake::UndefinedName {
                name: name.clone(),
                suggestion,
            },
            span,
        ))
    }

    /// The truth of a value; an array of several elements has none.
    pub fn truth(&mut self, value: &Value, span: Span) -> Result<bool> {
        match value {
            Value::Array(it) if it.borrow().len() != 1 => Err(Error::type_error(
                "the truth of an array of several elements is ambiguous; use .any() or .all()",
                span,
            )),
            Value::Array(it) => Ok(first(it) != 0.0),
            Value::Register(_) => Err(Error::new(Mistake::RegisterTruth, span)),
            Value::Object(it) => match self.object_truth(it, span) {
                Some(answer) => answer,
                None => Ok(value.truth()),
            },
            // A tensor that was given is true, as any object; one that a comparison made is meant by its elements.
            Value::Tensor(it) if self.comparisons.contains(&it.buffer()) => {
                Err(Error::new(Mistake::TileTruth, span))
            }
            _ => Ok(value.truth()),
        }
    }

    fn eval_items(&mut self, items: &[Expr], frame: &Rc<Frame>) -> Result<Vec<Value>> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            match &item.kind {
                ExprKind::Starred(inner) => {
                    let value = self.eval(inner, frame)?;
                    values.extend(self.iterate(&value, inner.span)?);
                }
                _ => values.push(self.eval(item, frame)?),
            }
        }
        Ok(values)
    }

    fn eval_dict(&mut self, entries: &[(Option<Expr>, Expr)], frame: &Rc<Frame>) -> Result<Value> {
        let mut dict = Dict::default();
        for (key, value) in entries {
            let Some(key) = key else {
                let merged = self.eval(value, frame)?;
                let Value::Dict(merged) = &merged else {
                    return Err(Error::type_error(
                        format!("** needs a dict, not {}", merged.kind()),
                        value.span,
                    ));
                };
                for (name, value) in merged.borrow().entries() {
                    dict.insert(
                        name.key().expect("keys of a dict are hashable"),
                        name.clone(),
                        value.clone(),
                    );
                }
                continue;
            };
            let name = self.eval(key, frame)?;
            let value = self.eval(value, frame)?;
            let hash = name.key().ok_or_else(|| Error::unhashable(&name, key.span))?;
            dict.insert(hash, name, value);
        }
        Ok(Value::Dict(Rc::new(dict.into())))
    }

    fn eval_compare(&mut self, first: &Expr, rest: &[(CmpOp, Expr)], frame: &Rc<Frame>) -> Result<Value> {
        let mut left = self.eval(first, frame)?;
        let mut left_span = first.span;
        let mut result = Value::Bool(true);
        for (idx, (op, expr)) in rest.iter().enumerate() {
            let right = self.eval(expr, frame)?;
            let compared = self.compare(*op, &left, &right, left_span.to(expr.span))?;
            result = match (&result, &compared) {
                (Value::Mask(_), _) => {
                    self.binary(BinOp::BitAnd, &result, &compared, left_span.to(expr.span))?
                }
                _ => compared,
            };
            let is_last = idx + 1 == rest.len();
            if !is_last && !self.truth(&result, left_span.to(expr.span))? {
                return Ok(result);
            }
            (left, left_span) = (right, expr.span);
        }
        Ok(result)
    }

    fn format_parts(&mut self, parts: &[FPart], frame: &Rc<Frame>) -> Result<String> {
        let mut out = String::new();
        for part in parts {
            match part {
                FPart::Text(text) => out.push_str(text),
                FPart::Hole {
                    value,
                    debug,
                    conversion,
                    spec,
                } => {
                    if let Some(debug) = debug {
                        out.push_str(debug);
                    }
                    let evaluated = self.eval(value, frame)?;
                    let spec = self.format_parts(spec, frame)?;
                    let shown = match conversion {
                        Some('r' | 'a') => Value::str(self.text_of(&evaluated, true, value.span)?),
                        Some(_) => Value::str(self.text_of(&evaluated, false, value.span)?),
                        None if debug.is_some() && spec.is_empty() => {
                            Value::str(self.text_of(&evaluated, true, value.span)?)
                        }
                        None if matches!(evaluated, Value::Object(_)) => {
                            Value::str(self.text_of(&evaluated, false, value.span)?)
                        }
                        None => evaluated,
                    };
                    let text = super::format::format(&shown, &spec)
                        .map_err(|problem| Error::value_error(problem, value.span))?;
                    out.push_str(&text);
                    bounded(out.len(), value.span)?;
                    self.charge(text.len());
                }
            }
        }
        Ok(out)
    }

    /// The values a `for` loop or an unpacking goes over.
    pub fn iterate(&mut self, value: &Value, span: Span) -> Result<Vec<Value>> {
        Ok(match value {
            Value::Tuple(it) => it.to_vec(),
            Value::List(it) => it.borrow().clone(),
            Value::Range(it) => {
                if it.len() > limits().list_items as i64 {
                    return Err(Error::value_error(
                        format!(
                            "{} iterations; at most {} are unrolled",
                            it.len(),
                            limits().list_items
                        ),
                        span,
                    ));
                }
                (0..it.len()).map(|idx| Value::Int(it.get(idx))).collect()
            }
            Value::Dict(it) | Value::Set(it) => it.borrow().entries().iter().map(|it| it.0.clone()).collect(),
            Value::Grid(it) => it.to_vec(),
            Value::Class(it) => self.enum_members(it),
            Value::Object(_) if value.items().is_some() => value.items().unwrap_or_default(),
            Value::Object(it) if it.class.has("__iter__") || it.class.has("__getitem__") => {
                match self.object_items(it, span) {
                    Some(items) => items?,
                    None => return Err(not_iterable(value, span)),
                }
            }
            Value::Index(it) if it.rank() == 1 => {
                let at = |idx: u32| {
                    Value::Int(
                        it.start
                            .saturating_add(it.steps()[0].saturating_mul(i64::from(idx))),
                    )
                };
                (0..it.sizes()[0]).map(at).collect()
            }
            Value::Str(it) => it.chars().map(|it| Value::str(it.to_string())).collect(),
            Value::Array(_) => {
                let count = self.length(value, span)?;
                (0..count)
                    .map(|idx| self.index(value, &Value::Int(idx), span))
                    .collect::<Result<_>>()?
            }
            _ => return Err(not_iterable(value, span)),
        })
    }
}

fn not_iterable(value: &Value, span: Span) -> Box<Error> {
    Error::type_error(format!("{} is not iterable", with_article(value.kind())), span)
}

/// The first value of an array that has one.
pub fn first(array: &super::host_bridge::ArrayRef) -> f64 {
    array.borrow().view().iter().next().copied().unwrap_or(f64::NAN)
}

/// `a tensor`, `an int`.
pub fn with_article(kind: &str) -> String {
    let vowel = kind.starts_with(['a', 'e', 'i', 'o', 'u']) && !kind.starts_with("uni");
    if kind == "None" {
        kind.to_string()
    } else {
        format!("{} {kind}", if vowel { "an" } else { "a" })
    }
}
