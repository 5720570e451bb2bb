//! What may be assigned to.

use super::Builder;
use crate::ast::{Expr, ExprKind};
use crate::parse::error::Error;

impl Builder<'_> {
    /// Checks the target of an assignment, a `for`, a comprehension or a `with`.
    pub(super) fn check_target(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Name(_) | ExprKind::Attr { .. } | ExprKind::Index { .. } => {}
            ExprKind::Starred(inner) => self.check_target(inner),
            ExprKind::Tuple(elements) | ExprKind::List(elements) => {
                elements.iter().for_each(|it| self.check_target(it));
                let mut starred = elements
                    .iter()
                    .filter(|it| matches!(it.kind, ExprKind::Starred(_)));
                if let (Some(first), Some(second)) = (starred.next(), starred.next()) {
                    self.errors.push(Error::TwoStars {
                        span: second.span,
                        first: first.span,
                    });
                }
            }
            _ => self.errors.push(Error::Target {
                span: target.span,
                what: noun(target),
            }),
        }
    }

    /// Checks the target of `+=` or of an annotation, which must be a single one.
    pub(super) fn check_single_target(&mut self, target: &Expr, construct: &'static str) {
        match &target.kind {
            ExprKind::Tuple(_) | ExprKind::List(_) | ExprKind::Starred(_) => {
                self.errors.push(Error::SingleTarget {
                    span: target.span,
                    construct,
                });
            }
            _ => self.check_target(target),
        }
    }
}

/// What an expression is, for a message.
pub(crate) fn noun(expr: &Expr) -> &'static str {
    match &expr.kind {
        ExprKind::None | ExprKind::Bool(_) => "a constant",
        ExprKind::Ellipsis => "`...`",
        ExprKind::Int(_) | ExprKind::Float(_) => "a number",
        ExprKind::Str(_) => "a string",
        ExprKind::FString(_) => "an f-string",
        ExprKind::Name(_) => "a name",
        ExprKind::Attr { .. } => "an attribute",
        ExprKind::Index { .. } => "a subscript",
        ExprKind::Slice { .. } => "a slice",
        ExprKind::Tuple(_) => "a tuple",
        ExprKind::List(_) => "a list",
        ExprKind::Set(_) => "a set",
        ExprKind::Dict(_) => "a dictionary",
        ExprKind::Call { .. } => "a call",
        ExprKind::Unary { .. } | ExprKind::Binary { .. } | ExprKind::Logic { .. } => "an expression",
        ExprKind::Compare { .. } => "a comparison",
        ExprKind::IfElse { .. } => "a conditional expression",
        ExprKind::Lambda(_) => "a lambda",
        ExprKind::Comprehension { .. } => "a comprehension",
        ExprKind::Starred(_) => "a starred expression",
        ExprKind::Walrus { .. } => "a `:=` expression",
        ExprKind::Unsupported(it) => it.what,
    }
}
