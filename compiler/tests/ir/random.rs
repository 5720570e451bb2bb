//! Random programs from a tape of numbers.
//!
//! A tape is what proptest shrinks: every choice reads its next number, and zero (also past the end) is the simplest
//! choice. The programs obey the invariants of the tables (kinds of operands, dimensions of views) and no rule of hardware.

use nk_compiler::dtype::DTYPES;
use nk_compiler::ir::{
    Asked, Bound, Buffer, BufferId, Constant, ControlStep, Dim, Dynamic, Index, Inst, InstId, Loop, LoopKind,
    MAX_DIMS, Mark, MarkId, Name, Pattern, Placement, Print, Program, Ranks, Region, Register, RegisterId,
    Request, ResultValue, Role, Schedule, Shape, Shuffle, Step, View,
};
use nk_compiler::isa::{
    ACT_FNS, ALU_OPS, Accumulate, Arg, ENGINES, EXCHANGES, Engine, Kind, MAX_ARGS, MEMORIES, Memory,
    N_ENGINES, OOB_MODES, Operand, REDUCE_CMDS, ROWS, Row, Unit,
};
use nk_compiler::target::TARGETS;

pub struct Tape<'t> {
    numbers: &'t [u32],
    next: usize,
}

impl Tape<'_> {
    pub fn new(numbers: &[u32]) -> Tape<'_> {
        Tape { numbers, next: 0 }
    }

    fn number(&mut self) -> u32 {
        let number = self.numbers.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        number
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.number() % limit
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 1
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize]
    }

    /// Mostly small, sometimes any.
    fn size(&mut self) -> u32 {
        match self.below(4) {
            0 => self.below(4),
            1 => self.pick(&[1, 2, 32, 64, 128, 512]),
            2 => self.below(200),
            _ => self.below(1 << 12),
        }
    }
}

/// A program with at least one buffer.
pub fn program(tape: &mut Tape) -> Program {
    let name = tape.pick(&["f", "kernel", "größe", "two words", "", "a.0", "q\"\\\n\u{1}'2"]);
    let target = tape.pick(&[TARGETS[0].name, TARGETS[1].name]);
    let mut program = Program::new(name, target);
    for _ in 0..1 + tape.below(6) {
        let buffer = buffer(tape, &program);
        program.add_buffer(buffer);
    }
    for number in 0..tape.below(3) {
        let name = Name::plain(&format!("r{number}"));
        program.add_register(Register { name, loc: None });
    }
    let mut open = Vec::new();
    for _ in 0..tape.below(12) {
        let inst = inst(tape, &mut program);
        program.add_inst(inst);
        if !program.registers.is_empty() && tape.below(5) == 1 {
            open.push(program.loops.len());
            let it = device_loop(tape, &program, open.len() as u32 - 1);
            program.loops.push(it);
        }
        if tape.below(4) == 1
            && let Some(number) = open.pop()
        {
            program.loops[number].end = program.insts.len();
        }
    }
    while let Some(number) = open.pop() {
        program.loops[number].end = program.insts.len();
    }
    program.results = results(tape, &program);
    for (idx, buffer) in program.buffers.iter().enumerate() {
        let (id, count) = (BufferId::new(idx), buffer.shape.count());
        if buffer.memory == Memory::Hbm && count < 4096 && tape.below(3) == 1 {
            let value = |_| {
                tape.pick(&[
                    0.0,
                    -0.0,
                    1.0,
                    -3.0,
                    4_294_967_295.0,
                    0.5,
                    1e30,
                    f64::INFINITY,
                    f64::NAN,
                ])
            };
            let values = (0..count).map(value).collect();
            program.constants.push(Constant { buffer: id, values });
        }
        if tape.below(4) == 1 {
            program.prints.push(Print {
                buffer: id,
                prefix: tape.pick(&["", "a \"tile\"\n", "print"]).to_owned(),
                what: "x[0:1]".to_owned(),
            });
        }
    }
    program
}

fn device_loop(tape: &mut Tape, program: &Program, depth: u32) -> Loop {
    let first = program.insts.len();
    let register = register(tape, program);
    let mut bound = || match tape.flip() {
        true => Bound::Int(tape.number() as i32),
        false => Bound::Register(RegisterId::new(
            tape.below(program.registers.len() as u32) as usize
        )),
    };
    let (lower, upper) = (bound(), bound());
    let kind = match tape.flip() {
        true => LoopKind::While { register },
        false => LoopKind::For {
            register,
            lower,
            upper,
            step: 1 + tape.below(4),
        },
    };
    Loop {
        kind,
        first,
        end: first,
        depth,
        loc: None,
    }
}

