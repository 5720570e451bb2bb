# nk: run kernel(x=f32[128,64]:randn(0))
# An address is computed from what nobody wrote.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray((32, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.ndarray((32, 1), dtype=nl.int32, buffer=nl.sbuf)
    tile = nl.ndarray((32, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x.vector_select(0, rows))  # error: uninitialized-read
    nl.store(out, value=tile)
    return out
