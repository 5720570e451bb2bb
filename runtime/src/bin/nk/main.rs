//! The `nk` command: verbs that compile kernels and run them without the hardware.
//!
//! Reads the command line, calls the library, prints what it gives. Product goes to stdout, diagnostics to stderr.
//! Exit codes: 0 clean, 1 the kernel or a value is wrong, 2 usage, 101 a bug of ours.

mod console;
mod options;
mod watch;
mod check;
mod compile;
mod run;
mod memory;
mod isa;
mod profile;
mod review;
mod test;
mod bench;
mod targets;
mod explain;
mod completions;
mod tune;
mod diff;
mod repl;

use clap::{Parser, Subcommand};
use console::{Color, Console, Shape};
use nk_compiler::source::Sources;
use nk_compiler::target::TARGETS;
use options::SettingArgs;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::sync::mpsc::channel;
use std::time::Duration;
use watch::End;

/// Compiles NKI kernels for NeuronCore-v2, runs them on this machine, and models their time.
#[derive(Parser)]
#[command(name = "nk", version = VERSION.as_str(), arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// How results and diagnostics are printed.
    #[arg(long, global = true, value_enum, default_value = "text")]
    format: Shape,
    /// Whether diagnostics have colours.
    #[arg(long, global = true, value_enum, default_value = "auto")]
    color: Color,
}

#[derive(Subcommand)]
enum Verb {
    /// Compile without running: report everything that is wrong.
    Check(check::CheckArgs),
    /// Print the program at a stage.
    Compile(compile::CompileArgs),
    /// Run: emulated values, checks, modelled time.
    Run(run::RunArgs),
    /// Show SBUF and PSUM over the program: who lies where, and for how long.
    Memory(memory::MemoryArgs),
    /// List the instructions, or describe one.
    Isa(isa::IsaArgs),
    /// Show the modelled time and why it is what it is.
    Profile(profile::ProfileArgs),
    /// List the chips and instances, or show the datasheet of one.
    Targets(targets::TargetsArgs),
    /// Say what the code of a message means, or list all codes.
    Explain(explain::ExplainArgs),
    /// Print the completions of a shell.
    Completions(completions::CompletionsArgs),
    /// Run the directives of kernel files as tests.
    Test(test::TestArgs),
    /// Hold the model against published measurements.
    Bench(bench::BenchArgs),
    /// Search the parameters of a kernel for the least modelled time.
    Tune(tune::TuneArgs),
    /// Show what a change of a kernel did to its IR, by line of the source.
    Diff(diff::DiffArgs),
    /// Try things: statements of the kernel language, executed at once on an emulated device.
    Repl(repl::ReplArgs),
}

/// The version of the command, and of the model behind its times.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let targets: Vec<&str> = TARGETS.iter().map(|it| it.name).collect();
    let (version, model) = (env!("CARGO_PKG_VERSION"), nk_runtime::time::MODEL_VERSION);
    format!("{version} (timing model {model} of {})", targets.join(", "))
});

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Clean = 0,
    Wrong = 1,
    Usage = 2,
}

const BUG: u8 = 101;

