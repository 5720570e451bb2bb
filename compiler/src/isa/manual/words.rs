//! Operands, limits and costs in words.

use crate::isa::{
    ALU_OPS, Access, Accumulate, AluClass, Arg, Basis, Cost, EXCHANGES, Kind, Operand, ReduceCmd, Row, Rule,
    Tile, Unit,
};

/// A default as Python writes it.
pub fn default(arg: Arg, kind: Kind) -> String {
    match arg {
        _ if matches!(kind, Kind::Accumulate) => "None".to_string(),
        Arg::Float(value) => format!("{value:?}"),
        Arg::Int(value) => value.to_string(),
        Arg::Uint(value) => value.to_string(),
        Arg::Bool(true) => "True".to_string(),
        Arg::Bool(false) => "False".to_string(),
        Arg::Alu(op) => format!("nl.{}", op.name()),
        Arg::Act(op) => format!("nl.{}", op.name()),
        Arg::ReduceCmd(cmd) => format!("nisa.reduce_cmd.{}", cmd.name()),
        Arg::Accumulate(Accumulate::Overwrite) => "False".to_string(),
        Arg::Accumulate(Accumulate::Add) => "True".to_string(),
        Arg::OobMode(mode) => format!("nisa.oob_mode.{}", mode.name()),
        Arg::Pair(a, b) => format!("({a}, {b})"),
        Arg::Absent
        | Arg::View(_)
        | Arg::Pattern(_)
        | Arg::Register(_)
        | Arg::Axes(_)
        | Arg::Accumulate(Accumulate::Auto)
        | Arg::Exchange(_)
        | Arg::Ranks(_)
        | Arg::Shuffle(..) => "None".to_string(),
    }
}

/// What an operand takes.
pub fn operand(operand: &Operand) -> String {
    let is_optional = if operand.default.is_some() {
        ", optional"
    } else {
        ""
    };
    let what = match operand.kind {
        Kind::Tile(it) => format!("tile in {}", tile(it)),
        Kind::Column(it) => format!("(P, 1) tile in {}", tile(it)),
        Kind::ColumnOrScalar(it) => format!("number, or (P, 1) tile in {}", tile(it)),
        Kind::TileOrScalar(it) => format!("number, or tile in {}", tile(it)),
        Kind::Alu(set) => {
            let accepted = ALU_OPS.iter().filter(|it| set.contains(it.op));
            let names: Vec<&str> = accepted.map(|it| it.name).collect();
            format!("operator: {}", names.join(" "))
        }
        Kind::Act => "function of the Scalar engine: nl.exp, nl.gelu, …".to_string(),
        Kind::ReduceCmd => "nisa.reduce_cmd".to_string(),
        Kind::Bool => "bool".to_string(),
        Kind::Int => "32-bit int".to_string(),
        Kind::Scalar => "number".to_string(),
        Kind::Pattern => "one to four [step, count] pairs".to_string(),
        Kind::Axes => "the trailing free axes".to_string(),
        Kind::Pair => "two ints".to_string(),
        Kind::Accumulate => "None, True or False".to_string(),
        Kind::Register => "register".to_string(),
        Kind::RegisterOrInt => "register, or 32-bit int".to_string(),
        Kind::OobMode => "nisa.oob_mode".to_string(),
        Kind::Shuffle => "32 lanes from 0 to 31, or 255".to_string(),
        Kind::Exchange => {
            let names: Vec<&str> = EXCHANGES.iter().map(|it| it.1).collect();
            format!("one of {}", names.join(" "))
        }
        Kind::Ranks => "the ranks of all groups".to_string(),
    };
    format!("{what}{is_optional}")
}

fn tile(tile: Tile) -> String {
    let memories: Vec<&str> = tile.memories.iter().map(|it| it.name()).collect();
    let access = match tile.access {
        Access::Read => "",
        Access::Write => ", written",
        Access::ReadWrite => ", read and written",
    };
    format!("{}, {}{access}", memories.join(" or "), tile.dtypes.words())
}

