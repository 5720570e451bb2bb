//! The tables of a program from the lines of its text.
//!
//! Takes a file, gives `Program`, `Placement` and `Schedule` as far as the text holds them, or every mistake in it: a
//! wrong line is left out and the next one is read. Never panics, whatever the text.

mod flow;
mod lookup;

use super::error::{Error, Mistake};
use super::grammar::LineParser;
use super::operand;
use super::print::usual_results;
use super::syntax::Line;
use super::token::{LexError, Token};
use crate::ir::{
    BufferId, Frame, Loc, LocId, MarkId, Placement, Program, Region, RegisterId, ResultValue, Schedule, Step,
};
use crate::isa::{Engine, N_ENGINES};
use crate::place::with_peaks;
use crate::source::{FileId, Sources, Span};
use crate::target::TARGETS;
use lalrpop_util::ParseError;
use logos::Logos;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What a text holds.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub program: Program,
    /// When the buffers have regions.
    pub placement: Option<Placement>,
    /// When the instructions stand in queues.
    pub schedule: Option<Schedule>,
}

/// After so many mistakes the rest of the file is not worth reading.
const MAX_ERRORS: usize = 100;

/// Reads a file of IR text.
pub fn parse(sources: &Sources, file: FileId) -> Result<Parsed, Vec<Error>> {
    let text = sources.text_of(file);
    let parser = LineParser::new();
    let mut builder = Builder::new(file);
    let mut lexer = Token::lexer(text);
    let mut tokens: Vec<(usize, Token, usize)> = Vec::new();
    let mut is_lexed = true;
    loop {
        let token = lexer.next();
        let range = lexer.span();
        match token {
            Some(Ok(token)) if token != Token::Newline => tokens.push((range.start, token, range.end)),
            Some(Err(error)) => {
                if is_lexed {
                    builder.report(range, lex_mistake(error));
                }
                is_lexed = false;
            }
            // A newline, or the end of the text.
            _ => {
                if !is_lexed {
                    builder.skip_line(&tokens);
                } else if !tokens.is_empty() {
                    let line = tokens[0].0..tokens[tokens.len() - 1].2;
                    match parser.parse(tokens.iter().map(|&it| Ok::<_, ()>(it))) {
                        Ok(read) => builder.add_line(line, read),
                        Err(error) => {
                            builder.skip_line(&tokens);
                            builder.report_syntax(error, text, line.end);
                        }
                    }
                }
                tokens.clear();
                is_lexed = true;
                if token.is_none() {
                    break;
                }
                if !builder.is_worth_reading() {
                    let (span, limit) = (builder.span(&range), MAX_ERRORS);
                    let mistake = Mistake::TooMany { limit };
                    builder.errors.push(Error { span, mistake });
                    return Err(builder.errors);
                }
            }
        }
    }
    builder.finish(text.len())
}

fn lex_mistake(error: LexError) -> Mistake {
    match error {
        LexError::Character => Mistake::Character,
        LexError::Integer => number("the integer", "64 bits"),
        LexError::Float => number("the number", "the largest f32, 3.4028235e38"),
    }
}

/// A number that does not fit where it stands.
pub(super) fn number(what: &'static str, limit: impl Into<String>) -> Mistake {
    Mistake::Number {
        what,
        limit: limit.into(),
    }
}

/// Which lines may come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Start,
    Declarations,
    Body,
    Queue(Engine),
    /// Between or after blocks.
    Blocks,
}

/// The tables under construction.
pub(super) struct Builder {
    file: FileId,
    pub program: Program,
    /// Buffers by name as text; `None` when the line that declares it is wrong.
    pub names: FxHashMap<String, Option<BufferId>>,
    pub errors: Vec<Error>,
    pub registers: FxHashMap<String, RegisterId>,
    /// The loops that are open in the block at hand: their numbers and places.
    open_loops: Vec<(usize, Span)>,
    /// Marks by name as text, with the place that defines them once it was read, else the first that names them.
    marks: FxHashMap<String, (MarkId, Result<Span, Span>)>,
    /// How many loops the block at hand has begun.
    n_loops: usize,
    pub buffer_spans: Vec<Span>,
    pub regions: Vec<Option<Region>>,
    pub results: Option<Vec<ResultValue>>,
    pub section: Section,
    open: Option<Span>,
    has_body: bool,
    queues: [Option<Vec<(Step, Span)>>; N_ENGINES],
}

