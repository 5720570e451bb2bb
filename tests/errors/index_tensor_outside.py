# nk: run kernel(x=f32[100,512]:randn(0))
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    i_p = nl.arange(64)[:, None]
    i_f = nl.arange(512)[None, :]
    for i in nl.affine_range(2):
        tile = nl.load(x[64 * i + i_p, i_f])  # error: out-of-bounds
        nl.store(out[64 * i + i_p, i_f], value=tile)
    return out
