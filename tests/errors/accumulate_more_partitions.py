# nk: run kernel(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.load(a)
    right = nl.load(b)
    acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=acc[0:64, :], stationary=left[:, 0:64], moving=right, accumulate=False)
    nisa.nc_matmul(dst=acc, stationary=left, moving=right, accumulate=True)  # error: accumulate-unset
    nl.store(out, value=nl.copy(acc))
    return out
