//! The chosen kernel of a session: loading it, its arguments, and what a change of its parameters does.

use super::{Repl, State, Subject, show};
use crate::difference::{Side, difference};
use crate::profile::Profile;
use crate::report::outcome_text;
use crate::session::{Failure, RunOptions, Session, Settings};
use crate::stage::Stage;
use crate::summary::{Summary, comparison, line};
use crate::tensor::parse_arg;
use crate::tune;
use nk_compiler::diagnostic::{Diagnostic, Report};
use nk_compiler::interrupt;
use nk_compiler::specialize::tunables;
use nk_compiler::target::{TARGETS, Target};
use std::rc::Rc;

/// The word that stands for what was typed where a kernel's name is wanted.
const SESSION: &str = "session";

impl Repl {
    /// Opens a file; the session begins anew.
    pub fn load(&mut self, path: &str) -> Result<String, Failure> {
        let (path, wanted) = match path.rsplit_once("::") {
            Some((path, kernel)) => (path, Some(kernel.to_string())),
            None => (path, None),
        };
        let settings = Settings {
            params: Vec::new(),
            ..self.state.session.settings().clone()
        };
        let session = Session::open(&mut self.sources, path, settings)?;
        let kernels = session.kernels();
        let kernel = wanted.or_else(|| kernels.first().cloned());
        let state = State {
            session,
            path: Some(path.to_string()),
            typed: Vec::new(),
            kernel,
            args: Vec::new(),
        };
        let mut text = match kernels.as_slice() {
            [] => format!("{path}: no kernel\n"),
            several => format!("{path}: {}\n", several.join(", ")),
        };
        self.live = None;
        self.subject = None;
        self.before = None;
        self.remember(state);
        // A file whose kernel does not compile is loaded all the same: it can be mended and read again.
        text.push_str(&match self.state.kernel.is_some() {
            true => self.measured_text(),
            false => String::new(),
        });
        Ok(text)
    }

    fn measured_text(&mut self) -> String {
        match self.subject() {
            Ok(subject) => line(&subject.summary),
            Err(failure) => self.failure_text(&failure),
        }
    }

    /// Reads the file again. What was typed is executed again on what the file holds then.
    pub(super) fn reload(&mut self) -> Result<String, Failure> {
        let Some(path) = self.state.path.clone() else {
            return Ok("no file was loaded\n".to_string());
        };
        let settings = self.state.session.settings().clone();
        let mut state = self.state.clone();
        state.session = Session::open(&mut self.sources, &path, settings)?;
        self.change(state)
    }

    /// Chooses a kernel, or lists them.
    pub(super) fn choose_kernel(&mut self, name: &str) -> Result<String, Failure> {
        if name.is_empty() {
            let mut out = String::new();
            let chosen = self.state.kernel.as_deref().unwrap_or(SESSION);
            for name in self
                .state
                .session
                .kernels()
                .iter()
                .map(String::as_str)
                .chain([SESSION])
            {
                let mark = if name == chosen { '*' } else { ' ' };
                out.push_str(&format!("{mark} {name}\n"));
            }
            return Ok(out);
        }
        let mut state = self.state.clone();
        state.kernel = (name != SESSION).then(|| name.to_string());
        state.args.clear();
        let earlier = (self.subject.take(), self.before.take());
        let old = std::mem::replace(&mut self.state, state);
        match self.subject() {
            Ok(subject) => {
                let state = std::mem::replace(&mut self.state, old);
                self.remember(state);
                Ok(line(&subject.summary))
            }
            Err(_) if name == SESSION => {
                let state = std::mem::replace(&mut self.state, old);
                self.remember(state);
                Ok("nothing was typed yet\n".to_string())
            }
            Err(failure) => {
                self.state = old;
                (self.subject, self.before) = earlier;
                Err(failure)
            }
        }
    }

    /// What commands are about: the chosen kernel, or what was typed.
    pub(super) fn subject(&mut self) -> Result<Subject, Failure> {
        let target = self.state.session.settings().target;
        if self.state.kernel.is_none() {
            let Some(live) = &self.live else {
                let error = Diagnostic::error("nothing-to-show", "no kernel is chosen and nothing was typed");
                return Err(Failure::usage(error.help("`:load FILE` reads kernels")));
            };
            let (compiled, profile) = (live.compiled.clone(), live.profile.clone());
            let summary = Summary::new(&compiled, &profile);
            return Ok(Subject {
                compiled,
                profile,
                summary,
            });
        }
        if let Some(subject) = &self.subject {
            return Ok(subject.clone());
        }
        let job = self
            .state
            .session
            .job(self.state.kernel.as_deref(), &self.state.args)?;
        let (compiled, trace) = self.state.session.first_timed(&mut self.sources, &job)?;
        let profile = Profile::of_trace(&compiled, trace, target, &self.sources);
        let summary = Summary::new(&compiled, &profile);
        let subject = Subject {
            compiled,
            profile: Rc::new(profile),
            summary,
        };
        self.subject = Some(subject.clone());
        Ok(subject)
    }

