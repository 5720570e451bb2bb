//! Diagnostics: what every stage reports and how it is shown.
//!
//! Takes the mistakes of the stages (each stage's `Error` enum implements [`Report`]), gives one value that renders
//! as text through codespan-reporting; `diagnostic/machine.rs` has the shapes for programs, `diagnostic/fix.rs` the edits.
//! Never decides whether a program is wrong.

mod fix;
mod machine;

pub use fix::{Applicability, Edit, Suggestion, fixed};
pub use machine::sarif;

use crate::source::{Sources, Span};
use codespan_reporting::diagnostic as cs;
use codespan_reporting::term;

/// How bad a diagnostic is. Only an error stops compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    Error,
    Warning,
}

/// A place in the source, and what is to be said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub message: String,
    pub primary: bool,
}

/// Facts in rows. What a row is about has a place, and its line stands first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub title: String,
    pub header: String,
    pub rows: Vec<(Option<Span>, String)>,
}

/// One message to the user: a code, what is wrong with number, unit and limit, where, why, and the edit that helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// A stable kebab-case word, e.g. `tile-too-large`.
    pub code: &'static str,
    pub message: String,
    pub labels: Vec<Label>,
    /// Hardware rules and other facts.
    pub notes: Vec<String>,
    pub tables: Vec<Table>,
    /// Changes that help.
    pub helps: Vec<String>,
    /// Changes that are known to the letter.
    pub suggestions: Vec<Suggestion>,
}

/// Implemented beside each stage's `Error` enum: the only place for wording.
pub trait Report {
    fn report(&self) -> Diagnostic;
}

impl Diagnostic {
    pub fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, message.into())
    }

    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, message.into())
    }

    fn new(severity: Severity, code: &'static str, message: String) -> Diagnostic {
        Diagnostic {
            severity,
            code,
            message,
            labels: Vec::new(),
            notes: Vec::new(),
            tables: Vec::new(),
            helps: Vec::new(),
            suggestions: Vec::new(),
        }
    }

    /// Adds the place the message is about.
    pub fn at(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.labels.push(Label {
            span,
            message: message.into(),
            primary: true,
        });
        self
    }

    /// Adds a place that explains why (the allocation, the loop, the call).
    pub fn because(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.labels.push(Label {
            span,
            message: message.into(),
            primary: false,
        });
        self
    }

    /// Adds how often the same mistake was made again, and in which loop.
    pub fn repeated(self, count: u64, around: Option<Span>) -> Diagnostic {
        match around {
            _ if count == 0 => self,
            Some(span) if count == 1 => self.because(span, "and in 1 more iteration of this loop"),
            Some(span) => self.because(span, format!("and in {count} more iterations of this loop")),
            None if count == 1 => self.note("the same happens once more"),
            None => self.note(format!("the same happens {count} more times")),
        }
    }

    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    pub fn table(mut self, table: Table) -> Diagnostic {
        self.tables.push(table);
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.helps.push(text.into());
        self
    }

    /// Adds a help that is an edit.
    pub fn suggest(
        mut self,
        span: Span,
        edit: Edit,
        help: impl Into<String>,
        applicability: Applicability,
    ) -> Diagnostic {
        self.suggestions.push(Suggestion {
            span,
            edit,
            help: help.into(),
            applicability,
        });
        self
    }

    /// Adds that a word is a misspelt other one, if one is near.
    pub fn did_you_mean(self, span: Span, word: &str, near: Option<&str>) -> Diagnostic {
        let Some(near) = near else { return self };
        let edit = Edit::Replace {
            old: word.to_string(),
            new: near.to_string(),
        };
        self.suggest(
            span,
            edit,
            format!("did you mean `{near}`?"),
            Applicability::MachineApplicable,
        )
    }

    /// Adds that a keyword argument of a call says nothing and can go.
    pub fn dropping(self, keyword: &str, help: &str, call: Span) -> Diagnostic {
        let edit = Edit::DropKeyword(keyword.to_string());
        self.suggest(call, edit, help, Applicability::MachineApplicable)
    }

    /// Adds that a text inside a span is another one.
    pub fn replacing(
        self,
        span: Span,
        old: &str,
        new: &str,
        help: impl Into<String>,
        applicability: Applicability,
    ) -> Diagnostic {
        let (old, new) = (old.to_string(), new.to_string());
        self.suggest(span, Edit::Replace { old, new }, help, applicability)
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The first primary place, if the message has one.
    pub fn primary_span(&self) -> Option<Span> {
        self.labels.iter().find(|it| it.primary).map(|it| it.span)
    }

    /// The message in codespan-reporting's shape, for a terminal or a string.
    pub fn to_codespan(&self, sources: &Sources) -> cs::Diagnostic<crate::source::FileId> {
        let severity = match self.severity {
            Severity::Error => cs::Severity::Error,
            Severity::Warning => cs::Severity::Warning,
        };
        let labels = self.labels.iter().map(|it| {
            let style = if it.primary {
                cs::LabelStyle::Primary
            } else {
                cs::LabelStyle::Secondary
            };
            cs::Label::new(style, it.span.file, it.span.range()).with_message(&it.message)
        });
        cs::Diagnostic::new(severity)
            .with_code(self.code)
            .with_message(&self.message)
            .with_labels(labels.collect())
            .with_notes(self.remarks(sources))
    }

    /// What stands below the message: tables and notes, then help.
    fn remarks(&self, sources: &Sources) -> Vec<String> {
        let tables = self.tables.iter().map(|it| it.text(sources));
        let notes = tables
            .chain(self.notes.iter().cloned())
            .map(|it| format!("note: {it}"));
        let suggested = self.suggestions.iter().map(|it| &it.help);
        let helps = self.helps.iter().chain(suggested).map(|it| format!("help: {it}"));
        notes.chain(helps).collect()
    }
}

