//! The oracle: what every instruction computes, in plain loops.
//!
//! Takes a placed program, a memory and an instruction, and executes it: all operands are read, then all results are
//! written. Never fast, never clever; compiled code must leave the same bits in memory. Numeric choices that `isa.md` §8
//! leaves open are made in this module and its children, and nowhere else.

pub mod cast;
pub mod rounding;
pub mod alu;
mod elementwise;
mod scalar;
mod matrix;
mod dynamic;
mod accumulate;
mod search;
mod statistics;
mod gather;
mod random;

use crate::access::Access;
use crate::fault::Fault;
use crate::memory::Memory;
use cast::{decode, encode};
use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{FirstWrite, Inst, InstId, Program};
use nk_compiler::isa::{AluClass, AluOp, Arg, MAX_ARGS, Op, ReduceCmd};

/// What an instruction is executed on.
pub struct Core<'a> {
    pub memory: &'a mut Memory,
    pub program: &'a Program,
    /// Every view of the program, resolved.
    pub accesses: &'a [Access],
    /// The views of the instruction at hand that indices have moved, by number, in place of those.
    pub moved: Vec<(usize, Access)>,
    /// What stochastic rounding starts from for the instruction at hand; `None` rounds to nearest.
    pub random: Option<u64>,
    /// Where inputs outside of a function's range are counted, if the instruction has such a function.
    pub counter: Option<u64>,
    pub registers: &'a mut [i32],
}

/// The elements of a view as raw bits, in access order.
struct Tile {
    dtype: Dtype,
    /// Elements per partition on chip.
    row: usize,
    raw: Vec<u32>,
}

impl Tile {
    fn value(&self, idx: usize) -> f32 {
        decode(self.dtype, self.raw[idx])
    }
}

/// A second operand: one value per element, per partition or for all.
enum Operand {
    Tile(Tile),
    Column(Tile),
    Immediate { value: f32, bits: u32 },
}

impl Operand {
    /// Its value for element `idx` of partition `p`.
    fn value(&self, p: usize, idx: usize) -> f32 {
        match self {
            Operand::Tile(tile) => tile.value(idx),
            Operand::Column(tile) => tile.value(p),
            Operand::Immediate { value, .. } => *value,
        }
    }

    fn bits(&self, p: usize, idx: usize) -> u32 {
        match self {
            Operand::Tile(tile) => tile.raw[idx],
            Operand::Column(tile) => tile.raw[p],
            Operand::Immediate { bits, .. } => *bits,
        }
    }
}

type Args = [Arg; MAX_ARGS];

/// An operand that the row says is an integer.
pub fn integer(arg: &Arg) -> i32 {
    match arg {
        Arg::Int(value) => *value,
        Arg::Uint(value) => *value as i32,
        _ => panic!("a verified integer operand is an integer"),
    }
}

/// An operand that the row says is an operator.
pub fn alu_op(arg: &Arg) -> AluOp {
    let Arg::Alu(op) = arg else {
        panic!("a verified operator is an operator")
    };
    *op
}

/// Whether an operator works on bit patterns.
pub fn is_bits(op: AluOp) -> bool {
    op.facts().class == AluClass::Bits
}

/// An operand that the row says is a flag.
pub fn flag(arg: &Arg) -> bool {
    *arg == Arg::Bool(true)
}

/// Executes one instruction. `first` lists the PSUM words that a matmul with `accumulate=auto` overwrites.
pub fn execute(core: &mut Core, id: InstId, first: &[FirstWrite]) -> Result<(), Fault> {
    let inst = &core.program[id];
    if core.program.is_static() {
        execute_static(core, inst, first);
        return Ok(());
    }
    dynamic::execute(core, inst, first).map_err(|index| Fault::Index { inst: id, index })
}

