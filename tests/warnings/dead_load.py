# nk: run kernel(x=f32[128,64]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    more = nl.load(x)  # warning: dead-store
    nl.store(out, value=tile)
    return out
