//! Where output goes and how it looks.

use crate::Exit;
use nk_compiler::diagnostic::{Diagnostic, render, render_ansi, sarif};
use nk_compiler::interrupt::Interrupt;
use nk_compiler::source::Sources;
use nk_runtime::session::{Blame, Failure};
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::Mutex;
use std::time::Duration;

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
}

/// What the command line asks for. All but `Text` and `Json` are about diagnostics, and print results as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Shape {
    Text,
    Json,
    /// Annotations of GitHub Actions.
    Github,
    /// One SARIF document on stdout in place of results.
    Sarif,
    /// A table that programs read, of `nk tune` only.
    Csv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

/// The results of the SARIF document, which is printed when all of them are known.
static SARIF: Mutex<Vec<(&'static str, String)>> = Mutex::new(Vec::new());

/// The two streams of the command.
#[derive(Clone, Copy)]
pub struct Console {
    pub format: Format,
    pub shape: Shape,
    has_color: bool,
}

impl Console {
    pub fn new(shape: Shape, color: Color) -> Console {
        let has_color = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty()) && std::io::stderr().is_terminal()
            }
        };
        let format = if shape == Shape::Json {
            Format::Json
        } else {
            Format::Text
        };
        Console {
            format,
            shape,
            has_color,
        }
    }

    /// Prints the product; a SARIF document stands in its place.
    pub fn product(&self, text: &str) {
        if self.shape != Shape::Sarif {
            self.write(text);
        }
    }

    /// Prints what was collected.
    pub fn finish(&self) {
        if self.shape == Shape::Sarif {
            self.write(&sarif(&SARIF.lock().unwrap_or_else(|it| it.into_inner())));
        }
    }

    fn write(&self, text: &str) {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        match written {
            Ok(()) => {}
            // The reader of a pipe has had enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(Exit::Clean as i32),
            Err(error) => {
                eprintln!("nk: cannot write to stdout: {error}");
                std::process::exit(Exit::Usage as i32);
            }
        }
    }

    /// Prints what a kernel printed: beside JSON it goes to stderr.
    pub fn printed(&self, text: &str) {
        match self.shape {
            Shape::Json | Shape::Sarif => self.message(text),
            Shape::Text | Shape::Github | Shape::Csv => self.product(text),
        }
    }

    pub fn diagnostics(&self, diagnostics: &[Diagnostic], sources: &Sources) {
        let text = match self.shape {
            Shape::Json => diagnostics.iter().map(|it| it.to_json(sources) + "\n").collect(),
            Shape::Github => diagnostics.iter().map(|it| it.to_github(sources)).collect(),
            Shape::Sarif => {
                let results = diagnostics.iter().map(|it| (it.code, it.to_sarif(sources)));
                SARIF.lock().unwrap_or_else(|it| it.into_inner()).extend(results);
                return;
            }
            Shape::Text | Shape::Csv if self.has_color => render_ansi(diagnostics, sources),
            Shape::Text | Shape::Csv => render(diagnostics, sources),
        };
        self.message(&text);
    }

    /// Prints a failure; gives how the command ends.
    pub fn failure(&self, failure: &Failure, sources: &Sources) -> Exit {
        self.printed(&failure.printed);
        self.diagnostics(&failure.diagnostics, sources);
        match failure.blame {
            Blame::Kernel => Exit::Wrong,
            Blame::Usage => Exit::Usage,
        }
    }

    /// What was asked of `nk` that it does not have, whatever the kernel.
    pub fn wrong_use(&self, code: &'static str, message: &str) -> Exit {
        let console = Console {
            shape: Shape::Text,
            ..*self
        };
        console.diagnostics(&[Diagnostic::error(code, message)], &Sources::new());
        Exit::Usage
    }

    pub fn timeout(&self, limit: Duration) {
        let message = format!("not done after {} seconds", limit.as_secs_f64());
        let diagnostic = Diagnostic::error("timeout", message).help("give more time with --timeout");
        self.diagnostics(&[diagnostic], &Sources::new());
        self.finish();
    }

    pub fn out_of_memory(&self) {
        self.diagnostics(&[Interrupt::Memory.report()], &Sources::new());
        self.finish();
    }

    /// A message that cannot be written is lost: there is nowhere else to say so.
    fn message(&self, text: &str) {
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}
