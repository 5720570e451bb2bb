//! Running a job: compile, emulate, model its time, check.

use super::check::{Expectation, NamedCheck, check_file};
use super::outside::OutOfRange;
use super::{Failure, Job, Session, arguments};
use crate::emulate::random_order;
use crate::tensor::{Tensor, Tolerance};
use crate::time::time;
use crate::trace::Trace;
use crate::{Emulator, Execution, Machine, Rounding};
use nk_compiler::Compiled;
use nk_compiler::check::{Gap, Unwritten, not_written};
use nk_compiler::diagnostic::{Diagnostic, Report};
use nk_compiler::ir::{BufferId, InstId, Print, Program, Role};
use nk_compiler::isa::{Access, ENGINES, N_ENGINES, Unit};
use nk_compiler::source::Sources;
use nk_compiler::spill::Spilled;
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
pub struct RunOptions {
    pub order: RunOrder,
    pub emulator: Emulator,
    /// How results become elements of narrower floats. Each program of a grid rounds with random numbers of its own.
    pub rounding: Rounding,
    /// Where results are written.
    pub out: Option<PathBuf>,
    pub expectations: Vec<Expectation>,
    pub tolerance: Tolerance,
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
    pub warnings: Vec<Diagnostic>,
    pub printed: String,
}

/// The size of a program, and its time by the model. Programs of a grid are added up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Modelled {
    /// Instructions by engine, without DMAs.
    pub instructions: [usize; N_ENGINES],
    pub dmas: usize,
    pub sbuf_peak_bytes: u32,
    pub psum_peak_bytes: u32,
    pub spilled: Spilled,
    pub total_ps: u64,
    pub busy_ps: [u64; N_ENGINES],
    pub dma_busy_ps: u64,
    pub charged_ps: u64,
    pub guessed_ps: u64,
}

/// Our own time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wall {
    pub compile: Duration,
    pub emulate: Duration,
    pub io: Duration,
    pub check: Duration,
}

impl Outcome {
    pub fn ok(&self) -> bool {
        self.checks.iter().all(NamedCheck::ok)
    }
}

impl Modelled {
    /// The share of the charged work that rests on guessed costs.
    pub fn guessed_share(&self) -> f64 {
        if self.charged_ps == 0 {
            0.0
        } else {
            self.guessed_ps as f64 / self.charged_ps as f64
        }
    }

    fn add(&mut self, compiled: &Compiled, trace: &Trace, path: &[u32]) {
        let program = &compiled.program;
        let control = program.control();
        let mut counts = vec![0u64; control.segments.len()];
        path.iter().for_each(|&it| counts[it as usize] += 1);
        for (segment, &count) in counts.iter().enumerate() {
            for inst in control.insts(segment).map(|it| &program[it]) {
                match inst.op.row().unit {
                    Unit::Dma => self.dmas += count as usize,
                    Unit::Engine | Unit::Sequencer => {
                        self.instructions[inst.engine as usize] += count as usize;
                    }
                }
            }
        }
        let trace = trace.along(&control, &counts);
        self.sbuf_peak_bytes = self.sbuf_peak_bytes.max(compiled.placement.sbuf_peak_bytes);
        self.spilled.save_bytes += compiled.spilled.save_bytes;
        self.spilled.reload_bytes += compiled.spilled.reload_bytes;
        self.spilled.psum_bytes += compiled.spilled.psum_bytes;
        self.psum_peak_bytes = self.psum_peak_bytes.max(compiled.placement.psum_peak_bytes);
        self.total_ps += trace.total_ps;
        for (engine, _) in ENGINES {
            self.busy_ps[*engine as usize] += trace.busy_ps[*engine as usize];
        }
        self.dma_busy_ps += trace.dma_busy_ps;
        self.charged_ps += trace.charged_ps;
        self.guessed_ps += trace.guessed_ps;
    }
}

