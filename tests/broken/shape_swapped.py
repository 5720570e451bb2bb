# nk: run kernel(x=f32[64,512]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray((512, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray((64, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out[0:64, :], src=tile)  # error: element-count-mismatch
    return out
