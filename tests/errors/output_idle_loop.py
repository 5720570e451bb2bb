# nk: run kernel(x=f32[128,64]:randn(0), n=0)
# The loop that stores runs zero times.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, n):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)  # error: output-not-written
    for i in range(n):
        nl.store(out, value=nl.load(x))
    return out
