//! Names: which a function binds, and the frames that hold their values.
//!
//! Takes function bodies, gives slot tables and frames. Python's rule: a name assigned anywhere in a function is local
//! to all of it, unless declared `global` or `nonlocal`. Never evaluates anything.

use super::discard::discard;
use super::value::{ModuleId, Value};
use crate::ast::{Expr, ExprKind, Function, ParamKind, Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

/// The local names of a function, each with its slot.
#[derive(Debug, Default)]
pub struct Scope {
    slots: FxHashMap<Rc<str>, usize>,
    globals: FxHashSet<Rc<str>>,
    /// What [`Scope::slot`] found last, by the address of the name's text; made when it is asked first.
    found: OnceCell<Box<[Cell<Answer>; N_FOUND]>>,
    /// Keeps the text of names that were asked for alive, so that an address never comes to mean another name.
    asked: RefCell<FxHashMap<usize, Rc<str>>>,
}

/// Answers that a scope keeps: as many as six bits number.
const N_FOUND: usize = 1 << 6;

/// The address of a name, or 0, and its slot if it has one.
type Answer = (usize, Option<u32>);

impl Scope {
    /// The slot of a name. The parser shares the text of equal names, so that an answer is kept by address.
    #[inline]
    pub fn slot(&self, name: &Rc<str>) -> Option<usize> {
        let address = name.as_ptr() as usize;
        // The high bits of the product depend on all bits of the address.
        let at = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58;
        if let Some(found) = self.found.get() {
            let (known, slot) = found[at as usize % N_FOUND].get();
            if known == address {
                return slot.map(|it| it as usize);
            }
        }
        self.find_slot(name, address, at as usize)
    }

    fn find_slot(&self, name: &Rc<str>, address: usize, at: usize) -> Option<usize> {
        let slot = self.slots.get(name).copied();
        let found = self
            .found
            .get_or_init(|| Box::new([const { Cell::new((0, None)) }; N_FOUND]));
        self.asked
            .borrow_mut()
            .entry(address)
            .or_insert_with(|| name.clone());
        // Functions have far fewer names than 2^32.
        found[at].set((address, slot.map(|it| it as u32)));
        slot
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_global(&self, name: &str) -> bool {
        self.globals.contains(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &Rc<str>> {
        self.slots.keys()
    }

    /// The scope of a function: parameters first, in order, then every name its body binds.
    pub fn of_function(function: &Function) -> Scope {
        let mut scope = Scope::default();
        for param in &function.params {
            scope.bind(&param.name.name);
        }
        let mut outer = FxHashSet::default();
        collect_outer(&function.body, &mut outer, &mut scope.globals);
        let mut bind = |name: &Rc<str>| {
            if !outer.contains(name) {
                scope.bind(name);
            }
        };
        bindings(&function.body, &mut bind);
        scope
    }

    /// The scope of a comprehension: the names of its targets.
    pub fn of_targets<'a>(targets: impl Iterator<Item = &'a Expr>) -> Scope {
        let mut scope = Scope::default();
        for target in targets {
            target_names(target, &mut |name| scope.bind(name));
        }
        scope
    }

    pub fn bind(&mut self, name: &Rc<str>) {
        let next = self.slots.len();
        self.slots.entry(name.clone()).or_insert(next);
        self.found.take();
        self.asked.get_mut().clear();
    }
}

/// The values of one call's locals.
#[derive(Debug)]
pub struct Frame {
    pub scope: Rc<Scope>,
    slots: RefCell<Vec<Option<Value>>>,
    pub parent: Option<Rc<Frame>>,
    pub module: ModuleId,
}

impl Drop for Frame {
    fn drop(&mut self) {
        self.slots.take().into_iter().flatten().for_each(discard);
    }
}

/// What looking a name up in the frames found.
pub enum Found {
    Value(Value),
    /// Local to some frame, but not assigned yet.
    Unbound,
    /// Not local to any frame: module level or builtin.
    Elsewhere,
}

impl Frame {
    pub fn new(scope: Rc<Scope>, parent: Option<Rc<Frame>>, module: ModuleId) -> Rc<Frame> {
        let slots = RefCell::new(vec![None; scope.len()]);
        Rc::new(Frame {
            scope,
            slots,
            parent,
            module,
        })
    }

    pub fn set_slot(&self, slot: usize, value: Value) {
        let old = self.slots.borrow_mut()[slot].replace(value);
        if let Some(old) = old {
            discard(old);
        }
    }

    /// The locals that have a value.
    pub fn values(&self) -> Vec<(Rc<str>, Value)> {
        let slots = self.slots.borrow();
        let names = self.scope.slots.iter();
        names
            .filter_map(|(name, &slot)| Some((name.clone(), slots[slot].clone()?)))
            .collect()
    }

    pub fn find(&self, name: &Rc<str>) -> Found {
        let mut frame = self;
        loop {
            if let Some(slot) = frame.scope.slot(name) {
                return match &frame.slots.borrow()[slot] {
                    Some(value) => Found::Value(value.clone()),
                    None => Found::Unbound,
                };
            }
            match &frame.parent {
                Some(parent) if !frame.scope.is_global(name) => frame = parent,
                _ => return Found::Elsewhere,
            }
        }
    }

    /// Assigns to the nearest frame that has the name; false when it is a name of the module.
    pub fn assign(&self, name: &Rc<str>, value: Value) -> bool {
        let mut frame = self;
        loop {
            if let Some(slot) = frame.scope.slot(name) {
                frame.set_slot(slot, value);
                return true;
            }
            match &frame.parent {
                Some(parent) if !frame.scope.is_global(name) => frame = parent,
                _ => return false,
            }
        }
    }

    /// Every name visible from here, for did-you-mean.
    pub fn visible_names(&self) -> Vec<Rc<str>> {
        let mut names = Vec::new();
        let mut frame = Some(self);
        while let Some(it) = frame {
            names.extend(it.scope.names().cloned());
            frame = it.parent.as_deref();
        }
        names
    }
}

/// Calls `bind` for every name that the statements bind in their own scope.
pub fn bindings(body: &[Stmt], bind: &mut dyn FnMut(&Rc<str>)) {
    for stmt in body {
        statement_bindings(stmt, bind);
    }
}

/// Calls `bind` for every name that one statement binds in its own scope.
pub fn statement_bindings(stmt: &Stmt, bind: &mut dyn FnMut(&Rc<str>)) {
    match &stmt.kind {
        StmtKind::Expr(value) => walrus_names(value, bind),
        StmtKind::Assign { targets, value } => {
            targets.iter().for_each(|it| target_names(it, bind));
            walrus_names(value, bind);
        }
        StmtKind::AnnAssign { target, value, .. } => {
            target_names(target, bind);
            value.iter().for_each(|it| walrus_names(it, bind));
        }
        StmtKind::AugAssign { target, value, .. } => {
            target_names(target, bind);
            walrus_names(value, bind);
        }
        StmtKind::If { test, body, orelse } | StmtKind::While { test, body, orelse } => {
            walrus_names(test, bind);
            bindings(body, bind);
            bindings(orelse, bind);
        }
        StmtKind::For {
            target,
            iter,
            body,
            orelse,
        } => {
            target_names(target, bind);
            walrus_names(iter, bind);
            bindings(body, bind);
            bindings(orelse, bind);
        }
        StmtKind::With { items, body } => {
            items
                .iter()
                .filter_map(|it| it.target.as_ref())
                .for_each(|it| target_names(it, bind));
            bindings(body, bind);
        }
        StmtKind::Try {
            body,
            handlers,
            orelse,
            finally,
        } => {
            bindings(body, bind);
            for handler in handlers {
                handler.name.iter().for_each(|it| bind(&it.name));
                bindings(&handler.body, bind);
            }
            bindings(orelse, bind);
            bindings(finally, bind);
        }
        StmtKind::Def(function) => function.name.iter().for_each(|it| bind(&it.name)),
        StmtKind::Class(class) => bind(&class.name.name),
        StmtKind::Import(names) => {
            for name in names {
                bind(&name.alias.as_ref().unwrap_or(&name.path[0]).name);
            }
        }
        StmtKind::ImportFrom { names, .. } => {
            for name in names {
                bind(&name.alias.as_ref().unwrap_or(&name.path[0]).name);
            }
        }
        StmtKind::Return(value) | StmtKind::Raise(value) => {
            value.iter().for_each(|it| walrus_names(it, bind))
        }
        StmtKind::Assert { test, .. } => walrus_names(test, bind),
        StmtKind::Pass
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Global(_)
        | StmtKind::Nonlocal(_)
        | StmtKind::Unsupported(_) => {}
    }
}

fn target_names(target: &Expr, bind: &mut dyn FnMut(&Rc<str>)) {
    match &target.kind {
        ExprKind::Name(name) => bind(name),
        ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().for_each(|it| target_names(it, bind)),
        ExprKind::Starred(inner) => target_names(inner, bind),
        // Attribute and subscript targets bind no name; anything else is refused by the parser.
        _ => {}
    }
}

/// Walrus names bind in the enclosing function, those of a comprehension too.
fn walrus_names(expr: &Expr, bind: &mut dyn FnMut(&Rc<str>)) {
    if let ExprKind::Walrus { name, .. } = &expr.kind {
        bind(&name.name);
    }
    children(expr, &mut |it| walrus_names(it, bind));
}

/// Calls `visit` for every expression that stands in another one and is evaluated in its function.
fn children(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    match &expr.kind {
        ExprKind::Walrus { value, .. } | ExprKind::Attr { value, .. } | ExprKind::Starred(value) => {
            visit(value)
        }
        ExprKind::Unary { operand, .. } => visit(operand),
        ExprKind::Index { value, index } => {
            visit(value);
            visit(index);
        }
        ExprKind::Slice { start, stop, step } => {
            [start, stop, step].into_iter().flatten().for_each(|it| visit(it));
        }
        ExprKind::Compare { first, rest } => {
            visit(first);
            rest.iter().for_each(|it| visit(&it.1));
        }
        ExprKind::Logic { left, right, .. } | ExprKind::Binary { left, right, .. } => {
            visit(left);
            visit(right);
        }
        ExprKind::IfElse { test, body, orelse } => {
            visit(test);
            visit(body);
            visit(orelse);
        }
        ExprKind::Call { callee, args } => {
            visit(callee);
            args.iter().for_each(|it| visit(&it.value));
        }
        ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Set(items) => items.iter().for_each(visit),
        ExprKind::Dict(entries) => {
            for (key, value) in entries {
                key.iter().for_each(&mut *visit);
                visit(value);
            }
        }
        ExprKind::Comprehension {
            element,
            value,
            clauses,
            ..
        } => {
            visit(element);
            value.iter().for_each(|it| visit(it));
            clauses.iter().flat_map(|it| &it.tests).for_each(visit);
        }
        _ => {}
    }
}

fn collect_outer(body: &[Stmt], outer: &mut FxHashSet<Rc<str>>, globals: &mut FxHashSet<Rc<str>>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Global(names) => names.iter().for_each(|it| {
                globals.insert(it.name.clone());
                outer.insert(it.name.clone());
            }),
            StmtKind::Nonlocal(names) => names.iter().for_each(|it| {
                outer.insert(it.name.clone());
            }),
            StmtKind::If { body, orelse, .. }
            | StmtKind::For { body, orelse, .. }
            | StmtKind::While { body, orelse, .. } => {
                collect_outer(body, outer, globals);
                collect_outer(orelse, outer, globals);
            }
            StmtKind::With { body, .. } => collect_outer(body, outer, globals),
            StmtKind::Try {
                body,
                handlers,
                orelse,
                finally,
            } => {
                let blocks = [body, orelse, finally].into_iter();
                for block in blocks.chain(handlers.iter().map(|it| &it.body)) {
                    collect_outer(block, outer, globals);
                }
            }
            _ => {}
        }
    }
}

/// Whether a parameter takes its argument by position.
pub fn is_positional(kind: ParamKind) -> bool {
    matches!(kind, ParamKind::PositionalOnly | ParamKind::Normal)
}

/// Methods that change the list, dict or set they are called on.
const CHANGES: &[&str] = &[
    "add",
    "append",
    "clear",
    "extend",
    "insert",
    "pop",
    "remove",
    "reverse",
    "setdefault",
    "sort",
    "update",
];

/// Calls `change` with the name of every variable whose contents a statement of a module changes, unlike one that it binds.
pub fn statement_changes(stmt: &Stmt, change: &mut dyn FnMut(&Rc<str>)) {
    let mut named = |it: &Expr| {
        if let ExprKind::Name(name) = &it.kind {
            change(name);
        }
    };
    match &stmt.kind {
        StmtKind::Expr(value) => {
            if let ExprKind::Call { callee, .. } = &value.kind
                && let ExprKind::Attr { value, attr } = &callee.kind
                && CHANGES.contains(&&*attr.name)
            {
                named(value);
            }
        }
        StmtKind::Assign { targets, .. } => {
            for target in targets {
                if let ExprKind::Index { value, .. } = &target.kind {
                    named(value);
                }
            }
        }
        StmtKind::AugAssign { target, .. } => {
            if let ExprKind::Index { value, .. } = &target.kind {
                named(value);
            }
        }
        StmtKind::If { body, orelse, .. }
        | StmtKind::While { body, orelse, .. }
        | StmtKind::For { body, orelse, .. } => {
            let all = body.iter().chain(orelse);
            all.for_each(|it| statement_changes(it, change));
        }
        StmtKind::With { body, .. } => body.iter().for_each(|it| statement_changes(it, change)),
        _ => {}
    }
}
