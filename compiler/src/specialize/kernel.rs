//! Whole kernels: finding one, binding its arguments, collecting its results; and host functions, evaluated on arrays.

mod choose;
mod results;

use super::Evaluator;
use super::call::{in_places, unexpected};
use super::constant::ArrayLoader;
use super::error::{Error, Mistake, Result, closest};
use super::eval::CallArgs;
use super::history::Dialect;
use super::host_bridge::from_arg;
use super::modules::{Loader, ModuleEnv};
use super::scope::{Frame, Scope};
use super::tensor::Creation;
use super::value::{ModuleId, Region, Value};
use crate::ast;
use crate::ast::{Expr, Function, ParamKind};
use crate::diagnostic::{Diagnostic, Report};
use crate::dtype::Dtype;
use crate::host::{Arg, HostArray};
use crate::ir::{BufferId, Name, Program, Role};
use crate::launch::Place;
use crate::source::{FileId, Sources, Span};
use crate::target::Target;
use choose::{decorator_name, functions, name_of};
use results::flatten;
use std::rc::Rc;

pub use choose::{choose, kernel_names};
pub use results::returned_names;

/// What to specialise.
pub struct Request<'a> {
    /// A function of the file, decorated or not; `None`: the only kernel.
    pub kernel: Option<&'a str>,
    pub args: &'a [(String, ArgValue)],
    /// Values for module-level constants and keyword parameters with defaults, as source text.
    pub params: &'a [(String, String)],
    /// The launch grid, and which program of it this is; both empty without a grid.
    pub grid: &'a [u32],
    pub program_id: &'a [u32],
    pub place: Place,
    pub target: &'static Target,
    /// Whether tiles that do not fit into SBUF may move to HBM and back.
    pub spill: bool,
    /// Asks for another choice among the placements that fit.
    pub place_seed: Option<u64>,
    /// The version of NKI whose removals are errors; `None`: what works is accepted.
    pub dialect: Option<Dialect>,
    pub loader: &'a Loader<'a>,
    pub arrays: &'a ArrayLoader<'a>,
}

impl<'a> Request<'a> {
    /// The only kernel of a file as it is, which imports nothing and reads no files.
    pub fn new(args: &'a [(String, ArgValue)], target: &'static Target) -> Request<'a> {
        Request {
            kernel: None,
            args,
            params: &[],
            grid: &[],
            program_id: &[],
            place: Place::default(),
            target,
            spill: false,
            place_seed: None,
            dialect: None,
            loader: &|_| None,
            arrays: &|_, _| Err("there are no files".to_string()),
        }
    }
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgValue {
    Tensor {
        dtype: Dtype,
        shape: Vec<u32>,
    },
    /// An expression in the file's scope, e.g. `3`, `nl.bfloat16`, `(2, 4)`.
    Literal(String),
    Tuple(Vec<ArgValue>),
}

/// A tensor argument: where it was in the call, and its buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// `x`, or `x[1]` inside a tuple.
    pub path: String,
    pub buffer: BufferId,
}

/// A specialised kernel and what was said on the way.
pub struct Specialized {
    pub program: Program,
    /// Tensor arguments in the order of the request, tuples flattened.
    pub inputs: Vec<Input>,
    /// Tensors in `nl.shared_hbm` that are neither arguments nor results.
    pub shared: Vec<BufferId>,
    /// Whether another program of the launch could have become another one.
    pub reads_place: bool,
    pub warnings: Vec<Diagnostic>,
    /// What the kernel printed.
    pub printed: String,
}

/// An argument of a host function.
#[derive(Clone, Debug)]
pub enum HostValue {
    Array(HostArray),
    Literal(String),
    Tuple(Vec<HostValue>),
}

/// Specialises a kernel of a parsed file. On failure: everything that is wrong, and what the kernel had printed.
pub fn specialize(
    sources: &mut Sources,
    file: FileId,
    ast: &Rc<ast::Module>,
    request: &Request<'_>,
) -> std::result::Result<Specialized, (Vec<Diagnostic>, String)> {
    let function = choose(ast, request.kernel, file).map_err(|it| (vec![it.report()], String::new()))?;
    let name = name_of(&function).unwrap_or_else(|| "kernel".into());
    let mut this = Evaluator::new(sources, request, &name);
    this.modules.push(ModuleEnv::new(file, ast.clone()));
    let names = |it: &Expr| decorator_name(it) == Some("force_auto_alloc");
    this.ignores_allocations = function.decorators.iter().any(names);
    let outcome = this
        .run(&function, request)
        .and_then(|inputs| this.known_params(&function, request).map(|()| inputs));
    this.finish(outcome)
}

