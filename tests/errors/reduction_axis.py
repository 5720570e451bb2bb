# nk: run kernel(x=f32[128,6,20]:randn(0))
import nki
import nki.language as nl


@nki.jit
def kernel(x):
    tile = nl.load(x)
    total = nl.sum(tile, axis=1)  # error: value-error
    out = nl.ndarray(total.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=total)
    return out
