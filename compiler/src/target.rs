//! Chips as data: sizes, limits and the parameters of the timing model.
//!
//! Every hardware number that is not a fact of one instruction stands here, with its source. Sources: `isa.md` (tags
//! ARCH, ALLOC26, …) and `timing.md` §4.2.

pub mod datasheet;
mod instance;

pub use instance::{INSTANCES, Instance, Topology};

use crate::dtype::Dtype;
use crate::isa::{Engine, Generation, N_ENGINES};

/// A chip, as one of its cores sees it.
#[derive(Clone, Debug)]
pub struct Target {
    pub name: &'static str,
    /// Other names users know it by.
    pub aliases: &'static [&'static str],
    pub generation: Generation,
    pub cores: u32,
    /// Partitions of SBUF and PSUM (ARCH).
    pub partitions: u32,
    /// SBUF bytes per partition (ARCH).
    pub sbuf_partition_bytes: u32,
    /// What `nl.tile_size.sbuf_fmax_bytes` says: AWS's compiler keeps the top 16 KiB (ALLOC26).
    pub sbuf_usable_bytes: u32,
    /// PSUM bytes per partition (ARCH).
    pub psum_partition_bytes: u32,
    /// Bytes of one PSUM bank per partition (ARCH).
    pub psum_bank_bytes: u32,
    /// Alignment of the addresses that we choose; not published (Q13).
    pub min_align: u32,
    pub hbm_bytes: u64,
    /// Free size of a stationary and of a moving operand (ARCH).
    pub stationary_max: u32,
    pub moving_max: u32,
    /// Free size of `bn_stats` (ISA).
    pub bn_stats_max: u32,
    /// Side of the square a Vector-engine transpose takes (ARCH).
    pub vector_transpose_max: u32,
    /// Elements per partition of one instruction in SBUF and PSUM (ARCH).
    pub sbuf_elements_max: u64,
    pub psum_elements_max: u64,
    /// Free dimensions of an access pattern (ARCH).
    pub free_dims_max: usize,
    /// Widest step of a free dimension, in elements: the field has 16 bits and a sign (ARCH).
    pub stride_max: u32,
    /// Legal sizes of a PE tile's rows and columns (C4).
    pub pe_tile_sizes: &'static [u8],
    /// DMA engines of a core, and the partitions each serves (DMAIN).
    pub dma_engines: u32,
    /// Semaphore counters of a core.
    pub semaphores: u32,
    pub timing: Timing,
}

