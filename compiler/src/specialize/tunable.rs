//! What of a kernel can be set without editing its file: keyword parameters with defaults, and module-level constants.
//!
//! Takes a syntax tree, gives names with the places of their values. Evaluates nothing.

use super::kernel::choose;
use crate::ast::{self, Expr, ExprKind, StmtKind};
use crate::source::{FileId, Span};
use std::rc::Rc;

/// A parameter or constant and where its value stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Tunable {
    pub name: Rc<str>,
    pub value: Span,
}

/// The parameters with defaults of a kernel, then the constants of the file: names in capitals, assigned once or more.
pub fn tunables(module: &ast::Module, kernel: Option<&str>, file: FileId) -> Vec<Tunable> {
    let mut found: Vec<Tunable> = Vec::new();
    let mut add = |name: &Rc<str>, value: &Expr| {
        // The last assignment of a constant is the one that kernels see.
        found.retain(|it| it.name != *name);
        let (name, value) = (name.clone(), value.span);
        found.push(Tunable { name, value });
    };
    if let Ok(function) = choose(module, kernel, file) {
        for param in &function.params {
            if let Some(default) = &param.default {
                add(&param.name.name, default);
            }
        }
    }
    for stmt in &module.body {
        let (target, value) = match &stmt.kind {
            StmtKind::Assign { targets, value } => match targets.as_slice() {
                [target] => (target, value),
                _ => continue,
            },
            StmtKind::AnnAssign {
                target,
                value: Some(value),
                ..
            } => (target, value),
            _ => continue,
        };
        if let ExprKind::Name(name) = &target.kind
            && is_constant(name)
        {
            add(name, value);
        }
    }
    found
}

/// The parameters of a kernel.
pub fn parameters(module: &ast::Module, kernel: Option<&str>, file: FileId) -> Vec<Rc<str>> {
    let function = choose(module, kernel, file);
    function.map_or(Vec::new(), |it| {
        it.params.iter().map(|it| it.name.name.clone()).collect()
    })
}

/// Whether a name is written in capitals.
fn is_constant(name: &str) -> bool {
    name.contains(char::is_alphabetic) && !name.contains(char::is_lowercase)
}
