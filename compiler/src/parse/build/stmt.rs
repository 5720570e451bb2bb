//! Statements.

use super::deep::optional;
use super::{Arg, Block, Builder, Deep, Entry, Exprs, MAX_DEPTH, Node, Statement, leaf};
use crate::ast::{
    BinOp, CallArg, Class, Expr, ExprKind, Function, Handler, Ident, ImportName, Stmt, StmtKind, Unsupported,
    WithItem,
};
use crate::parse::error::Error;
use crate::parse::unsupported as no;
use std::rc::Rc;

/// An `elif` and where it begins.
pub struct Elif {
    pub start: u32,
    pub test: Node,
    pub body: Block,
}

/// What stands between `def` and its colon; `end` is where it ends.
pub struct Signature {
    pub name: Ident,
    pub params: Deep<Vec<Entry>>,
    pub returns: Option<Node>,
    pub end: u32,
}

/// A handler of a `try`.
pub enum Except {
    Handler(Handler),
    /// `except*`.
    Star,
}

pub fn except(exception: Option<Node>, name: Option<Ident>, body: Block) -> Deep<Box<Except>> {
    let exception = exception.map(|it| it.tree);
    body.map(|body| {
        Box::new(Except::Handler(Handler {
            exception,
            name,
            body,
        }))
    })
}

/// `with (a, b):` names two items although it reads like one tuple.
pub fn with_items(items: Deep<Vec<WithItem>>) -> Deep<Vec<WithItem>> {
    items.map(|mut items| {
        let [first] = items.as_mut_slice() else {
            return items;
        };
        let WithItem {
            context: Expr {
                kind: ExprKind::Tuple(elements),
                ..
            },
            target: None,
        } = first
        else {
            return items;
        };
        let contexts = std::mem::take(elements).into_iter();
        contexts
            .map(|context| WithItem {
                context,
                target: None,
            })
            .collect()
    })
}

