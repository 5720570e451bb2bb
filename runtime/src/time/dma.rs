//! The DMA engines: one ring per issuing queue on each, served round robin, a descriptor at a time.
//!
//! Takes planned transfers with the time at which their descriptors are ready, gives their completion. An engine
//! commits to a descriptor one HBM read latency before its data path is free: so the latency of queued work is hidden
//! and that of the first descriptor is not. Never looks at programs.

use super::plan::{Plan, Service};
use nk_compiler::ir::InstId;
use nk_compiler::isa::{Engine, N_ENGINES};
use nk_compiler::target::Target;
use std::collections::VecDeque;

/// The DMA engines of one core.
pub struct DmaEngines {
    lanes: Vec<Lane>,
    transfers: Vec<InFlight>,
    /// Engines that have work, which share the HBM bandwidth.
    n_busy: u64,
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
    n_lanes_left: usize,
}

/// One DMA engine.
#[derive(Default)]
struct Lane {
    rings: [VecDeque<Job>; N_ENGINES],
    n_jobs: usize,
    /// When the data path has moved everything committed.
    free_ps: u64,
    last_ring: usize,
    /// When the next descriptor is chosen; `None` without work.
    next_ps: Option<u64>,
}

/// One engine's part of a transfer.
struct Job {
    transfer: usize,
    ready_ps: u64,
    descriptors: u64,
    full: Service,
    last: Service,
    read_latency_ps: u64,
    completion_ps: u64,
}

impl DmaEngines {
    pub fn new(target: &Target) -> DmaEngines {
        DmaEngines {
            lanes: (0..target.dma_engines).map(|_| Lane::default()).collect(),
            transfers: Vec::new(),
            n_busy: 0,
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
            n_lanes_left: plan.shares.len(),
        });
        for share in &plan.shares {
            let lane = &mut self.lanes[share.lane];
            self.n_busy += u64::from(lane.n_jobs == 0);
            lane.n_jobs += 1;
            lane.rings[queue as usize].push_back(Job {
                transfer,
                ready_ps,
                descriptors: share.descriptors,
                full: share.full,
                last: share.last,
                read_latency_ps: plan.read_latency_ps,
                completion_ps: plan.completion_ps,
            });
            lane.choose_next(self.lookahead_ps);
        }
    }

    /// When the next descriptor is chosen.
    pub fn next_ps(&self) -> Option<u64> {
        self.lanes.iter().filter_map(|it| it.next_ps).min()
    }

    /// Serves the descriptor that is chosen next; gives the transfer if it was its last one.
    pub fn step(&mut self) -> Option<InFlight> {
        let lane = self
            .lanes
            .iter_mut()
            .filter(|it| it.next_ps.is_some())
            .min_by_key(|it| it.next_ps)?;
        let served = lane.serve(self.n_busy)?;
        lane.choose_next(self.lookahead_ps);
        self.n_busy -= u64::from(lane.n_jobs == 0);
        let transfer = &mut self.transfers[served.transfer];
        transfer.first_ps = transfer.first_ps.min(served.start_ps);
        transfer.last_ps = transfer.last_ps.max(served.end_ps);
        let completion_ps = served.completion_ps?;
        transfer.end_ps = transfer.end_ps.max(served.end_ps + completion_ps);
        transfer.n_lanes_left -= 1;
        (transfer.n_lanes_left == 0).then_some(*transfer)
    }

    /// Every transfer, in the order of the triggers.
    pub fn transfers(&self) -> &[InFlight] {
        &self.transfers
    }
}

/// A served descriptor.
struct Served {
    transfer: usize,
    start_ps: u64,
    end_ps: u64,
    /// For the last descriptor of a job: from its last byte to the semaphore.
    completion_ps: Option<u64>,
}

impl Lane {
    fn serve(&mut self, n_busy: u64) -> Option<Served> {
        let now = self.next_ps?;
        let turns = (1..=N_ENGINES).map(|it| (self.last_ring + it) % N_ENGINES);
        let ring = turns
            .into_iter()
            .find(|&it| self.rings[it].front().is_some_and(|job| job.ready_ps <= now))?;
        self.last_ring = ring;
        let job = self.rings[ring].front_mut()?;
        let service = if job.descriptors == 1 { job.last } else { job.full };
        let start_ps = self.free_ps.max(now + job.read_latency_ps);
        self.free_ps = start_ps + service.engine_ps.max(service.hbm_ps * n_busy);
        job.descriptors -= 1;
        let mut served = Served {
            transfer: job.transfer,
            start_ps,
            end_ps: self.free_ps,
            completion_ps: None,
        };
        if job.descriptors == 0 {
            served.completion_ps = Some(job.completion_ps);
            self.rings[ring].pop_front();
            self.n_jobs -= 1;
        }
        Some(served)
    }

    fn choose_next(&mut self, lookahead_ps: u64) {
        let ready = self
            .rings
            .iter()
            .filter_map(|it| it.front())
            .map(|it| it.ready_ps)
            .min();
        self.next_ps = ready.map(|it| it.max(self.free_ps.saturating_sub(lookahead_ps)));
    }
}
