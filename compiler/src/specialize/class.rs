//! Classes, dataclasses, enumerations and their objects.
//!
//! Takes class statements and calls of classes, gives compile-time objects. A class without `__init__` gets the one
//! that its annotated fields describe, as `@dataclass` and NKI's `NKIObject` do. Nothing here reaches the device.

use super::Evaluator;
use super::builtins::no_attribute;
use super::dict::Key;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::operate::overflow;
use super::scope::{Frame, Scope};
use super::value::Value;
use crate::ast::{self, ArgKind, ExprKind, StmtKind};
use crate::source::Span;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// What a class makes of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Plain,
    /// Class-level names are the members.
    Enum,
    /// An enumeration whose members are ints too.
    IntEnum,
    /// Objects are also tuples of their fields.
    NamedTuple,
    Exception,
}

/// How a member is reached through an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Binding {
    Value,
    /// The object comes first.
    Method,
    Static,
    /// The class comes first.
    Class,
    Property,
}

struct Member {
    name: Rc<str>,
    value: Value,
    binding: Binding,
}

/// An annotated field of a class.
#[derive(Clone)]
struct Field {
    name: Rc<str>,
    default: Option<Value>,
    is_parameter: bool,
}

pub struct Class {
    pub name: Rc<str>,
    pub kind: Kind,
    base: Option<Rc<Class>>,
    /// Whether it inherits from `NKIObject`, whose fields need no annotation.
    is_nki: bool,
    /// The exception of Python's that it inherits from.
    exception: Option<&'static str>,
    members: Vec<Member>,
    fields: Vec<Field>,
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "class {}", self.name)
    }
}

/// An instance of a class, or a member of an enumeration.
pub struct Object {
    pub class: Rc<Class>,
    fields: RefCell<Vec<(Rc<str>, Value)>>,
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object of {}", self.class.name)
    }
}

impl Class {
    /// The member of a name, and the class of the family that has it.
    fn find(self: &Rc<Class>, name: &str) -> Option<(&Member, &Rc<Class>)> {
        let mut class = self;
        loop {
            if let Some(member) = class.members.iter().rev().find(|it| &*it.name == name) {
                return Some((member, class));
            }
            class = class.base.as_ref()?;
        }
    }

    /// The names of the class and of what it inherits from.
    pub fn family(&self) -> Vec<Rc<str>> {
        let mut names = vec![self.name.clone()];
        names.extend(self.exception.map(Rc::from));
        names.extend(self.base.iter().flat_map(|it| it.family()));
        names
    }

    pub fn has(self: &Rc<Class>, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn inherits(self: &Rc<Class>, other: &Rc<Class>) -> bool {
        Rc::ptr_eq(self, other) || self.base.as_ref().is_some_and(|it| it.inherits(other))
    }

    /// Every annotated field, those of bases first; a class may give a base's field another default.
    fn all_fields(&self) -> Vec<Field> {
        let mut fields = self.base.as_ref().map_or_else(Vec::new, |it| it.all_fields());
        for field in &self.fields {
            match fields.iter_mut().find(|it| it.name == field.name) {
                Some(known) => *known = field.clone(),
                None => fields.push(field.clone()),
            }
        }
        fields
    }

    fn names(&self) -> Vec<Rc<str>> {
        let mut names: Vec<Rc<str>> = self.members.iter().map(|it| it.name.clone()).collect();
        names.extend(self.fields.iter().map(|it| it.name.clone()));
        names.extend(self.base.iter().flat_map(|it| it.names()));
        names
    }

    pub fn is_enum(&self) -> bool {
        matches!(self.kind, Kind::Enum | Kind::IntEnum)
    }
}

impl Object {
    pub fn get(&self, name: &str) -> Option<Value> {
        self.fields
            .borrow()
            .iter()
            .find(|it| &*it.0 == name)
            .map(|it| it.1.clone())
    }

    pub fn set(&self, name: &Rc<str>, value: Value) {
        let mut fields = self.fields.borrow_mut();
        match fields.iter_mut().find(|it| it.0 == *name) {
            Some(field) => field.1 = value,
            None => fields.push((name.clone(), value)),
        }
    }

    /// The values of a named tuple.
    pub fn items(&self) -> Option<Vec<Value>> {
        (self.class.kind == Kind::NamedTuple)
            .then(|| self.fields.borrow().iter().map(|it| it.1.clone()).collect())
    }

    /// A member of an enumeration as a dict key.
    pub fn key(&self) -> Option<Key> {
        let Some(Value::Str(name)) = self.get("name").filter(|_| self.class.is_enum()) else {
            return self.items().and_then(|it| Value::tuple(it).key());
        };
        // A member of an IntEnum is its number, as a key too.
        if let Some(number) = self.as_int() {
            return Some(Key::Int(number));
        }
        Some(Key::Tuple(vec![
            Key::Str(self.class.name.clone()),
            Key::Str(name),
        ]))
    }