/// Parameters of the timing model, `timing.md` §4.2. Times in picoseconds, rates in bytes per microsecond or kHz so that
/// all arithmetic stays in integers.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Clocks in MHz, indexed by [`Engine`].
    pub clock_mhz: [u32; N_ENGINES],
    /// Minimum initiation interval of an instruction, in cycles of its engine.
    pub min_ii_cycles: u64,
    /// The same when an address is known at run time only (ISA26).
    pub min_ii_dynamic_cycles: u64,
    /// What GpSimd spends on the descriptors of a gather or scatter: start and cycles a row, assumed (`isa.md` §1.8).
    pub descriptor_start_cycles: u64,
    pub descriptor_row_cycles: u64,
    /// What a queue spends on reading the index of a dynamic transfer: the latency of an access (`isa.md` §3.31).
    pub index_read_cycles: u64,
    /// Start-up of a GpSimd kernel, in cycles (ISA26).
    pub gpsimd_start_cycles: u64,
    /// Cycles of one element of the Vector engine's `reciprocal` (SH).
    pub reciprocal_cycles: u64,
    /// What `rsqrt` and `power` cost on GpSimd, as a multiple of an ordinary operator (SH).
    pub gpsimd_function_factor: u64,
    /// A sequencer's access to one element in SBUF and in HBM: assumed to be that of an access and of a DMA (`isa.md` §3.34).
    pub register_sbuf_cycles: u64,
    pub register_hbm_cycles: u64,
    /// Cycles of one triple of `bn_aggr` (ISA26).
    pub aggregate_cycles: u64,
    /// `nc_n_gather`: elements between two starts of its kernel (ISA), and cycles of one, which are assumed.
    pub gather_group: u64,
    pub gather_cycles: u64,
    /// A port runs at half rate when the innermost stride is above this many bytes (ARCH, Q1).
    pub full_rate_stride_bytes: u64,
    /// Thousandths of a cycle per element of a two-stream f32 instruction: measured 2.02.
    pub two_stream_millicycles: u64,
    /// Gap added to the initiation interval, in cycles, indexed by [`Engine`]; GpSimd's is assumed.
    pub access_gap_cycles: [u64; N_ENGINES],
    /// From the end of occupancy to completion, indexed by [`Engine`]; GpSimd's is assumed.
    pub completion_ps: [u64; N_ENGINES],
    /// Engines whose gap and completion are assumed, not measured.
    pub assumed_engines: &'static [Engine],
    /// Exposed part of a weight load.
    pub weight_load_ps: u64,
    /// Passes of an f32 matmul.
    pub fp32_passes: u64,
    pub act_table_load_ps: u64,
    /// From a semaphore set by DMA, or by an engine, to the start of the waiting instruction.
    pub dma_semaphore_ps: u64,
    pub engine_semaphore_ps: u64,
    /// Gap between a producer's end and a dependent consumer in one queue.
    pub dependent_gap_ps: u64,
    /// The same when the consumer streams the producer's output in element order.
    pub chained_gap_ps: u64,
    /// A DMA trigger occupies its queue this long; the next one may start after `trigger_ii_ps`.
    pub trigger_ps: u64,
    pub trigger_ii_ps: u64,
    /// From the trigger's start to the first descriptor.
    pub dma_start_ps: u64,
    /// From the begin of a descriptor to its first byte, read from HBM and from SBUF.
    pub dma_read_latency_ps: u64,
    pub dma_sbuf_read_latency_ps: u64,
    pub dma_sbuf_write_ps: u64,
    pub dma_hbm_write_ps: u64,
    pub dma_semaphore_write_ps: u64,
    /// How many times the bytes a transfer takes that also computes (ARCH4: half the rate of a copy).
    pub dma_compute_factor: u64,
    /// Sustained rate of one DMA engine in bytes per microsecond.
    pub dma_bytes_per_us: u64,
    /// Partitions whose rows share one descriptor.
    pub dma_descriptor_partitions: u32,
    /// The shortest row that was measured, and how long an engine takes for it. From there to the first size of the next
    /// table the time of a row grows in proportion to its bytes.
    pub dma_row_min_bytes: u64,
    pub dma_row_min_ps: u64,
    /// Row efficiency in thousandths at row sizes in bytes, log-linear between.
    pub dma_row_efficiency: &'static [(u64, u64)],
    /// HBM bandwidth of one core and of the chip, in bytes per microsecond.
    pub hbm_core_bytes_per_us: u64,
    pub hbm_chip_bytes_per_us: u64,
    /// Program preamble and postamble in published latencies.
    pub program_overhead_ps: u64,
    pub collectives: Collectives,
}

/// Parameters of the model of collectives, calibrated on the published all-reduces of 2 and 64 ranks and all-gathers of 32
/// (`timing.md` §5.3).
#[derive(Clone, Debug)]
pub struct Collectives {
    /// What starting one takes, and what one with other ranks takes at least.
    pub launch_ps: u64,
    pub floor_ps: u64,
    /// A step over one link of an instance, and one between instances.
    pub hop_ps: u64,
    pub efa_hop_ps: u64,
    /// Bytes per microsecond of a rank, all steps being in flight. No published series reaches the rate of a link.
    pub bytes_per_us: u64,
    /// A barrier of the two cores of a chip: a semaphore written by DMA, assumed to take the latency of one.
    pub barrier_ps: u64,
}

