//! Python's `repr()` of compile-time values.
//!
//! Takes values, gives text. What holds itself is shown as `...`, and text longer than a string may be is cut off, since
//! structures that share their parts have exponentially long ones.

use super::class::Object;
use super::value::Value;
use crate::limits::limits;
use std::fmt::Write;
use std::rc::Rc;

/// What nests deeper is shown as `...`.
const MAX_DEPTH: usize = 1_000;

impl Value {
    /// Python's `repr()`.
    pub fn repr(&self) -> String {
        let mut text = Text::default();
        text.value(self);
        text.out
    }
}

impl Object {
    pub fn repr(&self) -> String {
        let mut text = Text::default();
        text.object(self);
        text.out
    }
}

/// A text that is being written.
#[derive(Default)]
struct Text {
    out: String,
    /// The containers around what is written.
    open: Vec<*const ()>,
}

impl Text {
    fn value(&mut self, value: &Value) {
        if self.out.len() as u64 > limits().list_items {
            return;
        }
        match value {
            Value::None => self.out.push_str("None"),
            Value::Bool(true) => self.out.push_str("True"),
            Value::Bool(false) => self.out.push_str("False"),
            Value::Int(it) => self.push(it),
            Value::Float(it) => self.out.push_str(&float_repr(*it)),
            Value::Str(it) => self.out.push_str(&quote(it)),
            Value::Ellipsis => self.out.push_str("Ellipsis"),
            Value::Tuple(it) => self.nested(Rc::as_ptr(it).cast(), "(...)", |this| {
                this.out.push('(');
                this.items(it);
                this.out.push_str(if it.len() == 1 { ",)" } else { ")" });
            }),
            Value::List(it) => self.nested(Rc::as_ptr(it).cast(), "[...]", |this| {
                this.out.push('[');
                this.items(&it.borrow());
                this.out.push(']');
            }),
            Value::Dict(it) => self.nested(Rc::as_ptr(it).cast(), "{...}", |this| {
                this.out.push('{');
                for (idx, (key, value)) in it.borrow().entries().iter().enumerate() {
                    this.out.push_str(if idx == 0 { "" } else { ", " });
                    this.value(key);
                    this.out.push_str(": ");
                    this.value(value);
                }
                this.out.push('}');
            }),
            Value::Set(it) if it.borrow().len() == 0 => self.out.push_str("set()"),
            Value::Set(it) => {
                self.out.push('{');
                for (idx, (key, _)) in it.borrow().entries().iter().enumerate() {
                    self.out.push_str(if idx == 0 { "" } else { ", " });
                    self.value(key);
                }
                self.out.push('}');
            }
            Value::Slice(it) => {
                self.out.push_str("slice(");
                for (part, end) in [(&it.start, ", "), (&it.stop, ", "), (&it.step, ")")] {
                    self.value(part);
                    self.out.push_str(end);
                }
            }
            Value::Partial(it) => {
                self.out.push_str("functools.partial(");
                self.value(&it.callee);
                self.out.push(')');
            }
            Value::Object(it) => {
                self.nested(Rc::as_ptr(it).cast(), "...", |this| this.object(it));
            }
            value => self.out.push_str(&plain(value)),
        }
    }

    fn object(&mut self, object: &Object) {
        if object.class.is_enum() {
            let name = object.get("name").map_or(String::new(), |it| it.text());
            return self.push(format_args!("{}.{name}", object.class.name));
        }
        self.push(format_args!("{}(", object.class.name));
        let fields = object.fields();
        let shown = fields.iter().filter(|it| object.class.shows(&it.0));
        for (idx, (name, value)) in shown.enumerate() {
            self.out.push_str(if idx == 0 { "" } else { ", " });
            self.push(format_args!("{name}="));
            self.value(value);
        }
        self.out.push(')');
    }

    fn items(&mut self, items: &[Value]) {
        for (idx, item) in items.iter().enumerate() {
            self.out.push_str(if idx == 0 { "" } else { ", " });
            self.value(item);
        }
    }