fn register(tape: &mut Tape, program: &Program) -> RegisterId {
    RegisterId::new(tape.below(program.registers.len() as u32) as usize)
}

fn buffer(tape: &mut Tape, program: &Program) -> Buffer {
    let memory = tape.pick(MEMORIES).0;
    let on_chip = memory.is_on_chip();
    let rank = usize::from(on_chip) + tape.below(6) as usize;
    let dims: Vec<u32> = (0..rank)
        .map(|_| tape.size().min(if rank > 3 { 40 } else { 4096 }))
        .collect();
    let mut name = Name {
        base: tape
            .pick(&["x", "in", "body", "a tile", "x.0", "t'2", "größe", "%", ""])
            .into(),
        instance: (tape.below(3) == 1).then(|| (0..1 + tape.below(3)).map(|_| tape.below(20)).collect()),
        copy: 1,
    };
    while program.buffers.iter().any(|it| it.name == name) {
        name.copy += 1;
    }
    Buffer {
        name,
        dtype: tape.pick(DTYPES).0,
        shape: Shape::new(&dims).expect("few dimensions"),
        memory,
        role: tape.pick(&[Role::Local, Role::In, Role::Out]),
        request: (tape.below(4) == 1).then(|| Request {
            partition: tape.below(128),
            byte: tape.number(),
        }),
        loc: None,
    }
}

fn results(tape: &mut Tape, program: &Program) -> Vec<ResultValue> {
    let usual = |(idx, it): (usize, &Buffer)| ResultValue {
        name: it.name.to_string()[1..].to_owned(),
        buffer: BufferId::new(idx),
    };
    let buffers = program.buffers.iter().enumerate();
    if tape.flip() {
        let any = buffers.filter(|_| tape.flip()).map(usual);
        let mut results: Vec<ResultValue> = any.collect();
        if let Some(result) = results.first_mut().filter(|_| tape.flip()) {
            result.name = tape.pick(&["y", "as", "out 0", "x.0", ""]).to_owned();
        }
        results
    } else {
        buffers.filter(|it| it.1.role == Role::Out).map(usual).collect()
    }
}

fn inst(tape: &mut Tape, program: &mut Program) -> Inst {
    let has_registers = !program.registers.is_empty();
    let rows: Vec<&Row> = ROWS
        .iter()
        .filter(|it| has_registers || it.unit != Unit::Sequencer)
        .collect();
    let row = rows[tape.below(rows.len() as u32) as usize];
    let mut args = [Arg::Absent; MAX_ARGS];
    for (arg, operand) in args.iter_mut().zip(row.operands) {
        *arg = self::arg(tape, program, operand);
    }
    Inst {
        op: row.op,
        engine: if tape.flip() {
            tape.pick(ENGINES).0
        } else {
            row.engines[0]
        },
        loc: None,
        args,
        asked: asked(tape, program),
    }
}

/// Marks are numbered as the text names them: an instruction waits for earlier ones only.
fn asked(tape: &mut Tape, program: &mut Program) -> Asked {
    if tape.below(4) > 0 {
        return Asked::default();
    }
    let named: Vec<MarkId> = (0..program.marks.len())
        .map(MarkId::new)
        .filter(|it| program[*it].name.is_some())
        .collect();
    let name = tape.flip().then(|| Name {
        copy: 1 + program.marks.len() as u32,
        ..Name::plain("mark")
    });
    let mut after = Vec::new();
    if !named.is_empty() && tape.flip() {
        after.push(named[tape.below(named.len() as u32) as usize]);
    }
    let mark = (name.is_some() || !after.is_empty()).then(|| program.add_mark(Mark { name, after }));
    Asked::new(mark, tape.flip())
}

