# nk: run kernel(a=f32[128,64]:randn(0), b=f32[128,128]:randn(1))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((64, 128), dtype=nl.float32, buffer=nl.shared_hbm)
    acc = nl.ndarray((64, 128), dtype=nl.float32, buffer=nl.psum)
    x, y = nl.load(a), nl.load(b)
    nisa.nc_matmul(acc[:, 0:96], x, y[:, 0:96])
    nisa.nc_matmul(acc, x, y, accumulate=True)  # error: accumulate-unset
    nl.store(out, nl.copy(acc))
    return out
