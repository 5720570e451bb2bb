"""Emulation beside NumPy: our examples at full size, one thread each, in one run.

    cargo build --release && python3 runtime/benches/beside_numpy.py [NAME…]

For each row: NumPy computes the whole arrays with the reference that stands in the example, in float32; `nk run`
emulates the kernel on the same arrays and compares its result with NumPy's. The ratio is emulation, without process start
and files, to NumPy, the best of several runs of each, taken in turns. bf16 is compared with NumPy's float32, as NumPy has
no bf16. Ends with code 1 when a result is wrong; a missed bound is only shown, as a busy machine misses some.
"""

import ast
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

# Before NumPy is loaded: its BLAS takes every core otherwise.
for name in ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"]:
    os.environ[name] = "1"

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
NK = os.environ.get("NK", str(ROOT / "target" / "release" / "nk"))
N_RUNS = 3

# Name, kernel, dtype, arguments with shapes (or values that are passed on), and the highest ratio.
CASES = [
    ("matmul 2048^3", "matmul::matmul_blocked_free", "f32", {"lhsT": (2048, 2048), "rhs": (2048, 2048), "tiles_per_block_n": 4}, 1.05),
    ("matmul 2048^3 bf16", "matmul::matmul_blocked_free", "bf16", {"lhsT": (2048, 2048), "rhs": (2048, 2048), "tiles_per_block_n": 4}, 1.0),
    ("add 4096x4096", "vector_add::vector_add", "f32", {"a": (4096, 4096), "b": (4096, 4096)}, 1.5),
    ("RMSNorm 4096x1024", "rmsnorm::rmsnorm", "f32", {"x": (4096, 1024), "gain": (1024,)}, 0.9),
    ("softmax 4096x2048", "softmax::softmax", "f32", {"x": (4096, 2048)}, 0.65),
    ("attention 2048x128", "attention::attention_tiled", "f32", {"q": (128, 2048), "k": (128, 2048), "v": (2048, 128)}, 0.95),
    ("transpose 2048x2048", "transpose::transpose_tensor_engine", "f32", {"x": (2048, 2048)}, 0.35),
    ("conv 256x224x224, pool", "conv2d::conv2d", "f32",
     {"x": (256, 224, 224), "filters": (3, 3, 256, 256), "bias": (256,), "bands": 37}, 0.9),
    ("Mamba scan 256x2048x16", "mamba_scan::mamba_scan", "f32",
     {"delta": (256, 2048), "u": (256, 2048), "A": (256, 16), "B": (16, 2048), "C": (16, 2048)}, 0.5),
]


def reference_of(path, kernel):
    """The NumPy function that the kernel's first `# nk: expect` names, as Python has it."""
    text = path.read_text()
    lines = text[: text.index(f"def {kernel}(")].splitlines()
    start = max(i for i, line in enumerate(lines) if line.startswith("def ") or i == 0)
    name = next(line for line in lines[start:] if line.startswith("# nk: expect")).split()[3]
    functions = [it for it in ast.parse(text).body if isinstance(it, ast.FunctionDef) and it.name == name]
    scope = {"np": np}
    exec(compile(ast.Module(functions, []), str(path), "exec"), scope)
    return scope[name]


def arrays_of(arguments, rng):
    arrays = {}
    for name, shape in arguments.items():
        if not isinstance(shape, tuple):
            arrays[name] = shape
        elif name in ("delta", "gain"):
            arrays[name] = rng.uniform(0.01, 0.5, shape).astype(np.float32)
        elif name == "A":
            arrays[name] = rng.uniform(-1, 0, shape).astype(np.float32)
        else:
            arrays[name] = rng.standard_normal(shape).astype(np.float32)
    return arrays


def to_bf16(array):
    """Rounded to nearest even, as the raw 16-bit words that `@file.npy:bf16` reads."""
    bits = array.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def emulate(path, kernel, dtype, arrays, folder):
    """Milliseconds of emulation, and the check of the first result."""
    command = [NK, "run", f"{path}::{kernel}", "--format", "json", "--expect", f"out={folder / 'want.npy'}"]
    if dtype == "bf16":
        command += ["--rtol", "2e-2"]
    for name, array in arrays.items():
        is_array = isinstance(array, np.ndarray)
        suffix = ":bf16" if dtype == "bf16" else ""
        command += ["--arg", f"{name}=@{folder / name}.npy{suffix}" if is_array else f"{name}={array}"]
    run = subprocess.run(command, capture_output=True, text=True)
    if not run.stdout.strip():
        sys.exit(f"{' '.join(command)}\n{run.stderr}")
    report = json.loads(run.stdout.splitlines()[-1])
    return report["emulate_ms"], report["checks"][0]


def main():
    wanted = sys.argv[1:]
    is_right = True
    print(f"{'work':<24} {'ratio':>6} {'at most':>8}  {'emulated':>10} {'NumPy':>10}  largest error")
    for name, kernel, dtype, arguments, bound in CASES:
        if wanted and not any(it in name for it in wanted):
            continue
        file, kernel = kernel.split("::")
        path = ROOT / "examples" / f"{file}.nk"
        reference = reference_of(path, kernel)
        # What only the kernel takes, such as the size of its blocks, is no business of NumPy's.
        names = reference.__code__.co_varnames[: reference.__code__.co_argcount]
        names = [key for key in names if key in arguments]
        arrays = arrays_of(arguments, np.random.default_rng(0))
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for key, array in arrays.items():
                if isinstance(array, np.ndarray):
                    np.save(folder / f"{key}.npy", to_bf16(array) if dtype == "bf16" else array)
            numpy_ms, nk_ms = [], []
            for _ in range(N_RUNS):
                start = time.perf_counter()
                # A view would cost nothing: the result is an array of its own.
                want = np.ascontiguousarray(reference(**{key: arrays[key] for key in names}))
                numpy_ms.append(1e3 * (time.perf_counter() - start))
                np.save(folder / "want.npy", want)
                milliseconds, check = emulate(path, kernel, dtype, arrays, folder)
                nk_ms.append(milliseconds)
        ratio = min(nk_ms) / min(numpy_ms)
        is_right &= check["ok"]
        verdict = "met" if ratio <= bound else "MISSED"
        print(
            f"{name:<24} {ratio:>6.2f} {bound:>8.2f}  {min(nk_ms):>7.1f} ms {min(numpy_ms):>7.1f} ms"
            f"  {check['max_abs_err']:.1e} {'ok' if check['ok'] else 'WRONG'}, {verdict}",
            flush=True,
        )
    return 0 if is_right else 1


sys.exit(main())