impl Evaluator<'_> {
    /// What an evaluation gave, or everything that is wrong and what had been printed.
    pub fn finish(
        mut self,
        outcome: Result<Vec<Input>>,
    ) -> std::result::Result<Specialized, (Vec<Diagnostic>, String)> {
        match outcome {
            Ok(inputs) if self.import_errors.is_empty() => Ok(Specialized {
                shared: self.shared_tensors(),
                program: self.program,
                inputs,
                reads_place: self.reads_place,
                warnings: self.warnings,
                printed: self.printed,
            }),
            outcome => {
                let mut diagnostics = self.warnings;
                diagnostics.append(&mut self.import_errors);
                diagnostics.extend(outcome.err().map(|it| it.report()));
                Err((diagnostics, self.printed))
            }
        }
    }
}

/// What a host function gave and printed.
pub struct Evaluated {
    /// The returned arrays, tuples flattened; empty for `None`.
    pub arrays: Vec<HostArray>,
    pub printed: String,
}

/// A call of a host function.
pub struct HostCall<'a> {
    pub function: &'a str,
    pub args: &'a [(String, HostValue)],
    /// Values for module-level constants, as source text.
    pub params: &'a [(String, String)],
}

/// Runs a host function of a file on arrays: the references that kernels are checked against.
pub fn evaluate(
    sources: &mut Sources,
    file: FileId,
    ast: &Rc<ast::Module>,
    call: &HostCall<'_>,
    target: &'static Target,
    loader: &Loader<'_>,
) -> std::result::Result<Evaluated, Vec<Diagnostic>> {
    let request = Request {
        kernel: Some(call.function),
        args: &[],
        params: call.params,
        grid: &[],
        program_id: &[],
        place: Place::default(),
        spill: false,
        place_seed: None,
        target,
        dialect: None,
        loader,
        arrays: &|_, _| Err("a reference reads no files".to_string()),
    };
    let function = choose(ast, request.kernel, file).map_err(|it| vec![it.report()])?;
    let mut this = Evaluator::new(sources, &request, "host");
    this.modules.push(ModuleEnv::new(file, ast.clone()));
    let arrays = this
        .run_host(&function, call.args)
        .map_err(|it| vec![it.report()])?;
    Ok(Evaluated {
        arrays,
        printed: this.printed,
    })
}

