# nk: run kernel(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum, address=(0, 1024))  # error: address-off-bank
    nisa.nc_matmul(dst=acc, stationary=nl.load(a), moving=nl.load(b))
    nl.store(out, value=nl.copy(acc))
    return out
