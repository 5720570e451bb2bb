# nk: run kernel(x=f32[300,64]:randn(0))
# The last, shorter tile is forgotten.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)  # error: output-not-written
    for i in range(300 // 128):
        nl.store(out[i * 128 : (i + 1) * 128, :], value=nl.load(x[i * 128 : (i + 1) * 128, :]))
    return out
