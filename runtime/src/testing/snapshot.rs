//! Snapshots of IR, in the folder `snapshots` beside a kernel file.
//!
//! A snapshot holds the line that was run and the IR. Facts that a directive redacts are left out. Nothing is written
//! here unless it is accepted.

use crate::output;
use nk_compiler::directive::Redaction;
use similar::TextDiff;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A snapshot that is not what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    pub path: PathBuf,
    /// `None`: there is no such file.
    pub known: Option<String>,
    pub found: String,
}

impl Pending {
    /// Makes what was found the snapshot.
    pub fn accept(&self) -> std::io::Result<()> {
        std::fs::create_dir_all(self.path.parent().unwrap_or(Path::new("")))?;
        output::write(&self.path, &self.found)
    }
}

/// The difference, and what to do about it.
pub fn diff_text(pending: &Pending) -> String {
    let shown = pending.path.display().to_string();
    let Some(known) = &pending.known else {
        return format!("{shown}: there is no such snapshot; `--accept` writes it\n");
    };
    let diff = TextDiff::from_lines(known.as_str(), &pending.found);
    let diff = diff.unified_diff().header(&shown, "found").to_string();
    format!("{diff}`--accept` writes what was found, `--review` asks for each\n")
}

/// The first line of a snapshot: the directive as a comment of IR text.
pub fn header(directive: &str) -> String {
    let text = directive.trim_start_matches('#').trim();
    format!("; {text}\n\n")
}

/// IR without the facts that are redacted.
pub fn redacted(ir: &str, redactions: &[Redaction]) -> String {
    if redactions.is_empty() {
        return ir.to_string();
    }
    ir.lines()
        .map(|it| redacted_line(it, redactions) + "\n")
        .collect()
}

fn redacted_line(line: &str, redactions: &[Redaction]) -> String {
    let mut line = line.to_string();
    if redactions.contains(&Redaction::Addresses)
        && let Some(at) = line.find(" @ ")
        && let (Some(open), Some(close)) = (line[at..].find('['), line[at..].find(']'))
        && open < close
    {
        line.replace_range(at + open + 1..at + close, "…");
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    if redactions.contains(&Redaction::Counts)
        && let ["wait" | "signal", _, count] = words[..]
    {
        let start = line.len() - count.len();
        line.replace_range(start.., "…");
    }
    line
}

/// The snapshots of one kernel file.
pub struct Store {
    folder: PathBuf,
    stem: String,
}

impl Store {
    pub fn new(path: &Path) -> Store {
        Store {
            folder: path.parent().unwrap_or(Path::new("")).join("snapshots"),
            stem: stem(path),
        }
    }

    pub fn file(&self, label: &str, stage: &str) -> PathBuf {
        // Cranelift's IR has an ending of its own; the other stages are `.nir` text.
        let ending = if stage == "clif" { "" } else { ".nir" };
        self.folder.join(format!("{}.{label}.{stage}{ending}", self.stem))
    }

    pub fn files(&self) -> Vec<PathBuf> {
        let all = snapshots(&self.folder).into_iter();
        all.filter(|it| owner(it) == self.stem).collect()
    }

    /// Compares a text with its snapshot.
    pub fn compare(&self, label: &str, stage: &str, found: String) -> Option<Pending> {
        let path = self.file(label, stage);
        let known = std::fs::read_to_string(&path).ok();
        let same = known.as_deref() == Some(found.as_str());
        (!same).then_some(Pending { path, known, found })
    }
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .map_or(String::new(), |it| it.to_string_lossy().into_owned())
}

/// The stem of the kernel file that a snapshot is of.
fn owner(snapshot: &Path) -> String {
    let name = snapshot
        .file_name()
        .map_or(String::new(), |it| it.to_string_lossy().into_owned());
    name.split('.').next().unwrap_or("").to_string()
}

/// The snapshots in a folder, sorted.
fn snapshots(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|it| it.path());
    let is_snapshot = |it: &PathBuf| it.extension().is_some_and(|it| it == "nir" || it == "clif");
    let mut files: Vec<PathBuf> = entries.filter(is_snapshot).collect();
    files.sort();
    files
}

/// Snapshots beside kernel files that belong to none of them: their file is gone, or has another name.
pub fn orphans(paths: &[PathBuf]) -> Vec<PathBuf> {
    let stems: BTreeSet<(PathBuf, String)> = paths
        .iter()
        .map(|it| (it.parent().unwrap_or(Path::new("")).join("snapshots"), stem(it)))
        .collect();
    let folders: BTreeSet<&PathBuf> = stems.iter().map(|it| &it.0).collect();
    let all = folders
        .into_iter()
        .flat_map(|folder| snapshots(folder).into_iter().map(move |it| (folder, it)));
    all.filter(|(folder, it)| !stems.contains(&((*folder).clone(), owner(it))) && !has_kernel(folder, it))
        .map(|it| it.1)
        .collect()
}

/// Whether the kernel file of a snapshot is there, tested or not.
fn has_kernel(folder: &Path, snapshot: &Path) -> bool {
    let beside = folder.parent().unwrap_or(Path::new(""));
    ["nk", "py"]
        .iter()
        .any(|ending| beside.join(format!("{}.{ending}", owner(snapshot))).is_file())
}