/// Executes an instruction all of whose addresses are known.
fn execute_static(core: &mut Core, inst: &Inst, first: &[FirstWrite]) {
    let args = &inst.args;
    match inst.op {
        Op::RegisterMove | Op::RegisterLoad | Op::RegisterStore => dynamic::register(core, inst),
        Op::DmaCopy | Op::TensorCopy => copy(core, args),
        Op::DmaTranspose => dma_transpose(core, args),
        Op::Memset => memset(core, args),
        Op::Iota => iota(core, args),
        Op::NcMatmul => matrix::matmul(core, args, first),
        Op::NcTranspose => matrix::transpose(core, args, inst.engine),
        Op::TensorTensor => elementwise::tensor_tensor(core, args, inst.engine),
        Op::TensorScalar => elementwise::tensor_scalar(core, args),
        Op::ScalarTensorTensor => elementwise::scalar_tensor_tensor(core, args),
        Op::TensorReduce => elementwise::tensor_reduce(core, args),
        Op::Activation => {
            let [dst, function, data, bias, scale, _op, result, cmd, ..] = args;
            let Arg::ReduceCmd(cmd) = cmd else {
                panic!("reduce_cmd has a default")
            };
            scalar::activation(core, [dst, function, data, bias, scale, result], *cmd);
        }
        Op::ActivationReduce => {
            let [dst, function, data, _op, result, bias, scale, ..] = args;
            scalar::activation(
                core,
                [dst, function, data, bias, scale, result],
                ReduceCmd::ResetReduce,
            );
        }
        Op::Reciprocal => {
            let data = core.tile(&args[1]);
            core.write_values(&args[0], (0..data.raw.len()).map(|idx| 1.0 / data.value(idx)));
        }
        Op::AffineSelect => elementwise::affine_select(core, args),
        Op::TensorCopyPredicated => elementwise::copy_predicated(core, args),
        Op::TensorScalarReduce => accumulate::tensor_scalar_reduce(core, args),
        Op::TensorScalarCumulative => accumulate::tensor_scalar_cumulative(core, args),
        Op::TensorTensorScan => accumulate::tensor_tensor_scan(core, args),
        Op::SelectReduce => accumulate::select_reduce(core, args),
        Op::TensorPartitionReduce => statistics::partition_reduce(core, args),
        Op::BnStats => statistics::bn_stats(core, args),
        Op::BnAggr => statistics::bn_aggr(core, args),
        Op::SequenceBounds => search::sequence_bounds(core, args),
        Op::Max8 => search::max8(core, args),
        Op::NcFindIndex8 => search::find_index8(core, args),
        Op::NcMatchReplace8 => search::match_replace8(core, args),
        Op::NcStreamShuffle => gather::stream_shuffle(core, args),
        Op::LocalGather => gather::local_gather(core, args),
        Op::NcNGather => gather::n_gather(core, args),
        Op::Dropout => random::dropout(core, args),
        Op::Rng => random::rng(core, args),
        Op::SetRngSeed => random::set_seed(core, args),
        Op::DmaCompute => dma_compute(core, inst),
        Op::Collective => unreachable!("the machine runs collectives"),
    }
}

