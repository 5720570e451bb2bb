import nki
import nki.isa as nisa
import nki.language as nl


# nk: run misspelt(x=f32[128,64]:randn(0))
# nk: run ambiguous(x=f32[128,64]:randn(0))
@nki.jit
def kernel(x):
    out = nl.ndarray((2, 128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(2):
        nisa.dma_copy(dst=out[i], src=x, name="store")
    nisa.dma_copy(dst=x, src=out[0], name="back")
    return out


misspelt = kernel.with_schedule([("back", "sotre")])  # error: value-error
ambiguous = kernel.with_schedule([("back", "store")])  # error: value-error