impl Evaluator<'_> {
    fn run(&mut self, function: &Rc<Function>, request: &Request<'_>) -> Result<Vec<Input>> {
        let mut inputs = Vec::new();
        let mut keywords = Vec::new();
        let known = || function.params.iter().map(|it| &*it.name.name);
        let takes_any = function.params.iter().any(|it| it.kind == ParamKind::DoubleStar);
        for (name, arg) in request.args {
            let param = function.params.iter().find(|it| *it.name.name == **name);
            let span = param.map_or(function.header, |it| it.name.span);
            if param.is_none() && !takes_any {
                let function_name = name_of(function).unwrap_or_else(|| "kernel".into());
                return Err(unexpected(&function_name, &name.as_str().into(), known(), span));
            }
            // A directive gives the usual value of a parameter; what is asked for now is said in `params`.
            if !request.params.iter().any(|it| it.0 == *name) {
                let value = self.argument(name, arg, span, &mut inputs)?;
                keywords.push((name.as_str().into(), value));
            }
        }
        for (name, text) in request.params {
            if known().any(|it| *it == **name) {
                keywords.push((name.as_str().into(), self.literal(text)?));
            }
        }
        if let Some(variable) = request
            .kernel
            .filter(|it| name_of(function).as_deref() != Some(*it))
            && let Some(Value::Scheduled(it)) = self.global(ModuleId(0), &variable.into())?
        {
            self.add_schedule(it);
        }
        let frame = Frame::new(Rc::new(Scope::default()), None, ModuleId(0));
        let Value::Function(closure) = self.make_closure(function, &frame)? else {
            unreachable!("make_closure gives functions");
        };
        let (positional, keywords) = in_places(&closure, keywords);
        let value = self.call_closure(&closure, CallArgs::with(positional, keywords, function.header));
        // The frame of the kernel itself says nothing that the label does not.
        let value = value.map_err(|mut it| {
            it.trace.pop();
            it
        })?;
        // An instruction that the target lacks writes nothing, which is no mistake of its own.
        if self.import_errors.is_empty() {
            self.collect_results(&value, function.header)?;
            self.settle_order()?;
            self.settle_zeros();
        }
        Ok(inputs)
    }

    /// The shared tensors that are neither arguments, results nor constants. Names tell apart what took over the id of a
    /// tensor that was taken back.
    pub fn shared_tensors(&self) -> Vec<BufferId> {
        let is_shared = |(id, name): &&(BufferId, Name)| {
            let buffer = self.program.buffers.get(id.index());
            buffer.is_some_and(|it| it.name == *name && it.role == Role::Local)
                && !self.program.constants.iter().any(|it| it.buffer == *id)
        };
        self.shared.iter().filter(is_shared).map(|it| it.0).collect()
    }

    /// Whether each value that was given for a constant or parameter has one to go to.
    fn known_params(&self, function: &Rc<Function>, request: &Request<'_>) -> Result<()> {
        let of_functions = |it: &ModuleEnv| {
            let functions = functions(&it.ast).into_iter();
            let names = functions.flat_map(|it| it.params.iter().map(|it| it.name.name.to_string()));
            names.collect::<Vec<String>>()
        };
        for (name, _) in request.params {
            let is_known = |it: &ModuleEnv| it.binds(name) || of_functions(it).contains(name);
            if self.modules.iter().any(is_known) {
                continue;
            }
            let mut known = self.global_names(ModuleId(0));
            known.extend(self.modules.iter().flat_map(of_functions));
            let suggestion = closest(name, known.iter().map(String::as_str));
            let name = name.clone();
            return Err(Error::new(
                Mistake::UnknownParam { name, suggestion },
                function.header,
            ));
        }
        Ok(())
    }

    pub fn argument(
        &mut self,
        path: &str,
        arg: &ArgValue,
        span: Span,
        inputs: &mut Vec<Input>,
    ) -> Result<Value> {
        match arg {
            ArgValue::Literal(text) => self.literal(text),
            ArgValue::Tuple(items) => {
                let mut values = Vec::new();
                for (idx, item) in items.iter().enumerate() {
                    values.push(self.argument(&format!("{path}[{idx}]"), item, span, inputs)?);
                }
                Ok(Value::tuple(values))
            }
            ArgValue::Tensor { dtype, shape } => {
                let name: String = path
                    .chars()
                    .map(|it| if it == '[' { '_' } else { it })
                    .filter(|it| *it != ']')
                    .collect();
                let wanted = Creation {
                    shape: shape.clone(),
                    dtype: *dtype,
                    region: Region::Hbm,
                    name: Some(name.as_str().into()),
                    request: None,
                    role: Role::In,
                };
                let tensor = self.create(wanted, span)?;
                inputs.push(Input {
                    path: path.to_string(),
                    buffer: tensor.buffer(),
                });
                Ok(Value::Tensor(Rc::new(tensor)))
            }
        }
    }

    /// Evaluates an expression given as text, in the scope of the kernel's file.
    pub fn literal(&mut self, text: &str) -> Result<Value> {
        let constant = match text.trim() {
            "inf" => Some(f64::INFINITY),
            "-inf" => Some(f64::NEG_INFINITY),
            "nan" => Some(f64::NAN),
            _ => None,
        };
        if let Some(it) = constant {
            return Ok(Value::Float(it));
        }
        let file = self.sources.add("<argument>", text);
        let parsed = crate::parse::parse_expr(self.sources, file);
        let expr = parsed.map_err(|errors| {
            let message = errors
                .first()
                .map_or("not an expression".to_string(), |it| it.report().message);
            let span = Span::new(file, 0, text.len());
            Error::new(
                Mistake::BadArgument {
                    name: text.to_string(),
                    message,
                },
                span,
            )
        })?;
        let frame = Frame::new(Rc::new(Scope::default()), None, ModuleId(0));
        self.eval(&expr, &frame)
    }

    fn run_host(&mut self, function: &Rc<Function>, args: &[(String, HostValue)]) -> Result<Vec<HostArray>> {
        let frame = Frame::new(Rc::new(Scope::default()), None, ModuleId(0));
        let Value::Function(closure) = self.make_closure(function, &frame)? else {
            unreachable!("make_closure gives functions");
        };
        let mut keywords = Vec::new();
        for (name, arg) in args {
            keywords.push((name.as_str().into(), self.host_argument(arg)?));
        }
        let span = function.header;
        let value = self
            .call_closure(&closure, CallArgs::with(Vec::new(), keywords, span))
            .map_err(|mut it| {
                it.trace.pop();
                it
            })?;
        let values = match &value {
            Value::None => Vec::new(),
            Value::Tuple(_) => flatten(&value, span)?,
            value => vec![value.clone()],
        };
        let array = |it: &Value| match super::host_bridge::to_arg(it, span)? {
            Arg::Array(it) => Ok(it),
            other => crate::host::to_array(&other).map_err(|error| {
                Error::new(
                    Mistake::Host {
                        code: error.code(),
                        message: error.message(),
                        help: error.help(),
                    },
                    span,
                )
            }),
        };
        values.iter().map(array).collect()
    }

    fn host_argument(&mut self, arg: &HostValue) -> Result<Value> {
        match arg {
            HostValue::Array(it) => Ok(from_arg(Arg::Array(it.clone()))),
            HostValue::Literal(text) => self.literal(text),
            HostValue::Tuple(items) => Ok(Value::tuple(
                items
                    .iter()
                    .map(|it| self.host_argument(it))
                    .collect::<Result<_>>()?,
            )),
        }
    }
}
