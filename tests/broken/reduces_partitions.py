# nk: run kernel(x=f32[128,512]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray((1, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    total = nl.ndarray((1, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=0)  # error: reduce-axes
    nisa.dma_copy(dst=out, src=total)
    return out
