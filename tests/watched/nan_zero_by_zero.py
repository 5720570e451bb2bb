# nk: run kernel(x=f32[128,64]:zeros)
import nki.language as nl
import nki.isa as nisa
import nki


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    inverse = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.reciprocal(dst=inverse, data=tile)
    result = nl.multiply(tile, inverse)  # error: trapped-nan
    nl.store(out, value=result)
    return out
