//! Running a job: compile, emulate, model its time, check.

use super::check::{Expectation, NamedCheck, check_file};
use super::vacuous::{Suspect, vacuous};
use super::watching::given;
use super::{Failure, Job, Modelled, Session, arguments};
use crate::emulate::random_order;
use crate::tensor::{Tensor, Tolerance};
use crate::trace::Trace;
use crate::watch::{Lookout, Sanitized, Trap};
use crate::{Emulator, Machine, Rounding};
use nk_compiler::Compiled;
use nk_compiler::diagnostic::{Diagnostic, Report};
use nk_compiler::directive::Flags;
use nk_compiler::ir::{BufferId, InstId, Print, Program, Role};
use nk_compiler::isa::Access;
use nk_compiler::source::{Sources, Span};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The order in which instructions are emulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOrder {
    Program,
    /// The modelled order of events.
    Engines,
    /// Any order that the schedule allows.
    Random {
        seed: u64,
    },
}

/// How to run.
#[derive(Clone)]
pub struct RunOptions {
    pub order: RunOrder,
    pub emulator: Emulator,
    /// How results become elements of narrower floats. Each program of a grid rounds with random numbers of its own.
    pub rounding: Rounding,
    /// What is looked into between instructions.
    pub lookout: Lookout,
    /// Where results are written.
    pub out: Option<PathBuf>,
    pub expectations: Vec<Expectation>,
    pub tolerance: Tolerance,
}

impl RunOptions {
    /// These options and what a directive asks for besides.
    fn with(&self, flags: &Flags) -> RunOptions {
        let mut options = self.clone();
        options.lookout.sanitize |= flags.sanitize;
        for trap in flags.traps.iter().filter_map(|it| Trap::from_name(it)) {
            if !options.lookout.traps.contains(&trap) {
                options.lookout.traps.push(trap);
            }
        }
        if let (Rounding::Nearest, Some(seed)) = (&options.rounding, flags.stochastic_rounding) {
            options.rounding = Rounding::Stochastic { seed };
        }
        options
    }
}

impl Default for RunOptions {
    /// Compiled code in program order, with the usual rounding; nothing is written to files.
    fn default() -> RunOptions {
        RunOptions {
            order: RunOrder::Program,
            emulator: Emulator::Jit,
            rounding: Rounding::Nearest,
            lookout: Lookout::default(),
            out: None,
            expectations: Vec::new(),
            tolerance: Tolerance {
                rtol: None,
                atol: None,
            },
        }
    }
}

/// A result or a written argument, and the file it was written to.
#[derive(Clone, Debug)]
pub struct Saved {
    pub name: String,
    pub tensor: Tensor,
    pub file: Option<PathBuf>,
}

/// What a run gave.
pub struct Outcome {
    pub kernel: String,
    pub target: &'static str,
    pub results: Vec<Saved>,
    pub mutated: Vec<Saved>,
    pub checks: Vec<NamedCheck>,
    pub modelled: Modelled,
    pub wall: Wall,
    pub seed: Option<u64>,
    /// How it was rounded.
    pub rounding: Rounding,
    /// What was looked into between instructions.
    pub lookout: Lookout,
    /// What `--sanitize` did, over all programs.
    pub sanitized: Sanitized,
    pub warnings: Vec<Diagnostic>,
    pub printed: String,
}

/// Our own time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wall {
    pub compile: Duration,
    pub emulate: Duration,
    pub io: Duration,
    pub check: Duration,
    /// The part of emulation that `--trap` and `--sanitize` took.
    pub watch: Duration,
}

impl Outcome {
    pub fn ok(&self) -> bool {
        self.checks.iter().all(NamedCheck::ok)
    }
}

