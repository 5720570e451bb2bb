# nk: run kernel(x=f32[128,4]:randn(0))
import nki
import nki.language as nl
import nki.isa as nisa


@nki.jit
def kernel(x):
    tile = nl.ndarray((128, 4), nl.float32, buffer=nl.sbuf)
    try:
        for i in nl.dynamic_range(4):
            nisa.dma_copy(tile, x)
            raise ValueError("half-way")  # error: kernel-raised
    except ValueError:
        pass
    out = nl.ndarray((128, 4), nl.float32, buffer=nl.shared_hbm)
    nisa.dma_copy(out, tile)
    return out