impl Session {
    /// Runs a job: every program of its grid, one after the other on the same HBM.
    pub fn run(&self, sources: &mut Sources, job: &Job, options: &RunOptions) -> Result<Outcome, Failure> {
        let mut wall = Wall::default();
        let (tensors, mut warnings) = clocked(&mut wall.io, || arguments::load(&job.args))
            .map_err(|it| self.blame_arguments(job, it.report()))?;
        let mut hbm = Hbm {
            inputs: tensors.clone(),
            outputs: Vec::new(),
            printed: String::new(),
        };
        let mut modelled = Modelled::default();
        let mut printed = String::new();
        let mut unwritten: Option<Vec<Unwritten>> = None;
        let mut last = None;
        let mut outside = OutOfRange::default();
        for (number, program_id) in programs(&job.grid).into_iter().enumerate() {
            let compiled = clocked(&mut wall.compile, || self.compile(sources, job, &program_id))?;
            let trace = time(
                &compiled.program,
                &compiled.placement,
                &compiled.schedule,
                self.settings.target,
            );
            let execution = Execution {
                rounding: options.rounding.of_program(number),
                ..Execution::new(options.emulator)
            };
            let emulated = self.emulate(&compiled, &trace, options.order, execution, &mut hbm, &mut wall)?;
            outside.add(&compiled.program, &emulated.out_of_range);
            modelled.add(&compiled, &trace, &emulated.path);
            unwritten = Some(match unwritten {
                Some(before) => common(&before, &compiled.unwritten),
                None => compiled.unwritten.clone(),
            });
            // Every program of a grid is the same kernel, so warnings and messages of the first speak for all.
            if last.is_none() {
                warnings.extend(compiled.warnings.iter().cloned());
                printed = compiled.printed.clone();
            }
            last = Some(compiled);
        }
        printed.push_str(&hbm.printed);
        let Compiled { program, inputs, .. } = last.expect("a grid has at least one program");
        let unwritten = unwritten.unwrap_or_default();
        if !unwritten.is_empty() {
            let errors = unwritten.iter().map(|it| not_written(&program, it).report());
            warnings.extend(errors);
            return Err(Failure {
                printed,
                ..Failure::kernel(warnings)
            });
        }
        warnings.extend(outside.reports());
        let written = mutated_inputs(&program);
        let results = hbm.outputs;
        let mutated = inputs
            .iter()
            .zip(&hbm.inputs)
            .filter(|(input, _)| written.contains(&input.buffer));
        let mutated: Vec<(String, Tensor)> = mutated
            .map(|(input, tensor)| (input.path.clone(), tensor.clone()))
            .collect();
        let started = Instant::now();
        let mut checks = Vec::new();
        for expect in &job.expects {
            let (more, text) = self.check_function(sources, job, expect, &tensors, &results, &mutated)?;
            checks.extend(more);
            printed.push_str(&text);
        }
        for expectation in &options.expectations {
            checks.push(check_file(expectation, &[&results, &mutated], options.tolerance)?);
        }
        wall.check = started.elapsed();
        let results = clocked(&mut wall.io, || save(results, options))?;
        let mutated = clocked(&mut wall.io, || save(mutated, options))?;
        Ok(Outcome {
            kernel: program.name,
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
            warnings,
            printed,
        })
    }

