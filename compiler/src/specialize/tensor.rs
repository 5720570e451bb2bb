//! Tensors: creation, attributes and the view methods of `isa.md` §4.3.
//!
//! Takes a tensor and evaluated arguments, gives another view of the same storage. Nothing here moves data; only
//! creation makes a buffer.

mod pattern;

use super::builtins::{no_attribute, required};
use super::dynamic::is_dynamic_index;
use super::error::{Error, Mistake, Result};
use super::eval::{CallArgs, with_article};
use super::index::{Pick, Window, bound, bounds, subscript, tensor_value};
use super::value::{Region, Tensor, Value};
use super::{Evaluator, layout, library};
use crate::dtype::Dtype;
use crate::host;
use crate::ir::{Buffer, Dim, MAX_DIMS, Request, Role, Shape, View};
use crate::source::Span;
use std::rc::Rc;

pub use pattern::pairs;

pub const ATTRIBUTES: &[&str] = &[
    "buffer", "dtype", "itemsize", "name", "ndim", "offset", "shape", "size", "strides",
];
pub const METHODS: &[&str] = &[
    "ap",
    "assert_shape",
    "astype",
    "broadcast",
    "broadcast_to",
    "expand_dim",
    "expand_dims",
    "flatten_dims",
    "get_pattern",
    "indirect",
    "is_contiguous",
    "is_indirect",
    "permute",
    "rearrange",
    "reinterpret_cast",
    "reshape",
    "reshape_dim",
    "select",
    "slice",
    "squeeze_dim",
    "vector_select",
    "view",
];

/// The most elements a tensor has: strides of a view are 32-bit.
const MAX_ELEMENTS: u64 = i32::MAX as u64;

/// What `nl.ndarray` and its relatives ask for.
pub struct Creation {
    pub shape: Vec<u32>,
    pub dtype: Dtype,
    pub region: Region,
    pub name: Option<Rc<str>>,
    pub request: Option<Request>,
    pub role: Role,
}

