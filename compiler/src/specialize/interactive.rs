//! Sessions: statements that are typed one after the other, specialised as if they were one kernel.
//!
//! Takes a file whose module-level names are visible, and entries in the order in which they were typed; gives their
//! program, what the last entry shows, and the names there are. Every call starts from nothing, so a session is its
//! entries and an entry that fails leaves no trace. Returns nothing to the host: what has a name stays alive to the end.

use super::Evaluator;
use super::error::{Error, Result};
use super::exec::Flow;
use super::kernel::{ArgValue, Input, Request, Specialized};
use super::modules::ModuleEnv;
use super::scope::{Frame, Scope};
use super::value::{ModuleId, Tensor, Value};
use crate::ast::{self, Stmt, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::ir::{BufferId, ResultValue, Role, View};
use crate::source::{FileId, Sources, Span};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// One thing that was typed.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A value from outside: a tensor in HBM, or an expression.
    Input {
        name: String,
        value: ArgValue,
        span: Span,
    },
    Statements(Rc<ast::Module>),
}

/// What an expression statement of the last entry gave.
#[derive(Clone, Debug)]
pub enum Shown {
    Tensor(View),
    Text(String),
}

/// The program of a session.
pub struct Replayed {
    pub specialized: Specialized,
    /// What the last entry shows, in order; `None` and instructions show nothing.
    pub shown: Vec<Shown>,
    /// The names that were bound, sorted, with what each is.
    pub names: Vec<(String, &'static str)>,
}

/// Specialises a session. `prelude` binds the names that neither the file nor an entry does.
pub fn replay(
    sources: &mut Sources,
    file: FileId,
    ast: &Rc<ast::Module>,
    request: &Request<'_>,
    prelude: &ast::Module,
    entries: &[Entry],
) -> std::result::Result<Replayed, (Vec<Diagnostic>, String)> {
    let mut this = Evaluator::new(sources, request, "session");
    this.modules.push(ModuleEnv::new(file, ast.clone()));
    let (outcome, shown) = match this.run_session(prelude, entries) {
        Ok((inputs, shown)) => (Ok(inputs), shown),
        Err(error) => (Err(error), Vec::new()),
    };
    let names = this.bound_names();
    Ok(Replayed {
        specialized: this.finish(outcome)?,
        shown,
        names,
    })
}

const TOP: ModuleId = ModuleId(0);

impl Evaluator<'_> {
    fn run_session(&mut self, prelude: &ast::Module, entries: &[Entry]) -> Result<(Vec<Input>, Vec<Shown>)> {
        // Names are those of the file's module, so that its functions see what is assigned here.
        let frame = Frame::new(Rc::new(Scope::default()), None, TOP);
        for stmt in &prelude.body {
            if !self.modules[TOP.0].binds_all(stmt) {
                self.exec(stmt, &frame)?;
            }
        }
        // A call of a kernel is a call of a line of the session, not the beginning of everything.
        self.calls = 1;
        let (mut inputs, mut shown) = (Vec::new(), Vec::new());
        for (idx, entry) in entries.iter().enumerate() {
            let is_last = idx + 1 == entries.len();
            match entry {
                Entry::Input { name, value, span } => {
                    let value = self.argument(name, value, *span, &mut inputs)?;
                    self.set_global(TOP, &name.as_str().into(), value);
                }
                Entry::Statements(module) => {
                    for stmt in &module.body {
                        let value = self.session_statement(stmt, &frame)?;
                        shown.extend(value.filter(|_| is_last));
                    }
                }
            }
        }
        self.keep_alive(&shown);
        self.settle_order()?;
        self.settle_zeros();
        let shown = shown.iter().filter_map(|it| self.shown(it)).collect();
        Ok((inputs, shown))
    }

