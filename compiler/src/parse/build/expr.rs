//! Expressions.

use super::deep::optional;
use super::{Arg, Builder, Deep, Entry, Exprs, Node, empty};
use crate::ast::{
    BinOp, CmpOp, CompClause, CompKind, Expr, ExprKind, Function, Ident, LogicOp, Stmt, StmtKind, UnaryOp,
    Unsupported,
};
use crate::parse::unsupported as no;
use std::rc::Rc;

/// A key (none for `**`) and a value.
pub type DictItem = (Option<Expr>, Expr);

/// A `for` of a comprehension, and whether it is `async`.
pub type Clause = (CompClause, bool);

/// An operand, and where it begins and ends with its parentheses.
pub struct Placed {
    pub start: u32,
    pub node: Node,
    pub end: u32,
}

/// How tightly a binary operator binds.
fn tightness(op: BinOp) -> u32 {
    match op {
        BinOp::BitOr => 0,
        BinOp::BitXor => 1,
        BinOp::BitAnd => 2,
        BinOp::Shl | BinOp::Shr => 3,
        BinOp::Add | BinOp::Sub => 4,
        BinOp::Mul | BinOp::Div | BinOp::FloorDiv | BinOp::Mod | BinOp::MatMul => 5,
        BinOp::Pow => 6,
    }
}

pub fn clause(target: Node, iter: Node, tests: Option<Exprs>, is_async: bool) -> Deep<Box<Clause>> {
    target
        .and(iter)
        .and(tests.unwrap_or(empty()))
        .map(|((target, iter), tests)| Box::new((CompClause { target, iter, tests }, is_async)))
}

