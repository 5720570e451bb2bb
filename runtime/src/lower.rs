//! From instructions to calls: compiled code per shape class, or a matrix kernel, with its arguments.
//!
//! Takes a placed program with its views resolved, gives a flat table of calls and the classes that need code. Never runs
//! Cranelift's back end. Two instructions share a class when they differ in offsets and immediates only.
//!
//! An instruction reads all its operands before it writes. Code works row by row, so an operand that shares bytes with dst
//! without being the same view is copied to the stage window first, or the same view of which an element comes twice; so is
//! one whose shape has no loops in common with the others.

pub mod helper;
mod alu;
mod dynamic;
mod copy;
mod describe;
mod elementwise;
pub mod emit;
mod map;
mod matrix;
mod nest;
mod reduce;
mod row;
mod accumulate;
mod tile;

use crate::access::{Access, Axis, Movement};
use crate::kernels::{Bulk, Identity, MatrixProduct, RowMove, RowSum, TileKernel, Turn};
use crate::memory::{Layout, counts, padded};
use crate::reference::permute;
use crate::reference::rounding::{self, Rounding};
use cranelift::codegen::isa::TargetFrontendConfig;
use cranelift::prelude::FunctionBuilder;
use nest::Loop;
use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{FirstWrite, FirstWrites, Inst, InstId, Program};
use nk_compiler::isa::{Arg, Memory as Space, Op, ReduceCmd};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What one compiled function does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    Copy(copy::Copy),
    Fill(copy::Fill),
    Map(map::Map),
    Reduce(reduce::Reduce),
}

impl Class {
    /// Whether the last argument is the key of random rounding, which is no address.
    pub fn has_key(&self) -> bool {
        match self {
            Class::Copy(_) | Class::Fill(_) => false,
            Class::Map(it) => it.is_random || it.body.has_random_result(),
            Class::Reduce(it) => it.is_random,
        }
    }

    /// Makes the body of its function.
    pub fn emit(&self, b: FunctionBuilder, layout: &Layout, config: TargetFrontendConfig) {
        let mut emitter = emit::Emitter::new(b, layout);
        match self {
            Class::Copy(it) => it.emit(&mut emitter),
            Class::Fill(it) => it.emit(&mut emitter),
            Class::Map(it) => it.emit(&mut emitter),
            Class::Reduce(it) => it.emit(&mut emitter),
        }
        emitter.finish(config);
    }
}

/// One entry of the table.
#[derive(Debug)]
pub enum Call {
    /// The code of a class, with its arguments' position in the list of words.
    Code {
        class: usize,
        args: usize,
        n_args: usize,
    },
    Bulk(Box<Bulk>),
    Turn(Box<Turn>),
    Product(Box<MatrixProduct>),
    Identity(Box<Identity>),
    Rows(Box<RowMove>),
    RowSum(Box<RowSum>),
    /// A kernel whose tiles are never moved: those of dynamic operands are in the stage window.
    Tile(Box<dyn TileKernel>),
    /// Sets a register.
    Register(RegisterCall),
}

/// An instruction of the sequencers.
#[derive(Clone, Copy, Debug)]
pub enum RegisterCall {
    Set { register: usize, value: i32 },
    Move { register: usize, from: usize },
    Load { register: usize, at: u64, dtype: Dtype },
    Store { at: u64, dtype: Dtype, register: usize },
}

/// A program as a table of calls.
#[derive(Debug, Default)]
pub struct Table {
    pub classes: Vec<Class>,
    /// The name of the first instruction of each class.
    pub names: Vec<&'static str>,
    pub calls: Vec<Call>,
    pub args: Vec<u64>,
    /// The calls of each instruction.
    pub spans: Vec<Range<usize>>,
    /// The views of each instruction that are moved as a whole, for those that have some.
    pub moved: FxHashMap<InstId, Moved>,
    /// What the stage window must hold.
    pub stage_bytes: u64,
}

/// What moves the operands of an instruction.
#[derive(Clone, Debug)]
pub struct Moved {
    pub movements: Vec<Movement>,
    /// Leaves the instruction out when an index is out of bounds.
    pub skips: bool,
}