/// Deeply nested sources are walked recursively; this is room for every depth that the compiler accepts.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    nk_runtime::heap::give_back_tables();
    std::panic::set_hook(Box::new(|info| {
        eprintln!("nk: internal error: {info}");
        eprintln!(
            "nk: this is a bug of nk, not of your kernel; please report it with the command and the file"
        );
    }));
    let cli = Cli::parse();
    let console = Console::new(cli.format, cli.color);
    if let Some(message) = nk_runtime::Level::mistake() {
        return ExitCode::from(console.wrong_use("bad-argument", &message) as u8);
    }
    let settings = cli.verb.settings();
    let says_nothing = settings.is_none() || matches!(cli.verb, Verb::Test(_) | Verb::Repl(_));
    if cli.format == Shape::Sarif && says_nothing {
        let message = "a SARIF document holds the messages about a kernel; this verb has no such messages";
        return ExitCode::from(console.wrong_use("no-such-format", message) as u8);
    }
    if cli.format != Shape::Text && matches!(cli.verb, Verb::Repl(_)) {
        let message = "a session is text, whatever is asked in it; the other verbs print json";
        return ExitCode::from(console.wrong_use("no-such-format", message) as u8);
    }
    if cli.format == Shape::Csv && !matches!(cli.verb, Verb::Tune(_)) {
        let message = "a table is what `nk tune` prints; the other verbs print text or json";
        return ExitCode::from(console.wrong_use("no-such-format", message) as u8);
    }
    if let Some(Err(failure)) = settings.map(SettingArgs::set_limits) {
        let exit = console.failure(&failure, &Sources::new());
        console.finish();
        return ExitCode::from(exit as u8);
    }
    let seconds = settings.and_then(|it| it.timeout);
    let (sender, receiver) = channel();
    let work = move || {
        let exit = match cli.verb {
            Verb::Check(args) => check::check(&args, console),
            Verb::Compile(args) => compile::compile(&args, console),
            Verb::Run(args) => run::run(&args, console),
            Verb::Memory(args) => memory::memory(&args, console),
            Verb::Isa(args) => isa::isa(&args, console),
            Verb::Targets(args) => targets::targets(&args, console),
            Verb::Profile(args) => profile::profile(&args, console),
            Verb::Explain(args) => explain::explain(&args, console),
            Verb::Completions(args) => completions::completions(&args, console),
            Verb::Test(args) => test::test(&args, console),
            Verb::Bench(args) => bench::bench(&args, console),
            Verb::Tune(args) => tune::tune(&args, console),
            Verb::Diff(args) => diff::diff(&args, console),
            Verb::Repl(args) => repl::repl(&args, console),
        };
        console.finish();
        // The receiver is gone only when the time is up, and then nobody wants the answer.
        let _ = sender.send(exit);
    };
    let worker = std::thread::Builder::new()
        .name("nk".to_string())
        .stack_size(STACK_BYTES)
        .spawn(work);
    if let Err(error) = worker {
        eprintln!("nk: cannot start a thread: {error}");
        return ExitCode::from(Exit::Usage as u8);
    }
    let limit = seconds.map_or(Duration::MAX, |it| {
        Duration::try_from_secs_f64(it).unwrap_or(Duration::MAX)
    });
    let exit = match watch::wait(&receiver, limit) {
        End::Done(exit) => exit as u8,
        // The worker has panicked and its hook has spoken.
        End::Panicked => BUG,
        End::Late => {
            console.timeout(limit);
            Exit::Wrong as u8
        }
        End::TooLarge => {
            console.out_of_memory();
            Exit::Wrong as u8
        }
    };
    ExitCode::from(exit)
}

/// Works on several threads at once, each with the stack of this command; by default one for each processor, and never more
/// than there are tasks.
pub fn on_threads(n_threads: Option<u16>, n_tasks: usize, work: impl Fn() + Sync) {
    let n_threads = n_threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    );
    std::thread::scope(|scope| {
        for _ in 0..n_threads.min(n_tasks) {
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
            if thread.spawn_scoped(scope, &work).is_err() {
                // Without a thread the work is done here.
                work();
            }
        }
    });
}

impl Verb {
    /// How it compiles, if it compiles kernels.
    fn settings(&self) -> Option<&SettingArgs> {
        match self {
            Verb::Check(args) => Some(&args.source.settings),
            Verb::Compile(args) => Some(&args.source.settings),
            Verb::Run(args) => Some(&args.source.settings),
            Verb::Memory(args) => Some(&args.source.settings),
            Verb::Profile(args) => Some(&args.source.settings),
            Verb::Tune(args) => Some(&args.source.settings),
            Verb::Diff(args) => Some(&args.source.settings),
            Verb::Test(args) => Some(&args.settings),
            Verb::Repl(args) => Some(&args.settings),
            Verb::Isa(_) | Verb::Targets(_) | Verb::Explain(_) | Verb::Completions(_) | Verb::Bench(_) => {
                None
            }
        }
    }
}
