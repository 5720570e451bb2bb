"""Every way in which classic files mark a kernel, with the options they give, and decorators of the compiler."""
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.language as nl
from neuronxcc.nki import benchmark, jit


# nk: run traced(x=f32[64,32]:randn(0), out=f32[64,32]:zeros)
# nk: expect doubled
@nki.trace
def traced(x, out):
    nl.store(out, value=nl.multiply(nl.load(x), 2.0))


# nk: run on_device(x=f32[64,32]:randn(0))
# nk: expect doubled
@nki.baremetal(artifacts_dir="artifacts", additional_compile_opt="-O1")
def on_device(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.multiply(nl.load(x), 2.0))
    return out


# nk: run timed(x=f32[64,32]:randn(0))
# nk: expect doubled
@benchmark(warmup=5, iters=20, save_neff_name="file.neff", save_trace_name="profile.ntff")
def timed(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.multiply(nl.load(x), 2.0))
    return out


# nk: run profiled(x=f32[64,32]:randn(0))
# nk: expect doubled
@nki.profile(working_directory=".", save_neff_name="file.neff", overwrite=True, profile_nth=2)
def profiled(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.multiply(nl.load(x), 2.0))
    return out


# nk: run simulated(x=f32[64,32]:randn(0))
# nk: expect doubled
@jit(mode="simulation", platform_target="trn1", show_compiler_tb=True, experimental_flags="a=b")
def simulated(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.multiply(nl.load(x), 2.0))
    return out


# nk: run as_written(x=f32[64,32]:randn(0))
# nk: expect doubled
@ncc.skip_middle_end_transformations
@nki.compiler.enable_stack_allocator(log_level=10)
@nki.jit(debug_kernel=True)
def as_written(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.multiply(nl.load(x), 2.0))
    return out


def doubled(x, out=None):
    return x * 2.0
