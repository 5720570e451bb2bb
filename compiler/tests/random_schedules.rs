//! Random programs: what `place` and `schedule` make of them holds up against plain enumeration.
//!
//! The programs compute nothing sensible. They touch random bytes of few buffers from all queues, which is what placement
//! and ordering are about.

use nk_compiler::dtype::Dtype;
use nk_compiler::ir::{
    Asked, Buffer, BufferId, Dim, Frame, Inst, InstId, Loc, Mark, Name, Placement, Program, Region, Role,
    Schedule, Shape, Step, View,
};
use nk_compiler::isa::{Access, Arg, ENGINES, Engine, MAX_ARGS, Memory, N_ENGINES, Op, Unit};
use nk_compiler::place::{place, verify_placement};
use nk_compiler::reorder::reorder;
use nk_compiler::schedule::{schedule, verify_schedule};
use nk_compiler::source::{Sources, Span};
use nk_compiler::target::TARGETS;
use nk_compiler::text::{self, PrintOptions};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What a view is made from: which buffer, and how it is cut.
#[derive(Clone, Debug)]
struct Cut {
    buffer: usize,
    partition: u32,
    partitions: u32,
    offset: i64,
    dims: Vec<(i32, u32)>,
}

#[derive(Clone, Debug)]
struct Line {
    op: usize,
    cuts: Vec<Cut>,
    engine: usize,
}

const OPS: &[(Op, usize)] = &[
    (Op::DmaCopy, 2),
    (Op::TensorCopy, 2),
    (Op::Activation, 3),
    (Op::TensorTensor, 3),
    (Op::NcMatmul, 3),
    (Op::Memset, 1),
];

fn cut() -> impl Strategy<Value = Cut> {
    let dims = prop::collection::vec(
        (prop_oneof![Just(1), Just(2), Just(3), Just(8), Just(-2)], 1u32..5),
        0..3,
    );
    (0usize..64, 0u32..4, 1u32..129, 0i64..40, dims).prop_map(
        |(buffer, partition, partitions, offset, dims)| Cut {
            buffer,
            partition: partition * 32,
            partitions,
            offset,
            dims,
        },
    )
}

fn step() -> impl Strategy<Value = Line> {
    (0..OPS.len(), prop::collection::vec(cut(), 3), 0usize..3).prop_map(|(op, cuts, engine)| Line {
        op,
        cuts,
        engine,
    })
}

/// Buffers whose number says where they are: two inputs, a result and scratch in HBM, then SBUF and PSUM.
fn buffers(n_sbuf: usize, n_psum: usize) -> Vec<(Memory, Role, Vec<u32>)> {
    let mut all = vec![
        (Memory::Hbm, Role::In, vec![8, 40]),
        (Memory::Hbm, Role::Out, vec![8, 40]),
        (Memory::Hbm, Role::Local, vec![4, 80]),
    ];
    for idx in 0..n_sbuf {
        let partitions = [128, 32, 64, 100, 20, 128][idx % 6];
        all.push((Memory::Sbuf, Role::Local, vec![partitions, [30, 96, 50][idx % 3]]));
    }
    for idx in 0..n_psum {
        all.push((Memory::Psum, Role::Local, vec![128, [512, 100][idx % 2]]));
    }
    all
}

/// What is written to an on-chip buffer before anything else.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Start {
    Nothing,
    All,
    /// All, in two pieces.
    Halves,
}