impl Builder<'_> {
    pub fn expr_stmt(&mut self, start: u32, value: Node, end: u32) -> Statement {
        self.simple(start, StmtKind::Expr(value.tree), end)
    }

    pub fn assign(&mut self, start: u32, targets: Exprs, value: Node, end: u32) -> Statement {
        targets.tree.iter().for_each(|it| self.check_target(it));
        self.simple(
            start,
            StmtKind::Assign {
                targets: targets.tree,
                value: value.tree,
            },
            end,
        )
    }

    pub fn ann_assign(
        &mut self,
        start: u32,
        target: Node,
        annotation: Node,
        value: Option<Node>,
        end: u32,
    ) -> Statement {
        self.check_single_target(&target.tree, "an annotation");
        let (target, annotation, value) = (target.tree, annotation.tree, value.map(|it| it.tree));
        self.simple(
            start,
            StmtKind::AnnAssign {
                target,
                annotation,
                value,
            },
            end,
        )
    }

    pub fn aug_assign(&mut self, start: u32, target: Node, op: BinOp, value: Node, end: u32) -> Statement {
        self.check_single_target(&target.tree, "an augmented assignment");
        self.simple(
            start,
            StmtKind::AugAssign {
                target: target.tree,
                op,
                value: value.tree,
            },
            end,
        )
    }

    pub fn return_(&mut self, start: u32, value: Option<Node>, end: u32) -> Statement {
        self.simple(start, StmtKind::Return(value.map(|it| it.tree)), end)
    }

    pub fn raise(&mut self, start: u32, value: Option<Node>, end: u32) -> Statement {
        self.simple(start, StmtKind::Raise(value.map(|it| it.tree)), end)
    }

    pub fn assert(&mut self, start: u32, test: Node, message: Option<Node>, end: u32) -> Statement {
        self.simple(
            start,
            StmtKind::Assert {
                test: test.tree,
                message: message.map(|it| it.tree),
            },
            end,
        )
    }

    pub fn pass(&mut self, start: u32, end: u32) -> Statement {
        self.simple(start, StmtKind::Pass, end)
    }

    pub fn break_(&mut self, start: u32, end: u32) -> Statement {
        self.simple(start, StmtKind::Break, end)
    }

    pub fn continue_(&mut self, start: u32, end: u32) -> Statement {
        self.simple(start, StmtKind::Continue, end)
    }

    pub fn del(&mut self, start: u32, targets: Node, end: u32) -> Statement {
        self.check_target(&targets.tree);
        self.unsupported_stmt(start, no::DEL, end)
    }

    pub fn global(&mut self, start: u32, names: Vec<Ident>, end: u32) -> Statement {
        self.simple(start, StmtKind::Global(names), end)
    }

    pub fn nonlocal(&mut self, start: u32, names: Vec<Ident>, end: u32) -> Statement {
        self.simple(start, StmtKind::Nonlocal(names), end)
    }

    pub fn import(&mut self, start: u32, names: Vec<ImportName>, end: u32) -> Statement {
        self.simple(start, StmtKind::Import(names), end)
    }

    pub fn import_from(
        &mut self,
        start: u32,
        level: u32,
        module: Vec<Ident>,
        names: Vec<ImportName>,
        end: u32,
    ) -> Statement {
        self.simple(start, StmtKind::ImportFrom { level, module, names }, end)
    }

    pub fn unsupported_stmt(&mut self, start: u32, what: Unsupported, end: u32) -> Statement {
        self.simple(start, StmtKind::Unsupported(what), end)
    }

    /// The last branch of an `if` ends where the whole does, and so does each `elif`.
    pub fn if_(
        &mut self,
        start: u32,
        test: Node,
        body: Block,
        elifs: Option<Vec<Elif>>,
        orelse: Option<Block>,
        end: u32,
    ) -> Statement {
        let mut orelse = orelse.unwrap_or(leaf(Vec::new()));
        for elif in elifs.unwrap_or_default().into_iter().rev() {
            let Elif { start, test, body } = elif;
            orelse = self.branch(start, test, body, orelse, end).map(|it| vec![*it]);
        }
        self.branch(start, test, body, orelse, end)
    }

    fn branch(&mut self, start: u32, test: Node, body: Block, orelse: Block, end: u32) -> Statement {
        let parts = body.and(orelse);
        let (body, orelse) = parts.tree;
        self.compound(
            start,
            StmtKind::If {
                test: test.tree,
                body,
                orelse,
            },
            parts.depth,
            end,
        )
    }

    pub fn while_(
        &mut self,
        start: u32,
        test: Node,
        body: Block,
        orelse: Option<Block>,
        end: u32,
    ) -> Statement {
        let parts = body.and(orelse.unwrap_or(leaf(Vec::new())));
        let (body, orelse) = parts.tree;
        self.compound(
            start,
            StmtKind::While {
                test: test.tree,
                body,
                orelse,
            },
            parts.depth,
            end,
        )
    }

    pub fn for_(
        &mut self,
        start: u32,
        target: Node,
        iter: Node,
        body: Block,
        orelse: Option<Block>,
        end: u32,
    ) -> Statement {
        self.check_target(&target.tree);
        let parts = body.and(orelse.unwrap_or(leaf(Vec::new())));
        let (body, orelse) = parts.tree;
        self.compound(
            start,
            StmtKind::For {
                target: target.tree,
                iter: iter.tree,
                body,
                orelse,
            },
            parts.depth,
            end,
        )
    }

    pub fn try_(
        &mut self,
        start: u32,
        body: Block,
        handlers: Deep<Vec<Except>>,
        orelse: Option<Block>,
        finally: Option<Block>,
        end: u32,
    ) -> Statement {
        let parts = body.and(handlers).and(optional(orelse)).and(optional(finally));
        let (((body, excepts), orelse), finally) = parts.tree;
        let mut handlers = Vec::with_capacity(excepts.len());
        for except in excepts {
            match except {
                Except::Handler(handler) => handlers.push(handler),
                Except::Star => return self.unsupported_stmt(start, no::EXCEPT_STAR, end),
            }
        }
        let (orelse, finally) = (orelse.unwrap_or_default(), finally.unwrap_or_default());
        self.compound(
            start,
            StmtKind::Try {
                body,
                handlers,
                orelse,
                finally,
            },
            parts.depth,
            end,
        )
    }

    pub fn with_item(&mut self, context: Node, target: Option<Node>) -> Deep<Box<WithItem>> {
        if let Some(target) = &target {
            self.check_target(&target.tree);
        }
        context
            .and(optional(target))
            .map(|(context, target)| Box::new(WithItem { context, target }))
    }

    pub fn with(&mut self, start: u32, items: Deep<Vec<WithItem>>, body: Block, end: u32) -> Statement {
        self.compound(
            start,
            StmtKind::With {
                items: items.tree,
                body: body.tree,
            },
            body.depth,
            end,
        )
    }

    pub fn def(&mut self, start: u32, signature: Signature, body: Block, end: u32) -> Statement {
        let function = Function {
            name: Some(signature.name),
            params: self.params(signature.params).tree,
            returns: signature.returns.map(|it| it.tree),
            decorators: Vec::new(),
            body: body.tree,
            header: self.span(start, signature.end),
            span: self.span(start, end),
        };
        self.compound(start, StmtKind::Def(Rc::new(function)), body.depth, end)
    }

    pub fn class(
        &mut self,
        start: u32,
        name: Ident,
        bases: Option<Deep<Vec<Arg>>>,
        body: Block,
        end: u32,
    ) -> Statement {
        let bases: Vec<CallArg> = bases.map(|it| self.args(it).tree).unwrap_or_default();
        let span = self.span(start, end);
        let class = Class {
            name,
            bases,
            decorators: Vec::new(),
            body: body.tree,
            span,
        };
        self.compound(start, StmtKind::Class(Rc::new(class)), body.depth, end)
    }

    /// Gives a definition its decorators; one that is unsupported stays so without them.
    pub fn decorate(
        &mut self,
        start: u32,
        decorators: Exprs,
        mut definition: Statement,
        end: u32,
    ) -> Statement {
        const FRESH: &str = "a definition is not shared before its decorators are known";
        match &mut definition.tree.kind {
            StmtKind::Def(function) => Rc::get_mut(function).expect(FRESH).decorators = decorators.tree,
            StmtKind::Class(class) => Rc::get_mut(class).expect(FRESH).decorators = decorators.tree,
            _ => {}
        }
        definition.tree.span = self.span(start, end);
        definition
    }

    /// A statement without a block: what it nests is bounded by its expressions.
    fn simple(&mut self, start: u32, kind: StmtKind, end: u32) -> Statement {
        Deep {
            tree: Box::new(Stmt {
                kind,
                span: self.span(start, end),
            }),
            depth: 1,
        }
    }

    /// A statement over blocks of this depth. One that is too deep loses its blocks.
    fn compound(&mut self, start: u32, kind: StmtKind, blocks: u32, end: u32) -> Statement {
        if blocks >= MAX_DEPTH {
            let span = self.span(start, end);
            self.errors.push(Error::StatementTooDeep {
                span,
                limit: MAX_DEPTH,
            });
            return self.simple(start, StmtKind::Pass, end);
        }
        Deep {
            tree: Box::new(Stmt {
                kind,
                span: self.span(start, end),
            }),
            depth: blocks + 1,
        }
    }
}
