# nk: run kernel(x=f32[128,64]:randn(0))
# What was never written is read, and the result goes nowhere.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    junk = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    more = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=more, src=junk)  # warning: uninitialized-read # warning: dead-store
    nl.store(out, value=tile)
    return out
