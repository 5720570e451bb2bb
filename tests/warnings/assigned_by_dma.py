# nk: run kernel(x=f32[128,8]:randn(0))
import nki
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    # An engine reaches partition 32.
    tile[32:64, :] = 1.0  # warning: removed
    # None reaches partition 5.
    tile[5, 0] = 2.0  # warning: assigned-by-dma
    tile[5:9, 1:3] = tile[64:68, 1:3]  # warning: assigned-by-dma
    nl.store(out, value=tile)
    return out