fn program(steps: &[Line], n_sbuf: usize, n_psum: usize, lifetime: usize, start: Start) -> Program {
    let mut program = Program::new("random", TARGETS[0].name);
    let shapes = buffers(n_sbuf, n_psum);
    let mut ids: BTreeMap<(usize, usize), BufferId> = BTreeMap::new();
    for (idx, step) in steps.iter().enumerate() {
        let (op, n_views) = OPS[step.op];
        let row = op.row();
        let mut args = [Arg::Absent; MAX_ARGS];
        for (arg, operand) in args.iter_mut().zip(row.operands) {
            *arg = operand.default.unwrap_or(Arg::Bool(false));
        }
        let tiles = row
            .operands
            .iter()
            .enumerate()
            .filter_map(|(at, it)| Some((at, it.kind.tile()?)));
        for ((at, tile), cut) in tiles.take(n_views).zip(&step.cuts) {
            let fitting: Vec<usize> = (0..shapes.len())
                .filter(|&it| tile.memories.contains(&shapes[it].0))
                .collect();
            let which = fitting[cut.buffer % fitting.len()];
            let (memory, role, shape) = &shapes[which];
            // On-chip buffers are made anew after a while, so that bytes are reused.
            let age = if memory.is_on_chip() { idx / lifetime } else { 0 };
            let id = ids.get(&(which, age)).copied().unwrap_or_else(|| {
                let id = program.add_buffer(Buffer {
                    name: Name::plain(&format!("b{which}_{age}")),
                    dtype: if *memory == Memory::Psum {
                        Dtype::F32
                    } else {
                        Dtype::U8
                    },
                    shape: Shape::new(shape).expect("two dimensions"),
                    memory: *memory,
                    role: *role,
                    request: None,
                    loc: None,
                });
                ids.insert((which, age), id);
                if memory.is_on_chip() {
                    fill(&mut program, id, start, which);
                }
                id
            });
            let view = view(&program, id, cut);
            args[at] = Arg::View(program.add_view(view));
        }
        let engine = row.engines[if row.unit == Unit::Dma {
            0
        } else {
            step.engine % row.engines.len()
        }];
        program.add_inst(Inst {
            op,
            engine,
            loc: None,
            args,
            asked: Asked::default(),
        });
    }
    program
}

/// Writes a buffer, from one of the engines that can.
fn fill(program: &mut Program, id: BufferId, start: Start, seed: usize) {
    let whole = View::whole(id, &program[id]);
    let n = whole.dims()[1].count;
    let columns = |from: u32, to: u32| {
        let dims = [
            whole.dims()[0],
            Dim {
                stride: 1,
                count: to - from,
            },
        ];
        View::new(id, whole.dtype, 0, i64::from(from), &dims).expect("two pairs")
    };
    let views = match start {
        Start::Nothing => vec![],
        Start::All => vec![whole],
        Start::Halves => vec![columns(n / 3, n), columns(0, n / 3)],
    };
    let row = Op::Memset.row();
    for (idx, view) in views.into_iter().enumerate() {
        let mut args = [Arg::Absent; MAX_ARGS];
        args[0] = Arg::View(program.add_view(view));
        args[1] = Arg::Int(0);
        let on_gpsimd = program[id].memory == Memory::Sbuf && (idx + seed) % 2 == 1;
        program.add_inst(Inst {
            op: Op::Memset,
            engine: row.engines[usize::from(on_gpsimd)],
            loc: None,
            args,
            asked: Asked::default(),
        });
    }
}

/// A view inside a buffer, as near to the cut as it fits.
fn view(program: &Program, id: BufferId, cut: &Cut) -> View {
    let buffer = &program[id];
    let limit = buffer.free_count() as i64;
    let mut dims = Vec::new();
    let (mut low, mut high) = (0, 0);
    for &(stride, count) in &cut.dims {
        let reach = i64::from(stride) * i64::from(count - 1);
        if high + reach.max(0) - low - reach.min(0) < limit {
            (low, high) = (low + reach.min(0), high + reach.max(0));
            dims.push(Dim { stride, count });
        }
    }
    let offset = -low + cut.offset % (limit - (high - low));
    if !buffer.memory.is_on_chip() {
        return View::new(id, buffer.dtype, 0, offset, &dims).expect("few pairs");
    }
    let start = if cut.partition < buffer.shape[0] {
        cut.partition
    } else {
        0
    };
    let count = cut.partitions.min(buffer.shape[0] - start);
    dims.insert(0, Dim { stride: 1, count });
    View::new(id, buffer.dtype, start as u16, offset, &dims).expect("few pairs")
}

