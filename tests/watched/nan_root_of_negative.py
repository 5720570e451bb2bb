# nk: run kernel(x=f32[128,64]:randn(0))
import nki
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    root = nl.sqrt(tile)  # error: trapped-nan
    nl.store(out, value=nl.add(root, tile))
    return out
