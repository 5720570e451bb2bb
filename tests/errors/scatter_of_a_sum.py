# nk: run kernel(x=f32[64,32]:randn(0), rows=i32[64,1]:randint(0,128,1))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, rows):
    out = nl.ndarray((128, 32), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.dma_compute(out.vector_select(0, nl.load(rows)), [tile, tile], nl.add)  # error: unsupported-syntax
    return out