/// The same bytes in each of some partitions of a memory.
struct Touched {
    memory: Memory,
    partitions: Range<u32>,
    bytes: BTreeSet<u64>,
}

impl Touched {
    fn meets(&self, other: &Touched) -> bool {
        self.memory == other.memory
            && self.partitions.start < other.partitions.end
            && other.partitions.start < self.partitions.end
            && !self.bytes.is_disjoint(&other.bytes)
    }
}

/// Every byte of a view, by plain loops over its pairs.
fn touched(program: &Program, placement: &Placement, view: &View) -> Touched {
    let size = i64::from(view.dtype.size());
    let (dims, partitions, base) = match placement.region(view.buffer) {
        Region::Hbm { address } => (view.dims(), 0..1, address),
        Region::OnChip { partition, start, .. } => {
            let first = u32::from(partition) + u32::from(view.partition);
            (
                view.free_dims(),
                first..first + view.partitions(),
                u64::from(start),
            )
        }
    };
    let mut elements = vec![view.offset];
    for dim in dims {
        elements = elements
            .iter()
            .flat_map(|&at| (0..dim.count).map(move |k| at + i64::from(dim.stride) * i64::from(k)))
            .collect();
    }
    let bytes = elements.iter().flat_map(|&it| it * size..(it + 1) * size);
    Touched {
        memory: program.memory(view),
        partitions,
        bytes: bytes.map(|it| base + it as u64).collect(),
    }
}

/// Pairs of instructions that touch a common byte, one writing, by enumeration.
fn conflicts(program: &Program, placement: &Placement) -> Vec<(InstId, InstId)> {
    let mut pairs = Vec::new();
    let accesses = |inst| {
        let all = program.accesses(inst);
        all.map(|(access, view)| (access != Access::Read, touched(program, placement, view)))
            .collect()
    };
    let touched: Vec<Vec<(bool, Touched)>> = program.iter().map(|(_, inst)| accesses(inst)).collect();
    for b in 0..touched.len() {
        for a in 0..b {
            let meets = touched[a].iter().any(|(writes, bytes)| {
                touched[b]
                    .iter()
                    .any(|(also, others)| (*writes || *also) && bytes.meets(others))
            });
            if meets {
                pairs.push((InstId::new(a), InstId::new(b)));
            }
        }
    }
    pairs
}

/// For each instruction, those that are complete before it starts in every run: reachability over start and end events.
fn complete_before(program: &Program, schedule: &Schedule) -> Vec<BTreeSet<InstId>> {
    let mut before = vec![BTreeSet::new(); program.insts.len()];
    let mut next = [0; N_ENGINES];
    let mut known: [BTreeSet<InstId>; N_ENGINES] = Default::default();
    let mut above: [BTreeSet<InstId>; N_ENGINES] = Default::default();
    let mut sent: BTreeMap<(Engine, Engine, u32), BTreeSet<InstId>> = BTreeMap::new();
    loop {
        let mut has_moved = false;
        for (queue, steps) in schedule.queues.iter().enumerate() {
            while let Some(step) = steps.get(next[queue]) {
                match *step {
                    Step::Inst(id) => {
                        before[id.index()] = known[queue].clone();
                        above[queue].insert(id);
                        if program[id].op.row().unit == Unit::Engine {
                            known[queue].insert(id);
                        }
                    }
                    Step::Signal { to, count } => {
                        let told = known[queue].union(&above[queue]).copied().collect();
                        sent.insert((ENGINES[queue].0, to, count), told);
                    }
                    Step::Wait { from, count } => match sent.get(&(from, ENGINES[queue].0, count)) {
                        Some(told) => known[queue].extend(told),
                        None => break,
                    },
                    Step::Barrier | Step::Loop(_) | Step::End => {
                        unreachable!("programs without loops and registers have no barriers")
                    }
                }
                next[queue] += 1;
                has_moved = true;
            }
        }
        if !has_moved {
            break;
        }
    }
    for (steps, next) in schedule.queues.iter().zip(next) {
        assert_eq!(steps.len(), next, "a queue does not drain");
    }
    before
}

