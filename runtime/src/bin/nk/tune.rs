//! `nk tune`: the parameters with which a kernel is modelled to be fastest.

use crate::console::{Console, Format, Shape};
use crate::options::{SettingArgs, SourceArgs, usage, write_file};
use crate::{Exit, on_threads};
use nk_compiler::source::Sources;
use nk_runtime::session::{Failure, Job, Session};
use nk_runtime::time::MODEL_VERSION;
use nk_runtime::tune::{self, Axis, Candidate, Record, Strategy};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct TuneArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// How combinations are chosen.
    #[arg(long, value_enum, default_value = "grid")]
    search: Search,
    /// Combinations that a random or a climbing search tries.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// The seed of a random or a climbing search.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Run the best so many and compare their values with the reference.
    #[arg(long, value_name = "K", num_args = 0..=1, default_missing_value = "3")]
    verify: Option<usize>,
    /// Combinations at the same time; by default one for each processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Keep results in a file, and go on with those that it holds.
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// Draw the times: a line over one parameter, a heat map over two.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Search {
    Grid,
    Random,
    Climb,
}

/// More combinations than this are sampled, not listed.
const MAX_GRID: usize = 1_000_000;

pub fn tune(args: &TuneArgs, console: Console) -> Exit {
    let mut sources = Sources::new();
    match run(args, console, &mut sources) {
        Ok(exit) => exit,
        Err(failure) => console.failure(&failure, &sources),
    }
}

fn run(args: &TuneArgs, console: Console, sources: &mut Sources) -> Result<Exit, Failure> {
    let axes = axes(args)?;
    if args.svg.is_some() && axes.len() > 2 {
        let message = format!("{} parameters; one or two are drawn", axes.len());
        return Err(usage("no-plot", message));
    }
    let (session, job) = open(args, sources)?;
    let n_points = tune::n_points(&axes);
    let samples = args.samples as usize;
    let (strategy, n_wanted) = match args.search {
        Search::Grid if n_points > MAX_GRID => {
            let message = format!("{n_points} combinations; a grid has at most {MAX_GRID}");
            return Err(usage("too-many-combinations", message));
        }
        Search::Grid => (Strategy::Grid, n_points),
        Search::Random => (
            Strategy::Random {
                samples,
                seed: args.seed,
            },
            samples.min(n_points),
        ),
        Search::Climb => (
            Strategy::Climb {
                samples,
                seed: args.seed,
            },
            samples.min(n_points),
        ),
    };
    // A name that nothing has is a mistake of the command line, not a reason to skip every combination.
    let first: Vec<usize> = vec![0; axes.len()];
    let probe = tune::measure(&session, sources, &job, &tune::params(&axes, &first));
    if let tune::Verdict::Skipped { code, message } = probe
        && let Some(code) = ["unknown-param", "unknown-kernel"]
            .into_iter()
            .find(|it| *it == code)
    {
        return Err(usage(code, message));
    }
    let (record, known) = match &args.results {
        None => (None, Vec::new()),
        Some(path) => {
            let identity = identity(args, &session, &job, sources);
            let (record, known) =
                tune::open(path, &identity, &axes).map_err(|it| usage("bad-results", it))?;
            (Some(record), known)
        }
    };
    let workers = Workers {
        args,
        axes: &axes,
        record: Mutex::new(record),
        progress: Progress::new(n_wanted.saturating_sub(known.len())),
    };
    let candidates = tune::search(&axes, strategy, known, &mut |points| workers.measure(points));
    workers.progress.end();
    if let Some(path) = &args.svg {
        let kernel = job.kernel.clone().unwrap_or_else(|| "kernel".to_string());
        // More parameters than can be drawn were refused above.
        let svg = tune::svg(&kernel, &axes, &candidates).unwrap_or_default();
        write_file(path, &svg)?;
    }
    let ranked = tune::ranked(&candidates);
    let best = ranked.iter().take(args.verify.unwrap_or(0));
    let verified: Vec<Option<String>> = best
        .map(|(it, _)| tune::verify(&session, sources, &job, &tune::params(&axes, &it.point)).err())
        .collect();
    match (console.format, console.shape == Shape::Csv) {
        (_, true) => console.product(&tune::csv(&axes, &candidates)),
        (Format::Json, _) => console.product(&format!("{}\n", tune::json(&axes, &candidates, &verified))),
        (Format::Text, _) => {
            let kernel = job.kernel.as_deref().unwrap_or("kernel");
            console.product(&format!(
                "{kernel} on {}\n{}",
                args.source.settings.target,
                tune::text(&axes, &candidates)
            ));
            for (rank, wrong) in verified.iter().enumerate() {
                let said = wrong.as_deref().unwrap_or("the values are right");
                console.product(&format!("  rank {}: {said}\n", rank + 1));
            }
        }
    }
    let is_good = !ranked.is_empty() && verified.iter().all(Option::is_none);
    Ok(if is_good { Exit::Clean } else { Exit::Wrong })
}

