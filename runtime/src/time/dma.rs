//! The DMA engines: one ring per issuing queue on each, served round robin, a descriptor at a time.
//!
//! Takes planned transfers with the time at which their descriptors are ready, gives their completion. An engine
//! commits to a descriptor one HBM read latency before its data path is free: so the latency of queued work is hidden
//! and that of the first descriptor is not. Engines that have had the same work are simulated as one. Never looks at
//! programs.

use super::plan::{Plan, Share};
use nk_compiler::ir::InstId;
use nk_compiler::isa::{Engine, N_ENGINES};
use nk_compiler::target::Target;
use std::collections::VecDeque;

/// The DMA engines of one core.
pub struct DmaEngines {
    groups: Vec<Group>,
    transfers: Vec<InFlight>,
    lookahead_ps: u64,
}

/// A transfer and how much of it is still to be moved.
#[derive(Clone, Copy, Debug)]
pub struct InFlight {
    pub inst: InstId,
    pub queue: Engine,
    pub trigger_ps: u64,
    pub first_ps: u64,
    pub last_ps: u64,
    pub end_ps: u64,
    pub bytes: u64,
    read_latency_ps: u64,
    completion_ps: u64,
    n_lanes_left: u32,
}

/// DMA engines in one and the same state.
#[derive(Clone)]
struct Group {
    /// Bit `k` is set for DMA engine `k`.
    lanes: u32,
    rings: [VecDeque<Job>; N_ENGINES],
    n_jobs: usize,
    /// When the data path has moved everything committed.
    free_ps: u64,
    last_ring: usize,
    /// When the next descriptor is chosen; `None` without work.
    next_ps: Option<u64>,
}

/// What is left of an engine's part of a transfer.
#[derive(Clone)]
struct Job {
    transfer: usize,
    ready_ps: u64,
    share: Share,
}

impl DmaEngines {
    pub fn new(target: &Target) -> DmaEngines {
        let all = Group {
            lanes: u32::MAX >> (u32::BITS - target.dma_engines),
            rings: Default::default(),
            n_jobs: 0,
            free_ps: 0,
            last_ring: 0,
            next_ps: None,
        };
        DmaEngines {
            groups: vec![all],
            transfers: Vec::new(),
            lookahead_ps: target.timing.dma_read_latency_ps,
        }
    }

    /// Puts a transfer's descriptors into the rings of the queue that triggers it.
    pub fn issue(&mut self, plan: &Plan, inst: InstId, queue: Engine, trigger_ps: u64, ready_ps: u64) {
        let transfer = self.transfers.len();
        self.transfers.push(InFlight {
            inst,
            queue,
            trigger_ps,
            first_ps: u64::MAX,
            last_ps: 0,
            end_ps: 0,
            bytes: plan.bytes,
            read_latency_ps: plan.read_latency_ps,
            completion_ps: plan.completion_ps,
            n_lanes_left: plan.shares.iter().map(|it| it.lanes.count_ones()).sum(),
        });
        self.join_idle(ready_ps);
        for share in &plan.shares {
            self.split(share.lanes);
            for group in self.groups.iter_mut().filter(|it| it.lanes & share.lanes != 0) {
                group.n_jobs += 1;
                group.rings[queue as usize].push_back(Job {
                    transfer,
                    ready_ps,
                    share: *share,
                });
                group.choose_next(self.lookahead_ps);
            }
        }
    }

    /// Makes one group of the engines that have nothing to do when the next descriptor is ready.
    fn join_idle(&mut self, ready_ps: u64) {
        if self.groups.len() == 1 {
            return;
        }
        let is_idle = |it: &Group| it.n_jobs == 0 && it.free_ps <= ready_ps;
        let Some(first) = self.groups.iter().position(is_idle) else {
            return;
        };
        let lanes = self
            .groups
            .iter()
            .filter(|it| is_idle(it))
            .fold(0, |lanes, it| lanes | it.lanes);
        let mut idx = 0;
        self.groups.retain(|it| {
            idx += 1;
            idx - 1 == first || !is_idle(it)
        });
        self.groups[first].lanes = lanes;
        self.groups[first].last_ring = 0;
    }

