//! The results file of a search: one JSON object a line, the first says what was searched.
//!
//! A second run reads it and measures only what is missing; a line that was cut off is measured again.

use super::{Axis, Candidate, Verdict, params};
use crate::profile::bottlenecks;
use crate::summary::Summary;
use nk_compiler::isa::ENGINES;
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// An open results file.
pub struct Record {
    file: File,
    axes: Vec<Axis>,
}

/// Opens a results file, or makes it; gives what it holds. `identity` names the kernel, its arguments and its source: a
/// file of another search is refused.
pub fn open(path: &Path, identity: &Value, axes: &[Axis]) -> Result<(Record, Vec<Candidate>), String> {
    let shown = path.display();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{shown}: {error}")),
    };
    let mut known = Vec::new();
    let mut lines = text.lines();
    let is_new = match lines.next() {
        None => true,
        Some(first) if serde_json::from_str::<Value>(first).ok().as_ref() == Some(identity) => false,
        Some(_) => {
            return Err(format!(
                "{shown} holds the results of another search; name another file, or delete it"
            ));
        }
    };
    for line in lines {
        known.extend(
            serde_json::from_str(line)
                .ok()
                .and_then(|it| candidate(&it, axes)),
        );
    }
    let file = OpenOptions::new().create(true).append(true).open(path);
    let file = file.map_err(|it| format!("{shown}: {it}"))?;
    let mut record = Record {
        file,
        axes: axes.to_vec(),
    };
    let head = match (is_new, text.ends_with('\n')) {
        (true, _) => format!("{identity}\n"),
        (false, true) => String::new(),
        (false, false) => "\n".to_string(),
    };
    record.push(&head).map_err(|it| format!("{shown}: {it}"))?;
    Ok((record, known))
}

impl Record {
    /// Adds a result.
    pub fn add(&mut self, candidate: &Candidate) -> std::io::Result<()> {
        let values: Value = params(&self.axes, &candidate.point)
            .into_iter()
            .map(|it| (it.0, json!(it.1)))
            .collect();
        let line = match &candidate.verdict {
            Verdict::Measured(it) => json!({
                "params": values,
                "kernel": it.kernel,
                "instructions": it.n_insts,
                "time_ps": it.time_ps,
                "sbuf_peak_bytes": it.sbuf_peak_bytes,
                "psum_peak_bytes": it.psum_peak_bytes,
                "mfu": it.mfu,
                "bottleneck": it.bottleneck,
                "busy": it.busy.iter().map(|it| it.1).collect::<Vec<_>>(),
            }),
            Verdict::Skipped { code, message } => {
                json!({"params": values, "skipped": code, "message": message})
            }
        };
        self.push(&format!("{line}\n"))
    }

    fn push(&mut self, text: &str) -> std::io::Result<()> {
        self.file.write_all(text.as_bytes())
    }
}

/// A line of the file, if it is whole and belongs to these axes.
fn candidate(line: &Value, axes: &[Axis]) -> Option<Candidate> {
    let number = |axis: &Axis| {
        let value = line["params"][axis.name.as_str()].as_str()?;
        axis.values.iter().position(|it| it == value)
    };
    // A combination of other parameters, too, is another one.
    if line["params"].as_object()?.len() != axes.len() {
        return None;
    }
    let point = axes.iter().map(number).collect::<Option<Vec<usize>>>()?;
    if let Some(code) = line["skipped"].as_str() {
        let (code, message) = (code.to_string(), line["message"].as_str()?.to_string());
        return Some(Candidate {
            point,
            verdict: Verdict::Skipped { code, message },
        });
    }
    let names: Vec<&'static str> = ENGINES.iter().map(|it| it.1).chain(["dma"]).collect();
    let shares = line["busy"]
        .as_array()?
        .iter()
        .map(Value::as_f64)
        .collect::<Option<Vec<f64>>>()?;
    let bytes = |name: &str| u32::try_from(line[name].as_u64()?).ok();
    let summary = Summary {
        kernel: line["kernel"].as_str()?.to_string(),
        n_insts: usize::try_from(line["instructions"].as_u64()?).ok()?,
        time_ps: line["time_ps"].as_u64()?,
        sbuf_peak_bytes: bytes("sbuf_peak_bytes")?,
        psum_peak_bytes: bytes("psum_peak_bytes")?,
        mfu: line["mfu"].as_f64(),
        bottleneck: bottlenecks().find(|it| Some(*it) == line["bottleneck"].as_str())?,
        busy: names.iter().copied().zip(shares).collect(),
    };
    Some(Candidate {
        point,
        verdict: Verdict::Measured(summary),
    })
}
