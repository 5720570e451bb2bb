//! The tables of a program from the lines of its text.
//!
//! Takes a file, gives `Program`, `Placement` and `Schedule` as far as the text holds them, or every mistake in it: a
//! wrong line is left out and the next one is read. Never panics, whatever the text.

use super::error::{Error, Mistake, Noun};
use super::grammar::LineParser;
use super::operand::{self, read_name, read_word};
use super::order;
use super::print::{usual_result_name, usual_results};
use super::syntax::{At, BufferLine, Kernel, Line, RangeText, RegionText, ResultText, RoleWord, Value};
use super::token::{LexError, Token};
use crate::diagnostic::nearest;
use crate::dtype::{DTYPES, Dtype};
use crate::ir::{
    Buffer, BufferId, Frame, InstId, Loc, LocId, Placement, Program, Region, Request, ResultValue, Role,
    Schedule, Shape, Step,
};
use crate::isa::{ENGINES, Engine, MEMORIES, Memory, N_ENGINES};
use crate::source::{FileId, Sources, Span};
use crate::target::{TARGETS, Target};
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
                if builder.errors.len() >= MAX_ERRORS {
                    builder.report(range, Mistake::TooMany { limit: MAX_ERRORS });
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

fn number(what: &'static str, limit: impl Into<String>) -> Mistake {
    Mistake::Number {
        what,
        limit: limit.into(),
    }
}

/// Which lines may come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Start,
    Declarations,
    Body,
    Queue(Engine),
    /// Between or after blocks.
    Blocks,
}

/// The tables under construction.
pub(super) struct Builder {
    pub file: FileId,
    pub program: Program,
    /// Buffers by name as text; `None` when the line that declares it is wrong.
    pub names: FxHashMap<String, Option<BufferId>>,
    pub errors: Vec<Error>,
    buffer_spans: Vec<Span>,
    regions: Vec<Option<Region>>,
    results: Option<Vec<ResultValue>>,
    section: Section,
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

    pub(super) fn report(&mut self, range: Range<usize>, mistake: Mistake) {
        let span = self.span(&range);
        self.errors.push(Error { span, mistake });
    }

