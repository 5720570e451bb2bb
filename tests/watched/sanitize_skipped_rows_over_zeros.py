# nk: run kernel(x=f32[8,8]:randn(0), rows=i32[16,1]:arange)
# Rows that do not exist keep the zeros that were written before.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, rows):
    out = nl.ndarray((16, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    index = nl.load(rows)
    tile = nl.ndarray((16, 8), dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=tile, value=0.0)
    nisa.dma_copy(dst=tile, src=x.vector_select(0, index), oob_mode=nisa.oob_mode.skip)
    nl.store(out, tile)
    return out
