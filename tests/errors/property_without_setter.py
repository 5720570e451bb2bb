# nk: run kernel(x=f32[128,4]:randn(0))
import nki
import nki.language as nl
import nki.isa as nisa


class Tiling:
    @property
    def size(self):
        return 4


@nki.jit
def kernel(x):
    tiling = Tiling()
    tiling.size = 2  # error: type-error
    out = nl.ndarray((128, tiling.size), nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(out, x)
    return out
