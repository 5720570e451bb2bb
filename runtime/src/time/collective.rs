//! How long a collective takes once all its ranks are there (`timing.md` §5).
//!
//! Takes the ranks, where their cores lie, and the bytes of a tensor, gives a latency and the time that the bytes occupy
//! the links. The model is a ring: a number of steps, each as slow as the slowest link of the ring, and bytes at the rate
//! of a rank. Never decides when a collective starts.

use nk_compiler::ir::{InstId, Program};
use nk_compiler::isa::{Arg, Exchange};
use nk_compiler::target::{Instance, Target};

/// The cores of a launch: ranks fill the chips of an instance along its ring, then the next instance.
#[derive(Clone, Debug)]
pub struct Fleet<'t> {
    instance: &'static Instance,
    target: &'t Target,
    /// The chips of an instance in the order in which they are filled.
    ring: Vec<u32>,
}

/// A collective as the model sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchanged {
    pub kind: Exchange,
    /// The ranks of each group; those of a permutation all together.
    pub groups: Vec<Vec<u32>>,
    pairs: Vec<(u32, u32)>,
    /// Bytes of the larger side.
    bytes: u64,
}

/// The time of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    pub total_ps: u64,
    /// The part in which its bytes keep the links of its ranks busy.
    pub data_ps: u64,
}

impl Exchanged {
    pub fn of(program: &Program, id: InstId) -> Exchanged {
        let inst = &program[id];
        let (mut kind, mut ranks, mut group) = (Exchange::Barrier, &[][..], 1);
        for arg in &inst.args {
            match arg {
                Arg::Exchange(it) => kind = *it,
                Arg::Ranks(id) => ranks = &program[*id].0,
                _ => {}
            }
        }
        if let Some(Arg::Int(size)) = inst.op.row().position("group").map(|it| inst.args[it]) {
            group = usize::try_from(size).unwrap_or(1).max(1);
        }
        let is_permutation = matches!(kind, Exchange::Permute | Exchange::PermuteReduce);
        let pairs = if is_permutation {
            ranks.chunks_exact(2).map(|it| (it[0], it[1])).collect()
        } else {
            Vec::new()
        };
        let groups = if is_permutation {
            vec![pairs.iter().map(|it: &(u32, u32)| it.0).collect()]
        } else {
            ranks.chunks(group).map(<[u32]>::to_vec).collect()
        };
        let bytes = program
            .accesses(inst)
            .map(|(_, view)| view.count() * u64::from(view.dtype.size()))
            .max();
        Exchanged {
            kind,
            groups,
            pairs,
            bytes: bytes.unwrap_or(0),
        }
    }
}

impl<'t> Fleet<'t> {
    pub fn new(instance: &'static Instance, target: &'t Target) -> Fleet<'t> {
        let ring = instance.topology.ring(instance.chips);
        Fleet {
            instance,
            target,
            ring,
        }
    }

    /// The smallest machine for so many ranks.
    pub fn of_ranks(target: &'t Target, n_ranks: u32) -> Fleet<'t> {
        Fleet::new(Instance::smallest(target, n_ranks), target)
    }

    pub fn instance(&self) -> &'static Instance {
        self.instance
    }

    /// A step between two ranks.
    fn hop_ps(&self, a: u32, b: u32) -> u64 {
        let timing = &self.target.timing.collectives;
        let per_instance = self.instance.chips * self.target.cores;
        if a / per_instance != b / per_instance {
            return timing.efa_hop_ps;
        }
        let chip = |rank: u32| self.ring[(rank % per_instance / self.target.cores) as usize];
        let links = self
            .instance
            .topology
            .distance(chip(a), chip(b), self.instance.chips);
        // The two cores of a chip exchange through its HBM, which the series of two ranks shows to be no faster.
        timing.hop_ps * u64::from(links.max(1))
    }

    /// The time of a collective for the group of one of its ranks.
    pub fn length(&self, exchanged: &Exchanged, group: &[u32]) -> Length {
        let timing = &self.target.timing.collectives;
        let n = group.len() as u64;
        if exchanged.kind == Exchange::Barrier {
            return Length {
                total_ps: timing.barrier_ps,
                data_ps: 0,
            };
        }
        if n < 2 {
            return self.local(exchanged.bytes);
        }
        let ring = (0..group.len()).map(|it| self.hop_ps(group[it], group[(it + 1) % group.len()]));
        let pairs = exchanged.pairs.iter().map(|it| self.hop_ps(it.0, it.1));
        let slowest_ps = ring.max().unwrap_or(0);
        let (n_steps, slowest_ps) = match exchanged.kind {
            Exchange::AllReduce => (2 * (n - 1), slowest_ps),
            Exchange::AllGather | Exchange::ReduceScatter | Exchange::AllToAll => (n - 1, slowest_ps),
            Exchange::Permute | Exchange::PermuteReduce => (1, pairs.max().unwrap_or(0)),
            Exchange::Barrier => (0, 0),
        };
        let on_the_bus = match exchanged.kind {
            Exchange::AllReduce => 2 * exchanged.bytes * (n - 1) / n,
            Exchange::Permute | Exchange::PermuteReduce => exchanged.bytes,
            _ => exchanged.bytes * (n - 1) / n,
        };
        let data_ps = picoseconds(on_the_bus, timing.bytes_per_us);
        let total_ps = timing.launch_ps + n_steps * slowest_ps + data_ps;
        Length {
            total_ps: total_ps.max(timing.floor_ps),
            data_ps,
        }
    }

    /// A rank that is alone copies its tensor.
    fn local(&self, bytes: u64) -> Length {
        let timing = &self.target.timing;
        let rate = timing.dma_bytes_per_us * u64::from(self.target.dma_engines);
        let data_ps = picoseconds(bytes, rate);
        let latency_ps = timing.dma_start_ps + timing.dma_read_latency_ps + timing.dma_hbm_write_ps;
        Length {
            total_ps: latency_ps + data_ps,
            data_ps,
        }
    }
}

