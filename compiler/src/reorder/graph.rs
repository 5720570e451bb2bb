//! Which instruction of a piece comes before which, whatever the order.
//!
//! Takes a piece of a program without addresses, gives a graph whose edges lead from an instruction to those that must
//! follow it. Accesses that many others follow meet in a node of no instruction, so that there are about as many edges as
//! accesses. Tiles whose address the kernel chose follow each other as they do in the program.

use super::fence::{State, Sums, state, sums};
use super::waits;
use crate::ir::{BufferId, InstId, Placement, Program, Region};
use crate::isa::Access;
use crate::schedule::owners::Owners;
use crate::schedule::slots::Slots;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// How the views of a program lie to each other.
pub struct Geometry {
    pub slots: Slots,
    /// Every buffer at an address of its own, those excepted that the kernel has placed.
    pub apart: Placement,
    pub marked: Vec<Option<InstId>>,
    pub sums: Sums,
}

impl Geometry {
    pub fn new(program: &Program) -> Geometry {
        let region = |it: &crate::ir::Buffer| {
            if !it.memory.is_on_chip() {
                return Region::Hbm { address: 0 };
            }
            let request = it.request.map_or((0, 0), |it| (it.partition, it.byte));
            let bytes = u32::try_from(it.bytes()).unwrap_or(u32::MAX);
            Region::OnChip {
                partition: request.0 as u16,
                partitions: it.partitions() as u16,
                start: request.1,
                end: request.1.saturating_add(bytes),
            }
        };
        let apart = Placement {
            regions: program.buffers.iter().map(region).collect(),
            sbuf_peak_bytes: 0,
            psum_peak_bytes: 0,
        };
        Geometry {
            slots: Slots::new(program, &apart),
            apart,
            marked: program.marked(),
            sums: sums(program),
        }
    }
}

/// The accesses of a slot that later ones follow, as nodes.
#[derive(Clone, Default)]
struct Last {
    write: Option<u32>,
    reads: Vec<u32>,
}

/// Nodes are the instructions of the piece, counted from its first, then those of no instruction.
pub struct Graph {
    pub n_insts: usize,
    pub n_nodes: usize,
    /// How many nodes each one follows.
    pub n_before: Vec<u32>,
    /// The nodes that follow node `n` are `after[starts[n]..starts[n + 1]]`.
    after: Vec<u32>,
    starts: Vec<u32>,
}

/// The graph while it grows.
struct Growing<'a> {
    program: &'a Program,
    geometry: &'a Geometry,
    first: usize,
    n_insts: usize,
    n_nodes: u32,
    edges: Vec<(u32, u32)>,
    last: FxHashMap<usize, Last>,
    /// The node behind which each buffer of a chosen address begins, or none.
    births: FxHashMap<BufferId, Option<u32>>,
    owners: Owners,
    states: Vec<(State, u32)>,
}

impl Graph {
    pub fn new(program: &Program, geometry: &Geometry, piece: Range<usize>) -> Graph {
        let n_insts = piece.len();
        let mut growing = Growing {
            program,
            geometry,
            first: piece.start,
            n_insts,
            n_nodes: n_insts as u32,
            edges: Vec::with_capacity(4 * n_insts),
            last: FxHashMap::default(),
            births: FxHashMap::default(),
            owners: Owners::new(),
            states: Vec::new(),
        };
        for at in piece {
            growing.add(InstId::new(at));
        }
        let n_nodes = growing.n_nodes as usize;
        let edges = growing.edges;
        let mut n_before = vec![0u32; n_nodes];
        let mut starts = vec![0u32; n_nodes + 1];
        for &(before, after) in &edges {
            n_before[after as usize] += 1;
            starts[before as usize + 1] += 1;
        }
        for node in 0..n_nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut after = vec![0; edges.len()];
        for &(from, to) in &edges {
            after[next[from as usize] as usize] = to;
            next[from as usize] += 1;
        }
        Graph {
            n_insts,
            n_nodes,
            n_before,
            after,
            starts,
        }
    }

