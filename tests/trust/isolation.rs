//! A kernel reads and writes its own memories and the files it may: nothing else of this machine.

use crate::work::nk;
use nk_compiler::explain::{HEAD, TAIL};
use nk_compiler::ir::{FirstWrites, InstId};
use nk_compiler::place::place;
use nk_compiler::source::Sources;
use nk_compiler::target::TARGETS;
use nk_compiler::text::parse;
use nk_runtime::{Emulator, Machine};

/// Pages of generated code are never writable and executable at once.
#[cfg(target_os = "linux")]
#[test]
fn no_page_is_writable_and_executable() {
    let text = "kernel %k for trainium1\nbuf %x: f32[128, 64] @ sbuf\nbody {\n  %x <- memset value=1.0\n  %x <- activation %x, op=exp\n}\n";
    let mut sources = Sources::new();
    let file = sources.add("k.nir", text);
    let program = parse(&sources, file).expect("the text is well-formed").program;
    let placement = place(&program, &TARGETS[0]).expect("it fits");
    let first = FirstWrites::default();
    let mut machine = Machine::load(&program, &placement, &first, &TARGETS[0], Emulator::Jit);
    machine
        .run(&[InstId::new(0), InstId::new(1)])
        .expect("it has no dynamic address");
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux shows its maps");
    let mut n_code = 0;
    for line in maps.lines() {
        let rights = line.split_whitespace().nth(1).expect("a map has rights");
        assert!(!(rights.contains('w') && rights.contains('x')), "{line}");
        n_code += usize::from(rights.contains('x') && !line.contains('/'));
    }
    assert!(n_code > 0, "no generated code was mapped");
    drop(machine);
}

/// Imports and arrays of a kernel lie below the import root, whatever `..` and links stand in their paths.
#[test]
fn files_outside_of_the_root_are_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = folder.path().join("inside");
    std::fs::create_dir(&inside).expect("the folder is writable");
    std::fs::write(folder.path().join("secret.py"), "COLUMNS = 512\n").expect("the folder is writable");
    std::fs::write(inside.join("sibling.py"), "COLUMNS = 512\n").expect("the folder is writable");
    let kernel = |import: &str, lines: &str| {
        let text = HEAD.replacen(
            "import numpy as np\n",
            &format!("import numpy as np\n{import}\n"),
            1,
        );
        std::fs::write(inside.join("kernel.nk"), format!("{text}    {lines}\n{TAIL}"))
            .expect("the folder is writable");
        let output = nk(&inside, &["check", "kernel.nk"]);
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (code, said) = kernel("from .sibling import COLUMNS", "columns = COLUMNS");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = kernel("from ..secret import COLUMNS", "columns = COLUMNS");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("unresolved-import"), "{said}");
    #[cfg(unix)]
    {
        let link = inside.join("linked.py");
        std::os::unix::fs::symlink(folder.path().join("secret.py"), link).expect("links can be made");
        let (code, said) = kernel("from .linked import COLUMNS", "columns = COLUMNS");
        assert_eq!(code, Some(1), "{said}");
    }
    let (code, said) = kernel("", "scale = nl.shared_constant(\"/etc/hostname\")");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("lies outside"), "{said}");
}

/// What a kernel is asked to do is bounded: each bound is a message and has a name to change it.
#[test]
fn limits_are_messages() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = |lines: &str, limit: &[&str]| {
        std::fs::write(
            folder.path().join("kernel.nk"),
            format!("{HEAD}    {lines}\n{TAIL}"),
        )
        .expect("the folder is writable");
        let output = nk(folder.path(), &[&["check", "kernel.nk"], limit].concat());
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    for (lines, limit, code, exit) in [
        ("pass", "source-bytes=10", "at most 10 are read", 2),
        ("pass", "instructions=1", "too-many-instructions", 1),
        (
            "def f(n): return n and f(n - 1)\n    f(50)",
            "calls=10",
            "recursion-too-deep",
            1,
        ),
        ("[i for i in range(100)]", "list-items=10", "at most 10", 1),
        (
            "scale = np.ones((8, 8))",
            "array-elements=10",
            "numpy-array-too-large",
            1,
        ),
        ("for i in range(100): pass", "steps=50", "too-many-steps", 1),
        (
            "n = 0\n    while n < 100: n += 1",
            "iterations=50",
            "endless-loop",
            1,
        ),
    ] {
        let (status, text) = said(lines, &["--limit", limit]);
        assert_eq!(status, Some(exit), "{limit}: {text}");
        assert!(text.contains(code), "{limit}: {text}");
        let (status, text) = said(lines, &[]);
        assert_eq!(status, Some(0), "{lines}: {text}");
    }
    for (lines, bytes, needle) in [
        (
            "a = 'ab'\n    for i in range(60): a = a + a",
            1_900_000_000u64,
            "more than 10000000 items",
        ),
        (
            "a = [1]\n    for i in range(60): a += a",
            1_900_000_000u64,
            "more than 10000000 items",
        ),
        (
            "a = ','.join(['a' * 1000000] * 1000)",
            1_900_000_000u64,
            "more than 10000000 items",
        ),
        (
            "a = ('a' * 100000).replace('a', 'b' * 100000)",
            1_900_000_000u64,
            "more than 10000000 items",
        ),
        (
            "a, b = (1,), (1,)\n    for i in range(60): a, b = (a, a), (b, b)\n    c = a == b",
            1_900_000_000,
            "too-many-steps",
        ),
        (
            "a = []\n    b = []\n    a.append(b)\n    b.append(a)\n    c = [a] == [b]",
            1_900_000_000,
            "too-many-steps",
        ),
        (
            "a = [np.ones((1024, 1024)) for i in range(100)]",
            300_000_000,
            "error[out-of-memory]",
        ),
    ] {
        let memory = format!("memory-bytes={bytes}");
        let (status, text) = said(lines, &["--limit", &memory, "--limit", "steps=5000000"]);
        assert_eq!(status, Some(1), "{lines}: {text}");
        assert!(text.contains(needle), "{lines}: {text}");
    }
    // What holds itself is shown, and what nests deeper than the stack is dropped.
    for lines in [
        "a = [1]\n    a.append(a)\n    print(a)",
        "a = [1]\n    for i in range(3000000): a = [a]",
    ] {
        let (status, text) = said(lines, &[]);
        assert_eq!(status, Some(0), "{lines}: {text}");
    }
    let (status, text) = said("for i in range(10000000): pass", &["--timeout", "0.05"]);
    assert_eq!(status, Some(1));
    assert!(text.contains("error[timeout]"), "{text}");
}

/// The tensors of a kernel are the user's: the bound on memory is for what else a kernel asks of this machine.
#[test]
fn tensors_of_a_run_do_not_count_as_memory() {
    let folder = tempfile::tempdir().expect("a folder for the kernel");
    let kernel = "import nki
import nki.isa as nisa
import nki.language as nl

# nk: run kernel(x=f32[128,131072]:zeros)
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(32):
        tile = nl.ndarray((128, 4096), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[:, i * 4096:(i + 1) * 4096])
        nisa.dma_copy(dst=out[:, i * 4096:(i + 1) * 4096], src=tile)
    return out
";
    std::fs::write(folder.path().join("kernel.nk"), kernel).expect("the folder is writable");
    // The argument takes 64 MiB; it, the device's copies of it and of the result, and the result take 256 MiB.
    let output = nk(
        folder.path(),
        &["run", "kernel.nk", "--limit", "memory-bytes=150000000"],
    );
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
