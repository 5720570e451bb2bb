//! Options that several verbs have.

use nk_compiler::diagnostic::Diagnostic;
use nk_compiler::launch::Grid;
use nk_compiler::limits;
use nk_compiler::source::Sources;
use nk_compiler::specialize::Dialect;
use nk_compiler::target::datasheet::datasheet;
use nk_compiler::target::{Instance, TARGETS, Target};
use nk_runtime::session::{Failure, Job, Session, Settings, check_grid, json_args};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where programs run, and how they are compiled.
#[derive(clap::Args, Clone)]
pub struct SettingArgs {
    /// The chip, or an instance of several chips.
    #[arg(long, value_name = "NAME", default_value = TARGETS[0].name)]
    pub target: String,
    /// Give up after so many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = amount)]
    pub timeout: Option<f64>,
    /// Another bound on what a kernel may ask of this machine, e.g. instructions=1000000.
    #[arg(long = "limit", value_name = "NAME=N", value_parser = pair)]
    limits: Vec<(String, String)>,
    /// Where absolute imports begin; by default above the topmost __init__.py.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Bytes of each SBUF partition that kernels may not use.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    pub sbuf_reserve: u32,
    /// Let tiles that do not fit into SBUF move to HBM and back.
    #[arg(long)]
    pub spill: bool,
    /// The order in which engines get instructions: that of the program, or one in which they wait less, where the model finds it
    /// faster.
    #[arg(long, value_enum, default_value = "program")]
    pub schedule: Schedule,
    /// Another choice among equally good placements.
    #[arg(long, value_name = "N")]
    pub place_seed: Option<u64>,
    /// A version of NKI, 0.1 to 0.6: what it no longer has is an error instead of a warning.
    #[arg(long, value_name = "VERSION")]
    pub dialect: Option<String>,
}

/// A file and what is done with it.
#[derive(clap::Args, Clone)]
pub struct SourceArgs {
    /// The file, and the kernel if it holds several.
    #[arg(value_name = "FILE[::KERNEL]")]
    pub file: String,
    /// An argument of the kernel: @x.npy, @x.npz:key, @x.safetensors:key, f32[128,512]:randn(0), or an expression; f32[128,512] is
    /// enough where nothing runs.
    #[arg(long = "arg", value_name = "NAME=VALUE", value_parser = pair)]
    args: Vec<(String, String)>,
    /// Arguments as one JSON object of names and values.
    #[arg(long, value_name = "FILE")]
    args_json: Option<PathBuf>,
    /// A value for a module-level constant, or for a parameter with a default.
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = pair)]
    pub params: Vec<(String, String)>,
    /// The launch grid: one program of the kernel for each of its points.
    #[arg(long, value_name = "N[,M…]", value_parser = Grid::parse)]
    grid: Option<Grid>,
    /// Cores of the chip that share the grid; an axis nl.nc(2) of the grid asks for both itself.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=2))]
    cores: u32,
    /// Run the kernel on so many ranks, each a core with memory of its own, which exchange tensors by collectives.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    ranks: Option<u32>,
    #[command(flatten)]
    pub settings: SettingArgs,
}

/// Who decides the order of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Schedule {
    Program,
    Reorder,
}

impl SettingArgs {
    /// What holds for a file under these options.
    pub fn settings(&self, params: Vec<(String, String)>) -> Result<Settings, Failure> {
        let mut known = BTreeSet::new();
        if let Some((name, _)) = params.iter().find(|it| !known.insert(&it.0)) {
            return Err(usage(
                "bad-argument",
                format!("--param gives `{name}` two values"),
            ));
        }
        Ok(Settings {
            target: self.target()?,
            dialect: self.dialect()?,
            params,
            spill: self.spill,
            reorder: self.schedule == Schedule::Reorder,
            place_seed: self.place_seed,
            root: self.root.clone(),
        })
    }

    /// Sets the bounds of the process; before anything else is done.
    pub fn set_limits(&self) -> Result<(), Failure> {
        let mut limits = limits::DEFAULT;
        for (name, text) in &self.limits {
            let value: Result<u64, String> = text.trim().parse().map_err(|it| format!("{name}={text}: {it}"));
            let with = value.and_then(|it| limits.with(name, it));
            limits = with.map_err(|it| usage("bad-limit", it))?;
        }
        limits::set(limits);
        Ok(())
    }

