# nk: run kernel(x=f32[4,128,64]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)  # error: output-not-written
    for i in range(3):
        nl.store(out[i], value=nl.load(x[i]))
    return out
