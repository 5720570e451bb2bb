//! A kernel on several ranks: cores of a chip, of an instance or of several, that exchange tensors by collectives.
//!
//! Takes a job, compiles it for each rank (once, when it does not ask for its rank), gives each rank its part of the
//! arguments and a thread, memory and HBM of its own. Gives the values of every rank. Ranks meet in the fabric.

use super::outside::OutOfRange;
use super::run::{
    Ran, Values, Wall, clocked, emulation_order, missing_argument, mutated_inputs, places, prints, read,
};
use super::{Failure, Job, Modelled, RunOptions, RunOrder, Session, arguments};
use crate::fabric::{Fabric, Link};
use crate::machine::Site;
use crate::memory::{Layout, Reservation, Seat};
use crate::profile::cores::{Lane, Together};
use crate::profile::trip_counts;
use crate::tensor::Tensor;
use crate::time::{Fleet, Timed, time, time_together};
use crate::trace::Trace;
use crate::watch::{Manner, Sanitized, Watch, WatchReport};
use crate::{Execution, Fault, Machine};
use nk_compiler::Compiled;
use nk_compiler::diagnostic::{Diagnostic, Report};
use nk_compiler::ir::InstId;
use nk_compiler::launch::Place;
use nk_compiler::source::Sources;
use nk_compiler::target::Target;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

/// The most ranks that run in one process.
pub const MAX_RANKS: u32 = 64;

const STACK_BYTES: usize = 16 << 20;

/// What a rank has done.
struct Done {
    values: Values,
    printed: String,
    path: Vec<u32>,
    out_of_range: Vec<(InstId, u64)>,
    fault: Option<(Fault, Diagnostic)>,
    watched: WatchReport,
}

impl Session {
    /// Compiles a job for each of its ranks; ranks that do not ask for their number share a program.
    pub fn compile_ranks(
        &self,
        sources: &mut Sources,
        job: &Job,
        n_ranks: u32,
    ) -> Result<Vec<Arc<Compiled>>, Failure> {
        let usage = |message: String| Failure::usage(Diagnostic::error("bad-ranks", message));
        if n_ranks > MAX_RANKS {
            return Err(usage(format!(
                "{n_ranks} ranks; at most {MAX_RANKS} run in one process"
            )));
        }
        if job.grid.n_programs() > 1 || job.cores > 1 {
            return Err(usage(
                "a kernel runs on ranks or on a grid, not on both".to_string(),
            ));
        }
        let mut compiled: Vec<Arc<Compiled>> = Vec::new();
        for rank in 0..n_ranks {
            if let Some(first) = compiled.first().filter(|it| !it.reads_place) {
                compiled.push(first.clone());
                continue;
            }
            let place = Place {
                rank,
                n_ranks,
                is_paired: false,
            };
            compiled.push(Arc::new(self.compile_at(sources, job, &[], place)?));
        }
        Ok(compiled)
    }

