# nk: run kernel(x=f32[128,512]:randn(0))
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nl.store(out, nl.exp(tile, mask=nl.arange(256)[None, :] < 100))  # error: bad-view
    return out
