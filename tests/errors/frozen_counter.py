import nki
import nki.isa as nisa
import nki.language as nl


# nk: run kernel(x=f32[8,8]:randn(0))
@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.dynamic_range(8):
        nisa.register_move(i, 0)  # error: type-error
    return out
