//! The compiler of `nk`: NKI kernel source in, scheduled NeuronCore-v2 instruction streams out.
//!
//! ```text
//! source ─lex─▶ tokens ─parse─▶ AST ─specialize─▶ Program ─place─▶ Placement ─schedule─▶ Schedule
//! ```
//!
//! [`compile`] is the whole pipeline as one function. Each stage gives a new table and changes none, and each table is
//! verified before the next stage begins: [`verify`] knows the rules of the hardware, [`check`] follows values through the
//! placed program, [`schedule`] proves that every pair of instructions that must be ordered is. What is wrong is a
//! [`diagnostic::Diagnostic`] with a code, and [`explain`] knows what each code means. [`isa`] holds the facts about
//! instructions, [`target`] those about chips; [`text`] prints the tables of every stage and reads them back.
//!
//! No I/O, no unsafe code, no Cranelift: files are read and code is run by `nk-runtime`.
//!
//! A Rust test that keeps the IR of a kernel:
//!
//! ```
//! use nk_compiler::compile;
//! use nk_compiler::dtype::Dtype;
//! use nk_compiler::source::Sources;
//! use nk_compiler::specialize::{ArgValue, Request};
//! use nk_compiler::target::TARGETS;
//! use nk_compiler::text::{PrintOptions, print};
//!
//! let kernel = "
//! import nki
//! import nki.isa as nisa
//! import nki.language as nl
//!
//! @nki.jit
//! def double(x):
//!     out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
//!     tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
//!     nisa.dma_copy(dst=tile, src=x)
//!     nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
//!     nisa.dma_copy(dst=out, src=tile)
//!     return out
//! ";
//! let mut sources = Sources::new();
//! let file = sources.add("double.nk", kernel);
//! let x = ArgValue::Tensor { dtype: Dtype::F32, shape: vec![128, 64] };
//! let args = [("x".to_string(), x)];
//! let compiled = compile(&mut sources, file, &Request::new(&args, &TARGETS[0])).expect("a correct kernel");
//!
//! let options = PrintOptions { spans: None, cycles: None };
//! let ir = print(&compiled.program, Some(&compiled.placement), None, options);
//! let snapshot = "\
//! kernel %double for trainium1
//!
//! in %x: f32[128, 64] @ hbm[0x0:0x8000]
//! out %out: f32[128, 64] @ hbm[0x8000:0x10000]
//! buf %tile: f32[128, 64] @ sbuf[0:128, 0x0:0x100]
//!
//! body {
//!   %tile <- dma_copy %x
//!   %tile <- tensor_scalar %tile, op0=multiply, operand0=2.0
//!   %out <- dma_copy %tile
//! }
//! ";
//! assert_eq!(ir, snapshot); // or insta::assert_snapshot!(ir)
//! ```
#![forbid(unsafe_code)]

pub mod source;
pub mod diagnostic;
pub mod explain;
pub mod limits;
pub mod interrupt;
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
pub mod reorder;
pub mod place;
pub mod check;
pub mod spill;
pub mod schedule;
pub mod launch;

use check::{ForeignRead, Results, Unwritten};
use diagnostic::{Diagnostic, Report};
use ir::{BufferId, FirstWrites, Placement, Program, Schedule};
use reorder::Reordered;
use source::{FileId, Sources};
use specialize::{Input, Request};
use spill::Spilled;
use std::rc::Rc;
use target::Target;

