//! A profile as lines for people and as one object for programs.

use super::{LineTime, Profile, ROW_LIMITS};
use crate::append::line;
use crate::trace::Event;
use nk_compiler::ir::Program;
use nk_compiler::isa::{ENGINES, Memory, Unit};
use serde_json::{Value, json};

/// Lines of each list that are shown.
const MAX_LINES: usize = 10;

/// Columns of the timeline.
const WIDTH: usize = 72;

pub(super) fn micros(ps: u64) -> String {
    format!("{:.3}", ps as f64 / 1e6)
}

/// The profile in lines.
pub fn text(profile: &Profile, program: &Program) -> String {
    let mut out = String::new();
    let totals = &profile.totals;
    let overhead_ps = profile.target.timing.program_overhead_ps;
    line!(out, "{} on {}, modelled", profile.kernel, profile.target.name);
    line!(
        out,
        "  time        {} us, {} us with the overhead of a program on a device",
        micros(totals.total_ps),
        micros(totals.total_ps + overhead_ps)
    );
    if !profile.is_exact {
        line!(
            out,
            "  loops       those whose bounds are registers are counted once"
        );
    }
    let guessed = 100.0 * totals.guessed_share();
    line!(
        out,
        "  guessed     {guessed:.0} % of the modelled work rests on guessed costs"
    );
    let (name, share) = profile.bottleneck();
    line!(
        out,
        "  bound by    {name}, busy {:.0} % of the time",
        100.0 * share
    );
    if profile.matmul_flops > 0 {
        line!(
            out,
            "  matmuls     {:.3} GFLOP, MFU {:.1} %, HFU {:.1} % of {:.1} TFLOPS",
            profile.matmul_flops as f64 / 1e9,
            100.0 * profile.mfu(),
            100.0 * profile.hfu(),
            profile.peak_flops() / 1e12
        );
        let side = if profile.intensity() < profile.ridge() {
            "HBM"
        } else {
            "the PE array"
        };
        line!(
            out,
            "  roofline    {:.1} FLOP a byte of HBM, limited by {side} (the ridge is at {:.0})",
            profile.intensity(),
            profile.ridge()
        );
    }
    let hbm = profile.traffic(Memory::Hbm);
    line!(
        out,
        "  hbm         {} bytes read, {} written, MBU {:.1} % of {} GB/s",
        hbm.read,
        hbm.written,
        100.0 * profile.mbu(),
        profile.target.timing.hbm_core_bytes_per_us / 1000
    );
    line!(out, "  spilled     {}", profile.spilled);
    if let Some(reordered) = profile.reordered {
        line!(out, "  order       {reordered}");
    }
    engines(&mut out, profile);
    dma(&mut out, profile);
    timeline(&mut out, profile, program);
    advice(&mut out, profile);
    list(&mut out, "critical path", &profile.critical, totals.total_ps);
    list(&mut out, "longest lines", &profile.lines, totals.total_ps);
    out
}

fn engines(out: &mut String, profile: &Profile) {
    line!(
        out,
        "\n  {:<8} {:>8} {:>10} {:>6}   waiting for: {:>9} {:>10} {:>10} {:>10}",
        "engine",
        "insts",
        "busy us",
        "%",
        "dma us",
        "engine us",
        "result us",
        "port us"
    );
    for (engine, name) in ENGINES {
        let idx = *engine as usize;
        let (busy_ps, waits) = (profile.totals.busy_ps[idx], profile.waits[idx]);
        if busy_ps == 0 && profile.n_insts[idx] == 0 {
            continue;
        }
        let percent = 100.0 * busy_ps as f64 / profile.totals.total_ps.max(1) as f64;
        line!(
            out,
            "  {name:<8} {:>8} {:>10} {percent:>6.1}                {:>9} {:>10} {:>10} {:>10}",
            profile.n_insts[idx],
            micros(busy_ps),
            micros(waits.dma_ps),
            micros(waits.engine_ps),
            micros(waits.dependence_ps),
            micros(waits.port_ps)
        );
    }
}

fn dma(out: &mut String, profile: &Profile) {
    let transfers = &profile.transfers;
    if transfers.count == 0 {
        return;
    }
    let busy_ps = profile.totals.dma_busy_ps;
    let percent = 100.0 * busy_ps as f64 / profile.totals.total_ps.max(1) as f64;
    let rate = transfers.bytes as f64 / (busy_ps.max(1) as f64 / 1e3);
    line!(
        out,
        "  {:<8} {:>8} {:>10} {percent:>6.1}   {} bytes at {rate:.1} GB/s while busy",
        "dma",
        transfers.count,
        micros(busy_ps),
        transfers.bytes
    );
    let rows: Vec<String> = row_classes()
        .zip(transfers.by_row)
        .filter(|it| it.1.0 > 0)
        .map(|(name, (count, bytes))| format!("{count} ({bytes} bytes) with rows {name}"))
        .collect();
    line!(out, "           transfers: {}", rows.join(", "));
}

