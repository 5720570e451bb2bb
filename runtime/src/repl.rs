//! The session behind `nk repl`: lines in, text out.
//!
//! Takes what is typed (statements of the kernel language, and commands that begin with a colon), gives the text of the
//! answer: the same whether it comes from a terminal or a script. An error is an answer like any other and changes
//! nothing. Reads and writes files when a command says so; never prints.

mod command;
mod complete;
mod kernel;
mod lines;
mod live;
mod save;
mod show;

pub use complete::complete;
pub use lines::is_complete;

use crate::profile::Profile;
use crate::session::{self, Failure, Session, Settings};
use crate::summary::Summary;
use crate::tensor::{ArgSpec, Tensor};
use command::Verb;
use lines::{Read, ends_block, is_complete_after};
use live::{Live, unsaid};
use nk_compiler::Compiled;
use nk_compiler::ast::Module;
use nk_compiler::diagnostic::{Diagnostic, Report, render};
use nk_compiler::interrupt;
use nk_compiler::parse;
use nk_compiler::source::{FileId, Sources, Span};
use nk_compiler::specialize::Entry;
use std::rc::Rc;
use std::sync::Arc;

/// What stands before the first line of an input, and before the others.
pub const PROMPT: &str = "nk> ";
pub const MORE: &str = "... ";

/// The names that a session has from its start.
const PRELUDE: &str = "import nki\nimport nki.language as nl\nimport nki.isa as nisa\nimport numpy as np\n";

/// A session.
pub struct Repl {
    sources: Sources,
    prelude: Module,
    state: State,
    /// Earlier states, the newest last.
    undo: Vec<State>,
    live: Option<Live>,
    /// The chosen kernel as it is, and as it was before the last change.
    subject: Option<Subject>,
    before: Option<Subject>,
    history: Vec<String>,
    /// The code of the last message.
    code: Option<&'static str>,
}

/// Everything that `:undo` takes back.
#[derive(Clone)]
struct State {
    session: Session,
    path: Option<String>,
    typed: Vec<Typed>,
    /// `None`: what was typed.
    kernel: Option<String>,
    args: Vec<(String, ArgSpec)>,
}

/// A statement or an input of the session.
#[derive(Clone)]
struct Typed {
    entry: Entry,
    text: String,
    file: FileId,
    /// The tensors of an input.
    tensors: Rc<Vec<Tensor>>,
}

/// A compiled kernel and its time.
#[derive(Clone)]
struct Subject {
    compiled: Arc<Compiled>,
    profile: Rc<Profile>,
    summary: Summary,
}

/// What a line is answered with.
pub struct Reply {
    pub text: String,
    pub is_end: bool,
}

/// States that can be taken back.
const MAX_UNDO: usize = 1000;

impl Repl {
    pub fn new(settings: Settings) -> Repl {
        let mut sources = Sources::new();
        let file = sources.add("prelude", PRELUDE);
        let (prelude, _) = parse::parse(&sources, file);
        let session = Session::empty(&mut sources, settings);
        Repl {
            sources,
            prelude,
            state: State {
                session,
                path: None,
                typed: Vec::new(),
                kernel: None,
                args: Vec::new(),
            },
            undo: Vec::new(),
            live: None,
            subject: None,
            before: None,
            history: Vec::new(),
            code: None,
        }
    }

    /// Answers one input: a command, or statements.
    pub fn enter(&mut self, text: &str) -> Reply {
        // What was asked of an earlier input is not meant for this one.
        interrupt::clear();
        let trimmed = text.trim();
        if !trimmed.is_empty() {
            self.history.push(text.trim_end().to_string());
        }
        let answer = match trimmed.strip_prefix(':') {
            _ if trimmed.is_empty() => Ok(String::new()),
            Some(command) => {
                let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
                match command::find(word) {
                    Ok(it) if it.takes.is_empty() && !rest.trim().is_empty() => {
                        Ok(format!("`:{}` takes nothing, not `{}`\n", it.name, rest.trim()))
                    }
                    Ok(it) if it.verb == Verb::Quit => {
                        return Reply {
                            text: String::new(),
                            is_end: true,
                        };
                    }
                    Ok(it) => self.command(it, rest.trim()),
                    Err(text) => Ok(text),
                }
            }
            None => self.statements(text),
        };
        let text = answer.unwrap_or_else(|failure| self.failure_text(&failure));
        Reply { text, is_end: false }
    }