/// A kernel after every stage.
#[derive(Debug)]
pub struct Compiled {
    pub program: Program,
    pub placement: Placement,
    pub first_writes: FirstWrites,
    pub schedule: Schedule,
    /// What a program of a grid leaves of its results to the others.
    pub unwritten: Vec<Unwritten>,
    /// What was moved to HBM and back because it did not fit.
    pub spilled: Spilled,
    /// How the order was chosen, when another than that of the program was asked for.
    pub reordered: Option<Reordered>,
    /// Tensor arguments in the order of the request.
    pub inputs: Vec<Input>,
    /// Tensors that programs of one launch have in common, besides arguments and results.
    pub shared: Vec<BufferId>,
    /// What is read of shared tensors without having been written by this program.
    pub foreign: Vec<ForeignRead>,
    /// Whether another program of the launch could have become another one.
    pub reads_place: bool,
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
    let (mut program, printed) = (specialized.program, specialized.printed);
    let mut spilled = Spilled::default();
    if request.spill
        && let Some(fitting) = fitting(&program, request.target)
    {
        (program, spilled) = fitting;
    }
    let shared = specialized.shared;
    let mut warnings = specialized.warnings;
    let n_programs: u64 = request.grid.iter().map(|&it| u64::from(it)).product();
    let results = if n_programs > 1 {
        Results::Part { shared: &shared }
    } else {
        Results::Whole
    };
    let placement = request
        .place_seed
        .and_then(|seed| place::place_seeded(&program, request.target, seed).ok());
    match complete(&program, placement, None, results, request.target) {
        Ok(stages) => {
            warnings.extend(stages.warnings);
            Ok(Compiled {
                program,
                placement: stages.placement,
                first_writes: stages.first_writes,
                schedule: stages.schedule,
                unwritten: stages.unwritten,
                spilled,
                reordered: None,
                inputs: specialized.inputs,
                shared,
                foreign: stages.foreign,
                reads_place: specialized.reads_place,
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

/// The program with tiles spilled so that it fits, when it is correct and does not fit as it is.
pub fn fitting(program: &Program, target: &Target) -> Option<(Program, Spilled)> {
    if verify::verify(program, target).is_empty() {
        spill::spill(program, target)
    } else {
        None
    }
}

/// A program after the stages that follow specialising.
#[derive(Debug)]
pub struct Stages {
    pub placement: Placement,
    pub first_writes: FirstWrites,
    pub schedule: Schedule,
    pub unwritten: Vec<Unwritten>,
    pub foreign: Vec<ForeignRead>,
    pub warnings: Vec<Diagnostic>,
}

/// The stages after specialising, those left out that IR text has given. Each is verified before the next begins, and
/// what is given is verified as if we had made it.
pub fn complete(
    program: &Program,
    placement: Option<Placement>,
    schedule: Option<Schedule>,
    results: Results<'_>,
    target: &Target,
) -> Result<Stages, Vec<Diagnostic>> {
    let stop = || interrupt::stop().map_err(|it| vec![it]);
    none(verify::verify(program, target))?;
    stop()?;
    let is_ours = placement.is_none();
    let placement = match placement {
        Some(it) => it,
        None => place::place(program, target).map_err(|it| reports(&it))?,
    };
    let check = || {
        none(verify::verify_placed(program, &placement, target))?;
        none(place::verify_placement(program, &placement, target))?;
        stop()?;
        check::check_as(program, &placement, results).map_err(|it| reports(&it))
    };
    let scheduled = || {
        let schedule = schedule::verified_schedule(program, &placement).map_err(|it| reports(&it))?;
        none(schedule::check_semaphores(program, &schedule, target))?;
        Ok(schedule)
    };
    let (checked, schedule) = match schedule {
        None if is_ours && SIDE_BY_SIDE.contains(&program.insts.len()) => both(check, scheduled)?,
        None => {
            let checked = check()?;
            stop()?;
            (checked, scheduled()?)
        }
        Some(given) => {
            let checked = check()?;
            none(schedule::verify_schedule(program, &placement, &given))?;
            none(schedule::check_semaphores(program, &given, target))?;
            (checked, given)
        }
    };
    stop()?;
    Ok(Stages {
        placement,
        first_writes: checked.first_writes,
        schedule,
        unwritten: checked.unwritten,
        foreign: checked.foreign,
        warnings: reports(&checked.warnings),
    })
}

/// Programs of so many instructions are checked on one core while they are scheduled on another. Shorter ones are done before
/// a thread begins, and with longer ones the memory that both take matters more than time.
const SIDE_BY_SIDE: std::ops::Range<usize> = 4_096..200_000;

/// What both give, the first one's errors first. The first one runs on a thread of its own when there is one.
fn both<A: Send, B>(
    first: impl Fn() -> Result<A, Vec<Diagnostic>> + Sync,
    second: impl FnOnce() -> Result<B, Vec<Diagnostic>>,
) -> Result<(A, B), Vec<Diagnostic>> {
    std::thread::scope(|scope| {
        let Ok(thread) = std::thread::Builder::new().spawn_scoped(scope, &first) else {
            return Ok((first()?, second()?));
        };
        let b = second();
        let a = thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((a?, b?))
    })
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