/// How the rows of a tile lie in the stage window.
#[derive(Clone, Copy)]
enum StagedRows {
    Packed,
    /// At a pitch like that of partitions.
    Padded,
}

/// Transpositions of at least so many rows and columns are made by a kernel.
const MIN_TURN: u32 = 8;

/// Runs of at least this many bytes are copied by a kernel.
const BULK: i64 = 64;

/// Makes the table of a program. `accesses` are its views, resolved.
pub fn lower(
    program: &Program,
    accesses: &[Access],
    first: &FirstWrites,
    layout: &Layout,
    rounding: Rounding,
) -> Table {
    let mut lowering = Lowering {
        program,
        accesses,
        layout,
        table: Table::default(),
        ids: FxHashMap::default(),
        staged: 0,
        n_counting: 0,
        random: None,
        name: "",
    };
    let mut firsts = first.ranges.iter().peekable();
    for (id, inst) in program.iter() {
        let start = lowering.table.calls.len();
        let first = firsts.next_if(|it| it.0 == id).map_or(&[][..], |it| &it.1);
        lowering.staged = 0;
        lowering.name = inst.op.name();
        if let Rounding::Stochastic { seed } = rounding {
            lowering.random = Some(rounding::key(seed, id));
        }
        lowering.inst(inst, first);
        lowering.n_counting += u64::from(counts(inst));
        if !program.is_static() {
            lowering.note_movements(id, inst);
        }
        let end = lowering.table.calls.len();
        lowering.table.spans.push(start..end);
    }
    lowering.table
}

struct Lowering<'a> {
    program: &'a Program,
    accesses: &'a [Access],
    layout: &'a Layout,
    table: Table,
    ids: FxHashMap<Class, usize>,
    /// Bytes of the stage window that the instruction at hand uses.
    staged: u64,
    /// Instructions so far that have a counter.
    n_counting: u64,
    /// What stochastic rounding starts from for the instruction at hand; `None` rounds to nearest.
    random: Option<u64>,
    name: &'static str,
}

impl<'a> Lowering<'a> {
    fn inst(&mut self, inst: &Inst, first: &[FirstWrite]) {
        let args = &inst.args;
        match inst.op {
            Op::DmaCopy if args[..2].iter().any(|it| self.access(it).has_row_indices()) => {
                self.move_rows(args);
            }
            Op::DmaCopy | Op::TensorCopy => self.convert(self.access(&args[0]), self.access(&args[1])),
            Op::RegisterMove | Op::RegisterLoad | Op::RegisterStore => self.register(inst),
            Op::DmaTranspose => self.convert_turned(self.access(&args[0]), self.access(&args[1]), permute),
            Op::Memset => self.memset(args),
            Op::Iota => self.iota(args),
            Op::NcMatmul => self.matmul(args, first),
            Op::NcTranspose => self.transpose(args, inst.engine),
            Op::TensorTensor => self.tensor_tensor(args, inst.engine),
            Op::TensorScalar => self.tensor_scalar(args),
            Op::ScalarTensorTensor => self.scalar_tensor_tensor(args),
            Op::TensorReduce => self.tensor_reduce(args),
            Op::Activation => {
                let [dst, function, data, bias, scale, _op, result, cmd, ..] = args;
                let Arg::ReduceCmd(cmd) = cmd else {
                    panic!("reduce_cmd has a default")
                };
                self.activation([dst, function, data, bias, scale, result], *cmd);
            }
            Op::ActivationReduce => {
                let [dst, function, data, _op, result, bias, scale, ..] = args;
                self.activation([dst, function, data, bias, scale, result], ReduceCmd::ResetReduce);
            }
            Op::Reciprocal => self.reciprocal(args),
            Op::AffineSelect => self.affine_select(args),
            Op::TensorCopyPredicated => self.copy_predicated(args),
            Op::TensorScalarReduce => self.tensor_scalar_reduce(args),
            Op::TensorScalarCumulative => self.tensor_scalar_cumulative(args),
            Op::TensorTensorScan => self.tensor_tensor_scan(args),
            Op::TensorPartitionReduce => self.partition_reduce(args),
            Op::SelectReduce => self.select_reduce(args),
            Op::SequenceBounds => self.sequence_bounds(args),
            Op::BnStats => self.bn_stats(args),
            Op::BnAggr => self.bn_aggr(args),
            Op::Max8 => self.max8(args),
            Op::NcFindIndex8 => self.find_index8(args),
            Op::NcMatchReplace8 => self.match_replace8(args),
            Op::NcStreamShuffle => self.stream_shuffle(args),
            Op::LocalGather => self.local_gather(args),
            Op::NcNGather => self.n_gather(args),
            Op::Dropout => self.dropout(args),
            Op::Rng => self.rng(args),
            Op::SetRngSeed => self.set_rng_seed(args),
            Op::DmaCompute
                if inst
                    .views()
                    .any(|it| self.accesses[it.1.index()].has_row_indices()) =>
            {
                self.sum_rows(inst);
            }
            Op::DmaCompute => self.dma_compute(args),
            // The machine runs it: it may have to wait.
            Op::Collective => {}
        }
    }

