# nk: run kernel(x=f32[128,64]:uniform(1e6,2e6,0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=nl.float16, buffer=nl.shared_hbm)
    tile = nl.load(x)
    narrow = nl.ndarray(x.shape, dtype=nl.float16, buffer=nl.sbuf)
    nisa.tensor_copy(dst=narrow, src=tile)  # error: trapped-infinity
    nl.store(out, value=narrow)
    return out
