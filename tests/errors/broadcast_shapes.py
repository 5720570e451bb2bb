# nk: run kernel(x=f32[128,6,20]:randn(0), y=f32[128,4,20]:randn(1))
import nki
import nki.language as nl


@nki.jit
def kernel(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.add(nl.load(x), nl.load(y)))  # error: shape-mismatch
    return out
