import nki
import nki.isa as nisa
import nki.language as nl


# nk: run kernel(x=f32[128,64]:randn(0))
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x).depends_on(1)  # error: type-error
    return out
