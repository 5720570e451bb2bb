//! Specialisation: a kernel and the shapes of its arguments to a [`Program`].
//!
//! Takes the syntax tree of a file, the kernel's name and its arguments (tensors as dtype and shape, everything else as
//! source text), gives the stream of instructions in source order over named buffers. Everything that is not an
//! instruction is evaluated here: loops unroll, calls inline, branches resolve. Never looks at the elements of a
//! tensor, never chooses an address or a queue.
//!
//! The evaluator is one struct; its methods stand in the files below, each with one part of the language.

mod value;
mod compared;
mod discard;
mod repr;
mod dict;
mod scope;
mod error;
mod format;
mod modules;
mod library;
mod standard;
mod itertools;
mod eval;
mod exec;
mod call;
mod class;
mod protocol;
mod history;
mod warning;
mod exception;
mod annotation;
mod builtins;
mod convert;
mod sequence;
mod method;
mod strings;
mod sets;
mod operate;
mod index;
mod affine;
mod mask;
mod access;
mod host_bridge;
mod tensor;
mod split;
mod layout;
mod bind;
mod newer;
mod compute;
mod restrict;
mod functional;
mod assign;
mod blocks;
mod dependence;
mod classic;
mod loops;
mod language;
mod dynamic;
mod ordering;
mod create;
mod allocation;
mod lazy_zero;
mod constant;
mod print;
mod promote;
mod broadcast;
mod element;
mod composite;
mod reduce;
mod normalise;
mod chance;
mod collectives;
mod kernel;
mod interactive;
mod tunable;

pub use constant::ArrayLoader;
pub use error::{Error, Mistake};
pub use history::Dialect;
pub use interactive::{Entry, Replayed, Shown, replay};
pub use kernel::{
    ArgValue, Evaluated, HostCall, HostValue, Input, Request, Specialized, evaluate, kernel_names, specialize,
};
pub use modules::{ImportRequest, Loaded, Loader};
pub use tunable::{Tunable, parameters, tunables};

use crate::ast::Function;
use crate::diagnostic::{Diagnostic, Report};
use crate::host::HostState;
use crate::interrupt;
use crate::ir::{BufferId, Frame as LocFrame, Loc, LocId, Name, Program};
use crate::limits::{self, limits};
use crate::place::{overflow, surely_fits};
use crate::source::{Sources, Span};
use crate::target::Target;
use crate::verify::verify;
use allocation::Allocation;
use error::Result;
use history::Removed;
use modules::ModuleEnv;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use scope::Scope;
use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::Arc;
use value::{Tensor, Value};
use warning::Warning;

/// The names of `nki.language`, sorted.
pub fn language_names() -> Vec<&'static str> {
    let functions = language::NAMES.iter().chain(classic::NAMES).copied();
    let memories = value::REGIONS.iter().map(|it| it.1);
    let dtypes = crate::dtype::DTYPES.iter().map(|it| it.2);
    let mut names: Vec<&'static str> = functions.chain(memories).chain(dtypes).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// What follows a dot after a tensor, sorted.
pub fn tensor_names() -> Vec<&'static str> {
    let mut names = [tensor::ATTRIBUTES, tensor::METHODS].concat();
    names.sort_unstable();
    names
}

/// A program of so many instructions is looked at for the first time, and again each time it has grown by a factor: a kernel
/// that can never fit need not be unrolled to its end.
const FIRST_FIT: usize = 2_048;
const FIT_GROWTH: usize = 4;

/// One call or loop iteration around the current statement.
struct Around {
    span: Span,
    frame: LocFrame,
    loc: Option<LocId>,
    /// An iteration of `nl.affine_range` or `nl.sequential_range`, whose body NKI traces once for all of them.
    is_traced: bool,
}

/// What `enter_*` gives to `leave`.
struct Mark {
    around: usize,
    iterations: usize,
}