/// Names of the classes of rows.
fn row_classes() -> impl Iterator<Item = String> {
    let starts = std::iter::once(0).chain(ROW_LIMITS);
    let ends = ROW_LIMITS.map(Some).into_iter().chain([None]);
    starts.zip(ends).map(|(start, end)| match end {
        Some(end) if start == 0 => format!("below {end} B"),
        Some(end) => format!("{start} to {end} B"),
        None => format!("{start} B and more"),
    })
}

/// The timeline alone.
pub fn timeline_text(profile: &Profile, program: &Program) -> String {
    let mut out = String::new();
    timeline(&mut out, profile, program);
    out
}

/// A row for each engine: how much of each stretch of time it is busy.
fn timeline(out: &mut String, profile: &Profile, program: &Program) {
    const BLOCKS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let total_ps = profile.trace.total_ps.max(1);
    let mut rows = vec![[0u64; WIDTH]; ENGINES.len() + 1];
    let mut add = |row: usize, start_ps: u64, end_ps: u64| {
        let column = |ps: u64| (u128::from(ps) * WIDTH as u128 / u128::from(total_ps)) as usize;
        let columns = column(start_ps)..=column(end_ps).min(WIDTH - 1);
        for (at, busy_ps) in rows[row][columns.clone()].iter_mut().enumerate() {
            let at = columns.start() + at;
            let (from, to) = (
                at as u64 * total_ps / WIDTH as u64,
                (at as u64 + 1) * total_ps / WIDTH as u64,
            );
            *busy_ps += end_ps.min(to).saturating_sub(start_ps.max(from));
        }
    };
    for (id, inst) in program.iter() {
        let Event {
            start_ps, free_ps, ..
        } = *profile.trace.event(id);
        if inst.op.row().unit != Unit::Dma {
            add(inst.engine as usize, start_ps, free_ps);
        }
    }
    for it in &profile.trace.transfers {
        add(ENGINES.len(), it.first_ps, it.last_ps);
    }
    let loops = if program.loops.is_empty() {
        ""
    } else {
        ", each loop once"
    };
    line!(
        out,
        "\n  timeline, {} us a column{loops}",
        micros(total_ps / WIDTH as u64)
    );
    let names = ENGINES.iter().map(|it| it.1).chain(["dma"]);
    for (name, row) in names.zip(&rows) {
        if row.iter().all(|it| *it == 0) {
            continue;
        }
        let column_ps = (total_ps / WIDTH as u64).max(1);
        let block = |it: &u64| BLOCKS[((it * 8).div_ceil(column_ps) as usize).min(8)];
        line!(out, "  {name:<8} {}", row.iter().map(block).collect::<String>());
    }
}

/// What one change would gain.
fn advice(out: &mut String, profile: &Profile) {
    if profile.advice.is_empty() {
        return;
    }
    line!(out, "\n  advice, with an upper bound on what each would gain");
    for it in &profile.advice {
        let percent = 100.0 * it.gain_ps as f64 / profile.totals.total_ps.max(1) as f64;
        line!(
            out,
            "  {:>12} us {percent:>6.1} %  {}: {} ({})",
            micros(it.gain_ps),
            it.rule.name(),
            it.evidence,
            it.places.join(", ")
        );
        line!(out, "                           help: {}", it.rule.fix());
    }
}

fn list(out: &mut String, title: &str, lines: &[LineTime], total_ps: u64) {
    if lines.is_empty() {
        return;
    }
    line!(out, "\n  {title}");
    for it in lines.iter().take(MAX_LINES) {
        let percent = 100.0 * it.ps as f64 / total_ps.max(1) as f64;
        line!(
            out,
            "  {:>12} us {percent:>6.1} %  {:>6} x {:<22} {}",
            micros(it.ps),
            it.count,
            it.what,
            it.place
        );
    }
    if lines.len() > MAX_LINES {
        line!(out, "  and {} more", lines.len() - MAX_LINES);
    }
}