/// Whether enumeration finds every conflicting pair in order.
fn is_ordered(program: &Program, schedule: &Schedule, conflicts: &[(InstId, InstId)]) -> bool {
    let before = complete_before(program, schedule);
    conflicts
        .iter()
        .all(|(first, second)| before[second.index()].contains(first))
}

/// The schedule without one of its waits; the signals to that queue are counted anew.
fn without_wait(schedule: &Schedule, queue: usize, at: usize) -> Schedule {
    let mut mutant = schedule.clone();
    let Step::Wait { from, count } = mutant.queues[queue].remove(at) else {
        panic!("the step is a wait");
    };
    let to = ENGINES[queue].0;
    mutant.queues[from as usize].retain(|it| *it != Step::Signal { to, count });
    for step in &mut mutant.queues[from as usize] {
        match step {
            Step::Signal { to: it, count: n } if *it == to && *n > count => *n -= 1,
            _ => {}
        }
    }
    for step in &mut mutant.queues[queue] {
        match step {
            Step::Wait { from: it, count: n } if *it == from && *n > count => *n -= 1,
            _ => {}
        }
    }
    mutant
}

/// Marks instructions so that later ones wait for earlier ones, and fixes some; gives the pairs.
fn ask(program: &mut Program, pairs: &[(usize, usize)], fixed: &[usize]) -> Vec<(InstId, InstId)> {
    let n_insts = program.insts.len();
    let mut asked = Vec::new();
    for &(a, b) in pairs {
        let (producer, consumer) = (a.min(b) % n_insts, a.max(b) % n_insts);
        if producer >= consumer {
            continue;
        }
        let marks = [producer, consumer].map(|at| {
            let known = program.insts[at].asked.mark();
            let mark = known.unwrap_or_else(|| program.add_mark(Mark::default()));
            program.insts[at].asked = Asked::new(Some(mark), false);
            mark
        });
        program.marks[marks[0].index()].name = Some(Name::plain(&format!("m{producer}")));
        program.marks[marks[1].index()].after.push(marks[0]);
        asked.push((InstId::new(producer), InstId::new(consumer)));
    }
    for &at in fixed {
        let inst = &mut program.insts[at % n_insts];
        inst.asked = Asked::new(inst.asked.mark(), true);
    }
    asked
}

/// A placement in which no two buffers have a byte in common.
fn apart(program: &Program) -> Placement {
    let region = |(idx, it): (usize, &Buffer)| {
        let start = idx as u32 * 0x1_0000;
        if it.memory.is_on_chip() {
            Region::OnChip {
                partition: 0,
                partitions: it.partitions() as u16,
                start,
                end: start + it.bytes() as u32,
            }
        } else {
            Region::Hbm {
                address: u64::from(start),
            }
        }
    };
    Placement {
        regions: program.buffers.iter().enumerate().map(region).collect(),
        ..Placement::default()
    }
}

