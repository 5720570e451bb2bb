# nk: run kernel(x=f32[128,512]:randn(0))
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray((128, 511), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    step = nl.ndarray((128, 511), dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=step, data1=tile[:, 1:513], data2=tile[:, 0:511], op=nl.subtract)  # error: out-of-bounds
    nisa.dma_copy(dst=out, src=step)
    return out
