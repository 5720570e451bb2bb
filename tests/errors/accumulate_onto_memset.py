# nk: run kernel(a=f32[128,64]:randn(0), b=f32[128,128]:randn(1))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(a, b):
    out = nl.ndarray((64, 128), dtype=nl.float32, buffer=nl.shared_hbm)
    acc = nl.ndarray((64, 128), dtype=nl.float32, buffer=nl.psum)
    nisa.memset(acc, value=0.0)
    nisa.nc_matmul(acc, nl.load(a), nl.load(b), accumulate=True)  # error: accumulate-unset
    nl.store(out, nl.copy(acc))
    return out
