"""Four programs of a grid, dealt to two cores: the third one overflows."""

import nki
import nki.language as nl


# nk: run grown(x=f32[4,128,16]:ones) grid=4 cores=2 trap=inf
@nki.jit
def grown(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i = nl.program_id(0)
    tile = nl.multiply(nl.load(x[i]), 1000.0 if i == 2 else 1.0)
    nl.store(out[i], value=nl.exp(tile))  # error: trapped-infinity
    return out
