//! The model against what was measured on Trainium1: every figure of the acceptance table (`timing.md` §4.5), ours beside
//! theirs.
//!
//! Takes the table and kernels of our own that do the same work (`tests/truth/`, compiled in), gives the figures with their
//! errors, a summary for each tier, and what each fitted figure would be without its own part in the fit. Runs no values.

mod left_out;
mod table;
mod text;

pub use left_out::{LeftOut, leave_one_out};
pub use table::{Case, Fetched, Figure, Quantity, Tier, cases};
pub use text::{text, to_json};

use crate::profile::Profile;
use crate::session::{Failure, Session, Settings, faster, parse_values};
use nk_compiler::ir::InstId;
use nk_compiler::isa::{Memory, Op};
use nk_compiler::launch::Place;
use nk_compiler::source::Sources;
use nk_compiler::specialize::{ImportRequest, Loaded, Request};
use nk_compiler::target::{TARGETS, Target};
use nk_compiler::{Compiled, compile};
use std::path::Path;

/// The files of the kernels, by the name that an import gives them.
const FILES: &[(&str, &str)] = &[
    ("attention", include_str!("../../tests/truth/attention.nk")),
    ("conv", include_str!("../../tests/truth/conv.nk")),
    ("gemm", include_str!("../../tests/truth/gemm.nk")),
    ("gemm_chain", include_str!("../../tests/truth/gemm_chain.nk")),
    ("instructions", include_str!("../../tests/truth/instructions.nk")),
    ("library", include_str!("../../tests/truth/library.nk")),
    ("mamba", include_str!("../../tests/truth/mamba.nk")),
    ("matmul", include_str!("../../tests/truth/matmul.nk")),
    ("pointwise", include_str!("../../tests/truth/pointwise.nk")),
    ("stream", include_str!("../../tests/truth/stream.nk")),
    ("tiles", include_str!("../../tests/truth/tiles.nk")),
];

/// The chip that all figures were measured on.
pub const MEASURED_ON: &Target = &TARGETS[0];

/// A case and what the model gives for each of its figures.
#[derive(Debug)]
pub struct Measured {
    pub case: &'static Case,
    pub ours: Vec<f64>,
    /// The share of the modelled work that rests on guesses.
    pub guessed: f64,
    /// What the published text gives, where it was at hand.
    pub fetched: Option<FetchedRun>,
}

/// Latency and bytes of the text that was published, which ran in another form.
#[derive(Clone, Debug)]
pub struct FetchedRun {
    pub latency_us: f64,
    pub hbm_read: u64,
    pub hbm_write: u64,
    pub hardware_flops: u64,
}

/// Models every case, with the published texts that lie in a folder.
pub fn measure_all(fetched: Option<&Path>) -> Result<Vec<Measured>, Failure> {
    cases()
        .map(|case| {
            let mut sources = Sources::new();
            let compiled = case.compile(&mut sources)?;
            let profile = Profile::new(&compiled, MEASURED_ON, &sources);
            let ours = case.figures.iter().map(|it| it.quantity.of(&compiled, &profile));
            Ok(Measured {
                case,
                ours: ours.collect(),
                guessed: profile.totals.guessed_share(),
                fetched: match (fetched, &case.fetched) {
                    (Some(folder), Some(it)) => run_fetched(folder, it)?,
                    _ => None,
                },
            })
        })
        .collect()
}

impl Case {
    /// Compiles our kernel of this case.
    pub fn compile(&self, sources: &mut Sources) -> Result<Compiled, Failure> {
        let name = format!("{}.nk", self.file);
        let text = embedded(self.file).expect("the table names files that are compiled in");
        let file = sources.add(name.as_str(), text.to_string());
        let args = self.args.iter().map(|it| (it.0.to_string(), it.1.to_string()));
        let args = parse_values(&args.collect::<Vec<_>>())?;
        let loader = |request: &ImportRequest<'_>| {
            let [module] = request.path[..] else { return None };
            embedded(module).map(|text| Loaded {
                name: format!("{module}.nk"),
                text: text.to_string(),
            })
        };
        let request = Request {
            kernel: Some(self.kernel),
            args: &args,
            params: &[],
            grid: &[],
            place: Place::default(),
            spill: self.spill,
            place_seed: None,
            program_id: &[],
            target: MEASURED_ON,
            dialect: None,
            loader: &loader,
            arrays: &|_, path| Err(format!("{path} is not compiled in")),
        };
        let compiled = compile(sources, file, &request)?;
        Ok(if self.reorder {
            faster(compiled, false, None, MEASURED_ON)
        } else {
            compiled
        })
    }
}

fn embedded(name: &str) -> Option<&'static str> {
    FILES.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// Where the texts lie below a copy of the repository that publishes them.
const TEXTS: [&str; 3] = ["", "kernels", "NKIBench/kernels"];

/// Models the published text of a case, if the folder has it.
fn run_fetched(folder: &Path, fetched: &Fetched) -> Result<Option<FetchedRun>, Failure> {
    let mut paths = TEXTS.iter().map(|it| folder.join(it).join(fetched.path));
    let found = paths.find(|it| it.is_file());
    let Some(path) = found.as_ref().and_then(|it| it.to_str()) else {
        return Ok(None);
    };
    let mut sources = Sources::new();
    let settings = Settings {
        target: MEASURED_ON,
        spill: true,
        ..Settings::default()
    };
    let session = Session::open(&mut sources, path, settings)?;
    let args: Vec<(String, String)> = fetched
        .args
        .iter()
        .map(|it| (it.0.to_string(), it.1.to_string()))
        .collect();
    let job = session.jobs(Some(fetched.kernel), &args)?.swap_remove(0);
    let compiled = session.compile(&mut sources, &job, &[])?;
    let profile = Profile::new(&compiled, MEASURED_ON, &sources);
    Ok(Some(FetchedRun {
        latency_us: latency_us(&profile),
        hbm_read: profile.traffic(Memory::Hbm).read,
        hbm_write: profile.traffic(Memory::Hbm).written,
        hardware_flops: profile.hardware_flops,
    }))
}

