import nki
import nki.isa as nisa
import nki.language as nl


# nk: run kernel(x=f32[8,8]:randn(0))
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    index = nl.load(x[:, 0:1])
    tile = nl.ndarray((8, 8), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x.vector_select(0, index))  # error: dynamic-index
    nl.store(out, tile)
    return out
