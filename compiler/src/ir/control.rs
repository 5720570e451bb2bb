//! What is known only when a program runs: registers, addresses that depend on them, and loops.
//!
//! Instructions stay one list. Loops are ranges of it, and [`Program::control`] gives the tree: *segments*, which are
//! runs of instructions without a branch, inside loops. A register changes only in a segment of its own, so within a
//! segment every register and every trip count is constant. All queues meet at a barrier between segments.

use super::{Buffer, InstId, LocId, Name, Program, RegisterId, Step, View, ViewId};
use crate::isa::{MAX_ARGS, Unit};
use std::ops::Range;

/// A 32-bit register, of which every sequencer has a copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Register {
    pub name: Name,
    pub loc: Option<LocId>,
}

/// What a dynamic address is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Index {
    Register(RegisterId),
    /// A tile of one element.
    Element(ViewId),
    /// A tile with one element for each row, the first pair of the view; an element in each partition.
    Rows(ViewId),
}

impl Index {
    /// The tile that holds it, if one does.
    pub fn tile(self) -> Option<ViewId> {
        match self {
            Index::Register(_) => None,
            Index::Element(id) | Index::Rows(id) => Some(id),
        }
    }
}

/// When the instruction runs, `index * stride` elements are added to a view's offset.
///
/// With [`Index::Rows`] each row has its own index, and the stride of the first pair is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dynamic {
    pub index: Index,
    pub stride: u32,
    /// Indices are below this.
    pub count: u32,
}

impl View {
    /// How many steps of a stride, counted from 0, keep the view inside its buffer.
    pub fn room(&self, buffer: &Buffer, stride: u64) -> u64 {
        let skip = usize::from(buffer.memory.is_on_chip());
        let reach: i64 = self.dims()[skip..]
            .iter()
            .map(|it| i64::from(it.stride).max(0) * (i64::from(it.count) - 1))
            .sum();
        let size = (buffer.bytes() / u64::from(self.dtype.size())) as i64;
        let left = size - 1 - self.offset - reach;
        match u64::try_from(left) {
            Ok(left) if stride > 0 => left / stride + 1,
            Ok(_) => u64::MAX,
            Err(_) => 0,
        }
    }

    /// Whether its rows have addresses of their own.
    pub fn has_row_indices(&self) -> bool {
        matches!(
            self.dynamic,
            Some(Dynamic {
                index: Index::Rows(_),
                ..
            })
        )
    }
}

/// The most views an instruction touches: each operand may have a tile for an index.
pub const MAX_TOUCHES: usize = 2 * MAX_ARGS;

/// An end of a counted loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    Int(i32),
    Register(RegisterId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopKind {
    /// `register` counts from `lower` by `step` while it is below `upper`. Bounds are read once.
    For {
        register: RegisterId,
        lower: Bound,
        upper: Bound,
        step: u32,
    },
    /// Runs while `register` is not 0, which is asked before each iteration.
    While { register: RegisterId },
}

/// A loop that the device runs: instructions `first..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loop {
    pub kind: LoopKind,
    pub first: usize,
    pub end: usize,
    /// Loops around it.
    pub depth: u32,
    pub loc: Option<LocId>,
}

/// A step of the control flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// By number.
    Segment(usize),
    /// A loop of the program, by number, and its body.
    Loop(usize, Vec<Node>),
}

/// The control flow of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// The instructions of each segment; together they are all instructions, in order.
    pub segments: Vec<Range<usize>>,
    pub nodes: Vec<Node>,
}

/// A part of the control flow, laid out in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlStep {
    /// Instructions without a branch.
    Segment(Range<usize>),
    /// All queues meet: a barrier, or an end of a loop.
    Meet(Step),
}

impl ControlStep {
    /// The step of every queue, unless it is a segment.
    pub fn meet(&self) -> Option<Step> {
        match self {
            ControlStep::Segment(_) => None,
            ControlStep::Meet(step) => Some(*step),
        }
    }
}

impl Control {
    /// The control flow in the order of the text: what stands in every queue.
    pub fn flatten(&self) -> Vec<ControlStep> {
        let mut steps = Vec::new();
        self.lay_out(&self.nodes, &mut steps);
        steps
    }

    fn lay_out(&self, nodes: &[Node], steps: &mut Vec<ControlStep>) {
        for node in nodes {
            match node {
                Node::Segment(number) => {
                    if let Some(ControlStep::Segment(_)) = steps.last() {
                        steps.push(ControlStep::Meet(Step::Barrier));
                    }
                    steps.push(ControlStep::Segment(self.segments[*number].clone()));
                }
                Node::Loop(number, body) => {
                    steps.push(ControlStep::Meet(Step::Loop(*number as u32)));
                    self.lay_out(body, steps);
                    steps.push(ControlStep::Meet(Step::End));
                }
            }
        }
    }

    /// The ids of the instructions of a segment.
    pub fn insts(&self, segment: usize) -> impl DoubleEndedIterator<Item = InstId> + use<> {
        self.segments[segment].clone().map(InstId::new)
    }
}

impl Program {
    /// Whether all instructions run once, one after the other.
    pub fn is_straight(&self) -> bool {
        self.loops.is_empty() && self.registers.is_empty()
    }

    /// The control flow. A program without loops and registers is one segment, even when it is empty.
    pub fn control(&self) -> Control {
        let mut control = Control {
            segments: Vec::new(),
            nodes: Vec::new(),
        };
        if self.is_straight() {
            control.segments.push(0..self.insts.len());
            control.nodes.push(Node::Segment(0));
            return control;
        }
        let mut loops = (0..self.loops.len()).peekable();
        let mut segments = Vec::new();
        control.nodes = self.nodes(0..self.insts.len(), 0, &mut loops, &mut segments);
        control.segments = segments;
        control
    }

    /// The nodes of a range of instructions whose loops have the given depth.
    fn nodes(
        &self,
        range: Range<usize>,
        depth: u32,
        loops: &mut std::iter::Peekable<Range<usize>>,
        segments: &mut Vec<Range<usize>>,
    ) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut at = range.start;
        while let Some(number) =
            loops.next_if(|&it| self.loops[it].depth >= depth && self.loops[it].first <= range.end)
        {
            let it = self.loops[number];
            self.straight(at..it.first, segments, &mut nodes);
            let body = self.nodes(it.first..it.end, depth + 1, loops, segments);
            nodes.push(Node::Loop(number, body));
            at = it.end;
        }
        self.straight(at..range.end, segments, &mut nodes);
        nodes
    }

    /// Cuts instructions without loops where registers begin or cease to change.
    fn straight(&self, range: Range<usize>, segments: &mut Vec<Range<usize>>, nodes: &mut Vec<Node>) {
        let changes = |it: usize| self.insts[it].op.row().unit == Unit::Sequencer;
        let mut start = range.start;
        for at in range.clone() {
            if at + 1 == range.end || changes(at) != changes(at + 1) {
                nodes.push(Node::Segment(segments.len()));
                segments.push(start..at + 1);
                start = at + 1;
            }
        }
    }

    /// The outermost loop around each instruction, as a range of instructions; in instruction order, without overlap.
    pub fn outer_loops(&self) -> impl Iterator<Item = Range<usize>> {
        let outer = self.loops.iter().filter(|it| it.depth == 0);
        outer.map(|it| it.first..it.end)
    }
}