fn lives(program: &Program) -> Vec<Option<(usize, usize)>> {
    let mut lives = vec![None; program.buffers.len()];
    for (id, inst) in program.iter() {
        for (_, view) in program.accesses(inst) {
            let life = lives[view.buffer.index()].get_or_insert((id.index(), id.index()));
            life.1 = id.index();
        }
    }
    lives
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn live_buffers_share_no_bytes(steps in prop::collection::vec(step(), 1..60), lifetime in 2usize..20) {
        let program = program(&steps, 12, 4, lifetime, Start::Nothing);
        let placement = place(&program, &TARGETS[0]).expect("few small buffers fit");
        prop_assert_eq!(verify_placement(&program, &placement, &TARGETS[0]), vec![]);
        let lives = lives(&program);
        for b in 0..lives.len() {
            for a in 0..b {
                let (Some(x), Some(y)) = (lives[a], lives[b]) else { continue };
                if x.0 > y.1 || y.0 > x.1 {
                    continue;
                }
                let whole = |idx| View::whole(BufferId::new(idx), &program.buffers[idx]);
                let is_shared = touched(&program, &placement, &whole(a)).meets(&touched(&program, &placement, &whole(b)));
                prop_assert!(!is_shared, "{} and {} overlap", program.buffers[a].name, program.buffers[b].name);
            }
        }
    }

    #[test]
    fn schedules_order_every_conflict_and_waste_no_wait(
        steps in prop::collection::vec(step(), 1..40),
        lifetime in 2usize..20,
        tight in any::<bool>(),
        start in prop_oneof![Just(Start::Nothing), Just(Start::All), Just(Start::Halves)],
        pairs in prop::collection::vec((0usize..40, 0usize..40), 0..4),
        fixed in prop::collection::vec(0usize..40, 0..3),
    ) {
        let mut program = program(&steps, if tight { 3 } else { 8 }, 2, lifetime, start);
        let asked = ask(&mut program, &pairs, &fixed);
        let placement = place(&program, &TARGETS[0]).expect("few small buffers fit");
        let schedule = schedule(&program, &placement);
        let errors = verify_schedule(&program, &placement, &schedule);
        prop_assert!(errors.is_empty(), "{errors:?}");
        let mut conflicts = conflicts(&program, &placement);
        conflicts.extend(asked);
        prop_assert!(is_ordered(&program, &schedule, &conflicts));
        for (queue, steps) in schedule.queues.iter().enumerate() {
            for at in (0..steps.len()).filter(|&it| matches!(steps[it], Step::Wait { .. })) {
                let mutant = without_wait(&schedule, queue, at);
                let is_safe = is_ordered(&program, &mutant, &conflicts);
                prop_assert_eq!(verify_schedule(&program, &placement, &mutant).is_empty(), is_safe);
                // Reading what nothing has written, which `check` refuses, can cost a wait too many.
                let text = || text::print(&program, Some(&placement), Some(&schedule), PrintOptions::default());
                prop_assert!(
                    !is_safe || start == Start::Nothing,
                    "step {at} of queue {} is not needed in
{}",
                    ENGINES[queue].1,
                    text()
                );
            }
        }
    }

    #[test]
    fn new_orders_keep_every_conflict_and_what_was_asked(
        steps in prop::collection::vec(step(), 2..40),
        lifetime in 2usize..20,
        pairs in prop::collection::vec((0usize..40, 0usize..40), 0..4),
        fixed in prop::collection::vec(0usize..40, 0..3),
        window in 1usize..40,
    ) {
        let mut program = program(&steps, 8, 2, lifetime, Start::Nothing);
        let asked = ask(&mut program, &pairs, &fixed);
        // Locations tell instructions apart.
        let file = Sources::new().add("random", "");
        for idx in 0..program.insts.len() {
            let loc = program.locs.add(Loc {
                span: Span::new(file, 0, 0),
                parent: None,
                frame: Frame::Here,
            });
            program.insts[idx].loc = Some(loc);
        }
        let reordered = reorder(&program, window, &TARGETS[0]);
        let mut places = vec![usize::MAX; program.insts.len()];
        for (place, inst) in reordered.insts.iter().enumerate() {
            let loc = inst.loc.expect("every instruction has one");
            prop_assert_eq!(places[loc.index()], usize::MAX, "an instruction comes twice");
            places[loc.index()] = place;
        }
        let mut pairs = conflicts(&program, &apart(&program));
        pairs.extend(asked);
        for (first, second) in pairs {
            prop_assert!(places[first.index()] < places[second.index()], "{first:?} and {second:?} change places");
        }
        for (id, inst) in program.iter() {
            prop_assert!(!inst.asked.is_fixed() || places[id.index()] == id.index(), "a fixed instruction moves");
        }
    }
}
