//! `nk check`: all stages of the compiler, no execution. `--fix` makes the edits that its messages are sure of.

use crate::Exit;
use crate::console::{Console, Format};
use crate::options::{SourceArgs, write_file};
use nk_compiler::Compiled;
use nk_compiler::diagnostic::{Diagnostic, fixed};
use nk_compiler::source::Sources;
use nk_compiler::spill::Spilled;
use nk_runtime::report::order_json;
use nk_runtime::session::{Blame, Failure, Job};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

#[derive(clap::Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// Change the file where a message is sure of the edit.
    #[arg(long)]
    fix: bool,
}

/// Everything that was found.
struct Findings {
    diagnostics: Vec<Diagnostic>,
    printed: String,
    lines: String,
    kernels: Vec<Value>,
    exit: Exit,
}

/// An edit may uncover a mistake behind it; a file that is never done is left as it is after so many rounds.
const MAX_ROUNDS: usize = 8;

pub fn check(args: &CheckArgs, console: Console) -> Exit {
    let mut n_fixed = 0;
    for _ in 0..MAX_ROUNDS {
        let mut sources = Sources::new();
        let findings = find(args, &mut sources);
        let n_edits = match args.fix.then(|| fix(args, &findings, &sources)) {
            None => 0,
            Some(Ok(n_edits)) => n_edits,
            Some(Err(failure)) => return console.failure(&failure, &sources),
        };
        n_fixed += n_edits;
        if n_edits == 0 {
            return show(&findings, n_fixed, console, &sources);
        }
    }
    let mut sources = Sources::new();
    let findings = find(args, &mut sources);
    show(&findings, n_fixed, console, &sources)
}

fn find(args: &CheckArgs, sources: &mut Sources) -> Findings {
    let mut findings = Findings {
        diagnostics: Vec::new(),
        printed: String::new(),
        lines: String::new(),
        kernels: Vec::new(),
        exit: Exit::Clean,
    };
    if let Err(failure) = check_jobs(args, sources, &mut findings) {
        findings.add(&failure);
    }
    findings
}

impl Findings {
    /// Adds what no other program of the launch has said.
    fn say(&mut self, diagnostics: &[Diagnostic]) {
        for it in diagnostics {
            if !self.diagnostics.contains(it) {
                self.diagnostics.push(it.clone());
            }
        }
    }

    fn add(&mut self, failure: &Failure) {
        self.printed.push_str(&failure.printed);
        self.say(&failure.diagnostics);
        self.exit = match failure.blame {
            Blame::Kernel => Exit::Wrong,
            Blame::Usage => Exit::Usage,
        };
    }

    fn add_failure(&mut self, job: &Job, failure: &Failure) {
        self.add(failure);
        self.kernels.push(json!({"kernel": job.kernel, "ok": false}));
    }

    fn add_program(&mut self, compiled: &Compiled) {
        self.printed.push_str(&compiled.printed);
        self.say(&compiled.warnings);
        let name = &compiled.program.name;
        let n_insts = compiled.program.insts.len();
        let spilled = compiled.spilled;
        self.lines += &format!("{name}: ok, {n_insts} instructions");
        if spilled != Spilled::default() {
            self.lines += &format!(", spilled: {spilled}");
        }
        if let Some(reordered) = compiled.reordered {
            self.lines += &format!(", {reordered}");
        }
        self.lines.push('\n');
        self.kernels.push(json!({
            "kernel": name,
            "ok": true,
            "instructions": n_insts,
            "order": order_json(compiled.reordered),
            "spill_save_bytes": spilled.save_bytes,
            "spill_reload_bytes": spilled.reload_bytes,
            "spill_psum_bytes": spilled.psum_bytes,
        }));
    }
}

fn check_jobs(args: &CheckArgs, sources: &mut Sources, findings: &mut Findings) -> Result<(), Failure> {
    let session = args.source.open(sources)?;
    for job in args.source.jobs(&session)? {
        if let Some(n_ranks) = job.ranks {
            match session.compile_ranks(sources, &job, n_ranks) {
                Ok(mut programs) => {
                    // Ranks that do not ask which one they are share a program.
                    programs.dedup_by(|a, b| Arc::ptr_eq(a, b));
                    programs.iter().for_each(|it| findings.add_program(it));
                }
                Err(failure) => findings.add_failure(&job, &failure),
            }
            continue;
        }
        for program_id in job.grid.programs() {
            match session.compile(sources, &job, &program_id) {
                Ok(compiled) => {
                    findings.add_program(&compiled);
                    // Programs that do not ask which one they are are one.
                    if !compiled.reads_place {
                        break;
                    }
                }
                Err(failure) => findings.add_failure(&job, &failure),
            }
        }
    }
    Ok(())
}

/// Makes the sure edits of the file itself; gives how many.
fn fix(args: &CheckArgs, findings: &Findings, sources: &Sources) -> Result<usize, Failure> {
    // The file that was named is the first that was read; what it imports is not ours to change.
    let spans = findings.diagnostics.iter().flat_map(|it| &it.suggestions);
    let path = args.source.path();
    let Some(file) = spans
        .map(|it| it.span.file)
        .find(|it| sources.name_of(*it) == path)
    else {
        return Ok(0);
    };
    let (text, n_edits) = fixed(&findings.diagnostics, sources, file);
    if n_edits > 0 {
        write_file(Path::new(path), &text)?;
    }
    Ok(n_edits)
}

fn show(findings: &Findings, n_fixed: usize, console: Console, sources: &Sources) -> Exit {
    console.printed(&findings.printed);
    console.diagnostics(&findings.diagnostics, sources);
    match console.format {
        Format::Text => {
            let fixed = match n_fixed {
                0 => String::new(),
                1 => "1 mistake fixed\n".to_string(),
                _ => format!("{n_fixed} mistakes fixed\n"),
            };
            console.product(&format!("{fixed}{}", findings.lines));
        }
        Format::Json => {
            let ok = findings.exit == Exit::Clean;
            let object = json!({"ok": ok, "fixed": n_fixed, "kernels": findings.kernels});
            console.product(&format!("{object}\n"));
        }
    }
    findings.exit
}
