//! `# nk:` directives: what a kernel file says about how to run and check itself.
//!
//! Takes the directive comments of a parsed file, gives runs with their expectations, in file order. The values of
//! arguments stay text: what `f32[128,512]:randn(0)` means is the runtime's to say.
//!
//! ```text
//! # nk: run softmax(x=f32[256,512]:randn(0), axis=1)
//! # nk: expect softmax_reference rtol=1e-4
//! # nk: snapshot schedule
//! ```

use crate::ast;
use crate::diagnostic::{Diagnostic, Report};
use crate::launch::Grid;
use crate::source::{Span, outside_strings};

/// A `run` directive with the `expect` and `snapshot` lines below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub kernel: String,
    /// Arguments in order, each with the text of its value.
    pub args: Vec<(String, String)>,
    /// `grid=2,2` after the call, or `grid=nl.nc(2)`.
    pub grid: Grid,
    /// `ranks=4` after the call.
    pub ranks: Option<u32>,
    pub flags: Flags,
    pub expects: Vec<Expect>,
    /// IR stages, or `clif` for the code that the JIT makes, that are kept as snapshots.
    pub snapshots: Vec<String>,
    /// What is left out of the snapshots because it changes without meaning anything.
    pub redactions: Vec<Redaction>,
    pub span: Span,
}

/// Options of the command line that a run has by itself; they stand after the call under the same names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flags {
    pub spill: bool,
    pub sanitize: bool,
    /// Names of [`TRAPS`].
    pub traps: Vec<&'static str>,
    pub cores: Option<u32>,
    pub place_seed: Option<u64>,
    pub stochastic_rounding: Option<u64>,
}

/// What `trap=` can name.
pub const TRAPS: &[&str] = &["nan", "inf", "range"];

/// A kind of fact that a snapshot need not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redaction {
    /// Where tensors lie.
    Addresses,
    /// How many signals a queue waits for.
    Counts,
}

/// Redactions by the words of the directive.
pub const REDACTIONS: &[(Redaction, &str)] =
    &[(Redaction::Addresses, "addresses"), (Redaction::Counts, "counts")];

/// The check of a run's results against a function of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Expect {
    pub function: String,
    pub rtol: Option<f64>,
    pub atol: Option<f64>,
    pub span: Span,
}

/// What can be wrong with a directive.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    Unknown {
        word: String,
        span: Span,
    },
    Malformed {
        usage: &'static str,
        span: Span,
    },
    /// `expect` or `snapshot` without a `run` above.
    NoRun {
        word: &'static str,
        span: Span,
    },
}

const USAGE_RUN: &str = "# nk: run KERNEL(NAME=VALUE, …) [grid=N,M] [cores=2] [ranks=N] [spill] [sanitize] \
                         [trap=nan,inf,range] [place-seed=N] [stochastic-rounding=N]";
const USAGE_EXPECT: &str = "# nk: expect FUNCTION [rtol=X] [atol=X]";
const USAGE_REDACT: &str = "# nk: redact addresses|counts";
const USAGE_SNAPSHOT: &str = "# nk: snapshot program|placement|schedule|clif";

impl Report for Error {
    fn report(&self) -> Diagnostic {
        match self {
            Error::Unknown { word, span } => {
                Diagnostic::error("unknown-directive", format!("`{word}` is no directive"))
                    .at(*span, "")
                    .help("the directives are `run`, `expect`, `snapshot` and `redact`")
            }
            Error::Malformed { usage, span } => {
                Diagnostic::error("bad-directive", "the directive cannot be read")
                    .at(*span, "")
                    .help(format!("write `{usage}`"))
            }
            Error::NoRun { word, span } => Diagnostic::error(
                "bad-directive",
                format!("`{word}` has no `run` directive above it"),
            )
            .at(*span, "")
            .help(format!("put `{USAGE_RUN}` before it")),
        }
    }
}

