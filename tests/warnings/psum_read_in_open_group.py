# nk: run kernel(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
# The first copy takes a part of the sum.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.load(a)
    right = nl.load(b)
    acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    half = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.nc_matmul(dst=acc, stationary=left, moving=right, accumulate=False)
    nisa.tensor_copy(dst=half, src=acc)  # warning: psum-group-open
    nisa.nc_matmul(dst=acc, stationary=left, moving=right, accumulate=True)
    nl.store(out, value=nl.add(half, nl.copy(acc)))
    return out