    fn access(&self, arg: &Arg) -> &'a Access {
        let Arg::View(id) = arg else {
            panic!("a verified operand is a view")
        };
        &self.accesses[id.index()]
    }

    /// Adds a call of a class's code.
    fn code(&mut self, class: Class, args: &[u64]) {
        let table = &mut self.table;
        let next = table.classes.len();
        let id = *self.ids.entry(class).or_insert_with_key(|class| {
            table.classes.push(class.clone());
            table.names.push(self.name);
            next
        });
        table.calls.push(Call::Code {
            class: id,
            args: table.args.len(),
            n_args: args.len(),
        });
        table.args.extend_from_slice(args);
    }

    /// Room for a tile in the stage window, its elements in row-major order; the first axis may be padded like partitions.
    fn stage(
        &mut self,
        dtype: Dtype,
        counts: impl DoubleEndedIterator<Item = u32>,
        rows: StagedRows,
    ) -> Access {
        let mut bytes = u64::from(dtype.size());
        let mut axes = Vec::new();
        for count in counts.rev() {
            axes.push(Axis {
                count,
                stride: bytes as i64,
            });
            bytes *= u64::from(count);
        }
        axes.reverse();
        if let (StagedRows::Padded, [first, ..]) = (rows, &mut axes[..]) {
            first.stride = padded(first.stride as u64) as i64;
            bytes = first.stride as u64 * u64::from(first.count);
        }
        let start = self.layout.stage + self.staged;
        self.staged += padded(bytes);
        self.table.stage_bytes = self.table.stage_bytes.max(self.staged);
        Access::staged(dtype, start, axes)
    }

    /// A copy of a tile in the stage window.
    fn staged_copy(&mut self, src: &Access, rows: StagedRows) -> Access {
        let copy = self.stage(src.dtype, src.axes.iter().map(|it| it.count), rows);
        self.move_elements(&copy, src);
        copy
    }

    /// dst = src, with a cast between different dtypes.
    fn convert(&mut self, dst: &Access, src: &Access) {
        if dst.same_elements(src) && dst.dtype == src.dtype {
            return;
        }
        if dst.overlaps(src) && !dst.same_elements(src) {
            let copy = self.staged_copy(src, StagedRows::Packed);
            return self.convert_apart(dst, &copy);
        }
        self.convert_apart(dst, src);
    }

    /// dst = src with the axes of src in another order.
    fn convert_turned(&mut self, dst: &Access, src: &Access, turn: impl FnOnce(&mut [Axis])) {
        let mut src = if dst.overlaps(src) {
            self.staged_copy(src, StagedRows::Packed)
        } else {
            src.clone()
        };
        turn(&mut src.axes);
        self.convert_apart(dst, &src);
    }

    /// dst = src for views that share no byte, or all of them.
    fn convert_apart(&mut self, dst: &Access, src: &Access) {
        if dst.dtype == src.dtype {
            return self.move_elements(dst, src);
        }
        self.cast_apart(dst, src);
    }

    /// dst = src through f32, also between equal dtypes, for views that share no byte, or all of them.
    fn cast_apart(&mut self, dst: &Access, src: &Access) {
        self.flat(dst, [src], map::Body::Cast);
    }

    /// An element-wise body over tiles of any memory, partitions being an axis like the others. Views share no byte with
    /// dst, or all of them.
    fn flat<const N: usize>(&mut self, dst: &Access, sources: [&Access; N], body: map::Body) {
        let mut axes = vec![&dst.axes[..]];
        axes.extend(sources.iter().map(|it| &it.axes[..]));
        let Some(loops) = nest::refine(&axes) else {
            // Contiguous tiles share loops with any shape.
            let packed = sources.map(|it| self.staged_copy(it, StagedRows::Packed));
            let middle = self.stage(dst.dtype, dst.axes.iter().map(|it| it.count), StagedRows::Packed);
            self.flat(&middle, packed.each_ref(), body);
            return self.move_elements(dst, &middle);
        };
        let key = self.random.filter(|_| rounding::applies(dst.dtype));
        let map = map::Map {
            partitions: 1,
            loops,
            dst: dst.dtype,
            dst_pitch: 0,
            sources: sources
                .iter()
                .map(|it| map::Source::Tile {
                    dtype: it.dtype,
                    pitch: 0,
                })
                .collect(),
            body,
            is_random: key.is_some(),
        };
        let mut args = vec![dst.address()];
        args.extend(sources.iter().map(|it| it.address()));
        args.extend(key);
        self.code(Class::Map(map), &args);
    }

    /// Moves elements between views that share no byte.
    fn move_elements(&mut self, dst: &Access, src: &Access) {
        let Some(loops) = nest::refine(&[&dst.axes, &src.axes]) else {
            let middle = self.stage(dst.dtype, dst.axes.iter().map(|it| it.count), StagedRows::Packed);
            self.move_elements(&middle, src);
            return self.move_elements(dst, &middle);
        };
        let size = dst.dtype.size();
        if let Some(turn) = as_turn(&loops, size, dst.address(), src.address()) {
            return self.table.calls.push(Call::Turn(Box::new(turn)));
        }
        match loops.split_last() {
            Some((run, outer)) if is_bulk(run, size, dst, src) => {
                self.table.calls.push(Call::Bulk(Box::new(Bulk {
                    dst: dst.address(),
                    src: src.address(),
                    bytes: run.count as usize * size as usize,
                    loops: outer
                        .iter()
                        .map(|it| (it.count, it.strides[0], it.strides[1]))
                        .collect(),
                })));
            }
            _ => self.code(
                Class::Copy(copy::Copy { size, loops }),
                &[dst.address(), src.address()],
            ),
        }
    }
}