/// Reads the directives of a file.
pub fn runs(module: &ast::Module) -> Result<Vec<Run>, Vec<Error>> {
    let mut runs: Vec<Run> = Vec::new();
    let mut errors = Vec::new();
    for directive in &module.directives {
        let span = directive.span;
        let (word, rest) = directive
            .text
            .split_once(char::is_whitespace)
            .unwrap_or((&directive.text, ""));
        let outcome = match word {
            "run" => run(rest.trim(), span).map(|it| runs.push(it)),
            "expect" => expect(rest.trim(), span).and_then(|it| match runs.last_mut() {
                Some(run) => {
                    run.expects.push(it);
                    Ok(())
                }
                None => Err(Error::NoRun { word: "expect", span }),
            }),
            "snapshot" => match (runs.last_mut(), rest.trim()) {
                (None, _) => Err(Error::NoRun {
                    word: "snapshot",
                    span,
                }),
                (Some(run), stage @ ("program" | "placement" | "schedule" | "clif")) => {
                    run.snapshots.push(stage.to_string());
                    Ok(())
                }
                _ => Err(Error::Malformed {
                    usage: USAGE_SNAPSHOT,
                    span,
                }),
            },
            "redact" => match (runs.last_mut(), REDACTIONS.iter().find(|it| it.1 == rest.trim())) {
                (None, _) => Err(Error::NoRun { word: "redact", span }),
                (Some(run), Some((redaction, _))) => {
                    run.redactions.push(*redaction);
                    Ok(())
                }
                (Some(_), None) => Err(Error::Malformed {
                    usage: USAGE_REDACT,
                    span,
                }),
            },
            _ => Err(Error::Unknown {
                word: word.to_string(),
                span,
            }),
        };
        errors.extend(outcome.err());
    }
    if errors.is_empty() { Ok(runs) } else { Err(errors) }
}

fn run(text: &str, span: Span) -> Result<Run, Error> {
    let wrong = || Error::Malformed {
        usage: USAGE_RUN,
        span,
    };
    let open = text.find('(').ok_or_else(wrong)?;
    let close = matching(text, open).ok_or_else(wrong)?;
    let kernel = text[..open].trim();
    if !is_name(kernel) {
        return Err(wrong());
    }
    let mut args = Vec::new();
    for piece in split(&text[open + 1..close]) {
        let (name, value) = piece.split_once('=').ok_or_else(wrong)?;
        if !is_name(name.trim()) || value.trim().is_empty() {
            return Err(wrong());
        }
        args.push((name.trim().to_string(), value.trim().to_string()));
    }
    let (mut grid, mut ranks, mut flags) = (Grid::default(), None, Flags::default());
    for word in text[close + 1..].split_whitespace() {
        match word.split_once('=') {
            None if word == "spill" => flags.spill = true,
            None if word == "sanitize" => flags.sanitize = true,
            Some(("grid", sizes)) => grid = Grid::parse(sizes).map_err(|_| wrong())?,
            Some(("ranks", count)) => {
                ranks = Some(count.parse().ok().filter(|it| *it > 0).ok_or_else(wrong)?);
            }
            Some(("cores", count)) => {
                let count = count.parse().ok().filter(|it| matches!(it, 1 | 2));
                flags.cores = Some(count.ok_or_else(wrong)?);
            }
            Some(("trap", names)) => {
                for name in names.split(',') {
                    let known = TRAPS.iter().find(|it| **it == name).ok_or_else(wrong)?;
                    flags.traps.push(known);
                }
            }
            Some(("place-seed", seed)) => flags.place_seed = Some(seed.parse().map_err(|_| wrong())?),
            Some(("stochastic-rounding", seed)) => {
                flags.stochastic_rounding = Some(seed.parse().map_err(|_| wrong())?);
            }
            _ => return Err(wrong()),
        }
    }
    let (expects, snapshots, redactions) = (Vec::new(), Vec::new(), Vec::new());
    Ok(Run {
        kernel: kernel.to_string(),
        args,
        grid,
        ranks,
        flags,
        expects,
        snapshots,
        redactions,
        span,
    })
}

