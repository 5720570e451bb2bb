# nk: run kernel(x=f32[256,64]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray((256, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=x)
    nisa.dma_copy(dst=out[0:192, :], src=out[64:256, :])  # error: overlapping-operands
    return out
