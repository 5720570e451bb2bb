# nk: run kernel(a=bf16[128,64]:randn(0), b=bf16[128,512]:randn(1))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    stationary = nl.load(a)
    moving = nl.load(b)
    product = nl.ndarray((64, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.nc_matmul(product, stationary, moving)  # error: wrong-memory
    nl.store(out, value=product)
    return out