impl Builder<'_> {
    pub fn name(&mut self, start: u32, end: u32) -> Node {
        let name = self.intern(start, end);
        self.node(start, ExprKind::Name(name), 0, end)
    }

    pub fn none(&mut self, start: u32, end: u32) -> Node {
        self.node(start, ExprKind::None, 0, end)
    }

    pub fn boolean(&mut self, start: u32, value: bool, end: u32) -> Node {
        self.node(start, ExprKind::Bool(value), 0, end)
    }

    pub fn ellipsis(&mut self, start: u32, end: u32) -> Node {
        self.node(start, ExprKind::Ellipsis, 0, end)
    }

    pub fn unsupported(&mut self, start: u32, what: Unsupported, end: u32) -> Node {
        self.node(start, ExprKind::Unsupported(what), 0, end)
    }

    pub fn attr(&mut self, start: u32, value: Node, attr: Ident, end: u32) -> Node {
        self.node(
            start,
            ExprKind::Attr {
                value: Box::new(value.tree),
                attr,
            },
            value.depth,
            end,
        )
    }

    pub fn index(&mut self, start: u32, value: Node, index: Node, end: u32) -> Node {
        let parts = value.and(index);
        let (value, index) = (Box::new(parts.tree.0), Box::new(parts.tree.1));
        self.node(start, ExprKind::Index { value, index }, parts.depth, end)
    }

    pub fn slice(
        &mut self,
        start: u32,
        lower: Option<Node>,
        upper: Option<Node>,
        step: Option<Node>,
        end: u32,
    ) -> Node {
        let parts = optional(lower).and(optional(upper)).and(optional(step));
        let ((lower, upper), step) = parts.tree;
        let kind = ExprKind::Slice {
            start: lower.map(Box::new),
            stop: upper.map(Box::new),
            step: step.map(Box::new),
        };
        self.node(start, kind, parts.depth, end)
    }

    pub fn call(&mut self, start: u32, callee: Node, args: Deep<Vec<Arg>>, end: u32) -> Node {
        let parts = callee.and(self.args(args));
        let (callee, args) = parts.tree;
        self.node(
            start,
            ExprKind::Call {
                callee: Box::new(callee),
                args,
            },
            parts.depth,
            end,
        )
    }

    pub fn tuple(&mut self, start: u32, elements: Exprs, end: u32) -> Node {
        self.node(start, ExprKind::Tuple(elements.tree), elements.depth, end)
    }

    pub fn list(&mut self, start: u32, elements: Exprs, end: u32) -> Node {
        self.node(start, ExprKind::List(elements.tree), elements.depth, end)
    }

    pub fn set(&mut self, start: u32, elements: Exprs, end: u32) -> Node {
        self.node(start, ExprKind::Set(elements.tree), elements.depth, end)
    }

    pub fn dict(&mut self, start: u32, items: Deep<Vec<DictItem>>, end: u32) -> Node {
        self.node(start, ExprKind::Dict(items.tree), items.depth, end)
    }

    pub fn starred(&mut self, start: u32, value: Node, end: u32) -> Node {
        self.node(start, ExprKind::Starred(Box::new(value.tree)), value.depth, end)
    }

    pub fn walrus(&mut self, start: u32, name: Ident, value: Node, end: u32) -> Node {
        self.node(
            start,
            ExprKind::Walrus {
                name,
                value: Box::new(value.tree),
            },
            value.depth,
            end,
        )
    }

    pub fn power(&mut self, start: u32, base: Node, exponent: Node, end: u32) -> Node {
        self.pair(start, base, exponent, end, |left, right| ExprKind::Binary {
            op: BinOp::Pow,
            left,
            right,
        })
    }

    /// Operands with binary operators between them, which bind as tightly as their operators say.
    pub fn binary(&mut self, first: Placed, rest: Vec<(BinOp, Placed)>) -> Node {
        let join = |b: &mut Self, x: Placed, op, y: Placed| {
            b.pair(x.start, x.node, y.node, y.end, |left, right| ExprKind::Binary {
                op,
                left,
                right,
            })
        };
        self.chain(first, rest, tightness, join)
    }

    /// `and` binds tighter than `or`.
    pub fn logic(&mut self, first: Placed, rest: Vec<(LogicOp, Placed)>) -> Node {
        let join = |b: &mut Self, x: Placed, op, y: Placed| {
            b.pair(x.start, x.node, y.node, y.end, |left, right| ExprKind::Logic {
                op,
                left,
                right,
            })
        };
        self.chain(first, rest, |op| u32::from(op == LogicOp::And), join)
    }

    /// Joins operands from the left, the tighter operators first.
    fn chain<Op: Copy>(
        &mut self,
        first: Placed,
        rest: Vec<(Op, Placed)>,
        tightness: impl Fn(Op) -> u32,
        join: impl Fn(&mut Self, Placed, Op, Placed) -> Node,
    ) -> Node {
        // Operands that wait for a looser operator, each with the operator behind it.
        let mut waiting: Vec<(Placed, Op)> = Vec::new();
        let mut last = first;
        for (op, operand) in rest {
            while let Some((left, left_op)) = waiting.pop_if(|it| tightness(it.1) >= tightness(op)) {
                last = Placed {
                    start: left.start,
                    end: last.end,
                    node: join(self, left, left_op, last),
                };
            }
            waiting.push((last, op));
            last = operand;
        }
        while let Some((left, op)) = waiting.pop() {
            last = Placed {
                start: left.start,
                end: last.end,
                node: join(self, left, op, last),
            };
        }
        last.node
    }

    fn pair(
        &mut self,
        start: u32,
        left: Node,
        right: Node,
        end: u32,
        kind: impl FnOnce(Box<Expr>, Box<Expr>) -> ExprKind,
    ) -> Node {
        let parts = left.and(right);
        let (left, right) = parts.tree;
        self.node(start, kind(Box::new(left), Box::new(right)), parts.depth, end)
    }

    pub fn compare(&mut self, start: u32, first: Node, rest: Deep<Vec<(CmpOp, Expr)>>, end: u32) -> Node {
        let parts = first.and(rest);
        let (first, rest) = parts.tree;
        self.node(
            start,
            ExprKind::Compare {
                first: Box::new(first),
                rest,
            },
            parts.depth,
            end,
        )
    }

    pub fn unary(&mut self, start: u32, op: UnaryOp, operand: Node, end: u32) -> Node {
        if op == UnaryOp::Neg && self.is_smallest_integer(&operand.tree) {
            return self.node(start, ExprKind::Int(i64::MIN), 0, end);
        }
        self.node(
            start,
            ExprKind::Unary {
                op,
                operand: Box::new(operand.tree),
            },
            operand.depth,
            end,
        )
    }

    /// The magnitude of the smallest integer, which is itself one too large.
    fn is_smallest_integer(&self, operand: &Expr) -> bool {
        matches!(operand.kind, ExprKind::Unsupported(no::WIDE_INTEGER))
            && self.source(operand.span.start, operand.span.end).replace('_', "") == "9223372036854775808"
    }

    pub fn if_else(&mut self, start: u32, test: Node, body: Node, orelse: Node, end: u32) -> Node {
        let parts = test.and(body).and(orelse);
        let ((test, body), orelse) = parts.tree;
        let kind = ExprKind::IfElse {
            test: Box::new(test),
            body: Box::new(body),
            orelse: Box::new(orelse),
        };
        self.node(start, kind, parts.depth, end)
    }

    pub fn lambda(
        &mut self,
        start: u32,
        params: Option<Deep<Vec<Entry>>>,
        header: u32,
        body: Node,
        end: u32,
    ) -> Node {
        let parts = self.params(params.unwrap_or(empty())).and(body);
        let (params, body) = parts.tree;
        let span = body.span;
        let function = Function {
            name: None,
            params,
            returns: None,
            decorators: Vec::new(),
            body: vec![Stmt {
                kind: StmtKind::Return(Some(body)),
                span,
            }],
            header: self.span(start, header),
            span: self.span(start, end),
        };
        self.node(start, ExprKind::Lambda(Rc::new(function)), parts.depth, end)
    }

    pub fn comprehension(
        &mut self,
        start: u32,
        kind: CompKind,
        element: Node,
        value: Option<Node>,
        clauses: Deep<Vec<Clause>>,
        end: u32,
    ) -> Node {
        let parts = element.and(optional(value)).and(clauses);
        let ((element, value), clauses) = parts.tree;
        if clauses.iter().any(|it| it.1) {
            return self.unsupported(start, no::ASYNC_FOR, end);
        }
        let clauses: Vec<CompClause> = clauses.into_iter().map(|it| it.0).collect();
        clauses.iter().for_each(|it| self.check_target(&it.target));
        let kind = ExprKind::Comprehension {
            kind,
            element: Box::new(element),
            value: value.map(Box::new),
            clauses,
        };
        self.node(start, kind, parts.depth, end)
    }
}