impl Core<'_> {
    fn access(&self, arg: &Arg) -> &Access {
        let Arg::View(id) = arg else {
            panic!("a verified operand is a view")
        };
        let moved = self.moved.iter().find(|it| it.0 == id.index());
        moved.map_or(&self.accesses[id.index()], |it| &it.1)
    }

    fn tile(&self, arg: &Arg) -> Tile {
        let access = self.access(arg);
        let size = access.dtype.size();
        Tile {
            dtype: access.dtype,
            row: if access.space.is_on_chip() {
                access.free_count() as usize
            } else {
                0
            },
            raw: access
                .offsets()
                .into_iter()
                .map(|it| self.memory.word(it, size))
                .collect(),
        }
    }

    /// A column or tile (told apart by `column`) or an immediate; `dtype` is that of the data beside it.
    fn operand(&self, arg: &Arg, column: bool, op: AluOp) -> Operand {
        match arg {
            Arg::View(_) if column => Operand::Column(self.tile(arg)),
            Arg::View(_) => Operand::Tile(self.tile(arg)),
            // A unary operator ignores it.
            Arg::Absent => Operand::Immediate { value: 0.0, bits: 0 },
            _ if is_bits(op) => Operand::Immediate {
                value: 0.0,
                bits: cast::immediate_bits(arg),
            },
            _ => Operand::Immediate {
                value: cast::immediate(arg),
                bits: 0,
            },
        }
    }

    /// The affine values of `iota` and `affine_select` for each element of `dst`; partitions count from the first one of
    /// the view, and sums wrap.
    fn pattern(&self, dst: &Arg, pattern: &Arg, offset: &Arg, multiplier: &Arg) -> Vec<i32> {
        let Arg::Pattern(id) = pattern else {
            panic!("a verified pattern is a pattern")
        };
        let (offset, multiplier) = (integer(offset), integer(multiplier));
        let partitions = self.access(dst).partitions() as i32;
        let mut values: Vec<i32> = (0..partitions)
            .map(|p| offset.wrapping_add(p.wrapping_mul(multiplier)))
            .collect();
        for dim in &self.program[*id].0 {
            let steps = 0..dim.count as i32;
            let inner = |&at: &i32| {
                steps
                    .clone()
                    .map(move |idx| at.wrapping_add(idx.wrapping_mul(dim.stride)))
            };
            values = values.iter().flat_map(inner).collect();
        }
        values
    }

    fn write(&mut self, arg: &Arg, raw: impl IntoIterator<Item = u32>) {
        let access = self.access(arg);
        let (size, offsets) = (access.dtype.size(), access.offsets());
        for (at, word) in offsets.into_iter().zip(raw) {
            self.memory.set_word(at, size, word);
        }
    }

    /// Casts computed values to the destination's dtype and writes them.
    fn write_values(&mut self, arg: &Arg, values: impl IntoIterator<Item = f32>) {
        self.write_values_from(arg, values, 0);
    }

    /// The same for elements that are numbered from `first` on in stochastic rounding.
    fn write_values_from(&mut self, arg: &Arg, values: impl IntoIterator<Item = f32>, first: u64) {
        let dtype = self.access(arg).dtype;
        let element = |(index, value): (u64, f32)| self.encoded(dtype, value, index);
        let raw: Vec<u32> = (first..).zip(values).map(element).collect();
        self.write(arg, raw);
    }

    /// The bits of a computed value, which is element `index` of its destination.
    fn encoded(&self, dtype: Dtype, value: f32, index: u64) -> u32 {
        match self.random {
            Some(key) if rounding::applies(dtype) => {
                cast::encode_random(dtype, value, rounding::bits(key, index))
            }
            _ => encode(dtype, value),
        }
    }
}

fn copy(core: &mut Core, args: &Args) {
    let src = core.tile(&args[1]);
    if core.access(&args[0]).dtype == src.dtype {
        core.write(&args[0], src.raw);
    } else {
        core.write_values(&args[0], (0..src.raw.len()).map(|it| src.value(it)));
    }
}

fn dma_transpose(core: &mut Core, args: &Args) {
    let mut src = core.access(&args[1]).clone();
    permute(&mut src.axes);
    let size = src.dtype.size();
    let raw: Vec<u32> = src
        .offsets()
        .into_iter()
        .map(|it| core.memory.word(it, size))
        .collect();
    core.write(&args[0], raw);
}

/// dst = the sum of the sources in f32, from the left.
fn dma_compute(core: &mut Core, inst: &Inst) {
    let sources: Vec<Tile> = inst.args[1..]
        .iter()
        .filter(|it| matches!(it, Arg::View(_)))
        .map(|it| core.tile(it))
        .collect();
    let (first, rest) = sources.split_first().expect("the first source is required");
    let sum = |idx: usize| rest.iter().fold(first.value(idx), |sum, it| sum + it.value(idx));
    core.write_values(&inst.args[0], (0..first.raw.len()).map(sum));
}

/// Puts the axes of a DMA transpose's source in the destination's order.
pub fn permute<T: Copy>(axes: &mut [T]) {
    match axes {
        [a, b] => std::mem::swap(a, b),
        [a, _, c] => std::mem::swap(a, c),
        [a, b, c, d] => (*a, *b, *c, *d) = (*d, *b, *c, *a),
        _ => panic!("a verified dma_transpose has two to four axes"),
    }
}

fn memset(core: &mut Core, args: &Args) {
    let dst = core.access(&args[0]);
    let word = cast::immediate_as(dst.dtype, &args[1]);
    core.write(&args[0], std::iter::repeat(word));
}

fn iota(core: &mut Core, args: &Args) {
    let [dst, pattern, offset, multiplier, ..] = args;
    let dtype = core.access(dst).dtype;
    let values = core.pattern(dst, pattern, offset, multiplier);
    core.write(
        dst,
        values
            .into_iter()
            .map(|it| cast::encode_integer(dtype, it.into())),
    );
}
