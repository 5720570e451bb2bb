"""A kernel that does not ask which program it is, launched as ten: each writes the same."""

import nki
import nki.isa as nisa
import nki.language as nl


# nk: run copy(x=f32[128,64]:randn(0)) grid=10
@nki.jit
def copy(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)  # warning: same-programs
    return out
