# nk: run kernel(x=f32[128,512]:randn(0), w=f32[1,512]:randn(1))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, w):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    row = nl.ndarray(w.shape, dtype=w.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=row, src=w)
    nisa.tensor_tensor(dst=tile, data1=tile, data2=row, op=nl.multiply)  # error: partition-mismatch
    nisa.dma_copy(dst=out, src=tile)
    return out
