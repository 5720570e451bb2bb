//! One file at work: opened, compiled, run and checked, as the command line and other front ends ask.
//!
//! Takes paths and argument texts, gives outcomes and failures as values. Reads and writes files; never prints.

mod arguments;
mod check;
mod files;
mod leftover;
mod launch;
mod modelled;
mod outside;
mod ranks;
mod vacuous;
mod watching;
mod reordering;
mod replay;
mod run;

pub use arguments::json_args;
pub use check::{Expectation, NamedCheck};
pub use files::Settings;
pub use modelled::Modelled;
pub(crate) use reordering::faster;
pub(crate) use replay::{Replay, input, tensor_text, tensors};
pub(crate) use run::prints;
pub use run::{Outcome, RunOptions, RunOrder, Saved, Wall};

use crate::tensor::{ArgSpec, parse_arg};
use files::{find_array, find_import, read_source};
use nk_compiler::check::Results;
use nk_compiler::diagnostic::{Diagnostic, Report};
use nk_compiler::directive::{self, Expect, Flags};
use nk_compiler::ir::{Buffer, BufferId, Role};
use nk_compiler::launch::{Grid, Place};
use nk_compiler::parse;
use nk_compiler::place::place_seeded;
use nk_compiler::source::{FileId, Sources, Span};
use nk_compiler::specialize::{ArgValue, ImportRequest, Input, Request, kernel_names, parameters};
use nk_compiler::spill::Spilled;
use nk_compiler::target::Instance;
use nk_compiler::text::{self, Parsed};
use nk_compiler::{Compiled, ast, compile_ast, complete, fitting};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A file that is open.
#[derive(Clone)]
pub struct Session {
    file: FileId,
    kind: Kind,
    settings: Settings,
}

#[derive(Clone)]
enum Kind {
    Kernels(Rc<ast::Module>),
    Text(Rc<Parsed>),
}

/// A kernel with its arguments, and what its results should be.
#[derive(Clone, Debug)]
pub struct Job {
    /// `None`: the only kernel of the file.
    pub kernel: Option<String>,
    pub args: Vec<(String, ArgSpec)>,
    pub grid: Grid,
    /// Cores of the chip that the programs of the grid are dealt to; an axis with `nl.nc(2)` asks for two itself.
    pub cores: u32,
    /// How many ranks run the kernel, each with its part of the arguments.
    pub ranks: Option<u32>,
    /// The machine whose cores the ranks are; by default the smallest that has enough of them.
    pub instance: Option<&'static Instance>,
    /// What the directive asks for besides the options of the command line.
    pub flags: Flags,
    pub expects: Vec<Expect>,
    /// The directive it comes from.
    pub span: Option<Span>,
}

impl Job {
    /// The coordinates of the first program. The programs of a grid are one kernel: where one is looked at, it stands for all.
    pub fn first_program(&self) -> Vec<u32> {
        vec![0; self.grid.sizes.len()]
    }
}

/// A name for each job: its kernel's, with a number when a kernel runs several times.
pub fn labels(jobs: &[Job]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let kernels = jobs.iter().map(|it| it.kernel.as_deref().unwrap_or("kernel"));
    let label = |kernel| {
        let n = counts.entry(kernel).or_default();
        *n += 1;
        match *n {
            1 => kernel.to_string(),
            n => format!("{kernel}.{n}"),
        }
    };
    kernels.map(label).collect()
}

/// More programs than this were not meant.
const MAX_PROGRAMS: u64 = 65_536;

/// Refuses grids of so many programs that nobody meant them.
pub fn check_grid(grid: &Grid) -> Result<(), Diagnostic> {
    if grid.n_programs() <= MAX_PROGRAMS {
        return Ok(());
    }
    let message = format!("the grid has more than {MAX_PROGRAMS} programs");
    Err(Diagnostic::error("bad-grid", message))
}

/// Whose mistake it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    Kernel,
    Usage,
}

/// Why something did not work.
#[derive(Debug)]
pub struct Failure {
    pub blame: Blame,
    pub diagnostics: Vec<Diagnostic>,
    /// What the kernel had printed.
    pub printed: String,
}

impl Failure {
    pub fn usage(diagnostic: Diagnostic) -> Failure {
        Failure {
            blame: Blame::Usage,
            diagnostics: vec![diagnostic],
            printed: String::new(),
        }
    }

    pub fn kernel(diagnostics: Vec<Diagnostic>) -> Failure {
        Failure {
            blame: Blame::Kernel,
            diagnostics,
            printed: String::new(),
        }
    }
}

impl From<nk_compiler::Failure> for Failure {
    fn from(it: nk_compiler::Failure) -> Failure {
        Failure {
            blame: Blame::Kernel,
            diagnostics: it.diagnostics,
            printed: it.printed,
        }
    }
}

