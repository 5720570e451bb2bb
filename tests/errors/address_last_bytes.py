# nk: run kernel(x=f32[128,64]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    one = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf, address=(0, 0))
    two = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf, address=(0, 252))  # error: address-overlap
    nisa.dma_copy(dst=one, src=x)
    nisa.dma_copy(dst=two, src=x)
    nisa.tensor_tensor(dst=one, data1=one, data2=two, op=nl.add)
    nisa.dma_copy(dst=out, src=one)
    return out
