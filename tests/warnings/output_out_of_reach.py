# nk: run kernel(x=f32[128,8]:randn(0), n=4)
# The register reaches four columns of eight at most.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, n):
    out = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.shared_hbm)  # warning: output-not-written # warning: nan-in-result
    tile = nl.load(x)
    for i in nl.dynamic_range(n):
        nisa.dma_copy(dst=out[:, 0:4].select(1, i), src=tile.select(1, i))
    return out
