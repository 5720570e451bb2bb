# nk: run kernel(a=bf16[512,64]:randn(0), b=bf16[512,512]:randn(1))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    acc = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.psum)
    for k in range(4):
        left = nl.ndarray((128, 64), dtype=a.dtype, buffer=nl.sbuf)
        right = nl.ndarray((128, 512), dtype=b.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=left, src=a[k * 128:(k + 1) * 128, :])
        nisa.dma_copy(dst=right, src=b[k * 128:(k + 1) * 128, :])
        nisa.nc_matmul(acc, left, right, accumulate=True)  # error: accumulate-unset
    res = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=res, src=acc)
    nisa.dma_copy(dst=out, src=res)
    return out
