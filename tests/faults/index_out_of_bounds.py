import nki
import nki.isa as nisa
import nki.language as nl


# nk: run kernel(x=f32[8,8]:randn(0), rows=i32[4,1]:randint(7,9,1))
@nki.jit
def kernel(x, rows):
    out = nl.ndarray((4, 8), dtype=x.dtype, buffer=nl.shared_hbm)
    index = nl.load(rows)
    tile = nl.ndarray((4, 8), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x.vector_select(0, index))  # error: index-out-of-bounds
    nl.store(out, tile)
    return out