    /// Runs a statement; gives the value of an expression.
    fn session_statement(&mut self, stmt: &Stmt, frame: &Rc<Frame>) -> Result<Option<Value>> {
        if let StmtKind::Expr(expr) = &stmt.kind {
            self.step(stmt.span)?;
            return self.eval(expr, frame).map(Some);
        }
        match self.exec(stmt, frame)? {
            Flow::Return(_) => Err(Error::unsupported(
                "`return` outside a function",
                "type the expression alone to see its value",
                stmt.span,
            )),
            Flow::Next | Flow::Break | Flow::Continue => Ok(None),
        }
    }

    /// Makes what has a name, or is shown, a result: results keep their place until the end.
    fn keep_alive(&mut self, shown: &[Value]) {
        let mut held = Held::default();
        for (name, value) in self.modules[TOP.0].values() {
            held.add(&value, &name);
        }
        shown.iter().for_each(|it| held.add(it, "shown"));
        let mut kept: FxHashSet<BufferId> = FxHashSet::default();
        for (name, tensor) in held.tensors {
            let buffer = tensor.buffer();
            // Arguments keep their place anyway.
            if self.program[buffer].role != Role::In && kept.insert(buffer) {
                self.program.results.push(ResultValue { name, buffer });
            }
        }
    }

    fn shown(&self, value: &Value) -> Option<Shown> {
        match value {
            Value::None | Value::Instruction(_) => None,
            Value::Tensor(it) => Some(Shown::Tensor(it.view)),
            value => Some(Shown::Text(value.repr())),
        }
    }

    fn bound_names(&self) -> Vec<(String, &'static str)> {
        let values = self.modules[TOP.0].values();
        let mut names: Vec<(String, &'static str)> =
            values.iter().map(|it| (it.0.to_string(), it.1.kind())).collect();
        let lazy = self.global_names(TOP);
        names.extend(lazy.into_iter().map(|it| (it, "name of the file")));
        // What is evaluated already stands before the name that the file gives it, and stays.
        names.sort_by(|a, b| a.0.cmp(&b.0));
        names.dedup_by(|a, b| a.0 == b.0);
        names
    }
}

/// The tensors that values hold, with the names by which they are reached.
#[derive(Default)]
struct Held {
    tensors: Vec<(String, Tensor)>,
    /// The containers that were looked into: a list may hold itself.
    seen: FxHashSet<*const ()>,
    depth: usize,
}

impl Held {
    fn add(&mut self, value: &Value, name: &str) {
        const MAX_DEPTH: usize = 1_000;
        let container: Option<*const ()> = match value {
            Value::Tuple(it) => Some(Rc::as_ptr(it).cast()),
            Value::List(it) => Some(Rc::as_ptr(it).cast()),
            Value::Dict(it) => Some(Rc::as_ptr(it).cast()),
            Value::Object(it) => Some(Rc::as_ptr(it).cast()),
            _ => None,
        };
        if container.is_some_and(|it| !self.seen.insert(it)) || self.depth == MAX_DEPTH {
            return;
        }
        self.depth += 1;
        match value {
            Value::Tensor(it) => self.tensors.push((name.to_string(), Tensor::clone(it))),
            Value::Access(it) => self.tensors.push((name.to_string(), it.tensor().clone())),
            Value::Tuple(items) => self.add_all(items, name),
            Value::List(items) => self.add_all(&items.borrow(), name),
            Value::Blocks(it) => self.add_all(&it.tiles(), name),
            Value::Dict(it) => {
                for (key, value) in it.borrow().entries() {
                    self.add(value, &format!("{name}[{}]", key.repr()));
                }
            }
            Value::Object(it) => {
                for (field, value) in it.fields() {
                    self.add(&value, &format!("{name}.{field}"));
                }
            }
            _ => {}
        }
        self.depth -= 1;
    }

    fn add_all(&mut self, items: &[Value], name: &str) {
        for (idx, item) in items.iter().enumerate() {
            self.add(item, &format!("{name}[{idx}]"));
        }
    }
}
