# nk: run kernel(a=f32[128,128]:ones, b=f32[128,512]:ones)
# 0 * inf inside a matmul: the row of the stationary tile and the column of the moving one are named.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray(b.shape, dtype=b.dtype, buffer=nl.shared_hbm)
    left = nl.load(a)
    right = nl.load(b)
    nisa.memset(dst=left[0:128, 5:6], value=0.0)
    nisa.memset(dst=right[0:32, 7:8], value=float("inf"))
    acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=acc, stationary=left, moving=right)  # error: trapped-nan
    nl.store(out, value=nl.copy(acc))
    return out
