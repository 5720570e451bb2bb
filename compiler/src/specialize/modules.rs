//! Source files as modules, and imports.
//!
//! A module is lazy: nothing at module level runs until a kernel uses a name, and then only the statements that bind
//! that name. Real files import torch, read environment variables and call simulators at module level.

use super::discard::discard;
use super::error::{Error, Mistake, Result};
use super::history::Removed;
use super::scope::{Frame, Scope, statement_bindings, statement_changes};
use super::value::{Module, ModuleId, Value};
use super::{Evaluator, library};
use crate::ast::{self, Ident, ImportName};
use crate::diagnostic::Report;
use crate::source::{FileId, Span};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What a file wants to import, for the loader.
pub struct ImportRequest<'a> {
    /// The name of the importing file, as it was given to [`crate::source::Sources::add`].
    pub from: &'a str,
    /// Number of leading dots; 0 for an absolute import.
    pub level: u32,
    /// The dotted path.
    pub path: Vec<&'a str>,
}

/// A file that the loader found.
pub struct Loaded {
    pub name: String,
    pub text: String,
}

/// Finds the file of an import, or says that there is none. The compiler itself reads no files.
pub type Loader<'a> = dyn Fn(&ImportRequest<'_>) -> Option<Loaded> + 'a;

/// A file and the names its kernels have used so far.
pub struct ModuleEnv {
    pub file: FileId,
    pub ast: Rc<ast::Module>,
    /// For each name, the statements that bind it or change what it holds, in order.
    binders: FxHashMap<Rc<str>, Vec<usize>>,
    globals: FxHashMap<Rc<str>, Global>,
}

enum Global {
    Ready(Value),
    /// Its statements are running.
    Running,
}

impl Drop for ModuleEnv {
    fn drop(&mut self) {
        for (_, global) in self.globals.drain() {
            if let Global::Ready(value) = global {
                discard(value);
            }
        }
    }
}

impl ModuleEnv {
    pub fn new(file: FileId, ast: Rc<ast::Module>) -> ModuleEnv {
        let mut binders: FxHashMap<Rc<str>, Vec<usize>> = FxHashMap::default();
        for (idx, stmt) in ast.body.iter().enumerate() {
            let mut binds = |name: &Rc<str>| {
                let list = binders.entry(name.clone()).or_default();
                if list.last() != Some(&idx) {
                    list.push(idx);
                }
            };
            statement_bindings(stmt, &mut binds);
        }
        // What a file binds it may fill afterwards; what it imports is nobody's to change here.
        for (idx, stmt) in ast.body.iter().enumerate() {
            statement_changes(stmt, &mut |name| {
                if let Some(list) = binders.get_mut(name)
                    && let Err(at) = list.binary_search(&idx)
                    && at > 0
                {
                    list.insert(at, idx);
                }
            });
        }
        ModuleEnv {
            file,
            ast,
            binders,
            globals: FxHashMap::default(),
        }
    }

    /// Whether some statement of the file binds a name.
    pub fn binds(&self, name: &str) -> bool {
        self.binders.contains_key(name)
    }

    /// Whether the file binds every name that a statement does.
    pub fn binds_all(&self, stmt: &ast::Stmt) -> bool {
        let mut all = true;
        statement_bindings(stmt, &mut |name| all &= self.binders.contains_key(name));
        all
    }

    /// The names that have values, sorted.
    pub fn values(&self) -> Vec<(Rc<str>, Value)> {
        let ready = self.globals.iter().filter_map(|(name, it)| match it {
            Global::Ready(value) => Some((name.clone(), value.clone())),
            Global::Running => None,
        });
        let mut values: Vec<(Rc<str>, Value)> = ready.collect();
        values.sort_by(|a, b| a.0.cmp(&b.0));
        values
    }
}