    pub fn after(&self, node: usize) -> &[u32] {
        &self.after[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// All nodes in an order that the edges allow, without those that are in a ring: always the first instruction of the
    /// program that can come.
    fn sorted(&self) -> Vec<usize> {
        let mut n_before = self.n_before.clone();
        // A node of no instruction comes as soon as it can, so that it holds nobody up.
        let key = |node: usize| (node < self.n_insts, node);
        let mut ready: BinaryHeap<Reverse<(bool, usize)>> = (0..self.n_nodes)
            .filter(|&it| n_before[it] == 0)
            .map(|it| Reverse(key(it)))
            .collect();
        let mut order = Vec::with_capacity(self.n_nodes);
        while let Some(Reverse((_, node))) = ready.pop() {
            order.push(node);
            for &it in self.after(node) {
                n_before[it as usize] -= 1;
                if n_before[it as usize] == 0 {
                    ready.push(Reverse(key(it as usize)));
                }
            }
        }
        order
    }

    /// The instructions in the order nearest to that of the program, without those that are in a ring.
    pub fn earliest(&self) -> Vec<usize> {
        let mut order = self.sorted();
        order.retain(|&it| it < self.n_insts);
        order
    }

    /// For each node the longest way to an end, `length` of a node being what it adds.
    pub fn ways(&self, length: impl Fn(usize) -> u64) -> Vec<u64> {
        let mut ways = vec![0u64; self.n_nodes];
        for &node in self.sorted().iter().rev() {
            let rest = self.after(node).iter().map(|&it| ways[it as usize]).max();
            let own = if node < self.n_insts { length(node) } else { 0 };
            ways[node] = own + rest.unwrap_or(0);
        }
        ways
    }
}

impl Growing<'_> {
    fn add(&mut self, id: InstId) {
        let (program, geometry) = (self.program, self.geometry);
        let slots = &geometry.slots;
        let inst = &program[id];
        let node = self.node(id).expect("the instruction is in the piece");
        let n_edges = self.edges.len();
        for (access, view) in program.touches(inst) {
            let buffer = program[view].buffer;
            if program[buffer].request.is_some()
                && let Some(birth) = self.birth(buffer)
            {
                self.edges.push((birth, node));
            }
            let Some(slot) = slots.of_view(view) else { continue };
            for it in slots.overlapping(slot).iter().copied().chain([slot]) {
                self.follow(it.index(), access, node);
            }
        }
        for (access, view) in program.touches(inst) {
            let Some(slot) = slots.of_view(view) else { continue };
            let last = self.last.entry(slot.index()).or_default();
            if access == Access::Read {
                if last.reads.last() != Some(&node) {
                    last.reads.push(node);
                }
            } else {
                last.write = Some(node);
                last.reads.clear();
            }
        }
        for producer in waits(program, inst.asked.mark(), &geometry.marked) {
            if let Some(producer) = self.node(producer) {
                self.edges.push((producer, node));
            }
        }
        let own = state(inst, &geometry.sums);
        if own != State::Nothing {
            match self.states.iter_mut().find(|it| it.0 == own) {
                Some((_, last)) => self.edges.push((std::mem::replace(last, node), node)),
                None => self.states.push((own, node)),
            }
        }
        let new = &mut self.edges[n_edges..];
        new.sort_unstable();
        let mut kept = n_edges;
        for idx in n_edges..self.edges.len() {
            let edge = self.edges[idx];
            if edge.0 != edge.1 && (kept == n_edges || self.edges[kept - 1] != edge) {
                self.edges[kept] = edge;
                kept += 1;
            }
        }
        self.edges.truncate(kept);
    }

    fn node(&self, id: InstId) -> Option<u32> {
        let node = id.index().checked_sub(self.first)?;
        (node < self.n_insts).then_some(node as u32)
    }

    /// Lets a node follow what was done to a slot before.
    fn follow(&mut self, slot: usize, access: Access, node: u32) {
        let Some(last) = self.last.get_mut(&slot) else {
            return;
        };
        if let Some(write) = last.write {
            self.edges.push((write, node));
        }
        if access == Access::Read {
            return;
        }
        if last.reads.len() > 2 {
            let meeting = self.n_nodes;
            self.n_nodes += 1;
            let reads = std::mem::replace(&mut last.reads, vec![meeting]);
            self.edges.extend(reads.into_iter().map(|it| (it, meeting)));
        }
        self.edges.extend(last.reads.iter().map(|&it| (it, node)));
    }

    /// The node behind which a buffer at a chosen address begins: all accesses of those that had its bytes before.
    fn birth(&mut self, buffer: BufferId) -> Option<u32> {
        if let Some(&birth) = self.births.get(&buffer) {
            return birth;
        }
        let (program, geometry) = (self.program, self.geometry);
        let owners = self.owners.take_over(program, &geometry.apart, buffer);
        let mut before: Vec<u32> = Vec::new();
        for owner in owners {
            before.extend(self.births.get(&owner).copied().flatten());
            for slot in geometry.slots.of_buffer(owner) {
                if let Some(last) = self.last.get(&slot.index()) {
                    before.extend(last.write.iter().chain(&last.reads));
                }
            }
        }
        before.sort_unstable();
        before.dedup();
        let birth = (!before.is_empty()).then(|| {
            let meeting = self.n_nodes;
            self.n_nodes += 1;
            self.edges.extend(before.into_iter().map(|it| (it, meeting)));
            meeting
        });
        self.births.insert(buffer, birth);
        birth
    }
}
