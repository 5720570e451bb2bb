//! The syntax tree as text: what `nk compile --emit ast` prints and snapshots hold.
//!
//! Takes a tree, gives one node a line, children indented below, each led by its role where it is not obvious. Prints
//! no positions, so that an edit shows only where the tree changed.

use super::*;
use std::fmt::Write;

/// The whole file.
pub fn dump_ast(module: &Module) -> String {
    let mut dump = Dump::default();
    for directive in &module.directives {
        dump.line(format_args!("directive {:?}", directive.text));
    }
    dump.block(&module.body);
    dump.text
}

/// One expression.
pub fn dump_expr(expr: &Expr) -> String {
    let mut dump = Dump::default();
    dump.expr("", expr);
    dump.text
}

#[derive(Default)]
struct Dump {
    text: String,
    depth: usize,
}

impl Dump {
    fn line(&mut self, line: std::fmt::Arguments) {
        let width = 2 * self.depth;
        writeln!(self.text, "{:width$}{line}", "").expect("writing to a string does not fail");
    }

    /// A line, and what `children` prints below it.
    fn node(&mut self, line: std::fmt::Arguments, children: impl FnOnce(&mut Dump)) {
        self.line(line);
        self.depth += 1;
        children(self);
        self.depth -= 1;
    }

    fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|it| self.stmt(it));
    }

    /// A named block, unless it is empty.
    fn part(&mut self, name: &str, body: &[Stmt]) {
        if !body.is_empty() {
            self.node(format_args!("{name}"), |it| it.block(body));
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(value) => self.node(format_args!("expr"), |it| it.expr("", value)),
            StmtKind::Assign { targets, value } => self.node(format_args!("assign"), |it| {
                it.exprs("target ", targets);
                it.expr("value ", value);
            }),
            StmtKind::AnnAssign {
                target,
                annotation,
                value,
            } => self.node(format_args!("assign"), |it| {
                it.expr("target ", target);
                it.expr("annotation ", annotation);
                it.exprs("value ", value);
            }),
            StmtKind::AugAssign { target, op, value } => {
                self.node(format_args!("assign {}=", op.symbol()), |it| {
                    it.expr("target ", target);
                    it.expr("value ", value);
                });
            }
            StmtKind::Return(value) => self.node(format_args!("return"), |it| it.exprs("", value)),
            StmtKind::Raise(value) => self.node(format_args!("raise"), |it| it.exprs("", value)),
            StmtKind::Assert { test, message } => self.node(format_args!("assert"), |it| {
                it.expr("", test);
                it.exprs("message ", message);
            }),
            StmtKind::Pass => self.line(format_args!("pass")),
            StmtKind::Break => self.line(format_args!("break")),
            StmtKind::Continue => self.line(format_args!("continue")),
            StmtKind::If { test, body, orelse } => self.node(format_args!("if"), |it| {
                it.expr("test ", test);
                it.part("body", body);
                it.part("else", orelse);
            }),
            StmtKind::For {
                target,
                iter,
                body,
                orelse,
            } => self.node(format_args!("for"), |it| {
                it.expr("target ", target);
                it.expr("in ", iter);
                it.part("body", body);
                it.part("else", orelse);
            }),
            StmtKind::While { test, body, orelse } => self.node(format_args!("while"), |it| {
                it.expr("test ", test);
                it.part("body", body);
                it.part("else", orelse);
            }),
            StmtKind::With { items, body } => self.node(format_args!("with"), |it| {
                for item in items {
                    it.expr("item ", &item.context);
                    it.exprs("as ", &item.target);
                }
                it.part("body", body);
            }),
            StmtKind::Try {
                body,
                handlers,
                orelse,
                finally,
            } => self.node(format_args!("try"), |it| {
                it.part("body", body);
                handlers.iter().for_each(|handler| it.handler(handler));
                it.part("else", orelse);
                it.part("finally", finally);
            }),
            StmtKind::Def(function) => self.function("def ", function),
            StmtKind::Class(class) => self.class(class),
            StmtKind::Import(names) => self.line(format_args!("import {}", import_names(names))),
            StmtKind::ImportFrom { level, module, names } => {
                let names = if names.is_empty() {
                    "*".to_owned()
                } else {
                    import_names(names)
                };
                let dots = ".".repeat(*level as usize);
                self.line(format_args!("from {dots}{} import {names}", dotted(module)));
            }
            StmtKind::Global(names) => self.line(format_args!("global {}", comma_list(names))),
            StmtKind::Nonlocal(names) => self.line(format_args!("nonlocal {}", comma_list(names))),
            StmtKind::Unsupported(it) => self.line(format_args!("unsupported {}", it.what)),
        }
    }

    fn handler(&mut self, handler: &Handler) {
        let name = handler
            .name
            .as_ref()
            .map_or(String::new(), |it| format!(" as {}", it.name));
        self.node(format_args!("except{name}"), |it| {
            it.exprs("", &handler.exception);
            it.part("body", &handler.body);
        });
    }

    fn function(&mut self, role: &str, function: &Function) {
        let name = function.name.as_ref().map_or("lambda", |it| &*it.name);
        self.node(format_args!("{role}{name}"), |it| {
            it.exprs("decorator ", &function.decorators);
            function.params.iter().for_each(|param| it.param(param));
            it.exprs("returns ", &function.returns);
            it.part("body", &function.body);
        });
    }

    fn param(&mut self, param: &Param) {
        let kind = match param.kind {
            ParamKind::PositionalOnly => " positional-only",
            ParamKind::Normal => "",
            ParamKind::KeywordOnly => " keyword-only",
            ParamKind::Star => " *",
            ParamKind::DoubleStar => " **",
        };
        self.node(format_args!("param {}{kind}", param.name.name), |it| {
            it.exprs("annotation ", &param.annotation);
            it.exprs("default ", &param.default);
        });
    }

    fn class(&mut self, class: &Class) {
        self.node(format_args!("class {}", class.name.name), |it| {
            it.exprs("decorator ", &class.decorators);
            class.bases.iter().for_each(|base| it.arg("base", base));
            it.part("body", &class.body);
        });
    }

    fn arg(&mut self, role: &str, arg: &CallArg) {
        let role = match &arg.kind {
            ArgKind::Positional => format!("{role} "),
            ArgKind::Keyword(name) => format!("{role} {}= ", name.name),
            ArgKind::Star => format!("{role} * "),
            ArgKind::DoubleStar => format!("{role} ** "),
        };
        self.expr(&role, &arg.value);
    }

    fn exprs<'e>(&mut self, role: &str, exprs: impl IntoIterator<Item = &'e Expr>) {
        exprs.into_iter().for_each(|it| self.expr(role, it));
    }

    /// An expression after its role, which is empty or ends in a space.
    fn expr(&mut self, role: &str, expr: &Expr) {
        match &expr.kind {
            ExprKind::None => self.line(format_args!("{role}None")),
            ExprKind::Bool(true) => self.line(format_args!("{role}True")),
            ExprKind::Bool(false) => self.line(format_args!("{role}False")),
            ExprKind::Ellipsis => self.line(format_args!("{role}...")),
            ExprKind::Int(value) => self.line(format_args!("{role}int {value}")),
            ExprKind::Float(value) => self.line(format_args!("{role}float {value:?}")),
            ExprKind::Str(value) => self.line(format_args!("{role}str {value:?}")),
            ExprKind::FString(parts) => self.node(format_args!("{role}f-string"), |it| it.f_parts(parts)),
            ExprKind::Name(name) => self.line(format_args!("{role}name {name}")),
            ExprKind::Attr { value, attr } => {
                self.node(format_args!("{role}attr {}", attr.name), |it| it.expr("", value));
            }
            ExprKind::Index { value, index } => self.node(format_args!("{role}index"), |it| {
                it.expr("", value);
                it.expr("at ", index);
            }),
            ExprKind::Slice { start, stop, step } => self.node(format_args!("{role}slice"), |it| {
                it.exprs("start ", start.as_deref());
                it.exprs("stop ", stop.as_deref());
                it.exprs("step ", step.as_deref());
            }),
            ExprKind::Tuple(elements) => self.node(format_args!("{role}tuple"), |it| it.exprs("", elements)),
            ExprKind::List(elements) => self.node(format_args!("{role}list"), |it| it.exprs("", elements)),
            ExprKind::Set(elements) => self.node(format_args!("{role}set"), |it| it.exprs("", elements)),
            ExprKind::Dict(items) => self.node(format_args!("{role}dict"), |it| {
                for (key, value) in items {
                    it.exprs("key ", key);
                    it.expr(if key.is_some() { "value " } else { "** " }, value);
                }
            }),
            ExprKind::Call { callee, args } => self.node(format_args!("{role}call"), |it| {
                it.expr("", callee);
                args.iter().for_each(|arg| it.arg("arg", arg));
            }),
            ExprKind::Unary { op, operand } => {
                self.node(format_args!("{role}unary {}", op.symbol()), |it| {
                    it.expr("", operand)
                });
            }
            ExprKind::Binary { op, left, right } => {
                self.node(format_args!("{role}binary {}", op.symbol()), |it| {
                    it.exprs("", [&**left, &**right])
                });
            }
            ExprKind::Logic { op, left, right } => {
                self.node(format_args!("{role}{}", op.symbol()), |it| {
                    it.exprs("", [&**left, &**right])
                });
            }
            ExprKind::Compare { first, rest } => self.node(format_args!("{role}compare"), |it| {
                it.expr("", first);
                rest.iter()
                    .for_each(|(op, right)| it.expr(&format!("{} ", op.symbol()), right));
            }),
            ExprKind::IfElse { test, body, orelse } => self.node(format_args!("{role}if-else"), |it| {
                it.expr("test ", test);
                it.expr("then ", body);
                it.expr("else ", orelse);
            }),
            ExprKind::Lambda(function) => self.function(role, function),
            ExprKind::Comprehension {
                kind,
                element,
                value,
                clauses,
            } => {
                self.node(format_args!("{role}{} comprehension", kind.noun()), |it| {
                    it.expr(if value.is_some() { "key " } else { "" }, element);
                    it.exprs("value ", value.as_deref());
                    for clause in clauses {
                        it.expr("for ", &clause.target);
                        it.expr("in ", &clause.iter);
                        it.exprs("if ", &clause.tests);
                    }
                });
            }
            ExprKind::Starred(value) => self.node(format_args!("{role}starred"), |it| it.expr("", value)),
            ExprKind::Walrus { name, value } => {
                self.node(format_args!("{role}walrus {}", name.name), |it| {
                    it.expr("", value)
                });
            }
            ExprKind::Unsupported(it) => self.line(format_args!("{role}unsupported {}", it.what)),
        }
    }

    fn f_parts(&mut self, parts: &[FPart]) {
        for part in parts {
            match part {
                FPart::Text(text) => self.line(format_args!("text {text:?}")),
                FPart::Hole {
                    value,
                    debug,
                    conversion,
                    spec,
                } => {
                    let conversion = conversion.map_or(String::new(), |it| format!(" !{it}"));
                    let debug = debug.as_ref().map_or(String::new(), |it| format!(" {it:?}"));
                    self.node(format_args!("hole{debug}{conversion}"), |it| {
                        it.expr("", value);
                        if !spec.is_empty() {
                            it.node(format_args!("spec"), |it| it.f_parts(spec));
                        }
                    });
                }
            }
        }
    }
}

fn import_names(names: &[ImportName]) -> String {
    let one = |it: &ImportName| match &it.alias {
        Some(alias) => format!("{} as {}", dotted(&it.path), alias.name),
        None => dotted(&it.path),
    };
    names.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn dotted(path: &[Ident]) -> String {
    path.iter().map(|it| &*it.name).collect::<Vec<_>>().join(".")
}

fn comma_list(names: &[Ident]) -> String {
    names.iter().map(|it| &*it.name).collect::<Vec<_>>().join(", ")
}
