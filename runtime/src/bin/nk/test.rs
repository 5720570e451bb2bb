//! `nk test`: kernel files as tests, printed like cargo's.

use crate::console::{Console, Format};
use crate::options::{SettingArgs, usage};
use crate::review::review;
use crate::{Exit, on_threads};
use nk_compiler::source::Sources;
use nk_runtime::session::Failure;
use nk_runtime::testing::{self, Case, Snapshots, Verdict};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(clap::Args)]
pub struct TestArgs {
    /// Kernel files, and folders that hold some.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Write snapshots that are missing or differ.
    #[arg(long, conflicts_with = "ci")]
    accept: bool,
    /// Ask for each snapshot that is missing or differs.
    #[arg(long, conflicts_with_all = ["accept", "ci"])]
    review: bool,
    /// Fail on snapshots that no directive names.
    #[arg(long)]
    ci: bool,
    /// Print the names of the tests only.
    #[arg(long)]
    list: bool,
    /// Run tests whose name holds this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Tests at the same time; by default one for each processor.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    #[command(flatten)]
    pub settings: SettingArgs,
}

pub fn test(args: &TestArgs, console: Console) -> Exit {
    match run(args, console) {
        Ok(exit) => exit,
        Err(failure) => console.failure(&failure, &Sources::new()),
    }
}

fn run(args: &TestArgs, console: Console) -> Result<Exit, Failure> {
    let settings = args.settings.settings(Vec::new())?;
    let paths = testing::find(&args.paths).map_err(|it| usage("file-unreadable", it))?;
    let wanted = |name: &str| args.filter.as_ref().is_none_or(|it| name.contains(it.as_str()));
    if args.list {
        let names = paths.iter().flat_map(|it| testing::list(it, &settings));
        let lines: String = names.filter(|it| wanted(it)).map(|it| it + ": test\n").collect();
        console.product(&lines);
        return Ok(Exit::Clean);
    }
    let snapshots = match (args.accept, args.ci) {
        (true, _) => Snapshots::Accept,
        (_, true) => Snapshots::Strict,
        _ => Snapshots::Compare,
    };
    let run_file = |path: &Path| testing::run(path, &settings, snapshots, wanted);
    let mut cases = run_all(&paths, args.jobs, run_file, console);
    if args.ci {
        cases.extend(testing::orphans(&paths).into_iter().map(|it| Case {
            name: it.display().to_string(),
            verdict: Verdict::Failed("no kernel file has this snapshot\n".to_string()),
            pending: Vec::new(),
            is_value_right: false,
        }));
    }
    if args.review {
        review(&mut cases, console);
    }
    Ok(summary(&cases, console))
}

/// Runs files on several threads, and prints the results of each as it is done.
fn run_all(
    paths: &[PathBuf],
    jobs: Option<u16>,
    run_file: impl Fn(&Path) -> Vec<Case> + Sync,
    console: Console,
) -> Vec<Case> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Vec<Case>)>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(number) else { break };
            let cases = run_file(path);
            let lines: String = cases.iter().map(line).collect();
            let mut done = done.lock().unwrap_or_else(|it| it.into_inner());
            if console.format == Format::Text {
                console.product(&lines);
            }
            done.push((number, cases));
        }
    };
    on_threads(jobs, paths.len(), work);
    let mut done = done.into_inner().unwrap_or_else(|it| it.into_inner());
    done.sort_by_key(|it| it.0);
    done.into_iter().flat_map(|it| it.1).collect()
}

fn line(case: &Case) -> String {
    let verdict = match case.verdict {
        Verdict::Ok => "ok",
        Verdict::Accepted => "ok, snapshot written",
        Verdict::Failed(_) => "FAILED",
    };
    format!("test {} ... {verdict}\n", case.name)
}

fn summary(cases: &[Case], console: Console) -> Exit {
    let failed: Vec<(&Case, &String)> = cases
        .iter()
        .filter_map(|it| match &it.verdict {
            Verdict::Failed(why) => Some((it, why)),
            Verdict::Ok | Verdict::Accepted => None,
        })
        .collect();
    let (n_passed, n_failed) = (cases.len() - failed.len(), failed.len());
    match console.format {
        Format::Json => {
            let case = |it: &Case| match &it.verdict {
                Verdict::Ok => json!({"name": it.name, "ok": true}),
                Verdict::Accepted => json!({"name": it.name, "ok": true, "accepted": true}),
                Verdict::Failed(why) => json!({"name": it.name, "ok": false, "message": why}),
            };
            let cases: Vec<_> = cases.iter().map(case).collect();
            let object = json!({"passed": n_passed, "failed": n_failed, "tests": cases});
            console.product(&format!("{object}\n"));
        }
        Format::Text => {
            for (case, why) in &failed {
                console.product(&format!("\n---- {} ----\n{why}", case.name));
            }
            let result = if n_failed == 0 { "ok" } else { "FAILED" };
            console.product(&format!(
                "\ntest result: {result}. {n_passed} passed, {n_failed} failed\n"
            ));
        }
    }
    if cases.is_empty() {
        // A run of nothing proves nothing.
        return console.failure(
            &usage("no-tests", "no test was found below these paths".to_string()),
            &Sources::new(),
        );
    }
    if n_failed == 0 { Exit::Clean } else { Exit::Wrong }
}
