# nk: run kernel(x=f32[512,64]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(5):
        tile = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[i * 128:(i + 1) * 128, :])  # error: out-of-bounds
        nisa.dma_copy(dst=out[i * 128:(i + 1) * 128, :], src=tile)
    return out