    /// Makes sure that each group lies inside or outside of a set of engines.
    fn split(&mut self, lanes: u32) {
        for idx in 0..self.groups.len() {
            let group = &mut self.groups[idx];
            let outside = group.lanes & !lanes;
            if outside != 0 && outside != group.lanes {
                group.lanes &= lanes;
                let other = Group {
                    lanes: outside,
                    ..group.clone()
                };
                self.groups.push(other);
            }
        }
    }

    /// When the next descriptor is chosen.
    pub fn next_ps(&self) -> Option<u64> {
        self.groups.iter().filter_map(|it| it.next_ps).min()
    }

    /// Serves descriptors up to a time, if there is one, or until a transfer is complete, and gives that.
    pub fn run(&mut self, until_ps: Option<u64>) -> Option<InFlight> {
        while self
            .next_ps()
            .is_some_and(|it| until_ps.is_none_or(|until_ps| it <= until_ps))
        {
            if let Some(done) = self.step() {
                return Some(done);
            }
        }
        None
    }

    /// Serves the descriptors that are chosen next, at one time; gives the transfer if these were its last.
    fn step(&mut self) -> Option<InFlight> {
        // Engines that have work share the HBM bandwidth.
        let busy = self.groups.iter().filter(|it| it.n_jobs > 0);
        let n_busy: u32 = busy.map(|it| it.lanes.count_ones()).sum();
        let waiting = self.groups.iter_mut().filter(|it| it.next_ps.is_some());
        let group = waiting.min_by_key(|it| it.next_ps)?;
        let done = group.serve(&mut self.transfers, n_busy);
        group.choose_next(self.lookahead_ps);
        let transfer = &mut self.transfers[done?];
        transfer.n_lanes_left -= group.lanes.count_ones();
        (transfer.n_lanes_left == 0).then_some(*transfer)
    }

    /// Every transfer, in the order of the triggers.
    pub fn transfers(&self) -> &[InFlight] {
        &self.transfers
    }
}

impl Group {
    /// Serves a descriptor; gives the transfer if it was the last one of these engines' part.
    fn serve(&mut self, transfers: &mut [InFlight], n_busy: u32) -> Option<usize> {
        let now = self.next_ps?;
        let mut turns = (1..=N_ENGINES).map(|it| (self.last_ring + it) % N_ENGINES);
        let ring = turns.find(|&it| self.rings[it].front().is_some_and(|job| job.ready_ps <= now))?;
        self.last_ring = ring;
        let job = self.rings[ring].front_mut()?;
        let share = &mut job.share;
        let service = if share.descriptors == 1 {
            share.last
        } else {
            share.full
        };
        let transfer = &mut transfers[job.transfer];
        let start_ps = self.free_ps.max(now + transfer.read_latency_ps);
        self.free_ps = start_ps + service.engine_ps.max(service.hbm_ps * u64::from(n_busy));
        transfer.first_ps = transfer.first_ps.min(start_ps);
        transfer.last_ps = transfer.last_ps.max(self.free_ps);
        share.descriptors -= 1;
        if share.descriptors > 0 {
            return None;
        }
        transfer.end_ps = transfer.end_ps.max(self.free_ps + transfer.completion_ps);
        let done = job.transfer;
        self.rings[ring].pop_front();
        self.n_jobs -= 1;
        Some(done)
    }

    fn choose_next(&mut self, lookahead_ps: u64) {
        let heads = self.rings.iter().filter_map(|it| it.front());
        let ready_ps = heads.map(|it| it.ready_ps).min();
        self.next_ps = ready_ps.map(|it| it.max(self.free_ps.saturating_sub(lookahead_ps)));
    }
}