    /// The machine of a job's ranks.
    pub fn fleet(&self, job: &Job, n_ranks: u32) -> Fleet<'static> {
        let target = self.settings.target;
        match job.instance {
            Some(it) => Fleet::new(it, target),
            None => Fleet::of_ranks(target, n_ranks),
        }
    }

    /// The timeline of every rank.
    pub fn time_ranks(&self, job: &Job, compiled: &[Arc<Compiled>]) -> Vec<Trace> {
        let fleet = self.fleet(job, compiled.len() as u32);
        let programs: Vec<Timed<'_>> = compiled
            .iter()
            .map(|it| Timed {
                program: &it.program,
                placement: &it.placement,
                schedule: &it.schedule,
            })
            .collect();
        time_together(&programs, &fleet, self.settings.target)
    }

    /// The programs of a launch on several cores or ranks, each with its timeline; `None` for a launch on one core.
    pub fn lanes(&self, sources: &mut Sources, job: &Job) -> Result<Option<(Vec<Lane>, Together)>, Failure> {
        let target = self.settings.target;
        if let Some(n_ranks) = job.ranks {
            let compiled = self.compile_ranks(sources, job, n_ranks)?;
            let traces = self.time_ranks(job, &compiled);
            let lanes = compiled.into_iter().zip(traces).enumerate();
            let lane = |(core, (compiled, trace))| Lane {
                core,
                compiled,
                trace,
                start_ps: 0,
            };
            return Ok(Some((lanes.map(lane).collect(), Together::Ranks)));
        }
        if job.cores < 2 && job.grid.split.is_none() {
            return Ok(None);
        }
        let mut compiled: Vec<Arc<Compiled>> = Vec::new();
        for at in job.grid.programs() {
            match compiled.first().filter(|it| !it.reads_place) {
                Some(first) => compiled.push(first.clone()),
                None => compiled.push(Arc::new(self.compile(sources, job, &at)?)),
            }
        }
        let traces: Vec<Trace> = if job.grid.is_paired() {
            self.time_ranks(job, &compiled)
        } else {
            let alone = |it: &Arc<Compiled>| time(&it.program, &it.placement, &it.schedule, target);
            compiled.iter().map(alone).collect()
        };
        let mut ends_ps = vec![0u64; target.cores as usize];
        let mut lanes = Vec::new();
        for (number, at) in job.grid.programs().iter().enumerate() {
            let core = job.grid.core_of(at, number, target.cores) as usize;
            let (compiled, trace) = (compiled[number].clone(), traces[number].clone());
            let control = compiled.program.control();
            let (counts, _) = trip_counts(&compiled.program, &control);
            let start_ps = ends_ps[core];
            ends_ps[core] = start_ps.saturating_add(trace.along(&control, &counts).total_ps);
            lanes.push(Lane {
                core,
                compiled,
                start_ps,
                trace,
            });
        }
        Ok(Some((lanes, Together::Cores)))
    }

    /// The first program of a job with its timeline: among its ranks, or beside the program of the other core.
    pub fn first_timed(&self, sources: &mut Sources, job: &Job) -> Result<(Arc<Compiled>, Trace), Failure> {
        if (job.ranks.is_some() || job.grid.is_paired())
            && let Some((lanes, _)) = self.lanes(sources, job)?
            && let Some(first) = lanes.into_iter().next()
        {
            return Ok((first.compiled, first.trace));
        }
        let compiled = self.compile(sources, job, &job.first_program())?;
        let trace = time(
            &compiled.program,
            &compiled.placement,
            &compiled.schedule,
            self.settings.target,
        );
        Ok((Arc::new(compiled), trace))
    }

    pub(super) fn run_ranks(
        &self,
        sources: &mut Sources,
        job: &Job,
        n_ranks: u32,
        options: &RunOptions,
        tensors: &[Tensor],
        wall: &mut Wall,
    ) -> Result<Ran, Failure> {
        let compiled = clocked(&mut wall.compile, || self.compile_ranks(sources, job, n_ranks))?;
        if let Some(failure) = missing_argument(&compiled[0]) {
            return Err(failure);
        }
        let traces = self.time_ranks(job, &compiled);
        let splits = arguments::splits(&job.args);
        let target = self.settings.target;
        let started = Instant::now();
        let links = Fabric::links(n_ranks);
        let done: Vec<Done> = std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for (rank, link) in links.iter().enumerate() {
                let (compiled, trace, splits) = (&compiled[rank], &traces[rank], &splits);
                let work = move || {
                    let parts = tensors.iter().zip(splits).map(|(tensor, split)| match split {
                        Some(axis) => Cow::Owned(tensor.part(*axis, rank, n_ranks as usize)),
                        None => Cow::Borrowed(tensor),
                    });
                    execute(compiled, trace, parts, link, options, target)
                };
                let thread = std::thread::Builder::new()
                    .name(format!("rank {rank}"))
                    .stack_size(STACK_BYTES)
                    .spawn_scoped(scope, work);
                match thread {
                    Ok(it) => threads.push(it),
                    // The others must not wait for it.
                    Err(_) => links[rank].end(),
                }
            }
            let join = |it: std::thread::ScopedJoinHandle<'_, Done>| {
                it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        wall.emulate = started.elapsed();
        let first = &compiled[0];
        let printed = done.iter().map(|it| &*it.printed).collect::<String>();
        let printed = first.printed.clone() + &printed;
        let mut warnings = first.warnings.clone();
        let faults = done.iter().filter_map(|it| it.fault.as_ref());
        let own = faults.clone().find(|it| !matches!(it.0, Fault::Exchange { .. }));
        let fault = own.or_else(|| faults.clone().next());
        let fault = fault.map(|(fault, report)| match fault {
            Fault::Exchange { .. } => links[0].failure().unwrap_or_else(|| report.clone()),
            _ => report.clone(),
        });
        if let Some(fault) = fault {
            return Err(Failure {
                printed,
                ..Failure::kernel(vec![fault])
            });
        }
        if done.len() < n_ranks as usize {
            let diagnostic = Diagnostic::error("no-thread", "cannot start a thread for every rank");
            return Err(Failure::usage(diagnostic));
        }
        let (mut modelled, mut outside) = (Modelled::default(), OutOfRange::default());
        let mut sanitized = Sanitized::default();
        for (rank, it) in done.iter().enumerate() {
            sanitized.add(it.watched.sanitized.unwrap_or_default());
            wall.watch += it.watched.spent;
            modelled.join(&Modelled::of(&compiled[rank], &traces[rank], &it.path, rank));
            outside.add(&compiled[rank].program, &it.out_of_range);
        }
        warnings.extend(outside.reports());
        Ok(Ran {
            kernel: first.program.name.clone(),
            ranks: done.into_iter().map(|it| it.values).collect(),
            modelled,
            warnings,
            printed,
            places: places(&first.program),
            unset: Vec::new(),
            sanitized,
        })
    }
}

