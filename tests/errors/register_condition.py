import nki
import nki.isa as nisa
import nki.language as nl


# nk: run kernel(x=f32[8,8]:randn(0))
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    register = nisa.register_alloc(1)
    if register:  # error: dynamic-condition
        nisa.dma_copy(dst=out, src=x)
    return out
