//! Calls of classes: new objects, from `__init__` or from the fields.
//!
//! Takes a class and evaluated arguments, gives an object with its fields filled as Python would.

use super::super::Evaluator;
use super::super::error::{Error, Mistake, Result};
use super::super::eval::{CallArgs, with_article};
use super::super::value::Value;
use super::{Binding, Class, Kind, Object};
use crate::source::Span;
use std::cell::RefCell;
use std::rc::Rc;

/// Marks the default of a field as a function that makes it.
pub const FACTORY: &str = "<factory>";

impl Evaluator<'_> {
    /// A call of a class: a new object, or the member of an enumeration with a value.
    pub fn construct(&mut self, class: &Rc<Class>, args: CallArgs) -> Result<Value> {
        let span = args.span;
        if class.is_enum() {
            let [value] = args.bind(&class.name, ["value"], 1)?;
            let value = super::super::builtins::required(value);
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
                Err(super::super::call::unexpected(&function, name, known, span))
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
        let mut dict = super::super::dict::Dict::default();
        for (name, value) in object.fields.borrow().iter() {
            let name = Value::Str(name.clone());
            dict.insert(name.key().expect("strings are hashable"), name, value.clone());
        }
        Ok(Value::Dict(Rc::new(dict.into())))
    }
}
