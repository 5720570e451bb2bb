# nk: run kernel(x=f32[128,64]:uniform(-4,4,0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in range(0, 128, 64):
        tile = nl.load(x[start : start + 64, :])
        # Both iterations are one line, so they are one warning.
        nisa.activation(dst=tile, op=nl.sin, data=tile)  # warning: input-out-of-range
        nisa.activation(dst=tile, op=nl.exp, data=tile)
        nl.store(out[start : start + 64, :], value=tile)
    return out
