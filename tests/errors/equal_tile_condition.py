# nk: run kernel(x=f32[128,4]:randn(0))
import nki
import nki.language as nl
import nki.isa as nisa


@nki.jit
def kernel(x):
    tile = nl.ndarray((128, 4), nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(tile, x)
    if tile == 0.0:  # error: dynamic-condition
        nisa.memset(tile, 1.0)
    out = nl.ndarray((128, 4), nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(out, tile)
    return out
