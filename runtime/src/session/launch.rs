//! The programs of a grid on the cores of a chip.
//!
//! Takes a job, compiles one program after the other and deals them to the cores, each of which is a thread with SBUF, PSUM
//! and queues of its own; HBM is one. Gives the values that are in HBM at the end, and every race. A tensor that several
//! programs share has one address; what a program has for itself lies in a part of HBM that only its core touches.

use super::leftover::common;
use super::outside::OutOfRange;
use super::run::{
    Ran, Values, Wall, clocked, emulation_order, missing_argument, mutated_inputs, places, prints,
};
use super::watching::unwritten_now;
use super::{Failure, Job, Modelled, RunOptions, RunOrder, Session};
use crate::fabric::{Fabric, Link};
use crate::fault::FaultReport;
use crate::machine::{Site, Touch};
use crate::memory::{Layout, Memory, Reservation, Seat};
use crate::tensor::Tensor;
use crate::time::{Fleet, Timed, time, time_together};
use crate::trace::Trace;
use crate::watch::{Manner, Sanitized, Watch, WatchReport};
use crate::{Execution, Fault, Machine};
use nk_compiler::Compiled;
use nk_compiler::check::not_written;
use nk_compiler::diagnostic::{Diagnostic, Report};
use nk_compiler::ir::{InstId, Placement, Program, Region};
use nk_compiler::isa::Memory as Space;
use nk_compiler::launch::{Key, Races, keys};
use nk_compiler::source::Sources;
use nk_compiler::target::Target;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Addresses in HBM for what programs share, and as many for each core: more than HBM has.
const SPAN: u64 = 40 << 30;
const ALIGN: u64 = 4096;

/// Programs that wait for a core while others are compiled.
const MAX_WAITING: usize = 4;

/// Kernels run on threads like the one that compiles them.
const STACK_BYTES: usize = 64 << 20;

/// A program on its way to a core.
struct Task {
    number: usize,
    compiled: Arc<Compiled>,
    placement: Placement,
    /// Known before for programs that wait for each other.
    trace: Option<Trace>,
    /// The ranges of HBM that it may touch.
    hbm: Vec<(u64, u64)>,
    is_shared: Vec<bool>,
    link: Link,
}

/// A program that a core has executed.
struct Done {
    number: usize,
    core: usize,
    compiled: Arc<Compiled>,
    modelled: Modelled,
    printed: String,
    out_of_range: Vec<(InstId, u64)>,
    touches: Vec<Touch>,
    fault: Option<(Fault, FaultReport)>,
    /// What was looked into between instructions, and results that were left out.
    watched: WatchReport,
    unset: Vec<(String, Diagnostic)>,
    /// What loading it took, and what running it.
    loading: Duration,
    running: Duration,
}

/// What the cores of a launch have in common.
#[derive(Clone, Copy)]
struct Chip<'a> {
    reservation: &'a Arc<Reservation>,
    n_cores: u32,
    target: &'static Target,
    options: &'a RunOptions,
}

