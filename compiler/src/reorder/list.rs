//! List scheduling: of the instructions that could come next, the one whose successors take longest.
//!
//! Takes a piece with its graph, gives an order of its instructions. Queues and DMA engines are played forward with the
//! durations of the cost table: a rough picture of the timing model, without ports, rings and semaphores. Among the instructions that
//! an engine could start at once the one with the longest way to the end of the piece comes first, and the first of the
//! program among equals. A tile that does not fit beside those that live is not begun before one of them has died.

use super::graph::Graph;
use crate::cost;
use crate::ir::{BufferId, Dim, Inst, InstId, Program, View};
use crate::isa::{Access, Memory, N_ENGINES, Unit};
use crate::target::{Target, Timing};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// A queue for each engine, and one for stores, which mostly have one of their own.
const N_QUEUES: usize = N_ENGINES + 1;
const STORES: usize = N_ENGINES;

/// What lives in SBUF and PSUM while an order grows.
pub struct Room<'a> {
    target: &'a Target,
    /// Accesses of each buffer that are still to come.
    n_left: Vec<u32>,
    is_born: Vec<bool>,
    /// Bytes a partition, by memory.
    live: [u64; 3],
    capacity: [u64; 3],
}

impl<'a> Room<'a> {
    pub fn new(program: &Program, target: &'a Target) -> Room<'a> {
        let mut n_left = vec![0; program.buffers.len()];
        for inst in &program.insts {
            for (_, view) in program.accesses(inst) {
                n_left[view.buffer.index()] += 1;
            }
        }
        let mut capacity = [u64::MAX; 3];
        capacity[Memory::Sbuf as usize] = u64::from(target.sbuf_partition_bytes);
        capacity[Memory::Psum as usize] = u64::from(target.psum_partition_bytes);
        Room {
            target,
            n_left,
            is_born: vec![false; program.buffers.len()],
            live: [0; 3],
            capacity,
        }
    }

    /// Bytes a partition that a buffer takes.
    fn bytes(&self, program: &Program, buffer: BufferId) -> u64 {
        let it = &program[buffer];
        match it.memory {
            Memory::Psum => self.target.psum_bytes(it.bytes()),
            Memory::Hbm | Memory::Sbuf => it.bytes(),
        }
    }

    /// Whether what an instruction begins fits beside what lives.
    fn has_room(&self, program: &Program, inst: &Inst) -> bool {
        let mut needed = self.live;
        for (_, view) in program.accesses(inst) {
            if !self.is_born[view.buffer.index()] {
                needed[program.memory(view) as usize] += self.bytes(program, view.buffer);
            }
        }
        let fits = |it: usize| needed[it] <= self.capacity[it] || needed[it] == self.live[it];
        (0..needed.len()).all(fits)
    }

    /// Notes that an instruction comes next; says whether some tile has died.
    fn take(&mut self, program: &Program, inst: &Inst) -> bool {
        let mut has_died = false;
        for (_, view) in program.accesses(inst) {
            let (buffer, memory) = (view.buffer, program.memory(view) as usize);
            let bytes = self.bytes(program, buffer);
            if memory != Memory::Hbm as usize && !std::mem::replace(&mut self.is_born[buffer.index()], true) {
                self.live[memory] += bytes;
            }
            let n_left = &mut self.n_left[buffer.index()];
            *n_left -= 1;
            if *n_left == 0 && memory != Memory::Hbm as usize {
                self.live[memory] -= bytes;
                has_died = true;
            }
        }
        has_died
    }

    /// Notes instructions that keep their order.
    pub fn pass(&mut self, program: &Program, piece: Range<usize>) {
        for at in piece {
            self.take(program, &program.insts[at]);
        }
    }
}

/// How long an instruction keeps what it uses.
#[derive(Clone, Copy)]
struct Length {
    queue: usize,
    /// Until the next instruction of its queue.
    held_ps: u64,
    /// What the DMA engines need to move it, all together.
    moved_ps: u64,
    /// From its start, or from the end of the movement, until others can use what it writes.
    latency_ps: u64,
}

fn length(program: &Program, inst: &Inst, target: &Target) -> Length {
    let timing = &target.timing;
    if inst.op.row().unit == Unit::Dma {
        let is_store = program
            .accesses(inst)
            .all(|(access, view)| program.memory(view).is_on_chip() == (access == Access::Read));
        return Length {
            queue: if is_store { STORES } else { inst.engine as usize },
            held_ps: timing.trigger_ii_ps,
            moved_ps: moved_ps(program, inst, target),
            latency_ps: timing.dma_read_latency_ps + timing.dma_sbuf_write_ps + timing.dma_semaphore_write_ps,
        };
    }
    let busy = cost::busy(program, inst, target);
    let engine = inst.engine as usize;
    let gap_ps = timing.access_gap_cycles[engine] * 1_000_000 / u64::from(timing.clock_mhz[engine]);
    Length {
        queue: engine,
        held_ps: busy.ps(inst.engine, target) + gap_ps,
        moved_ps: 0,
        latency_ps: busy.stream_ps(inst.engine, target)
            + timing.completion_ps[engine]
            + timing.engine_semaphore_ps,
    }
}

/// The time that all DMA engines together need for a transfer, by its longest side and its shortest rows.
fn moved_ps(program: &Program, inst: &Inst, target: &Target) -> u64 {
    let Timing {
        dma_bytes_per_us,
        dma_row_efficiency,
        ..
    } = target.timing;
    let (mut bytes, mut row_bytes) = (0, u64::MAX);
    for (_, view) in program.accesses(inst) {
        let size = u64::from(view.dtype.size());
        bytes = bytes.max(view.count() * size);
        row_bytes = row_bytes.min(run(program, view) * size);
    }
    let reached = dma_row_efficiency.iter().rev().find(|it| it.0 <= row_bytes);
    let least = dma_row_efficiency.first();
    let thousandths = match (reached, least) {
        (Some(it), _) => it.1,
        (None, Some(&(first, share))) => (share * row_bytes / first).max(1),
        (None, None) => 1000,
    };
    let rate = u128::from(dma_bytes_per_us) * u128::from(target.dma_engines) * u128::from(thousandths);
    (u128::from(bytes) * 1_000_000_000 / rate.max(1)) as u64
}

/// Elements of a view that lie one after the other.
fn run(program: &Program, view: &View) -> u64 {
    let skip = usize::from(program.memory(view).is_on_chip());
    let mut run = 1u64;
    for Dim { stride, count } in view.dims()[skip..].iter().rev().filter(|it| it.count != 1) {
        if i64::from(*stride) != run as i64 {
            break;
        }
        run *= u64::from(*count);
    }
    run
}

/// Instructions that nothing but their queue or SRAM holds up, by queue.
#[derive(Default)]
struct Queue {
    free_ps: u64,
    /// By the time at which their operands are there.
    coming: BinaryHeap<Reverse<(u64, usize)>>,
    /// By the length of the way that begins with them; the first of the program among equals.
    there: BinaryHeap<(u64, Reverse<usize>)>,
    /// Those that found no room in SRAM.
    crowded: Vec<usize>,
}

/// An order while it grows.
struct List<'a> {
    program: &'a Program,
    graph: &'a Graph,
    first: usize,
    window: usize,
    lengths: Vec<Length>,
    ways: Vec<u64>,
    n_before: Vec<u32>,
    ready_ps: Vec<u64>,
    is_listed: Vec<bool>,
    /// The first instruction that is not listed.
    oldest: usize,
    /// What the window holds back.
    beyond: BinaryHeap<Reverse<usize>>,
    queues: [Queue; N_QUEUES],
    dma_free_ps: u64,
    order: Vec<usize>,
}