    fn target(&self) -> Result<&'static Target, Failure> {
        let instance = Instance::from_name(&self.target).map(Instance::target);
        let Some(target) = Target::from_name(&self.target).or(instance) else {
            let names: Vec<&str> = TARGETS.iter().map(|it| it.name).collect();
            let what = match datasheet(&self.target) {
                Some(sheet) => format!("`{}` is known and not modelled", sheet.name),
                None => format!("`{}` is no target", self.target),
            };
            let message = format!("{what}; programs run on {} and their instances", names.join(", "));
            return Err(usage("unknown-target", message));
        };
        if self.sbuf_reserve == 0 {
            return Ok(target);
        }
        let left = target.sbuf_partition_bytes.checked_sub(self.sbuf_reserve);
        let Some(sbuf_partition_bytes) = left.filter(|it| *it > 0) else {
            let message = format!(
                "a partition has {} bytes; none would be left",
                target.sbuf_partition_bytes
            );
            return Err(usage("bad-reserve", message));
        };
        // A target lives as long as the command.
        Ok(Box::leak(Box::new(Target {
            sbuf_partition_bytes,
            ..target.clone()
        })))
    }

    fn dialect(&self) -> Result<Option<Dialect>, Failure> {
        let Some(name) = &self.dialect else {
            return Ok(None);
        };
        match Dialect::from_name(name) {
            Some(it) => Ok(Some(it)),
            None => Err(usage(
                "unknown-dialect",
                format!("{name} is no version of NKI; there are 0.1 to 0.6"),
            )),
        }
    }
}

impl SourceArgs {
    /// Opens the file.
    pub fn open(&self, sources: &mut Sources) -> Result<Session, Failure> {
        let settings = self.settings.settings(self.params.clone())?;
        Session::open(sources, self.path(), settings)
    }

    /// What is to be done with it.
    pub fn jobs(&self, session: &Session) -> Result<Vec<Job>, Failure> {
        if let Some(grid) = &self.grid {
            check_grid(grid).map_err(Failure::usage)?;
        }
        let mut args = self.args.clone();
        if let Some(path) = &self.args_json {
            let shown = path.display();
            let text = std::fs::read_to_string(path);
            let text = text.map_err(|it| usage("file-unreadable", format!("{shown}: {it}")))?;
            let others = json_args(&text).map_err(|it| usage("malformed-file", format!("{shown}: {it}")))?;
            // What the command line says itself comes before what a file says.
            args.extend(
                others
                    .into_iter()
                    .filter(|it| self.args.iter().all(|own| own.0 != it.0)),
            );
        }
        let mut jobs = session.jobs(self.path_and_kernel().1, &args)?;
        for job in &mut jobs {
            job.grid = self.grid.clone().unwrap_or_else(|| std::mem::take(&mut job.grid));
            job.cores = self.cores.max(job.cores);
            job.ranks = self.ranks.or(job.ranks);
            job.instance = Instance::from_name(&self.settings.target);
        }
        Ok(jobs)
    }

    /// The same options for another file.
    pub fn of_file(&self, file: &str) -> SourceArgs {
        SourceArgs {
            file: file.to_string(),
            ..self.clone()
        }
    }

    /// The same file with the values that it gives itself.
    pub fn without_params(&self) -> SourceArgs {
        SourceArgs {
            params: Vec::new(),
            ..self.clone()
        }
    }

    /// The path of the file.
    pub fn path(&self) -> &str {
        self.path_and_kernel().0
    }

    fn path_and_kernel(&self) -> (&str, Option<&str>) {
        match self.file.rsplit_once("::") {
            Some((path, kernel)) => (path, Some(kernel)),
            None => (&self.file, None),
        }
    }
}

/// Writes a file that the command line names.
pub fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let written = nk_runtime::output::write(path, text);
    written.map_err(|it| usage("file-unwritable", format!("{}: {it}", path.display())))
}

pub fn usage(code: &'static str, message: String) -> Failure {
    Failure::usage(Diagnostic::error(code, message))
}

/// Reads `NAME=VALUE`.
pub fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok((name.trim().to_string(), value.to_string()))
}

/// Reads a finite number that is not negative.
pub fn amount(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().map_err(|it| it.to_string())?;
    if number >= 0.0 && number.is_finite() {
        Ok(number)
    } else {
        Err("write a finite number from 0 on".to_string())
    }
}