impl Evaluator<'_> {
    /// The value of a module-level name, evaluated on first use; `None` when the module does not bind it.
    pub fn global(&mut self, module: ModuleId, name: &Rc<str>) -> Result<Option<Value>> {
        let env = &mut self.modules[module.0];
        match env.globals.get(name) {
            Some(Global::Ready(value)) => return Ok(Some(value.clone())),
            Some(Global::Running) => {
                let span = Span::new(env.file, 0, 0);
                return Err(Error::new(Mistake::ImportCycle { name: name.clone() }, span));
            }
            None => {}
        }
        if &**name == "__name__" {
            return Ok(Some(Value::str("nk")));
        }
        if let Some(text) = self
            .params
            .iter()
            .find(|it| *it.0 == **name)
            .map(|it| it.1.clone())
            && env.binders.contains_key(name)
        {
            let value = self.literal(&text)?;
            self.set_global(module, name, value.clone());
            return Ok(Some(value));
        }
        let Some(statements) = env.binders.get(name).cloned() else {
            return Ok(None);
        };
        let ast = env.ast.clone();
        env.globals.insert(name.clone(), Global::Running);
        let frame = Frame::new(Rc::new(Scope::default()), None, module);
        let depth = std::mem::take(&mut self.calls);
        let naming = self.naming.take();
        let mut outcome = Ok(());
        for (position, idx) in statements.into_iter().enumerate() {
            if position > 0 {
                // A later statement may use the name's earlier value.
                let env = &mut self.modules[module.0];
                if let Some(Global::Running) = env.globals.get(name) {
                    env.globals.remove(name);
                }
            }
            if let Err(error) = self.exec(&ast.body[idx], &frame) {
                outcome = Err(error);
                break;
            }
        }
        self.calls = depth;
        self.naming = naming;
        if let Err(error) = outcome {
            self.modules[module.0].globals.remove(name);
            return Err(error);
        }
        match self.modules[module.0].globals.get(name) {
            Some(Global::Ready(value)) => Ok(Some(value.clone())),
            _ => {
                self.modules[module.0].globals.remove(name);
                Ok(None)
            }
        }
    }

    pub fn set_global(&mut self, module: ModuleId, name: &Rc<str>, value: Value) {
        let globals = &mut self.modules[module.0].globals;
        if let Some(Global::Ready(old)) = globals.insert(name.clone(), Global::Ready(value)) {
            discard(old);
        }
    }

    /// The names a module binds, for did-you-mean.
    pub fn global_names(&self, module: ModuleId) -> Vec<String> {
        let env = &self.modules[module.0];
        let names = env.binders.keys().chain(env.globals.keys());
        let mut names: Vec<String> = names.map(|it| it.to_string()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// `import a.b as c`.
    pub fn import(&mut self, name: &ImportName, frame: &Rc<Frame>) -> Result<()> {
        let path: Vec<&str> = name.path.iter().map(|it| &*it.name).collect();
        let (bound, value) = match &name.alias {
            Some(alias) => (
                &alias.name,
                self.resolve(0, &path, frame.module, name.path[0].span)?,
            ),
            // Without an alias the first part is bound; the others are its attributes.
            None => (
                &name.path[0].name,
                self.resolve(0, &path[..1], frame.module, name.path[0].span)?,
            ),
        };
        self.assign_name(&bound.clone(), value, frame);
        Ok(())
    }

    /// `from ..a.b import c as d`.
    pub fn import_from(
        &mut self,
        level: u32,
        module: &[Ident],
        names: &[ImportName],
        span: Span,
        frame: &Rc<Frame>,
    ) -> Result<()> {
        let path: Vec<&str> = module.iter().map(|it| &*it.name).collect();
        if names.is_empty() {
            return Err(Error::unsupported("import *", "import the names you use", span));
        }
        let from = self.resolve(level, &path, frame.module, span)?;
        for name in names {
            let wanted = &name.path[0];
            let value = match from.clone() {
                // A package without a file of its own, or the one whose file this is.
                from if matches!(&from, Value::Unresolved(_))
                    || from.is_same(&Value::Module(Module::File(frame.module))) =>
                {
                    let mut whole = path.clone();
                    whole.push(&wanted.name);
                    self.resolve(level, &whole, frame.module, span)?
                }
                Value::Module(Module::File(id)) => match self.global(id, &wanted.name)? {
                    Some(value) => value,
                    None => {
                        let mut whole = path.clone();
                        whole.push(&wanted.name);
                        match self.resolve(level, &whole, frame.module, span)? {
                            Value::Unresolved(_) => {
                                let known = self.global_names(id);
                                let of = format!("the module {}", path.join("."));
                                let names = known.iter().map(String::as_str);
                                return Err(super::builtins::no_attribute(
                                    of,
                                    &wanted.name,
                                    names,
                                    wanted.span,
                                ));
                            }
                            value => value,
                        }
                    }
                },
                from => self.attribute(&from, &wanted.name, wanted.span)?,
            };
            let bound = name.alias.as_ref().unwrap_or(wanted);
            self.assign_name(&bound.name, value, frame);
        }
        Ok(())
    }

    fn resolve(&mut self, level: u32, path: &[&str], importer: ModuleId, span: Span) -> Result<Value> {
        if level == 0 && path.first() == Some(&"neuronxcc") {
            self.is_classic = true;
            self.removed(Removed::OldNamespace, span);
        }
        if level == 0
            && let Some(value) = library::module(path)
        {
            return Ok(value);
        }
        let from = self.sources.name_of(self.modules[importer.0].file).to_string();
        let request = ImportRequest {
            from: &from,
            level,
            path: path.to_vec(),
        };
        let Some(loaded) = (self.loader)(&request) else {
            return Ok(Value::Unresolved(path.join(".").into()));
        };
        let known = |it: &ModuleEnv| self.sources.name_of(it.file) == loaded.name;
        if let Some(at) = self.modules.iter().position(known) {
            return Ok(Value::Module(Module::File(ModuleId(at))));
        }
        let file = self.sources.add(loaded.name, loaded.text);
        let (ast, errors) = crate::parse::parse(self.sources, file);
        if !errors.is_empty() {
            self.import_errors.extend(errors.iter().map(Report::report));
            return Ok(Value::Unresolved(path.join(".").into()));
        }
        self.modules.push(ModuleEnv::new(file, Rc::new(ast)));
        Ok(Value::Module(Module::File(ModuleId(self.modules.len() - 1))))
    }
}