impl Builder {
    fn new(file: FileId) -> Builder {
        Builder {
            file,
            program: Program::new("", TARGETS[0].name),
            names: FxHashMap::default(),
            errors: Vec::new(),
            registers: FxHashMap::default(),
            open_loops: Vec::new(),
            marks: FxHashMap::default(),
            n_loops: 0,
            buffer_spans: Vec::new(),
            regions: Vec::new(),
            results: None,
            section: Section::Start,
            open: None,
            has_body: false,
            queues: [const { None }; N_ENGINES],
        }
    }

    pub(super) fn span(&self, range: &Range<usize>) -> Span {
        Span::new(self.file, range.start, range.end)
    }

    fn is_worth_reading(&self) -> bool {
        self.errors.len() < MAX_ERRORS
    }

    /// Adds a mistake, as long as the file is worth reading: one line may hold any number of them.
    pub(super) fn report(&mut self, range: Range<usize>, mistake: Mistake) {
        if self.is_worth_reading() {
            let span = self.span(&range);
            self.errors.push(Error { span, mistake });
        }
    }

    fn report_syntax(&mut self, error: ParseError<usize, Token, ()>, text: &str, line_end: usize) {
        let (range, expected) = match error {
            ParseError::UnrecognizedToken { token, expected } => (token.0..token.2, expected),
            ParseError::UnrecognizedEof { expected, .. } => (line_end..line_end, expected),
            ParseError::ExtraToken { token } => (token.0..token.2, Vec::new()),
            ParseError::InvalidToken { .. } | ParseError::User { .. } => (line_end..line_end, Vec::new()),
        };
        let found = text[range.clone()].to_owned();
        self.report(range, Mistake::Unexpected { found, expected });
    }

    /// Remembers what a line that cannot be read would have declared, so that its uses are no further mistakes.
    fn skip_line(&mut self, tokens: &[(usize, Token, usize)]) {
        match tokens {
            [(_, Token::Kernel, _), ..] if self.section == Section::Start => {
                self.section = Section::Declarations
            }
            [
                (_, Token::In | Token::Out | Token::Buf, _),
                (_, Token::Name(name), _),
                ..,
            ] => {
                self.names.entry((*name).to_owned()).or_insert(None);
            }
            [(_, Token::Body | Token::Queue, _), ..] if self.open.is_none() => self.section = Section::Body,
            _ => {}
        }
    }

    fn add_line(&mut self, range: Range<usize>, line: Line) {
        if self.section == Section::Start && !matches!(line, Line::Kernel(_)) {
            self.report(range.clone(), Mistake::NoKernel);
            self.section = Section::Declarations;
        }
        if let Some((what, place)) = self.misplaced(&line) {
            self.report(range, Mistake::Misplaced { line: what, place });
            // What stands in a block of no use is still read, up to its end.
            if matches!(line, Line::Body | Line::Queue(_)) {
                self.section = Section::Body;
            }
            return;
        }
        match line {
            Line::Kernel(kernel) => self.add_kernel(kernel),
            Line::Buffer(line) => self.add_buffer(line),
            Line::Return(results) => self.add_results(results),
            Line::Print(line) => self.add_print(line),
            Line::Body => {
                self.has_body = true;
                self.open(range, Section::Body);
            }
            Line::Queue(name) => {
                if let Some(engine) = self.engine(&name) {
                    self.queues[engine as usize] = Some(Vec::new());
                    self.open(range, Section::Queue(engine));
                } else {
                    self.open(range, Section::Body);
                }
            }
            Line::Loop(text) => self.open_loop(&range, text),
            Line::Barrier => self.add_step(range, Step::Barrier),
            Line::Close => match self.open_loops.pop() {
                Some((number, _)) => {
                    if self.section == Section::Body {
                        self.program.loops[number].end = self.program.insts.len();
                    }
                    self.add_step(range, Step::End);
                }
                None => {
                    self.section = Section::Blocks;
                    self.open = None;
                }
            },
            Line::Registers(names) => self.add_registers(names),
            Line::Wait(name, count) => {
                if let (Some(from), Some(count)) = (self.engine(&name), self.count(&count)) {
                    self.add_step(range, Step::Wait { from, count });
                }
            }
            Line::Signal(name, count) => {
                if let (Some(to), Some(count)) = (self.engine(&name), self.count(&count)) {
                    self.add_step(range, Step::Signal { to, count });
                }
            }
            Line::Inst(line) => {
                if let Some(mut inst) = operand::instruction(self, &range, line) {
                    inst.loc = Some(self.add_loc(&range));
                    let id = self.program.add_inst(inst);
                    self.add_step(range, Step::Inst(id));
                }
            }
        }
    }

