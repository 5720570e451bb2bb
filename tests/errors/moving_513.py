# nk: run kernel(a=bf16[128,64]:randn(0), b=bf16[128,513]:randn(1))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((64, 513), dtype=nl.float32, buffer=nl.shared_hbm)
    stationary = nl.load(a)
    moving = nl.load(b)
    product = nl.ndarray((64, 513), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(product, stationary, moving)  # error: tile-too-large
    result = nl.copy(product)
    nl.store(out, value=result)
    return out
