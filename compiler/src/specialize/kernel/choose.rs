//! The functions of a file: which of them are kernels, and the one that is meant.

use super::super::error::{Error, Mistake, Result, closest};
use crate::ast;
use crate::ast::{Expr, ExprKind, Function, StmtKind};
use crate::source::{FileId, Span};
use std::rc::Rc;

/// Decorators that mark a kernel.
const MARKS: &[&str] = &[
    "jit",
    "nki_jit",
    "trace",
    "baremetal",
    "benchmark",
    "profile",
    "simulate",
];

/// The functions of a file that are marked as kernels.
pub fn kernel_names(module: &ast::Module) -> Vec<Rc<str>> {
    functions(module)
        .into_iter()
        .filter(|it| it.decorators.iter().any(is_mark))
        .filter_map(name_of)
        .collect()
}

/// The functions of a file, also those under a module-level `if`, `try` or `with`.
pub fn functions(module: &ast::Module) -> Vec<&Rc<Function>> {
    fn collect<'a>(body: &'a [ast::Stmt], out: &mut Vec<&'a Rc<Function>>) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Def(function) => out.push(function),
                StmtKind::If { body, orelse, .. } => {
                    collect(body, out);
                    collect(orelse, out);
                }
                StmtKind::With { body, .. } => collect(body, out),
                StmtKind::Try {
                    body,
                    handlers,
                    orelse,
                    finally,
                } => {
                    collect(body, out);
                    handlers.iter().for_each(|it| collect(&it.body, out));
                    collect(orelse, out);
                    collect(finally, out);
                }
                _ => {}
            }
        }
    }
    let mut out = Vec::new();
    collect(&module.body, &mut out);
    out
}

pub fn name_of(function: &Rc<Function>) -> Option<Rc<str>> {
    function.name.as_ref().map(|it| it.name.clone())
}

fn is_mark(decorator: &Expr) -> bool {
    decorator_name(decorator).is_some_and(|it| MARKS.contains(&it))
}

/// The last word of a decorator, without its arguments.
pub fn decorator_name(decorator: &Expr) -> Option<&str> {
    match &decorator.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Attr { attr, .. } => Some(&attr.name),
        ExprKind::Call { callee, .. } => decorator_name(callee),
        _ => None,
    }
}

pub fn choose(module: &ast::Module, wanted: Option<&str>, file: FileId) -> Result<Rc<Function>> {
    let top = Span::new(file, 0, 0);
    let all: Vec<&Rc<Function>> = functions(module);
    let names = |list: &[&Rc<Function>]| {
        list.iter()
            .filter_map(|it| name_of(it))
            .map(|it| it.to_string())
            .collect()
    };
    let kernels: Vec<&Rc<Function>> = all
        .iter()
        .filter(|it| it.decorators.iter().any(is_mark))
        .copied()
        .collect();
    match (wanted, kernels.as_slice()) {
        (Some(wanted), _) => {
            // A later definition of a name replaces the earlier one.
            let named = |name: &str| all.iter().rev().find(|it| name_of(it).as_deref() == Some(name));
            let found = named(wanted).or_else(|| named(scheduled_kernel(module, wanted)?));
            found.map(|it| Rc::clone(it)).ok_or_else(|| {
                let known: Vec<String> = names(&all);
                let suggestion = closest(wanted, known.iter().map(String::as_str));
                Error::new(
                    Mistake::UnknownKernel {
                        name: wanted.to_string(),
                        suggestion,
                    },
                    top,
                )
            })
        }
        (None, [one]) => Ok(Rc::clone(one)),
        (None, []) => Err(Error::new(Mistake::NoKernel { names: names(&all) }, top)),
        (None, several) => Err(Error::new(
            Mistake::SeveralKernels {
                names: names(several),
            },
            several[0].header,
        )),
    }
}

/// The kernel of which a module-level variable is the scheduled form: `variable = kernel.with_schedule(…)`.
fn scheduled_kernel<'a>(module: &'a ast::Module, variable: &str) -> Option<&'a str> {
    module.body.iter().rev().find_map(|stmt| {
        let StmtKind::Assign { targets, value } = &stmt.kind else {
            return None;
        };
        let is_it = |it: &Expr| matches!(&it.kind, ExprKind::Name(name) if **name == *variable);
        let ExprKind::Call { callee, .. } = &value.kind else {
            return None;
        };
        match &callee.kind {
            ExprKind::Attr { value, attr } if targets.iter().any(is_it) && &*attr.name == "with_schedule" => {
                match &value.kind {
                    ExprKind::Name(kernel) => Some(&**kernel),
                    _ => None,
                }
            }
            _ => None,
        }
    })
}
