//! What the command prints of a run: text for people, JSON for programs.
//!
//! Takes outcomes, gives strings. Keeps three words apart: emulated values, modelled time, wall time.

use crate::Rounding;
use crate::append::line;
use crate::session::{Modelled, NamedCheck, Outcome, Saved, Wall};
use crate::tensor::Tensor;
use nk_compiler::isa::ENGINES;
use nk_compiler::reorder::Reordered;
use nk_compiler::spill::Spilled;
use nk_compiler::target::Target;
use serde_json::{Value, json};
use std::time::Duration;

/// A run in lines.
pub fn run_text(outcome: &Outcome, target: &Target) -> String {
    let mut out = outcome_text(outcome, target);
    line(&mut out, "wall", &wall_text(&outcome.wall));
    out
}

/// A run in lines without our own time: the same text whenever it is run.
pub(crate) fn outcome_text(outcome: &Outcome, target: &Target) -> String {
    let mut out = format!("{} on {}\n", outcome.kernel, outcome.target);
    let saved = outcome.results.iter().chain(&outcome.mutated);
    let width = saved.clone().map(|it| it.name.chars().count()).max().unwrap_or(0);
    for (idx, it) in saved.enumerate() {
        let what = if idx < outcome.results.len() {
            "result"
        } else {
            "written"
        };
        line(&mut out, what, &saved_text(it, width));
    }
    for check in &outcome.checks {
        line(&mut out, "check", &check_text(check));
    }
    if let Rounding::Stochastic { seed } = outcome.rounding {
        line(&mut out, "rounding", &format!("stochastic, seed {seed}"));
    }
    watch_text(&mut out, outcome);
    modelled_text(&mut out, &outcome.modelled, target);
    out
}

fn watch_text(out: &mut String, outcome: &Outcome) {
    let traps: Vec<&str> = outcome.lookout.traps.iter().map(|it| it.name()).collect();
    let (ms, of_ms) = (millis(outcome.wall.watch), millis(outcome.wall.emulate));
    if !traps.is_empty() {
        let text = format!(
            "no instruction makes what is looked for: {}; looking took {ms:.1} of {of_ms:.1} ms",
            traps.join(", ")
        );
        line(out, "trap", &text);
    }
    if outcome.lookout.sanitize {
        let done = outcome.sanitized;
        let text = format!(
            "{} reads of {} tensors with run-time addresses checked, {} bytes of shadow, {} lives poisoned; it took \
             {ms:.1} of {of_ms:.1} ms",
            done.n_checked, done.n_tensors, done.shadow_bytes, done.n_poisoned
        );
        line(out, "sanitize", &text);
    }
}

fn line(out: &mut String, what: &str, text: &str) {
    line!(out, "  {what:<12} {text}");
}

fn saved_text(saved: &Saved, width: usize) -> String {
    let sizes: Vec<String> = saved.tensor.shape().iter().map(usize::to_string).collect();
    let file = saved
        .file
        .as_ref()
        .map_or(String::new(), |it| format!("  -> {}", it.display()));
    format!(
        "{:<width$}  {}[{}]  {}{file}",
        saved.name,
        saved.tensor.dtype().name(),
        sizes.join(", "),
        preview(&saved.tensor)
    )
}

/// The first few values.
fn preview(tensor: &Tensor) -> String {
    const MAX_VALUES: usize = 4;
    let size = tensor.dtype().size() as usize;
    let n_shown = tensor.count().min(MAX_VALUES);
    let first = Tensor::new(
        tensor.dtype(),
        vec![n_shown],
        tensor.bytes()[..n_shown * size].to_vec(),
    );
    let values = first.expect("the bytes of so many elements").to_f64();
    let values: Vec<String> = values.into_iter().map(number).collect();
    let rest = if tensor.count() > MAX_VALUES { " …" } else { "" };
    format!("{}{rest}", values.join(" "))
}

/// A number, short enough to stand among others.
fn number(value: f64) -> String {
    let size = value.abs();
    if value == value.trunc() && size < 1e6 || !value.is_finite() {
        format!("{value}")
    } else if (1e-3..1e5).contains(&size) {
        format!("{value:.4}")
    } else {
        format!("{value:.3e}")
    }
}

pub(crate) fn check_text(check: &NamedCheck) -> String {
    let names = format!("{} against {}", check.result, check.against);
    let found = match &check.check {
        Err(reason) => return format!("{names}: failed: {reason}"),
        Ok(found) => found,
    };
    let largest = number(found.max_abs_err);
    let allowed = format!(
        "{} + {} * |want| is allowed",
        number(found.atol),
        number(found.rtol)
    );
    match &found.first_bad {
        None => format!("{names}: ok, largest error {largest} where {allowed}"),
        Some((index, got, want)) => format!(
            "{names}: failed: {} of {} elements are off, the first at {index:?}: {} instead of {}; \
             largest error {largest} where {allowed}",
            found.n_bad,
            found.n_elements,
            number(*got),
            number(*want)
        ),
    }
}