impl Evaluator<'_> {
    /// Makes a buffer and the view of all of it.
    pub fn create(&mut self, wanted: Creation, span: Span) -> Result<Tensor> {
        let Creation {
            shape,
            dtype,
            region,
            name,
            request,
            role,
        } = wanted;
        let base = name.unwrap_or_else(|| self.naming.clone().unwrap_or_else(|| "tile".into()));
        if region.memory().is_on_chip() {
            if shape.len() < 2 {
                return Err(Error::new(Mistake::OnChipRank { rank: shape.len() }, span));
            }
            let limit = self.target.partitions;
            if shape[0] > limit {
                let name = format!("the tile `{base}`");
                return Err(Error::new(
                    Mistake::TooManyPartitions {
                        name,
                        partitions: shape[0].into(),
                        limit,
                    },
                    span,
                ));
            }
        }
        let mut sizes = shape.iter().map(|&it| u64::from(it));
        let count = sizes.try_fold(1u64, u64::checked_mul).unwrap_or(u64::MAX);
        let shape = match Shape::new(&shape) {
            Some(it) if !it.is_empty() && it.iter().all(|&it| it > 0) && count <= MAX_ELEMENTS => it,
            Some(_) if count > MAX_ELEMENTS => {
                let message = format!("a tensor of {count} elements; at most {MAX_ELEMENTS} are supported");
                return Err(Error::new(Mistake::BadShape { message }, span));
            }
            Some(_) => {
                let message =
                    "every dimension of a tensor is at least 1, and there is at least one".to_string();
                return Err(Error::new(Mistake::BadShape { message }, span));
            }
            None => {
                let message = format!(
                    "{} dimensions; a tensor has at most {}",
                    shape.len(),
                    Shape::MAX_RANK
                );
                return Err(Error::new(Mistake::BadShape { message }, span));
            }
        };
        let name = self.unique_name(&base);
        let loc = Some(self.here(span));
        let buffer = Buffer {
            name,
            dtype,
            shape,
            memory: region.memory(),
            role,
            request,
            loc,
        };
        let id = self.program.add_buffer(buffer);
        if region == Region::SharedHbm {
            self.shared.push((id, self.program[id].name.clone()));
        }
        Ok(Tensor {
            view: View::whole(id, &self.program[id]),
            region,
        })
    }

    /// Elements per partition of a tensor's storage (all elements in HBM), in the view's dtype.
    pub fn free_count_of(&self, tensor: &Tensor) -> i64 {
        let bytes = self.program[tensor.buffer()].bytes();
        (bytes / u64::from(tensor.view.dtype.size())) as i64
    }

    pub fn tensor_attribute(&mut self, tensor: &Rc<Tensor>, name: &Rc<str>, span: Span) -> Result<Value> {
        let ints = |it: Vec<i64>| Value::tuple(it.into_iter().map(Value::Int).collect());
        let view = &tensor.view;
        Ok(match &**name {
            "shape" => ints(tensor.shape().map(i64::from).collect()),
            "dtype" => Value::Dtype(view.dtype),
            "buffer" => Value::Buffer(tensor.region),
            "ndim" => Value::Int(view.dims().len() as i64),
            "itemsize" => Value::Int(i64::from(view.dtype.size())),
            "size" => Value::Int(view.count() as i64),
            "name" => Value::str(&self.program[view.buffer].name.base),
            "strides" => {
                let mut strides: Vec<i64> = view.dims().iter().map(|it| i64::from(it.stride)).collect();
                if tensor.is_on_chip() {
                    strides[0] = self.free_count_of(tensor);
                }
                ints(strides)
            }
            "offset" => Value::Int(i64::from(view.partition) * self.free_count_of(tensor) + view.offset),
            it if METHODS.contains(&it) => {
                Value::Method(Rc::new((Value::Tensor(tensor.clone()), name.clone())))
            }
            _ => {
                let known = ATTRIBUTES.iter().chain(METHODS).copied();
                return Err(no_attribute("a tensor".to_string(), name, known, span));
            }
        })
    }

    pub fn tensor_method(&mut self, tensor: &Rc<Tensor>, name: &Rc<str>, args: CallArgs) -> Result<Value> {
        let span = args.span;
        let rank = tensor.view.dims().len();
        let view = match &**name {
            "slice" => {
                let [dim, start, end, step] = args.bind(name, ["dim", "start", "end", "step"], 3)?;
                let dim = axis(&required(dim), rank, span)?;
                let mut keys = [Pick::Slice(None, None, None); MAX_DIMS];
                let step = bound(&step.unwrap_or(Value::None), span)?;
                keys[dim] = Pick::Slice(bound(&required(start), span)?, bound(&required(end), span)?, step);
                subscript(tensor, &keys[..rank], span)?
            }
            "select" => {
                let [dim, index] = args.bind(name, ["dim", "index"], 2)?;
                let (dim, index) = (axis(&required(dim), rank, span)?, required(index));
                if is_dynamic_index(&index) && !(tensor.is_on_chip() && dim == 0) {
                    self.select_dynamic(tensor, dim, &index, span)?
                } else {
                    select(tensor, dim, &index, span)?
                }
            }
            "vector_select" => {
                let [dim, offsets] = args.bind(name, ["dim", "vector_offset"], 2)?;
                if axis(&required(dim), rank, span)? != 0 {
                    let message = "vector_select of a dimension other than 0".to_string();
                    let help = "permute the tensor so that the rows come first".to_string();
                    return Err(Error::new(Mistake::View { message, help }, span));
                }
                self.select_rows(tensor, &required(offsets), span)?
            }
            "permute" => {
                let [dims] = args.bind(name, ["dims"], 1)?;
                layout::permute(tensor, &int_list(&required(dims), "dims", span)?, span)?
            }
            "broadcast" => {
                let [dim, size] = args.bind(name, ["dim", "size"], 2)?;
                let dim = axis(&required(dim), rank, span)?;
                layout::broadcast(tensor, dim, int(&required(size), "size", span)?, span)?
            }
            "broadcast_to" => {
                let [shape] = args.bind(name, ["shape"], 1)?;
                let shape = int_list(&required(shape), "shape", span)?;
                // Views cannot cross partitions; kernels of the classic style ask for it all the same.
                let crosses = tensor.is_on_chip()
                    && tensor.view.partitions() == 1
                    && shape.first().is_some_and(|it| *it > 1);
                match super::create::shape_of(
                    &Value::tuple(shape.iter().map(|&it| Value::Int(it)).collect()),
                    span,
                ) {
                    Ok(sizes) if crosses && sizes[0] <= self.target.partitions => {
                        self.broadcast(tensor, &sizes, span)?
                    }
                    _ => layout::broadcast_to(tensor, &shape, span)?,
                }
            }
            "expand_dim" => {
                let [dim] = args.bind(name, ["dim"], 1)?;
                layout::expand_dim(tensor, axis(&required(dim), rank + 1, span)?, span)?
            }
            // The classic tensor's names of what views and functions do.
            "expand_dims" if self.is_classic => {
                let [dim] = args.bind(name, ["axis"], 1)?;
                layout::expand_dim(tensor, axis(&required(dim), rank + 1, span)?, span)?
            }
            "assert_shape" if self.is_classic => {
                let [shape] = args.bind(name, ["shape"], 1)?;
                let wanted = int_list(&required(shape), "shape", span)?;
                let is: Vec<i64> = tensor.shape().map(i64::from).collect();
                if is != wanted {
                    let message = format!("the tensor is {is:?}, not {wanted:?}");
                    return Err(Error::value_error(message, span));
                }
                Tensor::clone(tensor)
            }
            "astype" if self.is_classic => {
                let [dtype] = args.bind(name, ["dtype"], 1)?;
                let copied = CallArgs {
                    positional: vec![Value::Tensor(tensor.clone())],
                    keywords: vec![("dtype".into(), required(dtype))],
                    keyword_spans: vec![span],
                    span,
                };
                return self.call_language("copy", copied);
            }
            "squeeze_dim" => {
                let [dim] = args.bind(name, ["dim"], 1)?;
                layout::squeeze_dim(tensor, axis(&required(dim), rank, span)?, span)?
            }
            "reshape_dim" => {
                let [dim, shape] = args.bind(name, ["dim", "shape"], 2)?;
                let dim = axis(&required(dim), rank, span)?;
                layout::reshape_dim(tensor, dim, &int_list(&required(shape), "shape", span)?, span)?
            }
            "flatten_dims" => {
                let [first, last] = args.bind(name, ["start_dim", "end_dim"], 2)?;
                let (first, last) = (
                    axis(&required(first), rank, span)?,
                    axis(&required(last), rank, span)?,
                );
                layout::flatten_dims(tensor, first, last, span)?
            }
            "reshape" => {
                let [shape] = args.bind(name, ["shape"], 1)?;
                let shape = self.whole_sizes(required(shape), span);
                layout::reshape(tensor, &int_list(&shape, "shape", span)?, span)?
            }
            "rearrange" => {
                let [from, to, sizes] = args.bind(name, ["src_pattern", "dst_pattern", "fixed_sizes"], 2)?;
                layout::rearrange(tensor, &required(from), &required(to), sizes.as_ref(), span)?
            }
            "view" | "reinterpret_cast" => {
                let [dtype] = args.bind(name, ["dtype"], 1)?;
                layout::reinterpret(tensor, self.dtype_of(&required(dtype), span)?, span)?
            }
            "ap" => self.access_pattern(tensor, args)?,
            "indirect" => {
                let (what, since) = ("`.indirect()`".to_string(), "NeuronCore-v4");
                let help = "use nisa.nc_n_gather, or an indirect dma_copy".to_string();
                return Err(Error::new(Mistake::NewerOnly { what, since, help }, span));
            }
            "get_pattern" => {
                let pair = |stride: i64, count: u32| {
                    Value::list(vec![Value::Int(stride), Value::Int(i64::from(count))])
                };
                let free = self.free_count_of(tensor);
                let dims = tensor.view.dims().iter().enumerate();
                let stride = |dim, it: &Dim| {
                    if dim == 0 && tensor.is_on_chip() {
                        free
                    } else {
                        i64::from(it.stride)
                    }
                };
                return Ok(Value::list(
                    dims.map(|(dim, it)| pair(stride(dim, it), it.count)).collect(),
                ));
            }
            "is_contiguous" => return Ok(Value::Bool(layout::is_contiguous(tensor))),
            "is_indirect" => return Ok(Value::Bool(tensor.view.dynamic.is_some())),
            _ => {
                return Err(no_attribute(
                    "a tensor".to_string(),
                    name,
                    METHODS.iter().copied(),
                    span,
                ));
            }
        };
        Ok(tensor_value(view))
    }

    /// Sizes of which some are floats without a fraction, as kernels of the classic style compute them with `/`.
    fn whole_sizes(&mut self, sizes: Value, span: Span) -> Value {
        let whole = |it: &Value| match it {
            Value::Float(it) if it.fract() == 0.0 && it.abs() < f64::from(u32::MAX) => Some(*it as i64),
            _ => None,
        };
        let Some(items) = sizes
            .items()
            .filter(|it| self.is_classic && it.iter().any(|it| whole(it).is_some()))
        else {
            return sizes;
        };
        self.warn(super::warning::Warning::FloatSize, span);
        let items = items
            .iter()
            .map(|it| whole(it).map_or_else(|| it.clone(), Value::Int));
        Value::tuple(items.collect())
    }

    /// The dtype a value names: a dtype, NumPy's name for one, or a string.
    pub fn dtype_of(&self, value: &Value, span: Span) -> Result<Dtype> {
        match value {
            Value::Dtype(it) => Ok(*it),
            Value::NewerDtype(name) => {
                let unknown = || Error::type_error(format!("{name} is no dtype of NeuronCore-v2"), span);
                Err(library::newer_dtype("nl.", name, span).unwrap_or_else(unknown))
            }
            Value::Str(it) => Dtype::from_name(it).ok_or_else(|| {
                let unknown =
                    || Error::type_error(format!("{} is no dtype of NeuronCore-v2", value.repr()), span);
                library::newer_dtype("", it, span).unwrap_or_else(unknown)
            }),
            Value::Host(it) => {
                let host::Arg::Dtype(dtype) = **it else {
                    return Err(Error::type_error(
                        format!("{} is no dtype", with_article(value.kind())),
                        span,
                    ));
                };
                let unknown =
                    || Error::type_error(format!("{} is no dtype of NeuronCore-v2", dtype.name()), span);
                Err(library::newer_dtype("", dtype.name(), span).unwrap_or_else(unknown))
            }
            Value::Builtin("float") => Ok(Dtype::F32),
            Value::Builtin("int") => Ok(Dtype::I32),
            Value::Builtin("bool") => Ok(Dtype::Bool),
            Value::Nl(name) if Dtype::from_name(name).is_some() => {
                Ok(Dtype::from_name(name).unwrap_or(Dtype::F32))
            }
            _ => Err(Error::type_error(
                format!("{} is no dtype", with_article(value.kind())),
                span,
            )),
        }
    }
}

