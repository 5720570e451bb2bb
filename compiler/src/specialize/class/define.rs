//! Class statements: the members and fields that a body binds.
//!
//! Takes the syntax tree of a class, gives the class. A class without `__init__` gets the one that its annotated fields
//! describe, as `@dataclass` and NKI's `NKIObject` do; `construct.rs` is that one.

use super::super::Evaluator;
use super::super::error::{Error, Mistake, Result};
use super::super::operate::overflow;
use super::super::scope::{Frame, Scope};
use super::super::value::Value;
use super::construct::FACTORY;
use super::member::setter_of;
use super::{Binding, Class, Field, Kind, Member};
use crate::ast;
use crate::ast::{ArgKind, ExprKind, StmtKind};
use crate::source::Span;
use std::rc::Rc;

impl Evaluator<'_> {
    /// Runs a class statement.
    pub fn define_class(&mut self, class: &ast::Class, frame: &Rc<Frame>) -> Result<Value> {
        let (mut kind, mut base, mut exception) = (Kind::Plain, None, None);
        let mut is_nki = false;
        for arg in &class.bases {
            if !matches!(arg.kind, ArgKind::Positional) {
                continue;
            }
            match self.eval(&arg.value, frame) {
                Ok(Value::Class(it)) if base.is_none() => {
                    is_nki = it.is_nki;
                    kind = it.kind;
                    base = Some(it);
                }
                Ok(Value::Class(_)) => {
                    return Err(Error::unsupported(
                        "a second base class",
                        "inherit from one class",
                        arg.value.span,
                    ));
                }
                Ok(Value::Library(it)) => match &*it.name {
                    "Enum" | "Flag" => kind = Kind::Enum,
                    "IntEnum" | "IntFlag" => kind = Kind::IntEnum,
                    "NamedTuple" => kind = Kind::NamedTuple,
                    "NKIObject" => is_nki = true,
                    _ => {}
                },
                Ok(Value::Builtin(name)) if name.starts_with(char::is_uppercase) => {
                    (kind, exception) = (Kind::Exception, Some(name));
                }
                Ok(_) => {}
                Err(error) if matches!(error.mistake, Mistake::UnresolvedImport { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let (mut members, mut fields) = self.class_body(class, frame)?;
        if is_nki {
            let known: Vec<Rc<str>> = fields.iter().map(|it| it.name.clone()).collect();
            let plain = members
                .iter()
                .filter(|it| it.binding == Binding::Value && !known.contains(&it.name));
            fields.extend(plain.map(|it| Field {
                name: it.name.clone(),
                default: Some(it.value.clone()),
                is_parameter: true,
            }));
        }
        if matches!(kind, Kind::Enum | Kind::IntEnum) {
            number_members(&mut members, class.name.span)?;
        }
        let class = Rc::new(Class {
            name: class.name.name.clone(),
            kind,
            base,
            is_nki,
            exception,
            members,
            fields,
        });
        Ok(Value::Class(class))
    }

    /// The members and annotated fields that the body of a class binds.
    fn class_body(&mut self, class: &ast::Class, frame: &Rc<Frame>) -> Result<(Vec<Member>, Vec<Field>)> {
        let mut scope = Scope::default();
        super::super::scope::bindings(&class.body, &mut |name| scope.bind(name));
        let inner = Frame::new(Rc::new(scope), Some(frame.clone()), frame.module);
        let (mut members, mut fields) = (Vec::new(), Vec::new());
        for stmt in &class.body {
            match &stmt.kind {
                StmtKind::Def(function) => {
                    let (mut binding, mut is_setter) = (Binding::Method, false);
                    for decorator in &function.decorators {
                        binding = match &decorator.kind {
                            ExprKind::Name(name) if &**name == "staticmethod" => Binding::Static,
                            ExprKind::Name(name) if &**name == "classmethod" => Binding::Class,
                            ExprKind::Name(name) if matches!(&**name, "property" | "cached_property") => {
                                Binding::Property
                            }
                            ExprKind::Attr { attr, .. } if &*attr.name == "cached_property" => {
                                Binding::Property
                            }
                            ExprKind::Attr { attr, .. } if &*attr.name == "setter" => {
                                is_setter = true;
                                binding
                            }
                            _ => binding,
                        };
                    }
                    // Methods see the names around the class, not those of its body.
                    let value = self.make_method(function, &inner, frame)?;
                    let name = function.name.as_ref().expect("a def has a name").name.clone();
                    if is_setter {
                        let name = setter_of(&name);
                        members.push(Member { name, value, binding });
                        continue;
                    }
                    let value = self.decorated(value, &function.decorators, &inner)?;
                    inner.assign(&name, value.clone());
                    members.push(Member { name, value, binding });
                }
                StmtKind::AnnAssign { target, value, .. } => {
                    let ExprKind::Name(name) = &target.kind else {
                        continue;
                    };
                    let (mut default, mut is_parameter) = (None, true);
                    if let Some(value) = value {
                        match self.field_default(value, &inner)? {
                            FieldDefault::Value(it) => default = Some(it),
                            FieldDefault::Described { value, is_init } => {
                                (default, is_parameter) = (value, is_init)
                            }
                        }
                    }
                    if let Some(default) = &default {
                        inner.assign(name, default.clone());
                        let (name, value) = (name.clone(), default.clone());
                        members.push(Member {
                            name,
                            value,
                            binding: Binding::Value,
                        });
                    }
                    fields.push(Field {
                        name: name.clone(),
                        default,
                        is_parameter,
                    });
                }
                StmtKind::Assign { targets, .. } => {
                    self.exec(stmt, &inner)?;
                    for target in targets {
                        if let ExprKind::Name(name) = &target.kind
                            && let super::super::scope::Found::Value(value) = inner.find(name)
                        {
                            members.push(Member {
                                name: name.clone(),
                                value,
                                binding: Binding::Value,
                            });
                        }
                    }
                }
                _ => drop(self.exec(stmt, &inner)?),
            }
        }
        Ok((members, fields))
    }

    /// The default of a field: a value, or what `field(default=…, default_factory=…, init=…)` says.
    fn field_default(&mut self, value: &ast::Expr, frame: &Rc<Frame>) -> Result<FieldDefault> {
        if let ExprKind::Call { callee, args } = &value.kind {
            let callee = self.eval(callee, frame)?;
            if let Value::Library(it) = &callee
                && &*it.name == "field"
            {
                let args = self.eval_args(args, frame, value.span)?;
                let keyword = |name: &str| {
                    args.keywords
                        .iter()
                        .find(|it| &*it.0 == name)
                        .map(|it| it.1.clone())
                };
                let value = match keyword("default_factory") {
                    Some(factory) => Some(Value::Partial(Rc::new(super::super::value::Partial {
                        callee: factory,
                        args: Vec::new(),
                        kwargs: vec![(FACTORY.into(), Value::None)],
                    }))),
                    None => keyword("default"),
                };
                let is_init = keyword("init").is_none_or(|it| it.truth());
                return Ok(FieldDefault::Described { value, is_init });
            }
        }
        self.eval(value, frame).map(FieldDefault::Value)
    }
}

/// `enum.auto()`: one more than the member before.
fn number_members(members: &mut [Member], span: Span) -> Result<()> {
    let mut last = 0i64;
    for member in members.iter_mut().filter(|it| it.binding == Binding::Value) {
        if matches!(&member.value, Value::Library(it) if &*it.name == "auto") {
            member.value = Value::Int(last.checked_add(1).ok_or_else(|| overflow("+", span))?);
        }
        last = member.value.as_int().unwrap_or(last);
    }
    Ok(())
}

enum FieldDefault {
    Value(Value),
    Described { value: Option<Value>, is_init: bool },
}
