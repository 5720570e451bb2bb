# nk: run kernel(x=f32[128,4]:randn(0))
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray((128, 4), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x))
    nl.store(out[0, 0], nl.load(x[128, 0]))  # error: out-of-bounds
    return out
