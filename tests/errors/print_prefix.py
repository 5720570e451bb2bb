# nk: run kernel(x=f32[128,512]:randn(0))
import nki
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.device_print(tile, "tile")  # error: type-error
    nl.store(out, value=tile)
    return out
