//! `nk repl`: a session at a terminal, or a script on stdin.

use crate::Exit;
use crate::console::Console;
use crate::options::{SettingArgs, usage};
use nk_compiler::interrupt::{self, Interrupt};
use nk_compiler::source::Sources;
use nk_runtime::repl::{Input, PROMPT, Repl, complete, is_complete};
use nk_runtime::session::Failure;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use std::cell::RefCell;
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::rc::Rc;

#[derive(clap::Args)]
pub struct ReplArgs {
    /// A file whose names are visible, and whose first kernel is chosen.
    #[arg(value_name = "FILE[::KERNEL]")]
    file: Option<String>,
    #[command(flatten)]
    pub settings: SettingArgs,
}

pub fn repl(args: &ReplArgs, console: Console) -> Exit {
    match start(args, console) {
        Ok(repl) if std::io::stdin().is_terminal() => converse(repl, console),
        Ok(repl) => follow(repl, console),
        Err(failure) => console.failure(&failure, &Sources::new()),
    }
}

fn start(args: &ReplArgs, console: Console) -> Result<Repl, Failure> {
    let mut repl = Repl::new(args.settings.settings(Vec::new())?);
    if let Some(path) = &args.file {
        let reply = repl.enter(&format!(":load {path}"));
        console.product(&reply.text);
    }
    Ok(repl)
}

/// A script: what is read is printed behind a prompt, so that the output is what a terminal would show.
fn follow(mut repl: Repl, console: Console) -> Exit {
    let mut input = Input::default();
    let mut lines = std::io::stdin().lock().lines();
    loop {
        let line = match lines.next().transpose() {
            Ok(line) => line,
            Err(error) => {
                return console.failure(
                    &usage("file-unreadable", format!("stdin: {error}")),
                    &Sources::new(),
                );
            }
        };
        for text in input.take(line.as_deref()) {
            console.product(&nk_runtime::repl::echo(&text));
            let reply = repl.enter(&text);
            console.product(&reply.text);
            if reply.is_end {
                return Exit::Clean;
            }
        }
        if line.is_none() {
            return Exit::Clean;
        }
    }
}

/// What the line editor asks about the text being typed.
struct Assistant {
    repl: Rc<RefCell<Repl>>,
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(complete(&self.repl.borrow(), line, at))
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_complete(context.input()) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

impl Hinter for Assistant {
    type Hint = String;
}

impl Highlighter for Assistant {}

impl Helper for Assistant {}

fn converse(repl: Repl, console: Console) -> Exit {
    let repl = Rc::new(RefCell::new(repl));
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .auto_add_history(true)
        .build();
    let editor = Editor::<Assistant, FileHistory>::with_config(config);
    let mut editor = match editor {
        Ok(it) => it,
        Err(error) => return console.failure(&usage("no-terminal", error.to_string()), &Sources::new()),
    };
    editor.set_helper(Some(Assistant { repl: repl.clone() }));
    let history = history_file();
    if let Some(path) = &history {
        // A history that cannot be read is an empty one.
        let _ = editor.load_history(path);
        // One that cannot be written is said to be so below.
        let _ = path.parent().map(std::fs::create_dir_all);
    }
    if ctrlc::set_handler(interrupted).is_err() {
        console.product("Ctrl-C ends the session on this machine\n");
    }
    let mut is_history_kept = true;
    console.product("nk: statements of the kernel language, executed at once; :help lists the commands\n");
    loop {
        match editor.readline(PROMPT) {
            Ok(text) => {
                // Kept at once: a session that is killed loses nothing.
                if let Some(path) = &history
                    && is_history_kept
                    && let Err(error) = editor.append_history(path)
                {
                    is_history_kept = false;
                    console.product(&format!(
                        "the history is not written to {}: {error}\n",
                        path.display()
                    ));
                }
                let reply = repl.borrow_mut().enter(&text);
                console.product(&reply.text);
                if reply.is_end {
                    break;
                }
            }
            // Ctrl-C drops the line, not the session.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(error) => return console.failure(&usage("no-terminal", error.to_string()), &Sources::new()),
        }
    }
    Exit::Clean
}

/// Ctrl-C while something runs: it is asked to stop, and the session goes on. What does not even do that ends with the
/// second one.
fn interrupted() {
    const BY_SIGNAL: i32 = 130;
    if interrupt::asked() == Some(Interrupt::User) {
        std::process::exit(BY_SIGNAL);
    }
    interrupt::ask(Interrupt::User);
}

/// `NK_HISTORY`, else a file among the user's state files.
fn history_file() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("NK_HISTORY") {
        return Some(PathBuf::from(path));
    }
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|it| PathBuf::from(it).join(".local/state"));
    state.or(home).map(|it| it.join("nk/history"))
}
