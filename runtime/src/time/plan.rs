//! How a DMA is cut over the DMA engines (`timing.md` §1.5, §4.3).
//!
//! Takes the two views of a transfer, gives the descriptors of each engine with their service times. Never decides
//! when a descriptor is served.

use super::facts::ViewFacts;
use nk_compiler::isa::Memory;
use nk_compiler::target::{Target, Timing};

const PS_PER_US: u128 = 1_000_000;
const PARTS_PER_MILLION: u128 = 1_000_000;

/// A copy between HBM partitions of the address space is simulated with at most this many descriptors an engine: a
/// transfer of thousands of rows needs no finer turns.
const MAX_DESCRIPTORS: u64 = 16;

/// The shape of a transfer: units that are dealt to DMA engines, and what a descriptor of them costs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The DMA engines that take part; engines with equal parts share an entry.
    pub shares: Vec<Share>,
    /// From the begin of a descriptor to its first byte.
    pub read_latency_ps: u64,
    /// From the last byte to the semaphore.
    pub completion_ps: u64,
    pub bytes: u64,
}

/// The part of each of some DMA engines: `descriptors - 1` of `full` and one of `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Bit `k` is set for DMA engine `k`.
    pub lanes: u32,
    pub descriptors: u64,
    pub full: Service,
    pub last: Service,
}

/// How long an engine is busy with one descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// At the rate of the engine.
    pub engine_ps: u64,
    /// At the whole HBM bandwidth of the core, which busy engines share.
    pub hbm_ps: u64,
}

/// Rows that every engine of the DMA serves at its full rate.
pub const LONG_ROW_BYTES: u64 = 1 << 20;

/// Cuts a transfer. Its rows are as long as the views say, or as is given: in `dma_transpose` every element is a row.
pub fn plan(dst: &ViewFacts, src: &ViewFacts, rows_of: Option<u64>, target: &Target) -> Plan {
    let timing = &target.timing;
    // A converting transfer moves different numbers of bytes on its two sides; the longer side sets the pace.
    let bytes = dst.bytes.max(src.bytes);
    let row_bytes = rows_of.unwrap_or(dst.run_bytes.min(src.run_bytes)).max(1);
    let hbm_sides = [dst, src].iter().filter(|it| it.memory == Memory::Hbm).count() as u64;
    let chip_side = [dst, src].into_iter().find(|it| it.memory != Memory::Hbm);
    let shares = match chip_side {
        Some(side) => by_partition(side, bytes, row_bytes, hbm_sides, target),
        None => by_row(bytes, row_bytes, hbm_sides, target),
    };
    let write_ps = if dst.memory == Memory::Hbm {
        timing.dma_hbm_write_ps
    } else {
        timing.dma_sbuf_write_ps
    };
    Plan {
        shares,
        read_latency_ps: if src.memory == Memory::Hbm {
            timing.dma_read_latency_ps
        } else {
            timing.dma_sbuf_read_latency_ps
        },
        completion_ps: write_ps + timing.dma_semaphore_write_ps,
        bytes,
    }
}

/// Cuts a transfer that adds up its sources: like a copy whose rows are as long as those of all sources together, moved at
/// the lower rate of a transfer that computes.
pub fn compute<'a>(dst: &ViewFacts, sources: impl Iterator<Item = &'a ViewFacts>, target: &Target) -> Plan {
    let mut sources = sources.copied();
    let mut all = sources.next().unwrap_or(*dst);
    for source in sources {
        all.bytes += source.bytes;
        all.run_bytes += source.run_bytes;
    }
    let factor = target.timing.dma_compute_factor;
    let slowed = |mut it: ViewFacts| {
        it.bytes *= factor;
        it.run_bytes *= factor;
        it
    };
    let plan = plan(&slowed(*dst), &slowed(all), None, target);
    Plan {
        bytes: all.bytes.max(dst.bytes),
        ..plan
    }
}

/// Each engine serves a fixed group of partitions.
fn by_partition(side: &ViewFacts, bytes: u64, row_bytes: u64, hbm_sides: u64, target: &Target) -> Vec<Share> {
    let group = target.partitions_per_dma_engine();
    let unit = Unit::new(
        bytes / u64::from(side.partitions.max(1)),
        row_bytes,
        hbm_sides,
        &target.timing,
    );
    let end = side.partition + side.partitions.max(1);
    let mut parts = Parts::default();
    let mut first = side.partition;
    while first < end {
        let lane = first / group;
        let next = end.min((lane + 1) * group);
        parts.add(lane, u64::from(next - first));
        first = next;
    }
    parts.shares(&unit, u64::from(target.timing.dma_descriptor_partitions))
}

/// Rows are dealt to all engines evenly; few long rows are cut, as far as that makes each piece cheaper.
fn by_row(bytes: u64, row_bytes: u64, hbm_sides: u64, target: &Target) -> Vec<Share> {
    let n_lanes = u64::from(target.dma_engines);
    let smallest = target.timing.dma_row_efficiency.first().map_or(1, |it| it.0);
    let piece = row_bytes.min(bytes.div_ceil(n_lanes).max(smallest));
    let n_units = bytes.div_ceil(piece).max(1);
    let unit = Unit::new(piece, piece, hbm_sides, &target.timing);
    let per_lane = n_units.div_ceil(n_lanes);
    let per_descriptor = per_lane
        .div_ceil(MAX_DESCRIPTORS)
        .max(u64::from(target.timing.dma_descriptor_partitions));
    let mut parts = Parts::default();
    let mut n_left = n_units;
    for lane in 0..target.dma_engines {
        let n_units = n_left.min(per_lane);
        if n_units > 0 {
            parts.add(lane, n_units);
        }
        n_left -= n_units;
    }
    parts.shares(&unit, per_descriptor)
}

