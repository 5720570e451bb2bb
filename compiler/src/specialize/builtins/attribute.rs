//! Attributes of values of every kind, and of modules: what stands behind the dot.
//!
//! Takes a value and a name, gives the attribute, or a method that is not called yet. The kinds with attributes of their own
//! have them in their files.

use super::super::affine::GRID_AXES;
use super::super::error::{Error, Mistake, Result, closest};
use super::super::eval::with_article;
use super::super::value::{Module, Value};
use super::super::{Evaluator, host_bridge, library};
use crate::dtype::Dtype;
use crate::host::HostDtype;
use crate::source::Span;
use std::rc::Rc;

impl Evaluator<'_> {
    /// An attribute of a value, or a method of it that is not called yet.
    pub fn attribute(&mut self, value: &Value, name: &Rc<str>, span: Span) -> Result<Value> {
        match value {
            Value::Tensor(tensor) => self.tensor_attribute(tensor, name, span),
            Value::Module(module) => self.module_attribute(module, name, span),
            Value::Array(array) => host_bridge::attribute(array, name, span),
            Value::Host(it) => host_bridge::other_attribute(it, name, span),
            Value::Function(closure) if &**name == "__name__" => Ok(Value::str(closure.name())),
            Value::Library(it) if it.module == "nki" => Ok(match (&*it.name, &**name) {
                ("compiler", _) => Value::library("nki", name),
                (memory @ ("sbuf" | "psum"), _) => Value::library("ncc", format!("{memory}.{name}")),
                _ => value.clone(),
            }),
            Value::Library(it) => library::attribute(it.module, &it.name, name, span),
            Value::Slice(it) if &**name == "start" => Ok(it.start.clone()),
            Value::Slice(it) if &**name == "stop" => Ok(it.stop.clone()),
            Value::Slice(it) if &**name == "step" => Ok(it.step.clone()),
            // `np.dtype(np.float32).type(0.5)`: the scalar type is the dtype, called.
            Value::Dtype(_) if matches!(&**name, "type" | "dtype") => Ok(value.clone()),
            Value::Dtype(it) if matches!(&**name, "min" | "max") => Ok(dtype_limit(*it, &**name == "min")),
            Value::Dtype(it) if &**name == "itemsize" => Ok(Value::Int(i64::from(it.size()))),
            Value::Dtype(it) if matches!(&**name, "name" | "__name__") => Ok(Value::str(it.nki_name())),
            Value::Dtype(it) if matches!(&**name, "eps" | "tiny") => {
                let info = crate::host::Arg::Info(HostDtype::from(*it));
                host_bridge::other_attribute(&Rc::new(info), name, span)
            }
            Value::Member(it) if &**name == "name" => Ok(Value::str(it.name)),
            Value::Member(it) if &**name == "value" => Ok(Value::Int(it.value)),
            Value::Access(it) if matches!(&**name, "shape" | "dtype" | "ndim" | "buffer") => {
                self.tensor_attribute(&Rc::new(it.tensor().clone()), name, span)
            }
            Value::Access(it) => Err(it.outside()),
            Value::Blocks(it) => self.blocks_attribute(it, name, span),
            Value::Index(it) if &**name == "shape" => Ok(Value::tuple(
                it.sizes().iter().map(|&it| Value::Int(it.into())).collect(),
            )),
            Value::Object(object) => self.object_attribute(object, name, span),
            Value::Class(class) => self.class_attribute(class, name, span),
            // What `object` and `NKIObject` have does nothing.
            Value::Super(it) if !it.0.has(name) => Ok(Value::library("typing", name)),
            Value::Super(_) => Ok(Value::Method(Rc::new((value.clone(), name.clone())))),
            Value::Grid(axes) => match GRID_AXES
                .iter()
                .position(|it| *it == &**name)
                .and_then(|it| axes.get(it))
            {
                Some(axis) => Ok(axis.clone()),
                None => Err(no_attribute(
                    "nl.mgrid".to_string(),
                    name,
                    GRID_AXES.iter().copied(),
                    span,
                )),
            },
            _ => {
                let methods = super::super::method::names(value);
                if methods.contains(&&**name) {
                    return Ok(Value::Method(Rc::new((value.clone(), name.clone()))));
                }
                Err(no_attribute(
                    with_article(value.kind()),
                    name,
                    methods.iter().copied(),
                    span,
                ))
            }
        }
    }

    /// An attribute of a module.
    fn module_attribute(&mut self, module: &Module, name: &Rc<str>, span: Span) -> Result<Value> {
        match module {
            Module::File(id) => match self.global(*id, name)? {
                Some(value) => Ok(value),
                None => {
                    let known = self.global_names(*id);
                    Err(no_attribute(
                        "the module".to_string(),
                        name,
                        known.iter().map(String::as_str),
                        span,
                    ))
                }
            },
            other => library::member(self, other, name, span),
        }
    }
}

/// The least or the greatest finite value of a dtype.
fn dtype_limit(dtype: Dtype, is_least: bool) -> Value {
    let (least, greatest) = HostDtype::from(dtype).limits();
    let limit = if is_least { least } else { greatest };
    if dtype.is_int() {
        Value::Int(limit as i64)
    } else {
        Value::Float(limit)
    }
}

/// The error for an attribute that a thing does not have.
pub fn no_attribute<'a>(
    of: String,
    name: &str,
    known: impl Iterator<Item = &'a str>,
    span: Span,
) -> Box<Error> {
    let suggestion = closest(name, known);
    Error::new(
        Mistake::NoAttribute {
            of,
            name: name.into(),
            suggestion,
        },
        span,
    )
}