fn arg(tape: &mut Tape, program: &mut Program, operand: &Operand) -> Arg {
    match operand.default {
        Some(default) if tape.flip() => return default,
        _ => {}
    }
    let is_tile = matches!(operand.kind, Kind::Tile(_) | Kind::Register) && operand.default.is_none();
    if !is_tile && tape.below(8) == 1 {
        return Arg::Absent;
    }
    match operand.kind {
        Kind::Tile(_) => view(tape, program),
        Kind::Column(_) | Kind::ColumnOrScalar(_) | Kind::TileOrScalar(_) if tape.flip() => {
            view(tape, program)
        }
        Kind::Column(_) | Kind::ColumnOrScalar(_) | Kind::TileOrScalar(_) | Kind::Scalar => scalar(tape),
        Kind::Alu(_) => Arg::Alu(ALU_OPS[tape.below(ALU_OPS.len() as u32) as usize].op),
        Kind::Act => Arg::Act(ACT_FNS[tape.below(ACT_FNS.len() as u32) as usize].op),
        Kind::ReduceCmd => Arg::ReduceCmd(tape.pick(REDUCE_CMDS).0),
        Kind::Bool => Arg::Bool(tape.flip()),
        Kind::Int => Arg::Int(tape.number() as i32),
        Kind::Pattern => {
            let pattern = (0..tape.below(5)).map(|_| dim(tape)).collect();
            Arg::Pattern(program.add_pattern(Pattern(pattern)))
        }
        Kind::Axes => Arg::Axes(tape.below(256) as u8),
        Kind::Register => Arg::Register(register(tape, program)),
        Kind::RegisterOrInt if tape.flip() => Arg::Register(register(tape, program)),
        Kind::RegisterOrInt => Arg::Int(tape.number() as i32),
        Kind::OobMode => Arg::OobMode(tape.pick(OOB_MODES).0),
        Kind::Pair => Arg::Pair(tape.number() as u8, tape.number() as u8),
        Kind::Shuffle => {
            let lane = |tape: &mut Tape| {
                if tape.flip() {
                    Shuffle::KEEP
                } else {
                    tape.below(Shuffle::LANES as u32) as u8
                }
            };
            program.add_shuffle(Shuffle(std::array::from_fn(|_| lane(tape))))
        }
        Kind::Exchange => Arg::Exchange(tape.pick(EXCHANGES).0),
        Kind::Ranks => {
            let ranks = (0..tape.below(4) + 1).map(|_| tape.number()).collect();
            program.add_ranks(Ranks(ranks))
        }
        Kind::Accumulate => {
            Arg::Accumulate(tape.pick(&[Accumulate::Overwrite, Accumulate::Add, Accumulate::Auto]))
        }
    }
}

fn scalar(tape: &mut Tape) -> Arg {
    match tape.below(6) {
        0 => Arg::Float(tape.pick(&[
            0.0,
            -0.0,
            1.0,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            f32::MIN_POSITIVE,
        ])),
        1 => Arg::Int(tape.below(5) as i32 - 2),
        2 => Arg::Int(tape.number() as i32),
        3 => Arg::Uint(tape.number() | 1 << 31),
        4 => Arg::Bool(tape.flip()),
        // Any bits; NaN is one value in text.
        _ => Arg::Float(f32::from_bits(tape.number())),
    }
}

fn dim(tape: &mut Tape) -> Dim {
    Dim {
        stride: match tape.below(3) {
            0 => tape.size() as i32,
            1 => -(tape.size() as i32),
            _ => tape.number() as i32,
        },
        count: if tape.flip() { tape.size() } else { tape.number() },
    }
}

fn view(tape: &mut Tape, program: &mut Program) -> Arg {
    let id = BufferId::new(tape.below(program.buffers.len() as u32) as usize);
    let buffer = &program[id];
    let whole = View::whole(id, buffer);
    let view = match tape.below(4) {
        0 => whole,
        1 => part(tape, &whole, buffer.memory.is_on_chip()),
        2 => {
            let mut part = part(tape, &whole, buffer.memory.is_on_chip());
            part.dtype = tape.pick(DTYPES).0;
            part
        }
        _ => pattern_view(tape, id, buffer.memory.is_on_chip(), whole.dtype),
    };
    let dynamic = (tape.below(6) == 1).then(|| {
        let tile = program.add_view(whole);
        let index = match tape.below(3) {
            0 if !program.registers.is_empty() => Index::Register(register(tape, program)),
            1 => Index::Rows(tile),
            _ => Index::Element(tile),
        };
        Dynamic {
            index,
            stride: tape.number(),
            count: tape.number(),
        }
    });
    Arg::View(program.add_view(view.moved_by(dynamic)))
}

/// A box of the whole, some of its dimensions dropped.
fn part(tape: &mut Tape, whole: &View, on_chip: bool) -> View {
    let mut offset = 0;
    let mut partition = 0;
    let mut dims = Vec::new();
    for (idx, dim) in whole.dims().iter().enumerate() {
        let start = tape.below(dim.count + 1);
        if on_chip && idx == 0 {
            partition = start as u16;
        } else {
            offset += i64::from(start) * i64::from(dim.stride);
        }
        if (on_chip && idx == 0) || tape.below(3) > 0 {
            let count = tape.below(dim.count - start + 1);
            dims.push(Dim { count, ..*dim });
        }
    }
    View::new(whole.buffer, whole.dtype, partition, offset, &dims).expect("no more dimensions than the whole")
}

