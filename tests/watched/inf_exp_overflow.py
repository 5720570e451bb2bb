# nk: run kernel(x=f32[128,64]:uniform(0,100,1))
import nki
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    scaled = nl.multiply(nl.load(x), 10.0)
    grown = nl.exp(scaled)  # error: trapped-infinity
    nl.store(out, value=nl.divide(grown, nl.sum(grown, axis=1, keepdims=True)))
    return out
