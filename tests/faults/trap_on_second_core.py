"""Two cores at once: the program of the second one makes a NaN, the first has none."""

import nki
import nki.isa as nisa
import nki.language as nl


# nk: run roots(x=f32[2,128,16]:ones) grid=nl.nc(2) trap=nan
@nki.jit
def roots(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    core = nl.program_id(0)
    tile = nl.load(x[core])
    shifted = nl.subtract(tile, 2.0 * core)
    root = nl.sqrt(shifted)  # error: trapped-nan
    nl.store(out[core], value=root)
    return out
