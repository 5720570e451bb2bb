//! Classes, dataclasses, enumerations and their objects.
//!
//! What a class and an object are: names with values, found along the line of bases. How a class statement makes the one,
//! and a call the other, is in the files below. Nothing here reaches the device.

mod define;
mod construct;
mod member;

use super::dict::Key;
use super::value::Value;
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

    /// Whether an object's text shows a field: all do, unless annotations say which ones make the object.
    pub fn shows(&self, name: &str) -> bool {
        let fields = self.all_fields();
        fields.is_empty() || fields.iter().any(|it| &*it.name == name)
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
