# nk: run kernel(x=f32[128,64]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    total = nl.load(x)
    for i in range(4):
        half = nl.multiply(total, 0.5)  # warning: dead-store
        total = nl.add(total, 1.0)
    nl.store(out, value=total)
    return out
