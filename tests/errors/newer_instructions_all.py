# nk: run kernel(x=f32[128,512]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    """One run names everything that the target lacks."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    for i in range(3):
        nisa.tensor_copy(dst=tile, src=tile, engine=nisa.engine.scalar)  # error: not-on-this-target
    nisa.exponential(dst=tile, src=tile)  # error: not-on-this-target
    nisa.dma_copy(dst=out, src=tile, dge_mode=2)  # error: not-on-this-target
    return out
