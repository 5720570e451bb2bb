# nk: run kernel(x=f32[128,20000]:randn(0))
# Enough bytes are free, in three pieces.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    low = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf, address=(0, 70000))
    high = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf, address=(0, 140000))
    nisa.dma_copy(dst=low, src=x[:, 0:64])
    nisa.dma_copy(dst=high, src=x[:, 64:128])
    tile = nl.ndarray((128, 20000), dtype=nl.float32, buffer=nl.sbuf)  # error: sbuf-fragmented
    nisa.dma_copy(dst=tile, src=x)
    nisa.tensor_tensor(dst=low, data1=low, data2=high, op=nl.add)
    nisa.dma_copy(dst=tile[:, 0:64], src=low)
    nisa.dma_copy(dst=out, src=tile)
    return out
