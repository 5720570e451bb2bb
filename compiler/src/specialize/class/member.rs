//! What stands behind the dot: attributes of objects and classes, and calls of methods.
//!
//! Takes an object, a class or `super()` and a name, gives the value, or the method with its receiver.

use super::super::Evaluator;
use super::super::builtins::no_attribute;
use super::super::error::{Error, Result};
use super::super::eval::CallArgs;
use super::super::value::Value;
use super::{Binding, Class, Member, Object};
use crate::source::Span;
use std::cell::RefCell;
use std::rc::Rc;

impl Evaluator<'_> {
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
            let mut dict = super::super::dict::Dict::default();
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

    /// `object.name = value`: a property takes it by its setter.
    pub fn assign_attribute(
        &mut self,
        object: &Rc<Object>,
        name: &Rc<str>,
        value: Value,
        span: Span,
    ) -> Result<()> {
        let is_property = |it: (&Member, &Rc<Class>)| it.0.binding == Binding::Property;
        if !object.class.find(name).is_some_and(is_property) {
            object.set(name, value);
            return Ok(());
        }
        let setter = setter_of(name);
        if object.class.has(&setter) {
            let args = CallArgs::of(vec![value], span);
            return self
                .call_bound(&Value::Object(object.clone()), &setter, args)
                .map(drop);
        }
        let message = format!("the property `{name}` of {} has no setter", object.class.name);
        Err(Error::type_error(message, span))
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
    pub fn call_member(
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

/// The member that sets a property.
pub fn setter_of(property: &str) -> Rc<str> {
    format!("{property}.setter").into()
}
