//! Whole kernels: finding one, binding its arguments, collecting its results; and host functions, evaluated on arrays.

use super::call::{in_places, unexpected};
use super::constant::ArrayLoader;
use super::error::{Error, Mistake, Result, closest};
use super::eval::{CallArgs, with_article};
use super::history::Dialect;
use super::host_bridge::from_arg;
use super::modules::{Loader, ModuleEnv};
use super::scope::{Frame, Scope};
use super::tensor::Creation;
use super::value::{ModuleId, Region, Tensor, Value};
use super::{Evaluator, layout};
use crate::ast::{self, Expr, ExprKind, Function, ParamKind, StmtKind};
use crate::diagnostic::{Diagnostic, Report};
use crate::dtype::Dtype;
use crate::host::{Arg, HostArray};
use crate::ir::{BufferId, Name, Program, ResultValue, Role, Shape};
use crate::isa::Memory;
use crate::launch::Place;
use crate::source::{FileId, Sources, Span};
use crate::target::Target;
use std::rc::Rc;

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

/// Decorators that mark a kernel.
const MARKS: &[&str] = &[
    "jit",
    "nki_jit",
    "trace",
    "baremetal",
    "benchmark",
    "profile",
    "simulate",
];

/// The functions of a file that are marked as kernels.
pub fn kernel_names(module: &ast::Module) -> Vec<Rc<str>> {
    functions(module)
        .into_iter()
        .filter(|it| it.decorators.iter().any(is_mark))
        .filter_map(name_of)
        .collect()
}

/// The functions of a file, also those under a module-level `if`, `try` or `with`.
fn functions(module: &ast::Module) -> Vec<&Rc<Function>> {
    fn collect<'a>(body: &'a [ast::Stmt], out: &mut Vec<&'a Rc<Function>>) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Def(function) => out.push(function),
                StmtKind::If { body, orelse, .. } => {
                    collect(body, out);
                    collect(orelse, out);
                }
                StmtKind::With { body, .. } => collect(body, out),
                StmtKind::Try {
                    body,
                    handlers,
                    orelse,
                    finally,
                } => {
                    collect(body, out);
                    handlers.iter().for_each(|it| collect(&it.body, out));
                    collect(orelse, out);
                    collect(finally, out);
                }
                _ => {}
            }
        }
    }
    let mut out = Vec::new();
    collect(&module.body, &mut out);
    out
}

fn name_of(function: &Rc<Function>) -> Option<Rc<str>> {
    function.name.as_ref().map(|it| it.name.clone())
}

fn is_mark(decorator: &Expr) -> bool {
    decorator_name(decorator).is_some_and(|it| MARKS.contains(&it))
}

/// The last word of a decorator, without its arguments.
fn decorator_name(decorator: &Expr) -> Option<&str> {
    match &decorator.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Attr { attr, .. } => Some(&attr.name),
        ExprKind::Call { callee, .. } => decorator_name(callee),
        _ => None,
    }
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

pub fn choose(module: &ast::Module, wanted: Option<&str>, file: FileId) -> Result<Rc<Function>> {
    let top = Span::new(file, 0, 0);
    let all: Vec<&Rc<Function>> = functions(module);
    let names = |list: &[&Rc<Function>]| {
        list.iter()
            .filter_map(|it| name_of(it))
            .map(|it| it.to_string())
            .collect()
    };
    let kernels: Vec<&Rc<Function>> = all
        .iter()
        .filter(|it| it.decorators.iter().any(is_mark))
        .copied()
        .collect();
    match (wanted, kernels.as_slice()) {
        (Some(wanted), _) => {
            // A later definition of a name replaces the earlier one.
            let named = |name: &str| all.iter().rev().find(|it| name_of(it).as_deref() == Some(name));
            let found = named(wanted).or_else(|| named(scheduled_kernel(module, wanted)?));
            found.map(|it| Rc::clone(it)).ok_or_else(|| {
                let known: Vec<String> = names(&all);
                let suggestion = closest(wanted, known.iter().map(String::as_str));
                Error::new(
                    Mistake::UnknownKernel {
                        name: wanted.to_string(),
                        suggestion,
                    },
                    top,
                )
            })
        }
        (None, [one]) => Ok(Rc::clone(one)),
        (None, []) => Err(Error::new(Mistake::NoKernel { names: names(&all) }, top)),
        (None, several) => Err(Error::new(
            Mistake::SeveralKernels {
                names: names(several),
            },
            several[0].header,
        )),
    }
}

