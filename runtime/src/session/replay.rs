//! Sessions of statements: the file's names, and what was typed after them, as one program.
//!
//! Takes entries, gives a compiled program and what its last entry shows. Executes nothing.

use super::files::{find_array, find_import};
use super::{Blame, Failure, Job, Kind, Session, Settings, arguments};
use crate::tensor::ArgSpec;
use nk_compiler::ast::Module;
use nk_compiler::check::Results;
use nk_compiler::diagnostic::{Diagnostic, Report};
use nk_compiler::launch::Place;
use nk_compiler::parse;
use nk_compiler::source::{Sources, Span};
use nk_compiler::specialize::{ArgValue, Entry, ImportRequest, Request, Shown, replay};
use nk_compiler::spill::Spilled;
use nk_compiler::{Compiled, complete};
use std::rc::Rc;

/// A session that compiled.
pub struct Replay {
    pub compiled: Compiled,
    pub shown: Vec<Shown>,
    /// The names that are bound, with what each is.
    pub names: Vec<(String, &'static str)>,
}

impl Session {
    /// A session of no file.
    pub fn empty(sources: &mut Sources, settings: Settings) -> Session {
        let file = sources.add("session", "");
        let (module, _) = parse::parse(sources, file);
        Session {
            file,
            kind: Kind::Kernels(Rc::new(module)),
            settings,
        }
    }

    /// Compiles entries as one program, in which names of `prelude` stand for what nothing else binds.
    pub fn replay(
        &self,
        sources: &mut Sources,
        prelude: &Module,
        entries: &[Entry],
    ) -> Result<Replay, Failure> {
        let Kind::Kernels(module) = &self.kind else {
            let message = "IR text has no statements that could follow it".to_string();
            return Err(Failure::usage(Diagnostic::error("no-such-stage", message)));
        };
        let target = self.settings.target;
        let loader = |request: &ImportRequest<'_>| find_import(&self.settings, request);
        let arrays = |from: &str, path: &str| find_array(&self.settings, from, path);
        let request = Request {
            kernel: None,
            args: &[],
            params: &self.settings.params,
            grid: &[],
            program_id: &[],
            place: Place::default(),
            spill: false,
            place_seed: self.settings.place_seed,
            target,
            dialect: self.settings.dialect,
            loader: &loader,
            arrays: &arrays,
        };
        let replayed = replay(sources, self.file, module, &request, prelude, entries);
        let replayed = replayed.map_err(|(diagnostics, printed)| Failure {
            blame: Blame::Kernel,
            diagnostics,
            printed,
        })?;
        let specialized = replayed.specialized;
        // Nothing must be written: there may be more to come.
        let results = Results::Part {
            shared: &specialized.shared,
        };
        let stages = complete(&specialized.program, None, None, results, target);
        let stages = stages.map_err(|mut errors| {
            let mut diagnostics = specialized.warnings.clone();
            diagnostics.append(&mut errors);
            Failure::kernel(diagnostics)
        })?;
        let mut warnings = specialized.warnings;
        warnings.extend(stages.warnings);
        Ok(Replay {
            compiled: Compiled {
                program: specialized.program,
                placement: stages.placement,
                first_writes: stages.first_writes,
                schedule: stages.schedule,
                unwritten: stages.unwritten,
                spilled: Spilled::default(),
                reordered: None,
                inputs: specialized.inputs,
                shared: specialized.shared,
                foreign: stages.foreign,
                reads_place: specialized.reads_place,
                warnings,
                printed: specialized.printed,
            },
            shown: replayed.shown,
            names: replayed.names,
        })
    }

    /// The first run that the file announces for a kernel, with other arguments under the names that are given.
    pub fn job(&self, kernel: Option<&str>, args: &[(String, ArgSpec)]) -> Result<Job, Failure> {
        let mut job = self.jobs(kernel, &[])?.swap_remove(0);
        if !args.is_empty() {
            // What is wrong with them is not the directive's mistake.
            job.span = None;
        }
        for (name, spec) in args {
            match job.args.iter_mut().find(|it| it.0 == *name) {
                Some(known) => known.1 = spec.clone(),
                None => job.args.push((name.clone(), spec.clone())),
            }
        }
        Ok(job)
    }
}

/// An argument as the compiler wants it.
pub fn input(name: &str, spec: &ArgSpec, span: Span) -> Result<Entry, Diagnostic> {
    let mut values = arguments::values(&[(name.to_string(), spec.clone())], 1)?;
    let value = values.pop().map_or(ArgValue::Tuple(Vec::new()), |it| it.1);
    let name = name.to_string();
    Ok(Entry::Input { name, value, span })
}

/// The tensors of an argument, and warnings about how they were read.
pub fn tensors(spec: &ArgSpec) -> Result<(Vec<crate::tensor::Tensor>, Vec<Diagnostic>), Failure> {
    let args = [(String::new(), spec.clone())];
    arguments::load(&args).map_err(|it| Failure::usage(it.report()))
}

/// Tensors with more elements show the ends of their axes.
const MAX_SHOWN: usize = 64;

/// A corner of a tensor as NumPy prints it.
pub fn tensor_text(tensor: &crate::tensor::Tensor) -> String {
    arguments::host_array(tensor).shortened(MAX_SHOWN)
}