impl Table {
    /// The table as lines of text.
    pub(crate) fn text(&self, sources: &Sources) -> String {
        let mut text = format!("{}\n{:>6} {}", self.title, "line", self.header);
        for (span, row) in &self.rows {
            let line = span.map(|it| sources.line_column(it.file, it.start).0.to_string());
            text.push_str(&format!("\n{:>6} {row}", line.unwrap_or_default()));
        }
        text
    }
}

/// Renders diagnostics as plain text without colour.
pub fn render(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let config = term::Config::default();
    let mut text = String::new();
    for diagnostic in diagnostics {
        let piece = term::emit_into_string(&config, sources, &diagnostic.to_codespan(sources))
            .expect("labels lie inside the files they name");
        text.push_str(&piece);
    }
    text
}

/// Renders diagnostics with the escape codes of a terminal's colours.
pub fn render_ansi(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let config = term::Config::default();
    let mut writer = term::termcolor::Ansi::new(Vec::new());
    for diagnostic in diagnostics {
        term::emit_to_write_style(&mut writer, &config, sources, &diagnostic.to_codespan(sources))
            .expect("labels lie inside the files they name");
    }
    String::from_utf8_lossy(&writer.into_inner()).into_owned()
}

/// A JSON string literal.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The candidate that a misspelt word was most likely meant to be.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    // One typing mistake for each four letters, and one more, but never another word altogether.
    let limit = 1 + word.len() / 4;
    candidates
        .filter(|it| it.len().abs_diff(word.len()) <= limit)
        .map(|it| (edit_distance(word, it), it))
        .filter(|it| it.0 <= limit && it.0 < word.len())
        .min()
        .map(|it| it.1)
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other, in bytes.
fn edit_distance(left: &str, right: &str) -> usize {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, &a) in left.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, &b) in right.iter().enumerate() {
            let mut least = (last[column] + usize::from(a != b))
                .min(last[column + 1] + 1)
                .min(line[column] + 1);
            if row > 0 && column > 0 && a == right[column - 1] && left[row - 1] == b {
                least = least.min(before_last[column - 1] + 1);
            }
            line.push(least);
        }
        before_last = std::mem::replace(&mut last, line);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_forgives_typing_mistakes_only() {
        let known = ["nc_matmul", "nc_transpose", "memset"];
        let nearest = |word| nearest(word, known.into_iter());
        assert_eq!(nearest("nc_matmull"), Some("nc_matmul"));
        assert_eq!(nearest("mesmet"), Some("memset"));
        assert_eq!(nearest("softmax"), None);
        assert_eq!(super::nearest("x", ["y"].into_iter()), None);
    }
}
