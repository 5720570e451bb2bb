# nk: run kernel(x=f32[128,8]:randn(0), n=3)
# The addresses reach all of the result, and this run has written three of its eight columns.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, n):
    out = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.shared_hbm)  # warning: output-not-written
    tile = nl.load(x)
    for i in nl.dynamic_range(n):
        nisa.dma_copy(dst=out.select(1, i), src=tile.select(1, i))
    return out