fn modelled_text(out: &mut String, modelled: &Modelled, target: &Target) {
    let mut counts: Vec<String> = Vec::new();
    for (engine, name) in ENGINES {
        let n_insts = modelled.instructions[*engine as usize];
        if n_insts > 0 {
            counts.push(format!("{name} {n_insts}"));
        }
    }
    counts.push(format!("dma {}", modelled.dmas));
    line(out, "instructions", &counts.join(", "));
    let peak = |bytes: u32, limit: u32| format!("{bytes} of {limit} bytes a partition");
    line(
        out,
        "sbuf peak",
        &peak(modelled.sbuf_peak_bytes, target.sbuf_partition_bytes),
    );
    line(
        out,
        "psum peak",
        &peak(modelled.psum_peak_bytes, target.psum_partition_bytes),
    );
    if modelled.spilled != Spilled::default() {
        line(out, "spilled", &modelled.spilled.to_string());
    }
    if let Some(reordered) = modelled.reordered {
        line(out, "order", &reordered.to_string());
    }
    let overhead = micros(target.timing.program_overhead_ps);
    let total = micros(modelled.total_ps);
    line(
        out,
        "modelled",
        &format!("{total} us, and {overhead} us of program overhead on a device"),
    );
    // What several cores do is a sum, so its share is that of the time of all of them.
    let n_cores = modelled.core_ps.len().max(1);
    let percent = |part: u64| 100.0 * part as f64 / (modelled.total_ps.max(1) as f64 * n_cores as f64);
    let mut busy: Vec<String> = Vec::new();
    for (engine, name) in ENGINES {
        let busy_ps = modelled.busy_ps[*engine as usize];
        if busy_ps > 0 {
            busy.push(format!(
                "{name} {} us ({:.0} %)",
                micros(busy_ps),
                percent(busy_ps)
            ));
        }
    }
    busy.push(format!(
        "dma {} us ({:.0} %)",
        micros(modelled.dma_busy_ps),
        percent(modelled.dma_busy_ps)
    ));
    let of_cores = if n_cores > 1 {
        format!(" of {n_cores} cores")
    } else {
        String::new()
    };
    line(out, "busy", &format!("{}{of_cores}", busy.join(", ")));
    let guessed = 100.0 * modelled.guessed_share();
    line(
        out,
        "guessed",
        &format!("{guessed:.0} % of the modelled work rests on guessed costs"),
    );
}

/// Microseconds with three decimals, without the zeros at the end.
pub(crate) fn micros(ps: u64) -> String {
    let text = format!("{:.3}", ps as f64 / 1e6);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn wall_text(wall: &Wall) -> String {
    format!(
        "compile {:.1} ms, emulate {:.1} ms, files {:.1} ms, checks {:.1} ms",
        millis(wall.compile),
        millis(wall.emulate),
        millis(wall.io),
        millis(wall.check)
    )
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// A run as one JSON object.
pub fn run_json(outcome: &Outcome) -> Value {
    let modelled = &outcome.modelled;
    let by_engine = |values: &dyn Fn(usize) -> Value| -> Value {
        ENGINES
            .iter()
            .map(|(engine, name)| (name.to_string(), values(*engine as usize)))
            .collect()
    };
    json!({
        "kernel": outcome.kernel,
        "target": outcome.target,
        "ok": outcome.ok(),
        "results": outcome.results.iter().map(saved_json).collect::<Vec<_>>(),
        "mutated": outcome.mutated.iter().map(saved_json).collect::<Vec<_>>(),
        "checks": outcome.checks.iter().map(check_json).collect::<Vec<_>>(),
        "instructions": by_engine(&|it| json!(modelled.instructions[it])),
        "dmas": modelled.dmas,
        "sbuf_peak_bytes": modelled.sbuf_peak_bytes,
        "psum_peak_bytes": modelled.psum_peak_bytes,
        "order": order_json(modelled.reordered),
        "spill_save_bytes": modelled.spilled.save_bytes,
        "spill_reload_bytes": modelled.spilled.reload_bytes,
        "spill_psum_bytes": modelled.spilled.psum_bytes,
        "modelled_ns": nanos(modelled.total_ps),
        "busy_ns": by_engine(&|it| json!(nanos(modelled.busy_ps[it]))),
        "dma_busy_ns": nanos(modelled.dma_busy_ps),
        "guessed_share": modelled.guessed_share(),
        "compile_ms": millis(outcome.wall.compile),
        "emulate_ms": millis(outcome.wall.emulate),
        "io_ms": millis(outcome.wall.io),
        "check_ms": millis(outcome.wall.check),
        "watch_ms": millis(outcome.wall.watch),
        "traps": outcome.lookout.traps.iter().map(|it| it.name()).collect::<Vec<_>>(),
        "sanitized": outcome.lookout.sanitize.then(|| json!({
            "tensors": outcome.sanitized.n_tensors,
            "shadow_bytes": outcome.sanitized.shadow_bytes,
            "reads_checked": outcome.sanitized.n_checked,
            "lives_poisoned": outcome.sanitized.n_poisoned,
        })),
        "seed": outcome.seed,
        "stochastic_rounding": match outcome.rounding {
            Rounding::Nearest => None,
            Rounding::Stochastic { seed } => Some(seed),
        },
    })
}

fn nanos(ps: u64) -> f64 {
    ps as f64 / 1e3
}

fn saved_json(saved: &Saved) -> Value {
    json!({
        "name": saved.name,
        "shape": saved.tensor.shape(),
        "dtype": saved.tensor.dtype().name(),
        "file": saved.file.as_ref().map(|it| it.display().to_string()),
    })
}

fn check_json(check: &NamedCheck) -> Value {
    let found = check.check.as_ref().ok();
    // JSON has no infinity; an error that is not finite is null beside `ok: false`.
    json!({
        "name": check.result,
        "against": check.against,
        "ok": check.ok(),
        "max_abs_err": found.map(|it| it.max_abs_err),
        "max_rel_err": found.map(|it| it.max_rel_err),
        "first_bad_index": found.and_then(|it| it.first_bad.as_ref()).map(|it| &it.0),
        "reason": check.check.as_ref().err(),
    })
}

/// How an order was chosen: both times, and which of them it is.
pub fn order_json(reordered: Option<Reordered>) -> Value {
    match reordered {
        None => json!("program"),
        Some(it) => json!({
            "taken": if it.is_taken() { "reordered" } else { "program" },
            "program_ns": nanos(it.program_ps),
            "reordered_ns": it.other_ps.map(nanos),
        }),
    }
}
