//! A compiled kernel at a stage, as text: what `nk compile --emit` prints and snapshots hold.

use crate::clif;
use nk_compiler::Compiled;
use nk_compiler::target::Target;
use nk_compiler::text::{PrintOptions, print};

/// A stage of a compiled kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Program,
    Placement,
    Schedule,
    Clif,
}

/// Stages by the names that directives and commands use.
pub(crate) const STAGES: &[(Stage, &str)] = &[
    (Stage::Program, "program"),
    (Stage::Placement, "placement"),
    (Stage::Schedule, "schedule"),
    (Stage::Clif, "clif"),
];

impl Stage {
    pub fn from_name(name: &str) -> Option<Stage> {
        STAGES.iter().find(|it| it.1 == name).map(|it| it.0)
    }
}

/// A compiled kernel at a stage. Cranelift's IR is printed without options.
pub fn stage_text(
    compiled: &Compiled,
    stage: Stage,
    target: &'static Target,
    options: PrintOptions<'_>,
) -> String {
    let Compiled {
        program,
        placement,
        first_writes,
        schedule,
        ..
    } = compiled;
    match stage {
        Stage::Clif => clif(program, placement, first_writes, target),
        Stage::Program => print(program, None, None, options),
        Stage::Placement => print(program, Some(placement), None, options),
        Stage::Schedule => print(program, Some(placement), Some(schedule), options),
    }
}
