//! The rules of instructions.
//!
//! Takes a program (and, once there is one, its placement), gives every broken rule. Never changes anything, never asks
//! in which order instructions run: that is the work of `check` and `schedule`.
//!
//! **Every instruction**: the target has it; its engine may execute it; every required operand is there and is what the
//! row says: a memory, a dtype, an operator of the set; a column has one element in each partition.
//!
//! **Every view**: has elements; lies inside its buffer, negative steps included. On the engines also: at most four free
//! pairs once contiguous neighbours are merged, no step beyond 16 bits, at most 65 536 elements a partition in SBUF and
//! 4 096 in PSUM, and a start partition that the hardware can reach: 0 for more than 64 partitions, 0 or 64 for more than
//! 32, else a multiple of 32. Before placing, some legal place of the buffer must make it so; after placing, it is so.
//! A transfer, a transpose or a copy that moves partitions may not read what it overwrites, unless it is the same view; a
//! transfer or a matmul may not write one element twice.
//!
//! **Every dynamic view**: its index is an integer tile in SBUF with one element, or one for each row; rows have their own
//! indices in HBM and in `dma_copy` only, whose other operand has the same rows. No loop is inside itself.
//!
//! **By row** ([`crate::isa::Rule`]):
//! - `Elementwise`: every tile has dst's partitions and elements per partition, every column dst's partitions.
//! - `NotBothPsum`: the two operands share one read port of PSUM, so only one of them may lie there.
//! - `SameDtype`: the two operands have one dtype.
//! - `Matmul`: stationary `[K, M]`, moving `[K, N]`, dst `[M, N]`, M ≤ 128, N ≤ 512, dst in one PSUM bank; 32-bit floats
//!   only with 32-bit floats; `tile_position` and `tile_size` come together, aligned, and hold the operands.
//! - `Transpose`: dst `[F, P]` of data `[P, F]`; on the Tensor engine a matmul (128 × 128, SBUF to PSUM), on the Vector
//!   engine 32 × 32 with one dtype.
//! - `Reduce`: the axes are the trailing ones, never the partitions; dst has data's partitions and what is left.
//! - `SameCount`: source and destination have the same number of elements.
//! - `DmaTranspose`: dst's shape is src's with the axes (1, 0), (2, 1, 0) or (3, 1, 2, 0).
//! - `PatternCount`: one to four pairs whose counts multiply to dst's elements per partition.
//! - `AluClasses`: bit operators want integers throughout and the Vector engine, and do not mix with arithmetic; operators
//!   of GpSimd want GpSimd; a unary operator has no operand, every other one has.
//! - `SamePartitions`, `SameFree`, `FreeCount`, `FreeRange`, `FreeMultiple`, `FreeTimes`, `Partitions`, `PartitionMultiple`:
//!   sizes of one operand, or of one against another.
//! - `ReduceCommands`, `LoadReduce`: what the row does with its engine's accumulator; the operand that is loaded comes with
//!   the command.
//! - `StreamShuffle`: lanes that the mask names are lanes of src. `LocalGather`: 1, 2, … 32 elements an index, at most 4096
//!   indices a GpSimd core, and dst has room for exactly what they move.
//! - `NoBiasWithReciprocal`, `ActivationReduce`, `MemsetValue`, `GpsimdNoPsum`, `NotReversed`, `BitsNeedIntegers`,
//!   `DropoutProbability`: as their names say.
//!
//! **After placing**: regions have their buffers' sizes and lie inside their memories, aligned; a matmul's destination
//! lies in one bank, its operands on the partitions of its PE tile.

pub mod error;

mod dynamic;
mod facts;
mod overlap;
mod placed;
mod rules;

pub use error::Error;
pub(crate) use facts::may_start;
pub use facts::merged;
pub use placed::verify_placed;

use crate::ir::{Buffer, Frame, Inst, LocId, Program};
use crate::isa::{Arg, Kind, Row, Unit};
use crate::source::Span;
use crate::target::Target;
use crate::text;
use error::{Mistake, OperandMistake, Place, Subject, ViewMistake};
use facts::Facts;
use rustc_hash::FxHashMap;