impl Session {
    /// Runs a job: the programs of its grid on the cores of a chip, or its ranks.
    pub fn run(&self, sources: &mut Sources, job: &Job, options: &RunOptions) -> Result<Outcome, Failure> {
        let options = &options.with(&job.flags);
        let mut wall = Wall::default();
        let (tensors, warnings) = clocked(&mut wall.io, || arguments::load(&job.args))
            .map_err(|it| self.blame_arguments(job, it.report()))?;
        let ran = match job.ranks {
            Some(n_ranks) => self.run_ranks(sources, job, n_ranks, options, &tensors, &mut wall),
            None => self.run_grid(sources, job, options, &tensors, &mut wall),
        };
        let Ran {
            kernel,
            ranks,
            modelled,
            warnings: more,
            mut printed,
            places,
            unset,
            sanitized,
        } = ran.map_err(|mut it| {
            it.diagnostics.splice(0..0, warnings.iter().cloned());
            it
        })?;
        let mut warnings = warnings;
        warnings.extend(given(&job.args, &tensors, &options.lookout));
        warnings.extend(more);
        let started = Instant::now();
        let mut checks = Vec::new();
        for expect in &job.expects {
            let (more, text) = self.check_function(sources, job, expect, &tensors, &ranks)?;
            checks.extend(more);
            printed.push_str(&text);
        }
        let Values { results, mutated } = named(ranks, job.ranks.is_some());
        for expectation in &options.expectations {
            checks.push(check_file(expectation, &[&results, &mutated], options.tolerance)?);
        }
        // What was left out has been said; that it reads as NaN is no news. Ranks see their parts only.
        let suspects = results.iter().zip(&places).filter(|_| job.ranks.is_none());
        let suspects = suspects.filter(|(it, _)| !unset.iter().any(|unset| unset.0 == it.0));
        let suspects: Vec<Suspect> = suspects
            .map(|((name, tensor), place)| Suspect { name, tensor, place })
            .collect();
        warnings.extend(unset.iter().map(|it| it.1.clone()));
        warnings.extend(vacuous(&tensors, &suspects, &checks));
        wall.check = started.elapsed();
        let results = clocked(&mut wall.io, || save(results, options))?;
        let mutated = clocked(&mut wall.io, || save(mutated, options))?;
        Ok(Outcome {
            kernel,
            target: self.settings.target.name,
            results,
            mutated,
            checks,
            modelled,
            wall,
            seed: match options.order {
                RunOrder::Random { seed } => Some(seed),
                RunOrder::Program | RunOrder::Engines => None,
            },
            rounding: options.rounding,
            lookout: options.lookout.clone(),
            sanitized,
            warnings,
            printed,
        })
    }
}

/// What running a job gave, before anything was compared.
pub struct Ran {
    pub kernel: String,
    /// The values of each rank; one entry without ranks.
    pub ranks: Vec<Values>,
    pub modelled: Modelled,
    pub warnings: Vec<Diagnostic>,
    pub printed: String,
    pub places: Vec<Place>,
    /// Results that `--sanitize` has seen left out, by name.
    pub unset: Vec<(String, Diagnostic)>,
    pub sanitized: Sanitized,
}

/// Where a result is made.
pub struct Place {
    pub span: Option<Span>,
    /// Some of its writes go where only the run knows: what is left out may be its own.
    pub has_dynamic_writes: bool,
    /// Some of its bytes are written as another dtype: what they read as says nothing.
    pub is_mixed: bool,
}

/// The places at which a program's results are made.
pub fn places(program: &Program) -> Vec<Place> {
    let place = |buffer| {
        let views = || program.views().iter().filter(|it| it.buffer == buffer);
        Place {
            span: program.span(program[buffer].loc),
            has_dynamic_writes: views().any(|it| it.dynamic.is_some()),
            is_mixed: views().any(|it| it.dtype != program[buffer].dtype),
        }
    };
    program.results.iter().map(|it| place(it.buffer)).collect()
}

/// Results and written arguments by name.
pub struct Values {
    pub results: Vec<(String, Tensor)>,
    pub mutated: Vec<(String, Tensor)>,
}

/// The values of all ranks in one list; those of several ranks carry the rank in their names.
fn named(ranks: Vec<Values>, is_ranked: bool) -> Values {
    let (mut results, mut mutated) = (Vec::new(), Vec::new());
    for (rank, values) in ranks.into_iter().enumerate() {
        let name = |(name, tensor): (String, Tensor)| match is_ranked {
            true => (format!("rank{rank}/{name}"), tensor),
            false => (name, tensor),
        };
        results.extend(values.results.into_iter().map(name));
        mutated.extend(values.mutated.into_iter().map(name));
    }
    Values { results, mutated }
}

