# nk: run kernel(x=f32[128,4]:randn(0))
import nki
import nki.language as nl
import nki.isa as nisa


@nki.jit
def kernel(x):
    tile = nl.ndarray((128, 1), nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(tile, x[:, 0:1])
    wide = tile.broadcast(1, 2147483647)  # error: bad-view
    out = nl.ndarray((128, 4), nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(out, wide[:, 0:4])
    return out
