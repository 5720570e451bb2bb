//! Lines of IR text as the grammar reads them: words and numbers with their places, nothing looked up yet.

use std::ops::Range;

/// Something read from the text, with the bytes it stood in.
#[derive(Clone, Debug)]
pub struct At<T> {
    pub range: Range<usize>,
    pub value: T,
}

impl<T> At<T> {
    pub fn new(start: usize, value: T, end: usize) -> At<T> {
        At {
            range: start..end,
            value,
        }
    }
}

/// One line.
#[derive(Debug)]
pub enum Line<'t> {
    Kernel(Kernel<'t>),
    Buffer(BufferLine<'t>),
    /// `reg %name, …`
    Registers(Vec<At<&'t str>>),
    Return(Vec<ResultText<'t>>),
    Print(PrintLine<'t>),
    /// `body {`
    Body,
    /// `queue NAME {`
    Queue(At<&'t str>),
    /// `}`
    Close,
    /// `for … {` or `while … {`
    Loop(LoopText<'t>),
    Barrier,
    Wait(At<&'t str>, At<i64>),
    Signal(At<&'t str>, At<i64>),
    Inst(InstLine<'t>),
}

/// `kernel %name for target`
#[derive(Debug)]
pub struct Kernel<'t> {
    pub name: At<&'t str>,
    pub target: At<&'t str>,
}

/// The word that opens a buffer's line.
#[derive(Clone, Copy, Debug)]
pub enum RoleWord {
    In,
    Out,
    Buf,
}

#[derive(Debug)]
pub struct BufferLine<'t> {
    pub role: RoleWord,
    pub name: At<&'t str>,
    pub dtype: At<&'t str>,
    pub shape: At<Vec<At<i64>>>,
    pub memory: At<&'t str>,
    pub region: Option<At<RegionText>>,
    pub options: Vec<Named<'t>>,
    /// What the buffer holds from the start.
    pub contents: Option<At<Vec<Run<'t>>>>,
}

/// `count*value`, or a value alone.
#[derive(Clone, Copy, Debug)]
pub struct Run<'t> {
    pub count: i64,
    pub value: Scalar<'t>,
}

#[derive(Clone, Copy, Debug)]
pub enum Scalar<'t> {
    Int(i64),
    Float(f32),
    /// `inf`, `neg_inf` or `nan`.
    Word(&'t str),
}

/// `print %buffer as "prefix", "view"`
#[derive(Debug)]
pub struct PrintLine<'t> {
    pub buffer: At<&'t str>,
    pub prefix: At<&'t str>,
    pub what: At<&'t str>,
}

/// `[start:end]` in HBM, `[partitions, bytes]` on chip.
#[derive(Debug)]
pub struct RegionText {
    pub first: RangeText,
    pub second: Option<RangeText>,
}

#[derive(Debug)]
pub struct RangeText {
    pub start: At<i64>,
    pub end: At<i64>,
}

/// `%buffer` or `%buffer as name`
#[derive(Debug)]
pub struct ResultText<'t> {
    pub buffer: At<&'t str>,
    pub name: Option<At<&'t str>>,
}

#[derive(Debug)]
pub struct InstLine<'t> {
    /// Left out by instructions that only change an engine's state.
    pub dst: Option<At<ViewText<'t>>>,
    pub op: At<&'t str>,
    pub operands: Vec<At<OperandText<'t>>>,
    pub engine: Option<At<&'t str>>,
    pub asked: AskedText<'t>,
}

/// `as %mark after %mark, … fixed`, behind an instruction
#[derive(Debug)]
pub struct AskedText<'t> {
    pub name: Option<At<&'t str>>,
    pub after: Vec<At<&'t str>>,
    pub is_fixed: bool,
}

#[derive(Debug)]
pub enum OperandText<'t> {
    Tile(ViewText<'t>),
    Named(Named<'t>),
}

/// `name=value`
#[derive(Debug)]
pub struct Named<'t> {
    pub name: At<&'t str>,
    pub value: At<Value<'t>>,
}

#[derive(Debug)]
pub struct ViewText<'t> {
    pub buffer: At<&'t str>,
    pub dtype: Option<At<&'t str>>,
    pub items: Option<Vec<At<Item>>>,
    pub index: Option<Box<At<IndexText<'t>>>>,
}

/// `%index*stride of count` or `rows(%indices)*stride of count`, behind a view and `+`.
#[derive(Debug)]
pub struct IndexText<'t> {
    /// A tile or a register.
    pub tile: ViewText<'t>,
    pub stride: At<i64>,
    pub count: At<i64>,
    pub is_rows: bool,
}

#[derive(Debug)]
pub enum LoopText<'t> {
    /// `for %register in lower..upper by step {`
    For {
        register: At<&'t str>,
        lower: BoundText<'t>,
        upper: BoundText<'t>,
        step: Option<At<i64>>,
    },
    /// `while %register {`
    While(At<&'t str>),
}

#[derive(Debug)]
pub enum BoundText<'t> {
    Int(At<i64>),
    Register(At<&'t str>),
}

/// One item between a view's brackets.
#[derive(Debug)]
pub enum Item {
    /// `start:end`
    Range(RangeText),
    /// `index`
    Index(i64),
    /// `offset + count*step + …`
    Pattern(i64, Vec<At<Term>>),
}

/// `count*step`
#[derive(Clone, Copy, Debug)]
pub struct Term {
    pub count: i64,
    pub step: i64,
}

#[derive(Debug)]
pub enum Value<'t> {
    View(ViewText<'t>),
    Int(i64),
    Float(f32),
    Word(&'t str),
    Terms(Vec<At<Term>>),
    Tuple(Vec<At<i64>>),
}