    fn failure_text(&mut self, failure: &Failure) -> String {
        format!(
            "{}{}",
            failure.printed,
            self.diagnostics_text(&failure.diagnostics)
        )
    }

    fn diagnostics_text(&mut self, diagnostics: &[Diagnostic]) -> String {
        let worst = diagnostics.iter().rev().find(|it| it.is_error());
        if let Some(it) = worst.or(diagnostics.last()) {
            self.code = Some(it.code);
        }
        render(diagnostics, &self.sources)
    }

    fn command(&mut self, command: &command::Command, rest: &str) -> Result<String, Failure> {
        match command.verb {
            Verb::Help => Ok(command::help()),
            Verb::Load if rest.is_empty() => Ok(usage(command)),
            Verb::Load => self.load(rest),
            Verb::Reload => self.reload(),
            Verb::Kernel => self.choose_kernel(rest),
            Verb::Arg => match rest.split_once('=') {
                Some((name, value)) => self.set_argument(name.trim(), value.trim()),
                None => Ok(self.args_text(rest)),
            },
            Verb::Set => self.set_params(rest),
            Verb::Run => self.run(),
            Verb::Check => self.check(),
            Verb::Sweep if rest.is_empty() => Ok(usage(command)),
            Verb::Sweep => self.sweep(rest),
            Verb::Undo => self.undo(),
            Verb::History => Ok(self.history.iter().map(|it| format!("{it}\n")).collect()),
            Verb::Isa => Ok(show::isa(rest)),
            Verb::Explain => Ok(show::explain(rest, self.code)),
            Verb::Target => self.choose_target(rest),
            Verb::Save if rest.is_empty() => Ok(usage(command)),
            Verb::Save => self.save(rest),
            Verb::Diff => self.diff(rest),
            Verb::Why if rest.is_empty() => Ok(usage(command)),
            Verb::Cost
            | Verb::Profile
            | Verb::Timeline
            | Verb::Memory
            | Verb::Psum
            | Verb::Roofline
            | Verb::Why
            | Verb::Ir => {
                let subject = self.subject()?;
                Ok(show::facts(
                    command.verb,
                    rest,
                    &subject,
                    &self.sources,
                    self.state.session.settings().target,
                ))
            }
            Verb::Quit => Ok(String::new()),
        }
    }

    /// Executes statements on the live device.
    fn statements(&mut self, text: &str) -> Result<String, Failure> {
        let number = self.state.typed.len() + 1;
        let file = self
            .sources
            .add(format!("input {number}"), format!("{}\n", text.trim_end()));
        let (module, errors) = parse::parse(&self.sources, file);
        if !errors.is_empty() {
            return Err(Failure::kernel(errors.iter().map(Report::report).collect()));
        }
        if module.body.is_empty() {
            // A comment.
            return Ok(String::new());
        }
        let typed = Typed {
            entry: Entry::Statements(Rc::new(module)),
            text: text.trim_end().to_string(),
            file,
            tensors: Rc::new(Vec::new()),
        };
        self.play(typed)
    }

    /// Adds an entry if it works, and says what it did.
    fn play(&mut self, typed: Typed) -> Result<String, Failure> {
        let file = typed.file;
        let mut state = self.state.clone();
        state.typed.push(typed);
        let (live, shown) = self.replayed(&state).map_err(|it| self.without_said(it))?;
        let before = self.live.as_ref();
        let said = before.map_or(&[][..], |it| &it.compiled.warnings);
        let warnings = unsaid(&live.compiled.warnings, said);
        let printed = live.printed();
        let earlier = before.map_or(0, |it| it.printed().len());
        let mut text = printed.get(earlier..).unwrap_or(&printed).to_string();
        let echoed = live.echo(file, before);
        text.push_str(&self.diagnostics_text(&warnings));
        text.push_str(&echoed);
        text.push_str(&live.text(&shown));
        self.live = Some(live);
        self.remember(state);
        Ok(text)
    }

