# nk: run kernel(x=f32[128,512]:randn(0), y=f32[128,256]:randn(1))
import nki
import nki.language as nl


@nki.jit
def kernel(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.add(nl.load(x), nl.load(y))  # error: shape-mismatch
    nl.store(out, value=total)
    return out