    /// Writes a container, unless it is being written already.
    fn nested(&mut self, container: *const (), again: &str, write: impl FnOnce(&mut Text)) {
        if self.open.len() >= MAX_DEPTH || self.open.contains(&container) {
            self.out.push_str(again);
            return;
        }
        self.open.push(container);
        write(self);
        self.open.pop();
    }

    fn push(&mut self, it: impl std::fmt::Display) {
        write!(self.out, "{it}").expect("a string takes any text");
    }
}

/// What has no values inside.
fn plain(value: &Value) -> String {
    match value {
        Value::Range(it) if it.step == 1 => format!("range({}, {})", it.start, it.stop),
        Value::Range(it) => format!("range({}, {}, {})", it.start, it.stop, it.step),
        Value::Function(it) => format!("<function {}>", it.name()),
        Value::Method(it) => format!("<method {} of {}>", it.1, it.0.kind()),
        Value::Module(it) => format!("<module {it:?}>"),
        Value::Builtin(it) => format!("<class '{it}'>"),
        Value::Library(it) => format!("{}.{}", it.module, it.name),
        Value::Nl(it) => format!("nl.{it}"),
        Value::Isa(it) => format!("nisa.{}", it.name()),
        Value::Member(it) => format!("{}.{}", it.kind, it.name),
        Value::Dtype(it) => it.nki_name().to_string(),
        Value::NewerDtype(it) => it.to_string(),
        Value::Buffer(it) => it.name().to_string(),
        Value::Allocation(it) => it.region.name().to_string(),
        Value::Tensor(it) => {
            let shape: Vec<String> = it.shape().map(|it| it.to_string()).collect();
            let (region, dtype) = (it.region.name(), it.view.dtype.name());
            format!("<{region} tensor {dtype}[{}]>", shape.join(", "))
        }
        Value::Access(it) => plain(&Value::Tensor(Rc::new(it.tensor().clone()))),
        Value::Blocks(it) => format!("<blocks {:?}>", it.shape()),
        Value::Index(it) => format!("<index tensor {:?}>", it.sizes()),
        Value::Grid(it) => format!("<mgrid of {}>", it.len()),
        Value::Mask(it) => format!("<mask of {}>", it.conditions.len()),
        Value::ParDim(it) => it.to_string(),
        Value::Class(it) => format!("<class '{}'>", it.name),
        Value::Super(_) => "<super>".to_string(),
        Value::Array(it) => match it.borrow().item() {
            Ok(item) if it.borrow().n_dims() == 0 => super::host_bridge::from_arg(item).repr(),
            _ => it.borrow().to_string(),
        },
        Value::Host(it) => it.describe(),
        Value::Register(_) => "<register>".to_string(),
        Value::DynamicRange(_) => "<dynamic range>".to_string(),
        Value::Instruction(_) => "<instruction>".to_string(),
        Value::Scheduled(it) => it.kernel.repr(),
        Value::Unresolved(it) => format!("<unresolved import {it}>"),
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Str(_)
        | Value::Ellipsis
        | Value::Tuple(_)
        | Value::List(_)
        | Value::Dict(_)
        | Value::Set(_)
        | Value::Slice(_)
        | Value::Partial(_)
        | Value::Object(_) => value.repr(),
    }
}

/// Python's shortest text of a float.
pub fn float_repr(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_string();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.to_string();
    }
    let size = x.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{x:e}");
        let (mantissa, exponent) = text.split_once('e').expect("{:e} writes an exponent");
        let sign = if exponent.starts_with('-') { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:0>2}", exponent.trim_start_matches('-'));
    }
    let text = format!("{x}");
    if text.contains('.') {
        text
    } else {
        format!("{text}.0")
    }
}

fn quote(text: &str) -> String {
    let mark = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::from(mark);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == mark => {
                let _ = write!(out, "\\{c}");
            }
            c => out.push(c),
        }
    }
    out.push(mark);
    out
}
