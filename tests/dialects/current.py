# nk: run kernel(x=f32[128,64]:randn(0), row=f32[1,64]:randn(1))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, row):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    result = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=tile, dtype=nl.float32, mask=None)
    sums = nl.add(result, nl.load(row))
    nl.store(out, nl.divide(sums, 3.0))
    nisa.dma_copy(dst=x, src=result)
    return out
