//! Writing a session to a file: the loaded file with the values that were set, and what was typed as a kernel.

use super::{PRELUDE, Repl, State};
use crate::output;
use crate::session::Failure;
use nk_compiler::ast::{ExprKind, Stmt, StmtKind};
use nk_compiler::diagnostic::Diagnostic;
use nk_compiler::ir::{BufferId, Program, Role};
use nk_compiler::isa::{Access, Memory};
use nk_compiler::source::Span;
use nk_compiler::specialize::{Entry, tunables};
use std::path::Path;

impl Repl {
    pub(super) fn save(&mut self, path: &str) -> Result<String, Failure> {
        let mut text = self.file_text();
        if !self.state.typed.is_empty() {
            text.push_str(&self.typed_text());
        }
        let written = output::write(Path::new(path), &text);
        written
            .map_err(|it| Failure::usage(Diagnostic::error("file-unwritable", format!("{path}: {it}"))))?;
        Ok(format!("wrote {path}, {} lines\n", text.lines().count()))
    }

    /// The loaded file with the values that were set in the place of its own; without a file, the imports.
    fn file_text(&self) -> String {
        let State {
            session,
            kernel,
            path,
            ..
        } = &self.state;
        let (Some(module), Some(_)) = (session.module(), path) else {
            return PRELUDE.to_string();
        };
        let mut text = self.sources.text_of(session.file()).to_string();
        let mut edits: Vec<(Span, &str)> = Vec::new();
        for it in tunables(module, kernel.as_deref(), session.file()) {
            let value = session
                .settings()
                .params
                .iter()
                .find(|param| *param.0 == *it.name);
            edits.extend(value.map(|param| (it.value, param.1.as_str())));
        }
        // From the end, so that the places of the others stay.
        edits.sort_by_key(|it| std::cmp::Reverse(it.0.start));
        for (span, value) in edits {
            text.replace_range(span.range(), value);
        }
        text
    }

    /// What was typed: imports and definitions, then the rest as the body of a kernel that returns what it made.
    fn typed_text(&self) -> String {
        let (mut top, mut body, mut params, mut run) = (String::new(), String::new(), Vec::new(), Vec::new());
        for typed in &self.state.typed {
            match &typed.entry {
                Entry::Input { name, .. } => {
                    params.push(name.clone());
                    let value = typed.text.split_once('=').map_or("", |it| it.1);
                    run.push(format!("{name}={value}"));
                }
                Entry::Statements(module) if module.body.iter().all(is_definition) => {
                    top.push_str(&format!("\n{}\n", typed.text));
                }
                // An expression shows something and does nothing, unless it is a call.
                Entry::Statements(module) if module.body.iter().all(shows_only) => {}
                Entry::Statements(_) => {
                    typed
                        .text
                        .lines()
                        .for_each(|it| body.push_str(&format!("    {it}\n")));
                }
            }
        }
        if let Some(live) = &self.live {
            body.push_str(&results(&live.compiled.program));
        }
        let (run, params) = (run.join(", "), params.join(", "));
        format!("{top}\n\n# nk: run session({run})\n@nki.jit\ndef session({params}):\n{body}")
    }
}

fn is_definition(stmt: &Stmt) -> bool {
    matches!(
        stmt.kind,
        StmtKind::Def(_) | StmtKind::Class(_) | StmtKind::Import(_) | StmtKind::ImportFrom { .. }
    )
}

fn shows_only(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Expr(it) if !matches!(it.kind, ExprKind::Call { .. }))
}

/// The end of the kernel: tensors in HBM that were written are returned; without one, every tile that has a name and was
/// written is stored first.
fn results(program: &Program) -> String {
    let is_plain = |name: &str| name.chars().all(|it| it.is_alphanumeric() || it == '_');
    let named = program.results.iter().filter(|it| is_plain(&it.name));
    let named: Vec<_> = named
        .filter(|it| program[it.buffer].role == Role::Local && is_written(program, it.buffer))
        .collect();
    let in_hbm: Vec<&str> = named
        .iter()
        .filter(|it| program[it.buffer].memory == Memory::Hbm)
        .map(|it| it.name.as_str())
        .collect();
    if !in_hbm.is_empty() {
        return format!("    return {}\n", in_hbm.join(", "));
    }
    let (mut out, mut returned) = (String::new(), Vec::new());
    for it in named
        .iter()
        .filter(|it| program[it.buffer].memory == Memory::Sbuf)
    {
        let (name, buffer) = (&it.name, &program[it.buffer]);
        let shape: Vec<String> = buffer.shape.iter().map(u32::to_string).collect();
        out.push_str(&format!(
            "    {name}_out = nl.ndarray(({},), dtype=nl.{}, buffer=nl.shared_hbm)\n    nisa.dma_copy(dst={name}_out, src={name})\n",
            shape.join(", "),
            buffer.dtype.nki_name()
        ));
        returned.push(format!("{name}_out"));
    }
    format!("{out}    return {}\n", returned.join(", "))
}

fn is_written(program: &Program, buffer: BufferId) -> bool {
    program.insts.iter().any(|inst| {
        let mut accesses = program.accesses(inst);
        accesses.any(|(access, view)| access != Access::Read && view.buffer == buffer)
    })
}
