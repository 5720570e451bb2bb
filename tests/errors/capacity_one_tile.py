# nk: run kernel(x=f32[128,50000]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)  # error: sbuf-over-capacity
    nl.store(out, value=tile)
    return out
