# nk: run kernel(x=f32[128,64]:randn(0))
# A NaN that the kernel writes by name is meant; what passes it on makes none.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=nl.bfloat16, buffer=nl.shared_hbm)  # warning: nan-in-result
    tile = nl.load(x)
    nisa.memset(dst=tile[0:32, 3:5], value=float("nan"))
    nl.store(out, value=nl.exp(nl.add(tile, 1.0)))
    return out
