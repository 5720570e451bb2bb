# nk: run kernel(x=f32[128,8]:randn(0), n=8)
# Everything that is read was written, some of it in the same round.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, n):
    out = nl.ndarray((128, 1), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    work = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=total, value=0.0)
    for i in nl.dynamic_range(n):
        nisa.tensor_copy(dst=work.select(1, i), src=tile.select(1, i))
        nisa.tensor_tensor(dst=total, data1=total, data2=work.select(1, i), op=nl.add)
    nisa.dma_copy(dst=out, src=total)
    return out
