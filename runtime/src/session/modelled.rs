//! What the model says of a launch: instructions, memory, and time.
//!
//! Takes programs with their traces, gives sums. Never runs the model.

use crate::trace::Trace;
use nk_compiler::Compiled;
use nk_compiler::isa::{ENGINES, N_ENGINES, Unit};
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

    /// Adds a program that a core executes behind those before it.
    pub fn add(&mut self, compiled: &Compiled, trace: &Trace, path: &[u32], core: usize) {
        let program = &compiled.program;
        let control = program.control();
        let mut counts = vec![0u64; control.segments.len()];
        path.iter().for_each(|&it| counts[it as usize] += 1);
        for (segment, &count) in counts.iter().enumerate() {
            for inst in control.insts(segment).map(|it| &program[it]) {
                match inst.op.row().unit {
                    Unit::Dma => self.dmas += count as usize,
                    Unit::Engine | Unit::Sequencer => {
                        self.instructions[inst.engine as usize] += count as usize;
                    }
                }
            }
        }
        let trace = trace.along(&control, &counts);
        self.sbuf_peak_bytes = self.sbuf_peak_bytes.max(compiled.placement.sbuf_peak_bytes);
        self.reordered = self.reordered.or(compiled.reordered);
        self.spilled.save_bytes += compiled.spilled.save_bytes;
        self.spilled.reload_bytes += compiled.spilled.reload_bytes;
        self.spilled.psum_bytes += compiled.spilled.psum_bytes;
        self.psum_peak_bytes = self.psum_peak_bytes.max(compiled.placement.psum_peak_bytes);
        if self.core_ps.len() <= core {
            self.core_ps.resize(core + 1, 0);
        }
        self.core_ps[core] += trace.total_ps;
        self.total_ps = self.total_ps.max(self.core_ps[core]);
        for (engine, _) in ENGINES {
            self.busy_ps[*engine as usize] += trace.busy_ps[*engine as usize];
        }
        self.dma_busy_ps += trace.dma_busy_ps;
        self.charged_ps += trace.charged_ps;
        self.guessed_ps += trace.guessed_ps;
    }

    /// Adds what another core, or the same one later, has executed.
    pub fn join(&mut self, other: &Modelled) {
        for engine in 0..N_ENGINES {
            self.instructions[engine] += other.instructions[engine];
            self.busy_ps[engine] += other.busy_ps[engine];
        }
        self.dmas += other.dmas;
        self.sbuf_peak_bytes = self.sbuf_peak_bytes.max(other.sbuf_peak_bytes);
        self.psum_peak_bytes = self.psum_peak_bytes.max(other.psum_peak_bytes);
        self.reordered = self.reordered.or(other.reordered);
        self.spilled.save_bytes += other.spilled.save_bytes;
        self.spilled.reload_bytes += other.spilled.reload_bytes;
        self.spilled.psum_bytes += other.spilled.psum_bytes;
        self.dma_busy_ps += other.dma_busy_ps;
        self.charged_ps += other.charged_ps;
        self.guessed_ps += other.guessed_ps;
        if self.core_ps.len() < other.core_ps.len() {
            self.core_ps.resize(other.core_ps.len(), 0);
        }
        for (core, ps) in other.core_ps.iter().enumerate() {
            self.core_ps[core] += ps;
        }
        self.total_ps = self.core_ps.iter().copied().max().unwrap_or(0);
    }
}
