# nk: run kernel(x=f32[128,512]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(4)  # error: missing-colon
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    if i == 3 && x:  # error: not-python
        nisa.dma_copy(dst=tile, src=x[0:128, 0:512)  # error: mismatched-bracket
    return out
