//! When input is complete: brackets and quotes are closed, and a block has ended. An empty line ends what is still open,
//! except in a string of three quotes.
//!
//! Takes text, says whether more lines belong to it. Whether it is right is for the parser.

/// How far a growing text was read, and how many brackets are open there: what was read once is not read again.
#[derive(Clone, Copy, Default)]
pub struct Read {
    at: usize,
    depth: i32,
}

/// Whether a text can be executed, or waits for more lines. An open block waits for an empty line.
pub fn is_complete(text: &str) -> bool {
    is_complete_after(text, &mut Read::default())
}

/// The same for a text that has grown since it was read.
pub fn is_complete_after(text: &str, read: &mut Read) -> bool {
    // The line that was typed last: text that ends in a line break ends in an empty one.
    let ends_empty = text.contains('\n') && text.rsplit('\n').next().is_some_and(|it| it.trim().is_empty());
    match open(text, read) {
        Open::String => return false,
        Open::Bracket => return ends_empty,
        Open::Nothing => {}
    }
    let mut lines = text.lines();
    let first = lines.next().unwrap_or("");
    if !begins_block(first) {
        return true;
    }
    ends_empty
}

/// Whether a line ends the text above it instead of going on with it: a command does, and in a script what stands to the
/// left of a block.
pub fn ends_block(text: &str, line: &str, read: &mut Read) -> bool {
    let is_open = open(text, read);
    if line.starts_with(':') {
        return !text.is_empty() && is_open != Open::String;
    }
    let is_indented = line.starts_with([' ', '\t']);
    let word: String = line.chars().take_while(|it| it.is_alphabetic()).collect();
    let goes_on = ["else", "elif", "except", "finally"].contains(&word.as_str());
    let only_decorators = text.lines().all(|it| it.starts_with('@') || it.trim().is_empty());
    let first = text.lines().next().unwrap_or("");
    begins_block(first)
        && is_open == Open::Nothing
        && !is_indented
        && !goes_on
        && !only_decorators
        && !line.trim().is_empty()
}

fn begins_block(line: &str) -> bool {
    let word: String = line
        .chars()
        .take_while(|it| it.is_alphanumeric() || *it == '_')
        .collect();
    let is_keyword = ["def", "class", "for", "while", "if", "with", "try"].contains(&word.as_str());
    line.starts_with('@') || (is_keyword && code(line).trim_end().ends_with(':'))
}

/// A line without its comment; strings that hold a `#` are rare enough in headers of blocks.
fn code(line: &str) -> &str {
    line.split('#').next().unwrap_or("")
}

/// What a text leaves open.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Nothing,
    /// A bracket, or a line that a backslash joins to the next.
    Bracket,
    String,
}

fn open(text: &str, read: &mut Read) -> Open {
    let bytes = text.as_bytes();
    let Read { mut depth, mut at } = *read;
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b'#' => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
            }
            b'\\' if matches!(&text[at + 1..], "" | "\n") => return Open::Bracket,
            quote @ (b'"' | b'\'') => match string_end(bytes, at, quote) {
                Some(end) => {
                    at = end;
                    continue;
                }
                None => return Open::String,
            },
            _ => {}
        }
        at += 1;
    }
    // A backslash joins what ends here to what comes.
    if !text.ends_with('\\') {
        *read = Read {
            at: bytes.len(),
            depth,
        };
    }
    if depth > 0 { Open::Bracket } else { Open::Nothing }
}

/// The byte behind a string literal; `None` when a string of three quotes has no end. A string of one quote ends with its
/// line at the latest, where the parser reports it.
fn string_end(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let triple = [quote; 3];
    let is_triple = bytes[start..].starts_with(&triple);
    let mut at = start + if is_triple { 3 } else { 1 };
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\n' if !is_triple => return Some(at),
            _ if is_triple && bytes[at..].starts_with(&triple) => return Some(at + 3),
            it if it == quote && !is_triple => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    if is_triple { None } else { Some(bytes.len()) }
}
