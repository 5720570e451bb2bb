//! Snapshots of IR, in the folder `snapshots` beside a kernel file.
//!
//! A snapshot holds the line that was run and the IR. Facts that a directive redacts are left out. Nothing is written
//! here unless it is accepted.

use crate::output;
use nk_compiler::directive::Redaction;
use similar::TextDiff;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    let mut config = TextDiff::configure();
    // Aligning texts that have little in common takes the square of the time; behind this the rest is shown as replaced.
    let diff = config
        .timeout(Duration::from_secs(5))
        .diff_lines(known, &pending.found);
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
        let stems = stems_beside(&self.folder);
        let all = snapshots(&self.folder).into_iter();
        all.filter(|it| owner(it, &stems) == Some(self.stem.as_str()))
            .collect()
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

/// The stems of the kernel files beside a folder of snapshots, tested or not, the longest first.
fn stems_beside(folder: &Path) -> Vec<String> {
    let beside = folder
        .parent()
        .filter(|it| !it.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(beside).into_iter().flatten().flatten();
    let paths = entries.map(|it| it.path());
    let kernels = paths.filter(|it| it.extension().is_some_and(|it| it == "nk" || it == "py"));
    let mut stems: Vec<String> = kernels.map(|it| stem(&it)).collect();
    stems.sort_by_key(|it| std::cmp::Reverse(it.len()));
    stems
}

/// The stem of the kernel file that a snapshot is of. A stem may have dots, so that the longest one that fits is meant.
fn owner<'a>(snapshot: &Path, stems: &'a [String]) -> Option<&'a str> {
    let name = snapshot.file_name()?.to_string_lossy();
    let is_owner = |it: &&String| {
        name.strip_prefix(it.as_str())
            .is_some_and(|it| it.starts_with('.'))
    };
    stems.iter().find(is_owner).map(String::as_str)
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
    let folders = paths
        .iter()
        .map(|it| it.parent().unwrap_or(Path::new("")).join("snapshots"));
    let folders: BTreeSet<PathBuf> = folders.collect();
    let orphans = folders.iter().flat_map(|folder| {
        let stems = stems_beside(folder);
        let all = snapshots(folder).into_iter();
        all.filter(move |it| owner(it, &stems).is_none())
    });
    orphans.collect()
}
