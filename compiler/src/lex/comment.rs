//! Comments that mean something to `nk`: directives and expected diagnostics.
//!
//! Takes comments (never strings that look like them), gives what stands in them. Never runs a directive.

use super::{Raw, Tok};
use crate::ast::Directive;
use crate::diagnostic::Severity;
use crate::source::{FileId, Span};

/// The directive in a comment at `start`, if it is `# nk: …`.
pub(super) fn directive(comment: &str, file: FileId, start: u32) -> Option<Directive> {
    let text = comment
        .strip_prefix('#')?
        .trim_start()
        .strip_prefix("nk:")?
        .trim();
    let span = Span::new(file, start as usize, start as usize + comment.trim_end().len());
    Some(Directive {
        text: text.to_owned(),
        span,
    })
}

/// The diagnostics that a test file announces with `# error: CODE` and `# warning: CODE`, as (one-based line,
/// severity, code). A comment may announce several: `# error: a-code  # warning: another`.
pub fn expected_diagnostics(text: &str) -> Vec<(usize, Severity, String)> {
    let mut expected = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for (tok, start, end) in Raw::new(text, 0) {
        if tok != Ok(Tok::Comment) {
            continue;
        }
        let range = start as usize..end as usize;
        line += text[counted..range.start].matches('\n').count();
        counted = range.start;
        let found = text[range].split('#').filter_map(announced);
        expected.extend(found.map(|(severity, code)| (line, severity, code.to_owned())));
    }
    expected
}

fn announced(comment: &str) -> Option<(Severity, &str)> {
    let (word, code) = comment.split_once(':')?;
    let severity = match word.trim() {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    let code = code.trim();
    let is_code = code.starts_with(|it: char| it.is_ascii_lowercase())
        && code
            .bytes()
            .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-');
    is_code.then_some((severity, code))
}