/// A rule as a sentence; `None` for what other lines of the page say.
pub fn rule(rule: &Rule, row: &Row) -> Option<String> {
    let name = |position: usize| row.operands[position].name;
    Some(match *rule {
        Rule::Elementwise => {
            "tiles have the partitions of dst and as many elements in each; columns have its partitions".into()
        }
        Rule::NotBothPsum(a, b) => format!("{} and {} are not both in PSUM", name(a), name(b)),
        Rule::SameDtype(a, b) => format!("{} and {} have one dtype", name(a), name(b)),
        Rule::Matmul => "stationary [K, M], moving [K, N], dst [M, N]: K and M at most 128, N at most 512, dst in one \
                         PSUM bank; 32-bit floats only with 32-bit floats; a PE tile has sides of 64 or 128"
            .into(),
        Rule::Transpose => {
            "dst [F, P] of data [P, F]: 128 x 128 from SBUF to PSUM on the Tensor engine, 32 x 32 on the Vector engine"
                .into()
        }
        Rule::Reduce => "the axes are the last ones without a gap, never the partitions".into(),
        Rule::SameCount => "all tensors have equally many elements".into(),
        Rule::DmaTranspose => "axes (1, 0), (2, 1, 0) or (3, 1, 2, 0)".into(),
        Rule::PatternCount => "the counts of the pattern multiply to the elements of a partition".into(),
        Rule::AluClasses if !row.operands.iter().any(takes_bit_operators) => return None,
        Rule::AluClasses => {
            "bit operators take integers throughout, on the Vector engine, and do not mix with arithmetic".into()
        }
        Rule::NoBiasWithReciprocal => "no bias with reciprocal".into(),
        Rule::ActivationReduce => "reduce_res and reduce_cmd need reduce_op".into(),
        Rule::MemsetValue => "an integer dst takes an integer value".into(),
        Rule::GpsimdNoPsum => "on the GpSimd engine all tiles are in SBUF".into(),
        Rule::OneElement(at) => format!("{} has one element", name(at)),
        Rule::SamePartitions => "all tiles have the partitions of dst".into(),
        Rule::SameFree(a, b) => format!("{} and {} have equally many elements per partition", name(a), name(b)),
        Rule::FreeCount(at, 1) => format!("{} has 1 element per partition", name(at)),
        Rule::FreeCount(at, count) => format!("{} has {count} elements per partition", name(at)),
        Rule::FreeRange(at, low, high) => format!("{} has {low} to {high} elements per partition", name(at)),
        Rule::FreeMultiple(at, of) => format!("the elements per partition of {} are a multiple of {of}", name(at)),
        Rule::FreeTimes(a, b, times) => {
            format!("{} has {times} times the elements per partition of {}", name(a), name(b))
        }
        Rule::Partitions(at, count) => format!("{} has {count} partition", name(at)),
        Rule::PartitionMultiple(_, of) => format!("partitions are a multiple of {of}"),
        Rule::ReduceCommands(takes) => {
            let names: Vec<&str> = takes.iter().map(|it: &ReduceCmd| it.name()).collect();
            format!("reduce commands: {}", names.join(" "))
        }
        Rule::LoadReduce(at) => format!("{} stands with load_reduce, and only with it", name(at)),
        Rule::NotReversed(at) => format!("{} is False", name(at)),
        Rule::BitsNeedIntegers => "bit operators take integers throughout".into(),
        Rule::DropoutProbability => "integer data has a float32 probability".into(),
        Rule::StreamShuffle => "lanes that the mask names are lanes of src; the mask holds for every quadrant".into(),
        Rule::Collective => {
            "all tensors in HBM or all in SBUF, of one dtype and with static addresses; parts of all ranks fill them".into()
        }
        Rule::LocalGather => "num_elem_per_idx is 1, 2, 4, 8, 16 or 32; at most 4096 indices for 16 partitions; dst has \
                              room for exactly what they move"
            .into(),
    })
}

/// Whether an operand may be an operator on bits.
fn takes_bit_operators(operand: &Operand) -> bool {
    let is_bits = |class: AluClass| class == AluClass::Bits;
    let mut operators = ALU_OPS.iter();
    matches!(operand.kind, Kind::Alu(set) if operators.any(|it| is_bits(it.class) && set.contains(it.op)))
}

/// The cost with its source tag.
pub fn cost(row: &Row) -> String {
    let basis = match row.basis {
        Basis::Published => "published",
        Basis::Derived => "derived",
        Basis::Guess => "guess",
    };
    let clock = match row.unit {
        Unit::Dma => "",
        Unit::Sequencer => "cycles of the sequencer: ",
        Unit::Engine => "cycles of the engine: ",
    };
    format!("{clock}{} [{basis}]", formula(row))
}

/// N is the number of elements per partition.
fn formula(row: &Row) -> String {
    let name = |position: usize| row.operands[position].name;
    let two = |first: usize, second: usize| {
        let (first, second) = (name(first), name(second));
        format!("max(64, 2 N), or max(64, N) with one of {first} and {second} in PSUM")
    };
    match row.cost {
        Cost::Elementwise => "max(64, N)".into(),
        Cost::Activation => "max(64, N), + 64 with reduce_res".into(),
        Cost::ActivationReduce => "max(64, N) + 64".into(),
        Cost::TwoStreams(first, second) => two(first, second),
        Cost::Reciprocal => "max(64, 8 N)".into(),
        Cost::Reduce => "max(64, N) of the input".into(),
        Cost::Gpsimd => "150 + N".into(),
        Cost::Memset => "max(64, N), or max(64, N / 2) for zero into bfloat16 or float16".into(),
        Cost::Matmul => "max(64, N moving), x 4 for float32, x 2 where a onezero hint holds".into(),
        Cost::Transpose => "max(64, N); on the Tensor engine max(64, P), x 4 for float32".into(),
        Cost::Dma => "2 us and bytes / (16 engines x 17 B/ns), rows of at least 4 KiB at full rate".into(),
        Cost::DmaTranspose => "as dma_copy with rows of one element".into(),
        Cost::DmaCompute => "as dma_copy at half rate, with the bytes of all sources".into(),
        Cost::Cumulative => "max(64, N), + 64 with load_reduce".into(),
        Cost::Scan => "max(64, 2 N)".into(),
        Cost::SelectReduce(first, second) => format!("{}; + 64 with reduce_res", two(first, second)),
        Cost::GpsimdTimes(cycles) => format!("150 + {cycles} N"),
        Cost::Aggregate => "max(64, 13 N / 3)".into(),
        Cost::LocalGather => {
            "150 + indices x E x ((28 + 4 E) / (4 E)) / min(4 / bytes, E) for E elements an index".into()
        }
        Cost::Gather => "150 ceil(N / 512) + 8 N".into(),
        Cost::Register => "1; 64 with an element of SBUF, a DMA's latency with one of HBM".into(),
        Cost::Interval => "64".into(),
        Cost::Collective => "26 us and hops, and bytes / 54.5 B/ns once all ranks are there".into(),
    }
}
