//! Source files: reading them, and finding what they import.

use super::Failure;
use super::arguments::as_host_array;
use crate::tensor::{ArgSpec, parse_arg};
use nk_compiler::diagnostic::{Diagnostic, Report};
use nk_compiler::host::HostArray;
use nk_compiler::limits::limits;
use nk_compiler::specialize::{Dialect, ImportRequest, Loaded};
use nk_compiler::target::{TARGETS, Target};
use std::path::{Path, PathBuf};

/// What holds for everything that is done with a file.
#[derive(Clone)]
pub struct Settings {
    pub target: &'static Target,
    /// The version of NKI whose removals are errors.
    pub dialect: Option<Dialect>,
    /// Values for module-level constants and parameters with defaults.
    pub params: Vec<(String, String)>,
    /// Whether tiles that do not fit into SBUF may move to HBM and back.
    pub spill: bool,
    /// Whether instructions may change places where that is faster.
    pub reorder: bool,
    /// Asks for another choice among the placements that fit.
    pub place_seed: Option<u64>,
    /// Where absolute imports begin; `None`: above the topmost `__init__.py` around the importing file.
    pub root: Option<PathBuf>,
}

impl Default for Settings {
    /// The first target, with what the file says itself.
    fn default() -> Settings {
        Settings {
            target: &TARGETS[0],
            dialect: None,
            params: Vec::new(),
            spill: false,
            reorder: false,
            place_seed: None,
            root: None,
        }
    }
}

/// The text of a file named on the command line.
pub fn read_source(path: &str) -> Result<String, Failure> {
    let unreadable =
        |reason: String| Failure::usage(Diagnostic::error("file-unreadable", format!("{path}: {reason}")));
    let metadata = std::fs::metadata(path).map_err(|it| unreadable(it.to_string()))?;
    if metadata.is_dir() {
        return Err(unreadable("it is a directory".to_string()));
    }
    let limit = limits().source_bytes;
    if metadata.len() > limit {
        return Err(unreadable(format!(
            "it has {} bytes; at most {limit} are read (--limit source-bytes=N)",
            metadata.len()
        )));
    }
    let bytes = std::fs::read(path).map_err(|it| unreadable(it.to_string()))?;
    // The file was read: what is in it is the kernel's fault, not the command line's.
    String::from_utf8(bytes).map_err(|it| {
        let at = it.utf8_error().valid_up_to();
        let message = format!("{path}: byte {at} is not UTF-8; a kernel file is Python text");
        Failure::kernel(vec![Diagnostic::error("not-utf8", message)])
    })
}

/// The file that an import means, if there is one.
pub fn find_import(settings: &Settings, request: &ImportRequest<'_>) -> Option<Loaded> {
    let from = Path::new(request.from);
    let dir = from.parent().unwrap_or(Path::new(""));
    let root = import_root(settings, dir);
    let starts = if request.level > 0 {
        let mut start = dir.to_path_buf();
        for _ in 1..request.level {
            start = start.parent()?.to_path_buf();
        }
        vec![start]
    } else {
        vec![root.clone(), dir.to_path_buf()]
    };
    let relative: PathBuf = request.path.iter().collect();
    let candidates = starts.iter().flat_map(|start| {
        let module = start.join(&relative);
        let package = module.join("__init__.py");
        // `from . import name` means the package itself.
        match request.path.is_empty() {
            true => vec![package],
            false => vec![module.with_extension("py"), module.with_extension("nk"), package],
        }
    });
    candidates.into_iter().find_map(|path| {
        let name = path.to_str()?.to_string();
        let text = (path.is_file() && lies_below(&path, &root)).then(|| read_source(&name).ok())??;
        Some(Loaded { name, text })
    })
}

/// Where absolute imports begin.
fn import_root(settings: &Settings, dir: &Path) -> PathBuf {
    settings.root.clone().unwrap_or_else(|| package_root(dir))
}

/// Whether a file really lies below a folder, whatever `..` and links are on the way: a kernel reads nothing else.
fn lies_below(path: &Path, root: &Path) -> bool {
    let root = if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    };
    match (path.canonicalize(), root.canonicalize()) {
        (Ok(path), Ok(root)) => path.starts_with(root),
        _ => false,
    }
}

/// The directory above the topmost one of a package. A folder without `__init__.py` in a package belongs to it too.
fn package_root(dir: &Path) -> PathBuf {
    let is_package = |it: &Path| it.join("__init__.py").is_file();
    let mut root = dir;
    while let Some(parent) = root.parent()
        && (is_package(root) || is_package(parent))
    {
        root = parent;
    }
    root.to_path_buf()
}

/// The array in a file that a kernel names, looked for beside the kernel's own file and never above the import root.
pub fn find_array(settings: &Settings, from: &str, path: &str) -> Result<HostArray, String> {
    let dir = Path::new(from).parent().unwrap_or(Path::new(""));
    let beside = dir.join(path);
    let root = import_root(settings, dir);
    if beside.exists() && !lies_below(&beside, &root) {
        let root = if root.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &root
        };
        return Err(format!(
            "{path} lies outside of {}, and a kernel reads nothing above (--root DIR)",
            root.display()
        ));
    }
    let text = beside.to_str().ok_or("the path is not UTF-8")?;
    let spec = parse_arg(&format!("@{text}")).map_err(|it| it.report().message)?;
    let ArgSpec::Tensor(source) = spec else {
        return Err(format!("{path} names no array"));
    };
    let tensor = source.load().map_err(|it| it.report().message)?.tensor;
    as_host_array(&tensor).ok_or_else(|| {
        format!(
            "{path} has {} dimensions, too many for an array",
            tensor.shape().len()
        )
    })
}