/// Every rule that the instructions and buffers of a program break, in program order.
pub fn verify(program: &Program, target: &Target) -> Vec<Error> {
    let facts = facts::facts(program, target);
    let mut errors = Errors::new(program);
    for buffer in &program.buffers {
        if buffer.memory.is_on_chip() && buffer.partitions() > target.partitions {
            let (partitions, limit) = (buffer.partitions(), target.partitions);
            errors.add_buffer(buffer, ViewMistake::TooManyPartitions { partitions, limit });
        }
    }
    for inst in &program.insts {
        let mut case = Case {
            program,
            target,
            facts: &facts,
            inst,
            row: inst.op.row(),
            errors: &mut errors,
        };
        check_inst(&mut case);
    }
    errors.list
}

/// One instruction under examination.
struct Case<'c, 'p> {
    program: &'p Program,
    target: &'p Target,
    facts: &'c [Facts],
    inst: &'p Inst,
    row: &'static Row,
    errors: &'c mut Errors<'p>,
}

impl Case<'_, '_> {
    /// The facts of an operand, if it is a view.
    fn view(&self, position: usize) -> Option<&Facts> {
        match self.inst.args[position] {
            Arg::View(id) => Some(&self.facts[id.index()]),
            _ => None,
        }
    }

    /// A mistake of one operand.
    #[cold]
    fn report(&mut self, position: usize, mistake: impl Into<Mistake>) {
        self.errors.add_inst(self.inst, Some(position), mistake.into());
    }

    /// A mistake of the whole instruction.
    #[cold]
    fn report_whole(&mut self, mistake: impl Into<Mistake>) {
        self.errors.add_inst(self.inst, None, mistake.into());
    }

    /// A unary operator leaves the operand after it out.
    fn follows_unary_operator(&self, position: usize) -> bool {
        let before = position.checked_sub(1).map(|it| self.inst.args[it]);
        matches!(before, Some(Arg::Alu(op)) if op.facts().unary)
    }
}

fn check_inst(case: &mut Case) {
    let row = case.row;
    if row.since > case.target.generation {
        let (since, target) = (row.since, case.target.name);
        case.report_whole(OperandMistake::Unsupported { since, target });
        return;
    }
    if !row.engines.contains(&case.inst.engine) {
        let (engine, takes) = (case.inst.engine, row.engines);
        case.report_whole(OperandMistake::WrongEngine { engine, takes });
    }
    let n_errors = case.errors.count;
    for position in 0..row.operands.len() {
        check_operand(case, position);
    }
    // Operands that are not what the row says have no shapes to compare.
    if case.errors.count == n_errors {
        for &rule in row.rules {
            rules::check(case, rule);
        }
        overlap::check(case);
    }
}