/// The kernel of which a module-level variable is the scheduled form: `variable = kernel.with_schedule(…)`.
fn scheduled_kernel<'a>(module: &'a ast::Module, variable: &str) -> Option<&'a str> {
    module.body.iter().rev().find_map(|stmt| {
        let StmtKind::Assign { targets, value } = &stmt.kind else {
            return None;
        };
        let is_it = |it: &Expr| matches!(&it.kind, ExprKind::Name(name) if **name == *variable);
        let ExprKind::Call { callee, .. } = &value.kind else {
            return None;
        };
        match &callee.kind {
            ExprKind::Attr { value, attr } if targets.iter().any(is_it) && &*attr.name == "with_schedule" => {
                match &value.kind {
                    ExprKind::Name(kernel) => Some(&**kernel),
                    _ => None,
                }
            }
            _ => None,
        }
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

    fn collect_results(&mut self, value: &Value, span: Span) -> Result<()> {
        let values = match value {
            Value::None => Vec::new(),
            Value::Tuple(_) | Value::List(_) => flatten(value, span)?,
            value => vec![value.clone()],
        };
        let names = std::mem::take(&mut self.returned);
        for (idx, value) in values.iter().enumerate() {
            let Value::Tensor(tensor) = value else {
                let kind = with_article(value.kind());
                return Err(Error::new(Mistake::ResultNotTensor { kind }, span));
            };
            if tensor.is_on_chip() {
                let kind = format!("a tensor in {}", tensor.region.name());
                return Err(Error::new(Mistake::ResultNotTensor { kind }, span));
            }
            self.whole_result(tensor, span)?;
            let given = names
                .get(idx)
                .cloned()
                .flatten()
                .filter(|_| names.len() == values.len());
            let taken = |it: &str| self.program.results.iter().any(|result| result.name == it);
            let name = match given {
                Some(it) if !taken(&it) => it.to_string(),
                _ => (idx..)
                    .map(|it| format!("out{it}"))
                    .find(|it| !taken(it))
                    .expect("there are more numbers than results"),
            };
            self.program.results.push(ResultValue {
                name,
                buffer: tensor.buffer(),
            });
        }
        let writes_argument = self.program.insts.iter().any(|inst| {
            let dst = self.program.accesses(inst).next();
            dst.is_some_and(|it| self.program[it.1.buffer].role == Role::In)
        });
        if values.is_empty() && !writes_argument {
            return Err(Error::new(Mistake::NoResult, span));
        }
        Ok(())
    }

    /// Makes a returned tensor a result; a reshaped view of all of it gives the result its shape.
    fn whole_result(&mut self, tensor: &Tensor, span: Span) -> Result<()> {
        let buffer = &mut self.program.buffers[tensor.buffer().index()];
        debug_assert_eq!(buffer.memory, Memory::Hbm, "results on chip were refused");
        let is_whole = tensor.view.count() == buffer.shape.count() && layout::is_contiguous(tensor);
        let shape: Vec<u32> = tensor.shape().collect();
        let same = *shape == *buffer.shape;
        if !is_whole || tensor.view.dtype != buffer.dtype || (!same && buffer.role == Role::In) {
            let kind = "a part or another reading of a tensor".to_string();
            return Err(Error::new(Mistake::ResultNotTensor { kind }, span));
        }
        if buffer.role == Role::Local {
            buffer.role = Role::Out;
            buffer.shape = Shape::new(&shape).expect("a view has no more dimensions than a shape can have");
        }
        Ok(())
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

/// Results stand so deep in tuples and lists.
const MAX_NESTING: usize = 64;

/// The values of nested tuples and lists, in order.
fn flatten(value: &Value, span: Span) -> Result<Vec<Value>> {
    fn collect(value: &Value, levels: usize, out: &mut Vec<Value>) -> Option<()> {
        match value.items() {
            Some(items) => items
                .iter()
                .try_for_each(|it| collect(it, levels.checked_sub(1)?, out)),
            None => {
                out.push(value.clone());
                Some(())
            }
        }
    }
    let mut values = Vec::new();
    match collect(value, MAX_NESTING, &mut values) {
        Some(()) => Ok(values),
        None => {
            let message = format!("the results are more than {MAX_NESTING} deep in tuples and lists");
            Err(Error::value_error(message, span))
        }
    }
}

/// The names in a `return`, one per value.
pub fn returned_names(value: &Expr) -> Vec<Option<Rc<str>>> {
    match &value.kind {
        ExprKind::Name(name) => vec![Some(name.clone())],
        ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().flat_map(returned_names).collect(),
        _ => vec![None],
    }
}
