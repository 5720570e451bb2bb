# nk: run kernel(a=bf16[128,64]:randn(0), b=bf16[128,512]:randn(1))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.sbuf)
    right = nl.ndarray(b.shape, dtype=b.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=left, src=a)
    nisa.dma_copy(dst=right, src=b)
    res = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.nc_matmul(res, left, right)  # error: wrong-memory
    nisa.dma_copy(dst=out, src=res)
    return out
