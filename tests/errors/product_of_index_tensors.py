# nk: run kernel(x=f32[128,512]:randn(0))
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    rows = nl.arange(64)[:, None]
    return nl.load(x[rows * rows, nl.arange(8)[None, :]])  # error: unsupported-syntax
