# nk: run kernel(x=f32[128,64]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    spare = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)  # warning: unused-tensor
    nl.store(out, value=nl.load(x))
    return out
