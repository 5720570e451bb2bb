//! What can be wrong with a tensor argument or file.

use super::MAX_BYTES;
use nk_compiler::diagnostic::{Diagnostic, Report};

/// A mistake in an argument, or in a file it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The text of an argument cannot be read.
    Syntax {
        text: String,
        reason: String,
        instead: String,
    },
    /// The operating system refuses.
    Io {
        path: String,
        reason: String,
    },
    /// The file is not what its name says.
    Malformed {
        path: String,
        reason: String,
    },
    /// The file holds something that NeuronCore has no dtype for.
    Dtype {
        path: String,
        found: String,
        instead: String,
    },
    /// The file holds several arrays, or none of this name.
    Key {
        path: String,
        key: Option<String>,
        known: Vec<String>,
    },
    TooLarge {
        what: String,
        bytes: Option<u64>,
    },
}

impl Error {
    pub(super) fn io(path: &str, error: &std::io::Error) -> Error {
        Error::Io {
            path: path.to_string(),
            reason: error.to_string(),
        }
    }

    pub(super) fn malformed(path: &str, reason: impl Into<String>) -> Error {
        Error::Malformed {
            path: path.to_string(),
            reason: reason.into(),
        }
    }
}

/// How many names a message lists.
const MAX_NAMES: usize = 10;

impl Report for Error {
    fn report(&self) -> Diagnostic {
        match self {
            Error::Syntax {
                text,
                reason,
                instead,
            } => Diagnostic::error(
                "bad-argument",
                format!("cannot read `{}`: {reason}", shorten(text)),
            )
            .help(instead),
            Error::Io { path, reason } => Diagnostic::error("file-unreadable", format!("{path}: {reason}")),
            Error::Malformed { path, reason } => {
                Diagnostic::error("malformed-file", format!("{path}: {reason}"))
                    .help("write the array again with `np.save`, `np.savez` or `safetensors.numpy.save_file`")
            }
            Error::Dtype { path, found, instead } => {
                Diagnostic::error("unsupported-dtype", format!("{path}: {found}")).help(instead)
            }
            Error::Key { path, key, known } => {
                let message = match key {
                    Some(key) => format!("{path} holds no array `{}`", shorten(key)),
                    None => format!("{path} holds {} arrays", known.len()),
                };
                let first = known.first().map_or("NAME", String::as_str);
                Diagnostic::error("no-such-array", message)
                    .note(format!("it holds {}", list(known)))
                    .help(format!("name one of them, as in `@{path}:{}`", shorten(first)))
            }
            Error::TooLarge { what, bytes } => {
                let size = bytes.map_or("more bytes than can be counted".to_string(), |it| {
                    format!("{it} bytes")
                });
                Diagnostic::error(
                    "tensor-too-large",
                    format!("{what} takes {size}; a tensor takes at most {MAX_BYTES}"),
                )
            }
        }
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_string();
    }
    let shown: Vec<String> = names
        .iter()
        .take(MAX_NAMES)
        .map(|it| format!("`{}`", shorten(it)))
        .collect();
    let rest = names.len().saturating_sub(MAX_NAMES);
    let more = if rest > 0 {
        format!(" and {rest} more")
    } else {
        String::new()
    };
    format!("{}{more}", shown.join(", "))
}

/// A text that a message can show.
fn shorten(text: &str) -> String {
    const MAX_CHARS: usize = 80;
    let shown: String = text
        .chars()
        .filter(|it| !it.is_control())
        .take(MAX_CHARS)
        .collect();
    if text.chars().count() > MAX_CHARS {
        format!("{shown}…")
    } else {
        shown
    }
}
