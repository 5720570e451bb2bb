# nk: run kernel(x=f32[128,64]:randn(0), n=0)
# The loop that fills the tile runs zero times.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, n):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    for i in range(n):
        nisa.dma_copy(dst=tile[:, i * 8 : (i + 1) * 8], src=x[:, i * 8 : (i + 1) * 8])
    nisa.dma_copy(dst=out, src=tile)  # error: uninitialized-read
    return out
