//! Test directives in the comments of IR text.
//!
//! Takes a text, gives what its comments ask for: `; error: CODE words` on the line that is wrong, and
//! `; run: %a=[[1, 2], [3, 4]] -> %c=[[5, 6], [7, 8]]`. Never runs anything.

use super::error::{Error, Mistake};
use crate::source::{FileId, Sources, Span};

/// What one comment asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Directive {
    /// This line is reported with this code, and the message holds these words.
    Error {
        line: usize,
        code: String,
        words: String,
    },
    /// Run with these buffers, these buffers hold these values.
    Run {
        line: usize,
        inputs: Vec<(String, Literal)>,
        outputs: Vec<(String, Literal)>,
    },
}

/// A nested list of numbers, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Literal {
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

const ERROR_FORM: &str = "; error: tile-too-large moving";
const RUN_FORM: &str = "; run: %a=[[1, 2], [3, 4]] -> %c=[[5, 6], [7, 8]]";

/// The directives of a text in order; other comments are ignored.
pub fn directives(sources: &Sources, file: FileId) -> Result<Vec<Directive>, Vec<Error>> {
    let text = sources.text_of(file);
    let mut directives = Vec::new();
    let mut errors = Vec::new();
    let mut start = 0;
    for (idx, line) in text.split('\n').enumerate() {
        if let Some(column) = comment(line) {
            match read(idx + 1, &line[column..]) {
                Ok(found) => directives.extend(found),
                Err(form) => errors.push(Error {
                    span: Span::new(file, start + column, start + line.len()),
                    mistake: Mistake::Directive { form },
                }),
            }
        }
        start += line.len() + 1;
    }
    if errors.is_empty() {
        Ok(directives)
    } else {
        Err(errors)
    }
}

/// Where the comment of a line starts: the first `;` outside quotation marks.
fn comment(line: &str) -> Option<usize> {
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (idx, byte) in line.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b';' if !is_quoted => return Some(idx),
            _ => {}
        }
    }
    None
}

fn read(line: usize, comment: &str) -> Result<Option<Directive>, &'static str> {
    let comment = comment[1..].trim();
    if let Some(rest) = comment.strip_prefix("error:") {
        let rest = rest.trim();
        let (code, words) = rest.split_once(' ').unwrap_or((rest, ""));
        if code.is_empty() {
            return Err(ERROR_FORM);
        }
        let (code, words) = (code.to_owned(), words.trim().to_owned());
        return Ok(Some(Directive::Error { line, code, words }));
    }
    let Some(rest) = comment.strip_prefix("run:") else {
        return Ok(None);
    };
    let (inputs, outputs) = rest.split_once("->").ok_or(RUN_FORM)?;
    Ok(Some(Directive::Run {
        line,
        inputs: bindings(inputs).ok_or(RUN_FORM)?,
        outputs: bindings(outputs).ok_or(RUN_FORM)?,
    }))
}

/// `%a=[1, 2] %b=3`
fn bindings(mut text: &str) -> Option<Vec<(String, Literal)>> {
    let mut bindings = Vec::new();
    loop {
        text = text.trim_start();
        if text.is_empty() {
            return Some(bindings);
        }
        let (name, rest) = text.split_once('=')?;
        let name = name.trim_end();
        if !name.starts_with('%') {
            return None;
        }
        let mut literal = Literal {
            shape: Vec::new(),
            values: Vec::new(),
        };
        text = read_literal(rest, 0, &mut literal)?;
        bindings.push((name.to_owned(), literal));
    }
}

/// Lists nest at most this deep.
const MAX_DEPTH: usize = 6;

/// Reads one number or list at `depth`, appends its values and gives the rest of the text. Every list of one depth has
/// the same length, or the literal is refused.
fn read_literal<'t>(text: &'t str, depth: usize, literal: &mut Literal) -> Option<&'t str> {
    let text = text.trim_start();
    let Some(mut rest) = text.strip_prefix('[') else {
        let end = text.find([',', ']', ' ', '\t', '\r']).unwrap_or(text.len());
        literal.values.push(read_number(&text[..end])?);
        return (literal.shape.len() == depth).then_some(&text[end..]);
    };
    if depth == MAX_DEPTH {
        return None;
    }
    let is_first = literal.shape.len() == depth && literal.values.is_empty();
    if is_first {
        literal.shape.push(0);
    }
    let mut count = 0;
    loop {
        rest = read_literal(rest, depth + 1, literal)?.trim_start();
        count += 1;
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None => break,
        }
    }
    if is_first {
        literal.shape[depth] = count;
    }
    (literal.shape.get(depth) == Some(&count)).then_some(())?;
    rest.strip_prefix(']')
}

fn read_number(word: &str) -> Option<f64> {
    match word {
        "inf" => Some(f64::INFINITY),
        "neg_inf" => Some(f64::NEG_INFINITY),
        "nan" => Some(f64::NAN),
        "true" => Some(1.0),
        "false" => Some(0.0),
        digits => digits.parse().ok().filter(|it: &f64| it.is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Directive>, usize> {
        let mut sources = Sources::new();
        let file = sources.add("test.nir", text);
        directives(&sources, file).map_err(|it| it.len())
    }

    #[test]
    fn comments_hold_directives() {
        let text = "%c <- nc_matmul %a, %\"odd;\" ; error: tile-too-large moving tile\n; no directive\n; run: %a=[[1, -2.5], [inf, nan]] -> %c=7\n";
        let found = read(text).expect("well formed");
        let [
            error,
            Directive::Run {
                line,
                inputs,
                outputs,
            },
        ] = found.as_slice()
        else {
            panic!("{found:?}");
        };
        let (code, words) = ("tile-too-large".to_owned(), "moving tile".to_owned());
        assert_eq!(*error, Directive::Error { line: 1, code, words });
        assert_eq!(
            (*line, inputs[0].0.as_str(), outputs[0].0.as_str()),
            (3, "%a", "%c")
        );
        assert_eq!(inputs[0].1.shape, [2, 2]);
        assert_eq!(inputs[0].1.values[..3], [1.0, -2.5, f64::INFINITY]);
        assert_eq!((outputs[0].1.shape.len(), outputs[0].1.values[0]), (0, 7.0));
    }

    #[test]
    fn directives_of_another_form_are_mistakes() {
        for text in [
            "; error:",
            "; run: %a=[1]",
            "; run: %a=[[1], [2, 3]] -> %b=[1]",
            "; run: %a=[1, [2]] -> %b=1",
            "; run: a=[1] -> %b=1",
            "; run: %a=[] -> %b=1",
            "; run: %a=[[[[[[[1]]]]]]] -> %b=1",
            "; run: %a=[1 -> %b=1",
        ] {
            assert_eq!(read(text), Err(1), "{text}");
        }
    }
}
