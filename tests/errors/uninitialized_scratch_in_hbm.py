# nk: run kernel(x=f32[128,64]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    scratch = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.private_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=scratch[0:64, :], src=x[0:64, :])
    nisa.dma_copy(dst=tile, src=scratch)  # error: uninitialized-read
    nl.store(out, value=tile)
    return out
