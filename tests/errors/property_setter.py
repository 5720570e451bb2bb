# nk: run kernel(x=f32[128,4]:randn(0))
import nki
import nki.language as nl
import nki.isa as nisa


class Tiling:
    def __init__(self, size):
        self._size = size

    @property
    def size(self):
        return self._size

    @size.setter  # error: unsupported-syntax
    def size(self, size):
        self._size = 2 * size


@nki.jit
def kernel(x):
    tiling = Tiling(2)
    tiling.size = 2
    out = nl.ndarray((128, tiling.size), nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(out, x)
    return out
