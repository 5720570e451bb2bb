//! Compile-time values of the kernel language.
//!
//! Gives the value type, Python's truth, equality, order and text of values. Holds no evaluation: operators are in
//! `operate.rs`, calls in `call.rs`.

use super::access::Access;
use super::affine::Affine;
use super::allocation::Allocation;
use super::blocks::Blocks;
use super::class::{Class, Object};
use super::compared;
use super::dict::{Dict, Key};
use super::dynamic::{DynamicRange, RegisterValue};
use super::mask::Mask;
use super::ordering::{Handle, Scheduled};
use super::scope::Frame;
use crate::ast;
use crate::dtype::Dtype;
use crate::host::{Arg, HostArray};
use crate::ir::{BufferId, View};
use crate::isa::{Memory, Op};
use std::cell::RefCell;
use std::rc::Rc;

/// A compile-time value. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Value {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<str>),
    Ellipsis,
    Tuple(Rc<Vec<Value>>),
    List(Rc<RefCell<Vec<Value>>>),
    Dict(Rc<RefCell<Dict>>),
    /// A set is a dict whose values are `None`.
    Set(Rc<RefCell<Dict>>),
    Range(Rc<Range>),
    Slice(Rc<SliceValue>),
    Function(Rc<Closure>),
    /// A function with some arguments already given (`functools.partial`).
    Partial(Rc<Partial>),
    /// A method of a value, not called yet.
    Method(Rc<(Value, Rc<str>)>),
    Module(Module),
    /// A function or type of the language itself: `len`, `int`, `ValueError`.
    Builtin(&'static str),
    /// A function of a module, e.g. `math.ceil`.
    Library(Rc<Library>),
    /// `nl.NAME`: callable, and an operator when passed as one.
    Nl(&'static str),
    /// An instruction.
    Isa(Op),
    /// A member of one of NKI's enumerations.
    Member(&'static Member),
    Dtype(Dtype),
    /// A dtype that newer NeuronCores have: it can be compared, but not used.
    NewerDtype(&'static str),
    Buffer(Region),
    /// A region, and where tiles lie in it.
    Allocation(Rc<Allocation>),
    Tensor(Rc<Tensor>),
    /// A view that reaches outside its tensor: legal only under a mask.
    Access(Rc<Access>),
    /// A tensor with block dimensions: one tile per block index.
    Blocks(Rc<Blocks>),
    /// An index tensor: `nl.arange(128)[:, None]`.
    Index(Rc<Affine>),
    /// The index tensors of an `nl.mgrid`.
    Grid(Rc<Vec<Value>>),
    /// A comparison of index tensors.
    Mask(Rc<Mask>),
    /// `nl.par_dim(size)` in a shape.
    ParDim(i64),
    Class(Rc<Class>),
    /// An instance of a class, or a member of an enumeration.
    Object(Rc<Object>),
    /// `super()`: the base class, and the object whose method it stands in.
    Super(Rc<(Rc<Class>, Value)>),
    Array(Rc<RefCell<HostArray>>),
    /// A thing of NumPy's that is no array: a dtype the device does not have, `np.finfo`, a random generator.
    Host(Rc<Arg>),
    /// A register of the device.
    Register(RegisterValue),
    DynamicRange(Rc<DynamicRange>),
    /// What an instruction call returns.
    Instruction(Handle),
    /// `kernel.with_schedule(pairs)`
    Scheduled(Rc<Scheduled>),
    /// A name whose import could not be resolved; an error only where it is used.
    Unresolved(Rc<str>),
}

/// The memory a tensor is asked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    Sbuf,
    Psum,
    /// Visible to all programs of a launch: what a kernel returns.
    SharedHbm,
    PrivateHbm,
    Hbm,
}

/// NKI's name of each region, read both ways.
pub const REGIONS: &[(Region, &str)] = &[
    (Region::Sbuf, "sbuf"),
    (Region::Psum, "psum"),
    (Region::SharedHbm, "shared_hbm"),
    (Region::PrivateHbm, "private_hbm"),
    (Region::Hbm, "hbm"),
];

impl Region {
    pub fn memory(self) -> Memory {
        match self {
            Region::Sbuf => Memory::Sbuf,
            Region::Psum => Memory::Psum,
            Region::SharedHbm | Region::PrivateHbm | Region::Hbm => Memory::Hbm,
        }
    }

    pub fn name(self) -> &'static str {
        REGIONS
            .iter()
            .find(|it| it.0 == self)
            .expect("REGIONS lists every region")
            .1
    }
}

/// A view of a tensor's storage, as the kernel holds it.
#[derive(Clone, Debug)]
pub struct Tensor {
    pub view: View,
    pub region: Region,
}

impl Tensor {
    pub fn buffer(&self) -> BufferId {
        self.view.buffer
    }

    pub fn shape(&self) -> impl Iterator<Item = u32> + '_ {
        self.view.dims().iter().map(|it| it.count)
    }

    pub fn is_on_chip(&self) -> bool {
        self.region.memory().is_on_chip()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub start: i64,
    pub stop: i64,
    pub step: i64,
}

impl Range {
    /// Its numbers; no kernel runs through more than an `i64` counts.
    pub fn len(&self) -> i64 {
        let (start, stop, step) = (
            i128::from(self.start),
            i128::from(self.stop),
            i128::from(self.step),
        );
        let span = if step > 0 { stop - start } else { start - stop };
        if span <= 0 {
            0
        } else {
            i64::try_from((span - 1) / step.abs() + 1).unwrap_or(i64::MAX)
        }
    }

    /// The number at a place below its length. Places of very long ranges are beyond 64 bits as offsets, not as numbers.
    pub fn get(&self, idx: i64) -> i64 {
        self.start.wrapping_add(idx.wrapping_mul(self.step))
    }
}

/// `slice(start, stop, step)`, `a:b:c` and `nl.ds(start, size)`.
#[derive(Clone, Debug)]
pub struct SliceValue {
    pub start: Value,
    pub stop: Value,
    pub step: Value,
}

/// A `def` or lambda with the frame it was made in.
#[derive(Debug)]
pub struct Closure {
    pub function: Rc<ast::Function>,
    pub defaults: Vec<Option<Value>>,
    pub frame: Option<Rc<Frame>>,
    pub module: ModuleId,
}

impl Closure {
    pub fn name(&self) -> &str {
        self.function.name.as_ref().map_or("lambda", |it| &it.name)
    }
}

#[derive(Debug)]
pub struct Partial {
    pub callee: Value,
    pub args: Vec<Value>,
    pub kwargs: Vec<(Rc<str>, Value)>,
}

/// A loaded source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(pub usize);

/// A module as a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Module {
    Nki,
    Language,
    Isa,
    TileSize,
    /// `nl.constants`.
    Constants,
    Typing,
    /// `nki.collectives`.
    Collectives,
    /// An enumeration of `nki.isa`, e.g. `engine`.
    Enumeration(&'static str),
    Numpy,
    /// `np.random`, `np.linalg`, `scipy.special`.
    NumpyPart(&'static str),
    /// `math`, `functools`, `operator`, `typing`, …
    Library(&'static str),
    File(ModuleId),
}

/// A function of a library module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    pub module: &'static str,
    pub name: Rc<str>,
}

/// A member of an enumeration of `nki.isa`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub kind: &'static str,
    pub name: &'static str,
    pub value: i64,
}

impl Value {
    pub fn str(text: impl AsRef<str>) -> Value {
        Value::Str(text.as_ref().into())
    }

    pub fn tuple(items: Vec<Value>) -> Value {
        Value::Tuple(Rc::new(items))
    }

    pub fn list(items: Vec<Value>) -> Value {
        Value::List(Rc::new(RefCell::new(items)))
    }

    pub fn library(module: &'static str, name: impl AsRef<str>) -> Value {
        Value::Library(Rc::new(Library {
            module,
            name: name.as_ref().into(),
        }))
    }

    pub fn slice(start: Value, stop: Value, step: Value) -> Value {
        Value::Slice(Rc::new(SliceValue { start, stop, step }))
    }

    /// The kind of value, in the user's words.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::None => "None",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float",
            Value::Str(_) => "str",
            Value::Ellipsis => "ellipsis",
            Value::Tuple(_) => "tuple",
            Value::List(_) => "list",
            Value::Dict(_) => "dict",
            Value::Set(_) => "set",
            Value::Range(_) => "range",
            Value::Slice(_) => "slice",
            Value::Function(_) | Value::Partial(_) | Value::Nl(_) | Value::Library(_) => "function",
            Value::Method(_) => "method",
            Value::Module(_) => "module",
            Value::Builtin(name) if name.starts_with(char::is_uppercase) => "exception type",
            Value::Builtin(_) => "builtin",
            Value::Isa(_) => "instruction",
            Value::Member(it) => it.kind,
            Value::Dtype(_) | Value::NewerDtype(_) => "dtype",
            Value::Buffer(_) | Value::Allocation(_) => "memory region",
            Value::Tensor(_) | Value::Access(_) | Value::Blocks(_) => "tensor",
            Value::Index(_) => "index tensor",
            Value::Grid(_) => "mgrid",
            Value::Mask(_) => "mask",
            Value::ParDim(_) => "int",
            Value::Class(_) => "class",
            Value::Object(_) | Value::Super(_) => "object",
            Value::Array(_) => "array",
            Value::Host(_) => "NumPy object",
            Value::Register(_) => "register",
            Value::DynamicRange(_) => "dynamic range",
            Value::Instruction(_) => "instruction handle",
            Value::Scheduled(_) => "scheduled kernel",
            Value::Unresolved(_) => "unresolved import",
        }
    }

    /// Python's truth. A tensor is true: it is the object that is asked, not its elements.
    pub fn truth(&self) -> bool {
        match self {
            Value::None => false,
            Value::Bool(it) => *it,
            Value::Int(it) => *it != 0,
            Value::Float(it) => *it != 0.0,
            Value::Str(it) => !it.is_empty(),
            Value::Tuple(it) => !it.is_empty(),
            Value::List(it) => !it.borrow().is_empty(),
            Value::Dict(it) | Value::Set(it) => it.borrow().len() > 0,
            Value::Range(it) => it.len() > 0,
            _ => true,
        }
    }

    /// The integer in an int or a bool.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(it) => Some(*it),
            Value::Bool(it) => Some(i64::from(*it)),
            Value::ParDim(it) => Some(*it),
            Value::Object(it) => it.as_int(),
            _ => None,
        }
    }

    /// The number in an int, a bool or a float.
    pub fn as_float(&self) -> Option<f64> {
        match self {
            Value::Float(it) => Some(*it),
            _ => self.as_int().map(|it| it as f64),
        }
    }

    /// The items of a tuple or a list.
    pub fn items(&self) -> Option<Vec<Value>> {
        match self {
            Value::Tuple(it) => Some(it.to_vec()),
            Value::List(it) => Some(it.borrow().clone()),
            Value::Object(it) => it.items(),
            _ => None,
        }
    }

    /// The value as a dict key.
    pub fn key(&self) -> Option<Key> {
        let _comparison = compared::enter()?;
        Some(match self {
            Value::None => Key::None,
            Value::Bool(_) | Value::Int(_) | Value::ParDim(_) => Key::Int(self.as_int()?),
            // Equal numbers are equal keys: 1.0 finds 1.
            Value::Float(it) if it.fract() == 0.0 && it.abs() < 9e15 => Key::Int(*it as i64),
            Value::Float(it) => Key::Float(it.to_bits()),
            Value::Str(it) => Key::Str(it.clone()),
            Value::Tuple(it) => Key::Tuple(it.iter().map(Value::key).collect::<Option<_>>()?),
            Value::Dtype(it) => Key::Dtype(*it),
            Value::NewerDtype(it) => Key::Named("dtype", it),
            Value::Object(it) => it.key()?,
            Value::Class(it) => Key::Tuple(vec![Key::Named("class", ""), Key::Str(it.name.clone())]),
            Value::Buffer(it) => Key::Named("region", it.name()),
            Value::Member(it) => Key::Named(it.kind, it.name),
            Value::Nl(it) => Key::Named("nl", it),
            Value::Builtin(it) => Key::Named("builtin", it),
            Value::Isa(it) => Key::Named("isa", it.name()),
            _ => return None,
        })
    }

    /// Python's `==`, by structure. Arrays are compared by `operate.rs` before they get here.
    pub fn equals(&self, other: &Value) -> bool {
        let Some(_comparison) = compared::enter() else {
            return false;
        };
        match (self, other) {
            (Value::Tuple(a), Value::Tuple(b)) => Rc::ptr_eq(a, b) || all_equal(a, b),
            (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b) || all_equal(&a.borrow(), &b.borrow()),
            (Value::Dict(a), Value::Dict(b)) | (Value::Set(a), Value::Set(b)) => {
                let (a, b) = (a.borrow(), b.borrow());
                let matches = |(key, value): &(Value, Value)| {
                    key.key()
                        .and_then(|it| b.get(&it).map(|it| it.equals(value)))
                        .unwrap_or(false)
                };
                a.len() == b.len() && a.entries().iter().all(matches)
            }
            (Value::Range(a), Value::Range(b)) => a == b,
            (Value::Slice(a), Value::Slice(b)) => {
                a.start.equals(&b.start) && a.stop.equals(&b.stop) && a.step.equals(&b.step)
            }
            (Value::Ellipsis, Value::Ellipsis) => true,
            (Value::Object(a), Value::Object(b)) => a.equals(b),
            _ => match (self.as_float(), other.as_float()) {
                (Some(a), Some(b)) => a == b,
                _ => self.is_same(other),
            },
        }
    }

    /// Python's `is`, and equality of things that have no structure.
    pub fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b),
            (Value::Dict(a), Value::Dict(b)) | (Value::Set(a), Value::Set(b)) => Rc::ptr_eq(a, b),
            (Value::Function(a), Value::Function(b)) => Rc::ptr_eq(a, b),
            (Value::Tensor(a), Value::Tensor(b)) => a.view == b.view,
            (Value::Access(a), Value::Access(b)) => Rc::ptr_eq(a, b),
            (Value::Class(a), Value::Class(b)) => Rc::ptr_eq(a, b),
            // Members of an enumeration are made anew for each use, and are one thing all the same.
            (Value::Object(a), Value::Object(b)) => Rc::ptr_eq(a, b) || (a.key().is_some() && a.equals(b)),
            (Value::Allocation(a), Value::Allocation(b)) => Rc::ptr_eq(a, b),
            (Value::Blocks(a), Value::Blocks(b)) => a.is_same(b),
            (Value::Index(a), Value::Index(b)) => a == b,
            (Value::Mask(a), Value::Mask(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => Rc::ptr_eq(a, b),
            (Value::Register(a), Value::Register(b)) => a == b,
            (Value::Instruction(a), Value::Instruction(b)) => a == b,
            (Value::Module(a), Value::Module(b)) => a == b,
            (Value::Library(a), Value::Library(b)) => a == b,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Bool(_), _) | (_, Value::Bool(_)) => false,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Float(_), _) | (_, Value::Float(_)) => false,
            _ => match (self.key(), other.key()) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
        }
    }

    /// Python's `str()`.
    pub fn text(&self) -> String {
        match self {
            Value::Str(it) => it.to_string(),
            _ => self.repr(),
        }
    }
}

fn all_equal(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b))
}