/// The copy as a transposition, if its two innermost loops walk along the rows of one side and the columns of the other.
fn as_turn(loops: &[Loop], size: u32, dst: u64, src: u64) -> Option<Turn> {
    let [outer @ .., a, b] = loops else { return None };
    // Operand 0 is dst, 1 is src: which of the two loops is contiguous in which.
    let (rows, columns) = if b.strides[0] == 4 && a.strides[1] == 4 {
        (b, a)
    } else if a.strides[0] == 4 && b.strides[1] == 4 {
        (a, b)
    } else {
        return None;
    };
    let pitch = |stride: i64| usize::try_from(stride / 4).ok().filter(|_| stride % 4 == 0);
    let (dst_pitch, src_pitch) = (pitch(columns.strides[0])?, pitch(rows.strides[1])?);
    let is_large = rows.count.min(columns.count) >= MIN_TURN;
    // The kernel goes block by block. Where rows of dst overlap, the last element in row-major order has to win.
    let is_apart = rows.count as usize <= dst_pitch;
    (size == 4 && is_large && is_apart).then(|| Turn {
        dst,
        src,
        rows: rows.count as usize,
        columns: columns.count as usize,
        dst_pitch,
        src_pitch,
        loops: outer
            .iter()
            .map(|it| (it.count, it.strides[0], it.strides[1]))
            .collect(),
    })
}

/// Whether a copy moves long runs to or from HBM.
fn is_bulk(run: &Loop, size: u32, dst: &Access, src: &Access) -> bool {
    let size = i64::from(size);
    let touches_hbm = dst.space == Space::Hbm || src.space == Space::Hbm;
    touches_hbm && run.strides[..2] == [size, size] && i64::from(run.count) * size >= BULK
}
