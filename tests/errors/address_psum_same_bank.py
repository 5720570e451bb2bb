# nk: run kernel(a=bf16[128,128]:randn(0), b=bf16[128,512]:randn(1))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    left = nl.load(a)
    right = nl.load(b)
    one = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum, address=(0, 2048))
    two = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum, address=(0, 2048))  # error: address-overlap
    nisa.nc_matmul(dst=one, stationary=left, moving=right)
    nisa.nc_matmul(dst=two, stationary=left, moving=right)
    nl.store(out, value=nl.add(nl.copy(one), nl.copy(two)))
    return out
