//! What the model says of a launch: instructions, memory, and time.
//!
//! Takes programs with their traces, gives sums. Never runs the model.

use crate::trace::Trace;
use nk_compiler::Compiled;
use nk_compiler::isa::{N_ENGINES, Unit};
use nk_compiler::reorder::Reordered;
use nk_compiler::spill::Spilled;

/// The size of a launch, and its time by the model: that of the core that ends last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Modelled {
    /// Instructions by engine, without DMAs.
    pub instructions: [usize; N_ENGINES],
    pub dmas: usize,
    pub sbuf_peak_bytes: u32,
    pub psum_peak_bytes: u32,
    pub spilled: Spilled,
    /// How the order of the first program was chosen, when another than its own was asked for.
    pub reordered: Option<Reordered>,
    pub total_ps: u64,
    /// The time of each core or rank; one for a launch on one core.
    pub core_ps: Vec<u64>,
    pub busy_ps: [u64; N_ENGINES],
    pub dma_busy_ps: u64,
    pub charged_ps: u64,
    pub guessed_ps: u64,
}

impl Modelled {
    /// The share of the charged work that rests on guessed costs.
    pub fn guessed_share(&self) -> f64 {
        if self.charged_ps == 0 {
            0.0
        } else {
            self.guessed_ps as f64 / self.charged_ps as f64
        }
    }

    /// A program that a core executes along a path of segments.
    pub fn of(compiled: &Compiled, trace: &Trace, path: &[u32], core: usize) -> Modelled {
        let program = &compiled.program;
        let control = program.control();
        let mut counts = vec![0u64; control.segments.len()];
        path.iter().for_each(|&it| counts[it as usize] += 1);
        let totals = trace.along(&control, &counts);
        let mut modelled = Modelled {
            sbuf_peak_bytes: compiled.placement.sbuf_peak_bytes,
            psum_peak_bytes: compiled.placement.psum_peak_bytes,
            spilled: compiled.spilled,
            reordered: compiled.reordered,
            total_ps: totals.total_ps,
            core_ps: vec![0; core + 1],
            busy_ps: totals.busy_ps,
            dma_busy_ps: totals.dma_busy_ps,
            charged_ps: totals.charged_ps,
            guessed_ps: totals.guessed_ps,
            ..Modelled::default()
        };
        modelled.core_ps[core] = totals.total_ps;
        for (segment, &count) in counts.iter().enumerate() {
            for inst in control.insts(segment).map(|it| &program[it]) {
                match inst.op.row().unit {
                    Unit::Dma => modelled.dmas += count as usize,
                    Unit::Engine | Unit::Sequencer => {
                        modelled.instructions[inst.engine as usize] += count as usize;
                    }
                }
            }
        }
        modelled
    }

    /// Adds what another core, or the same one later, has executed.
    pub fn join(&mut self, other: &Modelled) {
        let add = |sum: &mut u64, part: u64| *sum = sum.saturating_add(part);
        for engine in 0..N_ENGINES {
            self.instructions[engine] += other.instructions[engine];
            add(&mut self.busy_ps[engine], other.busy_ps[engine]);
        }
        self.dmas += other.dmas;
        self.sbuf_peak_bytes = self.sbuf_peak_bytes.max(other.sbuf_peak_bytes);
        self.psum_peak_bytes = self.psum_peak_bytes.max(other.psum_peak_bytes);
        self.reordered = self.reordered.or(other.reordered);
        self.spilled.save_bytes += other.spilled.save_bytes;
        self.spilled.reload_bytes += other.spilled.reload_bytes;
        self.spilled.psum_bytes += other.spilled.psum_bytes;
        add(&mut self.dma_busy_ps, other.dma_busy_ps);
        add(&mut self.charged_ps, other.charged_ps);
        add(&mut self.guessed_ps, other.guessed_ps);
        if self.core_ps.len() < other.core_ps.len() {
            self.core_ps.resize(other.core_ps.len(), 0);
        }
        for (sum, ps) in self.core_ps.iter_mut().zip(&other.core_ps) {
            add(sum, *ps);
        }
        self.total_ps = self.core_ps.iter().copied().max().unwrap_or(0);
    }
}