fn check_operand(case: &mut Case, position: usize) {
    let operand = &case.row.operands[position];
    let arg = case.inst.args[position];
    let mistake = match (operand.kind, arg) {
        (_, Arg::Absent) if operand.default == Some(Arg::Absent) => None,
        (Kind::ColumnOrScalar(_), Arg::Absent) if case.follows_unary_operator(position) => None,
        (_, Arg::Absent) => Some(OperandMistake::Missing),
        (
            Kind::Tile(tile) | Kind::TileOrScalar(tile) | Kind::Column(tile) | Kind::ColumnOrScalar(tile),
            Arg::View(id),
        ) => {
            let facts = case.facts[id.index()];
            let is_column = matches!(operand.kind, Kind::Column(_) | Kind::ColumnOrScalar(_));
            if facts.is_bad || (facts.is_bad_for_engines && case.row.unit == Unit::Engine) {
                check_bad_view(case, position, &facts);
            }
            if case.program[id].dynamic.is_some() {
                dynamic::check(case, position);
            }
            if !tile.memories.contains(&facts.memory) {
                let (memory, takes) = (facts.memory, tile.memories);
                Some(OperandMistake::WrongMemory { memory, takes })
            } else if !tile.dtypes.contains(facts.dtype) {
                let (dtype, takes) = (facts.dtype, tile.dtypes);
                Some(OperandMistake::WrongDtype { dtype, takes })
            } else if is_column && facts.free != 1 {
                Some(OperandMistake::NotColumn { free: facts.free })
            } else {
                None
            }
        }
        (Kind::Tile(_) | Kind::Column(_), Arg::Float(_) | Arg::Int(_) | Arg::Uint(_) | Arg::Bool(_)) => {
            Some(OperandMistake::NeedsTile)
        }
        (
            Kind::ColumnOrScalar(_) | Kind::TileOrScalar(_) | Kind::Scalar,
            Arg::Float(_) | Arg::Int(_) | Arg::Uint(_) | Arg::Bool(_),
        ) => None,
        (Kind::Alu(takes), Arg::Alu(op)) => {
            let operator = op.name();
            (!takes.contains(op)).then_some(OperandMistake::WrongOperator { operator, takes })
        }
        (Kind::Act, Arg::Act(_))
        | (Kind::ReduceCmd, Arg::ReduceCmd(_))
        | (Kind::Bool, Arg::Bool(_))
        | (Kind::Int, Arg::Int(_))
        | (Kind::Pattern, Arg::Pattern(_))
        | (Kind::Axes, Arg::Axes(_))
        | (Kind::Pair, Arg::Pair(..))
        | (Kind::Shuffle, Arg::Shuffle(..))
        | (Kind::Accumulate, Arg::Accumulate(_))
        | (Kind::Register | Kind::RegisterOrInt, Arg::Register(_))
        | (Kind::RegisterOrInt, Arg::Int(_))
        | (Kind::Exchange, Arg::Exchange(_))
        | (Kind::Ranks, Arg::Ranks(_))
        | (Kind::OobMode, Arg::OobMode(_)) => None,
        _ => Some(OperandMistake::WrongKind),
    };
    if let Some(mistake) = mistake {
        case.report(position, mistake);
    }
}

#[cold]
fn check_bad_view(case: &mut Case, position: usize, facts: &Facts) {
    let Arg::View(id) = case.inst.args[position] else {
        return;
    };
    let view = &case.program[id];
    let mut mistakes = facts::mistakes(view, facts, case.program);
    if case.row.unit == Unit::Engine && mistakes.is_empty() {
        mistakes = facts::pattern_mistakes(view, facts, case.program, case.target);
    }
    for mistake in mistakes {
        case.report(position, mistake);
    }
}

/// The errors so far. The iterations of a loop that make one mistake share one error.
struct Errors<'p> {
    program: &'p Program,
    list: Vec<Error>,
    /// Mistakes reported, repeated ones included.
    count: usize,
    /// Errors with a span, by code, operand and span.
    known: FxHashMap<(&'static str, Option<usize>, Span), usize>,
}