    /// What the line is and why it may not stand here, if so.
    fn misplaced(&self, line: &Line) -> Option<(&'static str, &'static str)> {
        let in_block = matches!(self.section, Section::Body | Section::Queue(_));
        let has_queues = self.queues.iter().any(Option::is_some);
        match line {
            Line::Kernel(_) if self.section != Section::Start => {
                Some(("a second kernel", "one file holds one kernel"))
            }
            Line::Buffer(_) | Line::Print(_) if self.section != Section::Declarations => Some((
                "a declaration",
                "declarations stand before the body and the queues",
            )),
            Line::Registers(_) if self.section != Section::Declarations => {
                Some(("`reg`", "declarations stand before the body and the queues"))
            }
            Line::Loop(_) if !in_block => Some(("a loop", "loops stand in the body or in a queue")),
            Line::Barrier if !matches!(self.section, Section::Queue(_)) => {
                Some(("`barrier`", "it stands in a queue"))
            }
            Line::Return(_) if self.section != Section::Declarations || self.results.is_some() => {
                Some(("`return`", "it stands once, after the declarations"))
            }
            Line::Body | Line::Queue(_) if in_block => Some(("a block", "the block before it is not closed")),
            Line::Body if self.has_body || has_queues => Some(("a body", "a text has one body, or queues")),
            Line::Queue(_) if self.has_body => Some(("a queue", "a text has one body, or queues")),
            Line::Queue(name)
                if Engine::from_name(name.value).is_some_and(|it| self.queues[it as usize].is_some()) =>
            {
                Some(("a second queue of one engine", "an engine has one queue"))
            }
            Line::Close if !in_block => Some(("`}`", "no block is open")),
            Line::Wait(..) | Line::Signal(..) if !matches!(self.section, Section::Queue(_)) => {
                Some(("`wait` or `signal`", "they stand in a queue"))
            }
            Line::Inst(_) if !in_block => {
                Some(("an instruction", "instructions stand in the body or in a queue"))
            }
            _ => None,
        }
    }

    fn open(&mut self, range: Range<usize>, section: Section) {
        self.open = Some(self.span(&range));
        self.n_loops = 0;
        self.section = section;
    }

    pub(super) fn add_loc(&mut self, range: &Range<usize>) -> LocId {
        let span = self.span(range);
        self.program.locs.add(Loc {
            span,
            parent: None,
            frame: Frame::Here,
        })
    }

    fn finish(mut self, end: usize) -> Result<Parsed, Vec<Error>> {
        if self.section == Section::Start {
            self.report(end..end, Mistake::NoKernel);
        }
        let open_loops = self.open_loops.iter().map(|it| it.1);
        for span in self.open.into_iter().chain(open_loops) {
            self.errors.push(Error {
                span,
                mistake: Mistake::Unclosed,
            });
        }
        self.check_marks();
        let regions = if self.errors.is_empty() {
            self.regions()
        } else {
            None
        };
        let schedule = if self.has_body { None } else { self.schedule() };
        if !self.errors.is_empty() {
            self.errors.sort_by_key(|it| it.span);
            return Err(self.errors);
        }
        self.program.results = self.results.unwrap_or_else(|| {
            let usual = usual_results(&self.program.buffers).into_iter();
            usual.map(|(buffer, name)| ResultValue { name, buffer }).collect()
        });
        Ok(Parsed {
            placement: regions.map(|it| with_peaks(&self.program, it)),
            program: self.program,
            schedule,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Report;

    #[test]
    fn a_file_of_mistakes_is_not_read_to_its_end() {
        let names = vec!["%a"; 1000].join(", ");
        for text in [
            "kernel %f for trainium1\n".repeat(1000),
            format!("kernel %f for trainium1\nreturn {names}\n"),
        ] {
            let mut sources = Sources::new();
            let file = sources.add("mistakes.nir", text);
            let errors = parse(&sources, file).expect_err("a text with a thousand mistakes");
            assert_eq!(errors.len(), MAX_ERRORS + 1);
            assert_eq!(errors[MAX_ERRORS].report().code, "too-many-errors");
        }
    }
}