/// Executes the program of a rank.
fn execute<'t>(
    compiled: &Compiled,
    trace: &Trace,
    parts: impl Iterator<Item = Cow<'t, Tensor>>,
    link: &Link,
    options: &RunOptions,
    target: &'static Target,
) -> Done {
    let program = &compiled.program;
    let layout = Layout::new(program, &compiled.placement, target);
    let site = Site {
        reservation: Reservation::new(&layout),
        seat: Seat {
            core: 0,
            n_cores: 1,
            hbm_bytes: layout.hbm_bytes,
        },
        hbm: vec![(0, layout.hbm_bytes)],
        link: link.clone(),
        is_shared: Vec::new(),
    };
    let execution = Execution {
        rounding: options.rounding.of_program(link.rank as usize),
        ..Execution::new(options.emulator)
    };
    let (placement, first) = (&compiled.placement, &compiled.first_writes);
    let mut machine = Machine::load_at(program, placement, first, target, execution, site);
    for (input, part) in compiled.inputs.iter().zip(parts) {
        machine.write(input.buffer, part.bytes());
    }
    let order = emulation_order(compiled, trace, options.order);
    // Another rank may write what this one reads.
    let manner = Manner {
        in_order: options.order == RunOrder::Program,
        alone: false,
    };
    let mut watch = (!options.lookout.is_idle()).then(|| {
        let layout = machine.layout();
        Watch::new(program, placement, first, layout, &options.lookout, manner)
    });
    let fault = machine.run_watched(&order, watch.as_mut()).err();
    link.end();
    let written = mutated_inputs(program);
    let mutated = compiled.inputs.iter().filter(|it| written.contains(&it.buffer));
    let results = program.results.iter();
    Done {
        values: Values {
            results: results
                .map(|it| (it.name.clone(), read(&machine, program, it.buffer)))
                .collect(),
            mutated: mutated
                .map(|it| (it.path.clone(), read(&machine, program, it.buffer)))
                .collect(),
        },
        printed: prints(&machine, program),
        path: machine.path().to_vec(),
        out_of_range: machine.out_of_range(),
        fault: fault.map(|it| (it.clone(), it.describe(program).report())),
        watched: watch.as_ref().map(Watch::report).unwrap_or_default(),
    }
}
