//! `nk compile`: the program at a stage, as text.

use crate::Exit;
use crate::console::Console;
use crate::options::{SourceArgs, usage, write_file};
use nk_compiler::ast::dump_ast;
use nk_compiler::ir::InstId;
use nk_compiler::lex::dump_tokens;
use nk_compiler::source::Sources;
use nk_compiler::target::Target;
use nk_compiler::text::{PrintOptions, fold};
use nk_compiler::{Compiled, cost};
use nk_runtime::session::{Failure, Session};
use nk_runtime::stage::{Stage, stage_text};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct CompileArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// The stage that is printed.
    #[arg(long, value_enum, default_value = "schedule")]
    emit: Emit,
    /// The file that is written instead of stdout.
    #[arg(short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Add the place in the source to every instruction.
    #[arg(long)]
    spans: bool,
    /// Fold runs of like lines into `repeat` blocks: shorter, for readers, not parsed back.
    #[arg(long)]
    fold: bool,
    /// Add the busy cycles of its engine to every instruction.
    #[arg(long)]
    cycles: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Emit {
    Tokens,
    Ast,
    Program,
    Placement,
    Schedule,
    Clif,
}

pub fn compile(args: &CompileArgs, console: Console) -> Exit {
    let mut sources = Sources::new();
    let outcome = emit(args, console, &mut sources).and_then(|text| write(args, console, &text));
    match outcome {
        Ok(()) => Exit::Clean,
        Err(failure) => console.failure(&failure, &sources),
    }
}

fn write(args: &CompileArgs, console: Console, text: &str) -> Result<(), Failure> {
    let Some(path) = &args.output else {
        console.product(text);
        return Ok(());
    };
    write_file(path, text)
}

fn emit(args: &CompileArgs, console: Console, sources: &mut Sources) -> Result<String, Failure> {
    let session = args.source.open(sources)?;
    let stage = match args.emit {
        Emit::Tokens => {
            kernels_only(&session)?;
            return Ok(dump_tokens(sources, session.file()));
        }
        Emit::Ast => return Ok(dump_ast(kernels_only(&session)?)),
        Emit::Program => Stage::Program,
        Emit::Placement => Stage::Placement,
        Emit::Schedule => Stage::Schedule,
        Emit::Clif => Stage::Clif,
    };
    let mut texts = Vec::new();
    for job in args.source.jobs(&session)? {
        for program_id in job.grid.programs() {
            let compiled = session.compile(sources, &job, &program_id)?;
            console.printed(&compiled.printed);
            console.diagnostics(&compiled.warnings, sources);
            texts.push(text(args, stage, &compiled, session.settings().target, sources));
            // Programs that do not ask which one they are are one.
            if !compiled.reads_place {
                break;
            }
        }
    }
    Ok(texts.join("\n"))
}

fn kernels_only(session: &Session) -> Result<&nk_compiler::ast::Module, Failure> {
    let module = session.module();
    module.ok_or_else(|| {
        usage(
            "no-such-stage",
            "IR text has no tokens and no syntax tree of the kernel language".to_string(),
        )
    })
}

fn text(
    args: &CompileArgs,
    stage: Stage,
    compiled: &Compiled,
    target: &'static Target,
    sources: &Sources,
) -> String {
    let program = &compiled.program;
    let cycles = |id: InstId| cost::busy(program, &program[id], target).cycles;
    let options = PrintOptions {
        spans: args.spans.then_some(sources),
        cycles: if args.cycles { Some(&cycles) } else { None },
    };
    let text = stage_text(compiled, stage, target, options);
    if stage == Stage::Clif {
        return text;
    }
    let text = if args.fold { fold(&text) } else { text };
    match compiled.reordered {
        Some(reordered) => format!("; {reordered}\n{text}"),
        None => text,
    }
}
