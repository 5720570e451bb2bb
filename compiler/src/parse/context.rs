//! `return` outside functions, `break` and `continue` outside loops.
//!
//! Takes a parsed file, reports what the grammar cannot see. Never changes the tree.

use super::Error;
use crate::ast::{Stmt, StmtKind};

/// What surrounds a statement.
#[derive(Clone, Copy)]
struct Around {
    function: bool,
    in_loop: bool,
}

/// Reports misplaced jumps.
pub(super) fn check(body: &[Stmt], errors: &mut Vec<Error>) {
    walk(
        body,
        Around {
            function: false,
            in_loop: false,
        },
        errors,
    );
}

fn walk(body: &[Stmt], around: Around, errors: &mut Vec<Error>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Return(_) if !around.function => errors.push(Error::ReturnOutside { span: stmt.span }),
            StmtKind::Break if !around.in_loop => errors.push(Error::JumpOutside {
                span: stmt.span,
                word: "break",
            }),
            StmtKind::Continue if !around.in_loop => {
                errors.push(Error::JumpOutside {
                    span: stmt.span,
                    word: "continue",
                });
            }
            StmtKind::If { body, orelse, .. } => {
                walk(body, around, errors);
                walk(orelse, around, errors);
            }
            StmtKind::For { body, orelse, .. } | StmtKind::While { body, orelse, .. } => {
                walk(
                    body,
                    Around {
                        in_loop: true,
                        ..around
                    },
                    errors,
                );
                walk(orelse, around, errors);
            }
            StmtKind::With { body, .. } => walk(body, around, errors),
            StmtKind::Try {
                body,
                handlers,
                orelse,
                finally,
            } => {
                walk(body, around, errors);
                handlers.iter().for_each(|it| walk(&it.body, around, errors));
                walk(orelse, around, errors);
                walk(finally, around, errors);
            }
            StmtKind::Def(function) => walk(
                &function.body,
                Around {
                    function: true,
                    in_loop: false,
                },
                errors,
            ),
            StmtKind::Class(class) => walk(
                &class.body,
                Around {
                    function: false,
                    in_loop: false,
                },
                errors,
            ),
            StmtKind::Expr(_)
            | StmtKind::Assign { .. }
            | StmtKind::AnnAssign { .. }
            | StmtKind::AugAssign { .. }
            | StmtKind::Return(_)
            | StmtKind::Raise(_)
            | StmtKind::Assert { .. }
            | StmtKind::Pass
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Import(_)
            | StmtKind::ImportFrom { .. }
            | StmtKind::Global(_)
            | StmtKind::Nonlocal(_)
            | StmtKind::Unsupported(_) => {}
        }
    }
}
