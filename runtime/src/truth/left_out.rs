//! What a fitted figure would be if it had no part in the fit.
//!
//! For each figure that a constant was read from, the constant is read from the other figures, or is the one that the
//! vendor documents, and the case is modelled again with it.

use super::{Case, Figure, MEASURED_ON, cases};
use crate::profile::Profile;
use crate::session::Failure;
use nk_compiler::isa::Engine;
use nk_compiler::source::Sources;
use nk_compiler::target::{Target, Timing};

/// A fit with what it becomes.
#[derive(Debug)]
pub struct LeftOut {
    pub case: &'static Case,
    pub figure: &'static Figure,
    pub ours: f64,
    /// Percent.
    pub error: f64,
    pub how: &'static str,
}

/// Durations of `tensor_tensor` in nanoseconds by elements: two of them give the rate and the latency.
const DURATIONS: [(f64, f64); 3] = [(1000.0, 2016.5), (2000.0, 3820.0), (8192.0, 14_987.0)];

/// The other two rows of 1 to 3, whose mean efficiency takes the place of all three: bytes over time over 272 GB/s.
const ROWS_LEFT: [(&str, &[(u64, u64)]); 3] = [
    ("1", &[(256, 380), (1024, 380), (4000, 1000)]),
    ("2", &[(256, 383), (1024, 383), (4000, 1000)]),
    ("3", &[(256, 383), (1024, 383), (4000, 1000)]),
];

/// The documented gap of an access (ARCH): "around 60 cycles".
const DOCUMENTED_GAP_CYCLES: u64 = 60;

/// By how much later the first load of row 50 ends than the constants say that were read from row 49.
const LATER_READ_PS: u64 = 447_000;

/// Every fitted figure without its own part in the fit.
pub fn leave_one_out() -> Result<Vec<LeftOut>, Failure> {
    let mut all = Vec::new();
    for case in cases() {
        let Some(figure) = case.figures.iter().find(|it| it.is_fit) else {
            continue;
        };
        let mut timing = MEASURED_ON.timing.clone();
        let how = refit(case, &mut timing);
        // The target lives as long as the profile that names it, which is as long as the command.
        let target: &'static Target = Box::leak(Box::new(Target {
            timing,
            ..MEASURED_ON.clone()
        }));
        let mut sources = Sources::new();
        let compiled = case.compile(&mut sources)?;
        let profile = Profile::new(&compiled, target, &sources);
        let ours = figure.quantity.of(&compiled, &profile);
        all.push(LeftOut {
            case,
            figure,
            ours,
            error: figure.quantity.error(ours, figure.theirs),
            how,
        });
    }
    Ok(all)
}

fn refit(case: &Case, timing: &mut Timing) -> &'static str {
    let vector = Engine::Vector as usize;
    if case.id == "TT" {
        let theirs = case.figures.first().map_or(0.0, |it| it.theirs);
        let mut others = DURATIONS.into_iter().filter(|it| it.1 != theirs);
        if let (Some(short), Some(long)) = (others.next(), others.next()) {
            let ns_per_element = (long.1 - short.1) / (long.0 - short.0);
            let cycles = ns_per_element * f64::from(timing.clock_mhz[vector]) / 1e3;
            timing.two_stream_millicycles = (cycles * 1e3).round() as u64;
            timing.completion_ps[vector] = ((short.1 - ns_per_element * short.0) * 1e3).round() as u64;
        }
        return "rate and latency from the other two sizes";
    }
    if let Some((_, efficiency)) = ROWS_LEFT.iter().find(|it| it.0 == case.id) {
        timing.dma_row_efficiency = efficiency;
        return "row efficiency from the other two rows";
    }
    if case.id == "49" {
        timing.dma_read_latency_ps += LATER_READ_PS;
        return "first-byte latency from row 50";
    }
    timing.access_gap_cycles[vector] = DOCUMENTED_GAP_CYCLES;
    "the documented gap of 60 cycles"
}