    /// Takes a state over if it works: the kernel compiles, and what was typed still runs.
    fn change(&mut self, state: State) -> Result<String, Failure> {
        let live = match state.typed.is_empty() {
            true => None,
            false => Some(self.replayed(&state)?.0),
        };
        let earlier = self.subject.take();
        let old = std::mem::replace(&mut self.state, state);
        let text = match self.state.kernel {
            Some(_) => self.changed_text(earlier.clone()),
            None => Ok(String::new()),
        };
        match text {
            Ok(text) => {
                self.live = live;
                let state = std::mem::replace(&mut self.state, old);
                self.remember(state);
                Ok(text)
            }
            Err(failure) => {
                self.state = old;
                self.subject = earlier;
                Err(failure)
            }
        }
    }

    /// The kernel as it is, beside how it was.
    pub(super) fn changed_text(&mut self, earlier: Option<Subject>) -> Result<String, Failure> {
        let now = self.subject()?;
        let text = match &earlier {
            Some(earlier) => comparison(&earlier.summary, &now.summary),
            None => line(&now.summary),
        };
        self.before = earlier;
        Ok(text)
    }

    /// An argument of the chosen kernel, or a name of the session.
    pub(super) fn set_argument(&mut self, name: &str, value: &str) -> Result<String, Failure> {
        let spec = parse_arg(value).map_err(|it| Failure::usage(it.report()))?;
        let State { session, kernel, .. } = &self.state;
        let is_parameter = |kernel: &str| session.parameters(Some(kernel)).iter().any(|it| it == name);
        if !kernel.as_deref().is_some_and(is_parameter) {
            return self.input(name, value, &spec);
        }
        let mut state = self.state.clone();
        state.args.retain(|it| it.0 != name);
        state.args.push((name.to_string(), spec));
        self.change(state)
    }

    /// The parameters of the chosen kernel, with the tensors that they are.
    pub(super) fn args_text(&mut self, text: &str) -> String {
        if !text.is_empty() {
            return format!("write NAME=VALUE instead of `{text}`\n");
        }
        let State { session, kernel, .. } = &self.state;
        let Some(kernel) = kernel.as_deref() else {
            return "no kernel is chosen; `:arg x=f32[128,512]:randn(0)` makes a tensor for what is typed\n"
                .to_string();
        };
        let names = session.parameters(Some(kernel));
        let compiled = self.subject().ok().map(|it| it.compiled);
        let inputs = compiled
            .iter()
            .flat_map(|it| it.inputs.iter().map(|input| (&it.program, input)));
        let tensors: Vec<(&str, String)> = inputs
            .map(|(program, input)| {
                let buffer = &program[input.buffer];
                (
                    input.path.as_str(),
                    format!("{}{:?}", buffer.dtype.name(), buffer.shape),
                )
            })
            .collect();
        let mut out = String::new();
        for name in &names {
            let element = format!("{name}[");
            let mut shown = tensors
                .iter()
                .filter(|it| it.0 == name || it.0.starts_with(&element))
                .peekable();
            if shown.peek().is_none() {
                out.push_str(&format!("  {name}\n"));
            }
            shown.for_each(|it| out.push_str(&format!("  {} = {}\n", it.0, it.1)));
        }
        out
    }

    /// Other values for parameters, or their list.
    pub(super) fn set_params(&mut self, text: &str) -> Result<String, Failure> {
        if text.is_empty() {
            return Ok(self.params_text());
        }
        if self.state.kernel.is_none() && self.state.typed.is_empty() {
            return Ok("no kernel is chosen and nothing was typed: there is nothing to set\n".to_string());
        }
        let mut params = self.state.session.settings().params.clone();
        for (name, value) in pairs(text) {
            if name.is_empty() {
                return Ok(format!("write NAME=VALUE instead of `{value}`\n"));
            }
            params.retain(|it| it.0 != name);
            params.push((name, value));
        }
        let settings = Settings {
            params,
            ..self.state.session.settings().clone()
        };
        let mut state = self.state.clone();
        state.session = state.session.with_settings(settings);
        self.change(state)
    }

    fn params_text(&self) -> String {
        let State { session, kernel, .. } = &self.state;
        let Some(module) = session.module() else {
            return "IR text has no parameters\n".to_string();
        };
        let mut out = String::new();
        for it in tunables(module, kernel.as_deref(), session.file()) {
            let own = self.sources.slice(it.value);
            match session
                .settings()
                .params
                .iter()
                .find(|param| *param.0 == *it.name)
            {
                Some((_, value)) => out.push_str(&format!("  {} = {value} (in the file: {own})\n", it.name)),
                None => out.push_str(&format!("  {} = {own}\n", it.name)),
            }
        }
        if out.is_empty() {
            out.push_str(
                "nothing can be set: no parameter has a default, and no constant is written in capitals\n",
            );
        }
        out
    }

