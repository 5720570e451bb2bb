# nk: run kernel(x=f32[64,32]:randn(0), rows=i32[64,1]:randint(0,128,1))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, rows):
    out = nl.ndarray((128, 32), dtype=x.dtype, buffer=nl.shared_hbm)
    named = out.vector_select(0, nl.load(rows))
    nisa.dma_compute(named, [named, nl.load(x)], nl.add)  # error: uninitialized-read
    return out