/// The profile as one JSON object; counters have neuron-profile's names where it has one.
pub fn to_json(profile: &Profile) -> Value {
    let totals = &profile.totals;
    let nanos = |ps: u64| ps as f64 / 1e3;
    let share = |ps: u64| ps as f64 / totals.total_ps.max(1) as f64;
    let busy = |name: &str| {
        let engine = ENGINES.iter().find(|it| it.1 == name);
        engine.map_or(0, |it| totals.busy_ps[it.0 as usize])
    };
    let traffic = |memory: Memory| profile.traffic(memory);
    let list = |lines: &[LineTime]| {
        let line =
            |it: &LineTime| json!({"place": it.place, "op": it.what, "ns": nanos(it.ps), "count": it.count});
        lines.iter().map(line).collect::<Vec<_>>()
    };
    let waits: Value = ENGINES
        .iter()
        .map(|(engine, name)| {
            let it = profile.waits[*engine as usize];
            let value = json!({
                "dma_ns": nanos(it.dma_ps),
                "engine_ns": nanos(it.engine_ps),
                "dependence_ns": nanos(it.dependence_ps),
                "port_ns": nanos(it.port_ps),
            });
            (name.to_string(), value)
        })
        .collect();
    let by_engine: Value = ENGINES
        .iter()
        .map(|(engine, name)| (name.to_string(), json!(profile.n_insts[*engine as usize])))
        .collect();
    let (bottleneck, bottleneck_share) = profile.bottleneck();
    let rows: Vec<Value> = row_classes()
        .zip(profile.transfers.by_row)
        .map(|(name, (count, bytes))| json!({"rows": name, "transfers": count, "bytes": bytes}))
        .collect();
    json!({
        "kernel": profile.kernel,
        "target": profile.target.name,
        "modelled_ns": nanos(totals.total_ps),
        "latency_ns": nanos(totals.total_ps + profile.target.timing.program_overhead_ps),
        "order": crate::report::order_json(profile.reordered),
        "trip_counts_known": profile.is_exact,
        "guessed_share": totals.guessed_share(),
        "bottleneck": bottleneck,
        "bottleneck_share": bottleneck_share,
        "instructions": by_engine,
        "dma_transfers": profile.transfers.count,
        "dma_bytes": profile.transfers.bytes,
        "dma_active_bytes_per_second": profile.transfers.bytes as f64 / (totals.dma_busy_ps.max(1) as f64 / 1e12),
        "dma_row_histogram": rows,
        "dma_active_time_percent": share(totals.dma_busy_ps),
        "tensor_engine_active_time_percent": share(busy("tensor")),
        "vector_engine_active_time_percent": share(busy("vector")),
        "scalar_engine_active_time_percent": share(busy("scalar")),
        "gpsimd_engine_active_time_percent": share(busy("gpsimd")),
        "hbm_read_bytes": traffic(Memory::Hbm).read,
        "hbm_write_bytes": traffic(Memory::Hbm).written,
        "sbuf_read_bytes": traffic(Memory::Sbuf).read,
        "sbuf_write_bytes": traffic(Memory::Sbuf).written,
        "psum_read_bytes": traffic(Memory::Psum).read,
        "psum_write_bytes": traffic(Memory::Psum).written,
        "spill_save_bytes": profile.spilled.save_bytes,
        "spill_reload_bytes": profile.spilled.reload_bytes,
        "spill_psum_bytes": profile.spilled.psum_bytes,
        "hardware_flops": profile.hardware_flops,
        "transpose_flops": profile.transpose_flops,
        "hfu_estimated_percent": profile.hfu(),
        "mfu_estimated_percent": profile.mfu(),
        "mbu_estimated_percent": profile.mbu(),
        "mm_arithmetic_intensity": profile.intensity(),
        "roofline": {
            "peak_flops": profile.peak_flops(),
            "hbm_bytes_per_second": profile.target.timing.hbm_core_bytes_per_us as f64 * 1e6,
            "ridge_flops_per_byte": profile.ridge(),
            "limit": if profile.intensity() < profile.ridge() { "hbm" } else { "pe" },
        },
        "waits": waits,
        "advice": advice_json(profile),
        "critical_path": list(&profile.critical),
        "lines": list(&profile.lines),
    })
}

fn advice_json(profile: &Profile) -> Vec<Value> {
    let all = profile.advice.iter().map(|it| {
        json!({
            "rule": it.rule.name(),
            "evidence": it.evidence,
            "places": it.places,
            "gain_ns": it.gain_ps as f64 / 1e3,
            "without_ns": it.without_ps as f64 / 1e3,
            "help": it.rule.fix(),
        })
    });
    all.collect()
}