/// The evaluator: one kernel being specialised.
struct Evaluator<'a> {
    sources: &'a mut Sources,
    target: &'static Target,
    loader: &'a Loader<'a>,
    arrays: &'a ArrayLoader<'a>,
    params: &'a [(String, String)],
    grid: &'a [u32],
    program_id: &'a [u32],
    place: crate::launch::Place,
    /// Whether anything depends on which program of the launch this is.
    reads_place: bool,
    /// `nki.compiler.force_auto_alloc`: where the kernel wants its tiles does not count.
    ignores_allocations: bool,
    /// What calls of `mod_alloc` and `alloc` gave, by place.
    allocations: FxHashMap<allocation::Place, Rc<Allocation>>,
    /// Tensors in `nl.shared_hbm` that were made, by id and name.
    shared: Vec<(crate::ir::BufferId, Name)>,
    modules: Vec<ModuleEnv>,
    /// Errors that did not end the evaluation: of imported files, of a dialect, of what the target lacks.
    import_errors: Vec<Diagnostic>,
    dialect: Option<Dialect>,
    /// Whether a file imports `neuronxcc.nki`.
    is_classic: bool,
    /// What was already said about NKI's history.
    noted: Vec<Removed>,
    /// The tiles that comparisons made: their truth is that of their elements, which no kernel can branch on.
    comparisons: FxHashSet<BufferId>,
    scopes: FxHashMap<*const Function, Rc<Scope>>,
    /// Members of `nki.language`, `nki.isa` and `nl.tile_size` that were used.
    members: [FxHashMap<Rc<str>, Value>; 3],
    /// The loops of the device around the current statement.
    open_loops: Vec<dynamic::OpenLoop>,
    /// Buffer base names, shared between their instances.
    bases: FxHashMap<Rc<str>, Arc<str>>,
    program: Program,
    /// PSUM views that matmuls have written, per buffer.
    matmul_writes: FxHashMap<crate::ir::BufferId, Vec<crate::ir::View>>,
    /// Tiles in PSUM that are zero until something is written.
    zeros: FxHashMap<crate::ir::BufferId, lazy_zero::LazyZero>,
    /// Identity matrices in SBUF, one per dtype or a few.
    identities: Vec<Tensor>,
    /// How often each name was made in each iteration, by the hash of both: two that share one count on together, which
    /// keeps their names apart.
    names: FxHashMap<u64, u32>,
    around: Vec<Around>,
    iterations: Vec<u32>,
    instance: Option<Arc<[u32]>>,
    /// The variable on the left of the assignment being evaluated: the name of a tensor made on its right.
    naming: Option<Rc<str>>,
    depth: usize,
    calls: usize,
    steps: u64,
    /// Whether tiles that do not fit may be spilled.
    may_spill: bool,
    /// So many instructions are looked at for whether what lives at the same time can fit at all.
    next_fit: usize,
    printed: String,
    warnings: Vec<Diagnostic>,
    warned: FxHashSet<(Warning, Span)>,
    host: HostState,
    returned: Vec<Option<Rc<str>>>,
    masking: restrict::Masking,
    loops: loops::Loops,
    /// Index tensors without variables, by the expression that makes them.
    constant_indices: FxHashMap<*const crate::ast::Expr, Value>,
    dependences: dependence::Dependences,
    ordering: ordering::Ordering,
    /// The loops and tensors whose dependence was reported.
    carried: Vec<(Span, Arc<str>)>,
    /// The methods being called: their class and object.
    receivers: Vec<(Rc<class::Class>, Value)>,
    /// The errors whose handlers are running.
    caught: Vec<error::Error>,
}

