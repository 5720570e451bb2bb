//! Bounds on what a kernel may ask of this machine: each is an error with its number, never a crash or a hang.
//!
//! They protect the process, so they are the process's and not a request's: whoever starts it may set them once, before
//! anything is compiled. Depths of nesting are fixed, since the stack of the process is.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bounds on compile-time evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a kernel file.
    pub source_bytes: u64,
    /// Statements and iterations.
    pub steps: u64,
    /// Instructions after unrolling.
    pub instructions: u64,
    /// Calls inside of calls.
    pub calls: u64,
    /// Iterations of one `while` loop.
    pub iterations: u64,
    /// Elements of a host array, of 8 bytes each.
    pub array_elements: u64,
    /// Items of a list, and bytes of a string.
    pub list_items: u64,
    /// Bytes of memory that the process holds beside the tensors of the kernel that it runs, see [`memory_bytes`]. Who starts
    /// it watches over this one and asks it to stop.
    pub memory_bytes: u64,
}

/// Evaluation nests so many expressions deep; deeper ones would exhaust the stack.
pub(crate) const EXPRESSION_DEPTH: usize = 4_000;

/// More mistakes of one kernel are not looked for.
pub const ERRORS: usize = 20;

/// The bounds that hold unless [`set`] gives others.
pub const DEFAULT: Limits = Limits {
    source_bytes: 64 << 20,
    steps: 50_000_000,
    instructions: 8_000_000,
    calls: 100,
    iterations: 1_000_000,
    array_elements: 1 << 27,
    list_items: 10_000_000,
    memory_bytes: 2 << 30,
};

type Field = fn(&mut Limits) -> &mut u64;

/// The bounds by the name that a command line gives them, with the largest value that is safe.
const FIELDS: &[(&str, Field, u64)] = &[
    ("source-bytes", |it| &mut it.source_bytes, 1 << 30),
    ("steps", |it| &mut it.steps, u64::MAX),
    ("instructions", |it| &mut it.instructions, 1 << 31),
    ("calls", |it| &mut it.calls, 150),
    ("iterations", |it| &mut it.iterations, u64::MAX),
    ("array-elements", |it| &mut it.array_elements, 1 << 36),
    ("list-items", |it| &mut it.list_items, 1 << 31),
    ("memory-bytes", |it| &mut it.memory_bytes, u64::MAX),
];

impl Limits {
    /// These bounds with one of them changed.
    pub fn with(mut self, name: &str, value: u64) -> Result<Limits, String> {
        let Some((_, field, largest)) = FIELDS.iter().find(|it| it.0 == name) else {
            let names: Vec<&str> = FIELDS.iter().map(|it| it.0).collect();
            return Err(format!("`{name}` is no limit; there are {}", names.join(", ")));
        };
        if value > *largest {
            return Err(format!("{name} is at most {largest}"));
        }
        *field(&mut self) = value;
        Ok(self)
    }
}

static LIMITS: OnceLock<Limits> = OnceLock::new();

/// Gives the process other bounds. The first call counts, and it comes before anything is compiled.
pub fn set(limits: Limits) {
    LIMITS.get_or_init(|| limits);
}

/// The bounds of the process.
pub fn limits() -> &'static Limits {
    LIMITS.get_or_init(|| DEFAULT)
}

/// What the largest kernel that runs may hold for its tensors.
static TENSOR_BYTES: AtomicU64 = AtomicU64::new(0);

/// Device memory of so many bytes is about to be emulated. A result is held as the device's, as an array, as the file it is
/// written to and as the reference's, so a kernel may hold four times as much.
pub fn emulates(device_bytes: u64) {
    TENSOR_BYTES.fetch_max(device_bytes.saturating_mul(4), Ordering::Relaxed);
}

/// Bytes that the process may hold: the bound, and the tensors of the kernel that it runs.
pub fn memory_bytes() -> u64 {
    limits()
        .memory_bytes
        .saturating_add(TENSOR_BYTES.load(Ordering::Relaxed))
}
