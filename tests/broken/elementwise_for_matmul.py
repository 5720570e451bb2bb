# nk: run kernel(a=f32[128,64]:randn(0), b=f32[64,512]:randn(1))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.sbuf)
    right = nl.ndarray(b.shape, dtype=b.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=left, src=a)
    nisa.dma_copy(dst=right, src=b)
    res = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=res, data1=left, data2=right, op=nl.multiply)  # error: partition-mismatch  # error: element-count-mismatch
    nisa.dma_copy(dst=out, src=res)
    return out
