import nki
import nki.isa as nisa
import nki.language as nl


# nk: run kernel(x=f32[8,8]:randn(0))
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    acc = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.psum)
    for _ in nl.dynamic_range(4):
        nisa.nc_matmul(acc, tile, tile)  # error: accumulate-unset
    copy = nl.copy(acc)
    nl.store(out, copy)
    return out
