//! Source files and positions in them.
//!
//! Takes texts that somebody else has read, gives ids, spans and line numbers, and is the file table that
//! codespan-reporting renders from. Never reads a file itself.

use codespan_reporting::files::{Error, Files, line_starts};
use std::ops::Range;

/// One file of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(u32);

/// A half-open byte range of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// Makes a span from byte offsets; files are limited to 4 GiB by [`Sources::add`].
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        Span {
            file,
            start: start as u32,
            end: end as u32,
        }
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Span) -> Span {
        Span {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[derive(Debug)]
struct SourceFile {
    name: String,
    text: String,
    line_starts: Vec<usize>,
}

/// All files of a compilation, in the order they were added.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Adds a file under the name that diagnostics show.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let text = text.into();
        assert!(
            text.len() < u32::MAX as usize,
            "source files are limited to 4 GiB by the reader"
        );
        let line_starts = line_starts(&text).collect();
        self.files.push(SourceFile {
            name: name.into(),
            text,
            line_starts,
        });
        FileId(u32::try_from(self.files.len() - 1).expect("fewer files than u32::MAX"))
    }

    pub fn name_of(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].name
    }

    pub fn text_of(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].text
    }

    /// The text under a span.
    pub fn slice(&self, span: Span) -> &str {
        &self.text_of(span.file)[span.range()]
    }

    /// One-based line and column (in characters) of a byte offset.
    pub fn line_column(&self, file: FileId, offset: u32) -> (usize, usize) {
        let file = &self.files[file.0 as usize];
        let line = file.line_starts.partition_point(|&it| it <= offset as usize) - 1;
        let column = file.text[file.line_starts[line]..offset as usize].chars().count();
        (line + 1, column + 1)
    }
}

/// The characters of a piece of Python that stand in no string literal, quotation marks included in the literals.
pub(crate) fn outside_strings(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut quote = None;
    let mut is_escaped = false;
    text.char_indices().filter(move |&(_, c)| {
        match quote {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if c == '\\' => is_escaped = true,
            Some(mark) if c == mark => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None => return true,
        }
        false
    })
}

impl<'a> Files<'a> for Sources {
    type FileId = FileId;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: FileId) -> Result<&'a str, Error> {
        self.files
            .get(id.0 as usize)
            .map(|it| it.name.as_str())
            .ok_or(Error::FileMissing)
    }

    fn source(&'a self, id: FileId) -> Result<&'a str, Error> {
        self.files
            .get(id.0 as usize)
            .map(|it| it.text.as_str())
            .ok_or(Error::FileMissing)
    }

    fn line_index(&'a self, id: FileId, byte: usize) -> Result<usize, Error> {
        let file = self.files.get(id.0 as usize).ok_or(Error::FileMissing)?;
        Ok(file.line_starts.partition_point(|&it| it <= byte) - 1)
    }

    fn line_range(&'a self, id: FileId, line: usize) -> Result<Range<usize>, Error> {
        let file = self.files.get(id.0 as usize).ok_or(Error::FileMissing)?;
        let max = file.line_starts.len();
        let start = *file.line_starts.get(line).ok_or(Error::LineTooLarge {
            given: line,
            max: max - 1,
        })?;
        let end = file.line_starts.get(line + 1).copied().unwrap_or(file.text.len());
        Ok(start..end)
    }
}
