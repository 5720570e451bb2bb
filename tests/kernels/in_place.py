"""A result takes the bytes of an operand that dies where it is born, when nothing else fits."""
import nki
import nki.language as nl


# nk: run kernel(x=f32[128,30000]:randn(0))
# nk: expect reference rtol=1e-3
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    scaled = nl.multiply(tile, 0.5)
    exponential = nl.exp(scaled)
    total = nl.add(exponential, 1.0)
    nl.store(out, value=total)
    return out


def reference(x):
    import numpy as np

    return np.exp(x * 0.5) + 1.0