    fn replayed(&mut self, state: &State) -> Result<(Live, Vec<nk_compiler::specialize::Shown>), Failure> {
        let entries: Vec<Entry> = state.typed.iter().map(|it| it.entry.clone()).collect();
        let inputs: Vec<Tensor> = state
            .typed
            .iter()
            .flat_map(|it| it.tensors.iter().cloned())
            .collect();
        let before = self.live.as_ref();
        Live::play(
            &mut self.sources,
            &state.session,
            &self.prelude,
            &entries,
            &inputs,
            before,
        )
    }

    /// A failure without what the entries before it printed.
    fn without_said(&self, failure: Failure) -> Failure {
        let said = self.live.as_ref().map_or("", |it| &it.compiled.printed);
        let printed = failure
            .printed
            .strip_prefix(said)
            .unwrap_or(&failure.printed)
            .to_string();
        Failure { printed, ..failure }
    }

    fn remember(&mut self, state: State) {
        self.undo.push(std::mem::replace(&mut self.state, state));
        if self.undo.len() > MAX_UNDO {
            self.undo.remove(0);
        }
    }

    /// Adds a tensor, or another value, under a name.
    fn input(&mut self, name: &str, value: &str, spec: &ArgSpec) -> Result<String, Failure> {
        let text = format!(":arg {name}={value}");
        let file = self
            .sources
            .add(format!("input {}", self.state.typed.len() + 1), text.clone());
        let span = Span::new(file, 0, text.len());
        let entry = session::input(name, spec, span);
        let entry = entry.map_err(|it| Failure::kernel(vec![it]))?;
        let (tensors, warnings) = session::tensors(spec)?;
        let tensors = Rc::new(tensors);
        let said = self.play(Typed {
            entry,
            text,
            file,
            tensors,
        })?;
        Ok(format!("{}{said}", self.diagnostics_text(&warnings)))
    }

    fn undo(&mut self) -> Result<String, Failure> {
        let Some(state) = self.undo.pop() else {
            return Ok("nothing to take back\n".to_string());
        };
        let (before, now) = (self.state.typed.len(), state.typed.len());
        let taken = self
            .state
            .typed
            .last()
            .filter(|_| now < before)
            .map(|it| it.text.clone());
        let is_kernel_changed = taken.is_none();
        self.state = state;
        self.live = None;
        if !self.state.typed.is_empty() {
            let state = self.state.clone();
            self.live = Some(self.replayed(&state)?.0);
        }
        if let Some(text) = taken {
            return Ok(format!("took back: {text}\n"));
        }
        let earlier = self.subject.take();
        if self.state.kernel.is_none() || !is_kernel_changed {
            return Ok("took back the last change\n".to_string());
        }
        self.changed_text(earlier)
    }
}

fn usage(command: &command::Command) -> String {
    format!("write :{} {}\n", command.name, command.takes)
}

/// An input as a terminal shows it, behind its prompts.
pub fn echo(text: &str) -> String {
    let lines = text.trim_end_matches('\n').split('\n').enumerate();
    lines
        .map(|(idx, it)| format!("{}{it}\n", if idx == 0 { PROMPT } else { MORE }))
        .collect()
}

/// A script with its answers, as a terminal would show them.
pub fn transcript(repl: &mut Repl, script: &str) -> String {
    let mut out = String::new();
    let mut input = Input::default();
    for line in script.lines().map(Some).chain([None]) {
        for text in input.take(line) {
            out.push_str(&echo(&text));
            let reply = repl.enter(&text);
            out.push_str(&reply.text);
            if reply.is_end {
                return out;
            }
        }
    }
    out
}

/// Lines that are collected until they make an input.
#[derive(Default)]
pub struct Input {
    lines: String,
    /// How far they were read.
    read: Read,
}

impl Input {
    /// Adds a line, or the end; gives the inputs that are complete with it.
    pub fn take(&mut self, line: Option<&str>) -> Vec<String> {
        let mut done = Vec::new();
        let Some(line) = line else {
            done.extend(Some(self.taken()).filter(|it| !it.trim().is_empty()));
            return done;
        };
        if ends_block(&self.lines, line, &mut self.read) {
            done.push(self.taken());
        }
        if !self.lines.is_empty() {
            self.lines.push('\n');
        }
        self.lines.push_str(line);
        if is_complete_after(&self.lines, &mut self.read) {
            done.push(self.taken());
        }
        done.retain(|it| !it.trim().is_empty());
        done
    }

    fn taken(&mut self) -> String {
        self.read = Read::default();
        std::mem::take(&mut self.lines)
    }
}
