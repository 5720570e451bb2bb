# nk: run kernel(x=f32[128,512]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    for i in range(4):
        normalise(tile, i)
    nisa.dma_copy(dst=out, src=tile)
    return out


def normalise(tile, i):
    scale(tile[:, i * 128:(i + 1) * 128])


def scale(part):
    nisa.tensor_scalar(dst=part, data=part, op0=nl.multiply, operand0=part)  # error: not-a-column
