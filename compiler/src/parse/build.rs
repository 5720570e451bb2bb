//! The builder: what the grammar's rules do.
//!
//! Takes the parts of each construct, gives its node, and reports what the grammar accepts but Python does not. Every
//! part carries how deep it nests, so that no tree is ever deeper than [`MAX_DEPTH`]: dropping and walking it are
//! recursive.

mod deep;
mod expr;
mod stmt;
mod params;
mod args;
mod literal;
mod fstring;
mod target;

pub use args::{Arg, ArgWord, arg};
pub use deep::{Block, Deep, Exprs, Node, Statement, empty, join, leaf, one, push};
pub use expr::{Clause, DictItem, Placed, clause};
pub use literal::{Literal, LiteralKind};
pub use params::{Entry, param};
pub use stmt::{Elif, Except, Signature, except, with_items};

use crate::ast::{Expr, ExprKind, Ident, Stmt};
use crate::parse::error::Error;
use crate::source::{FileId, Span};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// How deep expressions, and statements, may nest.
pub const MAX_DEPTH: u32 = 200;

/// What the parser gives for a whole token list.
pub enum Parsed {
    Block(Vec<Stmt>),
    Expr(Node),
}

/// The state of one parse: the text that tokens are read from, the names met so far, the mistakes found.
pub struct Builder<'s> {
    pub(super) text: &'s str,
    pub(super) file: FileId,
    names: FxHashSet<Rc<str>>,
    pub errors: Vec<Error>,
    /// How many f-strings the text being parsed lies in.
    fstring_depth: u32,
}

impl<'s> Builder<'s> {
    pub fn new(text: &'s str, file: FileId) -> Builder<'s> {
        Builder {
            text,
            file,
            names: FxHashSet::default(),
            errors: Vec::new(),
            fstring_depth: 0,
        }
    }

    pub fn ident(&mut self, start: u32, end: u32) -> Ident {
        Ident {
            name: self.intern(start, end),
            span: self.span(start, end),
        }
    }

    /// Equal names share their text.
    pub(super) fn intern(&mut self, start: u32, end: u32) -> Rc<str> {
        let name = self.source(start, end);
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let name: Rc<str> = name.into();
        self.names.insert(name.clone());
        name
    }

    pub(super) fn source(&self, start: u32, end: u32) -> &'s str {
        &self.text[start as usize..end as usize]
    }

    pub(super) fn span(&self, start: u32, end: u32) -> Span {
        Span {
            file: self.file,
            start,
            end,
        }
    }

    /// An expression over parts of this depth. One that is too deep loses its parts and is a leaf.
    pub(super) fn node(&mut self, start: u32, kind: ExprKind, parts: u32, end: u32) -> Node {
        let span = self.span(start, end);
        if parts >= MAX_DEPTH {
            self.errors.push(Error::ExpressionTooDeep {
                span,
                limit: MAX_DEPTH,
            });
            return Deep {
                tree: Expr {
                    kind: ExprKind::Ellipsis,
                    span,
                },
                depth: 1,
            };
        }
        Deep {
            tree: Expr { kind, span },
            depth: parts + 1,
        }
    }
}