/// The instructions of a piece, counted from its first, in their new order.
pub fn list(
    program: &Program,
    graph: &Graph,
    piece: Range<usize>,
    window: usize,
    room: &mut Room,
    target: &Target,
) -> Vec<usize> {
    let lengths: Vec<Length> = piece
        .clone()
        .map(|it| length(program, &program.insts[it], target))
        .collect();
    let ways = graph.ways(|it| lengths[it].moved_ps + lengths[it].latency_ps);
    let mut list = List {
        program,
        graph,
        first: piece.start,
        window: window.max(1),
        lengths,
        ways,
        n_before: graph.n_before.clone(),
        ready_ps: vec![0; graph.n_nodes],
        is_listed: vec![false; graph.n_insts],
        oldest: 0,
        beyond: BinaryHeap::new(),
        queues: Default::default(),
        dma_free_ps: 0,
        order: Vec::with_capacity(graph.n_insts),
    };
    let free: Vec<usize> = (0..graph.n_nodes).filter(|&it| graph.n_before[it] == 0).collect();
    free.into_iter().for_each(|it| list.release(it));
    while list.order.len() < graph.n_insts {
        let next = list.choose(room).unwrap_or(list.oldest);
        list.take(next, room, target);
    }
    list.order
}

impl List<'_> {
    fn inst(&self, node: usize) -> &Inst {
        &self.program[InstId::new(self.first + node)]
    }

    /// Lets a node come whose predecessors have all been listed.
    fn release(&mut self, node: usize) {
        if node >= self.graph.n_insts {
            // Nodes of no instruction take no time.
            let ready_ps = self.ready_ps[node];
            self.follow(node, ready_ps);
        } else if node < self.oldest + self.window {
            let queue = &mut self.queues[self.lengths[node].queue];
            queue.coming.push(Reverse((self.ready_ps[node], node)));
        } else {
            self.beyond.push(Reverse(node));
        }
    }

    /// Lets the successors of a node come once all they follow is listed; its result is there at a time.
    fn follow(&mut self, node: usize, done_ps: u64) {
        let graph = self.graph;
        let mut met = vec![(node, done_ps)];
        while let Some((node, done_ps)) = met.pop() {
            for &it in graph.after(node) {
                let it = it as usize;
                self.ready_ps[it] = self.ready_ps[it].max(done_ps);
                self.n_before[it] -= 1;
                if self.n_before[it] > 0 {
                    continue;
                }
                if it < graph.n_insts {
                    self.release(it);
                } else {
                    met.push((it, self.ready_ps[it]));
                }
            }
        }
    }

    /// The instruction that starts first, its queue's best; none when all that could come has no room.
    fn choose(&mut self, room: &Room) -> Option<usize> {
        let mut best: Option<(u64, Reverse<u64>, usize)> = None;
        for number in 0..N_QUEUES {
            let Some((start_ps, node)) = self.candidate(number, room) else {
                continue;
            };
            let key = (start_ps, Reverse(self.ways[node]), node);
            if best.is_none_or(|it| key < it) {
                best = Some(key);
            }
        }
        best.map(|it| it.2)
    }

    /// What a queue would start next, and when.
    fn candidate(&mut self, number: usize, room: &Room) -> Option<(u64, usize)> {
        loop {
            let queue = &mut self.queues[number];
            let next_ps = queue.coming.peek().map_or(u64::MAX, |it| it.0.0);
            let from_ps = if queue.there.is_empty() {
                queue.free_ps.max(next_ps)
            } else {
                queue.free_ps
            };
            while let Some(&Reverse((ready_ps, node))) = queue.coming.peek()
                && ready_ps <= from_ps
            {
                queue.coming.pop();
                queue.there.push((self.ways[node], Reverse(node)));
            }
            let &(_, Reverse(node)) = queue.there.peek()?;
            let inst = &self.program.insts[self.first + node];
            if self.is_listed[node] {
                queue.there.pop();
            } else if node != self.oldest && !room.has_room(self.program, inst) {
                queue.there.pop();
                queue.crowded.push(node);
            } else {
                return Some((queue.free_ps.max(self.ready_ps[node]), node));
            }
        }
    }

    fn take(&mut self, node: usize, room: &mut Room, target: &Target) {
        let length = self.lengths[node];
        let queue = &mut self.queues[length.queue];
        let start_ps = queue.free_ps.max(self.ready_ps[node]);
        queue.free_ps = start_ps + length.held_ps;
        let mut done_ps = start_ps + length.latency_ps;
        if length.moved_ps > 0 {
            let begin_ps = self.dma_free_ps.max(start_ps + target.timing.dma_start_ps);
            self.dma_free_ps = begin_ps + length.moved_ps;
            done_ps = self.dma_free_ps + length.latency_ps;
        }
        self.is_listed[node] = true;
        self.order.push(node);
        let has_died = room.take(self.program, self.inst(node));
        while self.oldest < self.graph.n_insts && self.is_listed[self.oldest] {
            self.oldest += 1;
        }
        while let Some(&Reverse(it)) = self.beyond.peek()
            && it < self.oldest + self.window
        {
            self.beyond.pop();
            self.release(it);
        }
        if has_died {
            for queue in &mut self.queues {
                let waiting = std::mem::take(&mut queue.crowded);
                queue
                    .there
                    .extend(waiting.into_iter().map(|it| (self.ways[it], Reverse(it))));
            }
        }
        self.follow(node, done_ps);
    }
}
