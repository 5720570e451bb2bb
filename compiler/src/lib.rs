//! The compiler of `nk`: NKI kernel source in, scheduled NeuronCore-v2 instruction streams out.
//!
//! No I/O, no unsafe code, no Cranelift: files are read and code is run by `nk-runtime`.
#![forbid(unsafe_code)]

pub mod source;
pub mod diagnostic;
pub mod lex;
pub mod parse;
pub mod ast;
pub mod dtype;
pub mod host;
pub mod isa;
pub mod target;
pub mod ir;
pub mod text;
pub mod directive;
pub mod specialize;
pub mod verify;
pub mod cost;
pub mod footprint;
pub mod place;
pub mod check;
pub mod schedule;

use diagnostic::{Diagnostic, Report};
use ir::{FirstWrites, Placement, Program, Schedule};
use source::{FileId, Sources};
use specialize::{Input, Request};
use std::rc::Rc;
use target::Target;

/// A kernel after every stage.
#[derive(Debug)]
pub struct Compiled {
    pub program: Program,
    pub placement: Placement,
    pub first_writes: FirstWrites,
    pub schedule: Schedule,
    /// Tensor arguments in the order of the request.
    pub inputs: Vec<Input>,
    pub warnings: Vec<Diagnostic>,
    /// What the kernel printed while it was specialised.
    pub printed: String,
}

/// Why a kernel did not compile.
#[derive(Debug)]
pub struct Failure {
    /// At least one error, and the warnings before it.
    pub diagnostics: Vec<Diagnostic>,
    pub printed: String,
}

/// The whole compiler: parse, specialise, verify, place, verify, check, schedule, verify.
pub fn compile(sources: &mut Sources, file: FileId, request: &Request<'_>) -> Result<Compiled, Failure> {
    let (ast, errors) = parse::parse(sources, file);
    if !errors.is_empty() {
        return Err(Failure {
            diagnostics: reports(&errors),
            printed: String::new(),
        });
    }
    compile_ast(sources, file, &Rc::new(ast), request)
}

/// [`compile`] for a file that is parsed already.
pub fn compile_ast(
    sources: &mut Sources,
    file: FileId,
    ast: &Rc<ast::Module>,
    request: &Request<'_>,
) -> Result<Compiled, Failure> {
    let specialized = specialize::specialize(sources, file, ast, request)
        .map_err(|(diagnostics, printed)| Failure { diagnostics, printed })?;
    let (program, printed) = (specialized.program, specialized.printed);
    let mut warnings = specialized.warnings;
    match back_end(&program, request.target) {
        Ok((placement, first_writes, schedule, more)) => {
            warnings.extend(more);
            Ok(Compiled {
                program,
                placement,
                first_writes,
                schedule,
                inputs: specialized.inputs,
                warnings,
                printed,
            })
        }
        Err(errors) => {
            warnings.extend(errors);
            Err(Failure {
                diagnostics: warnings,
                printed,
            })
        }
    }
}

type Stages = (Placement, FirstWrites, Schedule, Vec<Diagnostic>);

/// The stages after specialising. Each is verified before the next begins.
pub fn back_end(program: &Program, target: &Target) -> Result<Stages, Vec<Diagnostic>> {
    complete(program, None, None, target)
}

/// The stages that IR text has left out; what it gives is verified as if we had made it.
pub fn complete(
    program: &Program,
    placement: Option<Placement>,
    schedule: Option<Schedule>,
    target: &Target,
) -> Result<Stages, Vec<Diagnostic>> {
    none(verify::verify(program, target))?;
    let placement = match placement {
        Some(it) => it,
        None => place::place(program, target).map_err(|it| reports(&it))?,
    };
    none(verify::verify_placed(program, &placement, target))?;
    let checked = check::check(program, &placement, target).map_err(|it| reports(&it))?;
    let schedule = schedule.unwrap_or_else(|| schedule::schedule(program, &placement));
    none(schedule::verify_schedule(program, &placement, &schedule))?;
    Ok((
        placement,
        checked.first_writes,
        schedule,
        reports(&checked.warnings),
    ))
}

fn none<E: Report>(errors: Vec<E>) -> Result<(), Vec<Diagnostic>> {
    if errors.is_empty() {
        Ok(())
    } else {
        Err(reports(&errors))
    }
}

fn reports<E: Report>(errors: &[E]) -> Vec<Diagnostic> {
    errors.iter().map(Report::report).collect()
}