fn pattern_view(tape: &mut Tape, id: BufferId, on_chip: bool, dtype: nk_compiler::dtype::Dtype) -> View {
    let mut dims = Vec::new();
    let mut partition = 0;
    if on_chip {
        partition = tape.number() as u16;
        let count = tape.size();
        dims.push(Dim { stride: 1, count });
    }
    let n_free = tape.below((MAX_DIMS - dims.len() + 1) as u32);
    dims.extend((0..n_free).map(|_| dim(tape)));
    let offset = i64::from(tape.number() as i32) * if tape.flip() { 1 } else { 1 << 20 };
    View::new(id, dtype, partition, offset, &dims).expect("at most MAX_DIMS pairs")
}

/// Regions of the right form; where they lie is nobody's concern here.
pub fn placement(tape: &mut Tape, program: &Program) -> Placement {
    let region = |buffer: &Buffer| {
        if buffer.memory.is_on_chip() {
            let partition = tape.below(128) as u16;
            let start = tape.size();
            Region::OnChip {
                partition,
                partitions: tape.below(129) as u16,
                start,
                end: start + tape.size(),
            }
        } else {
            let address = u64::from(tape.number());
            Region::Hbm { address }
        }
    };
    let regions = program.buffers.iter().map(region).collect();
    Placement {
        regions,
        ..Placement::default()
    }
}

/// Any dealing of the instructions to queues, with waits that follow program order.
pub fn schedule(tape: &mut Tape, program: &Program) -> Schedule {
    let mut schedule = Schedule::default();
    for step in program.control().flatten() {
        match step {
            ControlStep::Segment(range) => segment(tape, range, &mut schedule),
            ControlStep::Meet(step) => schedule.queues.iter_mut().for_each(|it| it.push(step)),
        }
    }
    schedule
}

fn segment(tape: &mut Tape, range: std::ops::Range<usize>, schedule: &mut Schedule) {
    let mut signals = [[0; N_ENGINES]; N_ENGINES];
    for idx in range {
        let queue = tape.pick(ENGINES).0;
        let from = tape.pick(ENGINES).0;
        let count = signals[from as usize][queue as usize];
        if count > 0 && tape.flip() {
            schedule.queues[queue as usize].push(Step::Wait { from, count });
        }
        schedule.queues[queue as usize].push(Step::Inst(InstId::new(idx)));
        let to: Engine = tape.pick(ENGINES).0;
        if tape.flip() {
            signals[queue as usize][to as usize] += 1;
            let count = signals[queue as usize][to as usize];
            schedule.queues[queue as usize].push(Step::Signal { to, count });
        }
    }
}

/// Everything that text keeps, with ids resolved, as text of its own.
pub fn described(program: &Program) -> Vec<String> {
    let buffers = program.buffers.iter().map(|it| {
        let (name, role, request) = (&it.name, it.role, it.request);
        format!(
            "{name:?} {} {:?} {:?} {role:?} {request:?}",
            it.dtype.name(),
            it.shape,
            it.memory
        )
    });
    let insts = program.insts.iter().map(|it| described_inst(program, it));
    let results = program.results.iter().map(|it| format!("{it:?}"));
    let registers = program.registers.iter().map(|it| it.name.to_string());
    let loops = program
        .loops
        .iter()
        .map(|it| format!("{:?} {}..{} {}", it.kind, it.first, it.end, it.depth));
    let header = format!("{:?} {}", program.name, program.target);
    std::iter::once(header)
        .chain(buffers)
        .chain(insts)
        .chain(registers)
        .chain(loops)
        .chain(results)
        .collect()
}

fn described_view(program: &Program, view: &View) -> String {
    let Some(dynamic) = view.dynamic else {
        return format!("{view:?}");
    };
    let index = match dynamic.index {
        Index::Register(id) => format!("{id:?}"),
        Index::Element(id) => format!("{:?}", program[id]),
        Index::Rows(id) => format!("rows {:?}", program[id]),
    };
    format!("{view:?} {index} {} {}", dynamic.stride, dynamic.count)
}

pub fn described_inst(program: &Program, inst: &Inst) -> String {
    let arg = |arg: &Arg| match arg {
        Arg::View(id) => described_view(program, &program[*id]),
        Arg::Pattern(id) => format!("{:?}", program[*id]),
        Arg::Ranks(id) => format!("{:?}", program[*id]),
        Arg::Shuffle(id, keeps) => format!("{:?} {keeps}", program[*id]),
        other => format!("{other:?}"),
    };
    let args: Vec<String> = inst.args.iter().map(arg).collect();
    format!("{:?} {:?} {}", inst.op, inst.engine, args.join(" | "))
}