fn axes(args: &TuneArgs) -> Result<Vec<Axis>, Failure> {
    let texts = args.source.params.iter().map(|it| format!("{}={}", it.0, it.1));
    let axes = texts
        .map(|it| tune::axis(&it))
        .collect::<Result<Vec<Axis>, String>>();
    let axes = axes.map_err(|it| usage("bad-range", it))?;
    if let Some((_, it)) = axes
        .iter()
        .enumerate()
        .find(|(idx, it)| axes[..*idx].iter().any(|other| other.name == it.name))
    {
        let message = format!(
            "`{0}` is searched twice; write all of its values behind one --param {0}=",
            it.name
        );
        return Err(usage("bad-range", message));
    }
    if axes.is_empty() {
        return Err(usage(
            "no-parameters",
            "name something to search: --param TILE_N=128,256,512".to_string(),
        ));
    }
    Ok(axes)
}

/// The file and the kernel: the first that the file announces to run, unless one is named.
fn open(args: &TuneArgs, sources: &mut Sources) -> Result<(Session, Job), Failure> {
    let session = args.source.without_params().open(sources)?;
    let job = args.source.jobs(&session)?.swap_remove(0);
    Ok((session, job))
}

/// What a results file belongs to: everything that a time depends on, but for the parameters that are searched.
fn identity(args: &TuneArgs, session: &Session, job: &Job, sources: &Sources) -> Value {
    // FNV-1a: enough to see that the source is another one.
    let text = sources.text_of(session.file()).bytes();
    let hash = text.fold(0xcbf2_9ce4_8422_2325u64, |hash, it| {
        (hash ^ u64::from(it)).wrapping_mul(0x100_0000_01b3)
    });
    let SettingArgs {
        target,
        root,
        sbuf_reserve,
        spill,
        schedule,
        place_seed,
        dialect,
        ..
    } = &args.source.settings;
    json!({
        "model": MODEL_VERSION,
        "file": args.source.path(),
        "kernel": job.kernel,
        "source": format!("{hash:016x}"),
        "args": format!("{:?}", job.args),
        "grid": format!("{:?}", job.grid),
        "target": target,
        "root": root,
        "sbuf_reserve": sbuf_reserve,
        "spill": spill,
        "schedule": format!("{schedule:?}"),
        "place_seed": place_seed,
        "dialect": dialect,
    })
}

struct Workers<'a> {
    args: &'a TuneArgs,
    axes: &'a [Axis],
    record: Mutex<Option<Record>>,
    progress: Progress,
}

/// Sources keep every file that was read, imports of each candidate too; so many candidates share one table.
const CANDIDATES_PER_SOURCES: usize = 64;

impl Workers<'_> {
    fn measure(&self, points: Vec<Vec<usize>>) -> Vec<Candidate> {
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<Candidate>> = Mutex::new(Vec::new());
        on_threads(self.args.jobs, points.len(), || self.work(&points, &next, &done));
        done.into_inner().unwrap_or_else(|it| it.into_inner())
    }

    fn work(&self, points: &[Vec<usize>], next: &AtomicUsize, done: &Mutex<Vec<Candidate>>) {
        'files: loop {
            let mut sources = Sources::new();
            // The file was opened before; one that has gone since gives no more results.
            let Ok((session, job)) = open(self.args, &mut sources) else {
                return;
            };
            for _ in 0..CANDIDATES_PER_SOURCES {
                let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) else {
                    break 'files;
                };
                let params = tune::params(self.axes, point);
                let verdict = tune::measure(&session, &mut sources, &job, &params);
                let candidate = Candidate {
                    point: point.clone(),
                    verdict,
                };
                let mut record = self.record.lock().unwrap_or_else(|it| it.into_inner());
                if let Some(file) = record.as_mut()
                    && let Err(error) = file.add(&candidate)
                {
                    eprintln!("nk: results are no longer written: {error}");
                    *record = None;
                }
                drop(record);
                self.progress.step();
                done.lock().unwrap_or_else(|it| it.into_inner()).push(candidate);
            }
        }
    }
}

/// A bar on a terminal, for a search of more than a second.
struct Progress {
    total: usize,
    done: AtomicUsize,
    started: Instant,
    is_shown: bool,
}

impl Progress {
    fn new(total: usize) -> Progress {
        Progress {
            total,
            done: AtomicUsize::new(0),
            started: Instant::now(),
            is_shown: std::io::stderr().is_terminal(),
        }
    }

    fn step(&self) {
        const WIDTH: usize = 40;
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let seconds = self.started.elapsed();
        if !self.is_shown || seconds < Duration::from_secs(1) {
            return;
        }
        let filled = (WIDTH * done / self.total.max(1)).min(WIDTH);
        let bar = format!("{}{}", "#".repeat(filled), ".".repeat(WIDTH - filled));
        let rate = done as f64 / seconds.as_secs_f64();
        // A bar that cannot be drawn is lost: there is nowhere else to say so.
        let _ = write!(
            std::io::stderr().lock(),
            "\r[{bar}] {done}/{} {rate:.0}/s ",
            self.total
        );
    }

    fn end(&self) {
        if self.is_shown && self.started.elapsed() >= Duration::from_secs(1) {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}