/// How many units each DMA engine gets: engines with the same number, and the number.
#[derive(Default)]
struct Parts(Vec<(u32, u64)>);

impl Parts {
    fn add(&mut self, lane: u32, n_units: u64) {
        match self.0.iter_mut().find(|it| it.1 == n_units) {
            Some(part) => part.0 |= 1 << lane,
            None => self.0.push((1 << lane, n_units)),
        }
    }

    fn shares(&self, unit: &Unit, per_descriptor: u64) -> Vec<Share> {
        self.0
            .iter()
            .map(|&(lanes, n_units)| unit.share(lanes, n_units, per_descriptor))
            .collect()
    }
}

/// One partition's part of a transfer, or one row.
struct Unit {
    /// At the rate of the engine, and at the whole HBM bandwidth of the core.
    engine_ps: u128,
    hbm_ps: u128,
}

impl Unit {
    fn new(bytes: u64, row_bytes: u64, hbm_sides: u64, timing: &Timing) -> Unit {
        Unit {
            hbm_ps: (u128::from(bytes * hbm_sides) * PS_PER_US)
                .div_ceil(u128::from(timing.hbm_core_bytes_per_us)),
            engine_ps: stream_ps(bytes, row_bytes, timing),
        }
    }

    fn share(&self, lanes: u32, n_units: u64, per_descriptor: u64) -> Share {
        let descriptors = n_units.div_ceil(per_descriptor);
        let n_last = n_units - per_descriptor * (descriptors - 1);
        let last = self.service(n_last);
        Share {
            lanes,
            descriptors,
            full: if descriptors == 1 || n_last == per_descriptor {
                last
            } else {
                self.service(per_descriptor)
            },
            last,
        }
    }

    fn service(&self, n_units: u64) -> Service {
        Service {
            engine_ps: (self.engine_ps * u128::from(n_units)) as u64,
            hbm_ps: (self.hbm_ps * u128::from(n_units)) as u64,
        }
    }
}

/// How long an engine needs for bytes in rows of a size.
fn stream_ps(bytes: u64, row_bytes: u64, timing: &Timing) -> u128 {
    let at_rate = |bytes: u64, efficiency: u64| {
        let rate = u128::from(timing.dma_bytes_per_us) * u128::from(efficiency);
        (u128::from(bytes) * PS_PER_US * PARTS_PER_MILLION).div_ceil(rate)
    };
    let points = timing.dma_row_efficiency;
    let (least_bytes, least_ps) = (timing.dma_row_min_bytes, u128::from(timing.dma_row_min_ps));
    match points.first() {
        // Between the shortest row that was measured and the first of the table a row takes the longer the longer it is.
        Some(&(first, share)) if row_bytes < first => {
            let slope_ps = at_rate(first, share * 1000).saturating_sub(least_ps);
            let beyond = u128::from(row_bytes.saturating_sub(least_bytes));
            let row_ps = least_ps + slope_ps * beyond / u128::from((first - least_bytes).max(1));
            u128::from(bytes.div_ceil(row_bytes)) * row_ps
        }
        _ => at_rate(bytes, row_efficiency(row_bytes, points)),
    }
}

/// The share of an engine's rate that rows of a size reach, in millionths: log-linear between the points of the table.
fn row_efficiency(row_bytes: u64, points: &[(u64, u64)]) -> u64 {
    let millionths = |thousandths: u64| thousandths * 1000;
    let above = points.iter().position(|it| it.0 > row_bytes);
    match above {
        Some(0) => millionths(points[0].1),
        Some(idx) => {
            let ((low, from), (high, to)) = (points[idx - 1], points[idx]);
            let (low, high) = (log2_fixed(low), log2_fixed(high));
            let (from, to) = (millionths(from), millionths(to));
            from + (to - from) * (log2_fixed(row_bytes) - low) / (high - low)
        }
        None => points
            .last()
            .map_or(PARTS_PER_MILLION as u64, |it| millionths(it.1)),
    }
}

/// Binary logarithm with 16 fractional bits, in integers so that every host gives the same times.
fn log2_fixed(value: u64) -> u64 {
    let whole = value.ilog2();
    let mut mantissa = (u128::from(value) << 62) >> whole;
    let mut log = u64::from(whole);
    for _ in 0..16 {
        mantissa = (mantissa * mantissa) >> 62;
        log <<= 1;
        if mantissa >> 63 != 0 {
            mantissa >>= 1;
            log |= 1;
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;
    use nk_compiler::target::TARGETS;

    #[test]
    fn row_efficiency_follows_the_table() {
        let points = TARGETS[0].timing.dma_row_efficiency;
        assert_eq!(row_efficiency(4000, points), 1_000_000);
        assert_eq!(row_efficiency(65_536, points), 1_000_000);
        assert_eq!(row_efficiency(512, points), 380_000);
        let between = row_efficiency(2000, points);
        assert!((684_000..685_500).contains(&between), "{between}");
    }

    #[test]
    fn short_rows_take_from_7_to_40_ns() {
        let timing = &TARGETS[0].timing;
        assert_eq!(stream_ps(4, 4, timing), 7_000);
        assert_eq!(stream_ps(80, 8, timing), 10 * stream_ps(8, 8, timing));
        let (below, at) = (stream_ps(255, 255, timing), stream_ps(256, 256, timing));
        assert!(below < at && at < 40_000, "{below} {at}");
    }

    #[test]
    fn logarithms_of_powers_of_two_are_exact() {
        for exponent in 0..63 {
            assert_eq!(log2_fixed(1 << exponent), exponent << 16);
        }
    }
}
