"""Equal programs that read what they write depend on who was first."""

import nki
import nki.isa as nisa
import nki.language as nl


# nk: run doubled(x=f32[128,64]:randn(0)) grid=2
@nki.jit
def doubled(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)  # error: data-race
    nisa.dma_copy(dst=tile, src=out)  # error: data-race
    nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.add)
    nisa.dma_copy(dst=out, src=tile)
    return out