impl<'p> Errors<'p> {
    fn new(program: &'p Program) -> Errors<'p> {
        Errors {
            program,
            list: Vec::new(),
            count: 0,
            known: FxHashMap::default(),
        }
    }

    fn add_inst(&mut self, inst: &Inst, position: Option<usize>, mistake: Mistake) {
        self.count += 1;
        let span = self.program.span(inst.loc);
        if let Some(span) = span {
            let key = (mistake.code(), position, span);
            if let Some(&known) = self.known.get(&key) {
                self.list[known].place.more += 1;
                return;
            }
            self.known.insert(key, self.list.len());
        }
        let row = inst.op.row();
        self.list.push(Error {
            subject: Subject::Inst {
                op: inst.op,
                operand: position.map(|it| row.operands[it].name),
            },
            place: Place {
                tensor: position.and_then(|it| self.tensor(inst, it)),
                ..self.place(inst.loc, text::print_inst(self.program, inst))
            },
            mistake,
        });
    }

    fn add_buffer(&mut self, buffer: &Buffer, mistake: impl Into<Mistake>) {
        self.count += 1;
        let name = buffer.name.to_string();
        self.list.push(Error {
            place: self.place(buffer.loc, name.clone()),
            subject: Subject::Buffer(name),
            mistake: mistake.into(),
        });
    }

    fn place(&self, loc: Option<LocId>, text: String) -> Place {
        let mut callers = Vec::new();
        let mut around = None;
        for loc in self.program.locs.around(loc).skip(1) {
            match loc.frame {
                Frame::Call => callers.push(loc.span),
                Frame::Iteration(_) => around = around.or(Some(loc.span)),
                Frame::Here => {}
            }
        }
        Place {
            span: self.program.span(loc),
            callers,
            text,
            more: 0,
            around,
            tensor: None,
        }
    }

    /// The tensor of an operand, and where it is allocated.
    fn tensor(&self, inst: &Inst, position: usize) -> Option<(String, Span)> {
        let Arg::View(view) = inst.args[position] else {
            return None;
        };
        let buffer = &self.program[self.program[view].buffer];
        let text = format!("{}: {}{:?}", buffer.name, buffer.dtype.name(), buffer.shape);
        Some((text, self.program.span(buffer.loc)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Report, render};
    use crate::ir::{Loc, Region};
    use crate::source::Sources;
    use crate::text::parse;

    /// `for i in range(3): step(i)` makes one mistake in each iteration.
    #[test]
    fn iterations_of_a_loop_share_one_error() {
        let mut sources = Sources::new();
        let inst = "  %y <- tensor_copy %x[0:64, 0:4]\n";
        let nir = format!(
            "kernel %f for trainium1\nbuf %x: f32[128, 4] @ sbuf\nbuf %y: f32[128, 4] @ sbuf\nbody {{\n{}}}\n",
            inst.repeat(3)
        );
        let text = sources.add("text.nir", nir);
        let mut program = parse(&sources, text).expect("a correct text").program;
        let source = "def step(i):\n    nisa.tensor_copy(y, x[0:64])\n\nfor i in range(3):\n    step(i)\n";
        let file = sources.add("kernel.py", source);
        let place = |text: &str| {
            let start = source.find(text).expect("the source has it");
            Span::new(file, start, start + text.len())
        };
        for idx in 0..3 {
            let (body, call, iteration) = (
                place("nisa.tensor_copy(y, x[0:64])"),
                place("step(i)\n"),
                place("for"),
            );
            let mut parent = None;
            for (span, frame) in [
                (iteration, Frame::Iteration(idx)),
                (call, Frame::Call),
                (body, Frame::Here),
            ] {
                parent = Some(program.locs.add(Loc { span, parent, frame }));
            }
            program.insts[idx as usize].loc = parent;
        }
        let target = Target::from_name(program.target).expect("a known target");
        let errors = verify(&program, target);
        assert_eq!(errors.len(), 1);
        let shown = render(&[errors[0].report()], &sources);
        assert!(shown.contains("and in 2 more iterations of this loop"), "{shown}");
        assert!(shown.contains("called from here"), "{shown}");
        program.insts[0].loc = None;
        let errors = verify(&program, target);
        let shown = render(&[errors[0].report()], &sources);
        assert!(shown.contains("in `%y <- tensor_copy %x[0:64, 0:4]`"), "{shown}");
    }
    /// What no text can say: an operand of another kind, a region of another memory.
    #[test]
    fn tables_that_disagree_are_errors() {
        let mut sources = Sources::new();
        let text = sources.add(
            "text.nir",
            "kernel %f for trainium1\nbuf %x: f32[128, 4] @ sbuf[0:128, 0x0:0x10]\nbody {\n  %x <- memset value=0.0\n}\n",
        );
        let parsed = parse(&sources, text).expect("a correct text");
        let (mut program, mut placement) = (parsed.program, parsed.placement.expect("placed"));
        let target = Target::from_name(program.target).expect("a known target");
        assert!(verify(&program, target).is_empty());
        assert!(verify_placed(&program, &placement, target).is_empty());
        program.insts[0].args[1] = Arg::Axes(1);
        assert_eq!(verify(&program, target)[0].mistake.code(), "wrong-operand");
        placement.regions[0] = Region::Hbm { address: 0 };
        let errors = verify_placed(&program, &placement, target);
        assert_eq!(errors[0].mistake.code(), "wrong-region");
    }
}
