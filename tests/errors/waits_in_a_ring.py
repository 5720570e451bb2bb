import nki
import nki.isa as nisa
import nki.language as nl


# nk: run kernel(x=f32[128,64]:randn(0))
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    load = nisa.dma_copy(dst=tile, src=x)
    store = nisa.dma_copy(dst=out, src=tile)
    load.depends_on(store)  # error: value-error
    return out