impl Session {
    /// Reads and parses a file.
    pub fn open(sources: &mut Sources, path: &str, settings: Settings) -> Result<Session, Failure> {
        let text = read_source(path)?;
        let file = sources.add(path, text);
        let kind = if path.ends_with(".nir") {
            let parsed = text::parse(sources, file);
            let parsed =
                parsed.map_err(|errors| Failure::kernel(errors.iter().map(Report::report).collect()))?;
            Kind::Text(Rc::new(parsed))
        } else {
            let (module, errors) = parse::parse(sources, file);
            if !errors.is_empty() {
                return Err(Failure::kernel(errors.iter().map(Report::report).collect()));
            }
            Kind::Kernels(Rc::new(module))
        };
        Ok(Session { file, kind, settings })
    }

    /// The same file under other settings.
    pub fn with_settings(&self, settings: Settings) -> Session {
        Session {
            file: self.file,
            kind: self.kind.clone(),
            settings,
        }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn file(&self) -> FileId {
        self.file
    }

    /// The syntax tree, unless the file is IR text.
    pub fn module(&self) -> Option<&ast::Module> {
        match &self.kind {
            Kind::Kernels(module) => Some(module),
            Kind::Text(_) => None,
        }
    }

    /// The names of the kernels in it.
    pub fn kernels(&self) -> Vec<String> {
        match &self.kind {
            Kind::Kernels(module) => kernel_names(module).iter().map(|it| it.to_string()).collect(),
            Kind::Text(parsed) => vec![parsed.program.name.clone()],
        }
    }

    /// The names of a kernel's parameters; by default the only kernel's.
    pub fn parameters(&self, kernel: Option<&str>) -> Vec<String> {
        match &self.kind {
            Kind::Kernels(module) => {
                let names = parameters(module, kernel, self.file);
                names.iter().map(|it| it.to_string()).collect()
            }
            Kind::Text(parsed) => {
                let inputs = parsed.program.buffers.iter().filter(|it| it.role == Role::In);
                inputs.map(input_name).collect()
            }
        }
    }

    /// What is to be done: the given arguments, else the `run` directives of the file, else the kernel as it is.
    pub fn jobs(&self, kernel: Option<&str>, args: &[(String, String)]) -> Result<Vec<Job>, Failure> {
        let given = |kernel: Option<&str>, args| Job {
            kernel: kernel.map(str::to_string),
            args,
            grid: Grid::default(),
            cores: 1,
            ranks: None,
            instance: None,
            flags: Flags::default(),
            expects: Vec::new(),
            span: None,
        };
        if !args.is_empty() {
            let args = parse_args(args).map_err(|it| Failure::usage(it.report()))?;
            return Ok(vec![given(kernel, args)]);
        }
        let Kind::Kernels(module) = &self.kind else {
            return Ok(vec![given(kernel, Vec::new())]);
        };
        let runs = directive::runs(module);
        let runs = runs.map_err(|errors| Failure::kernel(errors.iter().map(Report::report).collect()))?;
        let mut jobs = Vec::new();
        for run in runs
            .into_iter()
            .filter(|it| kernel.is_none_or(|kernel| kernel == it.kernel))
        {
            let wrong = |it: Diagnostic| Failure::kernel(vec![it.at(run.span, "in this directive")]);
            check_grid(&run.grid).map_err(wrong)?;
            let args = parse_args(&run.args).map_err(|it| wrong(it.report()))?;
            jobs.push(Job {
                kernel: Some(run.kernel),
                args,
                grid: run.grid,
                cores: run.flags.cores.unwrap_or(1),
                ranks: run.ranks,
                instance: None,
                flags: run.flags,
                expects: run.expects,
                span: Some(run.span),
            });
        }
        if jobs.is_empty() {
            jobs.push(given(kernel, Vec::new()));
        }
        Ok(jobs)
    }

    /// Compiles a job for one program of its grid.
    pub fn compile(&self, sources: &mut Sources, job: &Job, program_id: &[u32]) -> Result<Compiled, Failure> {
        let place = Place {
            rank: 0,
            n_ranks: job.ranks.unwrap_or(1),
            is_paired: job.grid.is_paired(),
        };
        self.compile_at(sources, job, program_id, place)
    }

    /// Compiles a job for one program of its launch.
    pub fn compile_at(
        &self,
        sources: &mut Sources,
        job: &Job,
        program_id: &[u32],
        place: Place,
    ) -> Result<Compiled, Failure> {
        let module = match &self.kind {
            Kind::Kernels(module) => module,
            Kind::Text(parsed) => return self.complete_text(parsed, job),
        };
        let args = arguments::values(&job.args, place.n_ranks).map_err(|it| self.blame_arguments(job, it))?;
        let loader = |request: &ImportRequest<'_>| find_import(&self.settings, request);
        let array_loader = |from: &str, path: &str| find_array(&self.settings, from, path);
        let request = Request {
            kernel: job.kernel.as_deref(),
            args: &args,
            params: &self.settings.params,
            grid: &job.grid.sizes,
            place,
            spill: self.settings.spill || job.flags.spill,
            place_seed: self.settings.place_seed.or(job.flags.place_seed),
            program_id,
            target: self.settings.target,
            dialect: self.settings.dialect,
            loader: &loader,
            arrays: &array_loader,
        };
        let compiled = compile_ast(sources, self.file, module, &request)?;
        let n_programs: u64 = request.grid.iter().map(|&it| u64::from(it)).product();
        Ok(if self.settings.reorder {
            faster(
                compiled,
                n_programs > 1,
                self.settings.place_seed,
                self.settings.target,
            )
        } else {
            compiled
        })
    }

    /// A mistake in an argument is the directive's when it comes from one, else the command line's.
    fn blame_arguments(&self, job: &Job, diagnostic: Diagnostic) -> Failure {
        match job.span {
            Some(span) => Failure::kernel(vec![diagnostic.at(span, "in this directive")]),
            None => Failure::usage(diagnostic),
        }
    }

    fn complete_text(&self, parsed: &Parsed, job: &Job) -> Result<Compiled, Failure> {
        let mut program = parsed.program.clone();
        let mut spilled = Spilled::default();
        if let Some(kernel) = job.kernel.as_ref().filter(|it| **it != program.name) {
            let message = format!("the file holds the kernel `{}`, not `{kernel}`", program.name);
            return Err(Failure::usage(Diagnostic::error("unknown-kernel", message)));
        }
        if let Some((name, _)) = self.settings.params.first() {
            let message = format!("nothing is called `{name}` that could be set: IR text has no parameters");
            return Err(Failure::usage(Diagnostic::error("unknown-param", message)));
        }
        let inputs = text_inputs(&program.buffers, job)?;
        if self.settings.spill
            && parsed.placement.is_none()
            && let Some(fitting) = fitting(&program, self.settings.target)
        {
            (program, spilled) = fitting;
        }
        let placement = parsed.placement.clone().or_else(|| {
            let seed = self.settings.place_seed?;
            place_seeded(&program, self.settings.target, seed).ok()
        });
        let stages = complete(
            &program,
            placement,
            parsed.schedule.clone(),
            Results::Whole,
            self.settings.target,
        );
        let stages = stages.map_err(Failure::kernel)?;
        let is_free = parsed.placement.is_none() && parsed.schedule.is_none();
        let compiled = Compiled {
            program,
            placement: stages.placement,
            first_writes: stages.first_writes,
            schedule: stages.schedule,
            unwritten: stages.unwritten,
            foreign: stages.foreign,
            shared: Vec::new(),
            reads_place: false,
            spilled,
            reordered: None,
            inputs,
            warnings: stages.warnings,
            printed: String::new(),
        };
        Ok(if self.settings.reorder && is_free {
            faster(compiled, false, self.settings.place_seed, self.settings.target)
        } else {
            compiled
        })
    }
}

/// Arguments given as texts, as the compiler wants them.
pub(crate) fn parse_values(args: &[(String, String)]) -> Result<Vec<(String, ArgValue)>, Failure> {
    let args = parse_args(args).map_err(|it| Failure::usage(it.report()))?;
    arguments::values(&args, 1).map_err(Failure::usage)
}

fn parse_args(args: &[(String, String)]) -> Result<Vec<(String, ArgSpec)>, crate::tensor::Error> {
    let mut known = BTreeSet::new();
    if let Some((name, _)) = args.iter().find(|it| !known.insert(&it.0)) {
        return Err(crate::tensor::Error::Syntax {
            text: name.clone(),
            reason: "it is given twice".to_string(),
            instead: "give each argument one value".to_string(),
        });
    }
    args.iter()
        .map(|(name, text)| Ok((name.clone(), parse_arg(text)?)))
        .collect()
}

/// What an argument calls an input of IR text.
fn input_name(buffer: &Buffer) -> String {
    buffer.name.to_string().trim_start_matches('%').to_string()
}

/// The buffers that a job's arguments fill, in the order of the arguments.
fn text_inputs(buffers: &[Buffer], job: &Job) -> Result<Vec<Input>, Failure> {
    let named = |name: &str| {
        let mut inputs = buffers.iter().enumerate().filter(|(_, it)| it.role == Role::In);
        inputs.find(|(_, it)| input_name(it) == name)
    };
    let mut inputs = Vec::new();
    for (name, spec) in &job.args {
        let wrong = |message: String| Failure::usage(Diagnostic::error("bad-argument", message));
        let Some((idx, buffer)) = named(name) else {
            return Err(wrong(format!("the kernel has no input `{name}`")));
        };
        let (ArgSpec::Tensor(source) | ArgSpec::Split(source, _)) = spec else {
            return Err(wrong(format!("`{name}` is a tensor")));
        };
        let (dtype, shape) = source.facts().map_err(|it| Failure::usage(it.report()))?;
        let wanted: Vec<usize> = buffer.shape.iter().map(|&it| it as usize).collect();
        if dtype != buffer.dtype || shape != wanted {
            let (given, name_of) = (dtype.name(), buffer.dtype.name());
            return Err(wrong(format!(
                "`{name}` is {name_of}{wanted:?}, not {given}{shape:?}"
            )));
        }
        inputs.push(Input {
            path: name.clone(),
            buffer: BufferId::new(idx),
        });
    }
    Ok(inputs)
}