    fn report_syntax(&mut self, error: ParseError<usize, Token, ()>, text: &str, line_end: usize) {
        let (range, expected) = match error {
            ParseError::UnrecognizedToken { token, expected } => (token.0..token.2, expected),
            ParseError::UnrecognizedEof { expected, .. } => (line_end..line_end, expected),
            ParseError::ExtraToken { token } => (token.0..token.2, Vec::new()),
            ParseError::InvalidToken { .. } | ParseError::User { .. } => (line_end..line_end, Vec::new()),
        };
        let found = text[range.clone()].to_owned();
        let expected = expected_words(&expected);
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
        if let Some((line, place)) = self.misplaced(&line) {
            self.report(range, Mistake::Misplaced { line, place });
            return;
        }
        match line {
            Line::Kernel(kernel) => self.add_kernel(kernel),
            Line::Buffer(line) => self.add_buffer(line),
            Line::Return(results) => self.add_results(results),
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
            Line::Close => {
                self.section = Section::Blocks;
                self.open = None;
            }
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
            Line::Buffer(_) if self.section != Section::Declarations => Some((
                "a declaration",
                "declarations stand before the body and the queues",
            )),
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
        self.section = section;
    }

    fn add_step(&mut self, range: Range<usize>, step: Step) {
        let span = self.span(&range);
        if let Section::Queue(engine) = self.section
            && let Some(queue) = &mut self.queues[engine as usize]
        {
            queue.push((step, span));
        }
    }

    fn add_loc(&mut self, range: &Range<usize>) -> LocId {
        let span = self.span(range);
        self.program.add_loc(Loc {
            span,
            parent: None,
            frame: Frame::Here,
        })
    }

    fn add_kernel(&mut self, kernel: Kernel) {
        self.section = Section::Declarations;
        // A kernel's name has no instance numbers, so what follows the mark is the name, digits included.
        self.program.name = read_word(&kernel.name.value[1..]);
        match Target::from_name(kernel.target.value) {
            Some(target) => self.program.target = target.name,
            None => self.unknown(Noun::Target, &kernel.target, TARGETS.iter().map(|it| it.name)),
        }
    }

    fn add_buffer(&mut self, line: BufferLine) {
        let Some(name) = read_name(line.name.value) else {
            self.report(line.name.range, number("an instance number", "4294967295"));
            return;
        };
        let text = name.to_string();
        let span = self.span(&line.name.range);
        match self.names.get(&text) {
            Some(Some(first)) => {
                let first = self.buffer_spans[first.index()];
                self.report(line.name.range, Mistake::DuplicateBuffer { name: text, first });
                return;
            }
            Some(None) => return,
            None => {}
        }
        self.names.insert(text.clone(), None);
        let dtype = self.dtype(&line.dtype);
        let memory = Memory::from_name(line.memory.value);
        if memory.is_none() {
            self.unknown(Noun::Memory, &line.memory, MEMORIES.iter().map(|it| it.1));
        }
        let shape = self.shape(&line.shape);
        let request = self.request(&line);
        let (Some(dtype), Some(memory), Some(shape), Ok(request)) = (dtype, memory, shape, request) else {
            return;
        };
        let buffer = Buffer {
            name,
            dtype,
            shape,
            memory,
            role: match line.role {
                RoleWord::In => Role::In,
                RoleWord::Out => Role::Out,
                RoleWord::Buf => Role::Local,
            },
            request,
            loc: None,
        };
        if memory.is_on_chip() && shape.is_empty() {
            self.report(line.shape.range, Mistake::NoPartitions);
            return;
        }
        if !has_usable_size(&shape, memory) {
            self.report(line.shape.range, Mistake::ShapeTooLarge);
            return;
        }
        let region = match &line.region {
            Some(region) => match self.region(&buffer, region) {
                Some(region) => Some(region),
                None => return,
            },
            None => None,
        };
        let loc = self.add_loc(&line.name.range);
        let id = self.program.add_buffer(Buffer {
            loc: Some(loc),
            ..buffer
        });
        self.names.insert(text, Some(id));
        self.buffer_spans.push(span);
        self.regions.push(region);
    }

    fn shape(&mut self, sizes: &At<Vec<At<i64>>>) -> Option<Shape> {
        let mut dims = Vec::with_capacity(sizes.value.len());
        for size in &sizes.value {
            dims.push(self.fit::<u32>(size, "a size", "4294967295")?);
        }
        let shape = Shape::new(&dims);
        if shape.is_none() {
            self.report(sizes.range.clone(), Mistake::Rank { rank: dims.len() });
        }
        shape
    }

    /// `address=(partition, byte)`.
    fn request(&mut self, line: &BufferLine) -> Result<Option<Request>, ()> {
        let mut request = None;
        for option in &line.options {
            if option.name.value != "address" {
                self.unknown(Noun::BufferOption, &option.name, ["address"].into_iter());
                return Err(());
            }
            if request.is_some() {
                self.report(
                    option.name.range.clone(),
                    Mistake::RepeatedOperand { name: "address" },
                );
                return Err(());
            }
            let pair = match &option.value.value {
                Value::Tuple(items) => <&[At<i64>; 2]>::try_from(items.as_slice()).ok(),
                _ => None,
            };
            let Some([partition, byte]) = pair else {
                let takes = "a partition and a byte, like (0, 0x800)";
                self.report(
                    option.value.range.clone(),
                    Mistake::Value {
                        operand: "address",
                        takes,
                    },
                );
                return Err(());
            };
            request = Some(Request {
                partition: self.fit(partition, "a partition", "4294967295").ok_or(())?,
                byte: self.fit(byte, "a byte address", "4294967295").ok_or(())?,
            });
        }
        Ok(request)
    }

    fn region(&mut self, buffer: &Buffer, region: &At<RegionText>) -> Option<Region> {
        match (
            &region.value.first,
            &region.value.second,
            buffer.memory.is_on_chip(),
        ) {
            (bytes, None, false) => self.hbm_region(buffer, region, bytes),
            (partitions, Some(bytes), true) => {
                let partition: u16 = self.fit(&partitions.start, "a partition", "65535")?;
                let end: u16 = self.fit(&partitions.end, "a partition", "65535")?;
                let Some(partitions) = end.checked_sub(partition) else {
                    self.report(region.range.clone(), Mistake::RegionForm { on_chip: true });
                    return None;
                };
                Some(Region::OnChip {
                    partition,
                    partitions,
                    start: self.fit(&bytes.start, "a byte address", "4294967295")?,
                    end: self.fit(&bytes.end, "a byte address", "4294967295")?,
                })
            }
            (_, _, on_chip) => {
                self.report(region.range.clone(), Mistake::RegionForm { on_chip });
                None
            }
        }
    }

    fn hbm_region(&mut self, buffer: &Buffer, region: &At<RegionText>, bytes: &RangeText) -> Option<Region> {
        let address: u64 = self.fit(&bytes.start, "a byte address", "64 bits")?;
        let end: u64 = self.fit(&bytes.end, "a byte address", "64 bits")?;
        let needs = buffer.bytes();
        // The end is the start plus the buffer's bytes, written out for the reader.
        if address.checked_add(needs) != Some(end) {
            let has = end.saturating_sub(address);
            self.report(region.range.clone(), Mistake::RegionSize { has, needs });
            return None;
        }
        Some(Region::Hbm { address })
    }

    fn add_results(&mut self, results: Vec<ResultText>) {
        let mut values = Vec::with_capacity(results.len());
        for result in results {
            let Some(id) = self.buffer(&result.buffer) else {
                continue;
            };
            let name = match &result.name {
                Some(name) => read_word(name.value),
                None => usual_result_name(&self.program[id]),
            };
            values.push(ResultValue { name, buffer: id });
        }
        self.results = Some(values);
    }

    /// Finds a declared buffer; says nothing about one whose declaration is wrong.
    pub(super) fn buffer(&mut self, name: &At<&str>) -> Option<BufferId> {
        if let Some(id) = self.names.get(name.value) {
            return *id;
        }
        // `%"a"` and `%a.01` are other spellings of `%a` and `%a.1`.
        let canonical = read_name(name.value).map(|it| it.to_string());
        if let Some(id) = canonical.and_then(|it| self.names.get(&it).copied()) {
            return id;
        }
        let near = nearest(name.value, self.names.keys().map(String::as_str)).map(str::to_owned);
        self.report(
            name.range.clone(),
            Mistake::Unknown {
                noun: Noun::Buffer,
                word: name.value.to_owned(),
                near,
            },
        );
        None
    }

    pub(super) fn dtype(&mut self, name: &At<&str>) -> Option<Dtype> {
        let dtype = Dtype::from_name(name.value);
        if dtype.is_none() {
            self.unknown(Noun::Dtype, name, DTYPES.iter().map(|it| it.1));
        }
        dtype
    }

    pub(super) fn engine(&mut self, name: &At<&str>) -> Option<Engine> {
        let engine = Engine::from_name(name.value);
        if engine.is_none() {
            self.unknown(Noun::Engine, name, ENGINES.iter().map(|it| it.1));
        }
        engine
    }

    fn count(&mut self, count: &At<i64>) -> Option<u32> {
        self.fit(count, "a semaphore's count", "4294967295")
    }

    pub(super) fn unknown<'a>(&mut self, noun: Noun, word: &At<&str>, known: impl Iterator<Item = &'a str>) {
        let near = nearest(word.value, known).map(str::to_owned);
        let mistake = Mistake::Unknown {
            noun,
            word: word.value.to_owned(),
            near,
        };
        self.report(word.range.clone(), mistake);
    }