impl<'a> Evaluator<'a> {
    fn new(sources: &'a mut Sources, request: &Request<'a>, name: &str) -> Evaluator<'a> {
        compared::reset();
        Evaluator {
            sources,
            target: request.target,
            loader: request.loader,
            arrays: request.arrays,
            params: request.params,
            grid: request.grid,
            program_id: request.program_id,
            place: request.place,
            reads_place: false,
            ignores_allocations: false,
            allocations: FxHashMap::default(),
            shared: Vec::new(),
            modules: Vec::new(),
            import_errors: Vec::new(),
            dialect: request.dialect,
            is_classic: false,
            noted: Vec::new(),
            comparisons: FxHashSet::default(),
            scopes: FxHashMap::default(),
            members: Default::default(),
            open_loops: Vec::new(),
            bases: FxHashMap::default(),
            program: Program::new(name, request.target.name),
            matmul_writes: FxHashMap::default(),
            zeros: FxHashMap::default(),
            identities: Vec::new(),
            names: FxHashMap::default(),
            around: Vec::new(),
            iterations: Vec::new(),
            instance: None,
            naming: None,
            depth: 0,
            calls: 0,
            steps: 0,
            may_spill: request.spill,
            next_fit: FIRST_FIT,
            printed: String::new(),
            warnings: Vec::new(),
            warned: FxHashSet::default(),
            host: HostState::default(),
            returned: Vec::new(),
            masking: restrict::Masking::default(),
            loops: loops::Loops::default(),
            constant_indices: FxHashMap::default(),
            dependences: dependence::Dependences::default(),
            ordering: ordering::Ordering::default(),
            carried: Vec::new(),
            receivers: Vec::new(),
            caught: Vec::new(),
        }
    }

    /// Counts a statement or an iteration.
    fn step(&mut self, span: Span) -> Result<()> {
        self.steps += 1;
        if let Some(why) = interrupt::asked() {
            return Err(Error::new(Mistake::Interrupted { why }, span));
        }
        let limit = limits().steps;
        if self.steps + compared::count() > limit {
            return Err(Error::new(Mistake::TooManySteps { limit }, span));
        }
        Ok(())
    }

    /// Counts what a value takes that was made in one step.
    fn charge(&mut self, length: usize) {
        const PER_STEP: usize = 16;
        self.steps += (length / PER_STEP) as u64;
    }

    /// Ends the evaluation when what lives at the same time is more than the memories have, however it is placed.
    fn check_fit(&mut self, span: Span) -> Result<()> {
        self.next_fit *= FIT_GROWTH;
        // The device repeats what stands in its loops, so lives are not known before their ends.
        if self.may_spill || !self.program.loops.is_empty() || !self.open_loops.is_empty() {
            return Ok(());
        }
        if surely_fits(&self.program, self.target) || !verify(&self.program, self.target).is_empty() {
            return Ok(());
        }
        let mut errors = overflow(&self.program, self.target);
        let Some(last) = errors.pop() else {
            return Ok(());
        };
        self.import_errors.extend(errors.iter().map(Report::report));
        Err(Error::new(Mistake::NoRoom(Rc::new(last)), span))
    }

    /// Keeps the error of an instruction that the target lacks, which nothing after it needs to have been made: one run
    /// names them all.
    fn goes_on_after(&mut self, error: &Error) -> bool {
        let goes_on =
            matches!(error.mistake, Mistake::NewerOnly { .. }) && self.import_errors.len() < limits::ERRORS;
        if goes_on {
            let report = error.report();
            if !self.import_errors.contains(&report) {
                self.import_errors.push(report);
            }
        }
        goes_on
    }

    fn mark(&self) -> Mark {
        Mark {
            around: self.around.len(),
            iterations: self.iterations.len(),
        }
    }

    fn enter_iteration(&mut self, idx: usize, span: Span) -> Mark {
        let mark = self.mark();
        let number = u32::try_from(idx).unwrap_or(u32::MAX);
        self.around.push(Around {
            span,
            frame: LocFrame::Iteration(number),
            loc: None,
            is_traced: false,
        });
        self.iterations.push(number);
        self.instance = None;
        mark
    }

    fn enter_call(&mut self, span: Span) -> Mark {
        let mark = self.mark();
        self.around.push(Around {
            span,
            frame: LocFrame::Call,
            loc: None,
            is_traced: false,
        });
        mark
    }

    fn leave(&mut self, mark: Mark) {
        self.around.truncate(mark.around);
        if self.iterations.len() != mark.iterations {
            self.iterations.truncate(mark.iterations);
            self.instance = None;
        }
    }

    /// The location of a span, with the calls and loops around it.
    fn here(&mut self, span: Span) -> LocId {
        let first_new = self
            .around
            .iter()
            .rposition(|it| it.loc.is_some())
            .map_or(0, |it| it + 1);
        for at in first_new..self.around.len() {
            let parent = if at == 0 { None } else { self.around[at - 1].loc };
            let loc = Loc {
                span: self.around[at].span,
                parent,
                frame: self.around[at].frame,
            };
            self.around[at].loc = Some(self.program.locs.add(loc));
        }
        let parent = self.around.last().and_then(|it| it.loc);
        self.program.locs.add(Loc {
            span,
            parent,
            frame: LocFrame::Here,
        })
    }

    /// A buffer name that no other buffer has.
    fn unique_name(&mut self, base: &Rc<str>) -> Name {
        if self.instance.is_none() && !self.iterations.is_empty() {
            self.instance = Some(self.iterations.as_slice().into());
        }
        let hash = FxBuildHasher.hash_one((&**base, self.instance.as_deref()));
        let copy = self.names.entry(hash).or_insert(0);
        *copy += 1;
        let base = self
            .bases
            .entry(base.clone())
            .or_insert_with(|| (&**base).into())
            .clone();
        Name {
            base,
            instance: self.instance.clone(),
            copy: *copy,
        }
    }

    fn scope_of(&mut self, function: &Rc<Function>) -> Rc<Scope> {
        // The key stays valid: closures and modules keep their functions alive as long as the evaluator.
        let make = || Rc::new(Scope::of_function(function));
        self.scopes
            .entry(Rc::as_ptr(function))
            .or_insert_with(make)
            .clone()
    }
}