const TIMING_V2: Timing = Timing {
    clock_mhz: [2800, 1120, 1400, 1400, 1400],
    min_ii_cycles: 64,
    min_ii_dynamic_cycles: 600,
    descriptor_start_cycles: 150,
    descriptor_row_cycles: 4,
    index_read_cycles: 60,
    gpsimd_start_cycles: 150,
    reciprocal_cycles: 8,
    register_sbuf_cycles: 64,
    register_hbm_cycles: 1820,
    gpsimd_function_factor: 4,
    aggregate_cycles: 13,
    gather_group: 512,
    gather_cycles: 8,
    full_rate_stride_bytes: 16,
    two_stream_millicycles: 2020,
    access_gap_cycles: [0, 97, 115, 115, 0],
    completion_ps: [158_000, 213_000, 158_000, 213_000, 0],
    assumed_engines: &[Engine::Gpsimd],
    weight_load_ps: 26_000,
    fp32_passes: 4,
    act_table_load_ps: 368_000,
    dma_semaphore_ps: 35_000,
    engine_semaphore_ps: 23_000,
    dependent_gap_ps: 35_000,
    chained_gap_ps: 30_000,
    trigger_ps: 60_000,
    trigger_ii_ps: 82_000,
    dma_start_ps: 445_000,
    dma_read_latency_ps: 800_000,
    // Isolated 512 KB stores complete 2.74 to 2.97 us after their trigger, a 1 MB store after 4.7 us.
    dma_sbuf_read_latency_ps: 95_000,
    dma_sbuf_write_ps: 95_000,
    dma_hbm_write_ps: 340_000,
    dma_semaphore_write_ps: 88_000,
    dma_compute_factor: 2,
    dma_bytes_per_us: 17_000,
    dma_descriptor_partitions: 4,
    dma_row_min_bytes: 4,
    dma_row_min_ps: 7_000,
    dma_row_efficiency: &[(256, 380), (1024, 380), (4000, 1000)],
    hbm_core_bytes_per_us: 410_000,
    hbm_chip_bytes_per_us: 820_000,
    program_overhead_ps: 15_000_000,
    collectives: Collectives {
        launch_ps: 26_200_000,
        floor_ps: 58_000_000,
        hop_ps: 3_900_000,
        efa_hop_ps: 11_060_000,
        bytes_per_us: 54_500,
        barrier_ps: 1_300_000,
    },
};

/// The chips that programs can be compiled for.
pub const TARGETS: &[Target] = &[
    neuron_core_v2("trainium1", &["trn1", "trn1n", "gen2"]),
    neuron_core_v2("inferentia2", &["inf2"]),
];

const fn neuron_core_v2(name: &'static str, aliases: &'static [&'static str]) -> Target {
    Target {
        name,
        aliases,
        generation: Generation::V2,
        cores: 2,
        partitions: 128,
        sbuf_partition_bytes: 196_608,
        sbuf_usable_bytes: 180_224,
        psum_partition_bytes: 16_384,
        psum_bank_bytes: 2_048,
        min_align: 4,
        hbm_bytes: 32 << 30,
        stationary_max: 128,
        moving_max: 512,
        bn_stats_max: 512,
        vector_transpose_max: 32,
        sbuf_elements_max: 65_536,
        psum_elements_max: 4_096,
        free_dims_max: 4,
        stride_max: 32_767,
        pe_tile_sizes: &[64, 128],
        dma_engines: 16,
        semaphores: 256,
        timing: TIMING_V2,
    }
}

impl Target {
    /// Finds a target by name or alias.
    pub fn from_name(name: &str) -> Option<&'static Target> {
        TARGETS
            .iter()
            .find(|it| it.name == name || it.aliases.contains(&name))
    }

    /// Bytes a partition that a sum takes in PSUM: a matmul writes inside one bank, so that large ones have theirs alone.
    pub fn psum_bytes(&self, bytes: u64) -> u64 {
        let bank_bytes = u64::from(self.psum_bank_bytes);
        match 2 * bytes > bank_bytes {
            true => bytes.next_multiple_of(bank_bytes),
            false => bytes,
        }
    }

    pub fn psum_banks(&self) -> u32 {
        self.psum_partition_bytes / self.psum_bank_bytes
    }

    /// Partitions that one DMA engine serves.
    pub fn partitions_per_dma_engine(&self) -> u32 {
        self.partitions / self.dma_engines
    }

    /// The start partitions that an access of `partitions` partitions may have (ARCH, `isa.md` §1.4).
    pub fn legal_starts(&self, partitions: u32) -> &'static [u32] {
        match partitions {
            0..=32 => &[0, 32, 64, 96],
            33..=64 => &[0, 64],
            _ => &[0],
        }
    }

    /// Alignment of the addresses that a user may choose: elements lie at multiples of their size. The vendor's own
    /// library allocates so (its stack allocator packs a bf16 column at byte 2), so Q13's 4 bytes bind only us.
    pub fn align_of(&self, dtype: Dtype) -> u32 {
        dtype.size().min(self.min_align)
    }

    /// Duration of cycles of an engine's clock, rounded up to whole picoseconds.
    pub fn cycles_to_ps(&self, engine: Engine, cycles: u64) -> u64 {
        (cycles * 1_000_000).div_ceil(u64::from(self.timing.clock_mhz[engine as usize]))
    }
}
