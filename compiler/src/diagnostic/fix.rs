//! Edits that mend a mistake: what a message suggests, and the text after it.
//!
//! Takes suggestions and the sources they are about, gives places and replacements. A suggestion whose words do not stand
//! where it says is no edit: a wrong edit is worse than none. Never writes a file.

use super::Diagnostic;
use crate::source::{FileId, Sources, Span, outside_strings};

/// An edit that a message suggests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// Where to look for the text that is replaced.
    pub span: Span,
    pub edit: Edit,
    /// The text of the help.
    pub help: String,
    pub applicability: Applicability,
}

/// What is replaced inside of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The only place of a word or an operator.
    Replace { old: String, new: String },
    /// Nothing: text is put before the span.
    Insert(String),
    /// A keyword argument, with its value and its comma.
    DropKeyword(String),
}

/// How sure an edit is, in rustc's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applicability {
    /// The edit is what was meant; `nk check --fix` makes it.
    MachineApplicable,
    /// The edit is a guess.
    MaybeIncorrect,
}

impl Applicability {
    pub fn name(self) -> &'static str {
        match self {
            Applicability::MachineApplicable => "MachineApplicable",
            Applicability::MaybeIncorrect => "MaybeIncorrect",
        }
    }
}

impl Suggestion {
    /// The bytes that are replaced and what replaces them; `None` when the source is not what the edit expects.
    pub fn resolve(&self, sources: &Sources) -> Option<(Span, String)> {
        let text = sources.slice(self.span);
        let at = |start: usize, end: usize| Span {
            start: self.span.start + start as u32,
            end: self.span.start + end as u32,
            ..self.span
        };
        match &self.edit {
            Edit::Insert(new) => Some((at(0, 0), new.clone())),
            Edit::Replace { old, new } => {
                let start = only_place(text, old)?;
                Some((at(start, start + old.len()), new.clone()))
            }
            Edit::DropKeyword(name) => {
                let (start, end) = keyword_argument(text, name)?;
                Some((at(start, end), String::new()))
            }
        }
    }
}

/// The text of a file after the sure edits of some messages, and how many were made. Edits that overlap an earlier one
/// are left for the next round.
pub fn fixed(diagnostics: &[Diagnostic], sources: &Sources, file: FileId) -> (String, usize) {
    let sure = diagnostics
        .iter()
        .flat_map(|it| &it.suggestions)
        .filter(|it| it.applicability == Applicability::MachineApplicable && it.span.file == file);
    let mut edits: Vec<(Span, String)> = sure.filter_map(|it| it.resolve(sources)).collect();
    edits.sort_by_key(|it| (it.0.start, it.0.end));
    edits.dedup();
    let (mut text, mut end, mut n_edits) = (String::new(), 0, 0);
    let source = sources.text_of(file);
    for (span, new) in edits {
        let range = span.range();
        if range.start < end || (n_edits > 0 && range.start == end) {
            continue;
        }
        text.push_str(&source[end..range.start]);
        text.push_str(&new);
        end = range.end;
        n_edits += 1;
    }
    text.push_str(&source[end..]);
    (text, n_edits)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where a word stands that stands there once. Operators have no neighbours that matter.
fn only_place(text: &str, old: &str) -> Option<usize> {
    let is_whole = |at: &usize| {
        let before = text[..*at].chars().next_back().is_some_and(is_word);
        let after = text[at + old.len()..].chars().next().is_some_and(is_word);
        !(old.starts_with(is_word) && before || old.ends_with(is_word) && after)
    };
    let mut places = text.match_indices(old).map(|it| it.0).filter(is_whole);
    let first = places.next()?;
    places.next().is_none().then_some(first)
}

/// The bytes of `, name=value` in a call, or of `name=value, ` when it comes first.
fn keyword_argument(text: &str, name: &str) -> Option<(usize, usize)> {
    let start = only_place(text, name)?;
    let after = text[start + name.len()..].trim_start();
    if !after.starts_with('=') || after.starts_with("==") {
        return None;
    }
    let (mut depth, mut end) = (0usize, text.len());
    for (at, c) in outside_strings(text).filter(|it| it.0 >= start) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth > 0 => depth -= 1,
            ')' | ']' | '}' | ',' if depth == 0 => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    let before = text[..start].trim_end();
    if before.ends_with(',') {
        return Some((before.len() - 1, end));
    }
    let rest = &text[end..];
    let comma = rest.len() - rest.trim_start_matches(',').trim_start().len();
    Some((start, end + comma))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str, edit: Edit) -> Option<String> {
        let mut sources = Sources::new();
        let file = sources.add("test.nk", text);
        let diagnostic = Diagnostic::error("type-error", "wrong").suggest(
            Span::new(file, 0, text.len()),
            edit,
            "edit",
            Applicability::MachineApplicable,
        );
        let (text, n_edits) = fixed(&[diagnostic], &sources, file);
        (n_edits == 1).then_some(text)
    }

    #[test]
    fn edits_are_made_where_the_source_is_what_they_expect() {
        let replace = |old: &str, new: &str| Edit::Replace {
            old: old.to_string(),
            new: new.to_string(),
        };
        let drop = |name: &str| Edit::DropKeyword(name.to_string());
        for (text, edit, want) in [
            ("f(scael=2)", replace("scael", "scale"), Some("f(scale=2)")),
            ("f(scael=scael)", replace("scael", "scale"), None),
            ("f(my_scael=1)", replace("scael", "scale"), None),
            ("a && b", replace("&&", "and"), Some("a and b")),
            ("f(a, mask=None)", drop("mask"), Some("f(a)")),
            ("f(mask=g(1, 2), a=1)", drop("mask"), Some("f(a=1)")),
            ("f(mask=\"(,\")", drop("mask"), Some("f()")),
            ("f(a, mask == 1)", drop("mask"), None),
            ("if x", Edit::Insert("not ".to_string()), Some("not if x")),
        ] {
            assert_eq!(after(text, edit).as_deref(), want, "{text}");
        }
    }
}