fn select(tensor: &Tensor, dim: usize, index: &Value, span: Span) -> Result<Tensor> {
    let Some(at) = index.as_int() else {
        return Err(Error::unsupported(
            "a run-time index in select",
            "use an index that is known at compile time",
            span,
        ));
    };
    if tensor.is_on_chip() && dim == 0 {
        let help = "slice the partition dimension instead: it stays with size 1".to_string();
        return Err(Error::new(
            Mistake::View {
                message: "select drops the partition dimension".to_string(),
                help,
            },
            span,
        ));
    }
    let size = i64::from(tensor.view.dims()[dim].count);
    let (start, ..) = bounds((Some(at), None, None), size, dim, span)?;
    let mut window = Window::of(tensor);
    window.advance(dim, start);
    let mut dims = tensor.view.dims().to_vec();
    dims.remove(dim);
    if dims.is_empty() || (tensor.is_on_chip() && dims.len() == 1) {
        dims.push(Dim { stride: 1, count: 1 });
    }
    Ok(window.finish(tensor, &dims))
}

/// An integer argument.
pub fn int(value: &Value, what: &str, span: Span) -> Result<i64> {
    value.as_int().ok_or_else(|| {
        Error::type_error(
            format!("{what} is an int, not {}", with_article(value.kind())),
            span,
        )
    })
}

/// A list of integers, or one integer.
pub fn int_list(value: &Value, what: &str, span: Span) -> Result<Vec<i64>> {
    if let Value::Tuple(items) = value {
        return items.iter().map(|it| int(it, what, span)).collect();
    }
    match (value.items(), value.as_int()) {
        (Some(items), _) => items.iter().map(|it| int(it, what, span)).collect(),
        (None, Some(it)) => Ok(vec![it]),
        _ => Err(Error::type_error(
            format!("{what} is a tuple of ints, not {}", with_article(value.kind())),
            span,
        )),
    }
}

/// An axis, possibly counted from the end.
pub fn axis(value: &Value, rank: usize, span: Span) -> Result<usize> {
    super::index::position(int(value, "the dimension", span)?, rank as i64, "shape", span)
}
