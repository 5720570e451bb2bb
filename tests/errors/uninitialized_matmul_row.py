# nk: run kernel(a=bf16[64,128]:randn(0), b=bf16[128,512]:randn(1))
# The rows that are not there take part in every sum.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.ndarray((128, 128), dtype=a.dtype, buffer=nl.sbuf)
    right = nl.load(b)
    nisa.dma_copy(dst=left[0:64, :], src=a)
    acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=acc, stationary=left, moving=right)  # error: uninitialized-read
    nl.store(out[0:64, :], value=nl.copy(acc[0:64, :]))
    nl.store(out[64:128, :], value=nl.copy(acc[64:128, :]))
    return out