    /// The int that a member of an `IntEnum` is.
    pub fn as_int(&self) -> Option<i64> {
        match self.class.kind {
            Kind::IntEnum => self.get("value").and_then(|it| it.as_int()),
            _ => None,
        }
    }

    /// An object of the same class with the same fields.
    pub fn copied(&self) -> Object {
        Object {
            class: self.class.clone(),
            fields: self.fields.clone(),
        }
    }

    /// `object.name = value`, which a property refuses.
    pub fn assign(&self, name: &Rc<str>, value: Value, span: Span) -> Result<()> {
        if let Some((Binding::Property, _)) = self.class.find(name).map(|it| (it.0.binding, it.1)) {
            let message = format!(
                "`{name}` is a property of {}: nothing can be assigned to it",
                self.class.name
            );
            return Err(Error::type_error(message, span));
        }
        self.set(name, value);
        Ok(())
    }

    /// The fields and their values, in the order in which they were made.
    pub fn fields(&self) -> Vec<(Rc<str>, Value)> {
        self.fields.try_borrow().map_or(Vec::new(), |it| it.clone())
    }

    pub fn into_values(self) -> impl Iterator<Item = Value> {
        self.fields.into_inner().into_iter().map(|it| it.1)
    }

    /// Equal fields make equal objects of one class.
    pub fn equals(&self, other: &Object) -> bool {
        let same_class = Rc::ptr_eq(&self.class, &other.class);
        let (a, b) = (self.fields.borrow(), other.fields.borrow());
        same_class
            && a.len() == b.len()
            && a.iter()
                .zip(b.iter())
                .all(|(a, b)| a.0 == b.0 && a.1.equals(&b.1))
    }
}

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
        super::scope::bindings(&class.body, &mut |name| scope.bind(name));
        let inner = Frame::new(Rc::new(scope), Some(frame.clone()), frame.module);
        let (mut members, mut fields) = (Vec::new(), Vec::new());
        for stmt in &class.body {
            match &stmt.kind {
                StmtKind::Def(function) => {
                    let mut binding = Binding::Method;
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
                            ExprKind::Attr { attr, .. } if matches!(&*attr.name, "setter" | "deleter") => {
                                let what = format!("a {} of a property", attr.name);
                                let help = "write a method that sets the field, and call it";
                                return Err(Error::unsupported(&what, help, decorator.span));
                            }
                            _ => binding,
                        };
                    }
                    // Methods see the names around the class, not those of its body.
                    let value = self.make_method(function, &inner, frame)?;
                    let value = self.decorated(value, &function.decorators, &inner)?;
                    let name = function.name.as_ref().expect("a def has a name").name.clone();
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
                            && let super::scope::Found::Value(value) = inner.find(name)
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
                    Some(factory) => Some(Value::Partial(Rc::new(super::value::Partial {
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

    /// A call of a class: a new object, or the member of an enumeration with a value.
    pub fn construct(&mut self, class: &Rc<Class>, args: CallArgs) -> Result<Value> {
        let span = args.span;
        if class.is_enum() {
            let [value] = args.bind(&class.name, ["value"], 1)?;
            let value = super::builtins::required(value);
            for member in class.members.iter().filter(|it| it.binding == Binding::Value) {
                if member.value.equals(&value) {
                    return self.class_attribute(class, &member.name, span);
                }
            }
            let message = format!("{} is no value of {}", value.repr(), class.name);
            return Err(Error::value_error(message, span));
        }
        let object = Rc::new(Object {
            class: class.clone(),
            fields: RefCell::new(Vec::new()),
        });
        let value = Value::Object(object.clone());
        if let Some((_, owner)) = class.find("__init__") {
            let owner = owner.clone();
            self.call_member(&owner, &value, "__init__", args)?;
            return Ok(value);
        }
        if class.kind == Kind::Exception {
            object.set(&"args".into(), Value::tuple(args.positional));
            return Ok(value);
        }
        self.fill_fields(class, &object, args)?;
        if let Some((_, owner)) = class.find("__post_init__") {
            let owner = owner.clone();
            self.call_member(&owner, &value, "__post_init__", CallArgs::of(Vec::new(), span))?;
        }
        Ok(value)
    }

    /// The `__init__` that annotated fields describe.
    fn fill_fields(&mut self, class: &Class, object: &Object, args: CallArgs) -> Result<()> {
        let span = args.span;
        let fields = class.all_fields();
        let n_given = args.positional.len();
        let mut positional = args.positional.into_iter();
        let mut keywords = args.keywords;
        for field in &fields {
            let keyword = keywords.iter().position(|it| it.0 == field.name);
            let by_place = if field.is_parameter {
                positional.next()
            } else {
                None
            };
            let given = match (by_place, keyword) {
                (Some(_), Some(_)) => {
                    let name = field.name.clone();
                    return Err(Error::new(Mistake::RepeatedArgument { name }, span));
                }
                (None, Some(at)) if field.is_parameter => Some(keywords.remove(at).1),
                (by_place, _) => by_place,
            };
            let value = match (given, &field.default) {
                (Some(given), _) => given,
                (None, Some(default)) => self.made_default(default, span)?,
                (None, None) if !field.is_parameter => continue,
                (None, None) => {
                    let (function, name) = (class.name.to_string(), field.name.clone());
                    return Err(Error::new(Mistake::MissingArgument { function, name }, span));
                }
            };
            object.set(&field.name, value);
        }
        let function = class.name.to_string();
        if positional.next().is_some() {
            let takes = fields.iter().filter(|it| it.is_parameter).count();
            let given = n_given;
            return Err(Error::new(
                Mistake::TooManyArguments {
                    function,
                    takes,
                    given,
                },
                span,
            ));
        }
        match keywords.first() {
            None => Ok(()),
            Some((name, _)) => {
                let known = fields.iter().map(|it| &*it.name);
                Err(super::call::unexpected(&function, name, known, span))
            }
        }
    }

    /// The default of a field; a factory is called anew for every object.
    fn made_default(&mut self, default: &Value, span: Span) -> Result<Value> {
        match default {
            Value::Partial(it) if it.kwargs.iter().any(|it| &*it.0 == FACTORY) => {
                self.call(&it.callee, CallArgs::of(Vec::new(), span))
            }
            default => Ok(default.clone()),
        }
    }

    /// An attribute of an object: a field, or a member of its class.
    pub fn object_attribute(&mut self, object: &Rc<Object>, name: &Rc<str>, span: Span) -> Result<Value> {
        if let Some(value) = object.get(name) {
            return Ok(value);
        }
        let this = Value::Object(object.clone());
        if &**name == "__dict__" {
            return self.as_dict(CallArgs::of(vec![this], span));
        }
        if &**name == "__class__" {
            return Ok(Value::Class(object.class.clone()));
        }
        let Some((member, owner)) = object.class.find(name) else {
            let fields = object.fields.borrow();
            let known = object.class.names();
            let known = known.iter().map(|it| &**it).chain(fields.iter().map(|it| &*it.0));
            let of = format!("an object of {}", object.class.name);
            return Err(no_attribute(of, name, known, span));
        };
        match member.binding {
            Binding::Value | Binding::Static => Ok(member.value.clone()),
            Binding::Property => {
                let owner = owner.clone();
                self.call_member(&owner, &this, name, CallArgs::of(Vec::new(), span))
            }
            Binding::Method => Ok(Value::Method(Rc::new((this, name.clone())))),
            Binding::Class => Ok(Value::Method(Rc::new((
                Value::Class(object.class.clone()),
                name.clone(),
            )))),
        }
    }

    /// An attribute of a class; the names of an enumeration are its members.
    pub fn class_attribute(&mut self, class: &Rc<Class>, name: &Rc<str>, span: Span) -> Result<Value> {
        if &**name == "__name__" {
            return Ok(Value::Str(class.name.clone()));
        }
        if &**name == "__members__" && class.is_enum() {
            let mut dict = super::dict::Dict::default();
            for member in self.enum_members(class) {
                let Value::Object(object) = &member else { continue };
                let key = object.get("name").unwrap_or(Value::None);
                dict.insert(key.key().expect("names are hashable"), key, member.clone());
            }
            return Ok(Value::Dict(Rc::new(dict.into())));
        }
        let Some((member, _)) = class.find(name) else {
            let known = class.names();
            return Err(no_attribute(
                class.name.to_string(),
                name,
                known.iter().map(|it| &**it),
                span,
            ));
        };
        match member.binding {
            Binding::Value if class.is_enum() => Ok(enum_member(class, member)),
            Binding::Class => Ok(Value::Method(Rc::new((
                Value::Class(class.clone()),
                name.clone(),
            )))),
            _ => Ok(member.value.clone()),
        }
    }

    /// The members of an enumeration, in order.
    pub fn enum_members(&self, class: &Rc<Class>) -> Vec<Value> {
        let members = class
            .members
            .iter()
            .filter(|it| it.binding == Binding::Value && !it.name.starts_with('_'));
        members.map(|it| enum_member(class, it)).collect()
    }

    /// A method called on an object, on a class, or through `super()`.
    pub fn call_bound(&mut self, receiver: &Value, name: &Rc<str>, args: CallArgs) -> Result<Value> {
        let (class, receiver) = match receiver {
            Value::Object(object) => (object.class.clone(), receiver.clone()),
            Value::Class(class) => (class.clone(), receiver.clone()),
            Value::Super(it) => (it.0.clone(), it.1.clone()),
            _ => return Err(Error::type_error(format!("{name} is no method"), args.span)),
        };
        let Some((_, owner)) = class.find(name) else {
            let known = class.names();
            let of = format!("an object of {}", class.name);
            return Err(no_attribute(of, name, known.iter().map(|it| &**it), args.span));
        };
        let owner = owner.clone();
        self.call_member(&owner, &receiver, name, args)
    }

    /// Calls a function of a class with the receiver in front.
    fn call_member(
        &mut self,
        owner: &Rc<Class>,
        receiver: &Value,
        name: &str,
        mut args: CallArgs,
    ) -> Result<Value> {
        let Some((member, _)) = owner.find(name) else {
            unreachable!("the caller has found the member in this class");
        };
        let value = member.value.clone();
        if member.binding != Binding::Static {
            args.positional.insert(0, receiver.clone());
        }
        self.receivers.push((owner.clone(), receiver.clone()));
        let result = self.call(&value, args);
        self.receivers.pop();
        result
    }

    /// `super()` inside a method.
    pub fn super_of_method(&self, span: Span) -> Result<Value> {
        let Some((owner, receiver)) = self.receivers.last() else {
            return Err(Error::unsupported(
                "super() outside a method",
                "name the base class",
                span,
            ));
        };
        match &owner.base {
            Some(base) => Ok(Value::Super(Rc::new((base.clone(), receiver.clone())))),
            // NKIObject and object have an __init__ that does nothing.
            None => Ok(Value::library("typing", "object")),
        }
    }

    /// Whether a value is an object of a class.
    pub fn is_object_of(&self, value: &Value, class: &Rc<Class>) -> bool {
        matches!(value, Value::Object(object) if object.class.inherits(class))
    }

    /// A special method, such as `__len__`, if the class of an object has it.
    pub fn call_special(
        &mut self,
        object: &Rc<Object>,
        name: &str,
        args: Vec<Value>,
        span: Span,
    ) -> Option<Result<Value>> {
        object.class.find(name)?;
        Some(self.call_bound(
            &Value::Object(object.clone()),
            &name.into(),
            CallArgs::of(args, span),
        ))
    }

    /// `dataclasses.replace(object, field=…)`.
    pub fn replaced(&mut self, args: CallArgs) -> Result<Value> {
        let Some(Value::Object(object)) = args.positional.first() else {
            return Err(Error::type_error(
                "replace takes an object of a dataclass",
                args.span,
            ));
        };
        // The constructor is called with what is not replaced, as fields may follow from others in it.
        let mut keywords = args.keywords;
        for field in object.class.all_fields().iter().filter(|it| it.is_parameter) {
            if keywords.iter().all(|it| it.0 != field.name)
                && let Some(value) = object.get(&field.name)
            {
                keywords.push((field.name.clone(), value));
            }
        }
        self.construct(&object.class, CallArgs::with(Vec::new(), keywords, args.span))
    }

    /// `dataclasses.asdict(object)`.
    pub fn as_dict(&mut self, args: CallArgs) -> Result<Value> {
        let Some(Value::Object(object)) = args.positional.first() else {
            let kind = args
                .positional
                .first()
                .map_or("nothing".to_string(), |it| with_article(it.kind()));
            return Err(Error::type_error(
                format!("asdict takes an object of a dataclass, not {kind}"),
                args.span,
            ));
        };
        let mut dict = super::dict::Dict::default();
        for (name, value) in object.fields.borrow().iter() {
            let name = Value::Str(name.clone());
            dict.insert(name.key().expect("strings are hashable"), name, value.clone());
        }
        Ok(Value::Dict(Rc::new(dict.into())))
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

/// Marks the default of a field as a function that makes it.
const FACTORY: &str = "<factory>";

enum FieldDefault {
    Value(Value),
    Described { value: Option<Value>, is_init: bool },
}

fn enum_member(class: &Rc<Class>, member: &Member) -> Value {
    let fields = vec![
        ("name".into(), Value::Str(member.name.clone())),
        ("value".into(), member.value.clone()),
    ];
    Value::Object(Rc::new(Object {
        class: class.clone(),
        fields: RefCell::new(fields),
    }))
}
