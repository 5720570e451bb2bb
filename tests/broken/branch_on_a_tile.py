# nk: run kernel(x=f32[128,512]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    if tile > 0:  # error: dynamic-condition
        nisa.activation(dst=tile, op=nl.exp, data=tile)
    nisa.dma_copy(dst=out, src=tile)
    return out
