//! Diagnostics for programs: rustc's JSON, GitHub's annotations, and SARIF.
//!
//! Takes diagnostics and the sources they are about, gives text. Never decides what is wrong.

use super::{Diagnostic, Label, Severity, Suggestion, quote, render};
use crate::explain;
use crate::source::{Sources, Span};

impl Severity {
    fn level(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

impl Diagnostic {
    /// One JSON object on one line, in the shape rustc prints.
    pub fn to_json(&self, sources: &Sources) -> String {
        let spans: Vec<String> = self.labels.iter().map(|it| label_json(it, sources)).collect();
        let tables = self.tables.iter().map(|it| child("note", &it.text(sources), ""));
        let mut children: Vec<String> = tables.collect();
        children.extend(self.notes.iter().map(|it| child("note", it, "")));
        children.extend(self.helps.iter().map(|it| child("help", it, "")));
        children.extend(self.suggestions.iter().map(|it| suggestion_json(it, sources)));
        let explanation = explain::entry(self.code).map_or("null".to_string(), |it| quote(&it.rule));
        format!(
            "{{\"message\":{},\"code\":{{\"code\":{},\"explanation\":{explanation}}},\"level\":\"{}\",\"spans\":[{}],\"children\":[{}],\"rendered\":{}}}",
            quote(&self.message),
            quote(self.code),
            self.severity.level(),
            spans.join(","),
            children.join(","),
            quote(&render(std::slice::from_ref(self), sources)),
        )
    }

    /// A workflow command of GitHub Actions, which shows it beside the line.
    pub fn to_github(&self, sources: &Sources) -> String {
        let place = match self.primary_span() {
            None => String::new(),
            Some(span) => {
                let (line, column) = sources.line_column(span.file, span.start);
                let (end_line, end_column) = sources.line_column(span.file, span.end);
                let file = escaped(sources.name_of(span.file))
                    .replace(',', "%2C")
                    .replace(':', "%3A");
                let columns = if line == end_line {
                    format!(",col={column},endColumn={end_column}")
                } else {
                    String::new()
                };
                format!(
                    " file={file},line={line},endLine={end_line}{columns},title={}",
                    self.code
                )
            }
        };
        format!(
            "::{}{place}::{}\n",
            self.severity.level(),
            escaped(&self.text(sources))
        )
    }

    /// The message as one result of a SARIF document.
    pub fn to_sarif(&self, sources: &Sources) -> String {
        let location = |label: &Label| {
            format!(
                "{{\"physicalLocation\":{},\"message\":{{\"text\":{}}}}}",
                place_sarif(label.span, sources),
                quote(&label.message)
            )
        };
        let side = |is_primary: bool| -> Vec<String> {
            let labels = self.labels.iter().filter(|it| it.primary == is_primary);
            labels.map(location).collect()
        };
        format!(
            "{{\"ruleId\":{},\"level\":\"{}\",\"message\":{{\"text\":{}}},\"locations\":[{}],\"relatedLocations\":[{}]}}",
            quote(self.code),
            self.severity.level(),
            quote(&self.text(sources)),
            side(true).join(","),
            side(false).join(","),
        )
    }

    /// The message and what stands below it, for formats that have one text.
    fn text(&self, sources: &Sources) -> String {
        let lines: Vec<String> = std::iter::once(self.message.clone())
            .chain(self.remarks(sources))
            .collect();
        lines.join("\n")
    }
}

/// A SARIF 2.1.0 document: one run with the results of [`Diagnostic::to_sarif`], and the rules that their codes name.
pub fn sarif(results: &[(&'static str, String)]) -> String {
    let mut codes: Vec<&str> = results.iter().map(|it| it.0).collect();
    codes.sort_unstable();
    codes.dedup();
    let rule = |code: &&str| {
        let text = explain::entry(code).map_or(String::new(), |it| it.rule.clone());
        format!(
            "{{\"id\":{},\"shortDescription\":{{\"text\":{}}}}}",
            quote(code),
            quote(&text)
        )
    };
    let rules: Vec<String> = codes.iter().map(rule).collect();
    let results: Vec<&str> = results.iter().map(|it| it.1.as_str()).collect();
    format!(
        "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":{{\"name\":\"nk\",\"version\":{},\"rules\":[{}]}}}},\"columnKind\":\"unicodeCodePoints\",\"results\":[{}]}}]}}\n",
        quote(env!("CARGO_PKG_VERSION")),
        rules.join(","),
        results.join(","),
    )
}

fn place_sarif(span: Span, sources: &Sources) -> String {
    let (line, column) = sources.line_column(span.file, span.start);
    let (end_line, end_column) = sources.line_column(span.file, span.end);
    format!(
        "{{\"artifactLocation\":{{\"uri\":{}}},\"region\":{{\"startLine\":{line},\"startColumn\":{column},\"endLine\":{end_line},\"endColumn\":{end_column}}}}}",
        quote(sources.name_of(span.file)),
    )
}

/// The characters that end a workflow command, as GitHub escapes them.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn child(level: &str, text: &str, spans: &str) -> String {
    format!(
        "{{\"message\":{},\"code\":null,\"level\":\"{level}\",\"spans\":[{spans}],\"children\":[],\"rendered\":null}}",
        quote(text)
    )
}

fn suggestion_json(suggestion: &Suggestion, sources: &Sources) -> String {
    let span = suggestion.resolve(sources).map(|(span, new)| {
        let applicability = quote(suggestion.applicability.name());
        span_json(span, sources, true, "null", &quote(&new), &applicability)
    });
    child("help", &suggestion.help, span.as_deref().unwrap_or(""))
}

fn label_json(label: &Label, sources: &Sources) -> String {
    span_json(
        label.span,
        sources,
        label.primary,
        &quote(&label.message),
        "null",
        "null",
    )
}

fn span_json(
    span: Span,
    sources: &Sources,
    is_primary: bool,
    label: &str,
    replacement: &str,
    applicability: &str,
) -> String {
    let (line_start, column_start) = sources.line_column(span.file, span.start);
    let (line_end, column_end) = sources.line_column(span.file, span.end);
    format!(
        "{{\"file_name\":{},\"byte_start\":{},\"byte_end\":{},\"line_start\":{line_start},\"line_end\":{line_end},\"column_start\":{column_start},\"column_end\":{column_end},\"is_primary\":{is_primary},\"label\":{label},\"suggested_replacement\":{replacement},\"suggestion_applicability\":{applicability}}}",
        quote(sources.name_of(span.file)),
        span.start,
        span.end,
    )
}