/// The order in which a program's instructions are emulated.
pub fn emulation_order(compiled: &Compiled, trace: &Trace, order: RunOrder) -> Vec<InstId> {
    match order {
        RunOrder::Program => (0..compiled.program.insts.len()).map(InstId::new).collect(),
        RunOrder::Engines => trace.order.clone(),
        RunOrder::Random { seed } => random_order(&compiled.schedule, &compiled.program, seed)
            .expect("a verified schedule drains whatever the order"),
    }
}

/// The mistake of an input that was given no value.
pub fn missing_argument(compiled: &Compiled) -> Option<Failure> {
    let program = &compiled.program;
    let (_, buffer) = program.buffers.iter().enumerate().find(|(idx, it)| {
        it.role == Role::In && !compiled.inputs.iter().any(|input| input.buffer.index() == *idx)
    })?;
    let name = buffer.name.to_string();
    let name = name.trim_start_matches('%');
    let sizes: Vec<String> = buffer.shape.iter().map(u32::to_string).collect();
    let example = format!(
        "--arg '{name}={}[{}]:randn(0)'",
        buffer.dtype.name(),
        sizes.join(",")
    );
    let message = format!("the input `{name}` has no value");
    Some(Failure::usage(
        Diagnostic::error("missing-argument", message).help(format!("add {example}")),
    ))
}

/// What a program printed while it ran.
pub fn prints(machine: &Machine, program: &Program) -> String {
    let text = |print: &Print| printed(print, &read(machine, program, print.buffer));
    program.prints.iter().map(text).collect()
}

/// One `device_print`: the prefix, the slice with its dtype and shape, then the values as NumPy prints them.
fn printed(print: &Print, tensor: &Tensor) -> String {
    let Print { prefix, what, .. } = print;
    let (dtype, shape) = (tensor.dtype().name(), tensor.shape());
    let separator = if prefix.is_empty() { "" } else { " " };
    format!(
        "{prefix}{separator}{what} {dtype}{shape:?}\n{}\n",
        arguments::host_array(tensor)
    )
}

pub fn clocked<T>(clock: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let value = work();
    *clock += started.elapsed();
    value
}

/// Arguments that the program writes and does not return.
pub fn mutated_inputs(program: &Program) -> Vec<BufferId> {
    let mut mutated = Vec::new();
    for inst in &program.insts {
        for (access, view) in program.accesses(inst) {
            let is_argument = access != Access::Read && program[view.buffer].role == Role::In;
            if is_argument && !mutated.contains(&view.buffer) {
                mutated.push(view.buffer);
            }
        }
    }
    mutated.retain(|it| !program.results.iter().any(|result| result.buffer == *it));
    mutated
}

pub fn read(machine: &Machine, program: &Program, buffer: BufferId) -> Tensor {
    let facts = &program[buffer];
    let shape = facts.shape.iter().map(|&it| it as usize).collect();
    Tensor::new(facts.dtype, shape, machine.read(buffer)).expect("a buffer holds what its shape says")
}

fn save(values: Vec<(String, Tensor)>, options: &RunOptions) -> Result<Vec<Saved>, Failure> {
    let save = |(name, tensor): (String, Tensor)| -> Result<Saved, Failure> {
        let file = match &options.out {
            Some(dir) => {
                let unwritable = |it: std::io::Error| {
                    let message = format!("{}: {it}", dir.display());
                    Failure::usage(Diagnostic::error("file-unwritable", message))
                };
                std::fs::create_dir_all(dir).map_err(unwritable)?;
                let path = tensor.write(dir, &file_name(&name));
                Some(path.map_err(|it| Failure::usage(it.report()))?)
            }
            None => None,
        };
        Ok(Saved { name, tensor, file })
    };
    values.into_iter().map(save).collect()
}

/// A result's name as a file name: `x[1]` becomes `x_1`.
fn file_name(name: &str) -> String {
    let kept = name.chars().filter(|&it| it != ']');
    kept.map(|it| {
        if it.is_alphanumeric() || "_-.'".contains(it) {
            it
        } else {
            '_'
        }
    })
    .collect()
}
