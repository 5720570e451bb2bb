//! What every test of this folder needs: where the repository is, and a stack like the command's.

use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The evaluator's frames are deep in unoptimised builds, so each case runs on a thread with the command's stack.
pub fn with_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(work)
        .expect("a thread starts");
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