fn picoseconds(bytes: u64, bytes_per_us: u64) -> u64 {
    u64::try_from(u128::from(bytes) * 1_000_000 / u128::from(bytes_per_us)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nk_compiler::target::TARGETS;

    fn all_reduce(n_ranks: u32, bytes: u64) -> f64 {
        let fleet = Fleet::of_ranks(&TARGETS[0], n_ranks);
        let group: Vec<u32> = (0..n_ranks).collect();
        let exchanged = Exchanged {
            kind: Exchange::AllReduce,
            groups: vec![group.clone()],
            pairs: Vec::new(),
            bytes,
        };
        fleet.length(&exchanged, &group).total_ps as f64 / 1e6
    }

    /// Sizes in MiB with published microseconds (`timing.md` §5.3), and how far off the model may be.
    fn check(n_ranks: u32, series: &[(u64, f64)], bound: f64) {
        for &(mib, published_us) in series {
            let modelled_us = all_reduce(n_ranks, mib << 20);
            let error = modelled_us / published_us - 1.0;
            assert!(
                error.abs() <= bound,
                "{n_ranks} ranks, {mib} MiB: {modelled_us:.0} us, {:+.1} % of {published_us}",
                error * 100.0
            );
        }
    }

    #[test]
    fn two_ranks_take_what_was_published() {
        let series = [
            (4, 107.0),
            (16, 332.0),
            (64, 1214.0),
            (256, 4750.0),
            (1024, 18_930.0),
        ];
        check(2, &series, 0.15);
        check(2, &[(1, 68.0)], 0.15);
        assert_eq!(all_reduce(2, 1 << 10), 58.0);
    }

    #[test]
    fn sixty_four_ranks_take_what_was_published() {
        let series = [
            (16, 2138.0),
            (32, 2711.0),
            (64, 3963.0),
            (128, 6279.0),
            (256, 11_954.0),
            (512, 21_803.0),
            (1024, 41_806.0),
        ];
        check(64, &series, 0.15);
        check(64, &[(4, 1378.0), (8, 1419.0)], 0.25);
    }

    #[test]
    fn an_all_gather_of_thirty_two_ranks_takes_what_was_published() {
        let fleet = Fleet::of_ranks(&TARGETS[0], 32);
        let group: Vec<u32> = (0..32).collect();
        for (kib, published_us) in [(1, 151.0), (8, 149.0), (64, 150.0), (512, 179.0)] {
            let exchanged = Exchanged {
                kind: Exchange::AllGather,
                groups: vec![group.clone()],
                pairs: Vec::new(),
                bytes: kib << 10,
            };
            let modelled_us = fleet.length(&exchanged, &group).total_ps as f64 / 1e6;
            assert!(
                (modelled_us / published_us - 1.0).abs() < 0.15,
                "{kib} KiB: {modelled_us} us"
            );
        }
    }
}
