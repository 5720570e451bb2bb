# nk: run kernel(x=f32[128,40000]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    squares = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)  # error: sbuf-over-capacity
    nisa.tensor_tensor(dst=squares, data1=tile, data2=tile, op=nl.multiply)
    nisa.tensor_tensor(dst=tile, data1=squares, data2=tile, op=nl.add)
    nisa.dma_copy(dst=out, src=tile)
    return out