    /// Runs the kernel: values, checks and time.
    pub(super) fn run(&mut self) -> Result<String, Failure> {
        if self.state.kernel.is_none() {
            return Ok(line(&self.subject()?.summary));
        }
        let job = self
            .state
            .session
            .job(self.state.kernel.as_deref(), &self.state.args)?;
        let outcome = self
            .state
            .session
            .run(&mut self.sources, &job, &RunOptions::default())?;
        let target = self.state.session.settings().target;
        let warnings = self.diagnostics_text(&outcome.warnings);
        Ok(format!(
            "{}{warnings}{}",
            outcome.printed,
            outcome_text(&outcome, target)
        ))
    }

    pub(super) fn check(&mut self) -> Result<String, Failure> {
        let Subject { compiled, .. } = self.subject()?;
        let (printed, warnings) = (&compiled.printed, self.diagnostics_text(&compiled.warnings));
        let (name, n_insts) = (&compiled.program.name, compiled.program.insts.len());
        Ok(format!("{printed}{warnings}{name}: ok, {n_insts} instructions\n"))
    }

    /// Every combination of some values.
    pub(super) fn sweep(&mut self, text: &str) -> Result<String, Failure> {
        if self.state.kernel.is_none() {
            return Ok("choose a kernel first: what was typed has no parameters\n".to_string());
        }
        let mut axes = Vec::new();
        for (name, values) in pairs(text) {
            if name.is_empty() {
                return Ok(format!("write NAME=a,b,c instead of `{values}`\n"));
            }
            match tune::axis(&format!("{name}={values}")) {
                Ok(axis) => axes.push(axis),
                Err(text) => return Ok(format!("{text}\n")),
            }
        }
        let n_points = tune::n_points(&axes);
        if n_points > MAX_SWEPT {
            return Ok(format!(
                "{n_points} combinations; `nk tune` takes so many, :sweep at most {MAX_SWEPT}\n"
            ));
        }
        let job = self
            .state
            .session
            .job(self.state.kernel.as_deref(), &self.state.args)?;
        let mut measured = Vec::new();
        for point in tune::grid(&axes) {
            interrupt::stop().map_err(|it| Failure::kernel(vec![it]))?;
            let verdict = tune::measure(
                &self.state.session,
                &mut self.sources,
                &job,
                &tune::params(&axes, &point),
            );
            measured.push(tune::Candidate { point, verdict });
        }
        Ok(tune::text(&axes, &measured))
    }

    /// What the last change did to the IR.
    pub(super) fn diff(&mut self, stage: &str) -> Result<String, Failure> {
        let stage = match (stage, Stage::from_name(stage)) {
            ("", _) => Stage::Program,
            (_, None) | (_, Some(Stage::Clif)) => {
                return Ok("write program, placement or schedule\n".to_string());
            }
            (_, Some(stage)) => stage,
        };
        let now = self.subject()?;
        let Some(before) = &self.before else {
            return Ok("nothing was changed yet\n".to_string());
        };
        let file = self.state.session.file();
        let side = |it: &Subject| Side::new(&it.compiled, stage, &self.sources, file);
        let text = difference(&side(before), &side(&now));
        Ok(if text.is_empty() {
            "the same IR\n".to_string()
        } else {
            text
        })
    }

    pub(super) fn choose_target(&mut self, name: &str) -> Result<String, Failure> {
        if name.is_empty() {
            return Ok(show::target(self.state.session.settings().target));
        }
        let Some(target) = Target::from_name(name) else {
            let names: Vec<&str> = TARGETS.iter().map(|it| it.name).collect();
            return Ok(format!(
                "`{name}` is no target; the targets are {}\n",
                names.join(", ")
            ));
        };
        let settings = Settings {
            target,
            ..self.state.session.settings().clone()
        };
        let mut state = self.state.clone();
        state.session = state.session.with_settings(settings);
        self.change(state)
    }
}

/// `A=1 B=(2, 4)`: a word without a `=` goes on with the value before it.
fn pairs(text: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for word in text.split_whitespace() {
        match (word.split_once('='), pairs.last_mut()) {
            (Some((name, value)), _) => pairs.push((name.to_string(), value.to_string())),
            (None, Some(last)) => last.1.push_str(&format!(" {word}")),
            (None, None) => pairs.push((String::new(), word.to_string())),
        }
    }
    pairs
}

/// Combinations that one `:sweep` measures.
const MAX_SWEPT: usize = 256;