fn expect(text: &str, span: Span) -> Result<Expect, Error> {
    let wrong = || Error::Malformed {
        usage: USAGE_EXPECT,
        span,
    };
    let mut words = text.split_whitespace();
    let function = words
        .next()
        .filter(|it| is_name(it))
        .ok_or_else(wrong)?
        .to_string();
    let mut expect = Expect {
        function,
        rtol: None,
        atol: None,
        span,
    };
    for word in words {
        let (name, value) = word.split_once('=').ok_or_else(wrong)?;
        let value: f64 = value
            .parse()
            .ok()
            .filter(|it: &f64| *it >= 0.0)
            .ok_or_else(wrong)?;
        match name {
            "rtol" => expect.rtol = Some(value),
            "atol" => expect.atol = Some(value),
            _ => return Err(wrong()),
        }
    }
    Ok(expect)
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|it: char| it.is_ascii_digit())
        && text.chars().all(|it| it.is_alphanumeric() || it == '_')
}

/// Splits at the commas that stand in no bracket and no string.
pub fn split(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut depth = 0;
    let mut start = 0;
    for (at, c) in outside_strings(text) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                pieces.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&text[start..]);
    pieces.retain(|it| !it.trim().is_empty());
    pieces
}

/// The bracket that closes the one at `open`.
fn matching(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in outside_strings(text).filter(|it| it.0 >= open) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;

    fn read(text: &str) -> Result<Vec<Run>, Vec<Error>> {
        let mut sources = Sources::new();
        let file = sources.add("test.nk", text);
        runs(&crate::parse::parse(&sources, file).0)
    }

    #[test]
    fn runs_collect_their_expectations() {
        let text = "# nk: run f(x=f32[2,3]:uniform(0, 1, 7), n=(1, 2), s=\"a,b\") grid=2,3\n# nk: expect g rtol=1e-3\nx = 1\n";
        let runs = read(text).expect("the directives are well-formed");
        assert_eq!(runs.len(), 1);
        let values: Vec<&str> = runs[0].args.iter().map(|it| it.1.as_str()).collect();
        assert_eq!(values, ["f32[2,3]:uniform(0, 1, 7)", "(1, 2)", "\"a,b\""]);
        assert_eq!(runs[0].grid.sizes, [2, 3]);
        assert_eq!(runs[0].expects[0].rtol, Some(1e-3));
    }

    #[test]
    fn brackets_and_commas_in_strings_are_text() {
        let runs =
            read("# nk: run f(s=\"a)b\", t=\"c\\\",d\", n=1)\n").expect("the directive is well-formed");
        let values: Vec<&str> = runs[0].args.iter().map(|it| it.1.as_str()).collect();
        assert_eq!(values, ["\"a)b\"", "\"c\\\",d\"", "1"]);
    }

    #[test]
    fn runs_have_flags() {
        let runs = read("# nk: run f(n=1) grid=2 spill cores=2 trap=nan,inf sanitize place-seed=3\n");
        let runs = runs.expect("the directive is well-formed");
        let wanted = Flags {
            spill: true,
            sanitize: true,
            traps: vec!["nan", "inf"],
            cores: Some(2),
            place_seed: Some(3),
            stochastic_rounding: None,
        };
        assert_eq!(runs[0].flags, wanted);
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        for text in [
            "# nk: walk f()\n",
            "# nk: run f(\n",
            "# nk: expect g\n",
            "# nk: run f(x)\n",
            "# nk: run f() grid=0\n",
            "# nk: run f() cores=3\n",
            "# nk: run f() trap=zero\n",
            "# nk: run f(s=\")\n",
            "# nk: run f() spilled\n",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