impl Session {
    pub(super) fn run_grid(
        &self,
        sources: &mut Sources,
        job: &Job,
        options: &RunOptions,
        tensors: &[Tensor],
        wall: &mut Wall,
    ) -> Result<Ran, Failure> {
        let target = self.settings.target;
        let n_cores = if job.grid.split.is_some() {
            target.cores
        } else {
            job.cores.min(target.cores)
        };
        let coordinates = job.grid.programs();
        let place = |it: &Session, sources: &mut Sources, at: &[u32], wall: &mut Wall| {
            let compiled = clocked(&mut wall.compile, || it.compile(sources, job, at))?;
            Ok::<_, Failure>(Arc::new(compiled))
        };
        let first = place(self, sources, &coordinates[0], wall)?;
        if let Some(failure) = missing_argument(&first) {
            return Err(failure);
        }
        let layout = Layout::of_seat(&first.program, seat(0, n_cores), target);
        let chip = Chip {
            reservation: &Reservation::new(&layout),
            n_cores,
            target,
            options,
        };
        let mut hbm = SharedHbm::default();
        let mut races = Races::default();
        let mut unwritten = first.unwritten.clone();
        // Programs on one core each may wait for each other; a barrier of one that is behind another never comes.
        let mut links = Fabric::links(coordinates.len() as u32);
        let traces = if job.grid.is_paired() {
            let second = place(self, sources, &coordinates[1], wall)?;
            let timed = [&first, &second].map(|it| timed(it));
            time_together(&timed, &Fleet::of_ranks(target, n_cores), target)
        } else {
            Vec::new()
        };
        let mut traces = traces.into_iter();
        let mut deal = |sources: &mut Sources, wall: &mut Wall, queues: &[SyncSender<Task>]| {
            for (number, at) in coordinates.iter().enumerate() {
                let compiled = match number {
                    0 => first.clone(),
                    // Programs that do not ask who they are are one.
                    _ if !first.reads_place => first.clone(),
                    _ => place(self, sources, at, wall)?,
                };
                let core = job.grid.core_of(at, number, n_cores);
                let keys = keys(&compiled);
                let placed = hbm.place(&compiled, &keys, core, target)?;
                if number == 0 {
                    clocked(&mut wall.io, || {
                        hbm.fill(chip, &layout, &compiled, &keys, tensors)
                    });
                }
                if coordinates.len() > 1 {
                    races.add(&compiled.program, &keys, at, &compiled.foreign);
                }
                unwritten = common(&unwritten, &compiled.unwritten);
                let task = Task {
                    number,
                    placement: placed.placement,
                    hbm: placed.ranges,
                    trace: traces.next(),
                    is_shared: if coordinates.len() > 1 {
                        keys.iter().map(Option::is_some).collect()
                    } else {
                        Vec::new()
                    },
                    link: links[number].clone(),
                    compiled,
                };
                // A core that is gone has panicked, and its panic is passed on when it is joined.
                if queues[core as usize].send(task).is_err() {
                    break;
                }
            }
            Ok::<(), Failure>(())
        };
        let mut done = on_cores(chip, |queues| deal(sources, wall, queues))?;
        done.sort_by_key(|it| it.number);
        // Cores work at the same time, so the longest of them is what one waits for.
        let longest = |of: &dyn Fn(&Done) -> Duration| {
            let core_time = |core| done.iter().filter(|it| it.core == core).map(of).sum();
            (0..n_cores as usize).map(core_time).max().unwrap_or_default()
        };
        wall.compile += longest(&|it| it.loading);
        wall.emulate = longest(&|it| it.running);
        let printed = done.iter().map(|it| &*it.printed).collect::<String>();
        let printed = first.printed.clone() + &printed;
        let mut warnings = first.warnings.clone();
        let failed = |errors: Vec<Diagnostic>, warnings: Vec<Diagnostic>, printed: String| {
            let diagnostics = warnings.into_iter().chain(errors).collect();
            Failure {
                printed,
                ..Failure::kernel(diagnostics)
            }
        };
        if let Some(fault) = first_fault(&done, &links.swap_remove(0)) {
            return Err(failed(vec![fault], Vec::new(), printed));
        }
        for it in &done {
            let keys = keys(&it.compiled);
            for touch in &it.touches {
                if let Some(key) = &keys[touch.buffer.index()] {
                    races.touch(it.number, key, touch.bytes, touch.writes, touch.span);
                }
            }
        }
        // Stochastic rounding draws in every program.
        let is_one = !first.reads_place && options.rounding == crate::Rounding::Nearest;
        let (errors, repeated): (Vec<Diagnostic>, Vec<Diagnostic>) =
            races.reports(is_one).into_iter().partition(Diagnostic::is_error);
        if !errors.is_empty() {
            return Err(failed(errors, warnings, printed));
        }
        warnings.extend(repeated);
        let reports = unwritten
            .iter()
            .map(|it| not_written(&first.program, it).report());
        let (wrong, strange): (Vec<Diagnostic>, Vec<Diagnostic>) = reports.partition(Diagnostic::is_error);
        // The compiler has said it already of a program that is alone.
        if coordinates.len() > 1 {
            warnings.extend(strange);
        }
        if !wrong.is_empty() {
            return Err(failed(wrong, warnings, printed));
        }
        let (mut modelled, mut outside) = (Modelled::default(), OutOfRange::default());
        let (mut sanitized, mut unset) = (Sanitized::default(), Vec::new());
        for it in &mut done {
            sanitized.add(it.watched.sanitized.unwrap_or_default());
            wall.watch += it.watched.spent;
            unset.append(&mut it.unset);
            modelled.join(&it.modelled);
            outside.add(&it.compiled.program, &it.out_of_range);
        }
        warnings.extend(outside.reports());
        Ok(Ran {
            kernel: first.program.name.clone(),
            ranks: vec![clocked(&mut wall.io, || hbm.values(chip, &layout, &first))],
            modelled,
            warnings,
            printed,
            places: places(&first.program),
            unset,
            sanitized,
        })
    }
}

