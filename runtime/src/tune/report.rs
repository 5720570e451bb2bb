//! The results of a search: a table for people, CSV and JSON for programs.

use super::{Axis, Candidate, Verdict, params};
use crate::append::line;
use crate::report::micros;
use crate::summary::{Summary, bound_by};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What was measured, fastest first; of two with the same time the one that needs less SBUF.
pub fn ranked(candidates: &[Candidate]) -> Vec<(&Candidate, &Summary)> {
    let measured = candidates.iter().filter_map(|it| match &it.verdict {
        Verdict::Measured(summary) => Some((it, summary)),
        Verdict::Skipped { .. } => None,
    });
    let mut ranked: Vec<_> = measured.collect();
    ranked.sort_by_key(|(candidate, it)| (it.time_ps, it.sbuf_peak_bytes, candidate.point.clone()));
    ranked
}

/// Rows of the table.
const MAX_ROWS: usize = 20;

/// The table, and what was skipped for which reason.
pub fn text(axes: &[Axis], candidates: &[Candidate]) -> String {
    let ranked = ranked(candidates);
    let mut out = String::new();
    let widths: Vec<usize> = axes.iter().map(width).collect();
    let mut push = |text: String| line!(out, "{}", text.trim_end());
    let names: Vec<String> = axes
        .iter()
        .zip(&widths)
        .map(|(it, width)| format!("{:>width$}", it.name))
        .collect();
    if !ranked.is_empty() {
        push(format!(
            "  rank  {}  {:>12} {:>10} {:>10} {:>7}  bound by",
            names.join("  "),
            "time us",
            "sbuf B",
            "psum B",
            "MFU %"
        ));
    }
    for (rank, (candidate, summary)) in ranked.iter().enumerate().take(MAX_ROWS) {
        let values = params(axes, &candidate.point).into_iter().zip(&widths);
        let values: Vec<String> = values
            .map(|((_, value), width)| format!("{value:>width$}"))
            .collect();
        let mfu = summary
            .mfu
            .map_or("-".to_string(), |it| format!("{:.1}", 100.0 * it));
        push(format!(
            "  {:>4}  {}  {:>12} {:>10} {:>10} {mfu:>7}  {}",
            rank + 1,
            values.join("  "),
            micros(summary.time_ps),
            summary.sbuf_peak_bytes,
            summary.psum_peak_bytes,
            bound_by(summary)
        ));
    }
    if ranked.len() > MAX_ROWS {
        push(format!("  and {} more", ranked.len() - MAX_ROWS));
    }
    let n_skipped = candidates.len() - ranked.len();
    push(format!("{} measured, {n_skipped} skipped", ranked.len()));
    for (code, (count, message)) in skipped(candidates) {
        push(format!("  {count} x {code}: {message}"));
    }
    out
}

fn width(axis: &Axis) -> usize {
    let values = axis.values.iter().map(|it| it.chars().count());
    values.chain([axis.name.chars().count()]).max().unwrap_or(0)
}

/// How many were skipped for each reason, with the message of one.
fn skipped(candidates: &[Candidate]) -> BTreeMap<&str, (usize, &str)> {
    let mut reasons: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for candidate in candidates {
        if let Verdict::Skipped { code, message } = &candidate.verdict {
            reasons.entry(code).or_insert((0, message)).0 += 1;
        }
    }
    reasons
}

/// A line for each combination: what was measured, fastest first, then what was skipped.
pub fn csv(axes: &[Axis], candidates: &[Candidate]) -> String {
    let field = |text: &str| match text.contains(['"', ',', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    };
    let values = |it: &Candidate| -> String {
        params(axes, &it.point)
            .iter()
            .map(|it| field(&it.1) + ",")
            .collect()
    };
    let mut out: String = axes.iter().map(|it| field(&it.name) + ",").collect();
    out.push_str("modelled_ns,sbuf_peak_bytes,psum_peak_bytes,instructions,mfu,bottleneck,skipped\n");
    for (candidate, it) in ranked(candidates) {
        let mfu = it.mfu.map_or(String::new(), |it| it.to_string());
        let (ns, name) = (it.time_ps as f64 / 1e3, it.bottleneck);
        let (sbuf, psum, n_insts) = (it.sbuf_peak_bytes, it.psum_peak_bytes, it.n_insts);
        out.push_str(&format!(
            "{}{ns},{sbuf},{psum},{n_insts},{mfu},{name},\n",
            values(candidate)
        ));
    }
    for candidate in candidates {
        if let Verdict::Skipped { code, .. } = &candidate.verdict {
            out.push_str(&format!("{},,,,,,{}\n", values(candidate), field(code)));
        }
    }
    out
}

/// Everything as one object; `verified` holds what is wrong with the values of the best, `None` for nothing.
pub fn json(axes: &[Axis], candidates: &[Candidate], verified: &[Option<String>]) -> Value {
    let values = |it: &Candidate| -> Value {
        params(axes, &it.point)
            .into_iter()
            .map(|(name, value)| (name, json!(value)))
            .collect()
    };
    let measured = ranked(candidates)
        .into_iter()
        .enumerate()
        .map(|(rank, (candidate, it))| {
            let busy: Value = it
                .busy
                .iter()
                .map(|(name, share)| (name.to_string(), json!(share)))
                .collect();
            let mut object = json!({
                "params": values(candidate),
                "modelled_ns": it.time_ps as f64 / 1e3,
                "sbuf_peak_bytes": it.sbuf_peak_bytes,
                "psum_peak_bytes": it.psum_peak_bytes,
                "instructions": it.n_insts,
                "mfu_estimated_percent": it.mfu,
                "bottleneck": it.bottleneck,
                "busy": busy,
            });
            if let Some(wrong) = verified.get(rank) {
                object["verified"] = json!(wrong.is_none());
                object["wrong"] = json!(wrong);
            }
            object
        });
    let reasons: Value = skipped(candidates)
        .into_iter()
        .map(|(code, it)| (code.to_string(), json!(it.0)))
        .collect();
    let measured: Vec<Value> = measured.collect();
    json!({
        "measured": measured.len(),
        "skipped": candidates.len() - measured.len(),
        "skip_reasons": reasons,
        "candidates": measured,
    })
}
