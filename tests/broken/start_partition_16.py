# nk: run kernel(x=f32[128,512]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    for head in range(8):
        rows = slice(head * 16, (head + 1) * 16)
        nisa.activation(dst=tile[rows, :], op=nl.exp, data=tile[rows, :])  # error: start-partition  # error: start-partition
    nisa.dma_copy(dst=out, src=tile)
    return out