fn latency_us(profile: &Profile) -> f64 {
    (profile.totals.total_ps + profile.target.timing.program_overhead_ps) as f64 / 1e6
}

impl Quantity {
    /// What the model gives for it, in the unit of the quantity.
    pub fn of(self, compiled: &Compiled, profile: &Profile) -> f64 {
        let program = &compiled.program;
        let events = |op: Op| {
            program
                .iter()
                .filter(move |it| it.1.op == op)
                .map(|it| *profile.trace.event(it.0))
        };
        let micros = |ps: u64| ps as f64 / 1e6;
        let ends = |memory: Memory| {
            let from = move |id: InstId| {
                program
                    .accesses(&program[id])
                    .nth(1)
                    .map(|it| program.memory(it.1))
            };
            profile
                .trace
                .transfers
                .iter()
                .filter(move |it| from(it.inst) == Some(memory))
                .map(|it| it.end_ps)
        };
        match self {
            Quantity::Latency => latency_us(profile),
            Quantity::Timeline => micros(profile.totals.total_ps),
            Quantity::Duration(op) => events(op)
                .next()
                .map_or(0.0, |it| (it.end_ps - it.start_ps) as f64 / 1e3),
            Quantity::Interval(op) => {
                let starts: Vec<u64> = events(op).take(2).map(|it| it.start_ps).collect();
                starts
                    .last()
                    .zip(starts.first())
                    .map_or(0.0, |(last, first)| (last - first) as f64 / 1e3)
            }
            Quantity::LoadEnd(n) => ends(Memory::Hbm).nth(n).map_or(0.0, micros),
            Quantity::StoreEnd(n) => ends(Memory::Sbuf).nth(n).map_or(0.0, micros),
            Quantity::Active(engine) => micros(profile.totals.busy_ps[engine as usize]),
            Quantity::DmaActive => micros(profile.totals.dma_busy_ps),
            Quantity::HbmRead => profile.traffic(Memory::Hbm).read as f64,
            Quantity::HbmWrite => profile.traffic(Memory::Hbm).written as f64,
            Quantity::Flops => profile.hardware_flops as f64,
            Quantity::TransposeFlops => profile.transpose_flops as f64,
            Quantity::Hfu => {
                100.0 * profile.hardware_flops as f64 / (profile.peak_flops() * latency_us(profile) / 1e6)
            }
            Quantity::Mbu => {
                let rate = profile.target.timing.hbm_core_bytes_per_us as f64;
                100.0 * profile.hbm_bytes() as f64 / (rate * latency_us(profile))
            }
            Quantity::Ridge => profile.ridge(),
            Quantity::Spacing(engine) => {
                let cycles = profile.target.timing.min_ii_cycles;
                profile.target.cycles_to_ps(engine, cycles) as f64 / 1e3
            }
        }
    }

    /// Of shares of a peak the error is a difference, of all others a ratio.
    pub fn error(self, ours: f64, theirs: f64) -> f64 {
        match self {
            Quantity::Hfu | Quantity::Mbu => ours - theirs,
            _ => 100.0 * (ours / theirs - 1.0),
        }
    }
}

impl Measured {
    /// The figures with their errors, in percent.
    pub fn figures(&self) -> impl Iterator<Item = (&'static Figure, f64, f64)> {
        let pairs = self.case.figures.iter().zip(&self.ours);
        pairs.map(|(figure, &ours)| (figure, ours, figure.quantity.error(ours, figure.theirs)))
    }
}

/// The errors of one tier, in percent.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    pub tier: Tier,
    pub count: usize,
    pub mean_signed: f64,
    pub median: f64,
    pub worst: f64,
    /// How many lie beyond their bounds.
    pub beyond: usize,
}

/// Sums up the figures that are predictions, by tier.
pub fn summarise(measured: &[Measured]) -> Vec<Summary> {
    let tiers = [Tier::Exact, Tier::Close, Tier::Spilled, Tier::Far, Tier::Limit];
    tiers
        .into_iter()
        .map(|tier| {
            let figures: Vec<(&Figure, f64)> = measured
                .iter()
                .flat_map(|it| it.figures().map(|(figure, _, error)| (figure, error)))
                .filter(|(figure, _)| figure.tier == tier && !figure.is_fit)
                .collect();
            let mut sizes: Vec<f64> = figures.iter().map(|it| it.1.abs()).collect();
            sizes.sort_by(f64::total_cmp);
            let count = figures.len();
            let half = |idx: usize| sizes.get(idx).copied().unwrap_or(0.0);
            Summary {
                tier,
                count,
                mean_signed: figures.iter().map(|it| it.1).sum::<f64>() / count.max(1) as f64,
                median: (half(count.saturating_sub(1) / 2) + half(count / 2)) / 2.0,
                worst: sizes.last().copied().unwrap_or(0.0),
                beyond: figures
                    .iter()
                    .filter(|(figure, error)| !figure.holds(*error))
                    .count(),
            }
        })
        .collect()
}

impl Figure {
    /// Whether an error lies within the bound.
    pub fn holds(&self, error: f64) -> bool {
        match self.tier {
            // A published limit may not be exceeded, nor be twice what the model gives.
            Tier::Limit => (-50.0..=0.0).contains(&error),
            _ => error.abs() <= self.bound,
        }
    }
}