    /// The number in a smaller type.
    pub(super) fn fit<T: TryFrom<i64>>(
        &mut self,
        value: &At<i64>,
        what: &'static str,
        limit: &str,
    ) -> Option<T> {
        let fitted = T::try_from(value.value).ok();
        if fitted.is_none() {
            self.report(value.range.clone(), number(what, limit));
        }
        fitted
    }

    fn finish(mut self, end: usize) -> Result<Parsed, Vec<Error>> {
        if self.section == Section::Start {
            self.report(end..end, Mistake::NoKernel);
        }
        if let Some(span) = self.open {
            self.errors.push(Error {
                span,
                mistake: Mistake::Unclosed,
            });
        }
        let placement = self.placement();
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
            program: self.program,
            placement,
            schedule,
        })
    }

    fn placement(&mut self) -> Option<Placement> {
        let placed = self.regions.iter().position(Option::is_some)?;
        let placed = self.buffer_spans[placed];
        for idx in 0..self.regions.len() {
            if self.regions[idx].is_none() {
                self.errors.push(Error {
                    span: self.buffer_spans[idx],
                    mistake: Mistake::PartlyPlaced { placed },
                });
            }
        }
        let regions: Vec<Region> = self.regions.iter().copied().flatten().collect();
        let peak = |memory: Memory| {
            let buffers = self.program.buffers.iter().zip(&regions);
            let ends = buffers.filter_map(|(buffer, region)| match region {
                Region::OnChip { end, .. } if buffer.memory == memory => Some(*end),
                _ => None,
            });
            ends.max().unwrap_or(0)
        };
        Some(Placement {
            sbuf_peak_bytes: peak(Memory::Sbuf),
            psum_peak_bytes: peak(Memory::Psum),
            regions,
        })
    }

    /// Puts the instructions in an order that the semaphores allow.
    fn schedule(&mut self) -> Option<Schedule> {
        if !self.errors.is_empty() {
            return None;
        }
        let mut schedule = Schedule::default();
        for (queue, steps) in schedule.queues.iter_mut().zip(&self.queues) {
            queue.extend(steps.iter().flatten().map(|it| it.0));
        }
        let order = match order::order(&schedule.queues) {
            Ok(order) => order,
            Err(blocked) => {
                self.report_deadlock(&blocked);
                return None;
            }
        };
        let mut numbers = vec![InstId::new(0); order.len()];
        for (idx, id) in order.iter().enumerate() {
            numbers[id.index()] = InstId::new(idx);
        }
        self.program.insts = order.iter().map(|it| self.program[*it]).collect();
        for step in schedule.queues.iter_mut().flatten() {
            if let Step::Inst(id) = step {
                *id = numbers[id.index()];
            }
        }
        Some(schedule)
    }

    fn report_deadlock(&mut self, blocked: &[order::Blocked]) {
        let waits: Vec<(Span, String)> = blocked
            .iter()
            .filter_map(|it| {
                let (step, span) = self.queues[it.queue as usize].as_ref()?.get(it.position)?;
                let Step::Wait { from, count } = step else {
                    return None;
                };
                let (queue, from) = (it.queue.name(), from.name());
                Some((
                    *span,
                    format!(
                        "{queue} waits for signal {count} of {from}, which has sent {}",
                        it.signalled
                    ),
                ))
            })
            .collect();
        if let Some((span, _)) = waits.first() {
            let span = *span;
            self.errors.push(Error {
                span,
                mistake: Mistake::Deadlock { waits },
            });
        }
    }
}

