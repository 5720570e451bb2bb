//! The syntax tree of a `.nk` file: NKI's Python subset.
//!
//! Takes shape from the grammar (`grammar/kernel.lalrpop`), is read by the specialiser. Holds no meaning: a target is
//! an expression, a decorator is an expression, and whether a construct is accepted is decided later. What Python has and
//! the language never accepts (`async`, `await`, `yield`, `match`, bytes literals, `del`, …) is one [`Unsupported`]
//! node without children: host code may hold it, and only a kernel that reaches it is wrong.

mod dump;

pub use dump::{dump_ast, dump_expr};

use crate::source::Span;
use std::rc::Rc;

/// A parsed file.
#[derive(Debug, Clone)]
pub struct Module {
    pub body: Vec<Stmt>,
    /// `# nk: …` comments, in file order.
    pub directives: Vec<Directive>,
}

/// The text after `# nk:` in a comment, trimmed.
#[derive(Debug, Clone, PartialEq)]
pub struct Directive {
    pub text: String,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Ident {
    pub name: Rc<str>,
    pub span: Span,
}

/// Python that kernels never use, and the rewrite that helps. `what` is a noun: "a bytes literal".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsupported {
    pub what: &'static str,
    pub help: &'static str,
}

#[derive(Debug, Clone)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum StmtKind {
    Expr(Expr),
    /// `a = b = value`: several targets.
    Assign {
        targets: Vec<Expr>,
        value: Expr,
    },
    AnnAssign {
        target: Expr,
        annotation: Expr,
        value: Option<Expr>,
    },
    AugAssign {
        target: Expr,
        op: BinOp,
        value: Expr,
    },
    Return(Option<Expr>),
    Raise(Option<Expr>),
    Assert {
        test: Expr,
        message: Option<Expr>,
    },
    Pass,
    Break,
    Continue,
    If {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    For {
        target: Expr,
        iter: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    While {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    With {
        items: Vec<WithItem>,
        body: Vec<Stmt>,
    },
    /// Kept so that module-level `try: import …` parses; the specialiser refuses it inside a function.
    Try {
        body: Vec<Stmt>,
        handlers: Vec<Handler>,
        orelse: Vec<Stmt>,
        finally: Vec<Stmt>,
    },
    Def(Rc<Function>),
    Class(Rc<Class>),
    /// `import a.b as c`.
    Import(Vec<ImportName>),
    /// `from ..a.b import c as d` (`names` empty: `*`).
    ImportFrom {
        level: u32,
        module: Vec<Ident>,
        names: Vec<ImportName>,
    },
    Global(Vec<Ident>),
    Nonlocal(Vec<Ident>),
    Unsupported(Unsupported),
}

#[derive(Debug, Clone)]
pub struct WithItem {
    pub context: Expr,
    pub target: Option<Expr>,
}

#[derive(Debug, Clone)]
pub struct Handler {
    pub exception: Option<Expr>,
    pub name: Option<Ident>,
    pub body: Vec<Stmt>,
}

#[derive(Debug, Clone)]
pub struct ImportName {
    pub path: Vec<Ident>,
    pub alias: Option<Ident>,
}

/// A `def` or a lambda.
#[derive(Debug, Clone)]
pub struct Function {
    /// `None` for a lambda.
    pub name: Option<Ident>,
    pub params: Vec<Param>,
    pub returns: Option<Expr>,
    pub decorators: Vec<Expr>,
    /// A lambda's body is one `return` of its expression.
    pub body: Vec<Stmt>,
    /// From `def` (or `lambda`) to the end of the header.
    pub header: Span,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Param {
    pub name: Ident,
    pub kind: ParamKind,
    pub annotation: Option<Expr>,
    pub default: Option<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// Before `/`.
    PositionalOnly,
    Normal,
    /// After `*` or `*args`.
    KeywordOnly,
    /// `*args`.
    Star,
    /// `**kwargs`.
    DoubleStar,
}

#[derive(Debug, Clone)]
pub struct Class {
    pub name: Ident,
    pub bases: Vec<CallArg>,
    pub decorators: Vec<Expr>,
    pub body: Vec<Stmt>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum ExprKind {
    None,
    Bool(bool),
    Ellipsis,
    /// Decimal, hex, octal or binary; wider ones are [`Unsupported`], with the limit.
    Int(i64),
    Float(f64),
    /// Adjacent literals are joined, escapes resolved.
    Str(Rc<str>),
    FString(Vec<FPart>),
    Name(Rc<str>),
    Attr {
        value: Box<Expr>,
        attr: Ident,
    },
    Index {
        value: Box<Expr>,
        index: Box<Expr>,
    },
    /// Only inside an index, alone or in its tuple.
    Slice {
        start: Option<Box<Expr>>,
        stop: Option<Box<Expr>>,
        step: Option<Box<Expr>>,
    },
    Tuple(Vec<Expr>),
    List(Vec<Expr>),
    Set(Vec<Expr>),
    /// A `None` key is `**value`.
    Dict(Vec<(Option<Expr>, Expr)>),
    Call {
        callee: Box<Expr>,
        args: Vec<CallArg>,
    },
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    Binary {
        op: BinOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `a and b`, `a or b`.
    Logic {
        op: LogicOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `a < b <= c`: the first operand, then each operator with its right side.
    Compare {
        first: Box<Expr>,
        rest: Vec<(CmpOp, Expr)>,
    },
    IfElse {
        test: Box<Expr>,
        body: Box<Expr>,
        orelse: Box<Expr>,
    },
    Lambda(Rc<Function>),
    Comprehension {
        kind: CompKind,
        element: Box<Expr>,
        value: Option<Box<Expr>>,
        clauses: Vec<CompClause>,
    },
    /// `*x` in a call, a tuple, a list or a target.
    Starred(Box<Expr>),
    /// `(name := value)`.
    Walrus {
        name: Ident,
        value: Box<Expr>,
    },
    Unsupported(Unsupported),
}

#[derive(Debug, Clone)]
pub struct CallArg {
    pub kind: ArgKind,
    pub value: Expr,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ArgKind {
    Positional,
    Keyword(Ident),
    Star,
    DoubleStar,
}

/// A piece of an f-string.
#[derive(Debug, Clone)]
pub enum FPart {
    Text(Rc<str>),
    /// `{value=!r:spec}`; `debug` is what the `=` form prints first: the text up to and with `=` and its spaces.
    Hole {
        value: Expr,
        debug: Option<Rc<str>>,
        conversion: Option<char>,
        spec: Vec<FPart>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompKind {
    List,
    Set,
    /// `element` is the key, `value` the value.
    Dict,
    Generator,
}

/// `for target in iter if test if test`.
#[derive(Debug, Clone)]
pub struct CompClause {
    pub target: Expr,
    pub iter: Expr,
    pub tests: Vec<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Neg,
    Pos,
    Invert,
    Not,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    MatMul,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogicOp {
    And,
    Or,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CmpOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    NotIn,
    Is,
    IsNot,
}

/// The spelling of each binary operator, read both ways.
pub const BIN_OPS: &[(BinOp, &str)] = &[
    (BinOp::Add, "+"),
    (BinOp::Sub, "-"),
    (BinOp::Mul, "*"),
    (BinOp::Div, "/"),
    (BinOp::FloorDiv, "//"),
    (BinOp::Mod, "%"),
    (BinOp::Pow, "**"),
    (BinOp::MatMul, "@"),
    (BinOp::BitAnd, "&"),
    (BinOp::BitOr, "|"),
    (BinOp::BitXor, "^"),
    (BinOp::Shl, "<<"),
    (BinOp::Shr, ">>"),
];

/// The spelling of each comparison, read both ways.
pub const CMP_OPS: &[(CmpOp, &str)] = &[
    (CmpOp::Eq, "=="),
    (CmpOp::Ne, "!="),
    (CmpOp::Lt, "<"),
    (CmpOp::Le, "<="),
    (CmpOp::Gt, ">"),
    (CmpOp::Ge, ">="),
    (CmpOp::In, "in"),
    (CmpOp::NotIn, "not in"),
    (CmpOp::Is, "is"),
    (CmpOp::IsNot, "is not"),
];

/// The spelling of each unary operator.
pub const UNARY_OPS: &[(UnaryOp, &str)] = &[
    (UnaryOp::Neg, "-"),
    (UnaryOp::Pos, "+"),
    (UnaryOp::Invert, "~"),
    (UnaryOp::Not, "not"),
];

impl UnaryOp {
    pub fn symbol(self) -> &'static str {
        UNARY_OPS
            .iter()
            .find(|it| it.0 == self)
            .expect("UNARY_OPS lists every operator")
            .1
    }
}

impl LogicOp {
    pub fn symbol(self) -> &'static str {
        match self {
            LogicOp::And => "and",
            LogicOp::Or => "or",
        }
    }
}

impl CompKind {
    pub fn noun(self) -> &'static str {
        match self {
            CompKind::List => "list",
            CompKind::Set => "set",
            CompKind::Dict => "dict",
            CompKind::Generator => "generator",
        }
    }
}

impl BinOp {
    pub fn symbol(self) -> &'static str {
        BIN_OPS
            .iter()
            .find(|it| it.0 == self)
            .expect("BIN_OPS lists every operator")
            .1
    }
}

impl CmpOp {
    pub fn symbol(self) -> &'static str {
        CMP_OPS
            .iter()
            .find(|it| it.0 == self)
            .expect("CMP_OPS lists every comparison")
            .1
    }
}
