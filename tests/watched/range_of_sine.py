# nk: run kernel(x=f32[128,64]:arange)
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    wave = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=wave, op=nl.sin, data=tile, scale=0.5)  # error: trapped-range
    nl.store(out, value=wave)
    return out
