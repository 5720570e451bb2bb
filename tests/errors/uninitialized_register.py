# nk: run kernel(x=f32[128,64]:randn(0))
# The trip count of a loop is what nobody wrote.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    stop = nisa.register_alloc()
    count = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
    nisa.register_load(stop, count)  # error: uninitialized-read
    nisa.dma_copy(dst=out, src=x)
    for _ in nl.dynamic_range(0, stop):
        nisa.dma_copy(dst=out, src=x)
    return out
