# nk: run kernel(x=f32[128,40000]:randn(0))
import nki
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    result = nl.exp(tile)  # error: sbuf-over-capacity
    nl.store(out, value=nl.add(result, tile))  # error: sbuf-over-capacity
    return out
