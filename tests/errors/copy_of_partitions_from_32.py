# nk: run kernel(x=f32[128,64]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_copy(dst=tile[0:64, 0:32], src=tile[32:96, 0:32])  # error: start-partition
    nl.store(out, value=tile)
    return out
