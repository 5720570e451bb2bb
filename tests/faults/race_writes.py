"""Two programs write one row in the middle."""

import nki
import nki.isa as nisa
import nki.language as nl


# nk: run overlapping(x=f32[128,64]:randn(0)) grid=2
@nki.jit
def overlapping(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    first = nl.program_id(0) * 63
    tile = nl.ndarray((65, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[first : first + 65, :])
    nisa.dma_copy(dst=out[first : first + 65, :], src=tile)  # error: data-race
    return out
