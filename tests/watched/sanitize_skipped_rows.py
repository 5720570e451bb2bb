# nk: run kernel(x=f32[8,8]:randn(0), rows=i32[16,1]:arange)
# Rows 8 to 15 of x do not exist; they are left out of the tile, and then read.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, rows):
    out = nl.ndarray((16, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    index = nl.load(rows)
    tile = nl.ndarray((16, 8), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x.vector_select(0, index), oob_mode=nisa.oob_mode.skip)
    nl.store(out, tile)  # error: uninitialized-read
    return out