/// Whether strides fit in 32 bits and the bytes of the whole buffer in 62, so that later arithmetic cannot overflow.
fn has_usable_size(shape: &[u32], memory: Memory) -> bool {
    let product = |dims: &[u32]| {
        dims.iter()
            .fold(1u128, |product, &it| product.saturating_mul(it.max(1).into()))
    };
    let strided = shape.get(1 + usize::from(memory.is_on_chip())..).unwrap_or(&[]);
    product(strided) <= i32::MAX as u128 && product(shape) < 1 << 60
}

/// The terminals of the grammar in words; long lists help nobody.
fn expected_words(terminals: &[String]) -> Vec<&'static str> {
    const WORDS: &[(&str, &str)] = &[
        ("\"name\"", "a buffer's name"),
        ("\"word\"", "a word"),
        ("\"text\"", "quoted text"),
        ("\"integer\"", "an integer"),
        ("\"number\"", "a number"),
        ("\"for\"", "`for`"),
        ("\"as\"", "`as`"),
        ("\"on\"", "`on`"),
        ("\"at\"", "`at`"),
        ("\"<-\"", "`<-`"),
        ("\"@\"", "`@`"),
        ("\":\"", "`:`"),
        ("\",\"", "`,`"),
        ("\"..\"", "`..`"),
        ("\"=\"", "`=`"),
        ("\"+\"", "`+`"),
        ("\"*\"", "`*`"),
        ("\"~\"", "`~`"),
        ("\"(\"", "`(`"),
        ("\")\"", "`)`"),
        ("\"[\"", "`[`"),
        ("\"]\"", "`]`"),
        ("\"{\"", "`{`"),
    ];
    const MOST: usize = 4;
    let known = |terminal: &String| WORDS.iter().find(|it| it.0 == terminal).map(|it| it.1);
    let words: Vec<&str> = terminals.iter().filter_map(known).collect();
    if words.len() <= MOST && words.len() == terminals.len() {
        words
    } else {
        Vec::new()
    }
}
