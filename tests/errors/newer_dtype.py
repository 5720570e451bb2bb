# nk: run kernel(x=f32[128,512]:randn(0))
import ml_dtypes
import nki
import nki.language as nl


@nki.jit
def kernel(x):
    tile = nl.load(x)
    scale = nl.copy(tile, dtype=ml_dtypes.float8_e4m3fn)  # error: not-on-this-target
    return scale