fn seat(core: u32, n_cores: u32) -> Seat {
    Seat {
        core,
        n_cores,
        hbm_bytes: (u64::from(n_cores) + 1) * SPAN,
    }
}

fn timed(compiled: &Compiled) -> Timed<'_> {
    Timed {
        program: &compiled.program,
        placement: &compiled.placement,
        schedule: &compiled.schedule,
    }
}

/// Runs a thread for each core while `deal` sends them programs; gives what they did.
fn on_cores(
    chip: Chip<'_>,
    deal: impl FnOnce(&[SyncSender<Task>]) -> Result<(), Failure>,
) -> Result<Vec<Done>, Failure> {
    std::thread::scope(|scope| {
        let (mut queues, mut threads) = (Vec::new(), Vec::new());
        for core in 0..chip.n_cores {
            let (sender, receiver) = sync_channel::<Task>(MAX_WAITING);
            queues.push(sender);
            let work = move || {
                let tasks = receiver.into_iter().enumerate();
                tasks
                    .map(|(idx, task)| execute(task, core, idx > 0, chip))
                    .collect::<Vec<Done>>()
            };
            let thread = std::thread::Builder::new()
                .name(format!("core {core}"))
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, work);
            let no_thread = |it: std::io::Error| {
                Failure::usage(Diagnostic::error(
                    "no-thread",
                    format!("cannot start a thread: {it}"),
                ))
            };
            threads.push(thread.map_err(no_thread)?);
        }
        let dealt = deal(&queues);
        drop(queues);
        let mut done = Vec::new();
        for thread in threads {
            match thread.join() {
                Ok(it) => done.extend(it),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        dealt.map(|()| done)
    })
}

/// Executes a program on a core.
fn execute(task: Task, core: u32, is_used: bool, chip: Chip<'_>) -> Done {
    let started = Instant::now();
    let Chip { options, target, .. } = chip;
    let compiled = task.compiled;
    let program = &compiled.program;
    let known = task.trace;
    let trace = known.unwrap_or_else(|| time(program, &compiled.placement, &compiled.schedule, target));
    let order = emulation_order(&compiled, &trace, options.order);
    let execution = Execution {
        rounding: options.rounding.of_program(task.number),
        ..Execution::new(options.emulator)
    };
    let site = Site {
        reservation: chip.reservation.clone(),
        seat: seat(core, chip.n_cores),
        hbm: task.hbm,
        link: task.link.clone(),
        is_shared: task.is_shared.clone(),
    };
    let first = &compiled.first_writes;
    let mut machine = Machine::load_at(program, &task.placement, first, target, execution, site);
    if is_used {
        machine.clear_hbm(program, &task.is_shared);
    }
    let loading = started.elapsed();
    let started = Instant::now();
    let manner = Manner {
        in_order: options.order == RunOrder::Program,
        alone: task.is_shared.is_empty(),
    };
    let mut watch = (!options.lookout.is_idle()).then(|| {
        let layout = machine.layout();
        Watch::new(program, &task.placement, first, layout, &options.lookout, manner)
    });
    let fault = machine.run_watched(&order, watch.as_mut()).err();
    let running = started.elapsed();
    task.link.end();
    let modelled = Modelled::of(&compiled, &trace, machine.path(), core as usize);
    Done {
        number: task.number,
        core: core as usize,
        modelled,
        printed: prints(&machine, program),
        out_of_range: machine.out_of_range(),
        touches: machine.touches().to_vec(),
        fault: fault.map(|it| (it.clone(), it.describe(program))),
        watched: watch.as_ref().map(Watch::report).unwrap_or_default(),
        unset: watch.map_or(Vec::new(), |it| unwritten_now(program, &it)),
        loading,
        running,
        compiled,
    }
}

/// The fault of the first program that has one of its own, or why programs did not meet.
fn first_fault(done: &[Done], link: &Link) -> Option<Diagnostic> {
    let faults = done.iter().filter_map(|it| it.fault.as_ref());
    let own = faults.clone().find(|it| !matches!(it.0, Fault::Exchange { .. }));
    match own {
        Some((_, report)) => Some(report.report()),
        None => faults
            .map(|it| it.1.report())
            .next()
            .map(|report| link.failure().unwrap_or(report)),
    }
}

/// The addresses of what programs share.
#[derive(Default)]
struct SharedHbm {
    end: u64,
    known: FxHashMap<Key, u64>,
}

/// A program's buffers in the HBM of a launch.
struct Placed {
    placement: Placement,
    ranges: Vec<(u64, u64)>,
}

impl SharedHbm {
    fn place(
        &mut self,
        compiled: &Compiled,
        keys: &[Option<Key>],
        core: u32,
        target: &Target,
    ) -> Result<Placed, Failure> {
        let first_own = (u64::from(core) + 1) * SPAN;
        let mut own = first_own;
        let mut placement = compiled.placement.clone();
        for ((buffer, key), region) in compiled
            .program
            .buffers
            .iter()
            .zip(keys)
            .zip(&mut placement.regions)
        {
            let Region::Hbm { address } = region else { continue };
            let bytes = buffer.bytes().next_multiple_of(ALIGN);
            match key {
                Some(key) => {
                    let end = &mut self.end;
                    *address = *self.known.entry(key.clone()).or_insert_with(|| {
                        *end += bytes;
                        *end - bytes
                    });
                }
                None => {
                    *address = own;
                    own += bytes;
                }
            }
        }
        let needed = self.end + (own - first_own);
        if needed > target.hbm_bytes {
            let message = format!(
                "the programs need {needed} bytes of HBM; the chip has {}",
                target.hbm_bytes
            );
            return Err(Failure::kernel(vec![Diagnostic::error(
                "hbm-over-capacity",
                message,
            )]));
        }
        Ok(Placed {
            placement,
            ranges: vec![(0, self.end), (first_own, own)],
        })
    }

    /// A view of the shared part, from outside of the cores.
    fn open(&self, chip: Chip<'_>, layout: &Layout) -> Memory {
        Memory::within(chip.reservation.clone(), *layout, &[(0, self.end)], 0)
    }

    /// Writes the arguments.
    fn fill(
        &self,
        chip: Chip<'_>,
        layout: &Layout,
        compiled: &Compiled,
        keys: &[Option<Key>],
        tensors: &[Tensor],
    ) {
        let mut memory = self.open(chip, layout);
        for (input, tensor) in compiled.inputs.iter().zip(tensors) {
            if let Some(address) = keys[input.buffer.index()]
                .as_ref()
                .and_then(|it| self.known.get(it))
            {
                let at = layout.offset(Space::Hbm, 0, *address);
                let bytes = tensor.bytes();
                memory.bytes_mut(at, bytes.len() as u64).copy_from_slice(bytes);
            }
        }
    }

    /// The results and the written arguments.
    fn values(&self, chip: Chip<'_>, layout: &Layout, compiled: &Compiled) -> Values {
        let memory = self.open(chip, layout);
        let program: &Program = &compiled.program;
        let keys = keys(compiled);
        let read = |id: nk_compiler::ir::BufferId| {
            let buffer = &program[id];
            let address = keys[id.index()].as_ref().and_then(|it| self.known.get(it));
            let address = address.expect("results and arguments are shared");
            let at = layout.offset(Space::Hbm, 0, *address);
            let shape = buffer.shape.iter().map(|&it| it as usize).collect();
            let bytes = memory.bytes(at, buffer.bytes()).to_vec();
            Tensor::new(buffer.dtype, shape, bytes).expect("a buffer holds what its shape says")
        };
        let written = mutated_inputs(program);
        let mutated = compiled.inputs.iter().filter(|it| written.contains(&it.buffer));
        Values {
            results: program
                .results
                .iter()
                .map(|it| (it.name.clone(), read(it.buffer)))
                .collect(),
            mutated: mutated.map(|it| (it.path.clone(), read(it.buffer))).collect(),
        }
    }
}
