# nk: run kernel(x=f32[128,64]:randn(0))
# The load comes after the copy that needs it.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    copy = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=copy, src=tile)  # error: uninitialized-read
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_tensor(dst=copy, data1=copy, data2=tile, op=nl.add)
    nisa.dma_copy(dst=out, src=copy)
    return out