    fn emulate(
        &self,
        compiled: &Compiled,
        trace: &Trace,
        order: RunOrder,
        execution: Execution,
        hbm: &mut Hbm,
        wall: &mut Wall,
    ) -> Result<Emulated, Failure> {
        let Compiled {
            program, placement, ..
        } = compiled;
        let order = match order {
            RunOrder::Program => (0..program.insts.len()).map(InstId::new).collect(),
            RunOrder::Engines => trace.order.clone(),
            RunOrder::Random { seed } => random_order(&compiled.schedule, program, seed)
                .expect("a verified schedule drains whatever the order"),
        };
        let target = self.settings.target;
        let first = &compiled.first_writes;
        let mut machine = clocked(&mut wall.compile, || {
            Machine::load_with(program, placement, first, target, execution)
        });
        let missing = program.buffers.iter().enumerate().find(|(idx, it)| {
            it.role == Role::In && !compiled.inputs.iter().any(|input| input.buffer.index() == *idx)
        });
        if let Some((_, buffer)) = missing {
            let name = buffer.name.to_string();
            let name = name.trim_start_matches('%');
            let sizes: Vec<String> = buffer.shape.iter().map(u32::to_string).collect();
            let example = format!(
                "--arg '{name}={}[{}]:randn(0)'",
                buffer.dtype.name(),
                sizes.join(",")
            );
            let message = format!("the input `{name}` has no value");
            return Err(Failure::usage(
                Diagnostic::error("missing-argument", message).help(format!("add {example}")),
            ));
        }
        clocked(&mut wall.io, || {
            for (input, tensor) in compiled.inputs.iter().zip(&hbm.inputs) {
                machine.write(input.buffer, tensor.bytes());
            }
            // Later programs of a grid see what earlier ones wrote.
            for (result, (_, tensor)) in program.results.iter().zip(&hbm.outputs) {
                if program[result.buffer].role == Role::Out {
                    machine.write(result.buffer, tensor.bytes());
                }
            }
        });
        clocked(&mut wall.emulate, || machine.run(&order))
            .map_err(|it| Failure::kernel(vec![it.describe(program).report()]))?;
        let started = Instant::now();
        for print in &program.prints {
            let tensor = read(&machine, program, print.buffer);
            hbm.printed.push_str(&printed(print, &tensor));
        }
        let is_written = written_arguments(program);
        for (input, tensor) in compiled.inputs.iter().zip(&mut hbm.inputs) {
            if is_written.contains(&input.buffer) {
                *tensor = read(&machine, program, input.buffer);
            }
        }
        let results = program.results.iter();
        hbm.outputs = results
            .map(|it| (it.name.clone(), read(&machine, program, it.buffer)))
            .collect();
        wall.io += started.elapsed();
        Ok(Emulated {
            out_of_range: machine.out_of_range(),
            path: machine.path().to_vec(),
        })
    }
}

/// What emulating one program has shown.
struct Emulated {
    /// Inputs outside of their function's range, by instruction.
    out_of_range: Vec<(InstId, u64)>,
    /// The segments of the control flow that were executed.
    path: Vec<u32>,
}

/// What the programs of a grid share.
struct Hbm {
    inputs: Vec<Tensor>,
    outputs: Vec<(String, Tensor)>,
    /// What the programs printed while they ran.
    printed: String,
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

fn clocked<T>(clock: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let value = work();
    *clock += started.elapsed();
    value
}

/// The coordinates of every program of a grid, the last axis fastest; one without coordinates when there is no grid.
pub fn programs(grid: &[u32]) -> Vec<Vec<u32>> {
    let mut programs = vec![Vec::new()];
    for &size in grid {
        let longer = programs.iter().flat_map(|it| {
            (0..size).map(|idx| {
                let mut longer = it.clone();
                longer.push(idx);
                longer
            })
        });
        programs = longer.collect();
    }
    programs
}

/// Arguments that the program writes and does not return.
fn mutated_inputs(program: &Program) -> Vec<BufferId> {
    let mut mutated = written_arguments(program);
    mutated.retain(|it| !program.results.iter().any(|result| result.buffer == *it));
    mutated
}

/// Arguments that the program writes.
fn written_arguments(program: &Program) -> Vec<BufferId> {
    let mut mutated = Vec::new();
    for inst in &program.insts {
        for (access, view) in program.accesses(inst) {
            let is_argument = access != Access::Read && program[view.buffer].role == Role::In;
            if is_argument && !mutated.contains(&view.buffer) {
                mutated.push(view.buffer);
            }
        }
    }
    mutated
}

/// What two programs of a grid both leave unwritten. They make the same tensors in the same order.
fn common(before: &[Unwritten], now: &[Unwritten]) -> Vec<Unwritten> {
    let mut both = Vec::new();
    for it in now {
        let Some(other) = before.iter().find(|other| other.result == it.result) else {
            continue;
        };
        let gaps = common_gaps(&it.gaps, &other.gaps);
        if !gaps.is_empty() {
            both.push(Unwritten {
                result: it.result,
                gaps,
            });
        }
    }
    both
}

/// The bytes in gaps of both lists. Results lie in HBM, which has no partitions, so the lists ascend by their bytes.
fn common_gaps(a: &[Gap], b: &[Gap]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(&&first), Some(&&second)) = (a.peek(), b.peek()) {
        let (start, end) = (first.start.max(second.start), first.end.min(second.end));
        if start < end {
            gaps.push(Gap { start, end, ..first });
        }
        if first.end < second.end {
            a.next();
        } else {
            b.next();
        }
    }
    gaps
}

fn read(machine: &Machine, program: &Program, buffer: BufferId) -> Tensor {
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
