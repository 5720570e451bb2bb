# nk: run kernel(x=f32[2,100,64]:randn(0))
# The first iteration keeps its missing rows to itself, the second stores them.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray((2, 128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    rest = nl.ndarray((28, 64), dtype=x.dtype, buffer=nl.sbuf)
    nisa.memset(dst=rest, value=0.0)
    nisa.dma_copy(dst=out[0, 100:128, :], src=rest)
    for i in range(2):
        tile = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile[0:100, :], src=x[i])
        twice = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=twice, data=tile, op0=nl.multiply, operand0=2.0)  # error: uninitialized-read
        rows = 100 + 28 * i
        nisa.dma_copy(dst=out[i, 0:rows, :], src=twice[0:rows, :])
    return out
