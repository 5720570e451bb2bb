//! A kernel in the few numbers that a change of its tiling moves: time, SRAM, and what it is bound by.
//!
//! Takes a compiled program and its profile, gives the numbers, and two of them side by side.

use crate::append::line;
use crate::profile::Profile;
use crate::report::micros;
use nk_compiler::Compiled;
use nk_compiler::isa::ENGINES;

/// The numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub kernel: String,
    pub n_insts: usize,
    pub time_ps: u64,
    pub sbuf_peak_bytes: u32,
    pub psum_peak_bytes: u32,
    /// The share of the PE array's peak; `None` without a matmul.
    pub mfu: Option<f64>,
    pub bottleneck: &'static str,
    /// The share of the time in which each engine, and DMA last, is busy.
    pub busy: Vec<(&'static str, f64)>,
}

impl Summary {
    pub fn new(compiled: &Compiled, profile: &Profile) -> Summary {
        let totals = &profile.totals;
        let share = |ps: u64| ps as f64 / totals.total_ps.max(1) as f64;
        let engines = ENGINES
            .iter()
            .map(|(engine, name)| (*name, totals.busy_ps[*engine as usize]));
        let busy = engines.chain([("dma", totals.dma_busy_ps)]);
        Summary {
            kernel: compiled.program.name.clone(),
            n_insts: compiled.program.insts.len(),
            time_ps: totals.total_ps,
            sbuf_peak_bytes: compiled.placement.sbuf_peak_bytes,
            psum_peak_bytes: compiled.placement.psum_peak_bytes,
            mfu: (profile.matmul_flops > 0).then(|| profile.mfu()),
            bottleneck: profile.bottleneck().0,
            busy: busy.map(|(name, ps)| (name, share(ps))).collect(),
        }
    }
}

/// What a kernel is bound by, with its share of the time; collectives have none, as they are not busy but under way.
pub(crate) fn bound_by(summary: &Summary) -> String {
    let bound = summary.bottleneck;
    match summary.busy.iter().find(|it| it.0 == bound) {
        Some((_, share)) => format!("{bound} ({:.0} %)", 100.0 * share),
        None => bound.to_string(),
    }
}

/// One line: `matmul_tiled: 33.81 us, sbuf 12288 bytes, psum 4096, MFU 4.3 %, bound by dma (92 %)`.
pub(crate) fn line(summary: &Summary) -> String {
    let mfu = summary
        .mfu
        .map_or(String::new(), |it| format!(", MFU {:.1} %", 100.0 * it));
    format!(
        "{}: {} us, sbuf peak {} bytes, psum peak {}{mfu}, bound by {}\n",
        summary.kernel,
        micros(summary.time_ps),
        summary.sbuf_peak_bytes,
        summary.psum_peak_bytes,
        bound_by(summary)
    )
}

/// What changed, a number a line, before -> after.
pub(crate) fn comparison(before: &Summary, after: &Summary) -> String {
    let mut out = String::new();
    let mut row = |name: &str, before: String, after: String, change: String| {
        let line = format!("  {name:<13} {before:>12} -> {after:<12} {change}");
        line!(out, "{}", line.trim_end());
    };
    let percent = |before: f64, after: f64| match before {
        _ if before == after => "same".to_string(),
        0.0 => String::new(),
        _ => format!("{:+.1} %", 100.0 * (after - before) / before),
    };
    let ps = |it: u64| format!("{} us", micros(it));
    row(
        "time",
        ps(before.time_ps),
        ps(after.time_ps),
        percent(before.time_ps as f64, after.time_ps as f64),
    );
    let mut bytes = |name: &str, a: u32, b: u32| {
        row(
            name,
            format!("{a} B"),
            format!("{b} B"),
            percent(a.into(), b.into()),
        );
    };
    bytes("sbuf peak", before.sbuf_peak_bytes, after.sbuf_peak_bytes);
    bytes("psum peak", before.psum_peak_bytes, after.psum_peak_bytes);
    let (a, b) = (before.n_insts, after.n_insts);
    row(
        "instructions",
        a.to_string(),
        b.to_string(),
        percent(a as f64, b as f64),
    );
    let share = |it: f64| format!("{:.1} %", 100.0 * it);
    if let (Some(a), Some(b)) = (before.mfu, after.mfu) {
        row("MFU", share(a), share(b), String::new());
    }
    row(
        "bound by",
        before.bottleneck.to_string(),
        after.bottleneck.to_string(),
        String::new(),
    );
    for ((name, a), (_, b)) in before.busy.iter().zip(&after.busy) {
        if *a > 0.0 || *b > 0.0 {
            row(&format!("{name} busy"), share(*a), share(*b), String::new());
        }
    }
    out
}
