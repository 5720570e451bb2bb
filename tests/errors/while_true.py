# nk: run kernel(x=f32[128,512]:randn(0))
import nki
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    step = 0
    while True:  # error: endless-loop
        step = 1 - step
    nl.store(out, value=nl.load(x))
    return out
