# nk: run kernel(x=f32[64,64]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.shared_hbm)  # error: output-not-written
    nisa.dma_copy(dst=out[0:128:2, :], src=x)
    return out
