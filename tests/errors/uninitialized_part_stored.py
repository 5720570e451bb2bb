# nk: run kernel(x=f32[100,512]:randn(0))
# All rows but the last of the missing ones stay out of the result.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray((101, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile[0:100, :], src=x)
    nisa.activation(dst=tile, op=nl.exp, data=tile)  # error: uninitialized-read
    nisa.dma_copy(dst=out, src=tile[0:101, :])
    return out
