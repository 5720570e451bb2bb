# nk: run kernel(x=f32[128,64]:uniform(2147483648,2147483649,0))
# The first number that an int32 does not hold; the last one that it holds is no f32.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.shared_hbm)
    tile = nl.load(x)
    whole = nl.ndarray(x.shape, dtype=nl.int32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=whole, src=tile)  # error: trapped-range
    nl.store(out, value=whole)
    return out
